"""The interpreter: run a core program on concrete inputs, with the exact samplers of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from viameter.errors import ParameterError
from viameter.logic.lang.core import Input, Program
from viameter.logic.running.compiling import Compiled, compiled
from viameter.logic.running.noise import sampler
from viameter.logic.running.values import Value
from viameter.sampling.entropy import SYSTEM, Entropy

Output = int | bool | list[int]


@dataclass(frozen=True, slots=True)
class Runner:
    """A program with its budgets, compiled; `prepare` makes what draws, and `run` runs."""

    program: Program
    budgets: Mapping[str, Fraction]
    code: Compiled

    @classmethod
    def of(cls, program: Program, budgets: Mapping[str, Fraction]) -> Runner:
        """Compile a program; every budget of it must be given, and positive."""
        if set(budgets) != set(program.budgets):
            raise ParameterError(
                f"program {program.name} has the budgets {', '.join(program.budgets) or 'none'}; given were "
                f"{', '.join(sorted(budgets)) or 'none'}"
            )
        for name, budget in budgets.items():
            if not isinstance(budget, Fraction) or budget <= 0:
                raise ParameterError(f"the budget {name} must be a Fraction above 0")
        return cls(program, dict(budgets), compiled(program))

    def prepare(self, values: Mapping[str, Value]) -> tuple[Callable[..., Any], ...]:
        """What draws at each sampling statement, where inputs that scales depend on have these values.

        Of lists that scales take the length of, only the length is looked at.
        """
        mechanisms = self.program.mechanisms
        return tuple(
            sampler(site, budgets=self.budgets, values=values, mechanisms=mechanisms) for site in self.code.sites
        )

    def run(
        self, values: Mapping[str, Value], draws: Sequence[Callable[..., Any]], entropy: Entropy = SYSTEM
    ) -> Output:
        """Run on the inputs, with what draws."""
        inputs = [values[entry.name] for entry in self.program.inputs]
        released: Output = self.code.function(*inputs, *draws, entropy)
        return released


def run(
    program: Program, inputs: Mapping[str, Any], budgets: Mapping[str, Fraction], *, entropy: Entropy = SYSTEM
) -> Output:
    """Run a program of the core language; numbers on a grid are integers of grid steps, going in and coming out.

    All operations are total: a read outside of a list gives 0, a // 0 is 0 and a % 0 is a. What the program requires of
    its inputs is not checked: `measurement` does so.

    >>> from viameter.logic.lang.parsing import read_program
    >>> lines = ("program last", "input q: list", "begin", "x := q[len(q) - 1]", "end", "return x")
    >>> run(read_program(chr(10).join(lines)), {"q": [1, 2, 3]}, {})
    3
    """
    runner = Runner.of(program, budgets)
    names = {entry.name for entry in program.inputs}
    if set(inputs) != names:
        raise ParameterError(f"program {program.name} takes the inputs {', '.join(sorted(names))}, each by its name")
    values = {entry.name: _plain(entry, inputs[entry.name]) for entry in program.inputs}
    return runner.run(values, runner.prepare(values), entropy)


def _plain(entry: Input, value: Any) -> Value:
    """An input as Python's own integers and lists."""
    if entry.sort == "list" and isinstance(value, list | tuple | np.ndarray):
        items = list(value)
        if all(_is_integer(item) for item in items):
            return [int(item) for item in items]
    elif entry.sort == "int" and _is_integer(value):
        return int(value)
    elif entry.sort == "bool" and isinstance(value, bool | np.bool_):
        return bool(value)
    expected = {"list": "a list of integers", "int": "an integer", "bool": "a truth value"}[entry.sort]
    raise ParameterError(f"the input {entry.name} is of type {type(value).__name__}: expected {expected}")


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
