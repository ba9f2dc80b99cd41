"""Laws and divergences, from their definitions, with MPFR at `PRECISION` bits; and draws that do as they are told.

Nothing here calls what it checks: pmfs are exponentials of exact rationals, divergences are sums over outcomes. Tails
are closed forms where there are any, and else are cut off far below what is compared.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest

import viameter as vm

PRECISION = 320
CLOSE = Fraction(1, 10**30)
"""What is equal by a theorem is equal to this many digits, at least."""
SLACK = Fraction(1, 10**60)
"""What oracles may be off by: 96 digits less what sums of thousands of terms lose."""

INFINITY = math.inf
LARGEST = 2**63 - 1
EDGE = 2**62 - 1

loose: Any = vm
"""The library without its types, for calls that a type checker would refuse."""

Law: TypeAlias = dict[Any, Any]
"""Outcomes with their probabilities."""

INTEGER = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
REAL = vm.Space(vm.scalars(float), vm.AbsoluteDistance())
VISITS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
WORDS = vm.Space(vm.vectors(str), vm.SymmetricDistance())


def integers(size: int | None, metric: Any) -> vm.Space:
    return vm.Space(vm.vectors(int, size=size), metric)


def reals(size: int | None, metric: Any) -> vm.Space:
    return vm.Space(vm.vectors(float, size=size), metric)


# Numbers

_MPFR: Any = type(gmpy2.mpfr(0))


def real(number: Any) -> Any:
    """An MPFR number of `PRECISION` bits."""
    if isinstance(number, float | _MPFR):
        return gmpy2.mpfr(number)
    exact = Fraction(number)
    return gmpy2.mpfr(gmpy2.mpq(exact.numerator, exact.denominator))


def exp(exponent: Any) -> Any:
    return gmpy2.exp(real(exponent))


def close(left: Any, right: Any, within: Fraction = CLOSE) -> bool:
    """Whether two numbers are equal to so many digits, relatively."""
    left, right = real(left), real(right)
    if gmpy2.is_infinite(left) or gmpy2.is_infinite(right):
        return bool(left == right)
    return bool(abs(left - right) <= real(within) * max(abs(left), abs(right), real(within)))


def at_most(true: Any, bound: Any) -> bool:
    """Whether a true loss is at most a bound, but for what the oracle is off by."""
    return bool(real(true) <= real(bound) * (1 + real(SLACK)) + real(SLACK))


def a_little_above(true: Any, bound: Any, within: Fraction = Fraction(1, 2**100)) -> bool:
    """Whether a bound is at least the truth, and above it by a rounding at most."""
    return at_most(true, bound) and close(true, bound, within)


# Divergences


def max_divergence(left: Law, right: Law) -> Any:
    """The largest log ratio of probabilities."""
    worst = real(0)
    for outcome, chance in left.items():
        if chance > 0:
            other = right.get(outcome, 0)
            if other == 0:
                return real(INFINITY)
            worst = max(worst, gmpy2.log(chance / other))
    return worst


def two_way(divergence: Callable[..., Any], left: Law, right: Law, *rest: Any) -> Any:
    return max(divergence(left, right, *rest), divergence(right, left, *rest))


def pure_loss(left: Law, right: Law) -> Any:
    return two_way(max_divergence, left, right)


def hockey_stick(left: Law, right: Law, epsilon: Any) -> Any:
    """The least delta for this epsilon."""
    factor = exp(epsilon)
    return sum((max(real(0), chance - factor * right.get(outcome, 0)) for outcome, chance in left.items()), real(0))


def renyi(left: Law, right: Law, order: Any) -> Any:
    """The Renyi divergence of an order above 1."""
    power = real(order)
    total = real(0)
    for outcome, chance in left.items():
        if chance > 0:
            other = right.get(outcome, 0)
            if other == 0:
                return real(INFINITY)
            total += gmpy2.exp(power * gmpy2.log(chance) + (1 - power) * gmpy2.log(other))
    return gmpy2.log(total) / (power - 1)


def loss_range(left: Law, right: Law) -> Any:
    """The largest difference of the privacy losses of two outcomes."""
    if {o for o, p in left.items() if p > 0} != {o for o, p in right.items() if p > 0}:
        return real(INFINITY)
    losses = [gmpy2.log(chance / right[outcome]) for outcome, chance in left.items() if chance > 0]
    return max(losses) - min(losses)


ORDERS = [Fraction(text) for text in ("1.01", "1.1", "1.5", "2", "2.5", "3", "4", "7", "8", "16", "31.5", "32", "64")]


# Discrete Laplace noise


@lru_cache(maxsize=4096)
def _powers(scale: Fraction, exponent: int) -> Any:
    with gmpy2.context(precision=PRECISION):
        return exp(-exponent / scale)


def laplace_pmf(z: int, scale: Fraction) -> Any:
    return _powers(scale, abs(z)) * (1 - _powers(scale, 1)) / (1 + _powers(scale, 1))


def laplace_tail(least: int, scale: Fraction) -> Any:
    """P(Z >= least)."""
    if least <= 0:
        return 1 - laplace_tail(1 - least, scale)
    return _powers(scale, least) / (1 + _powers(scale, 1))


# Discrete Gaussian noise


def gaussian_weight(z: Any, scale: Fraction) -> Any:
    return exp(-(Fraction(z) ** 2) / (2 * scale**2))


@lru_cache(maxsize=256)
def gaussian_total(scale: Fraction) -> Any:
    """The sum of all weights: directly, or after Poisson's formula where that takes fewer terms."""
    with gmpy2.context(precision=PRECISION):
        if scale <= 2:
            return 1 + 2 * sum(gaussian_weight(z, scale) for z in range(1, math.ceil(25 * scale) + 2))
        pi, width = gmpy2.const_pi(), real(scale)
        return width * gmpy2.sqrt(2 * pi) * (1 + 2 * sum(gmpy2.exp(-2 * (pi * k * width) ** 2) for k in range(1, 6)))


def gaussian_pmf(z: int, scale: Fraction) -> Any:
    return gaussian_weight(z, scale) / gaussian_total(scale)


@lru_cache(maxsize=64)
def _gaussian_sums(scale: Fraction) -> list[Any]:
    """P(Z >= k) for k = 0, 1, ...; beyond 25 scales nothing is left (10^-136)."""
    with gmpy2.context(precision=PRECISION):
        reach = math.ceil(25 * scale) + 2
        total, sums = gaussian_total(scale), [real(0)]
        for z in range(reach, -1, -1):
            sums.append(sums[-1] + gaussian_weight(z, scale) / total)
        return sums[::-1]


def gaussian_tail(least: int, scale: Fraction) -> Any:
    """P(Z >= least), for least >= 0."""
    sums = _gaussian_sums(scale)
    return sums[least] if least < len(sums) else real(0)


# Laws of choices


def exponential_law(scores: Sequence[Any], scale: Fraction) -> Law:
    """Index i with probability proportional to exp(q_i/s)."""
    top = max(map(Fraction, scores))
    weights = [exp((Fraction(score) - top) / scale) for score in scores]
    total = sum(weights)
    return {index: weight / total for index, weight in enumerate(weights)}


def permute_and_flip_law(scores: Sequence[Any], scale: Fraction) -> Law:
    """All orders are gone through; in each, the first coin of probability exp(-(max - q_i)/s) that shows heads."""
    top = max(map(Fraction, scores))
    heads = [exp((Fraction(score) - top) / scale) for score in scores]
    law = {index: real(0) for index in range(len(scores))}
    for order in itertools.permutations(range(len(scores))):
        reached = real(1)
        for index in order:
            law[index] += reached * heads[index]
            reached *= 1 - heads[index]
    orders = math.factorial(len(scores))
    return {index: weight / orders for index, weight in law.items()}


def noisy_max_laplace_law(scores: Sequence[int], scale: Fraction) -> Law:
    """The index of the largest score with discrete Laplace noise, the first one of equals."""
    reach = math.ceil(170 * scale) + max(scores) - min(scores)
    law: Law = {}
    for index, score in enumerate(scores):
        total = real(0)
        for z in range(-reach, reach + 1):
            chance = laplace_pmf(z, scale)
            for other, theirs in enumerate(scores):
                # An earlier one has to be below, a later one may be equal.
                if other != index:
                    chance *= 1 - laplace_tail(score + z - theirs + (other > index), scale)
            total += chance
        law[index] = total
    return law


def peeling_law(scores: Sequence[Any], scale: Fraction, k: int, pick: Callable[..., Law]) -> Law:
    """k picks, each among those that are left."""
    found: Law = {(): real(1)}
    for _ in range(k):
        longer: Law = {}
        for picked, chance in found.items():
            left = [index for index in range(len(scores)) if index not in picked]
            for place, part in pick([scores[index] for index in left], scale).items():
                longer[*picked, left[place]] = chance * part
        found = longer
    return found


# Draws that do as they are told


class Script:
    """Stands in for a function that draws noise: it returns what it is told, and notes what it was asked for."""

    def __init__(self, *told: int) -> None:
        self.told = list(told)
        self.asked: list[tuple[int | None, Any]] = []

    def tell(self, *told: int) -> None:
        self.told = list(told)

    def __call__(self, n: int | None = None, scale: Any = None, **others: Any) -> Any:
        assert not others
        self.asked.append((n, scale))
        if n is None:
            return self.told.pop(0)
        taken, self.told = self.told[:n], self.told[n:]
        assert len(taken) == n
        return np.array(taken, dtype=np.int64)


def words(letters: Iterable[Any], least: int, most: int) -> Iterator[tuple[Any, ...]]:
    """All tuples of so many letters."""
    chosen = list(letters)
    for n in range(least, most + 1):
        yield from itertools.product(chosen, repeat=n)


def slugs(made: Any, d_in: Any = 1) -> list[str]:
    """The theorems in an explanation, from the top."""
    return [node.theorem.slug for node in made.explain(d_in).derivation.nodes()]


# Noise that is added

TINY, HUGE = 5e-324, sys.float_info.max
HUGE_NOISE = [0, 1, -1, 2**53 + 1, EDGE - 1, EDGE, EDGE + 1, EDGE + 2, 3 * 2**61, LARGEST - 1, LARGEST]
HUGE_NOISE += [-z for z in HUGE_NOISE]
NOISES: list[tuple[Any, str]] = [(vm.laplace, "discrete_laplace"), (vm.gaussian, "discrete_gaussian")]
BOTH = pytest.mark.parametrize(("mechanism", "draw"), NOISES, ids=["laplace", "gaussian"])
NORM: dict[str, Any] = {"discrete_laplace": vm.L1Distance(), "discrete_gaussian": vm.L2Distance()}


def law_of(made: vm.Measurement, data: Any, script: Script, pmf: Callable[[int], Any], reach: int) -> Law:
    """The law of what comes out, for all noise up to a reach."""
    size = len(data) if isinstance(data, list) else None
    law: Law = {}
    for noise in itertools.product(range(-reach, reach + 1), repeat=1 if size is None else size):
        script.tell(*noise)
        released = made(data)
        outcome = released if size is None else tuple(released.tolist())
        chance = real(1)
        for z in noise:
            chance *= pmf(z)
        law[outcome] = law.get(outcome, real(0)) + chance
    return law


def common(left: Law, right: Law) -> tuple[Law, Law]:
    """Two laws that were cut off, on what neither was cut off at."""
    both = left.keys() & right.keys()
    return {y: left[y] for y in both}, {y: right[y] for y in both}


def shifted_renyi(order: Fraction, shift: int, scale: Fraction) -> Any:
    """The Renyi divergence of noise from noise that is shifted, over all outcomes that weigh anything."""
    # The largest summand of P^a Q^(1 - a), for P around 0 and Q around `shift`, is at (1 - a) shift.
    center = round((1 - order) * shift)
    reach = math.ceil(25 * scale) + 2
    window = range(center - reach, center + reach + 1)
    power, total = real(order), real(0)
    for y in window:
        mine, theirs = gaussian_pmf(y, scale), gaussian_pmf(y - shift, scale)
        total += gmpy2.exp(power * gmpy2.log(mine) + (1 - power) * gmpy2.log(theirs))
    return gmpy2.log(total) / (power - 1)


def stopped(number: int, most: int) -> int:
    return max(-most, min(most, number))


def interesting_floats(step: Fraction) -> list[float]:
    unit = math.ldexp(1.0, step.numerator.bit_length() - step.denominator.bit_length())
    near = [unit * k / 2 for k in (0, 1, 2, 3, 4, 5, 7, 2**20 + 1, 2**51 + 1, 2**52 + 1, 2**53 - 1)]
    found = [0.0, -0.0, TINY, 2.0**-1022, HUGE, 1e300, INFINITY, 0.1, 1 / 3, 1e15 + 0.5, 2.0**52 + 1, 2.0**53 + 2]
    for x in near:
        found += [x, math.nextafter(x, INFINITY), math.nextafter(x, -INFINITY)]
    found += [unit * 2.0**61, unit * 2.0**62, unit * 2.0**63]
    return [sign * x for x in found for sign in (1.0, -1.0)]
