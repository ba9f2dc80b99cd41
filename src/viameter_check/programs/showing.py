"""Terms as text, for people: the reader reads it back to the same term, unless it was cut."""

from __future__ import annotations

from collections.abc import Callable

from viameter_check.programs.terms import INT, Term
from viameter_check.programs.walking import parts

_LEVELS = {
    "=>": 1, "or": 2, "and": 3, "not": 4, "==": 5, "!=": 5, "<=": 5, "<": 5, "+": 6, "-": 6,
    "*": 7, "//": 7, "%": 7, "neg": 8,
}  # fmt: skip
_ATOM = 9
_LONGEST_SHOWN = 240


def show(root: Term) -> str:
    """A term as text; for people, and cut where it is long."""
    done: dict[Term, tuple[str, int]] = {}

    def wrapped(arg: Term, level: int) -> str:
        text, mine = done[arg]
        return f"({text})" if mine < level else text

    for term in parts([root]):
        text, level = _shown(term, wrapped)
        done[term] = (text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...", level)
    return done[root][0]


def _shown(term: Term, wrapped: Callable[[Term, int], str]) -> tuple[str, int]:
    op, args = term.op, term.args
    if op == "name":
        return (f"{term.name}<{term.side}>" if term.side else term.name), _ATOM
    if op == "literal":
        return str(term.leaf).lower(), 6 if term.sort == INT and term.leaf < 0 else _ATOM
    if op == "read":
        return f"{wrapped(args[0], 0)}[{wrapped(args[1], 0)}]", _ATOM
    if op == "not" and args[0].op == "==":
        op, args = "!=", args[0].args
    mine = _LEVELS.get(op)
    if mine is None:
        return f"{op}({', '.join(wrapped(arg, 0) for arg in args)})", _ATOM
    if len(args) == 1:
        return f"{'-' if op == 'neg' else 'not '}{wrapped(args[0], mine)}", mine
    first = mine if mine in (6, 7) else mine + 1
    return f" {op} ".join(wrapped(arg, mine + 1 if n else first) for n, arg in enumerate(args)), mine
