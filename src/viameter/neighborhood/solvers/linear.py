"""The worst touch pattern under linear constraints, by mixed integer programming with a bound that is safe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from viameter.arith import INFINITY, ZERO, Extended, Number, exact
from viameter.errors import ParameterError, plain
from viameter.neighborhood.solvers.contribution import read_rows, rising
from viameter.neighborhood.solvers.milp import Program, bound_up, read_time_limit, settled
from viameter.neighborhood.solvers.worst import Unit, Worst, total

Row: TypeAlias = tuple[dict[int, Fraction], Fraction]
Pattern: TypeAlias = dict[int, int]


def worst_linear(
    gains: Sequence[Sequence[Extended]],
    *,
    rows: Sequence[tuple[Mapping[int, Number], Number]],
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Worst:
    """Return the largest sum of gains[i][m_i] where every row's sum of row[i] m_i is at most its bound.

    gains[i][0] is 0, and the rest may rise and fall. chosen is a tuple of (i, m_i), without zeros. The answer is exact
    if the solver's bound, raised by a margin for its rounding, leaves room for no other value; otherwise it is that
    bound, and chosen is the best pattern known. After `time_limit` seconds the bound known by then is taken.

    >>> from fractions import Fraction
    >>> half = [Fraction(m, 2) for m in range(4)]
    >>> worst_linear([half, half], rows=[({0: 1, 1: 2}, 4)])
    Worst(value=Fraction(3, 2), chosen=((0, 3),), exact=True)
    """
    limit = read_time_limit(time_limit)
    table = read_rows(gains)
    read = [_read_row(number, row, len(table)) for number, row in enumerate(rows)]
    best = {i: max(rising(row), default=0) for i, row in enumerate(table)}
    if _fits(best, read):
        return _shown(table, best)
    problem = _Bounded(table, read, limit, progress)
    free = {i: m for i, m in best.items() if i not in problem.parts}
    answer = problem.answer()
    rest, is_exact = total(table[i][m] for i, m in free.items())
    pattern = None if answer.chosen is None else tuple(sorted({**free, **dict(answer.chosen)}.items()))
    chosen = None if pattern is None else tuple((i, m) for i, m in pattern if m)
    if INFINITY in (answer.value, rest):
        return Worst(INFINITY, chosen, chosen is not None and INFINITY in (table[i][m] for i, m in chosen))
    return Worst(answer.value + rest, chosen, answer.exact and is_exact)


class _Bounded:
    """The parts that some row names, as a program with a variable for every (part, amount > 0)."""

    def __init__(
        self,
        table: list[list[Extended]],
        rows: list[Row],
        time_limit: float | None,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.table, self.rows, self.time_limit, self.progress = table, rows, time_limit, progress
        self.parts = sorted({i for row, _ in rows for i in row})
        falling = {i for row, _ in rows for i, coefficient in row.items() if coefficient < 0}
        # An amount that gains no more than a smaller one is of use only where it makes room in some row.
        self.amounts = {i: list(range(1, len(table[i]))) if i in falling else rising(table[i]) for i in self.parts}
        self.zero_fits = _fits({}, rows)

    def answer(self) -> Worst:
        endless = {(i, m) for i in self.parts for m in self.amounts[i] if self.table[i][m] == INFINITY}
        if endless:
            for i, m in sorted(endless):
                if _fits({i: m}, self.rows):
                    return Worst(INFINITY, ((i, m),))
            bound, pattern = self.solve({choice: Fraction(1) for choice in endless})
            if pattern is not None and not endless.isdisjoint(pattern.items()):
                return Worst(INFINITY, tuple(pattern.items()))
            if bound is None or bound >= 1:
                return Worst(INFINITY, None, exact=False)
            self.amounts = {i: [m for m in amounts if (i, m) not in endless] for i, amounts in self.amounts.items()}
        gains = {(i, m): self.gain(i, m) for i in self.parts for m in self.amounts[i]}
        ceiling = sum((max((gains[i, m] for m in self.amounts[i]), default=ZERO) for i in self.parts), ZERO)
        bound, pattern = self.solve(gains)
        if pattern is None and self.zero_fits:
            pattern = {}
        return _safe(bound, ceiling, pattern, gains)

    def gain(self, i: int, m: int) -> Fraction:
        gain = self.table[i][m]
        assert isinstance(gain, Fraction)
        return gain

    def solve(self, gains: Mapping[tuple[int, int], Fraction]) -> tuple[Fraction | None, Pattern | None]:
        """Return a safe bound on the sum of such gains, and a pattern that fits, each if one is known."""
        program = Program()
        variables = {(i, m): program.variable(gains.get((i, m), ZERO)) for i in self.parts for m in self.amounts[i]}
        for i in self.parts:
            if len(self.amounts[i]) > 1:
                program.at_most([(variables[i, m], 1) for m in self.amounts[i]], 1)
        for row, bound in self.rows:
            terms = [(variables[i, m], c * m) for i, c in row.items() for m in self.amounts[i]]
            reach = [[ZERO, *(c * m for m in self.amounts[i])] for i, c in row.items()]
            if sum(map(min, reach)) > bound:
                raise _infeasible()
            if sum(map(max, reach)) > bound:
                program.at_most(terms, bound)
        found, scale = program.solve(time_limit=self.time_limit, progress=self.progress)
        if found.infeasible and not self.zero_fits:
            raise _infeasible()
        pattern = None
        if found.point is not None:
            pattern = {i: m for (i, m), variable in variables.items() if found.point[variable] > 0.5}
            if not _fits(pattern, self.rows):
                pattern = None
        return bound_up(found, scale, program.gains, len(self.parts)), pattern


def _safe(
    bound: Fraction | None, ceiling: Fraction, pattern: Pattern | None, gains: Mapping[tuple[int, int], Fraction]
) -> Worst:
    chosen = None if pattern is None else tuple(pattern.items())
    reached = ZERO if pattern is None else sum((gains[choice] for choice in pattern.items()), ZERO)
    return settled(bound, ceiling, reached, chosen, Unit.of(gains.values()))


def _read_row(number: int, row: tuple[Mapping[int, Number], Number], parts: int) -> Row:
    if not isinstance(row, Sequence) or len(row) != 2 or not isinstance(row[0], Mapping):
        raise ParameterError(f"rows[{number}] is of type {type(row).__name__}: expected ({{part: coefficient}}, bound)")
    coefficients = {}
    for i, coefficient in row[0].items():
        if type(i) is not int or not 0 <= i < parts:
            raise ParameterError(f"rows[{number}] names part {plain(i)}: expected an index below {parts}")
        value = exact(coefficient, name=f"rows[{number}]")
        if value:
            coefficients[i] = value
    return coefficients, exact(row[1], name=f"the bound of rows[{number}]")


def _fits(pattern: Pattern, rows: list[Row]) -> bool:
    return all(sum(c * pattern.get(i, 0) for i, c in row.items()) <= bound for row, bound in rows)


def _shown(table: list[list[Extended]], pattern: Pattern) -> Worst:
    value, is_exact = total(table[i][m] for i, m in pattern.items())
    return Worst(value, tuple((i, m) for i, m in sorted(pattern.items()) if m), is_exact)


def _infeasible() -> ParameterError:
    return ParameterError("no amounts satisfy all rows, not even leaving all leaves alone: check signs and bounds")
