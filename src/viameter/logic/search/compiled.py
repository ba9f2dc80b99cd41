"""Terms as Python functions of an environment, for running many pairs of runs quickly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from viameter.logic.deadline import tick
from viameter.logic.lang.terms import App, Num, Term, Truth, Var

Environment = dict[str, Any]


def _read(items: tuple[int, ...], index: int) -> int:
    return items[index] if 0 <= index < len(items) else 0


def _quotient(top: int, below: int) -> int:
    return top // below if below else 0


def _rest(top: int, below: int) -> int:
    return top % below if below else top


_GLOBALS: Mapping[str, Any] = {"read": _read, "quotient": _quotient, "rest": _rest, "__builtins__": {}}
_BUILTINS = {"abs": abs, "min": min, "max": max, "len": len}
_INFIX = {"+": "+", "-": "-", "*": "*", "<=": "<=", "<": "<", "==": "==", "and": "and", "or": "or"}


def source(term: Term) -> str:
    """A Python expression of the environment E; names stand in it as string constants only."""
    match term:
        case Num(value):
            return f"({value})"
        case Truth(value):
            return str(value)
        case Var():
            return f"E[{str(term)!r}]"
        case App("len", (items,)):
            # Lists keep their length, so that one run's is the other's.
            return f"E[{f'len({items})'!r}]"
        case App("read", (items, index)):
            return f"read({source(items)}, {source(index)})"
        case App("ite", (test, then, orelse)):
            return f"({source(then)} if {source(test)} else {source(orelse)})"
        case App("not", (inner,)):
            return f"(not {source(inner)})"
        case App("neg", (inner,)):
            return f"(-{source(inner)})"
        case App("=>", (left, right)):
            return f"((not {source(left)}) or {source(right)})"
        case App("//" | "%", (top, below)):
            return f"{'quotient' if term.op == '//' else 'rest'}({source(top)}, {source(below)})"
        case App(op, args) if op in _INFIX:
            return "(" + f" {_INFIX[op]} ".join(source(arg) for arg in args) + ")"
        case App(op, args):
            return f"{op}({', '.join(source(arg) for arg in args)})"


@cache
def compiled(term: Term) -> Callable[[Environment], Any]:
    """The function of an environment that evaluates a term."""
    tick()
    made: Callable[[Environment], Any] = eval(f"lambda E: {source(term)}", {**_GLOBALS, **_BUILTINS})
    return made
