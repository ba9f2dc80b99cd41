"""A tiny interpreter of core programs, with noise from a tape: the oracle that translations are run against."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    If,
    Laplace,
    Law,
    Program,
    Sample,
    Uniform,
    While,
)
from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.terms import App, Num, Term, Truth, Var


class Tape:
    """Whole numbers to make draws of, and a record of what was drawn with which scale."""

    def __init__(self, seed: int) -> None:
        self.numbers = random.Random(seed)
        self.record: list[tuple[Any, ...]] = []

    def take(self, *law: Any) -> int:
        self.record.append(law)
        if len(self.record) > 5000:
            raise RuntimeError("too many draws")
        return self.numbers.randint(-6, 6)


def run(program: Program, inputs: Mapping[str, Any], budgets: Mapping[str, Fraction], tape: Tape) -> Any:
    """What the program returns, in steps of its output grid."""
    memory: dict[str, Any] = dict(inputs)
    _block(program.body, memory, budgets, tape)
    return memory.get(program.output.name, {"int": 0, "bool": False, "list": []}[program.output.sort])


def _block(block: Block, memory: dict[str, Any], budgets: Mapping[str, Fraction], tape: Tape) -> None:
    for statement in block:
        match statement:
            case Assign(target, value):
                memory[target.name] = value_of(value, memory)
            case Append(target, value):
                memory.setdefault(target.name, []).append(value_of(value, memory))
            case Sample(target, law):
                memory[target.name] = _drawn(law, memory, budgets, tape)
            case If(test, then, orelse):
                _block(then if value_of(test, memory) else orelse, memory, budgets, tape)
            case While(test, body):
                while value_of(test, memory):
                    _block(body, memory, budgets, tape)


def _scale(scale: Monomial, memory: Mapping[str, Any], budgets: Mapping[str, Fraction]) -> Any:
    amount = scale.coefficient
    for factor in scale.factors:
        amount *= value_of(factor, memory)
    if scale.base.startswith("ln("):
        return amount, scale.base
    return amount / budgets[scale.base] if scale.base != "1" else amount


def _drawn(law: Law, memory: Mapping[str, Any], budgets: Mapping[str, Fraction], tape: Tape) -> Any:
    match law:
        case Laplace(scale, center):
            return value_of(center, memory) + tape.take("lap", _scale(scale, memory, budgets))
        case Gaussian(scale, center):
            return value_of(center, memory) + tape.take("gauss", _scale(scale, memory, budgets))
        case Exponential(scale):
            return abs(tape.take("expo", _scale(scale, memory, budgets)))
        case Flip(probability):
            return tape.take("flip", probability) % 2 == 1
        case Uniform(low, high):
            bottom, top = value_of(low, memory), value_of(high, memory)
            return bottom + tape.take("uniform", bottom, top) % (top - bottom + 1)
        case Choose(scores, scale):
            items = memory[scores.name]
            return (tape.take("choose", _scale(scale, memory, budgets)) + sum(items[:1])) % (len(items) or 1)
    raise AssertionError(law)


def value_of(term: Term, memory: Mapping[str, Any]) -> Any:
    match term:
        case Var(sort=sort):
            return memory.get(str(term), {"int": 0, "bool": False, "list": []}[sort])
        case Num(value) | Truth(value):
            return value
        case App("ite", (test, then, orelse)):
            return value_of(then if value_of(test, memory) else orelse, memory)
        case App("and", args):
            return all(value_of(arg, memory) for arg in args)
        case App("or", args):
            return any(value_of(arg, memory) for arg in args)
        case App(op, args):
            return _applied(op, [value_of(arg, memory) for arg in args])
    raise AssertionError(term)


def _applied(op: str, given: list[Any]) -> Any:
    first, second = given[0], given[-1]
    match op:
        case "read":
            return first[second] if 0 <= second < len(first) else 0
        case "len":
            return len(first)
        case "not":
            return not first
        case "neg":
            return -first
        case "abs":
            return abs(first)
        case "//":
            return first // second if second else 0
        case "%":
            return first % second if second else first
        case "min":
            return min(first, second)
        case "max":
            return max(first, second)
        case "=>":
            return not first or second
    compared = {
        "+": lambda: first + second, "-": lambda: first - second, "*": lambda: first * second,
        "<=": lambda: first <= second, "<": lambda: first < second, "==": lambda: first == second,
    }  # fmt: skip
    return compared[op]()
