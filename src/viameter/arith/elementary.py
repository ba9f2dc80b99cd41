"""Elementary functions of float64 arrays: for each a float next to the exact result, and on which side of it that is.

Each function gives a `Near`. How good the double-double values behind it are, with u = 2**-53:

Reduction. x = k ln2/256 + r with an integer |k| < 2**18.1 and |r| < 2**-9.5. ln2/256 is L1 + L2 + L3 with L1 a multiple
of 2**-42 and L2 one of 2**-76, each of at most 34 bits, so that k L1 and k L2 are exact. x - k L1 is exact: for k = 0
it is x; else |x| > 2**-10 is a multiple of 2**-62, so is k L1, and the difference is below 2**-9 = 2**53 * 2**-62. What
is rounded is k L3 (below 2**-57.9, so an error below 2**-110), its sum with the error of the second difference
(2**-110), and L3 itself (2**-130 * k < 2**-111): r has an absolute error below 2**-108, and none at all for k = 0.

Series. e**r - 1 = p = r (1 + r C), C = 1/2 + r B, B = 1/6 + r A, A = 1/24 + r Q, Q = 1/5! + r/6! + r**2/7! + r**3/8!.
Q is summed in float64, with a relative error below 4u; then, always absolutely:
    A: 6u |r| / 120, from Q and from r Q in float64                                    < 2**-66.8
    B: |r| times that, and less than 2**-103 by double-double arithmetic               < 2**-76.2
    C: |r| times that, and less than 2**-103 by double-double arithmetic               < 2**-85.6
    p: r**2 times that, |r| 2**-102 by arithmetic, |r|**9 / 9! by the terms left out   < |r| 2**-93.5
to which the error of r is added. e**x = 2**(k // 256) (T + W), T = 2**((k % 256) / 256) from a table in double-double
(relative error u**2) and W = T p; with the last two operations e**x has a relative error below 2**-101.

exp: 2**-101. expm1: for k = 0 it is p, relative error below 2**-93. Else |x| > 2**-9.6 and |e**x - 1| is at least
2**-9.7 e**x, so that the 2**-101 become less than 2**-91, to which the one addition adds 4u**2.

log: from any guess y, log s = y + log(1 + d) with d = (s - e**y) / e**y. The numerator is taken as (z - T) - W with
z = s / 2**(k // 256); z - T[0] is exact where the guess is good, by Sterbenz. As for expm1 the error of T + W, or that
of W = p for k = 0, is below 2**-90.5 |y|. d is demanded to be below 2**-48 |y|, and |y| < 2**9.6; so the few roundings
of d are below 2**-98 |y|, and d**3/3 left out of log(1 + d) = d - d**2/2 + ... is below 2**-125 |y|. Nothing is
assumed of the guess: a bad one fails the demand, and the element goes to the scalar form.

powi: binary powering makes the relative errors of both factors add up and adds 7u**2 for the product, so that n - 1
products give (n - 1) 7u**2 < 2**-93 for n <= 1024; a reciprocal adds 16u**2.

So 2**-90 bounds all of them, and what is claimed and used is the far weaker `DOUBLE_DOUBLE_ERROR`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import gmpy2  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from viameter.arith.arrays import Floats
from viameter.arith.double_double import Pair, add, add_small, fast_two_sum, multiply, reciprocal, two_sum

Exponents: TypeAlias = NDArray[np.int32]

DOUBLE_DOUBLE_ERROR = 2.0**-75
"""What is claimed of the relative error of every double-double value here."""

GUESS_TOLERANCE = 2.0**-48
"""A correction of NumPy's logarithm by more than this part of it goes to the scalar form."""

LARGEST_POWER = 1024
"""Powers beyond this, of either sign, go to the scalar form."""

# Below this magnitude e**x lies between 1 and the float next to it on the side of x, and e**x - 1 and log(1 + x)
# between x and the float next to it: they differ from 1 by less than 2**-53, and from x by less than 2**-54 |x|.
_TINY = 2.0**-54

# The double-double path of exp is taken where e**x is well within the normal floats ...
_EXP_LOW, _EXP_HIGH = -708.0, 709.0
# ... and outside these e**x is below half the smallest float, or above the largest.
_EXP_ZERO, _EXP_OVERFLOW = -746.0, 710.0
# Below this e**x is less than 2**-57, and e**x - 1 between -1 and the float next to it.
_EXPM1_MINUS_ONE = -40.0

_STEPS = 256  # entries of the table, steps per power of two
_STEPS_LOG2 = 8

_INF = math.inf
_ONE = np.array(1.0)


@dataclass(frozen=True)
class Near:
    """A float next to each exact result, or equal to it, and the side on which the exact result is.

    `error` has the sign of exact - value; how large it is means nothing. Where `unsure` is true the other two mean
    nothing either, and the scalar form must be asked; so it must where `value` is NaN.
    """

    value: Floats
    error: Floats
    unsure: NDArray[np.bool_]

    def settle(self, where: NDArray[np.bool_], value: Floats | float, error: Floats | float) -> None:
        """Write in what is known of some elements beforehand."""
        if where.any():
            np.copyto(self.value, value, where=where)
            np.copyto(self.error, error, where=where)
            np.copyto(self.unsure, False, where=where)


def _judged(value: Floats, pair: Pair) -> Near:
    """Sure where the low part is larger than the error of the pair: then its sign is that of exact - high."""
    high, low = pair
    return Near(value, low, ~(np.abs(low) > DOUBLE_DOUBLE_ERROR * np.abs(high)))


def exp(x: Floats) -> Near:
    """e**x."""
    pair, exponent = exp_pair(np.clip(x, _EXP_LOW, _EXP_HIGH))
    near = _judged(np.ldexp(pair[0], exponent), pair)
    near.unsure[(x < _EXP_LOW) | (x > _EXP_HIGH)] = True
    near.settle(np.abs(x) < _TINY, 1.0, x)
    near.settle(x < _EXP_ZERO, 0.0, 1.0)
    near.settle(x > _EXP_OVERFLOW, _INF, -1.0)
    near.settle(x == -_INF, 0.0, 0.0)
    near.settle(x == _INF, _INF, 0.0)
    return near


def expm1(x: Floats) -> Near:
    """e**x - 1."""
    pair = expm1_pair(np.clip(x, _EXPM1_MINUS_ONE, _EXP_HIGH))
    near = _judged(pair[0], pair)
    near.unsure[x > _EXP_HIGH] = True
    near.settle(np.abs(x) < _TINY, x, np.abs(x))
    near.settle(x < _EXPM1_MINUS_ONE, -1.0, 1.0)
    near.settle(x > _EXP_OVERFLOW, _INF, -1.0)
    near.settle(x == -_INF, -1.0, 0.0)
    near.settle(x == _INF, _INF, 0.0)
    return near


def log(x: Floats) -> Near:
    """The natural logarithm of x."""
    near = _logarithm((x, np.zeros_like(x)), guess=np.log(x))
    near.settle(x == 1.0, 0.0, 0.0)
    near.settle(x == 0.0, -_INF, 0.0)
    near.settle(x == _INF, _INF, 0.0)
    return near


def log1p(x: Floats) -> Near:
    """The natural logarithm of 1 + x."""
    near = _logarithm(two_sum(_ONE, x), guess=np.log1p(x))
    near.settle(np.abs(x) < _TINY, x, -np.abs(x))
    near.settle(x == -1.0, -_INF, 0.0)
    near.settle(x == _INF, _INF, 0.0)
    return near


def _logarithm(operand: Pair, guess: Floats) -> Near:
    pair, correction = log_pair(operand, guess)
    near = _judged(pair[0], pair)
    near.unsure[~(np.abs(correction) <= GUESS_TOLERANCE * np.abs(guess))] = True
    return near


def powi(x: Floats, n: int) -> Near:
    """x**n for 2 <= |n| <= LARGEST_POWER."""
    pair, exponent = powi_pair(np.abs(x), n)
    fraction, shift = np.frexp(pair[0])
    exponent = exponent + shift  # |x**n| is about fraction * 2**exponent, and 1/2 <= fraction < 1
    near = _judged(np.ldexp(fraction, exponent), pair)
    near.unsure[exponent < -1021] = True
    near.settle(exponent < -1075, 0.0, 1.0)
    near.settle(exponent > 1024, _INF, -1.0)
    near.settle(x == 0.0, 0.0 if n > 0 else math.nan, 0.0)
    near.settle(np.isinf(x), _INF if n > 0 else 0.0, 0.0)
    near.settle(np.isnan(x), math.nan, 0.0)
    if n % 2:
        sign = np.copysign(1.0, x)
        return Near(sign * near.value, sign * near.error, near.unsure)
    return near


def exp_pair(x: Floats) -> tuple[Pair, Exponents]:
    """A pair and an exponent with e**x = pair * 2**exponent, for |x| < 746."""
    parts = _exponential(x)
    return add_small(parts.step, parts.rest), parts.exponent


def expm1_pair(x: Floats) -> Pair:
    """e**x - 1 as a pair, for 2**-54 <= |x| and -40 <= x <= 709."""
    parts = _exponential(x)
    less_one = two_sum(np.ldexp(parts.step[0], parts.exponent), -_ONE)
    rest = two_sum(np.ldexp(parts.rest[0], parts.exponent), np.ldexp(parts.rest[1] + parts.step[1], parts.exponent))
    return add(less_one, rest)


def log_pair(operand: Pair, guess: Floats) -> tuple[Pair, Floats]:
    """The logarithm of a pair, as a pair, and by how much it corrects the guess: right only if that is tiny."""
    parts = _exponential(guess)
    high, low = (np.ldexp(part, -parts.exponent) for part in operand)
    # Where log1p has a small operand, this puts the two parts together to that operand again, exactly.
    high, low = two_sum(high - parts.step[0], low)
    difference, error = two_sum(high, -parts.rest[0])
    error += low - parts.rest[1] - parts.step[1]
    correction = (difference + error) / (parts.step[0] + parts.rest[0])
    return fast_two_sum(guess, correction - 0.5 * correction * correction), correction


def powi_pair(x: Floats, n: int) -> tuple[Pair, Exponents]:
    """A pair and an exponent with x**n = pair * 2**exponent, for x > 0 and 2 <= |n| <= LARGEST_POWER."""
    mantissa, exponent = np.frexp(x)
    # Mantissas around 1, so that no power of them leaves 2**-513 ... 2**513.
    below = mantissa < math.sqrt(0.5)
    base = (np.where(below, 2.0 * mantissa, mantissa), np.zeros_like(x))
    power = base
    for bit in f"{abs(n):b}"[1:]:
        power = multiply(power, power)
        if bit == "1":
            power = multiply(power, base)
    return (power if n > 0 else reciprocal(power)), (exponent - below) * n


class _Exponential(NamedTuple):
    """e**x = 2**exponent * (step + rest), with 1 <= step < 2 from the table and |rest| <= 2**-9.5 step."""

    exponent: Exponents
    step: Pair
    rest: Pair


def _exponential(x: Floats) -> _Exponential:
    table = _table()
    count = np.rint(x * table.steps_per_unit)
    high = x - count * table.unit[0]
    high, low = two_sum(high, -(count * table.unit[1]))
    remainder = two_sum(high, low - count * table.unit[2])
    index = count.astype(np.int32)
    step_index = index & (_STEPS - 1)
    step = (table.high[step_index], table.low[step_index])
    return _Exponential(index >> _STEPS_LOG2, step, multiply(step, _series(remainder)))


def _series(r: Pair) -> Pair:
    """e**r - 1."""
    tail = np.full_like(r[0], 1 / math.factorial(8))
    for k in (7, 6, 5):
        tail = tail * r[0] + 1 / math.factorial(k)
    total = fast_two_sum(_INVERSE_FACTORIALS[4][0], r[0] * tail)
    total = (total[0], total[1] + _INVERSE_FACTORIALS[4][1])
    for k in (3, 2):
        total = add_small(_INVERSE_FACTORIALS[k], multiply(r, total))
    return add_small(r, multiply(r, multiply(r, total)))


class _Table(NamedTuple):
    """2**(j/256) for j < 256 in double-double, ln2/256 in three parts, and 256/ln2."""

    high: Floats
    low: Floats
    unit: tuple[float, float, float]
    steps_per_unit: float


@functools.cache
def _table() -> _Table:
    context = gmpy2.context(precision=300)
    powers = np.array([_in_two(_fraction(context.exp2(j / _STEPS))) for j in range(_STEPS)])
    unit = _fraction(context.const_log2()) / _STEPS
    first = Fraction(math.floor(unit * 2**42), 2**42)
    second = Fraction(math.floor((unit - first) * 2**76), 2**76)
    return _Table(
        powers[:, 0].copy(),
        powers[:, 1].copy(),
        (float(first), float(second), float(unit - first - second)),
        float(1 / unit),
    )


def _fraction(x: Any) -> Fraction:
    return Fraction(*map(int, x.as_integer_ratio()))


def _in_two(q: Fraction) -> tuple[float, float]:
    high = float(q)
    return high, float(q - Fraction(high))


def _inverse_factorial(k: int) -> Pair:
    high, low = _in_two(Fraction(1, math.factorial(k)))
    return np.array(high), np.array(low)


_INVERSE_FACTORIALS = {k: _inverse_factorial(k) for k in (2, 3, 4)}
