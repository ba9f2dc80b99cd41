"""The noise on an integer, and how far one draw of it may be from 0."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from viameter.arith import Number, dyadic, exact
from viameter.errors import NumberError, ParameterError, plain
from viameter.mechanisms.accuracy import gaussian_width, laplace_width

Kind = Literal["laplace", "gaussian"]

SUMMED = 20
"""Up to this scale the tail of Gaussian noise is summed up; above, it is bounded by that of the normal law."""

LEAST = Fraction(1, 64)
"""Noise of a smaller scale is taken for noise of this scale: it has no smaller tails."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Independent noise on integers: P(z) ~ exp(-|z|/scale) or P(z) ~ exp(-z^2/(2 scale^2)) over all integers.

    The scale is in units of the integers; scale 0 is no noise.

    >>> Noise("laplace", Fraction(10)).width("1/20"), Noise("gaussian", Fraction(10)).width("1/20")
    (Fraction(30, 1), Fraction(20, 1))
    """

    kind: Kind
    scale: Fraction

    def __post_init__(self) -> None:
        if self.kind not in ("laplace", "gaussian"):
            raise ParameterError(f'kind={plain(self.kind)} is not a kind of noise: expected "laplace" or "gaussian"')
        scale = exact(self.scale, name="scale")
        if scale < 0:
            raise NumberError(f"scale={scale} is negative: expected a scale >= 0")
        object.__setattr__(self, "scale", scale)

    def width(self, alpha: Number) -> Fraction:
        """A whole w with P(|Z| > w) <= alpha: the least one, or one more for Gaussian noise of scales above `SUMMED`.

        Below scale `LEAST` it is the width at that scale: both families have a monotone likelihood ratio in |z|, so
        that P(|Z| > w) grows with the scale.
        """
        return _width(self.kind, self.scale, read_alpha(alpha))


def read_alpha(alpha: Number) -> Fraction:
    """Take the chance with which an interval may miss: between 0 and 1, both excluded."""
    chance = exact(alpha, name="alpha")
    if not 0 < chance < 1:
        raise NumberError(f"alpha={alpha!s} is not between 0 and 1: expected the chance of a miss, such as 1/20")
    return chance


@lru_cache(maxsize=4096)
def _width(kind: Kind, scale: Fraction, alpha: Fraction) -> Fraction:
    if scale == 0:
        return Fraction(0)
    scale = max(scale, LEAST)
    if kind == "laplace":
        return laplace_width(scale, alpha)
    return gaussian_width(scale, alpha) if scale <= SUMMED else _normal_width(scale, alpha)


def _normal_width(scale: Fraction, alpha: Fraction) -> Fraction:
    """The least whole w with erfc(w/(s sqrt 2)) <= alpha, found with bounds of erfc; that suffices.

    The sum of f(x) = exp(-x^2/2s^2) over all integers is at least s sqrt(2 pi), its integral, by Poisson's formula,
    and the sum over x > w is at most the integral from w on, since f falls there: P(|Z| > w) <= erfc(w/(s sqrt 2)).
    """
    import gmpy2  # type: ignore[import-untyped]

    down = gmpy2.context(precision=100, round=gmpy2.RoundDown)
    up = gmpy2.context(precision=100, round=gmpy2.RoundUp)
    root = dyadic.sqrt_down(1 / (2 * scale**2), bits=100)
    target = down.div(gmpy2.mpz(alpha.numerator), gmpy2.mpz(alpha.denominator))

    def enough(width: int) -> bool:
        return bool(up.erfc(down.div(gmpy2.mpz(width * root.numerator), gmpy2.mpz(root.denominator))) <= target)

    low, high = 0, 2
    while not enough(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Fraction(high)
