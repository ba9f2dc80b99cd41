"""The worst record, or pair of records, over leaves that are touched where a conjunction of predicates holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from viameter.arith import INFINITY, ZERO, Extended
from viameter.errors import ParameterError
from viameter.neighborhood.solvers.cells import Cell, cells
from viameter.neighborhood.solvers.milp import Program, bound_up, read_time_limit, settled
from viameter.neighborhood.solvers.predicate_pairs import any_everywhere, picked, worst_two
from viameter.neighborhood.solvers.records import MOST_WEIGHT, Grid, Picks, TooLong, heaviest_record
from viameter.neighborhood.solvers.worst import Unit, Worst, read_gains, same_length


def worst_predicates(
    conjunctions: Sequence[Mapping[str, Collection[Any]]],
    domains: Mapping[str, Sequence[Any]],
    *,
    cross: Sequence[Extended],
    both: Sequence[Extended] | None = None,
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Worst:
    """Return the largest cost of a record, or if `both` is given of a record that is replaced by a different one.

    A record has one value for each attribute of `domains`. Leaf i is touched by it if for each attribute that
    conjunctions[i] names the value is among those named. One record costs the sum of cross[i] over the leaves that
    it touches; two cost cross[i] where one of them touches leaf i and both[i] where both do. chosen is the record, or
    the pair of records, as dicts. Whether the answer is exact is decided as in `worst_linear`.

    >>> from fractions import Fraction
    >>> tenth = [Fraction(1, 10)] * 2
    >>> worst_predicates([{"age": range(30)}, {"age": range(20, 99)}], {"age": range(120)}, cross=tenth)
    Worst(value=Fraction(1, 5), chosen={'age': 20}, exact=True)
    """
    limit = read_time_limit(time_limit)
    one = read_gains(cross, name="cross")
    same_length("conjunctions", conjunctions, "cross", one)
    grid = _read_grid(conjunctions, domains)
    if both is None:
        return _worst_one(grid, one, limit, progress)
    two = read_gains(both, name="both")
    same_length("conjunctions", conjunctions, "both", two)
    return worst_two(grid, one, two, limit, progress)


def _read_grid(conjunctions: Sequence[Mapping[str, Collection[Any]]], domains: Mapping[str, Sequence[Any]]) -> Grid:
    if not isinstance(domains, Mapping):
        raise ParameterError(f"domains is of type {type(domains).__name__}: expected a mapping of attribute to values")
    for i, conjunction in enumerate(conjunctions):
        if not isinstance(conjunction, Mapping):
            raise ParameterError(
                f"conjunctions[{i}] is of type {type(conjunction).__name__}: expected a mapping of attribute to values"
            )
        for attribute in conjunction:
            if attribute not in domains:
                raise ParameterError(f"conjunctions[{i}] names {attribute!r}: expected an attribute of domains")
    return {
        attribute: cells(
            domain,
            {i: conjunction[attribute] for i, conjunction in enumerate(conjunctions) if attribute in conjunction},
            attribute=attribute,
            conjunctions=len(conjunctions),
        )
        for attribute, domain in domains.items()
    }


def _worst_one(
    grid: Grid,
    cross: list[Extended],
    time_limit: float | None,
    progress: Callable[[str], None] | None,
) -> Worst:
    # A cell whose leaves another cell has too is never better.
    grid = {attribute: _largest(given) for attribute, given in grid.items()}
    for i, gain in enumerate(cross):
        if isinstance(gain, float) and any_everywhere(grid, i):
            within = {a: next(c.value for c in column if c.leaves >> i & 1) for a, column in grid.items()}
            return Worst(INFINITY, within)
    possible = [any_everywhere(grid, i) for i in range(len(cross))]
    gains = [g if isinstance(g, Fraction) and can else ZERO for g, can in zip(cross, possible, strict=True)]
    ceiling = sum(gains, ZERO)
    unit = Unit.of(gains)
    # Whole weights, whose sum stays below MOST_WEIGHT; rounded up if it must be.
    fits = unit.exact and ceiling * unit.per_one <= MOST_WEIGHT
    scale = Fraction(unit.per_one) if fits else (MOST_WEIGHT - len(gains)) / ceiling
    try:
        weight, picks = heaviest_record(grid, [ceil(gain * scale) for gain in gains])
        bound: Fraction | None = weight / scale
    except TooLong:
        bound, picks = _program(grid, gains, time_limit, progress)
    reached = sum((gain for i, gain in enumerate(gains) if all(c.leaves >> i & 1 for c in picks.values())), ZERO)
    return settled(bound, ceiling, reached, {a: c.value for a, c in picks.items()}, unit)


def _program(
    grid: Grid, gains: list[Fraction], time_limit: float | None, progress: Callable[[str], None] | None
) -> tuple[Fraction | None, Picks]:
    program = Program()
    chooses = {a: [program.variable() for _ in column] for a, column in grid.items()}
    for variables in chooses.values():
        program.exactly_one(variables)
    for i, gain in enumerate(gains):
        if gain:
            touched = program.variable(gain, whole=False)
            for a, column in grid.items():
                having = [v for v, cell in zip(chooses[a], column, strict=True) if cell.leaves >> i & 1]
                if len(having) < len(column):
                    program.at_most([(touched, 1), *((v, -1) for v in having)], 0)
    found, scale = program.solve(time_limit=time_limit, progress=progress)
    picks = {a: column[0] for a, column in grid.items()}
    if found.point is not None:
        picks = {a: picked(found.point, chooses[a], column) for a, column in grid.items()}
    return bound_up(found, scale, program.gains, len(gains)), picks


def _largest(column: list[Cell]) -> list[Cell]:
    kept: list[Cell] = []
    for cell in sorted(column, key=lambda cell: cell.leaves.bit_count(), reverse=True):
        if not any(cell.leaves & larger.leaves == cell.leaves for larger in kept):
            kept.append(cell)
    return kept
