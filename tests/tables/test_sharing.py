"""What aggregates of one question share: sums that are made of what a mean or a variance takes."""

from fractions import Fraction

import numpy as np
import pytest

from viameter.tables.aggregates import Aggregate, Mean, Reading, Sum, Variance
from viameter.tables.estimates import Noise
from viameter.tables.expressions import Column, Kind, Schema, Type
from viameter.tables.planning import Noisy
from viameter.tables.sharing import read_together
from viameter.tables.statistics import FixedPoint, Total

BOUNDS = (Fraction(100), Fraction(110))
SCHEMA = Schema({"x": Type(Kind.INTEGER)})
ALPHA = Fraction(1, 20)
BESIDE: dict[str, Aggregate] = {"mean": Mean("x", BOUNDS), "variance": Variance("x", BOUNDS)}


def shared_sum(beside: str) -> Reading:
    """The sum of a column whose mean or variance is asked, too."""
    reading = read_together({"sum": Sum("x", BOUNDS), beside: BESIDE[beside]}, SCHEMA, "laplace")["sum"]
    assert len(reading.statistics) == 2  # it is shared: the bounds are far from 0
    return reading


@pytest.mark.parametrize("beside", BESIDE)
def test_a_shared_sum_is_the_distances_from_the_center_and_the_center_for_each_row(beside: str) -> None:
    reading, rows = shared_sum(beside), [{"x": x} for x in (None, 90, 100, 103, 107, 110, 999)]
    none = Noise("laplace", Fraction(0))
    statistics = [statistic for statistic in reading.statistics if isinstance(statistic, Total)]
    totals = [sum(statistic.evaluate(row) for row in rows) for statistic in statistics]
    estimate = reading.estimate([Noisy(np.array([total]), none) for total in totals], ALPHA)
    assert list(estimate.value) == [100 + 100 + 103 + 107 + 110 + 110]


@pytest.mark.parametrize("scales", [(1, 1), (100, 1), (1, 100)])
def test_the_width_of_a_shared_sum_covers_the_noise_of_both_statistics(scales: tuple[int, int]) -> None:
    """As often as it says, and by the law of both noises, here by their sums over all pairs of integers."""
    reading = shared_sum("mean")
    noises = [Noise("laplace", Fraction(scale)) for scale in scales]
    assert reading.fixed_width is not None and reading.made_of == (Fraction(1), Fraction(105))
    width = float(reading.fixed_width(noises, ALPHA))
    reach = np.arange(-2000, 2001)
    laws = [np.exp(-np.abs(reach) / scale) for scale in scales]
    laws = [law / law.sum() for law in laws]
    chances = np.outer(laws[0], laws[1])[np.abs(reach[:, None] + 105 * reach[None, :]) > width].sum()
    assert chances <= ALPHA
    fifth = np.outer(laws[0], laws[1])[np.abs(reach[:, None] + 105 * reach[None, :]) > width / 5].sum()
    assert fifth > ALPHA  # it is not wide for no reason
    assert reading.widths(noises, ALPHA) == {"": width}


def test_statistics_are_the_same_only_if_they_add_up_the_same_numbers() -> None:
    x, point = Column("x", Type(Kind.INTEGER)), FixedPoint.of(BOUNDS, Kind.INTEGER, centered=True)
    other = FixedPoint.of(BOUNDS, Kind.INTEGER, centered=False)
    different = [Total(), Total(x), Total(x, point), Total(x, other), Total(x, point, squared=True)]
    assert len(set(different)) == len(different)
    assert Total(x, point) == Total(Column("x", Type(Kind.INTEGER)), point)
    rows = [{"x": x} for x in (None, 100, 103, 110)]
    assert [sum(each.evaluate(row) for row in rows) for each in different] == [4, 3, -5 - 2 + 5, 313, 25 + 4 + 25]
