"""Discrete Gaussian noise that is counted as real Gaussian noise: nearly the same, unless it is very small.

`gaussian-on-integers` counts in zCDP, whose conversion to epsilon and delta loses some tenth of the noise. Here the
trade-off curve is bounded itself, for vectors that move in any direction.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended, dyadic
from viameter.core import Measurement, Space, by
from viameter.measures import GaussianDP, gdp
from viameter.measures.amounts import GaussianLoss
from viameter.mechanisms.additive import gaussian
from viameter.theorem import Numbers, theorem

SMOOTHING = Fraction(2)
"""The part of the variance that rounds reals to integers; exp(-2 pi^2 2) is about 1e-17."""
TWICE_PI_SQUARED = Fraction(1973, 100)
"""Below 2 pi^2, which is 19.739..."""
BITS = 64


@theorem(
    "smoothed-gaussian-on-integers",
    cites="Peikert 2010, Theorem 3.1 (convolution of discrete Gaussians); Dong, Roth and Su 2022, Lemma A.5 (chains of "
    "trade-off curves); derived here",
    numbers=Numbers.OUTWARD,
)
def smoothed_gaussian_on_integers(d_in: Extended, *, scale: Fraction, size: int, smoothing: Fraction) -> GaussianLoss:
    """Discrete Gaussian noise hides a change nearly as real Gaussian noise of a slightly smaller scale does.

    Theorem
        Let M(x) = x + Z for a vector x of n integers, with the coordinates of Z independent and P(Z_i = z) proportional
        to exp(-z^2/2s^2). Let 0 < v < s^2 and q = exp(-2 pi^2 v), with q <= 1/25 and 6 n q <= 1. For x and x' at most d
        apart in L2 norm, M(x) and M(x') are as hard to tell as N(0, 1) and N(mu, 1), or harder, for mu = d/sqrt(s^2 -
        v) + 18 n q.
    Requires
        The data are n integers, and the noise is drawn exactly.
    Ensures
        The loss is gdp(mu), rounded up, with 19.73 in the place of 2 pi^2; gdp(0) for d_in = 0; infinite if v is not
        below s^2 or q is too large.
    Proof
        Let y = x + N(0, s^2 - v) in each coordinate, and round y to an integer z with probability exp(-(z - y)^2/2v)
        /N(y), N(y) being the sum of that over all integers: the rounding knows nothing of x. By Poisson summation N(y)
        = sqrt(2 pi v) (1 + 2 sum over k >= 1 of q^(k^2) cos(2 pi k y)), which is within sqrt(2 pi v) (1 - e, 1 + e) for
        e = 2q/(1 - q) <= 1/12. Two Gaussians convolved are one: the rounded y is z with a probability between f(z -
        x)/(1 + e) and f(z - x)/(1 - e), f being the density of N(0, s^2). P(M(x)_i = z) is f(z - x)/F, F being the sum
        of f over all integers, which is between 1 and 1 + e, again by Poisson summation. So the ratio of both
        probabilities is between (1 - e)/(1 + e) and 1 + e, and for n coordinates within exp(-h) and exp(h), h = n ln((1
        + e)/(1 - e)) <= n (8/3) e <= 6 n q <= 1. What is h-private has at least the trade-off curve of N(0, 1) and N(m,
        1) with F(m/2) = 1/(1 + exp(-h)), F being the distribution function of N(0, 1): both have the same fixed point,
        and the curve of the former is straight from there to its ends, that of the latter convex. The inverse of F at
        1/2 + t is convex for t >= 0 and at most 2.7 t at t = 1/4, and t = tanh(h/2)/2 <= h/4, so that m <= 1.35 h.
        Rounding y is post-processing, so that the rounded ones of x and x' have the curve of d/sqrt(s^2 - v). From M(x)
        to its rounded one, to that of x', to M(x'), curves of Gaussians add their m: 2 (3/2) h <= 18 n q beside
        d/sqrt(s^2 - v).
    Example
        >>> loss = smoothed_gaussian_on_integers(Fraction(10), scale=Fraction(42), size=100, smoothing=Fraction(2))
        >>> float(loss.mu)
        0.238230...
    """
    if d_in == 0:
        return gdp(0)
    rest = scale**2 - smoothing
    if d_in == INFINITY or smoothing <= 0 or rest <= 0:
        return GaussianDP.infinite
    chance = dyadic.exp_up(-TWICE_PI_SQUARED * smoothing)
    if 25 * chance > 1 or 6 * size * chance > 1:
        return GaussianDP.infinite
    mu = dyadic.div_up(Fraction(d_in), dyadic.sqrt_down(rest)) + 18 * size * chance
    return GaussianLoss(mu**2)


def smoothed_gaussian(space: Space, *, distance: Fraction, mu_squared: Fraction) -> Measurement | None:
    """Discrete Gaussian noise on so many integers, `distance` apart, for a Gaussian loss; None if that is too much."""
    domain: Any = space.domain
    slack = 18 * domain.size * dyadic.exp_up(-TWICE_PI_SQUARED * SMOOTHING)
    mu = dyadic.sqrt_down(mu_squared) - slack
    if mu <= 0:
        return None
    # A hair more than is needed, for roundings on the way back.
    square = (distance / mu) ** 2 * (1 + Fraction(1, 2**50)) + SMOOTHING
    scale = dyadic.sqrt_up(square, bits=BITS)
    bound = by(smoothed_gaussian_on_integers, scale=scale, size=domain.size, smoothing=SMOOTHING)
    return replace(gaussian(space, scale=scale), measure=GaussianDP, bound=bound)
