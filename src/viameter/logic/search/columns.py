"""Terms evaluated on many memories at once: columns of values at the head of a loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from viameter.logic.lang.terms import App, Num, Term, Truth, Var

Columns = Mapping[str, "np.ndarray[Any, Any]"]


def evaluate(term: Term, columns: Columns, rows: int) -> Any:
    """The column of a term; lists are not read."""
    match term:
        case Num(value):
            return np.full(rows, value)
        case Truth(value):
            return np.full(rows, value)
        case Var():
            return columns[str(term)]
        case App("len", (items,)):
            return columns[f"len({items})"]
    assert isinstance(term, App)
    args = [evaluate(arg, columns, rows) for arg in term.args]
    match term.op:
        case "+":
            return args[0] + args[1]
        case "-":
            return args[0] - args[1]
        case "*":
            return args[0] * args[1]
        case "neg":
            return -args[0]
        case "abs":
            return np.abs(args[0])
        case "min":
            return np.minimum(*args)
        case "max":
            return np.maximum(*args)
        case "<=":
            return args[0] <= args[1]
        case "<":
            return args[0] < args[1]
        case "==":
            return args[0] == args[1]
        case "and":
            return np.logical_and.reduce(args)
        case "or":
            return np.logical_or.reduce(args)
        case "not":
            return ~args[0]
        case "=>":
            return ~args[0] | args[1]
        case "ite":
            return np.where(args[0], args[1], args[2])
    raise KeyError(term.op)
