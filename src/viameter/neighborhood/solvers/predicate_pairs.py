"""The worst replacement of a record by a different one, over leaves that are touched where a conjunction holds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any, TypeAlias

from viameter.arith import INFINITY, ZERO, Extended
from viameter.neighborhood.solvers.cells import Cell
from viameter.neighborhood.solvers.milp import Program, bound_up, settled
from viameter.neighborhood.solvers.pairs import worst_pair
from viameter.neighborhood.solvers.records import Grid, Picks, TooLong, record_kinds, two_records
from viameter.neighborhood.solvers.worst import Unit, Worst

Pair: TypeAlias = tuple[Picks, Picks]
Variables: TypeAlias = dict[str, list[int]]


def worst_two(
    grid: Grid,
    cross: list[Extended],
    both: list[Extended],
    time_limit: float | None,
    progress: Callable[[str], None] | None,
) -> Worst:
    """Return the largest cost of two different records; chosen is the pair of them."""
    if all(len(column) == 1 and column[0].size == 1 for column in grid.values()):
        return Worst(ZERO, None)
    one: list[Fraction] = []
    two: list[Fraction] = []
    records = prod(sum(cell.size for cell in column) for column in grid.values())
    for i, (alone, together) in enumerate(zip(cross, both, strict=True)):
        touching = prod(sum(cell.size for cell in column if cell.leaves >> i & 1) for column in grid.values())
        if alone == INFINITY and 0 < touching < records:
            return Worst(INFINITY, (_inside(grid, i), _outside(grid, i)))
        if together == INFINITY and touching > 1:
            return Worst(INFINITY, _two_inside(grid, i))
        # What cannot happen costs nothing, even if it would cost more than everything.
        one.append(alone if isinstance(alone, Fraction) and 0 < touching < records else ZERO)
        two.append(together if isinstance(together, Fraction) and touching > 1 else ZERO)
    ceiling = sum(map(max, one, two), ZERO)
    unit = Unit.of([*one, *two])
    bound, pair = _among_kinds(grid, one, two)
    if bound is None or pair is None or (unit.exact and bound != _cost(pair, one, two)):
        other, better = _program(grid, one, two, time_limit, progress)
        bound = min((b for b in (bound, other) if b is not None), default=None)
        pair = max((p for p in (pair, better) if p is not None), key=lambda p: _cost(p, one, two), default=None)
    reached = ZERO if pair is None else _cost(pair, one, two)
    return settled(bound, ceiling, reached, None if pair is None else two_records(*pair), unit)


def _among_kinds(grid: Grid, one: list[Fraction], two: list[Fraction]) -> tuple[Fraction | None, Pair | None]:
    mattering = sum(1 << i for i in range(len(one)) if one[i] or two[i])
    try:
        kinds = record_kinds(grid, mattering)
    except TooLong:
        return None, None
    sets = [frozenset(i for i in range(len(one)) if kind.leaves >> i & 1) for kind in kinds]
    worst = worst_pair(sets, cross=one, both=two, plural=[kind.size > 1 for kind in kinds])
    assert isinstance(worst.value, Fraction)
    if worst.chosen is None:
        return worst.value, None
    s, t = worst.chosen
    # Of the same kind there are two examples, or one in a cell of several values.
    left, right = kinds[s].examples[0], kinds[t].examples[-1 if s == t else 0]
    return worst.value, ({a: left[a] for a in grid}, {a: right[a] for a in grid})


def _cost(pair: Pair, one: list[Fraction], two: list[Fraction]) -> Fraction:
    cost = ZERO
    for i in range(len(one)):
        hits = sum(all(cell.leaves >> i & 1 for cell in picks.values()) for picks in pair)
        cost += (ZERO, one[i], two[i])[hits]
    return cost


def _program(
    grid: Grid,
    one: list[Fraction],
    two: list[Fraction],
    time_limit: float | None,
    progress: Callable[[str], None] | None,
) -> tuple[Fraction | None, Pair | None]:
    program = Program()
    first, second = _record(program, grid), _record(program, grid)
    _different(program, grid, first, second)
    for i in range(len(one)):
        _leaf(program, grid, (first, second), i, one[i], two[i])
    found, scale = program.solve(time_limit=time_limit, progress=progress)
    bound = bound_up(found, scale, program.gains, len(one))
    if found.point is None:
        return bound, None
    left, right = (
        {a: picked(found.point, variables[a], column) for a, column in grid.items()} for variables in (first, second)
    )
    return bound, None if two_records(left, right) is None else (left, right)


def _record(program: Program, grid: Grid) -> Variables:
    variables = {a: [program.variable() for _ in column] for a, column in grid.items()}
    for chosen in variables.values():
        program.exactly_one(chosen)
    return variables


def _different(program: Program, grid: Grid, first: Variables, second: Variables) -> None:
    # Two records differ if they are in different cells of some attribute, or in one that has several values.
    if any(all(cell.size > 1 for cell in column) for column in grid.values()):
        return
    terms = [(v, -1) for a, column in grid.items() for v, c in zip(first[a], column, strict=True) if c.size > 1]
    for a, column in grid.items():
        if len(column) > 1:
            differs = program.variable()
            terms.append((differs, -1))
            for left, right in zip(first[a], second[a], strict=True):
                program.at_most([(differs, 1), (left, 1), (right, 1)], 2)
    program.at_most(terms, -1)


def _leaf(
    program: Program, grid: Grid, records: tuple[Variables, Variables], i: int, cross: Fraction, both: Fraction
) -> None:
    if not cross and not both:
        return
    deciding = [a for a, column in grid.items() if not all(cell.leaves >> i & 1 for cell in column)]
    having = [{a: _having(grid[a], record[a], i) for a in deciding} for record in records]
    states = []
    if both:
        states.append(program.variable(both, whole=False))
        for record in having:
            for variables in record.values():
                program.at_most([(states[-1], 1), *((v, -1) for v in variables)], 0)
    if cross:
        for mine, theirs in (having, having[::-1]):
            states.append(program.variable(cross, whole=False))
            for variables in mine.values():
                program.at_most([(states[-1], 1), *((v, -1) for v in variables)], 0)
            if both < cross:  # then the other record must fail some predicate for this to be the cost
                others = [(v, 1) for variables in theirs.values() for v in variables]
                program.at_most([(states[-1], 1), *others], len(deciding))
    program.at_most([(state, 1) for state in states], 1)


def _having(column: list[Cell], variables: list[int], i: int) -> list[int]:
    return [v for v, cell in zip(variables, column, strict=True) if cell.leaves >> i & 1]


def any_everywhere(grid: Grid, i: int) -> bool:
    """Return whether some record satisfies conjunction i."""
    return all(any(cell.leaves >> i & 1 for cell in column) for column in grid.values())


def picked(point: Any, variables: list[int], column: list[Cell]) -> Cell:
    """Return the cell whose variable is the largest."""
    return max(zip(variables, column, strict=True), key=lambda pair: point[pair[0]])[1]


def _inside(grid: Grid, i: int) -> dict[str, Any]:
    return {a: next(cell.value for cell in column if cell.leaves >> i & 1) for a, column in grid.items()}


def _outside(grid: Grid, i: int) -> dict[str, Any]:
    return {
        a: next((cell.value for cell in column if not cell.leaves >> i & 1), column[0].value)
        for a, column in grid.items()
    }


def _two_inside(grid: Grid, i: int) -> tuple[dict[str, Any], dict[str, Any]]:
    before = _inside(grid, i)
    after = dict(before)
    for a, column in grid.items():
        within = [cell for cell in column if cell.leaves >> i & 1]
        if len(within) > 1 or within[0].size > 1:
            after[a] = within[1].value if len(within) > 1 else within[0].other
            break
    return before, after
