"""The weights exp(-(max - q)/s) of candidates with scores q: in floats, in double-double, in integers of any length.

Let x = (max - q)/s >= 0, an exact rational, and w = exp(-x), which is 1 for the best candidate; u = 2^-53.

`near`, in float64, claims |near - w| <= NEAR_ERROR w + NEAR_DROPPED. Why: with y = x 64/ln2,

- max - q is rounded once (integers: by the cast, at most 2u), 64/(s ln2) once, and their product once: y is off by at
  most 4u y, and by 2^-1074 where it is tiny. From y = 4095.5 on the weight is below 2^-63, and 0 is returned. Below, y
  is off by at most 2^-39, which is 2^-45.5 of w.
- y = k + f with an integer k and |f| <= 1/2, and y - k is exact. 2^(-k/64) is from a table, rounded once (u).
- 2^(-f/64) = e^z, |z| <= ln2/128 < 2^-7.5, is the Taylor polynomial of degree 5 (the rest is below 2^-54), in which
  t^5, t = 2f, is replaced by the cubic that is nearest to it: t^5 = (20 t^3 - 5 t + T_5(t))/16, and as |T_5| <= 1 the
  error is at most |z|^5/120/16 < 2^-48. Horner's rule ends with 1 + (something below 2^-7), so that it adds less than
  2u; the last product adds u.
- Together that is below 2^-45. What is claimed is eight times as much.

`fixed_near`, in integers of unit 2^-93, claims |fixed_near - w 2^93| <= 3 + w 2^93 2^-74. Why: max - q is exact as a
pair, so that x as a pair (h, l) is off by at most 2^-100 x; e^-h of `elementary` claims 2^-75; and e^-l is 1 - l to
within 2^-88, for x <= 512. Turning both parts into integers truncates twice. Where x is above 128, some number between
128 and 512 may be taken for it: either weight is below 1 in this unit.

`fixed`, in integers of unit 2^-bits, claims fixed <= w 2^bits <= fixed + 2, for any number of bits.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt

from viameter.arith import dyadic
from viameter.arith.arrays import Floats
from viameter.arith.double_double import Pair, fast_two_sum, multiply, two_sum
from viameter.arith.elementary import exp_pair
from viameter.core.deadlines import stop_if_given_up, while_awaited
from viameter.errors import NumberError

Scores: TypeAlias = npt.NDArray[np.int64] | Floats

NEAR_ERROR = 2.0**-42
NEAR_DROPPED = 2.0**-63
FIXED_NEAR_BITS = 93
FIXED_NEAR_ERROR_BITS = 74

_STEPS = 64  # entries of the table per power of two
_LAST = 64 * _STEPS  # its last entry stands for everything from 2^-64 on
_CHUNK = 8192  # as many pairs as stay in the processor's cache
_FAR = 256.0  # times a factor between 1/2 and 2: an exponent of 128 to 512, whose weight is 0 in units of 2^-93
# Up to here a score is nothing beside the largest float, so that a difference from it does not overflow. Beyond,
# subnormals are nothing beside a score, so that it does no harm to halve them, which may round.
_LARGE = 2.0**900

# No difference of floats is above 2^1025 or between 0 and 2^-1074: powers of two beyond these are as good as infinite.
_WIDEST = 5000
# Within these, a factor times a difference underflows only where the exponent is below 2^-1000.
_PLAIN = 1000
# Below log2(e): exp(-x) is at most 2^-floor(x _OCTAVES).
_OCTAVES = Fraction(14426, 10000)
# Far within what dyadic numbers can hold.
_LARGEST_EXPONENT = 2**18


@dataclass(frozen=True, slots=True)
class Weights:
    """Candidates by score, and a scale: candidate i has the weight exp(-x_i), x_i = (max - q_i)/s."""

    scores: Scores
    scale: Fraction
    top: int | float
    """The largest score."""
    unit: int
    """The unit in which floats are subtracted: 2 where a difference could be above the largest float, else 1."""
    factor: float
    """64/(s ln2) for gaps in that unit, up to a power of two ..."""
    shift: int
    """... that is 2^shift."""

    @classmethod
    def of(cls, scores: Scores, scale: Fraction) -> Weights:
        """Look for the largest score; there must be one, and floats must be finite."""
        top = scores.max().item()
        # NaN is the largest and the smallest of whatever it is among.
        if isinstance(top, float) and not (math.isfinite(top) and math.isfinite(scores.min())):
            raise NumberError("the scores are not all finite: expected floats without NaN and infinities")
        unit = 2 if isinstance(top, float) and top > _LARGE else 1
        return cls(scores, scale, top, unit, *_factor(scale / unit))

    def exponent(self, index: int) -> Fraction:
        """x_i, exactly."""
        return (Fraction(self.top) - Fraction(self.scores[index].item())) / self.scale

    def near(self, start: int, stop: int) -> Floats:
        """The weights from start to stop in float64. Differences may overflow: the caller tells NumPy to be quiet."""
        table = _table()
        y = self._gaps(start, stop)
        if self.shift:
            y = np.ldexp(y, self.shift)
        y *= self.factor
        np.minimum(y, float(_LAST), out=y)
        k = np.rint(y)
        y -= k
        weights = y * table.coefficients[4]
        for coefficient in table.coefficients[3:0:-1]:
            weights += coefficient
            weights *= y
        weights += 1.0
        weights *= np.take(table.powers, k.astype(np.intp), mode="clip")
        return weights

    def fixed_near(self) -> list[int]:
        """All weights in units of 2^-FIXED_NEAR_BITS, from double-double."""
        inverse = self.unit / self.scale
        shift = _exponent_of_two(inverse)
        inverse /= Fraction(2) ** shift
        high = float(inverse)
        factor = (np.array(high), np.array(float(inverse - Fraction(high))))
        unit = 2.0**FIXED_NEAR_BITS
        weights: list[int] = []
        with np.errstate(all="ignore"):
            for start in range(0, len(self.scores), _CHUNK):
                stop_if_given_up()
                highs, lows = _exp_of_pair(self._gap_pairs(start, start + _CHUNK), factor, _bounded(shift))
                weights += map(_add_truncated, (highs * unit).tolist(), (lows * unit).tolist())
        return weights

    def fixed(self, bits: int) -> list[int]:
        """All weights in units of 2^-bits, at most 2 too low. Slow: microseconds for each score that occurs."""
        distinct, places = np.unique(self.scores, return_inverse=True)
        top = Fraction(self.top)
        scores = while_awaited(distinct.tolist())
        values = [fixed_exp((top - Fraction(score)) / self.scale, bits) for score in scores]
        return [values[place] for place in places.tolist()]

    def _gaps(self, start: int, stop: int) -> Floats:
        """max - q in the unit, rounded to a float, by at most 2u."""
        if self.scores.dtype == np.int64:
            return self._integer_gaps(start, stop).astype(np.float64)
        part: Any = self.scores[start:stop]
        gaps: Floats = self.top - part if self.unit == 1 else self.top * 0.5 - part * 0.5
        return gaps

    def _gap_pairs(self, start: int, stop: int) -> Pair:
        """max - q in the unit: exactly, but for the halves of subnormal floats, which are nothing beside the top."""
        if self.scores.dtype == np.int64:
            gaps = self._integer_gaps(start, stop)
            low = gaps & np.uint64(2**32 - 1)
            return fast_two_sum((gaps - low).astype(np.float64), low.astype(np.float64))
        part: Any = self.scores[start:stop]
        half = 1.0 / self.unit
        return two_sum(np.array(self.top * half), part * -half)

    def _integer_gaps(self, start: int, stop: int) -> npt.NDArray[np.uint64]:
        # A difference of int64 may not fit into int64. It fits into uint64, and modulo 2^64 it is right.
        top = np.uint64(int(self.top) % 2**64)
        return top - self.scores[start:stop].view(np.uint64)


def fixed_exp(exponent: Fraction, bits: int) -> int:
    """An integer r with r <= exp(-exponent) 2^bits <= r + 2, for an exponent >= 0."""
    octaves = math.floor(exponent * _OCTAVES)
    if octaves > bits:
        return 0
    if exponent > _LARGEST_EXPONENT:
        # The square of the half h. In units of 2^-half_bits it is at most 2^(half_bits - octaves of the half), so that
        # (h + 2)^2 - h^2 = 4h + 4 is at most 9/16 of the unit of the square's last place kept.
        half_bits = bits - math.floor(exponent / 2 * _OCTAVES) + 3
        return fixed_exp(exponent / 2, half_bits) ** 2 >> 2 * half_bits - bits
    # So many relative bits make an absolute error of at most 1/64 unit.
    low = dyadic.exp_down(-exponent, bits=bits - octaves + 8)
    return (low.numerator << bits) // low.denominator


def _exp_of_pair(gaps: Pair, factor: Pair, shift: int) -> Pair:
    """exp(-gaps factor 2^shift), for a factor between 1/2 and 2."""
    high, low = np.ldexp(gaps[0], shift), np.ldexp(gaps[1], shift)
    far = high >= _FAR
    high[far], low[far] = _FAR, 0.0
    x, rest = multiply((high, low), factor)
    pair, power = exp_pair(-x)
    high, low = fast_two_sum(pair[0], pair[1] - pair[0] * rest)
    return np.ldexp(high, power), np.ldexp(low, power)


def _add_truncated(high: float, low: float) -> int:
    return int(high) + int(low)


def _exponent_of_two(q: Fraction) -> int:
    """An integer e such that q/2^e is between 1/2 and 2."""
    return q.numerator.bit_length() - q.denominator.bit_length()


def _bounded(shift: int) -> int:
    return max(-_WIDEST, min(_WIDEST, shift))


@functools.lru_cache(maxsize=64)
def _factor(scale: Fraction) -> tuple[float, int]:
    """64/(s ln2), rounded once, and 0; or divided by a power of two, which is the second number."""
    factor = _STEPS / (scale * _ln2())
    shift = _exponent_of_two(factor)
    if abs(shift) < _PLAIN:
        return float(factor), 0
    return float(factor / Fraction(2) ** shift), _bounded(shift)


class _Table(NamedTuple):
    """2^(-k/64) for k < 4096 and 0 after, and a polynomial in f that is near 2^(-f/64)."""

    powers: Floats
    coefficients: tuple[float, float, float, float, float]


@functools.cache
def _table() -> _Table:
    context = gmpy2.context(precision=300)
    octave = [float(Fraction(*map(int, context.exp2(-j / _STEPS).as_integer_ratio()))) for j in range(_STEPS)]
    powers = np.ldexp(np.array(octave), -np.arange(_LAST // _STEPS)[:, None]).ravel()
    exact = [(-_ln2() / _STEPS) ** degree / math.factorial(degree) for degree in range(6)]
    # f^5 = t^5/32, and t^5 is near (20 t^3 - 5 t)/16 = (160 f^3 - 10 f)/16.
    exact[3] += exact[5] * Fraction(160, 16 * 32)
    exact[1] -= exact[5] * Fraction(10, 16 * 32)
    _, first, second, third, fourth = map(float, exact[:5])
    return _Table(np.append(powers, 0.0), (1.0, first, second, third, fourth))


@functools.cache
def _ln2() -> Fraction:
    return dyadic.log_down(Fraction(2), bits=256)
