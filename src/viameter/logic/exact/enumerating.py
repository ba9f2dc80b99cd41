"""The exact distribution of a program's output: every path is followed, and what is cut off is accounted for.

Weights are integers over one denominator for each population of states. If a law's masses are irrational the program is
run twice, with lower and with upper weights: every probability is a sum of products of masses, so both are bounds.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.deadline import tick
from viameter.logic.exact.compiling import Branch, Loop, Machine, Operation, Step, machine_of
from viameter.logic.exact.evaluating import Output, Value, read_inputs, start_of
from viameter.logic.exact.laws import law_of
from viameter.logic.exact.outcomes import Enumerated, Masses
from viameter.logic.exact.powers import Budget
from viameter.logic.exact.ranges import Range
from viameter.logic.exact.tables import Deck, Table
from viameter.logic.lang.core import Program

_machine = lru_cache(maxsize=64)(machine_of)


@dataclass(frozen=True, slots=True)
class Effort:
    """How far an enumeration goes: whatever is beyond is lost, and told.

    `window`: steps to either side of a noise's center; None for so many that a tail is at most about 2^-bits.
    `states`: at most so many states at a time, the heaviest; `rounds`: of each loop; `deadline`: by `time.monotonic`.
    """

    window: int | None = None
    bits: int = 40
    states: int = 1_000_000
    rounds: int = 10_000
    deadline: float | None = None


@dataclass(slots=True)
class _Population:
    states: dict[Any, int]
    denominator: int


@dataclass(slots=True)
class _Execution:
    memory: Mapping[str, Value]
    budgets: Mapping[str, Budget]
    effort: Effort
    goal: Output | None
    high: bool
    constants: tuple[Value, ...] = ()
    lost: Fraction = Fraction(0)
    missed: Fraction = Fraction(0)
    inexact: bool = False
    cut: bool = False
    fixed: dict[int, tuple[Deck, int]] = field(default_factory=dict)

    def all_of(self, operations: tuple[Operation, ...], population: _Population) -> _Population:
        for operation in operations:
            tick()
            if self.effort.deadline is not None and time.monotonic() > self.effort.deadline:
                self.lose(population)
            if not population.states:
                break
            match operation:
                case Step():
                    population = self.step(operation, population)
                case Branch(split, then, orelse):
                    yes, no = self.split(split, population)
                    population = _merged([self.all_of(then, yes), self.all_of(orelse, no)])
                case Loop():
                    population = self.loop(operation, population)
        return population

    def step(self, step: Step, population: _Population) -> _Population:
        decks, factor = self.decks(step, population)
        states, lost, missed = step.run(population.states, decks, factor, self.goal, self.constants)
        made = _Population(states, population.denominator * factor)
        self.lost += Fraction(lost, made.denominator)
        self.missed += Fraction(missed, made.denominator)
        if len(states) > self.effort.states:
            kept = dict(heapq.nlargest(self.effort.states, states.items(), key=lambda entry: entry[1]))
            self.lost += Fraction(sum(states.values()) - sum(kept.values()), made.denominator)
            made.states, self.cut = kept, True
        return made

    def decks(self, step: Step, population: _Population) -> tuple[Any, int]:
        """The rows of a step's law with their denominator; by key, if the law depends on the state."""
        if step.law is None:
            return None, 1
        if step.keys is None:
            if id(step) not in self.fixed:
                table = self.table(step, self.memory)
                self.fixed[id(step)] = table.deck(high=self.high), table.denominator
            return self.fixed[id(step)]
        made = {
            key: self.table(step, {**self.memory, **dict(zip(step.key_names, key, strict=True))})
            for key in step.keys(population.states)
            if not any(isinstance(entry, Range) for entry in key)
        }
        whole = lcm(1, *(table.denominator for table in made.values()))
        decks = {key: table.deck(high=self.high, factor=whole // table.denominator) for key, table in made.items()}
        return decks, whole

    def table(self, step: Step, memory: Mapping[str, Value]) -> Table:
        if step.law is None:
            raise TypeError("a step without a law has no table")
        table = law_of(step.law, memory, self.budgets, window=self.effort.window, bits=self.effort.bits)
        self.inexact = self.inexact or not table.exact
        return table

    def split(self, function: Any, population: _Population) -> tuple[_Population, _Population]:
        yes, no, lost = function(population.states, self.constants)
        self.lost += Fraction(lost, population.denominator)
        return _Population(yes, population.denominator), _Population(no, population.denominator)

    def loop(self, loop: Loop, population: _Population) -> _Population:
        left: list[_Population] = []
        for _ in range(self.effort.rounds):
            population, out = self.split(loop.split, population)
            if out.states:
                left.append(out)
            if not population.states:
                break
            population = self.all_of(loop.body, population)
        else:
            # The last round's states have not been asked whether they go on: some may have left.
            self.lose(population)
        return _merged(left)

    def lose(self, population: _Population) -> None:
        self.lost += Fraction(sum(population.states.values()), population.denominator)
        self.cut = self.cut or bool(population.states)
        population.states = {}


def _merged(populations: list[_Population]) -> _Population:
    """Several populations as one, over a common denominator."""
    populations = [entry for entry in populations if entry.states]
    if len(populations) <= 1:
        return populations[0] if populations else _Population({}, 1)
    # One after the other: a loop's denominators divide each other, so that each step multiplies by a small number.
    states, whole = dict(populations[0].states), populations[0].denominator
    for entry in populations[1:]:
        common = lcm(whole, entry.denominator)
        ours, theirs = common // whole, common // entry.denominator
        if ours != 1:
            states = {key: weight * ours for key, weight in states.items()}
        for key, weight in entry.states.items():
            states[key] = states.get(key, 0) + weight * theirs
        whole = common
    return _Population(states, whole)


def masses_of(
    program: Program,
    inputs: Mapping[str, Value],
    budgets: Mapping[str, Budget],
    *,
    effort: Effort = Effort(),  # noqa: B008  # a frozen value
    goal: Output | None = None,
    high: bool = False,
) -> tuple[Masses, bool]:
    """The outputs with their lower (or upper) weights, and whether these are exact. Inputs are taken as checked.

    With a `goal`, an output list, paths that cannot end in it are left off and count as missed.
    """
    machine: Machine = _machine(program, aimed=isinstance(goal, tuple))
    start = start_of(program)
    constants = tuple(inputs[entry.name] for entry in program.inputs)
    execution = _Execution(inputs, budgets, effort, goal, high, constants)
    first = _Population({tuple(start[name] for name in machine.start): 1}, 1)
    last = execution.all_of(machine.operations, first)
    name = program.output.name
    if name in start:
        weights = {key[0]: weight for key, weight in last.states.items()}
    else:
        weights = {inputs[name]: sum(last.states.values())}
    return Masses(weights, last.denominator, execution.lost, execution.missed, execution.cut), not execution.inexact


def distribution(
    program: Program,
    inputs: Mapping[str, object],
    budgets: Mapping[str, Budget],
    *,
    window: int | None = None,
    effort: Effort = Effort(),  # noqa: B008  # a frozen value
    goal: Output | None = None,
) -> Enumerated:
    r"""The distribution of a program's output on these inputs, with these budgets.

    Noise is followed up to `window` steps from its center, or as `effort` says. With a `goal`, an output list, only
    the executions that may end in it are followed, which is much faster.

    >>> from viameter.logic.exact.powers import Exponent
    >>> from viameter.logic.lang.parsing import read_program
    >>> text = "program p\ninput q: int\nbudget eps\nbegin\nx :=$ lap(1/eps, q)\nend\nreturn x\n"
    >>> found = distribution(read_program(text), {"q": 5}, {"eps": Exponent(Fraction(2))}, window=2)
    >>> found.probability(6).low, found.lost.high
    (Fraction(1, 6), Fraction(0, 1))
    """
    if goal is not None and (isinstance(goal, tuple) != (program.output.sort == "list")):
        raise ParameterError(
            f"goal={goal!r} is no output of program {program.name}, which returns {program.output.sort}"
        )
    if window is not None:
        effort = replace(effort, window=window)
    read = read_inputs(program, inputs)
    low, exact = masses_of(program, read, budgets, effort=effort, goal=goal)
    high = low if exact else masses_of(program, read, budgets, effort=effort, goal=goal, high=True)[0]
    return Enumerated(low, high)
