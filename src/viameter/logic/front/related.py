"""Relations in text between two runs' inputs, as facts about single inputs and about each element of a list."""

from __future__ import annotations

from viameter.errors import ParameterError
from viameter.logic.front.requiring import facts
from viameter.logic.lang.core import ANY, Program
from viameter.logic.lang.terms import App, Term, Var, subterms

Facts = tuple[Term, ...]
Each = tuple[tuple[str, Term], ...]


def relation(text: str, program: Program, private: frozenset[str]) -> tuple[Facts, Each]:
    """The facts that a text states of two runs; one that reads lists is about each of their elements."""
    whole: list[Term] = []
    each: list[tuple[str, Term]] = []
    for fact in facts(text, program.inputs, (ANY.name,)):
        items = _lists(text, fact)
        _check_sides(text, fact, private)
        if ANY in subterms_of(fact) and len(items) != 1:
            raise ParameterError(f"{text!r}: {fact} is about {len(items)} private lists: expected one for each fact")
        if items:
            each.append((items.pop(), fact))
        else:
            whole.append(fact)
    return tuple(whole), tuple(each)


def subterms_of(term: Term) -> set[Term]:
    """Everything in a term."""
    return set(subterms(term))


def _lists(text: str, fact: Term) -> set[str]:
    """The private lists that a fact reads, which it must do at any.k."""
    found: set[str] = set()
    for part in subterms(fact):
        match part:
            case App("read", (Var(name=name, side=side), index)):
                if index != ANY:
                    raise ParameterError(
                        f"{text!r} reads {name} at {index}: a relation on lists is elementwise, as {name}<1>[any.k]"
                    )
                if side:
                    found.add(name)
            case App("len", (Var(name=name, side=side),)) if side:
                raise ParameterError(f"{text!r}: a length is the same in both runs: write len({name})")
    return found


def _check_sides(text: str, fact: Term, private: frozenset[str]) -> None:
    lengths = {part.args[0] for part in subterms(fact) if isinstance(part, App) and part.op == "len"}
    for part in subterms(fact):
        if isinstance(part, Var) and part.name in private and not part.side and part not in lengths:
            raise ParameterError(
                f"{text!r}: {part.name} differs between the runs: write {part.name}<1> or {part.name}<2>"
            )
