"""Discrete Laplace and discrete Gaussian noise as cells: what is drawn from a table, what is refused, and the tails.

Both are drawn in the same way. Write the noise as X = G for b = 0 and X = -(G + 1) for b = 1, so that no value is
written twice, and split G = h 2^m + L. A *cell* is a pair (h, b) with h < H, or the tail h >= H of one sign. A cell
is drawn by an envelope weight, then L uniform below 2^m, and the pair is accepted with probability exp(-x), else all
is drawn again. With c = h 2^m + b, so that |X| = c + L,

    Laplace    pmf ~ exp(-|X|/s)        weight exp(-c/s)          x = L/s
    Gaussian   pmf ~ exp(-X^2/2s^2)     weight exp(-c^2/2s^2)     x = L (L + 2c)/2s^2

and weight exp(-x) is the pmf. Where m = 0, L is 0 and everything is accepted.

The tail of one sign starts at c = H 2^m + b. For Laplace, what is beyond c is distributed as G itself (it has no
memory), and its weight is that of all h >= H together; it faces the same rejection as every cell, as part of the new
draw. For Gaussian, the envelope is geometric and without L: with y = |X| - c, exp(-(c + y)^2/2s^2) = exp(-c^2/2s^2)
exp(-yc/s^2) exp(-y^2/2s^2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import dyadic
from viameter.sampling.alias import Interval
from viameter.sampling.bernoulli import bernoulli_exp, geometric_exp
from viameter.sampling.entropy import Stream


@dataclass(frozen=True, slots=True)
class Family(ABC):
    """Noise of one scale, cut into cells; cell 2h + b is (h, b), and cell 2H + b the tail of that sign."""

    scale: Fraction
    rows: int
    """H."""
    shift: int
    """m."""

    @property
    def start(self) -> int:
        """Where the tails start: H 2^m."""
        return self.rows << self.shift

    def corner(self, cell: int) -> int:
        """c, the smallest |X| of a cell."""
        return ((cell >> 1) << self.shift) + (cell & 1)

    @property
    @abstractmethod
    def refusals(self) -> float:
        """About which part of the proposals is refused: how many more to propose, and nothing else, follows from it."""

    @abstractmethod
    def weights(self, bits: int) -> list[Interval]:
        """Enclosures of the weights of the 2H cells and the two tails, in units of 2^-bits."""

    @abstractmethod
    def exponent(self, corner: int, low: int) -> Fraction:
        """x: a pair is accepted with probability exp(-x)."""

    @abstractmethod
    def slopes(self) -> tuple[Callable[[int], Fraction], Fraction]:
        """The exponent as L (slope(c) + L curvature): slope and curvature."""

    @abstractmethod
    def tail(self, sign: int, stream: Stream) -> int | None:
        """A magnitude |X| from the tail of a sign, or None if it is refused and all is to be drawn again."""


@dataclass(frozen=True, slots=True)
class Laplace(Family):
    """pmf proportional to exp(-|X|/s)."""

    @property
    def refusals(self) -> float:
        """The mean of L/s."""
        return min(float((1 << self.shift) / (2 * self.scale)), 1.0)

    def weights(self, bits: int) -> list[Interval]:
        """Geometric: each row is the one before times exp(-2^m/s)."""
        work = bits + 32
        step = _exp_interval(Fraction(-(1 << self.shift)) / self.scale, work)
        sign = _exp_interval(-1 / self.scale, work)
        rows, row = _products((1 << work, 1 << work), step, None, self.rows, work)
        signed, _ = _products(sign, step, None, self.rows, work)
        cells = [cell for pair in zip(rows, signed, strict=True) for cell in pair]
        # All rows from here on: a geometric series, row / (1 - step).
        beyond = _over_one_minus(row, step, work)
        cells += (beyond, _times(beyond, sign, work))
        return [(low >> 32, -(-high >> 32)) for low, high in cells]

    def exponent(self, corner: int, low: int) -> Fraction:
        """L/s."""
        return low / self.scale

    def slopes(self) -> tuple[Callable[[int], Fraction], Fraction]:
        """1/s, and no curvature."""
        return lambda _: 1 / self.scale, Fraction(0)

    def tail(self, sign: int, stream: Stream) -> int | None:
        """Beyond the start, as G from its own; the rejection is that of every cell: L uniform, refused by exp(-L/s)."""
        low = stream.bits(self.shift) if self.shift else 0
        if not bernoulli_exp(self.exponent(0, low), stream):
            return None
        rows = geometric_exp(Fraction(1 << self.shift) / self.scale, stream)
        return self.start + (rows << self.shift) + low + sign


@dataclass(frozen=True, slots=True)
class Gaussian(Family):
    """pmf proportional to exp(-X^2/2s^2)."""

    @property
    def refusals(self) -> float:
        """The mean of L |X|/s^2, where |X| is about 4/5 of a scale."""
        return min(float((1 << self.shift) * Fraction(2, 5) / self.scale), 1.0)

    def weights(self, bits: int) -> list[Interval]:
        """exp(-c^2/2s^2): the ratio of a row to the one before it falls by exp(-4^m/s^2) from row to row."""
        work = bits + 32
        square = self.scale**2
        size = 1 << self.shift
        fall = _exp_interval(Fraction(-size * size) / square, work)
        by_sign, ends = [], []
        for sign in (0, 1):
            first = _exp_interval(Fraction(-sign) / (2 * square), work)
            ratio = _exp_interval(Fraction(-size * size - 2 * sign * size) / (2 * square), work)
            rows, end = _products(first, ratio, fall, self.rows, work)
            by_sign.append(rows)
            ends.append(end)
        cells = [cell for pair in zip(*by_sign, strict=True) for cell in pair]
        # The envelope of a tail: exp(-c^2/2s^2) times the geometric series of exp(-c/s^2); and 2^-m, since a value of a
        # cell is proposed with the weight of its cell times the chance of its L, and one of a tail has no L.
        for sign in (0, 1):
            series = _exp_interval(Fraction(-(self.start + sign)) / square, work)
            low, high = _over_one_minus(ends[sign], series, work)
            cells.append((low >> self.shift, -(-high >> self.shift)))
        return [(low >> 32, -(-high >> 32)) for low, high in cells]

    def exponent(self, corner: int, low: int) -> Fraction:
        """L (L + 2c)/2s^2."""
        return Fraction(low * (low + 2 * corner)) / (2 * self.scale**2)

    def slopes(self) -> tuple[Callable[[int], Fraction], Fraction]:
        """c/s^2 and 1/2s^2."""
        return lambda corner: corner / self.scale**2, 1 / (2 * self.scale**2)

    def tail(self, sign: int, stream: Stream) -> int | None:
        """Geometric beyond c, accepted with probability exp(-y^2/2s^2)."""
        corner = self.start + sign
        beyond = geometric_exp(corner / self.scale**2, stream)
        if not bernoulli_exp(Fraction(beyond * beyond) / (2 * self.scale**2), stream):
            return None
        return corner + beyond


def _exp_interval(exponent: Fraction, bits: int) -> Interval:
    """exp of a number <= 0, in units of 2^-bits."""
    # Relative accuracy of so many bits is absolute accuracy of as many, since the value is at most 1.
    low = dyadic.exp_down(exponent, bits=bits + 8)
    high = dyadic.exp_up(exponent, bits=bits + 8)
    return (low.numerator << bits) // low.denominator, -(-(high.numerator << bits) // high.denominator)


def _products(
    first: Interval, ratio: Interval, fall: Interval | None, count: int, bits: int
) -> tuple[list[Interval], Interval]:
    """Enclosures of first, first ratio, first ratio (ratio fall), ...: so many, and the one after them.

    All are numbers up to 1. Products are rounded down, and how far they may be below the truth is kept: for R >= r and
    S >= s, all at most 1, R S - r s = R (S - s) + s (R - r) is at most (S - s) + (R - r), and rounding adds less than 1
    unit.
    """
    row, row_error = first[0], first[1] - first[0]
    step, step_error = ratio[0], ratio[1] - ratio[0]
    down, down_error = (0, 0) if fall is None else (fall[0], fall[1] - fall[0])
    products = []
    for _ in range(count):
        products.append((row, row + row_error))
        row = row * step >> bits
        row_error += step_error + 1
        if fall is not None:
            step = step * down >> bits
            step_error += down_error + 1
    return products, (row, row + row_error)


def _times(left: Interval, right: Interval, bits: int) -> Interval:
    return left[0] * right[0] >> bits, -(-left[1] * right[1] >> bits)


def _over_one_minus(number: Interval, ratio: Interval, bits: int) -> Interval:
    """number / (1 - ratio)."""
    one = 1 << bits
    return (number[0] << bits) // (one - ratio[0]), -(-(number[1] << bits) // (one - ratio[1]))
