"""Walks over terms: what is in them, and what they become when variables are replaced; all without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from viameter_check.programs.terms import Term, make


def parts(roots: Iterable[Term]) -> Iterator[Term]:
    """Every term in some terms, each once, its arguments before it."""
    seen: set[Term] = set()
    waiting = [(root, False) for root in roots]
    waiting.reverse()
    while waiting:
        term, ready = waiting.pop()
        if term in seen:
            continue
        if ready or not term.args:
            seen.add(term)
            yield term
        else:
            waiting.append((term, True))
            waiting.extend((arg, False) for arg in reversed(term.args))


def rebuilt(roots: Iterable[Term], leaf: Callable[[Term], Term], *, keep: tuple[str, ...] = ()) -> list[Term]:
    """The terms with another term for each variable; operations in `keep` are left as they are."""
    listed = list(roots)
    done: dict[Term, Term] = {}
    for term in parts(listed):
        if term.op == "name":
            done[term] = leaf(term)
        elif not term.args or term.op in keep:
            done[term] = term
        else:
            args = tuple(done[arg] for arg in term.args)
            done[term] = term if args == term.args else make(term.op, *args)
    return [done[root] for root in listed]


def substitute(roots: Iterable[Term], values: Mapping[Term, Term]) -> list[Term]:
    """The terms with variables replaced, all at once."""
    return rebuilt(roots, lambda term: values.get(term, term))


def variables(*roots: Term) -> set[Term]:
    """The variables in some terms; a list whose length is read counts, too."""
    return {term for term in parts(roots) if term.op == "name"}
