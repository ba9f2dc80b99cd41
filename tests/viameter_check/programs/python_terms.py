"""Nested tuples of operations: what they mean in plain Python, for comparison, and the terms that they stand for."""

import random
from typing import Any

from viameter_check.programs.terms import BOOL, Term, make, number, truth, variable

INTS = {"+": 2, "-": 2, "*": 2, "//": 2, "%": 2, "neg": 1, "abs": 1, "min": 2, "max": 2}
BOOLS = {"and": 2, "or": 2, "not": 1, "=>": 2}
TESTS = ["<=", "<", "==", "!=", ">=", ">"]


def evaluate(raw: Any, values: dict[str, Any]) -> Any:
    """The value of a nested tuple; names stand for values, and values for themselves."""
    if isinstance(raw, str):
        return values[raw]
    if not isinstance(raw, tuple):
        return raw
    op, *args = raw
    found = [evaluate(arg, values) for arg in args]
    match op:
        case "+":
            return found[0] + found[1]
        case "-":
            return found[0] - found[1]
        case "*":
            return found[0] * found[1]
        case "//":
            return found[0] // found[1] if found[1] else 0
        case "%":
            return found[0] % found[1] if found[1] else found[0]
        case "neg":
            return -found[0]
        case "abs":
            return abs(found[0])
        case "min" | "max":
            return min(found) if op == "min" else max(found)
        case "and" | "or":
            return all(found) if op == "and" else any(found)
        case "not":
            return not found[0]
        case "=>":
            return not found[0] or found[1]
        case "ite":
            return found[1] if found[0] else found[2]
    return {
        "<=": lambda a, b: a <= b, "<": lambda a, b: a < b, "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b, ">=": lambda a, b: a >= b, ">": lambda a, b: a > b,
    }[op](*found)  # fmt: skip


def random_term(chosen: random.Random, depth: int, sort: str = "") -> Any:
    """A nested tuple of a sort."""
    sort = sort or chosen.choice(["int", "bool"])
    if depth == 0 or chosen.random() < 0.15:
        return chosen.choice(["x", "y", -2, -1, 0, 1, 2, 3]) if sort == "int" else chosen.choice(["b", True, False])

    def more(wanted: str) -> Any:
        return random_term(chosen, depth - 1, wanted)

    if chosen.random() < 0.2:
        return ("ite", more("bool"), more(sort), more(sort))
    if sort == "int":
        op = chosen.choice([name for name in INTS if name != "*" or depth < 3])
        return (op, *(more("int") for _ in range(INTS[op])))
    if chosen.random() < 0.5:
        inner = "bool" if (op := chosen.choice(TESTS)) in ("==", "!=") and chosen.random() < 0.3 else "int"
        return (op, more(inner), more(inner))
    op = chosen.choice(list(BOOLS))
    return (op, *(more("bool") for _ in range(BOOLS[op])))


def built(raw: Any) -> Term:
    """The term of a nested tuple."""
    if isinstance(raw, bool):
        return truth(raw)
    if isinstance(raw, int):
        return number(raw)
    if isinstance(raw, str):
        return variable(raw, BOOL if raw == "b" else "int")
    return make(raw[0], *(built(arg) for arg in raw[1:]))
