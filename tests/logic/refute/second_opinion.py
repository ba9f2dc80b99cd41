"""Probabilities of an event computed a second time, in fractions, statement by statement, with no code of the library.

Whole memories are kept (nothing is dead, nothing is a range), noise is cut off at a window, and executions whose
output list cannot become the event any more are left off.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.logic.exact import naive

from viameter.logic.lang import core

States = dict[tuple[tuple[str, Any], ...], Fraction]


def probability(
    program: core.Program, inputs: dict[str, Any], ratios: dict[str, Fraction], event: Any, window: int
) -> Fraction:
    """The mass of the executions with noise within the window that end in the event: at most its probability."""
    start: naive.Memory = dict(inputs)
    for statement in core.statements_of(program.body):
        if isinstance(statement, core.Assign | core.Sample | core.Append):
            start[statement.target.name] = {"int": 0, "bool": False, "list": ()}[statement.target.sort]
    states: States = {tuple(sorted(start.items())): Fraction(1)}
    states = _block(program.body, states, ratios, event, window, program.output.name)
    return sum((w for key, w in states.items() if dict(key)[program.output.name] == event), Fraction(0))


def _block(
    block: core.Block, states: States, ratios: dict[str, Fraction], event: Any, window: int, output: str
) -> States:
    for statement in block:
        if isinstance(statement, core.While):
            ended: States = {}
            while states:
                go, stay = _parted(states, statement.test)
                _add(ended, stay)
                states = _block(statement.body, go, ratios, event, window, output)
            states = ended
        elif isinstance(statement, core.If):
            yes, no = _parted(states, statement.test)
            states = _block(statement.then, yes, ratios, event, window, output)
            _add(states, _block(statement.orelse, no, ratios, event, window, output))
        else:
            states = _simple(statement, states, ratios, event, window, output)
    return states


def _simple(
    statement: core.Statement, states: States, ratios: dict[str, Fraction], event: Any, window: int, output: str
) -> States:
    after: States = {}
    for key, weight in states.items():
        memory = dict(key)
        drawn: list[tuple[Any, Fraction]] = []
        match statement:
            case core.Assign(target, term):
                drawn = [(naive.value(term, memory), Fraction(1))]
            case core.Append(target, term):
                drawn = [((*memory[target.name], naive.value(term, memory)), Fraction(1))]
            case core.Sample(target, law):
                drawn = naive.law(law, memory, ratios, window)
        for value, mass in drawn:
            if target.name == output and isinstance(event, tuple) and value != event[: len(value)]:
                continue
            _add(after, {tuple(sorted({**memory, target.name: value}.items())): weight * mass})
    return after


def _parted(states: States, test: Any) -> tuple[States, States]:
    yes = {key: weight for key, weight in states.items() if naive.value(test, dict(key))}
    return yes, {key: weight for key, weight in states.items() if key not in yes}


def _add(states: States, more: States) -> None:
    for key, weight in more.items():
        states[key] = states.get(key, Fraction(0)) + weight
