"""Divergences of finite distributions, and of Gaussians, from their definitions with mpmath; nothing of the library."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import mpmath as mp  # type: ignore[import-untyped]

import viameter as vm

mp.mp.dps = 60

loose: Any = vm
"""The library without its types, for calls that a type checker would refuse."""

INFINITY = float("inf")
Pair: TypeAlias = tuple[list[Any], list[Any]]
"""Two distributions on the same few outcomes."""

ORDERS = [Fraction(text) for text in ("1.0001", "1.01", "1.1", "1.5", "2", "3", "5", "8", "20", "100", "1000")]
EPSILONS = [Fraction(text) for text in ("0", "0.01", "0.1", "0.3", "0.7", "1", "1.5", "2.5", "5")]
SLACK = mp.mpf(10) ** -50


def number(value: Any) -> Any:
    """An mpmath number."""
    if isinstance(value, mp.mpf):
        return value
    if value == INFINITY:
        return mp.inf
    exact = Fraction(value)
    return mp.mpf(exact.numerator) / exact.denominator


def above(value: Any) -> Fraction:
    """A rational just above an mpmath number: 1 in 10^40."""
    return Fraction(str(mp.nstr(value * (1 + mp.mpf(10) ** -40) + mp.mpf(10) ** -48, 55)))


def at_most(truth: Any, bound: Any) -> bool:
    """Whether a true divergence is at most a bound, but for what mpmath is off by."""
    return bool(truth <= number(bound) * (1 + SLACK) + SLACK)


def close_above(truth: Any, bound: Any, within: float = 1e-12) -> bool:
    """Whether a bound is at least the truth, and above it by 10^-12 at most."""
    return at_most(truth, bound) and bool(number(bound) <= truth * (1 + mp.mpf(within)))


def losses(pair: Pair) -> list[Any]:
    return [mp.log(p / q) for p, q in zip(*pair, strict=True)]


def max_divergence(pair: Pair) -> Any:
    return max(abs(z) for z in losses(pair))


def loss_range(pair: Pair) -> Any:
    return max(losses(pair)) - min(losses(pair))


def renyi(pair: Pair, order: Any) -> Any:
    """The larger of both directions."""
    a = number(order)
    ratios = [(p, q, mp.log(p) - mp.log(q)) for p, q in zip(*pair, strict=True)]
    sums = [
        mp.fsum(q * mp.exp(a * z) for _, q, z in ratios),
        mp.fsum(p * mp.exp(-a * z) for p, _, z in ratios),
    ]
    return max(mp.log(total) for total in sums) / (a - 1)


def hockey_stick(pair: Pair, epsilon: Any) -> Any:
    """The larger of both directions."""
    factor = mp.exp(number(epsilon))
    sums = [
        mp.fsum(max(mp.mpf(0), p - factor * q) for p, q in zip(left, right, strict=True))
        for left, right in (pair, pair[::-1])
    ]
    return max(sums)


def response(epsilon: Any, delta: Any = 0) -> Pair:
    """Randomized response, after a leak of probability delta; without one, it has two outcomes."""
    e, d = number(epsilon), number(delta)
    p, q = mp.exp(e) / (1 + mp.exp(e)), 1 / (1 + mp.exp(e))
    if d == 0:
        return [p, q], [q, p]
    return [d, (1 - d) * p, (1 - d) * q, mp.mpf(0)], [mp.mpf(0), (1 - d) * q, (1 - d) * p, d]


def shifted(eta: Any, t: Any) -> Pair:
    """Two outcomes whose losses are t and t - eta."""
    e, s = number(eta), number(t)
    q = (mp.exp(e - s) - 1) / (mp.exp(e) - 1)  # so that both sum to 1
    return [q * mp.exp(s), (1 - q) * mp.exp(s - e)], [q, 1 - q]


def pairs(count: int, *, seed: int = 7) -> Iterator[Pair]:
    """Random pairs with 2 to 5 outcomes, near and far apart, and some with two outcomes only that differ much."""
    chance = random.Random(seed)
    for index in range(count):
        size = 2 if index % 3 == 0 else chance.randint(2, 5)
        spread = 10 ** chance.uniform(-2, 0.9)
        left = [mp.mpf(10) ** chance.uniform(-4, 0) for _ in range(size)]
        right = [p * mp.exp(chance.uniform(-spread, spread)) for p in left]
        yield [p / mp.fsum(left) for p in left], [q / mp.fsum(right) for q in right]


def gaussian_delta(mu: Any, epsilon: Any) -> Any:
    """The hockey-stick divergence of N(mu, 1) and N(0, 1)."""
    e, root = number(epsilon), mp.sqrt(2)
    return (mp.erfc((e / mu - mu / 2) / root) - mp.exp(e) * mp.erfc((e / mu + mu / 2) / root)) / 2


@cache
def zcdp_epsilon(rho: Any, delta: Any) -> Any:
    """The least of rho a + ln(1/(a delta))/(a - 1) + ln(1 - 1/a) over a, by ternary search; not below 0."""
    r, d = number(rho), number(delta)

    def at(a: Any) -> Any:
        return r * a + mp.log(1 / (a * d)) / (a - 1) + mp.log(1 - 1 / a)

    return max(mp.mpf(0), at(1 + _least(lambda u: at(1 + mp.exp(u)))))


@cache
def zcdp_delta(rho: Any, epsilon: Any) -> Any:
    """The least of exp((a - 1)(a rho - eps)) (1 - 1/a)^a/(a - 1) over a; not above 1."""
    r, e = number(rho), number(epsilon)

    def at(a: Any) -> Any:
        return (a - 1) * (a * r - e) + a * mp.log(1 - 1 / a) - mp.log(a - 1)

    return min(mp.mpf(1), mp.exp(at(1 + _least(lambda u: at(1 + mp.exp(u))))))


def _least(function: Any) -> Any:
    """exp of where a function of one valley is least, between e^-90 and e^400: golden section."""
    low, high = mp.mpf(-90), mp.mpf(400)
    ratio = (mp.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(145):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return mp.exp((low + high) / 2)
