"""Run a program's text twice: by Python itself, with noise from a tape, and as the core program that it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from types import CodeType
from typing import Any

from tests.logic.front.interpreter import Tape, run

from viameter.logic.front.inputs import PRESENT
from viameter.logic.front.python import Compiled, compile_source
from viameter.logic.lang.core import Program
from viameter.logic.lang.parsing import read_program
from viameter.logic.lang.text import show_program

EPS = Fraction(3, 7)


class Total(list[Any]):
    """A list of Python that reads as 0 where Python would stop with an error."""

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index) if -len(self) <= index < len(self) else 0


class Markers:
    """The noise functions, on a tape; draws without a grid are on this one."""

    def __init__(self, tape: Tape, grid: Fraction = Fraction(1)) -> None:
        self.tape, self.grid = tape, grid

    def lap(self, scale: Any, *, grid: Any = None, center: Any = 0, shift: Any = None) -> Any:
        step = Fraction(grid) if grid is not None else self.grid
        return _plain(center + step * self.tape.take("lap", scale / step))

    def gauss(self, sigma: Any, *, grid: Any = None, center: Any = 0, shift: Any = None) -> Any:
        step = Fraction(grid) if grid is not None else self.grid
        return _plain(center + step * self.tape.take("gauss", sigma / step))

    def expo(self, scale: Any, *, grid: Any = None, shift: Any = None) -> Any:
        step = Fraction(grid) if grid is not None else self.grid
        return _plain(step * abs(self.tape.take("expo", scale / step)))

    def geom(self, p: Any, *, shift: Any = None) -> int:
        return abs(self.tape.take("expo", (Fraction(1), f"ln({1 / (1 - Fraction(p))})")))

    def flip(self, p: Any, *, shift: Any = None) -> bool:
        return self.tape.take("flip", Fraction(p)) % 2 == 1

    def uniform(self, low: int, high: int, *, shift: Any = None) -> int:
        return low + self.tape.take("uniform", low, high) % (high - low + 1)

    def choose(self, scores: list[Any], scale: Any) -> int:
        first: int = scores[0]
        return (self.tape.take("choose", scale) + first) % (len(scores) or 1)

    def invariant(self, text: str) -> None:
        """Does nothing."""

    def Eps(self) -> None:  # noqa: N802
        """An annotation."""

    def Grid(self, step: Any) -> Any:  # noqa: N802
        return int

    def Between(self, low: Any, high: Any, *, grid: Any = 1) -> Any:  # noqa: N802
        return int


def _plain(number: Any) -> Any:
    """A whole number as an int, so that it can be an index."""
    return int(number) if isinstance(number, Fraction) and number.denominator == 1 else number


def python_run(text: str, name: str, inputs: Mapping[str, Any], markers: Markers, more: Mapping[str, Any]) -> Any:
    """What Python's own run of a text returns."""
    space: dict[str, Any] = {"vm": markers, "Fraction": Fraction, **more}
    exec(_code(text), space)
    given = {key: Total(value) if isinstance(value, list) else value for key, value in inputs.items()}
    return space[name](**given)


@cache
def _code(text: str) -> CodeType:
    return compile("from __future__ import annotations\n" + text, "<text>", "exec")


@cache
def _is_read_back(program: Program) -> bool:
    """Whether the text of a program means the program."""
    return read_program(show_program(program)) == program


def agree(
    compiled: Compiled, text: str, inputs: Mapping[str, Any], *, seed: int = 0, grid: Any = 1,
    more: Mapping[str, Any] | None = None, slots: frozenset[str] = frozenset(), prelude: str = "",
) -> bool:  # fmt: skip
    """Run both ways, and see that the results and everything that was drawn are the same; whether there were draws."""
    program = compiled.program
    assert _is_read_back(program)
    budgets = dict.fromkeys(program.budgets, EPS)
    one, other = Tape(seed), Tape(seed)
    result = python_run(prelude + text, program.name, {**inputs, **budgets}, Markers(one, Fraction(grid)), more or {})
    steps: dict[str, Any] = {}
    for entry in program.inputs:
        if entry.name.endswith(PRESENT):
            continue
        value = inputs[entry.name]
        steps[entry.name] = (
            [_steps(item, entry.grid) for item in value] if entry.sort == "list" else
            value if entry.sort == "bool" else _steps(value, entry.grid)
        )  # fmt: skip
    for name in slots:
        steps[name], steps[name + PRESENT] = with_gaps(steps[name], seed)
    found = run(program, steps, budgets, other)
    if isinstance(result, list):
        wanted: Any = [_steps(item, program.output_grid) for item in result]
    else:
        wanted = (
            result
            if isinstance(result, bool) and program.output.sort == "bool"
            else _steps(result, program.output_grid)
        )
    assert (found, other.record) == (wanted, one.record)
    return bool(one.record)


def with_gaps(rows: list[int], seed: int) -> tuple[list[int], list[int]]:
    """The rows in slots of which some others are free, and hold anything."""
    free = seed % 3
    places = [(row, 1) for row in rows]
    for gap in range(free):
        places.insert((seed * 7 + gap * 5) % (len(places) + 1), (seed % 11 - 5, 0))
    return [row for row, _ in places], [mark for _, mark in places]


def _steps(value: Any, grid: Fraction) -> int:
    steps = Fraction(value) / grid
    assert steps.denominator == 1, f"{value} is not on the grid of {grid}"
    return int(steps)


class Both:
    """A text, compiled once, to be run both ways."""

    def __init__(self, text: str, *, prelude: str = "", grid: Any = 1, more: Any = None, **options: Any) -> None:
        self.compiled = compile_source(text, **options)
        self.text, self.options = text, {"prelude": prelude, "grid": grid, "more": more}
        self.slots = options.get("slots", frozenset())

    def check(self, turns: int = 5, **inputs: Any) -> None:
        """Run it with several tapes, if it draws anything, and several gaps between rows, if it has slots."""
        for seed in range(turns):
            drawn = agree(self.compiled, self.text, inputs, seed=seed, slots=self.slots, **self.options)
            if not (drawn or self.slots):
                break
