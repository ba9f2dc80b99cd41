"""Sink draws: move each sampling statement down to where its value is first read, past what does not depend on it.

Noise that is drawn before the sum which it protects can only be coupled once the sum is known.
"""

from __future__ import annotations

from viameter.logic.kernel.rules.moves import moved
from viameter.logic.lang.core import Block, If, Program, Sample, Statement, While, assigned, statements_of, terms_of
from viameter.logic.lang.terms import variables


def sunk(program: Program) -> tuple[Program, tuple[tuple[int, int], ...]]:
    """The program with all draws as late as they may be, and the moves (line, how many statements down) to it."""
    moves: list[tuple[int, int]] = []
    while True:
        found = _next(program.body)
        if found is None:
            return program, tuple(moves)
        program = moved(program, *found)
        moves.append(found)


def _next(block: Block) -> tuple[int, int] | None:
    # From the last statement to the first, so that a draw which was moved is not moved again.
    for index in range(len(block.statements) - 1, -1, -1):
        statement = block.statements[index]
        if isinstance(statement, Sample):
            past = _room(statement, block.statements[index + 1 :])
            if past:
                return statement.at, past
        elif isinstance(statement, If):
            inner = _next(statement.then) or _next(statement.orelse)
            if inner:
                return inner
        elif isinstance(statement, While):
            inner = _next(statement.body)
            if inner:
                return inner
    return None


def _room(sample: Sample, after: tuple[Statement, ...]) -> int:
    """How many of the following statements a draw may pass; other draws are not passed, so that this ends."""
    needs = {v.name for term in terms_of(sample) for v in variables(term)}
    for number, statement in enumerate(after):
        inside = list(statements_of(Block((statement,))))
        touched = {v.name for s in inside for term in terms_of(s) for v in variables(term)}
        changed = {v.name for v in assigned(Block((statement,)))}
        if isinstance(statement, Sample) or sample.target.name in touched | changed or needs & changed:
            return number
    return len(after)
