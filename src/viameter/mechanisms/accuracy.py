"""How far a release may be from the truth: the interval that holds with probability 1 - alpha, for the noise drawn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from viameter.arith import Number, dyadic, exact, floats
from viameter.core import Measurement
from viameter.errors import NoTheorem, NumberError
from viameter.sampling.families import Gaussian
from viameter.spaces import VectorDomain

SUMMED = 1000
"""Up to this scale the tail of Gaussian noise is summed up exactly."""


def accuracy(measurement: Measurement, alpha: Number = "1/20") -> Fraction:
    """The least w so that, with probability at least 1 - alpha, a release is within w of the truth.

    For noise on numbers: |release - truth| <= w for each number, in the data's unit; on a grid, the truth is what
    rounding to the grid left of it. For the exponential mechanism and permute-and-flip: the score of the choice is
    within w of the best.

    >>> import viameter as vm
    >>> number = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    >>> vm.accuracy(vm.laplace(number, scale=10)), vm.accuracy(vm.gaussian(number, scale=10))
    (Fraction(30, 1), Fraction(20, 1))
    """
    chance = exact(alpha, name="alpha")
    if not 0 < chance < 1:
        raise NumberError(f"alpha={alpha!s} is not between 0 and 1")
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
    raise NoTheorem(f"no interval is known for {measurement!r}: expected noise on numbers or a choice by score")


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
    bits = 128
    while True:
        # One cell a value and then the tail, whose weight here is that of its envelope: above the tail's own.
        reach = max(1, int(12 * scale))
        weights = Gaussian(scale, reach, 0).weights(bits)
        values, tails = weights[: 2 * reach], weights[2 * reach :]
        low_total = sum(low for low, _ in values)
        high_tail = sum(high for _, high in tails)
        high_total = sum(high for _, high in values) + high_tail
        found = None
        # From the outside inwards: P(|Z| >= w + 1) = (both values of magnitude w + 1, and all beyond)/total.
        beyond_low, beyond_high = 0, high_tail
        for magnitude in range(reach, -1, -1):
            surely = Fraction(beyond_high, low_total) <= alpha
            surely_not = Fraction(beyond_low, high_total) > alpha
            if surely_not:
                break
            if not surely:
                found = None
                break
            found = magnitude
            # Cell 2h is h, and cell 2h + 1 is -(h + 1): of this magnitude are the cells 2 magnitude and one less.
            pair = [values[c] for c in (2 * magnitude, 2 * magnitude - 1) if 0 <= c < len(values)]
            beyond_low += sum(low for low, _ in pair)
            beyond_high += sum(high for _, high in pair)
        else:
            return Fraction(0)
        if found is not None and surely_not:
            return Fraction(found)
        bits *= 2


def _bounded_width(scale: Fraction, alpha: Fraction) -> Fraction:
    # The sum of exp(-x^2/2s^2) over all integers is at least s sqrt(2 pi), and that over x > w at most the integral
    # from w on: P(|Z| > w) <= erfc(w/(s sqrt 2)).
    import gmpy2  # type: ignore[import-untyped]

    context = gmpy2.context(precision=100, round=gmpy2.RoundUp)
    target = floats.from_fraction_down(alpha)
    low, high = 0, 2
    root = dyadic.sqrt_down(1 / (2 * scale**2))

    def enough(width: int) -> bool:
        argument = floats.from_fraction_down(width * root)
        return bool(context.erfc(gmpy2.mpfr(argument)) <= target)

    while not enough(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Fraction(high)


def selection_width(scale: Fraction, alpha: Fraction, candidates: int) -> Fraction:
    """s ln((n - 1)/alpha), rounded up: one that is t below the best is chosen with probability at most exp(-t/s)."""
    odds = Fraction(candidates - 1) / alpha
    return Fraction(0) if odds <= 1 else scale * dyadic.log_up(odds)
