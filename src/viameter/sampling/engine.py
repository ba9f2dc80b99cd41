"""The engine: draws of discrete noise from a table of cells, one by one or by the million, exact.

A draw takes a first word, which picks a cell by an alias table; then L uniform, and the first k bits v of the uniform
number u that decides whether (cell, L) is accepted. u is in [v, v + 1) 2^-k, and u < exp(-x) accepts. Most draws are
decided by these bits. The rest are the same draws continued: further bits are appended to the bits drawn, and numbers
are known to as many bits as that takes.

By the million, the second word has the upper bits of L, at most `HIGH` of them, and v; a third one has the lower bits
of L, where there are more. Three steps decide acceptance, each what the one before left open:

1. u < 1 - x accepts, since 1 - x <= exp(-x). In integers: an upper bound on 2^k x, from the upper bits of L and an
   upper bound on the slope of x in the cell, and v + 1 add up to at most 2^k.
2. u that is away from the Taylor polynomial of exp(-x) by `_NEAR` decides. In floats: the remainder and all roundings
   are below a tenth of `_NEAR`.
3. What is left, every tail, and every first word that does not pick a cell, is decided one by one, in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from viameter.core.deadlines import stop_if_given_up
from viameter.sampling.alias import AliasTable
from viameter.sampling.bernoulli import bernoulli_exp
from viameter.sampling.entropy import Entropy, Stream
from viameter.sampling.families import Family

Ints = npt.NDArray[np.int64]

LARGEST = 2**63 - 1
"""By the million, noise beyond 64 bits stops here; it is drawn exactly first. One by one, it does not stop."""

HIGH = 12
"""How many bits of L are in the second word at most."""

_NEAR = 2e-7
_NEAR_REACH = 0.25
_CHUNK = 1 << 16
_TAIL = -(2**63)


@dataclass(frozen=True)
class Layout:
    """How many bits the first word has; tests make them few, so that rare paths are common."""

    first: int = 32


class Engine:
    """Draws of one family at one scale."""

    def __init__(self, family: Family, layout: Layout = Layout()) -> None:  # noqa: B008  # a frozen value
        self.family = family
        self.layout = layout
        self._tails = 2 * family.rows
        column_bits = (self._tails + 1).bit_length()
        self._fraction_bits = layout.first - column_bits
        self._fraction_mask = (1 << self._fraction_bits) - 1
        self.table = AliasTable.build(family.weights, column_bits=column_bits, fraction_bits=self._fraction_bits)
        self._high = min(family.shift, HIGH)
        # Where L is always 0, everything is accepted.
        self._accept_bits = 32 - self._high if family.shift else 0
        self._accept_mask = (1 << self._accept_bits) - 1
        self._second = family.shift + self._accept_bits
        slope, curvature = family.slopes()
        # Where L is always 0, the slopes of a tiny scale need not fit into floats.
        self._slopes = (float(slope(1)), float(curvature)) if family.shift else (0.0, 0.0)

    # One by one

    def draw(self, entropy: Entropy) -> int:
        """One draw."""
        stream = entropy.stream(8)
        table, second, accept = self.table, self._second, self._accept_bits
        while True:
            word = stream.bits(self.layout.first + second)
            first, rest = word >> second, word & ((1 << second) - 1)
            column, fraction = first >> self._fraction_bits, first & self._fraction_mask
            threshold = table.first_bits[column]
            cell = column if fraction < threshold else table.alias[column]
            if fraction != threshold and cell < self._tails:
                # What nearly every draw comes to, without a call: the first of the three steps.
                low, v = rest >> accept, rest & self._accept_mask
                if not second or ((v + 1) << 64) + (low * self._steepest[cell] << accept) <= 1 << (64 + accept):
                    magnitude = ((cell >> 1) << self.family.shift) + low
                    return ~magnitude if cell & 1 else magnitude
            drawn = self._decide(first, rest, stream)
            if drawn is not None:
                return drawn

    def _decide(self, first: int, second: int, stream: Stream) -> int | None:
        """The value of a first word and of L and v, or None if it is refused; exact, whatever further bits it takes."""
        cell = self.table.decide(first >> self._fraction_bits, first & self._fraction_mask, stream)
        if cell >= self._tails:
            magnitude = self.family.tail(cell & 1, stream)
        elif self._second:
            magnitude = self._accepted(cell, second, stream)
        else:
            magnitude = self.family.corner(cell)
        if magnitude is None:
            return None
        return -magnitude if cell & 1 else magnitude

    def _accepted(self, cell: int, second: int, stream: Stream) -> int | None:
        low, drawn = second >> self._accept_bits, second & self._accept_mask
        corner = self.family.corner(cell)
        # The first of the three steps, with slopes in units of 2^-64.
        if ((drawn + 1) << 64) + (low * self._steepest[cell] << self._accept_bits) > 1 << (64 + self._accept_bits):
            exponent = self.family.exponent(corner, low)
            if not bernoulli_exp(exponent, stream, drawn=drawn, width=self._accept_bits):
                return None
        return corner + low

    @cached_property
    def _steepest(self) -> list[int]:
        """For each cell an upper bound on x/L, in units of 2^-64."""
        slope, curvature = self.family.slopes()
        if not curvature:
            constant = slope(1)
            return [-(-(constant.numerator << 64) // constant.denominator)] * self._tails
        # slope(c) is c slope(1), and the curvature adds at most that of the largest L: integers over one denominator.
        one, most = slope(1), curvature * (1 << self.family.shift)
        common = math.lcm(one.denominator, most.denominator)
        step, start = (part.numerator * (common // part.denominator) << 64 for part in (one, most))
        return [-(-(self.family.corner(cell) * step + start) // common) for cell in range(self._tails)]

    # By the million

    def draw_many(self, count: int, entropy: Entropy) -> Ints:
        """Independent draws, as int64."""
        stream = entropy.stream(count * (self.layout.first + self._second) // 8)
        drawn = np.empty(count, dtype=np.int64)
        filled = 0
        while filled < count:
            stop_if_given_up()
            missing = min(count - filled, _CHUNK)
            # A few more than are needed, for those that are refused; what is left over is not used.
            refusals = self.family.refusals * missing if self._second else 0.0
            extra = int(refusals + 4 * math.sqrt(refusals)) + 4 if refusals else 0
            kept = _fill(*self._propose(missing + extra, stream), missing)
            drawn[filled : filled + len(kept)] = kept
            filled += len(kept)
        return drawn

    def _propose(self, count: int, stream: Stream) -> tuple[Ints, Any]:
        """So many proposals, and the places of those that are refused, in any order."""
        first = stream.words(count, 32)
        thresholds, corners, _ = self._vectors
        index = first >> np.uint32(self._fraction_bits)
        fraction = first & np.uint32(self._fraction_mask)
        threshold = np.take(thresholds, index, mode="clip")
        # 2 column + (1 if the own cell is taken)
        index += index
        index += fraction < threshold
        values: Ints = np.take(corners, index, mode="clip")
        # Fractions that do not decide, and the tails, whose mark is the least integer.
        special = fraction == threshold
        if values.min(initial=0) == _TAIL:
            special |= values == _TAIL
        if not self._second:
            refused = self._decide_special(values, special, first, None, stream)
        else:
            second = _Second(self, count, stream)
            # L and the corner share no bits, and -(G + 1) is G with all bits turned: one xor adds L either way.
            values ^= second.low
            refused = self._decide_special(values, special, first, second, stream)
            refused = np.concatenate([refused, self._refused(index, second, special, stream)])
        return values, refused

    def _decide_special(self, values: Ints, special: Any, first: Any, second: _Second | None, stream: Stream) -> Any:
        """Decide the special places one by one, and return those that are refused."""
        refused = []
        for place in np.flatnonzero(special).tolist():
            drawn = self._decide(int(first[place]), 0 if second is None else second.at(place), stream)
            if drawn is None:
                refused.append(place)
            else:
                values[place] = min(max(drawn, -LARGEST), LARGEST)
        return np.array(refused, dtype=np.int64)

    @cached_property
    def _vectors(self) -> tuple[Any, Any, Any]:
        """By column, thresholds; by 2 column + (1 if the own cell is taken), values of L = 0 and cells."""
        cells = np.stack([self.table.alias, np.arange(len(self.table.alias))], axis=1).ravel()
        # b = 1 stands for -(G + 1), which is G with all bits turned.
        values = np.where(cells >= self._tails, _TAIL, (cells >> 1 << self.family.shift) ^ -(cells & 1))
        return np.array(self.table.first_bits, dtype=np.uint32), values, cells

    @cached_property
    def _reaches(self) -> Any:
        """By index of `_vectors`: what a unit of the upper bits of L adds to 2^k x at most, in units of 2^-HIGH.

        None where x may be above 1/2, so that sums could leave 32 bits; it is not for the scales that the library uses.
        """
        if max(self._steepest) << self.family.shift > 1 << 63:
            return None
        # steepest 2^-64 for one of L; an upper bit of L is 2^(m - high); and 2^k, in units of 2^-high, is 2^32 in all.
        up = 64 - 32 - (self.family.shift - self._high)
        reaches = [-(-steepest >> up) if up >= 0 else steepest << -up for steepest in self._steepest]
        _, curvature = self._slopes
        if not curvature:
            return np.uint32(reaches[0])
        # The tails, which are special anyway, get any.
        cells = self._vectors[2]
        padded = np.array([*reaches, *[0] * (int(cells.max()) + 1 - len(reaches))], dtype=np.uint32)
        return padded[cells]

    def _refused(self, index: Any, second: _Second, special: Any, stream: Stream) -> Any:
        """The places that are refused, apart from the special ones."""
        unsure = self._unsure(index, second)
        unsure = unsure[~special[unsure]]
        unit = 2.0**-self._accept_bits
        uniform = second.drawn[unsure] * unit
        low = second.low[unsure].astype(np.float64)
        slope, curvature = self._slopes
        cells = self._vectors[2][index[unsure]]
        corners = (cells >> 1 << self.family.shift) + (cells & 1)
        x = low * (slope * corners + low * curvature) if curvature else low * slope
        near = _taylor_exp(np.minimum(x, _NEAR_REACH))
        refused = uniform > near + _NEAR
        # The polynomial speaks of x up to 1/4; the scales that the library uses stay below it.
        open_ = (x > _NEAR_REACH) | (~refused & (uniform + unit > near - _NEAR))
        for place in np.flatnonzero(open_).tolist():
            refused[place] = self._accepted(int(cells[place]), second.at(int(unsure[place])), stream) is None
        return unsure[refused]

    def _unsure(self, index: Any, second: _Second) -> Any:
        """The places where the first step does not accept."""
        reaches = self._reaches
        if reaches is None:
            return np.arange(len(index))
        reach = np.take(reaches, index, mode="clip") if reaches.ndim else reaches
        # Where L has lower bits, they are less than one of the upper ones.
        upper = second.upper + np.uint32(1) if self.family.shift > self._high else second.upper
        reach = upper * reach
        reach >>= np.uint32(self._high)
        reach += second.drawn
        # Up to 1 was cut off by the shift, and u may be up to 1 above v: accepted if reach + 2 <= 2^k.
        return np.flatnonzero(reach > np.uint32((1 << self._accept_bits) - 2))


class _Second:
    """L and v of many proposals, from a second and maybe a third word each."""

    __slots__ = ("_accept_bits", "drawn", "low", "upper")

    def __init__(self, engine: Engine, count: int, stream: Stream) -> None:
        self._accept_bits = engine._accept_bits
        word = stream.words(count, 32)
        self.upper = word >> np.uint32(engine._accept_bits)
        self.drawn = word & np.uint32(engine._accept_mask)
        self.low = self.upper.astype(np.int64)
        further = engine.family.shift - engine._high
        if further:
            width = next(width for width in (16, 32, 64) if further <= width)
            third = stream.words(count, width)
            self.low <<= further
            self.low |= (third >> third.dtype.type(width - further)).astype(np.int64)

    def at(self, place: int) -> int:
        """L and v of one proposal, as one integer."""
        return int(self.low[place]) << self._accept_bits | int(self.drawn[place])


def _fill(values: Ints, refused: Any, wanted: int) -> Ints:
    """So many accepted values, or all where there are fewer: refused ones in front are replaced by those behind.

    Proposals are independent, and which are refused says nothing about the values of those that are not, so that any
    of them may stand anywhere.
    """
    if not len(refused):
        return values[:wanted]
    spare = np.ones(max(len(values) - wanted, 0), dtype=bool)
    spare[refused[refused >= wanted] - wanted] = False
    spares = values[wanted:][spare]
    holes = refused[refused < wanted]
    values[holes[: len(spares)]] = spares[: len(holes)]
    return np.delete(values[:wanted], holes[len(spares) :]) if len(holes) > len(spares) else values[:wanted]


def _taylor_exp(x: Any) -> Any:
    """exp(-x) for 0 <= x <= 1/4 to within 2e-8: the remainder is at most (1/4)^7/7!, roundings are below 1e-14."""
    minus = -x
    value = minus * (1 / 720)
    for factorial in (120, 24, 6, 2, 1):
        value += 1 / factorial
        value *= minus
    value += 1
    return value
