"""Linear constraints, against all amounts, and what becomes of wrong or late answers of the solver."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import OptimizeResult  # type: ignore[import-untyped]
from tests.cases import for_each
from tests.neighborhood.solvers.instances import INFINITY, plus, row, seeds

from viameter.errors import NumberError, ParameterError
from viameter.neighborhood.solvers import milp, worst_linear
from viameter.neighborhood.solvers.worst import Unit

Rows = list[tuple[Mapping[int, Fraction], Fraction]]
Table = list[list[Fraction | float]]


def _fits(amounts: tuple[int, ...], rows: Rows) -> bool:
    return all(sum(c * amounts[i] for i, c in row.items()) <= bound for row, bound in rows)


def _truth(table: Table, rows: Rows) -> Fraction | float | None:
    ways = product(*(range(len(given)) for given in table))
    values = [plus(table[i][m] for i, m in enumerate(way)) for way in ways if _fits(way, rows)]
    return max(values, default=None)


def _rows(rng: random.Random, parts: int, coefficient: Callable[[random.Random], Fraction]) -> Rows:
    named = [[i for i in range(parts) if rng.random() < 0.6] for _ in range(rng.randrange(4))]
    return [({i: coefficient(rng) for i in some}, Fraction(rng.randrange(-2, 9), rng.choice((1, 2)))) for some in named]


def _check(table: Table, rows: Rows) -> bool:
    truth = _truth(table, rows)
    if truth is None:
        with pytest.raises(ParameterError, match="no amounts satisfy"):
            worst_linear(table, rows=rows)
        return True
    worst = worst_linear(table, rows=rows)
    assert worst.value >= truth
    if worst.exact:
        assert worst.value == truth
    if worst.chosen is not None:
        amounts = dict(worst.chosen)
        assert 0 not in amounts.values()
        assert _fits(tuple(amounts.get(i, 0) for i in range(len(table))), rows)
        reached = plus(table[i][m] for i, m in amounts.items())
        assert reached == worst.value if worst.exact else reached <= truth
    return worst.exact


def test_linear_is_the_largest_of_all_choices() -> None:
    for rng in seeds("linear", 250):
        table = [row(rng, 3) for _ in range(rng.randrange(1, 5))]
        assert _check(table, _rows(rng, len(table), lambda rng: Fraction(rng.randrange(-2, 5), rng.choice((1, 1, 3)))))


def test_infinite_gains_count_where_they_can_be_had() -> None:
    for rng in seeds("linear infinite", 120):
        table = [row(rng, 3, infinite=0.3) for _ in range(rng.randrange(1, 5))]
        assert _check(table, _rows(rng, len(table), lambda rng: Fraction(rng.randrange(-2, 5))))


def test_coefficients_of_wild_sizes_keep_the_bound_above() -> None:
    sizes = (
        Fraction(1, 10**12),
        Fraction(1, 10**7),
        Fraction(1),
        Fraction(10**7),
        Fraction(10**18, 7),
        Fraction(10**400),
    )
    for rng in seeds("wild", 120):
        table = [row(rng, 3) for _ in range(rng.randrange(1, 5))]
        rows = _rows(rng, len(table), lambda rng: rng.choice(sizes) * rng.randrange(-3, 5))
        truth = _truth(table, rows)
        if truth is None:
            with pytest.raises(ParameterError, match="no amounts satisfy"):
                worst_linear(table, rows=rows)
        else:
            _check(table, rows)


def test_many_tiny_coefficients_that_make_room_are_not_dropped() -> None:
    tiny = Fraction(1, 2**31)
    idle: Table = [[Fraction(0), Fraction(0)]] * 1000
    table: Table = [[Fraction(0), Fraction(1)], *idle]
    # The first amount fits only if all others are 1.
    rows: Rows = [({0: Fraction(1), **dict.fromkeys(range(1, 1001), -tiny)}, 1 - 1000 * tiny)]
    assert worst_linear(table, rows=rows).value >= 1


def test_a_row_that_is_met_with_equality_is_met() -> None:
    third = Fraction(1, 3)
    for scale in (Fraction(1), Fraction(1, 10**9), Fraction(10**20), Fraction(10**6 + 3, 7)):
        rows: Rows = [({0: third * scale, 1: third * scale}, 2 * third * scale)]
        assert worst_linear([[Fraction(0), Fraction(1)]] * 2 + [[Fraction(0)]], rows=rows).value == 2
        tight: Rows = [({0: third * scale, 1: third * scale}, 2 * third * scale * (1 - Fraction(1, 10**15)))]
        assert worst_linear([[Fraction(0), Fraction(1)]] * 2, rows=tight).value >= 1


def test_gains_that_floats_cannot_tell_apart_give_a_bound_that_is_not_exact() -> None:
    for rng in seeds("close", 20):
        table: Table = [[Fraction(0), Fraction(10**40 + rng.randrange(100), 3 * 10**40)] for _ in range(6)]
        rows: Rows = [({i: Fraction(rng.randrange(1, 4)) for i in range(6)}, Fraction(5))]
        truth, worst = _truth(table, rows), worst_linear(table, rows=rows)
        assert truth is not None
        assert not worst.exact and truth < worst.value < truth * (1 + Fraction(1, 10**5))


_KNAPSACK: Table = [[Fraction(0), Fraction(3)], [Fraction(0), Fraction(2)], [Fraction(0), Fraction(2)]]
_ROW: Rows = [({0: Fraction(3), 1: Fraction(2), 2: Fraction(2)}, Fraction(4))]


def _answering(monkeypatch: pytest.MonkeyPatch, point: list[float] | None, bound: float | None) -> None:
    values = None if point is None else np.array(point)
    monkeypatch.setattr(milp.Program, "_run", lambda *_: milp.Answer(values, bound, infeasible=False))


def test_only_the_dual_bound_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worst_linear(_KNAPSACK, rows=_ROW).value == 4
    _answering(monkeypatch, [1.0, 0.0, 0.0], 5.5)  # 3 was found, and that is not the most
    late = worst_linear(_KNAPSACK, rows=_ROW)
    assert (late.chosen, late.exact) == (((0, 1),), False)
    assert Fraction(11, 2) < late.value < Fraction(11, 2) + Fraction(1, 1000)


@pytest.mark.parametrize(
    ("status", "bound", "expected"),
    [(0, -5.5, 5.5), (1, -5.5, 5.5), (1, None, None), (1, -INFINITY, None), (1, float("nan"), None), (4, -5.5, None)],
)
def test_of_what_scipy_says_the_dual_bound_is_taken(
    monkeypatch: pytest.MonkeyPatch, status: int, bound: float | None, expected: float | None
) -> None:
    found = OptimizeResult(status=status, x=np.array([1.0, 0.0, 0.0]), fun=-3.0, mip_dual_bound=bound)
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: found)
    program = milp.Program()
    program.variable(Fraction(3))
    answer, scale = program.solve(time_limit=None, progress=None)
    assert (answer.bound, answer.infeasible, scale) == (expected, False, Fraction(1))
    worst = worst_linear(_KNAPSACK, rows=_ROW)
    assert not worst.exact and worst.value == (7 if expected is None else worst.value) and worst.value > 5


def test_a_pattern_that_does_not_fit_exactly_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    _answering(monkeypatch, [1.0, 1.0, 0.0], 5.0)
    worst = worst_linear(_KNAPSACK, rows=_ROW)
    assert not worst.exact and worst.value > 5 and worst.chosen == ()


def test_without_a_bound_the_sum_of_all_maxima_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for point in (None, [0.0, 1.0, 1.0]):
        _answering(monkeypatch, point, None)
        worst = worst_linear(_KNAPSACK, rows=_ROW)
        assert (worst.value, worst.exact) == (7, False)
    _answering(monkeypatch, None, None)
    table: Table = [*_KNAPSACK, [Fraction(0), INFINITY]]
    rows: Rows = [({**_ROW[0][0], 3: Fraction(9)}, Fraction(4))]
    assert worst_linear(table, rows=rows).value == INFINITY
    assert not worst_linear(table, rows=rows).exact


def test_a_bound_below_what_was_reached_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    _answering(monkeypatch, [0.0, 1.0, 1.0], 3.0)
    worst = worst_linear(_KNAPSACK, rows=_ROW)
    assert (worst.value, worst.exact) == (7, False)


def test_a_bound_is_raised_by_its_margin() -> None:
    gains = [Fraction(1), Fraction(1, 2)]
    answer = milp.Answer(None, 3.0, infeasible=False)
    raised = milp.bound_up(answer, Fraction(2), gains, 4)
    assert raised == (3 + 20 * milp.ABSOLUTE_MARGIN) / 2
    large = milp.bound_up(answer, Fraction(2**20), gains, 4)
    assert large == (3 + 20 * milp.RELATIVE_MARGIN * 2**20) / 2**20
    assert milp.bound_up(milp.Answer(None, None, infeasible=False), Fraction(1), gains, 4) is None


def test_what_is_settled_leaves_room_for_no_other_value() -> None:
    unit = Unit(10)
    reached, ceiling = Fraction(1), Fraction(9)
    for bound, exact in ((Fraction(1), True), (Fraction(109, 100), True), (Fraction(11, 10), False), (None, False)):
        worst = milp.settled(bound, ceiling, reached, "pattern", unit)
        assert worst.exact is exact
        assert worst.value == reached if exact else worst.value >= (bound or ceiling)
    assert milp.settled(Fraction(1), ceiling, reached, "pattern", Unit(10, exact=False)).exact
    assert not milp.settled(Fraction(101, 100), ceiling, reached, "pattern", Unit(10, exact=False)).exact
    assert milp.settled(Fraction(99, 100), ceiling, reached, "pattern", unit).value == ceiling
    assert milp.settled(Fraction(99), ceiling, reached, None, unit).value == ceiling
    third = milp.settled(Fraction(1, 3), ceiling, Fraction(0), None, unit)
    assert Fraction(1, 3) < third.value < Fraction(1, 3) + Fraction(1, 10**15) and not third.exact


def test_a_time_limit_leaves_the_bound_sound() -> None:
    rng = random.Random(4)
    table: Table = [[Fraction(0), Fraction(rng.randrange(1, 1000))] for _ in range(40)]
    rows: Rows = [({i: Fraction(rng.randrange(1, 1000)) for i in range(40)}, Fraction(9000)) for _ in range(6)]
    best = worst_linear(table, rows=rows)
    hurried = worst_linear(table, rows=rows, time_limit=1e-6)
    assert hurried.value >= best.value
    assert best.exact and _fits(tuple(dict(best.chosen).get(i, 0) for i in range(40)), rows)


def test_parts_that_no_row_names_take_their_best() -> None:
    table: Table = [*_KNAPSACK, [Fraction(0), Fraction(5), Fraction(1)]]
    worst = worst_linear(table, rows=_ROW)
    assert (worst.value, worst.chosen) == (9, ((1, 1), (2, 1), (3, 1)))
    table[3][1] = INFINITY
    assert worst_linear(table, rows=_ROW).value == INFINITY
    with pytest.raises(ParameterError, match="no amounts satisfy"):
        worst_linear(table, rows=[*_ROW, ({0: Fraction(1)}, Fraction(-1))])


def test_no_scipy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    for progress in (None, print):
        with pytest.raises(ParameterError, match=r"pip install 'viameter\[neighborhood\]'"):
            worst_linear(_KNAPSACK, rows=_ROW, progress=progress)
    assert worst_linear(_KNAPSACK, rows=[]).value == 7


def test_progress_is_reported_while_the_solver_works(monkeypatch: pytest.MonkeyPatch) -> None:
    run = milp.Program._run
    monkeypatch.setattr(milp, "PATIENCE", 0.01)

    def slowly(*given: object) -> milp.Answer:
        time.sleep(0.1)
        return run(*given)  # type: ignore[arg-type]

    lines: list[str] = []
    monkeypatch.setattr(milp.Program, "_run", slowly)
    assert worst_linear(_KNAPSACK, rows=_ROW, progress=lines.append).value == 4
    assert lines and all("searching" in line for line in lines)


@for_each(
    "rows",
    [
        [({3: 1}, 1)],
        [({-1: 1}, 1)],
        [({"a": 1}, 1)],
        [({0: 1},)],
        [([1], 1)],
        [({0: 1.5}, 1)],
        [({0: 1}, INFINITY)],
        [5],
    ],
)
def test_rows_that_make_no_sense_are_refused(rows: Rows) -> None:
    with pytest.raises((ParameterError, NumberError)):
        worst_linear(_KNAPSACK, rows=rows)


@for_each("limit", [0, -1, INFINITY, float("nan"), "soon", True])
def test_time_limits_that_make_no_sense_are_refused(limit: float) -> None:
    with pytest.raises(ParameterError, match="time_limit="):
        worst_linear(_KNAPSACK, rows=_ROW, time_limit=limit)
