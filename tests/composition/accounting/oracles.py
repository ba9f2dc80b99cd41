"""The truth about small compositions, in 60 digits, by means that share no code with the library."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import mpmath  # type: ignore[import-untyped]
import numpy as np

mpmath.mp.dps = 60

Law = dict[Any, Any]
"""Probabilities by outcome."""


def mp(number: Any) -> Any:
    """A rational or a float, exactly or to 60 digits."""
    if isinstance(number, Fraction):
        return mpmath.mpf(number.numerator) / number.denominator
    return mpmath.mpf(number)


def hockey_stick(left: Law, right: Law, epsilon: Any) -> Any:
    """sup over events of P(S) - e^epsilon Q(S), by enumeration."""
    level, nothing = mpmath.exp(mp(epsilon)), mp(0)
    return mpmath.fsum(max(nothing, p - level * right.get(outcome, nothing)) for outcome, p in left.items())


def product_law(laws: Iterable[Law]) -> Law:
    """Independent outcomes, one of each law."""
    whole: Law = {(): mp(1)}
    for law in laws:
        whole = {
            (*before, outcome): p * q for (before, p), (outcome, q) in itertools.product(whole.items(), law.items())
        }
    return whole


def profile(losses: Iterable[Any], weights: Iterable[Any], epsilon: Any, infinity: Any = 0) -> Any:
    """infinity + sum of w (1 - e^(epsilon - L))_+."""
    with gmpy2.context(precision=2 * mpmath.mp.prec):
        level, total = _fast(epsilon), _fast(infinity)
        for loss, w in zip(losses, weights, strict=True):
            exponent = level - _fast(loss)
            if exponent < 0:
                total -= _fast(w) * gmpy2.expm1(exponent)
        return mp(Fraction(*map(int, total.as_integer_ratio())))


def _fast(number: Any) -> Any:
    """The same number for gmpy2, which is ten times faster."""
    if type(number) is float:
        return gmpy2.mpfr(number)
    if isinstance(number, mpmath.mpf):
        sign, mantissa, exponent, _ = number._mpf_
        value = gmpy2.mul_2exp(gmpy2.mpfr(mantissa), exponent) if exponent >= 0 else gmpy2.mpfr(mantissa) / 2**-exponent
        return -value if sign else value
    if isinstance(number, Fraction):
        return gmpy2.mpfr(gmpy2.mpq(number.numerator, number.denominator))
    return gmpy2.mpfr(number)


def power_profile(losses: list[Any], weights: list[Any], count: int, epsilon: Any) -> Any:
    """The profile of `count` equal factors with two points -L and L, by the binomial."""
    low, high = map(mp, losses)
    (small, large) = map(mp, weights)
    points = [
        (n * high + (count - n) * low, mpmath.binomial(count, n) * large**n * small ** (count - n))
        for n in range(count + 1)
    ]
    return profile([loss for loss, _ in points], [w for _, w in points], epsilon)


def kov_delta(epsilon: Any, each: Any, count: int, each_delta: Any = 0) -> Any:
    """The formula of Kairouz, Oh and Viswanath, term by term."""
    e, total, d = mp(each), mp(epsilon), mp(each_delta)
    level, nothing = mpmath.exp(total), mp(0)
    terms = (ways * max(nothing, one - level * other) for ways, one, other in _binomial_terms(e, count, mpmath.mp.prec))
    return 1 - (1 - d) ** count * (1 - mpmath.fsum(terms) / (1 + mpmath.exp(e)) ** count)


@lru_cache(maxsize=8)
def _binomial_terms(e: Any, count: int, _bits: int) -> list[tuple[Any, Any, Any]]:
    """Binomials, and the powers of e^e on both sides, which are the same at every epsilon."""
    powers = [mpmath.exp(n * e) for n in range(count + 1)]
    return [(mpmath.binomial(count, n), powers[count - n], powers[n]) for n in range(count + 1)]


def least_epsilon(delta_at: Callable[[Any], Any], delta: Any, high: Any) -> Any:
    """By bisection, from below: the truth is between this and 2^-250 of `high` above."""
    low, high, target = mp(0), mp(high), mp(delta)
    if delta_at(low) <= target:
        return low
    for _ in range(250 if mpmath.mp.dps > 60 else 90):
        middle = (low + high) / 2
        if delta_at(middle) <= target:
            high = middle
        else:
            low = middle
    return low


def normal_tail(x: Any) -> Any:
    """P(X > x)."""
    return mpmath.erfc(mp(x) / mpmath.sqrt(2)) / 2


def gaussian_delta(epsilon: Any, mu: Any) -> Any:
    """Delta of N(mu, 1) against N(0, 1)."""
    e, m = mp(epsilon), mp(mu)
    return normal_tail(e / m - m / 2) - mpmath.exp(e) * normal_tail(e / m + m / 2)


def inverted_epsilon(transform: Callable[[Any], Any], delta: float, line: float, step: float, size: int) -> float:
    """Epsilon by plain numerical inversion of ln M on an array of complex numbers: not a bound.

    It is good to about nine digits where the transform decays.
    """
    z = line + 1j * step * np.arange(size)
    logarithms, shares = transform(z), z * (z + 1)
    shares[0] *= 2
    low, high = 0.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2
        if step / np.pi * (np.exp(logarithms - z * middle) / shares).real.sum() <= delta:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@cache
def gaussian_pmf(scale: Fraction, reach: int = 60) -> Law:
    """Discrete Gaussian noise."""
    weights = {z: mpmath.exp(-mp(Fraction(z * z)) / (2 * mp(scale) ** 2)) for z in range(-reach, reach + 1)}
    whole = mpmath.fsum(weights.values())
    return {z: w / whole for z, w in weights.items()}


@cache
def laplace_pmf(scale: Fraction, reach: int) -> Law:
    """Discrete Laplace noise, cut off at a reach."""
    r = mpmath.exp(-1 / mp(scale))
    return {z: (1 - r) / (1 + r) * r ** abs(z) for z in range(-reach, reach + 1)}


def shifted(law: Law, by: int) -> Law:
    """The law of what is moved."""
    return {z + by: p for z, p in law.items()}
