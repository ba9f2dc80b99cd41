"""Widths of sums of many noises: against laws that are summed up directly, from both sides."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.tables.estimates.laws import law, law_of_sum

from viameter.tables.estimates import Noise
from viameter.tables.estimates.inversion import _log_phi
from viameter.tables.estimates.noise import Kind
from viameter.tables.estimates.sums import _RATIOS, Weighted, _erfc, _reaches, widths_of_sums

F = Fraction
WEIGHTS = [(1, 1, 1, 1), (1, 2, 3, 4, 5), (7, 1, 1, 1, 1, 1), (1,) * 20, (12, 12, 1, 1), (5, 4, 4, 3, 3, 3, 2)]


def chance_beyond(weights: tuple[int, ...], kind: Kind, scale: Fraction, width: float) -> float:
    """P(|sum of w Z| > width)."""
    reach = math.ceil(45 * scale) + 5 if kind == "laplace" else math.ceil(9 * scale) + 5
    values, chances = law_of_sum([(weight, kind, scale) for weight in weights], reach)
    return float(chances[np.abs(values) > width].sum())


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("alpha", [F(1, 20), F(1, 4), F(1, 1000)])
def test_widths_of_many_noises_hold_and_are_nearly_the_least(
    kind: Kind, weights: tuple[int, ...], alpha: Fraction
) -> None:
    for scale in (F(1, 3), F(1), F(7)):
        block = Weighted(np.array([weights], dtype=np.float64), Noise(kind, scale))
        width = float(widths_of_sums([block], alpha)[0])
        assert chance_beyond(weights, kind, scale, width) <= alpha
        # One part in 40 for smoothing, a little more for the rest; laws on a lattice jump.
        assert scale < 1 or chance_beyond(weights, kind, scale, 0.96 * width - max(weights)) > alpha


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_weights_that_are_not_known_to_the_last_bit_are_covered(kind: Kind) -> None:
    # All weights between the least and the largest: here the sum is at its widest for the largest.
    weights = (3, 2, 2, 1, 1)
    above = np.array([weights], dtype=np.float64) + 0.05
    wide = widths_of_sums([Weighted(above, Noise(kind, F(4)), above - 0.1)], F(1, 20))
    plain = widths_of_sums([Weighted(above, Noise(kind, F(4)))], F(1, 20))
    assert wide[0] > plain[0]
    near = widths_of_sums([Weighted(above, Noise(kind, F(4)), above - 1e-9)], F(1, 20))
    assert plain[0] <= near[0] < plain[0] * (1 + 1e-5)


@pytest.mark.parametrize("scale", [F(1), F(3, 2), F(12)])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_characteristic_functions_are_sums_over_the_law(kind: Kind, scale: Fraction) -> None:
    reach = math.ceil(45 * scale) + 12
    z, chances = np.arange(-reach, reach + 1), law(kind, scale, reach)
    u = np.linspace(0.0, 40.0, 801)
    direct = np.cos(u[:, None] * z) @ chances
    assert np.abs(np.exp(_log_phi(kind, float(scale), u)) - direct).max() < 1e-12


def test_one_small_scale_among_larger_ones_is_summed_up() -> None:
    # A sum of two: the small one of 1.5 has its weight; the other is far above the lattice.
    for weight, alpha in ((1, F(1, 20)), (40, F(1, 20)), (100, F(1, 10)), (400, F(1, 100))):
        small, large = Noise("gaussian", F(3, 2)), Noise("gaussian", F(60))
        block = [Weighted(np.ones((1, 1)), large), Weighted(np.full((1, 1), float(weight)), small)]
        width = float(widths_of_sums(block, alpha)[0])
        values, chances = law_of_sum([(1, "gaussian", F(60)), (weight, "gaussian", F(3, 2))], 600)
        assert chances[np.abs(values) > width].sum() <= alpha
        assert chances[np.abs(values) > 0.93 * width - 2].sum() > alpha


def test_reaches_rise_from_those_of_a_normal_law() -> None:
    reach = _reaches(F(2), F(1, 20))
    assert reach[0] == pytest.approx(1.959964, abs=1e-5) and (np.diff(reach) >= -1e-9).all()
    assert (reach >= 1.9599).all() and reach[_RATIOS.searchsorted(1.0)] == pytest.approx(1.96 * math.sqrt(2), rel=0.06)
    assert np.isinf(_reaches(F(2), F(1, 10**11))).all()


def test_erfc_is_bounded_from_above() -> None:
    x = np.linspace(-9, 36, 20_001)
    true = np.array([math.erfc(value / math.sqrt(2)) for value in x])
    assert (_erfc(x) >= true).all() and (_erfc(x) <= true * (1 + 4e-7)).all()
