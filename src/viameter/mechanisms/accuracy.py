"""How far a release may be from the truth: the interval that holds with probability 1 - alpha, for the noise drawn."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from viameter.arith import Number, dyadic, exact
from viameter.core import Measurement
from viameter.core.conversion import To
from viameter.errors import NoTheorem, NumberError, ParameterError, plain
from viameter.mechanisms.selection import Lookup
from viameter.sampling.alias import Interval
from viameter.sampling.families import Gaussian
from viameter.spaces import VectorDomain

SUMMED = 1000
"""Up to this scale the tail of Gaussian noise is summed up exactly."""


def accuracy(measurement: Measurement, alpha: Number = "1/20") -> Fraction:
    """The least w so that, with probability at least 1 - alpha, a release is within w of the truth.

    For noise on numbers: |release - truth| <= w for each number, in the data's unit; on a grid, the truth is what
    rounding to the grid left of it. For the exponential mechanism and permute-and-flip: the score of the choice is
    within w of the best. Integers beyond 2^62 stop there before noise is added: their truth is where they stop.

    >>> import viameter as vm
    >>> number = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    >>> vm.accuracy(vm.laplace(number, scale=10)), vm.accuracy(vm.gaussian(number, scale=10))
    (Fraction(30, 1), Fraction(20, 1))
    """
    if not isinstance(measurement, Measurement):
        raise ParameterError(f"accuracy takes a Measurement, not {plain(measurement)}; complete a recipe by its space")
    chance = exact(alpha, name="alpha")
    if not 0 < chance < 1:
        raise NumberError(f"alpha={alpha!s} is not between 0 and 1")
    if not all(isinstance(step, To) or isinstance(step.function, Lookup) for step in measurement.after):
        raise NoTheorem(f"{plain(measurement)} was processed after the release: ask for the width before that")
    last = measurement.steps[-1]
    made = last.identity[0] if last.identity else None
    name = getattr(getattr(made, "constructor", None), "name", "")
    given: dict[str, Any] = dict(last.bound.parameters)
    if name in ("laplace", "geometric", "gaussian"):
        width = laplace_width if name != "gaussian" else gaussian_width
        step = given.get("step", Fraction(1))
        return Fraction(width(given["scale"] / step, chance) * step)
    if name in ("exponential", "noisy_max") and last.bound.theorem.slug != "noisy-max-laplace":
        domain = last.input_space.domain
        candidates = domain.size if isinstance(domain, VectorDomain) else None
        return selection_width(given["scale"], chance, candidates or 1)
    raise NoTheorem(f"no interval is known for {plain(measurement)}: expected noise on numbers or a choice by score")


def laplace_width(scale: Fraction, alpha: Fraction) -> Fraction:
    """The least whole w with P(|Z| > w) <= alpha; P(|Z| > w) = 2 exp(-(w + 1)/s)/(1 + exp(-1/s))."""
    if scale == 0:
        return Fraction(0)
    bits = 64
    while True:
        # w + 1 >= s ln(2/(alpha (1 + exp(-1/s)))), enclosed until both ends give the same whole number.
        ends = []
        for exp, log in ((dyadic.exp_up, dyadic.log_down), (dyadic.exp_down, dyadic.log_up)):
            inside = 2 / (alpha * (1 + exp(-1 / scale, bits=bits)))
            ends.append(-(-scale * log(inside, bits=bits) // 1) if inside > 0 else Fraction(0))
        if ends[0] == ends[1]:
            return Fraction(max(0, ends[0] - 1))
        bits *= 2


def gaussian_width(scale: Fraction, alpha: Fraction) -> Fraction:
    """The least whole w with P(|Z| > w) <= alpha; above scale `SUMMED`, at most one more than the least."""
    if scale == 0:
        return Fraction(0)
    return _summed_width(scale, alpha) if scale <= SUMMED else _bounded_width(scale, alpha)


def _summed_width(scale: Fraction, alpha: Fraction) -> Fraction:
    bits = 128 + 2 * max(0, alpha.denominator.bit_length() - alpha.numerator.bit_length())
    while True:
        # What is beyond is below alpha exp(-bits/2): as little known, and as little, as the rounding of the weights.
        reach = math.ceil(scale * dyadic.sqrt_up(2 * dyadic.log_up(4 / alpha) + bits)) + 1
        width = _least_magnitude(Gaussian(scale, reach, 0).weights(bits), alpha)
        if width is not None:
            return Fraction(width)
        bits *= 2


def _least_magnitude(weights: list[Interval], alpha: Fraction) -> int | None:
    """The least w with P(|Z| > w) <= alpha, from enclosures of weights of single values; None if they are too wide."""
    values, tails = weights[:-2], weights[-2:]
    # The weight of a tail is that of its envelope: above the tail's own.
    low_total, beyond_high = sum(low for low, _ in values), sum(high for _, high in tails)
    high_total = sum(high for _, high in values) + beyond_high
    beyond_low, least = 0, None
    for magnitude in range(len(values) // 2, -1, -1):
        # Everything of a larger magnitude is in `beyond`.
        if beyond_low * alpha.denominator > alpha.numerator * high_total:
            return least
        if beyond_high * alpha.denominator > alpha.numerator * low_total:
            return None
        least = magnitude
        # Cell 2h is h, and cell 2h + 1 is -(h + 1): of this magnitude are the cells 2 magnitude and one less.
        for cell in (2 * magnitude, 2 * magnitude - 1):
            if 0 <= cell < len(values):
                beyond_low += values[cell][0]
                beyond_high += values[cell][1]
    return least


def _bounded_width(scale: Fraction, alpha: Fraction) -> Fraction:
    # The sum of exp(-x^2/2s^2) over all integers is at least s sqrt(2 pi), and that over x > w at most the integral
    # from w on: P(|Z| > w) <= erfc(w/(s sqrt 2)).
    import gmpy2  # type: ignore[import-untyped]

    down = gmpy2.context(precision=200, round=gmpy2.RoundDown)
    up = gmpy2.context(precision=200, round=gmpy2.RoundUp)
    root = dyadic.sqrt_down(1 / (2 * scale**2), bits=200)
    target = down.div(alpha.numerator, alpha.denominator)

    def enough(width: int) -> bool:
        return bool(up.erfc(down.div(width * root.numerator, root.denominator)) <= target)

    low, high = 0, 2
    while not enough(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Fraction(high)


def selection_width(scale: Fraction, alpha: Fraction, candidates: int) -> Fraction:
    """s ln((n - 1)/alpha), rounded up to thousandths: one t below the best is chosen with chance at most exp(-t/s)."""
    odds = Fraction(candidates - 1) / alpha
    return Fraction(0) if odds <= 1 else Fraction(math.ceil(1000 * scale * dyadic.log_up(odds)), 1000)
