"""A second meaning of programs, as plain as can be: every path one by one, in fractions, with no code of the library.

Noise is cut off at a window; what is beyond is lost. Only the classes of the core language are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from viameter.logic.lang import core
from viameter.logic.lang.terms import App, Num, Term, Truth, Var

Memory = dict[str, Any]
Law = list[tuple[Any, Fraction]]


def value(term: Term, memory: Memory) -> Any:
    if isinstance(term, Num | Truth):
        return term.value
    if isinstance(term, Var):
        return memory[term.name]
    assert isinstance(term, App)
    if term.op == "ite":
        return value(term.args[1] if value(term.args[0], memory) else term.args[2], memory)
    args = [value(arg, memory) for arg in term.args]
    a, b = args[0], args[-1]
    match term.op:
        case "and":
            return all(args)
        case "or":
            return any(args)
        case "read":
            return a[b] if b in range(len(a)) else 0
        case "//":
            return 0 if b == 0 else (a - a % b) // b
        case "%":
            return a if b == 0 else a % b
        case "neg":
            return -a
    table: dict[str, Callable[[], Any]] = {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "<=": lambda: a <= b, "<": lambda: a < b,
        "==": lambda: a == b, "not": lambda: not a, "=>": lambda: b or not a, "abs": lambda: a if a > 0 else -a,
        "min": lambda: a if a < b else b, "max": lambda: a if a > b else b, "len": lambda: len(a),
    }  # fmt: skip
    return table[term.op]()


def law(spec: core.Law, memory: Memory, ratios: dict[str, Fraction], window: int) -> Law:
    """Values and masses; `ratios` gives exp(-1/scale) for each scale by its text."""
    match spec:
        case core.Laplace(scale, center):
            x = ratios[scale.as_scale()]
            return [(value(center, memory) + k, (1 - x) / (1 + x) * x ** abs(k)) for k in range(-window, window + 1)]
        case core.Exponential(scale):
            x = ratios[scale.as_scale()]
            return [(k, (1 - x) * x**k) for k in range(window + 1)]
        case core.Flip(p):
            return [(True, p), (False, 1 - p)]
        case core.Uniform(low, high):
            ends = range(value(low, memory), value(high, memory) + 1)
            return [(k, Fraction(1, len(ends))) for k in ends]
        case core.Choose(scores, scale):
            x = ratios[scale.as_scale()]
            weights = [1 / x**score for score in memory[scores.name]]
            return [(k, weight / sum(weights)) for k, weight in enumerate(weights)] or [(0, Fraction(1))]
    raise AssertionError(spec)


def paths(
    statements: tuple[core.Statement, ...], memory: Memory, ratios: dict[str, Fraction], window: int
) -> Iterator[tuple[Memory, Fraction]]:
    """Memories at the end with the masses of the paths to them."""
    if not statements:
        yield memory, Fraction(1)
        return
    first, rest = statements[0], statements[1:]
    match first:
        case core.Assign(target, term):
            yield from paths(rest, {**memory, target.name: value(term, memory)}, ratios, window)
        case core.Append(target, term):
            grown = (*memory[target.name], value(term, memory))
            yield from paths(rest, {**memory, target.name: grown}, ratios, window)
        case core.Sample(target, spec):
            for drawn, mass in law(spec, memory, ratios, window):
                for end, more in paths(rest, {**memory, target.name: drawn}, ratios, window):
                    yield end, mass * more
        case core.If(test, then, orelse):
            chosen = then if value(test, memory) else orelse
            yield from paths(chosen.statements + rest, memory, ratios, window)
        case core.While(test, body):
            again = (*body.statements, *statements) if value(test, memory) else rest
            yield from paths(again, memory, ratios, window)
        case _:
            yield from paths(rest, memory, ratios, window)


def distribution(
    program: core.Program, inputs: Memory, ratios: dict[str, Fraction], window: int
) -> tuple[dict[Any, Fraction], Fraction]:
    """Outputs with their masses, and what is lost."""
    start: Memory = {}
    for statement in core.statements_of(program.body):
        if isinstance(statement, core.Assign | core.Sample | core.Append):
            start[statement.target.name] = {"int": 0, "bool": False, "list": ()}[statement.target.sort]
    found: dict[Any, Fraction] = {}
    for memory, mass in paths(program.body.statements, {**start, **inputs}, ratios, window):
        output = memory[program.output.name]
        found[output] = found.get(output, Fraction(0)) + mass
    return found, 1 - sum(found.values(), Fraction(0))
