"""Means: exact coverage by every combination of the two noises."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.tables.estimates.laws import grid, law, missed

from viameter.errors import NumberError, ParameterError
from viameter.sampling import Tape, discrete_gaussian, discrete_laplace
from viameter.tables.estimates import Noise, mean_estimate
from viameter.tables.estimates.noise import Kind

F = Fraction
RATIOS = [F(-1), F(-3, 5), F(1, 10)]


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(("total_scale", "count_scale"), [(F(4), F(1)), (F(1, 2), F(3)), (F(5), F(2)), (F(3), F(0))])
@pytest.mark.parametrize("alpha", [F(1, 20), F(1, 1000)])
def test_means_are_covered_by_every_combination_of_noises(
    kind: Kind, total_scale: Fraction, count_scale: Fraction, alpha: Fraction
) -> None:
    reaches = [int((12 if kind == "laplace" else 6) * scale + 4) for scale in (total_scale, count_scale)]
    (z, y), chances = grid([law(kind, total_scale, reaches[0]), law(kind, count_scale, reaches[1])])
    for count in (1, 30):
        for ratio in RATIOS:
            total = int(10 * ratio * count)
            found = mean_estimate(
                total + z, Noise(kind, total_scale), count + y, Noise(kind, count_scale), alpha,
                bounds=(-3, 7), center=2, unit="1/2",
            )  # fmt: skip
            truth = float(2 + F(total, 2 * count))
            inside = (found.lower <= truth) & (truth <= found.upper)
            assert missed(chances, inside) <= float(alpha)
            assert np.isfinite(found.value).all()
            assert (found.lower <= found.value).all() and (found.value <= found.upper).all()
            assert found.lower.min() >= -3 and found.upper.max() <= 7


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("ratio", [-95, 0, 60])
def test_means_are_missed_almost_as_often_as_allowed(kind: Kind, ratio: int) -> None:
    draw = discrete_laplace if kind == "laplace" else discrete_gaussian
    groups, count, scale, entropy = 20_000, 5000, F(40), Tape.seeded(3)
    total = count * ratio + draw(groups, 100 * scale, entropy=entropy)
    counts = count + draw(groups, scale, entropy=entropy)
    found = mean_estimate(total, Noise(kind, 100 * scale), counts, Noise(kind, scale), bounds=(-100, 100))
    share = 1 - ((found.lower <= ratio) & (ratio <= found.upper)).mean()
    assert 0.012 < share <= 0.05 + 0.011  # seven deviations of 20 000 tosses


def test_where_the_count_may_be_nothing_the_interval_is_all_of_the_bounds() -> None:
    noise = Noise("laplace", F(1))
    found = mean_estimate([5, 5, 5, 9], noise, [-2, 0, 3, 4], noise, bounds=(-1, 5))
    assert found.value.tolist() == [2.0, 2.0, pytest.approx(5 / 3), 2.25]
    assert (found.lower[:3] == -1).all() and (found.upper[:3] == 5).all()
    assert found.upper[3] - found.lower[3] < 6


def test_the_rounding_of_rows_widens_means_to_both_sides() -> None:
    quiet = Noise("gaussian", F(0))
    found = mean_estimate([50], quiet, [10], quiet, bounds=(0, 10), row_error="1/4")
    assert F(float(found.lower[0])) <= F(19, 4) and F(float(found.upper[0])) >= F(21, 4)
    assert found.upper[0] - found.lower[0] == pytest.approx(0.5)
    # Rows at a bound may be rounded beyond it: the ratio is not cut off before the error is added.
    beyond = mean_estimate([1005], quiet, [100], quiet, bounds=(0, 10), row_error="1/10")
    assert beyond.lower[0] <= 9.95 <= beyond.upper[0] == 10.0


def test_extreme_statistics_give_finite_means() -> None:
    kinds: tuple[Kind, ...] = ("laplace", "gaussian")
    for kind in kinds:
        noise = Noise(kind, F(2**52))
        total = np.array([2**63 - 1, -(2**63), 0, 2**63 - 1])
        found = mean_estimate(total, noise, np.array([1, 2**63 - 1, -(2**63), 2**60]), noise, bounds=("-1e30", "1e30"))
        assert np.isfinite([found.value, found.lower, found.upper]).all()


def test_what_makes_no_mean_is_refused() -> None:
    noise = Noise("laplace", F(1))
    with pytest.raises(ParameterError, match="bounds"):
        mean_estimate([1], noise, [1], noise, bounds=(1, 1))
    with pytest.raises(ParameterError, match="unit"):
        mean_estimate([1], noise, [1], noise, bounds=(0, 1), unit=-1)
    with pytest.raises(NumberError, match="2\\^200"):
        mean_estimate([1], noise, [1], noise, bounds=(0, 10**100))
    with pytest.raises(NumberError, match="2\\^200"):
        mean_estimate([1], noise, [1], noise, bounds=(0, 1), unit=F(1, 10**100))
