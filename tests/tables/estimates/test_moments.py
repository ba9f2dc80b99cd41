"""Covariances, correlations, slopes and intercepts: coverage by enumeration and by draws, widths, rounding, edges."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from tests.tables.estimates.laws import grid, law, missed
from tests.tables.estimates.moments_of_rows import CASES, REACH, noisy_pair, truths

from viameter.tables.estimates import (
    Axis,
    Estimate,
    Moment,
    Noise,
    Pair,
    correlation_estimate,
    covariance_estimate,
    intercept_estimate,
    slope_estimate,
)
from viameter.tables.estimates.noise import Kind

F = Fraction
AT = -100
ESTIMATES: dict[str, Callable[[Pair, Fraction], Estimate]] = {
    "covariance": covariance_estimate,
    "correlation": correlation_estimate,
    "slope": slope_estimate,
    "intercept": lambda pair, alpha: intercept_estimate(pair, alpha, at=AT),
}
ALPHA = F(1, 20)


def inside(found: Estimate, truth: Fraction | float) -> npt.NDArray[np.bool_]:
    """Where the interval holds a number; floats are compared with a little of slack for the number itself."""
    slack = 1e-12 * max(abs(float(truth)), 1) if isinstance(truth, float) else 0.0
    return np.asarray((found.lower <= float(truth) + slack) & (float(truth) - slack <= found.upper))


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("rows", [[(3, 1), (-2, 0)], [(-4, 0), (1, 2), (3, 3), (0, -4)] * 12])
def test_every_combination_of_noises_is_covered(kind: Kind, rows: list[tuple[int, int]]) -> None:
    # Six noises are too many to enumerate: two of them are 0, and the others are small.
    x, y = np.array(rows).T
    alpha = F(1, 4)
    scales = {"count": F(1, 4), "x": F(1, 3), "y": F(0), "xy": F(1), "xx": F(1), "yy": F(0)}
    most = (1, 2, 0, 5, 5, 0) if kind == "gaussian" else (2, 3, 0, 7, 7, 0)
    reach = dict(zip(scales, most, strict=True))
    names = list(scales)
    drawn, chances = grid([law(kind, scales[name], reach[name]) for name in names])
    exact = {
        "count": len(x), "x": x.sum(), "y": y.sum(), "xy": (x * y).sum(), "xx": (x * x).sum(), "yy": (y * y).sum(),
    }  # fmt: skip
    made = {name: Moment(int(exact[name]) + z, Noise(kind, scales[name])) for name, z in zip(names, drawn, strict=True)}
    ends = (F(-4), F(4))
    pair = Pair(made["count"], Axis(made["x"], *ends, made["xx"]), Axis(made["y"], *ends, made["yy"]), made["xy"])
    for name, truth in truths(x, y, at=AT).items():
        found = ESTIMATES[name](pair, alpha)
        assert missed(chances, inside(found, truth)) <= alpha, name
        known = ~np.isnan(found.value)
        assert ((found.lower <= found.value) & (found.value <= found.upper))[known].all()


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("n", "scale"), [(60, F(3)), (600, F(5)), (6000, F(5))])
def test_intervals_hold_the_truth_about_as_often_as_is_said(kind: Kind, case: str, n: int, scale: Fraction) -> None:
    # Of 600 draws 30 misses are allowed; a false alarm takes 6.5 standard deviations.
    x, y = CASES[case](n)
    groups = 600
    pair = noisy_pair(x, y, scale, kind, groups=groups, seed=n)
    for name, truth in truths(x, y, at=AT).items():
        found = ESTIMATES[name](pair, ALPHA)
        misses = 1 - inside(found, truth).mean()
        assert misses <= 0.05 + 6.5 * math.sqrt(0.05 * 0.95 / groups), name
        if n == 6000 and case in ("a line", "nothing in common"):
            # Nor too wide: no interval of one width around the values that held as many could be much narrower.
            most = {"intercept": 1.6 if kind == "laplace" else 1.4}.get(name, 1.15)
            narrowest = 2 * np.quantile(np.abs(found.value - float(truth)), 0.95)
            assert np.median(found.upper - found.lower) < most * narrowest, name
            assert name == "intercept" or misses > 0.02, name


@pytest.mark.parametrize("shift", [(8, -30), (60, -45)])
@pytest.mark.parametrize("noisy", ["count", "x", "y", "xy", "xx", "yy"])
def test_each_noise_by_itself_is_covered_and_counted(noisy: str, shift: tuple[int, int]) -> None:
    x, y = CASES["a line"](500)
    x, y = x // (1 if shift[0] < 60 else 3) + shift[0], np.clip(y + shift[1], -REACH, REACH)
    quiet = {"count", "x", "y", "xy", "xx", "yy"} - {noisy}
    pair = noisy_pair(x, y, F(4), "gaussian", groups=1500, seed=3, quiet=quiet)
    uses = {"covariance": "count x y xy", "slope": "count x y xy xx", "intercept": "count x y xy xx"}
    for name, truth in truths(x, y, at=AT).items():
        found = ESTIMATES[name](pair, ALPHA)
        misses = 1 - inside(found, truth).mean()
        assert misses <= 0.05 + 6.5 * math.sqrt(0.05 * 0.95 / 1500), name
        wide = float(np.median(found.upper - found.lower))
        assert (wide > 1e-6) == (noisy in uses.get(name, noisy)), name


def test_what_is_not_known_of_means_is_covered_where_nothing_else_is_noise() -> None:
    # Both means are 0, and so are the weights of their noise: all errors are products of what is not known of both.
    noise, quiet, n = Noise("laplace", F(400)), Noise("laplace", F(0)), 400
    most = int(noise.width(F(45, 1000) * ALPHA))
    drawn = np.array([(one, other) for one in (-most, 0, most) for other in (-most, 0, most)]).T
    squares = Moment(np.full(9, n * 2500), quiet)
    axes = [Axis(Moment(one, noise), F(-REACH), F(REACH), squares) for one in drawn]
    pair = Pair(Moment(np.full(9, n), quiet), axes[0], axes[1], Moment(np.zeros(9, dtype=np.int64), quiet))
    for estimate in (covariance_estimate, slope_estimate):
        assert inside(estimate(pair, ALPHA), F(0)).all()


def test_without_noise_intervals_are_points_that_numpy_knows() -> None:
    x, y = CASES["a line"](997)
    pair = noisy_pair(x, y, F(0), "laplace", groups=1)
    slope, height = np.polyfit(x, y, 1)
    expected = {
        "covariance": np.cov(x, y, bias=True)[0, 1], "correlation": np.corrcoef(x, y)[0, 1], "slope": slope,
        "intercept": height + slope * AT,
    }  # fmt: skip
    for name, truth in expected.items():
        found = ESTIMATES[name](pair, ALPHA)
        assert found.value[0] == pytest.approx(truth, rel=1e-9)
        assert found.upper[0] - found.lower[0] < 1e-9 * max(abs(truth), 1)
        assert inside(found, truths(x, y, at=AT)[name]).all()


def test_the_rounding_of_rows_is_covered_and_nothing_else_is() -> None:
    dice, quiet = random.Random(11), Noise("laplace", F(0))
    tight = 0
    for _ in range(300):
        unit, product_unit = F(1, dice.choice([2, 8, 64])), F(1, dice.choice([1, 4, 64]))
        n = dice.randint(2, 9)
        xs = [F(dice.randint(-500, 300), 100) for _ in range(n)]
        slope = F(dice.randint(-3, 3), 2)
        ys = [min(max(slope * x + F(dice.randint(-50, 50), 100), F(-3)), F(5)) for x in xs]
        if dice.random() < 0.3:
            xs, ys = [F(dice.choice([-5, 3])) for _ in xs], [F(dice.choice([-3, 5])) for _ in xs]
        way: Callable[[Fraction], int] = dice.choice([math.floor, math.ceil])

        def moment(numbers: list[Fraction], size: Fraction, way: Callable[[Fraction], int] = way) -> Moment:
            return Moment(np.array([sum(way(number / size) for number in numbers)]), quiet, size, size)

        squares = [moment([one * one for one in numbers], product_unit) for numbers in (xs, ys)]
        axes = Axis(moment(xs, unit), F(-5), F(3), squares[0]), Axis(moment(ys, unit), F(-3), F(5), squares[1])
        products = moment([x * y for x, y in zip(xs, ys, strict=True)], product_unit)
        pair = Pair(Moment(np.array([n]), quiet), *axes, products)
        mean_x, mean_y = sum(xs) / n, sum(ys) / n
        covariance = sum(x * y for x, y in zip(xs, ys, strict=True)) / n - mean_x * mean_y
        of_x, of_y = sum(x * x for x in xs) / n - mean_x**2, sum(y * y for y in ys) / n - mean_y**2
        found = covariance_estimate(pair, ALPHA)
        assert F(float(found.lower[0])) <= covariance <= F(float(found.upper[0]))
        if of_x:
            found = slope_estimate(pair, ALPHA)
            assert found.lower[0] <= float(covariance / of_x) <= found.upper[0]
            tight += bool(found.upper[0] - found.lower[0] < 1)
            found = intercept_estimate(pair, ALPHA, at=7, start=2)
            assert found.lower[0] <= float(2 + mean_y + covariance / of_x * (7 - mean_x)) <= found.upper[0]
            # Where x is at its mean, only what is not known of the means is left.
            found = intercept_estimate(pair, ALPHA, at=F(mean_x))
            assert found.lower[0] <= float(mean_y) <= found.upper[0]
        if of_x and of_y:
            rho = float(covariance) / math.sqrt(of_x * of_y)
            found = correlation_estimate(pair, ALPHA)
            assert found.lower[0] - 1e-12 <= rho <= found.upper[0] + 1e-12
    assert tight > 30


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_groups_that_may_be_empty_and_columns_that_may_be_constant_have_the_whole_range(kind: Kind) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    constant = np.full(300, 40)
    for x, y, singular in (
        (nothing, nothing, set(ESTIMATES)),
        (constant, np.arange(300) % 101 - 50, set(ESTIMATES) - {"covariance"}),
        (np.arange(300) % 101 - 50, constant, {"correlation"}),
    ):
        pair = noisy_pair(x, y, F(2), kind, groups=400, seed=5)
        for name in singular:
            found = ESTIMATES[name](pair, ALPHA)
            widest = {"covariance": REACH**2, "correlation": 1}.get(name, math.inf)
            whole = (found.lower == -widest) & (found.upper == widest)
            assert whole.mean() > (0.8 if len(x) else 0.6), name
            assert not np.isnan(found.lower).any() and not np.isnan(found.upper).any()
            assert (np.isnan(found.value) <= (whole & (widest == math.inf))).all()
    # Noise far larger than any sum, and the ends of 64 bits.
    huge = Moment(np.array([2**62, -(2**62), 0]), Noise(kind, F(2) ** 50))
    axis = Axis(huge, F(-REACH), F(REACH), huge)
    for estimate in ESTIMATES.values():
        found = estimate(Pair(huge, axis, axis, huge), ALPHA)
        assert not np.isnan(found.lower).any() and (found.lower <= found.upper).all()


def test_intervals_of_many_groups_are_those_of_each_by_itself() -> None:
    x, y = CASES["a line"](200)
    pair = noisy_pair(x, y, F(2), "gaussian", groups=6, seed=9)

    def only(moment: Moment, place: int) -> Moment:
        return Moment(moment.values[place : place + 1], moment.noise)

    for name, estimate in ESTIMATES.items():
        together = estimate(pair, ALPHA)
        for place in range(6):
            axes = [
                Axis(only(axis.total, place), axis.low, axis.high, only(axis.squares, place))
                for axis in (pair.x, pair.y)
                if axis.squares is not None
            ]
            alone = estimate(Pair(only(pair.count, place), axes[0], axes[1], only(pair.products, place)), ALPHA)
            assert alone.lower[0] == pytest.approx(together.lower[place], rel=0.02), name
            assert alone.upper[0] == pytest.approx(together.upper[place], rel=0.02), name
