"""Oracles: the laws of the noise, by direct sums; nothing of the library is used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=256)
def law(kind: str, scale: Fraction, reach: int) -> Floats:
    """P(Z = z) for z from -reach to reach; scale 0 is a point."""
    z = np.arange(-reach, reach + 1)
    if scale == 0:
        return np.where(z == 0, 1.0, 0.0)
    far = np.arange(1, reach + int(60 * scale) + 60)
    total = 1 + 2 * math.fsum(_weights(kind, scale, far).tolist())
    return np.asarray(_weights(kind, scale, z) / total)


def _weights(kind: str, scale: Fraction, z: npt.NDArray[np.int64]) -> Floats:
    ratio = np.abs(z) / float(scale)
    return np.asarray(np.exp(-ratio if kind == "laplace" else -(ratio**2) / 2), dtype=np.float64)


def chance_beyond(kind: str, scale: Fraction, width: int, reach: int) -> float:
    """P(|Z| > width), summed up from the outside."""
    return float(2 * np.sum(law(kind, scale, reach)[: max(0, reach - width)]))


def law_of_sum(terms: Sequence[tuple[int, str, Fraction]], reach: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """All values of a sum of whole weights times noises cut at `reach`, and their chances."""
    probabilities, middle = np.ones(1), 0
    for weight, kind, scale in terms:
        one = np.zeros(2 * reach * abs(weight) + 1)
        one[:: abs(weight) or 1] = law(kind, scale, reach) if weight else 1.0
        probabilities, middle = np.convolve(probabilities, one), middle + reach * abs(weight)
    return np.arange(len(probabilities)) - middle, probabilities


def grid(laws: list[Floats]) -> tuple[list[npt.NDArray[np.int64]], Floats]:
    """Every combination of independent noises, and its chance."""
    reaches = [(len(one) - 1) // 2 for one in laws]
    values = np.meshgrid(*[np.arange(-reach, reach + 1) for reach in reaches], indexing="ij")
    chances = laws[0]
    for one in laws[1:]:
        chances = np.multiply.outer(chances, one)
    return [value.ravel() for value in values], chances.ravel()


def missed(chances: Floats, inside: npt.NDArray[np.bool_]) -> float:
    """The chance of a miss; what the grid cuts off counts as one."""
    return float(1 - chances[inside].sum())
