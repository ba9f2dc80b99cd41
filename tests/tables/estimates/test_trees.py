"""Trees: sums of bins, and coefficients against brute-force least squares."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from viameter.errors import ParameterError
from viameter.tables.estimates import Noise, TreeShape, coarsen, fit
from viameter.tables.estimates.noise import Kind
from viameter.tables.estimates.trees import CARELESS, coefficients

F = Fraction
KINDS: tuple[Kind, ...] = ("gaussian", "laplace")
SHAPES = [TreeShape(2, 2), TreeShape(7, 2), TreeShape(10, 3), TreeShape(16, 4), TreeShape(5, 8), TreeShape(33, 4)]


def _incidence(shape: TreeShape) -> npt.NDArray[np.float64]:
    """Nodes by leaves: which leaves a node adds up, from its number alone."""
    leaves, levels = np.arange(shape.bins), []
    for level, size in enumerate(shape.sizes):
        levels.append(leaves // shape.branching**level == np.arange(size)[:, None])
    return np.concatenate(levels).astype(np.float64)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("spread", [0, 1])
def test_coefficients_are_those_of_least_squares(shape: TreeShape, spread: int) -> None:
    noises = tuple(Noise("laplace", F(3 + 2 * spread * level)) for level in range(len(shape.sizes)))
    nodes = _incidence(shape)
    scales = np.repeat([float(noise.scale) for noise in noises], shape.sizes)
    leaves = np.linalg.lstsq(nodes / scales[:, None], np.diag(1 / scales), rcond=None)[0]
    below = np.concatenate([np.zeros((1, len(nodes))), np.cumsum(leaves, axis=0)])
    assert np.abs(below - coefficients(shape, noises)).max() < 1e-12


@pytest.mark.parametrize("shape", [*SHAPES, TreeShape(600, 2)])
def test_coefficients_add_up_bins_and_their_rounding_is_bounded(shape: TreeShape) -> None:
    for wide in (F(1), F(10**6)):
        noises = (*[Noise("gaussian", F(1))] * (len(shape.sizes) - 1), Noise("gaussian", wide))
        made = coefficients(shape, noises)
        below = np.tril(np.ones((shape.bins + 1, shape.bins)), -1)
        assert np.abs(made @ _incidence(shape) - below).max() < CARELESS
        assert np.abs(made).max() <= 1 + 1e-9


@pytest.mark.parametrize("shape", SHAPES)
def test_without_noise_the_counts_are_the_counts(shape: TreeShape) -> None:
    leaves = np.random.default_rng(1).integers(0, 10**6, size=(3, 2, shape.bins))
    levels = coarsen(leaves, shape)
    assert [level.shape[-1] for level in levels] == list(shape.sizes)
    assert (np.concatenate(levels, axis=-1) == leaves @ _incidence(shape).T.astype(int)).all()
    tree = fit(levels, [Noise("gaussian", F(1))] * len(levels), shape)
    exact = np.concatenate([np.zeros((3, 2, 1)), np.cumsum(leaves, axis=-1)], axis=-1)
    assert (np.abs(tree.counts_below - exact) <= tree.slack[..., None]).all()
    assert tree.slack.max() < 1.0


def test_no_other_branching_is_much_better_than_the_one_chosen() -> None:
    for bins in (64, 256):
        for kind in KINDS:
            errors = {}
            for branching in (2, 3, 4, 6, 8, 12, 16, 24, 32, 64):
                shape = TreeShape(bins, branching)
                levels = len(shape.sizes)
                made = coefficients(shape, (Noise(kind, F(1)),) * levels)
                mean = np.mean([((made[1:-1] - q * made[-1:]) ** 2).sum(axis=1).mean() for q in (0.25, 0.5, 0.9)])
                errors[branching] = mean**0.5 * levels ** (1 if kind == "laplace" else 0.5)
            chosen = TreeShape.of(bins, kind=kind).branching
            assert errors[chosen] <= 1.04 * min(errors.values())


def test_levels_that_do_not_fit_are_refused() -> None:
    shape, noise = TreeShape(8, 2), Noise("laplace", F(1))
    levels = coarsen(np.zeros(8, dtype=int), shape)
    with pytest.raises(ParameterError, match="levels"):
        fit(levels[:2], [noise] * 2, shape)
    with pytest.raises(ParameterError, match="nodes"):
        fit(levels[::-1], [noise] * 3, shape)
    with pytest.raises(ParameterError, match="bins"):
        coarsen(np.zeros(9, dtype=int), shape)
    for bins, branching in ((1, 2), (8, 1), (2000, 4), (True, 2)):
        with pytest.raises(ParameterError):
            TreeShape(bins, branching)
