"""What terms and programs mean on concrete values: one evaluation, and one execution with given noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from viameter.errors import ParameterError
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Flip,
    Gaussian,
    If,
    Laplace,
    Law,
    Program,
    Sample,
    While,
    statements_of,
    terms_of,
)
from viameter.logic.lang.terms import App, Num, Sort, Term, Truth, Var, show, variables

Value = int | bool | tuple[int, ...]
"""An integer, a truth value or a list of integers."""
Output = int | bool | tuple[int, ...]
"""What a program returns; the entries of a list may be truth values too."""

Draw = Callable[[Law, Mapping[str, Value]], int | bool]
"""What gives a value for a law where variables have the values of a memory."""

DEFAULTS: Mapping[Sort, Value] = {"int": 0, "bool": False, "list": ()}


def evaluate(term: Term, memory: Mapping[str, Value]) -> Value:
    """The value of a term; `memory` is looked up by a variable's text: `x`, or `x<1>` in a term about two runs.

    >>> evaluate(App("//", (Var("x"), Num(0))), {"x": 7})
    0
    """
    match term:
        case Num(value) | Truth(value):
            return value
        case Var():
            if str(term) not in memory:
                raise ParameterError(f"{term} has no value; known: {', '.join(sorted(memory))}")
            return memory[str(term)]
        case App("ite", (test, then, orelse)):
            return evaluate(then if evaluate(test, memory) else orelse, memory)
        case App(op, args):
            return _apply(op, [evaluate(arg, memory) for arg in args], term)


def _apply(op: str, args: list[Value], term: Term) -> Value:
    match op, args:
        case "read", [tuple() as items, int() as index]:
            return items[index] if 0 <= index < len(items) else 0
        case "len", [tuple() as items]:
            return len(items)
        case "and", _:
            return all(args)
        case "or", _:
            return any(args)
        case (("not" | "neg" | "abs"), [int() as only]):
            return not only if op == "not" else -only if op == "neg" else abs(only)
        case _, [int() as left, int() as right]:
            return _binary(op, left, right, term)
    raise ParameterError(f"cannot evaluate {show(term)}")


def _binary(op: str, left: int, right: int, term: Term) -> Value:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            return left // right if right else 0
        case "%":
            return left % right if right else left
        case "min":
            return min(left, right)
        case "max":
            return max(left, right)
        case "<=":
            return left <= right
        case "<":
            return left < right
        case "==":
            return left == right
        case "=>":
            return not left or bool(right)
    raise ParameterError(f"cannot evaluate {show(term)}: no operation {op!r}")


def read_inputs(program: Program, inputs: Mapping[str, object]) -> dict[str, Value]:
    """A program's inputs, checked: each is there and of its sort; lists become tuples."""
    unknown = set(inputs) - {entry.name for entry in program.inputs}
    missing = {entry.name for entry in program.inputs} - set(inputs)
    if unknown or missing:
        raise ParameterError(
            f"program {program.name} takes {', '.join(e.name for e in program.inputs) or 'no inputs'}; "
            f"missing: {', '.join(sorted(missing)) or 'none'}, unknown: {', '.join(sorted(unknown)) or 'none'}"
        )
    return {entry.name: _read(entry.name, entry.sort, inputs[entry.name]) for entry in program.inputs}


def _read(name: str, sort: Sort, value: object) -> Value:
    if sort == "bool" and isinstance(value, bool):
        return value
    if sort == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if (
        sort == "list"
        and isinstance(value, tuple | list)
        and all(isinstance(entry, int) and not isinstance(entry, bool) for entry in value)
    ):
        return tuple(value)
    raise ParameterError(f"input {name} is a value of type {type(value).__name__}: expected {sort}")


def start_of(program: Program) -> dict[str, Value]:
    """The values of a program's variables, other than its inputs, before its first statement."""
    found = [program.output]
    for statement in statements_of(program.body):
        if isinstance(statement, Assign | Sample | Append):
            found.append(statement.target)
        found += [var for term in terms_of(statement) for var in variables(term)]
    inputs = {entry.name for entry in program.inputs}
    return {var.name: DEFAULTS[var.sort] for var in found if var.name not in inputs}


def run(
    program: Program, inputs: Mapping[str, object], tape: Iterable[int | bool], *, steps: int = 1_000_000
) -> Output:
    """One execution. `tape` has a value for each sampling in turn: for lap and gauss the noise around the center."""
    values = iter(tape)

    def draw(_law: Law, _memory: Mapping[str, Value]) -> int | bool:
        drawn = next(values, None)
        if drawn is None:
            raise ParameterError("the tape ends before the program does: expected a value for each sampling")
        return drawn

    return execute(program, inputs, draw, steps=steps)


def execute(program: Program, inputs: Mapping[str, object], draw: Draw, *, steps: int = 1_000_000) -> Output:
    """One execution, in which `draw` gives what is drawn from a law, relative to its center."""
    return execute_from({**start_of(program), **read_inputs(program, inputs)}, program, draw, steps=steps)


def execute_from(start: Mapping[str, Value], program: Program, draw: Draw, *, steps: int = 1_000_000) -> Output:
    """One execution from a memory that has every input and every variable."""
    memory = dict(start)
    if _execute(program.body, memory, draw, steps) < 0:
        raise ParameterError(f"program {program.name} did not end within {steps} rounds of its loops")
    return memory[program.output.name]


def _execute(block: Block, memory: dict[str, Value], draw: Draw, steps: int) -> int:
    """Run a block; what is left of the rounds of loops that it may take, below 0 if it took more."""
    for statement in block:
        match statement:
            case Assign(target, value):
                memory[target.name] = evaluate(value, memory)
            case Append(target, value):
                memory[target.name] = (*_items(memory[target.name]), _entry(evaluate(value, memory)))
            case Sample(target, law):
                drawn = draw(law, memory)
                if isinstance(law, Laplace | Gaussian):
                    drawn += _entry(evaluate(law.center, memory))
                memory[target.name] = bool(drawn) if isinstance(law, Flip) else drawn
            case If(test, then, orelse):
                steps = _execute(then if evaluate(test, memory) else orelse, memory, draw, steps)
            case While(test, body):
                while steps >= 0 and evaluate(test, memory):
                    steps = _execute(body, memory, draw, steps - 1)
        if steps < 0:
            break
    return steps


def _items(value: Value) -> tuple[int, ...]:
    if not isinstance(value, tuple):
        raise ParameterError("append needs a list")
    return value


def _entry(value: Value) -> int:
    if isinstance(value, tuple):
        raise ParameterError("a list of lists: expected an integer or a truth value")
    return value
