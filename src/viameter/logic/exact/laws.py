"""Laws of noise at concrete parameters, as tables.

A table has a row for each value within a window around the law's center, and one row for each tail beyond it, whose
value is a `Range`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt, log, log2

from viameter.arith import dyadic
from viameter.errors import ParameterError
from viameter.logic.exact.evaluating import Value, evaluate
from viameter.logic.exact.powers import PRECISION, Bounds, Budget, Real, power_of_e, real_of, times_of
from viameter.logic.exact.ranges import Range, Whole
from viameter.logic.exact.tables import Table, enclosed_table, exact_table
from viameter.logic.lang.core import Call, Choose, Exponential, Flip, Gaussian, Laplace, Law, Uniform
from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.text import show_law

_WIDEST = 1 << 20
"""A law with more values than this is not enumerated."""


def law_of(
    law: Law,
    memory: Mapping[str, Value],
    budgets: Mapping[str, Budget],
    *,
    window: int | None = None,
    bits: int = 40,
) -> Table:
    """The table of a law where its parameters have the values of a memory, relative to its center.

    The window reaches `window` steps to either side, or else so far that a tail has a mass of at most about 2^-bits.
    """
    match law:
        case Laplace(scale):
            return _laplace(_ratio(law, scale, memory, budgets), window, bits)
        case Exponential(scale):
            return _geometric(_ratio(law, scale, memory, budgets), window, bits)
        case Gaussian(sigma):
            return _gaussian(_scale(law, sigma, memory), window, bits)
        case Flip(probability):
            return exact_table((True, False), [probability, 1 - probability])
        case Uniform(low, high):
            return uniform(_whole(evaluate(low, memory)), _whole(evaluate(high, memory)))
        case Choose(scores, scale):
            ratio = _ratio(law, scale, memory, budgets)
            items = evaluate(scores, memory)
            if not isinstance(items, tuple):
                raise ParameterError(f"{show_law(law)}: {scores} is no list")
            return _choose(ratio, items)
        case Call(name):
            raise ParameterError(
                f"the law of mechanism {name!r} is not known here: programs that call mechanisms are not enumerated"
            )


@lru_cache(maxsize=1024)
def uniform(low: int, high: int) -> Table:
    """One of low, ..., high."""
    if low > high:
        raise ParameterError(f"uniform({low}, {high}) has no values: expected low <= high")
    if high - low >= _WIDEST:
        raise ParameterError(f"uniform({low}, {high}) has too many values to go through")
    count = high - low + 1
    return Table(tuple(range(low, high + 1)), (1,) * count, (1,) * count, count)


def _ratio(law: Law, scale: Monomial, memory: Mapping[str, Value], budgets: Mapping[str, Budget]) -> Bounds:
    """exp(-1/scale): by how much the mass falls with each step."""
    ratio = power_of_e(real_of(scale.base, budgets) * (-1 / _scale(law, scale, memory)))
    if ratio.high >= 1:
        raise ParameterError(f"{show_law(law)} has a scale that is not positive, or too large to enumerate")
    return ratio


def _scale(law: Law, scale: Monomial, memory: Mapping[str, Value]) -> Fraction:
    number = times_of(scale, [_whole(evaluate(factor, memory)) for factor in scale.factors])
    if number <= 0:
        raise ParameterError(f"{show_law(law)} has scale {number}, which is not positive")
    return number


def _whole(value: Value) -> int:
    if isinstance(value, tuple):
        raise ParameterError(f"{value!r} is a list: expected an integer")
    return int(value)


def _reach(ratio: Bounds, window: int | None, bits: int) -> int:
    """How far a window goes. Its choice moves mass between rows and tails and no bound: floats are good enough."""
    if window is None:
        fall = -log2(ratio.high) if ratio.high < 1 - Fraction(1, 1 << 40) else float(1 - ratio.high) / log(2)
        window = ceil(bits / fall) if fall > 0 else _WIDEST
    if not 0 <= window < _WIDEST:
        raise ParameterError(f"a window of {window} steps: expected 0 to {_WIDEST - 1}; is the scale too large?")
    return window


@lru_cache(maxsize=1024)
def _laplace(ratio: Bounds, window: int | None, bits: int) -> Table:
    reach = _reach(ratio, window, bits)
    steps = range(-reach, reach + 1)
    values: tuple[Whole, ...] = (Range(None, -reach - 1), *steps, Range(reach + 1, None))
    if ratio.exact:
        top, below = ratio.low.numerator, ratio.low.denominator
        falling = [(below - top) * top**k * below ** (reach - k) for k in range(reach + 1)]
        weights = [top ** (reach + 1), *(falling[abs(k)] for k in steps), top ** (reach + 1)]
        return Table(values, tuple(weights), tuple(weights), (below + top) * below**reach)
    powers = _powers(ratio, reach + 1)
    sides = (1 - ratio.high) / (1 + ratio.high), (1 - ratio.low) / (1 + ratio.low)
    masses = [_between(powers[abs(k)], *sides) for k in steps]
    tail = _between(powers[reach + 1], 1 / (1 + ratio.high), 1 / (1 + ratio.low))
    return enclosed_table(values, [tail, *masses, tail])


@lru_cache(maxsize=1024)
def _geometric(ratio: Bounds, window: int | None, bits: int) -> Table:
    reach = _reach(ratio, window, bits)
    values: tuple[Whole, ...] = (*range(reach + 1), Range(reach + 1, None))
    if ratio.exact:
        top, below = ratio.low.numerator, ratio.low.denominator
        weights = [(below - top) * top**k * below ** (reach - k) for k in range(reach + 1)] + [top ** (reach + 1)]
        return Table(values, tuple(weights), tuple(weights), below ** (reach + 1))
    powers = _powers(ratio, reach + 1)
    masses = [_between(powers[k], 1 - ratio.high, 1 - ratio.low) for k in range(reach + 1)]
    return enclosed_table(values, [*masses, powers[reach + 1]])


@lru_cache(maxsize=256)
def _gaussian(sigma: Fraction, window: int | None, bits: int) -> Table:
    """Masses exp(-k^2 / (2 sigma^2)) over their sum, which is known up to the bound on what is beyond 2^-PRECISION."""
    reach = _gaussian_reach(sigma, bits) if window is None else window
    far = max(reach, _gaussian_reach(sigma, PRECISION))
    if not 0 <= reach <= far < _WIDEST:
        raise ParameterError(f"a window of {far} steps for sigma {sigma}: expected 0 to {_WIDEST - 1}")
    falling = [power_of_e(Real(-Fraction(k * k) / (2 * sigma * sigma))) for k in range(far + 2)]
    # Beyond `far` each weight is below the one before by a factor that only falls.
    fall = dyadic.exp_up(-Fraction(2 * far + 3) / (2 * sigma * sigma), bits=PRECISION)
    if fall >= 1:
        raise ParameterError(f"sigma {sigma} is too large to enumerate")
    rest = Bounds(falling[far + 1].low, falling[far + 1].high / (1 - fall))
    total_low = falling[0].low + 2 * (sum(w.low for w in falling[1 : far + 1]) + rest.low)
    total_high = falling[0].high + 2 * (sum(w.high for w in falling[1 : far + 1]) + rest.high)
    between = falling[reach + 1 : far + 1]
    tail = Bounds(sum((w.low for w in between), rest.low), sum((w.high for w in between), rest.high))
    steps = range(-reach, reach + 1)
    weights = [tail, *(falling[abs(k)] for k in steps), tail]
    values: tuple[Whole, ...] = (Range(None, -reach - 1), *steps, Range(reach + 1, None))
    return enclosed_table(values, [_between(weight, 1 / total_high, 1 / total_low) for weight in weights])


def _gaussian_reach(sigma: Fraction, bits: int) -> int:
    return isqrt(ceil(2 * sigma * sigma * bits * Fraction(7, 10))) + 1


@lru_cache(maxsize=256)
def _choose(ratio: Bounds, scores: tuple[int, ...]) -> Table:
    if not scores:
        return Table((0,), (1,), (1,), 1)
    behind = [max(scores) - score for score in scores]
    values = tuple(range(len(scores)))
    if ratio.exact:
        top, below = ratio.low.numerator, ratio.low.denominator
        weights = tuple(top**steps * below ** (max(behind) - steps) for steps in behind)
        return Table(values, weights, weights, sum(weights))
    powers = _powers(ratio, max(behind))
    low, high = sum(powers[k].low for k in behind), sum(powers[k].high for k in behind)
    masses = []
    for steps in behind:
        mine = powers[steps]
        masses.append(Bounds(mine.low / (high - mine.high + mine.low), mine.high / (low - mine.low + mine.high)))
    return enclosed_table(values, masses)


def _powers(ratio: Bounds, most: int) -> list[Bounds]:
    """The powers of a ratio, from 0 on, rounded outward so that they stay short."""
    found = [Bounds.of(Fraction(1))]
    for _ in range(most):
        last = found[-1]
        found.append(
            Bounds(
                dyadic.mul_down(last.low, ratio.low, bits=2 * PRECISION),
                dyadic.mul_up(last.high, ratio.high, bits=2 * PRECISION),
            )
        )
    return found


def _between(mass: Bounds, low: Fraction, high: Fraction) -> Bounds:
    return Bounds(mass.low * low, mass.high * high)
