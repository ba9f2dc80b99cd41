"""The printed form of core programs, numbered by line, and of terms; what is printed is read back to the same thing.

program laplace
input q: int
budget eps
begin
noise :=$ lap(1/eps)
result := q + noise
end
return result
"""

from __future__ import annotations

from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    If,
    Laplace,
    Law,
    Program,
    Sample,
    Statement,
    Uniform,
    While,
)
from viameter.logic.lang.terms import ZERO, show


def show_law(law: Law) -> str:
    """The text of a law: `lap(2/eps)`, `lap(2/eps, s)`, `flip(3/4)`."""
    match law:
        case Laplace(scale, center):
            return f"lap({scale.as_scale()}{'' if center == ZERO else ', ' + show(center)})"
        case Gaussian(sigma, center):
            return f"gauss({sigma.as_scale()}{'' if center == ZERO else ', ' + show(center)})"
        case Exponential(scale):
            return f"expo({scale.as_scale()})"
        case Flip(probability):
            return f"flip({probability})"
        case Uniform(low, high):
            return f"uniform({show(low)}, {show(high)})"
        case Choose(scores, scale):
            return f"choose({show(scores)}, {scale.as_scale()})"
        case Call(name, argument):
            return f"call {name}({show(argument)})"


def lines_of(block: Block, indent: int) -> list[str]:
    """The lines of a block."""
    pad = "  " * indent
    found: list[str] = []
    for statement in block:
        found.extend(pad + line for line in _lines(statement))
    return found or [pad + "skip"]


def _lines(statement: Statement) -> list[str]:
    match statement:
        case Assign(target, value):
            return [f"{target} := {show(value)}"]
        case Sample(target, law):
            return [f"{target} :=$ {show_law(law)}"]
        case Append(target, value):
            return [f"append({target}, {show(value)})"]
        case If(test, then, orelse):
            middle = ["else", *lines_of(orelse, 1)] if orelse.statements else []
            return [f"if {show(test)} then", *lines_of(then, 1), *middle, "end"]
        case While(test, body):
            return [f"while {show(test)} do", *lines_of(body, 1), "end"]
    return ["skip"]


def show_program(program: Program) -> str:
    """The whole text, without line numbers; the first line is line 1."""
    lines = [f"program {program.name}"]
    for entry in program.inputs:
        grid = "" if entry.grid == 1 else f" on {entry.grid}"
        lines.append(f"input {entry.name}: {entry.sort}{grid}")
    lines.extend(f"budget {name}" for name in program.budgets)
    lines.extend(f"requires {show(term)}" for term in program.requires)
    lines.extend(f"each {name}: {show(term)}" for name, term in program.each)
    grid = "" if program.output_grid == 1 else f" on {program.output_grid}"
    return "\n".join([*lines, "begin", *lines_of(program.body, 1), "end", f"return {program.output}{grid}"]) + "\n"


def numbered(program: Program) -> str:
    """The text with line numbers, for people."""
    lines = show_program(program).splitlines()
    width = len(str(len(lines)))
    return "\n".join(f"{at:>{width}}  {line}" for at, line in enumerate(lines, 1))
