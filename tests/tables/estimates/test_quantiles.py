"""Quantiles: exact coverage in small trees, draws in large ones, and what a quantile is, word by word."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from tests.tables.estimates.laws import grid, law, missed

from viameter.errors import NumberError, ParameterError
from viameter.sampling import Tape, discrete_gaussian, discrete_laplace
from viameter.tables.estimates import Noise, TreeShape, coarsen, fit, quantiles
from viameter.tables.estimates.noise import Kind
from viameter.tables.estimates.quantiles import monotone, quantile_widths

F = Fraction
EDGES = [F(0), F(10), F(20), F(30)]
ROWS: list[list[int]] = [[], [15], [10], [20], [0], [30], [5] * 12, [25] * 12, [15] * 12, [10] * 12, [20] * 12]
ROWS += [[5, 5, 5, 5, 15, 25, 25, 25], [10, 20] * 6, [0, 30] * 9, [5] * 20 + [25] * 20, [12] * 3 + [29] * 27]


def _ends(rows: list[int], q: Fraction, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """The least and the largest x of the bounds with F(x-) <= q <= F(x), by trying all rows and what is between."""
    if not rows:
        return low, high
    points = sorted({low, high, *map(F, rows)})
    points = sorted([*points, *((a + b) / 2 for a, b in itertools.pairwise(points))])
    n = len(rows)
    good = [x for x in points if sum(r < x for r in rows) <= q * n <= sum(r <= x for r in rows)]
    return good[0], good[-1]


def _bins(rows: list[int], *, closed_left: bool) -> list[int]:
    """Counts of three bins; a row on an inner edge belongs to the bin after it, or before it."""
    found = [sum(edge <= row if closed_left else edge < row for edge in (10, 20)) for row in rows]
    return [found.count(bin) for bin in range(3)]


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("closed_left", [True, False])
@pytest.mark.parametrize("alpha", [F(1, 20), F(1, 3)])
def test_quantiles_are_covered_by_every_combination_of_noises(kind: Kind, closed_left: bool, alpha: Fraction) -> None:
    shape, noise, reach = TreeShape(3, 4), Noise(kind, F(1)), 10 if kind == "laplace" else 5
    values, chances = grid([law(kind, F(1), reach)] * 3)
    drawn = np.stack(values, axis=-1)
    asked = [F(0), F(1, 100), F(1, 4), F(1, 2), F(9, 10), F(1)]
    for rows in ROWS:
        tree = fit([np.array(_bins(rows, closed_left=closed_left)) + drawn], [noise], shape)
        found = quantiles(tree, EDGES, asked, alpha)
        for column, q in enumerate(asked):
            low, high = _ends(rows, q, EDGES[0], EDGES[-1])
            inside = (found.lower[:, column] <= float(high)) & (float(low) <= found.upper[:, column])
            assert missed(chances, inside) <= alpha
        assert np.isfinite(found.value).all()
        assert (found.lower <= found.value).all() and (found.value <= found.upper).all()
        assert (np.diff(found.value, axis=-1) >= 0).all()


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_miss_happens_almost_as_often_as_the_width_of_one_edge_allows(kind: Kind) -> None:
    # The median is the last row of the first bin: T is just above 0 at its upper edge, and a miss is on one side.
    shape, noise, groups = TreeShape(3, 4), Noise(kind, F(300)), 20_000
    draw = discrete_laplace if kind == "laplace" else discrete_gaussian
    drawn = draw(3 * groups, F(300), entropy=Tape.seeded(9)).reshape(groups, 3)
    found = quantiles(fit([np.array([50_001, 0, 50_000]) + drawn], [noise], shape), EDGES, [F(1, 2)])
    share = (found.lower > 0).mean()
    assert (0.006 if kind == "laplace" else 0.02) < share <= 0.025 + 0.0075
    mirror = quantiles(fit([np.array([50_000, 0, 50_001]) + drawn], [noise], shape), EDGES, [F(1, 2)])
    assert (0.006 if kind == "laplace" else 0.02) < (mirror.upper < 30).mean() <= 0.025 + 0.0075


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(("scale", "rows"), [(F(1, 3), 500), (F(4), 3000), (F(300), 200_000)])
def test_quantiles_of_large_trees_are_covered_and_sharp(kind: Kind, scale: Fraction, rows: int) -> None:
    shape = TreeShape.of(256, kind=kind)
    draw = discrete_laplace if kind == "laplace" else discrete_gaussian
    entropy = Tape.seeded(rows)
    numbers = np.sort(np.random.default_rng(rows).beta(2, 5, size=rows))
    leaves = np.histogram(numbers, bins=256, range=(0, 1))[0]
    levels = coarsen(np.tile(leaves, (1000, 1)), shape)
    noises = [Noise(kind, scale)] * len(levels)
    noisy = [level + draw(level.size, scale, entropy=entropy).reshape(level.shape) for level in levels]
    tree = fit(noisy, noises, shape)
    asked = ["1/10", "1/2", "19/20"]
    edges = [F(i, 256) for i in range(257)]
    for alpha, most in ((F(1, 20), 50 + 50), (F(1, 1000), 1 + 15)):
        found = quantiles(tree, edges, asked, alpha)
        for column, q in enumerate((0.1, 0.5, 0.95)):
            truth = numbers[int(q * rows)]
            misses = ((found.lower[:, column] > truth) | (found.upper[:, column] < truth)).sum()
            assert misses <= most
        assert np.median(found.upper[:, 1] - found.lower[:, 1]) < 0.1
        assert np.abs(np.median(found.value[:, 1]) - numbers[rows // 2]) < 0.01
    # The width of each edge by itself, against the noise that was drawn.
    exact = np.concatenate([[0], np.cumsum(leaves)])
    error = tree.counts_below - tree.counts_below[:, -1:] / 2 - (exact - rows / 2)
    beyond = (np.abs(error[:, 1:-1]) > quantile_widths(shape, tuple(noises), F(1, 2), F(1, 20))).mean(axis=0)
    # From both sides: of noise that is more than a few rows, a twentieth is beyond its width, or little less.
    assert (0.035 if scale > 1 else 0.0001) < beyond.mean() < 0.06 and beyond.max() <= 0.05 + 0.06


def test_all_rows_in_one_bin_give_that_bin() -> None:
    shape = TreeShape(64, 4)
    noise = Noise("gaussian", F(2))
    for place in (0, 31, 63):
        leaves = np.zeros(64, dtype=int)
        leaves[place] = 10_000
        found = quantiles(fit(coarsen(leaves, shape), [noise] * 3, shape), list(range(65)), ["1/10", "1/2", "9/10"])
        assert (found.lower == place).all() and (found.upper == place + 1).all()
        assert (np.diff(found.value) >= 0).all()


def test_without_noise_and_with_ties_the_ends_still_hold_a_quantile() -> None:
    quiet = Noise("gaussian", F(0))
    for counts in ([5, 0, 5], [0, 0, 0]):
        found = quantiles(fit([counts], [quiet], TreeShape(3, 4)), EDGES, ["1/2"])
        assert found.lower[0] <= 20 and found.upper[0] >= 10
        assert found.lower[0] <= found.value[0] <= found.upper[0]


def test_nothing_but_noise_gives_the_bounds_and_finite_values() -> None:
    noise = Noise("laplace", F(5))
    found = quantiles(fit([[[-3, 2, -4], [0, 0, 0]]], [noise], TreeShape(3, 4)), EDGES, ["1/4", "1/2"])
    assert (found.lower == 0).all() and (found.upper == 30).all()
    assert found.value.tolist() == [[7.5, 15.0], [7.5, 15.0]]


def test_the_rounding_of_rows_widens_quantiles_within_the_bounds() -> None:
    noise = Noise("gaussian", F(1))
    tree = fit([[100, 1000, 100]], [noise], TreeShape(3, 4))
    found = quantiles(tree, EDGES, ["1/2"], row_error=3)
    assert found.lower[0] <= 7 and found.upper[0] >= 23
    wide = quantiles(tree, EDGES, ["1/2"], row_error=300)
    assert (wide.lower[0], wide.upper[0]) == (0, 30)


def test_edges_that_no_float_equals_are_rounded_outward() -> None:
    tree = fit([[0, 1000, 0]], [Noise("gaussian", F(1))], TreeShape(3, 4))
    edges = [F(0), F(1, 3), F(2, 3), F(1)]
    found = quantiles(tree, edges, ["1/2"])
    assert F(float(found.lower[0])) <= F(1, 3) and F(float(found.upper[0])) >= F(2, 3)
    assert found.upper[0] - found.lower[0] < 0.34


def test_a_curve_of_noise_becomes_monotone_and_keeps_what_was() -> None:
    rising = np.array([0.0, 1.0, 4.0, 9.0])
    assert monotone(rising).tolist() == rising.tolist()
    noisy = np.random.default_rng(2).normal(size=(50, 20)).cumsum(axis=-1)
    noisy[:, 0] = 0
    made = monotone(noisy)
    assert (np.diff(made, axis=-1) >= 0).all() and (made[:, 0] == 0).all()
    assert (made[:, -1] == np.maximum(noisy[:, -1], 0)).all()


def test_the_order_of_q_does_not_matter_and_wrong_ones_are_refused() -> None:
    tree = fit([[40, 30, 50]], [Noise("laplace", F(3))], TreeShape(3, 4))
    up, down = quantiles(tree, EDGES, ["1/4", "1/2"]), quantiles(tree, [0.0, 10.0, 20.0, 30.0], ["1/2", "1/4"])
    assert up.value.tolist() == down.value[::-1].tolist() and up.lower.tolist() == down.lower[::-1].tolist()
    with pytest.raises(NumberError, match="q="):
        quantiles(tree, EDGES, ["3/2"])
    for edges in (EDGES[:-1], EDGES[::-1]):
        with pytest.raises(ParameterError, match="edges"):
            quantiles(tree, edges, ["1/2"])
    with pytest.raises(ParameterError, match="empty"):
        quantiles(tree, EDGES, [])
