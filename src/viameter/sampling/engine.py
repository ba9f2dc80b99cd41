"""The engine: draws of discrete noise from a table of cells, one by one or by the million, exact.

A draw takes two words. The first picks a cell by an alias table. The second has L in its upper bits, and below them the
first
bits of the uniform number that decides whether (cell, L) is accepted. Most draws are decided by these words. The rest
are the same draws continued: further bits are appended to the bits drawn, and numbers are known to as many bits as that
takes.

Floats decide only with room to spare. With x the exponent of acceptance, u in [v, v + 1) 2^-k the uniform number,

    u < 1 - x <= exp(-x)                                       accepts: `_SURE` is a thousand times the rounding errors
    u outside of the Taylor polynomial of exp(-x) by `_NEAR`    decides: its remainder and roundings are below a tenth
    of it

and everything else, as well as every tail, goes to `_continue`, which computes with integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from viameter.sampling.alias import AliasTable
from viameter.sampling.bernoulli import bernoulli_exp
from viameter.sampling.entropy import Entropy, Stream
from viameter.sampling.families import Family

Ints = npt.NDArray[np.int64]

LARGEST = 2**63 - 1
"""Noise beyond 64 bits stops here; it is drawn exactly first."""

_SURE = 1e-12
_NEAR = 1e-9
_CHUNK = 1 << 14
_TAIL = -(2**63)


@dataclass(frozen=True)
class Layout:
    """How many bits of the two words go where; tests make them few, so that rare paths are common."""

    first: int = 32
    """Bits of the first word; the upper ones pick a column, the rest are the fraction."""
    accept: int = 17
    """At least so many bits of the second word decide acceptance."""


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
        # The second word: none where L is 0, 32 bits where L and enough bits for acceptance fit, else 64.
        self._second = 0 if not family.shift else 32 if family.shift + layout.accept <= 32 else 64
        self._accept_bits = self._second - family.shift
        self._accept_mask = (1 << self._accept_bits) - 1
        slope, curvature = family.slopes()
        self._slopes = float(slope(1)), float(curvature)

    # One by one

    def draw(self, entropy: Entropy) -> int:
        """One draw."""
        stream = entropy.stream(8)
        while True:
            word = stream.bits(self.layout.first + self._second)
            drawn = self._decide(word >> self._second, word & ((1 << self._second) - 1), stream)
            if drawn is not None:
                return drawn

    def _decide(self, first: int, second: int, stream: Stream) -> int | None:
        """The value of two words, or None if it is refused; exact, with as many further bits as that takes."""
        cell = self.table.decide(first >> self._fraction_bits, first & self._fraction_mask, stream)
        if cell >= self._tails:
            magnitude = self.family.tail(cell & 1, stream)
        elif self._second:
            magnitude = self._accepted(self.family.corner(cell), second, stream)
        else:
            magnitude = self.family.corner(cell)
        if magnitude is None:
            return None
        magnitude = min(magnitude, LARGEST)
        return -magnitude if cell & 1 else magnitude

    def _accepted(self, corner: int, second: int, stream: Stream) -> int | None:
        low, drawn = second >> self._accept_bits, second & self._accept_mask
        slope, curvature = self._slopes
        x = low * (slope * corner if curvature else slope) + low * low * curvature
        if (drawn + 1) * 2.0**-self._accept_bits + x < 1 - _SURE:
            return corner + low
        exponent = self.family.exponent(corner, low)
        accepted = bernoulli_exp(exponent, stream, drawn=drawn, width=self._accept_bits)
        return corner + low if accepted else None

    # By the million

    def draw_many(self, count: int, entropy: Entropy) -> Ints:
        """Independent draws, as int64."""
        stream = entropy.stream(count * (self.layout.first + self._second) // 8)
        drawn = np.empty(count, dtype=np.int64)
        filled = 0
        while filled < count:
            # A few more than are needed, for those that are refused; what is left over is not used.
            missing = min(count - filled, _CHUNK)
            kept = self._propose(missing + (missing // 16 + 8 if self._second else 0), stream)[:missing]
            drawn[filled : filled + len(kept)] = kept
            filled += len(kept)
        return drawn

    def _propose(self, count: int, stream: Stream) -> Ints:
        """Those of so many proposals that are accepted, in order."""
        first = stream.words(count, 32)
        second = stream.words(count, self._second) if self._second else None
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
        if values.min() == _TAIL:
            special |= values == _TAIL
        refused = np.empty(0, dtype=np.int64)
        if second is not None:
            # L and the corner share no bits, and -(G + 1) is G with all bits turned: one xor adds L either way.
            values ^= (second >> second.dtype.type(self._accept_bits)).astype(np.int64, copy=False)
            refused = self._refused(index, second, special, stream)
        if special.any():
            refused = np.concatenate([refused, self._decide_special(values, special, first, second, stream)])
        if not len(refused):
            return values
        accepted = np.ones(count, dtype=bool)
        accepted[refused] = False
        return values[accepted]

    def _decide_special(self, values: Ints, special: Any, first: Any, second: Any, stream: Stream) -> Any:
        """Decide the special places one by one, and return those that are refused."""
        refused = []
        for place in np.flatnonzero(special).tolist():
            drawn = self._decide(int(first[place]), 0 if second is None else int(second[place]), stream)
            if drawn is None:
                refused.append(place)
            else:
                values[place] = drawn
        return np.array(refused, dtype=np.int64)

    @cached_property
    def _vectors(self) -> tuple[Any, Any, Any]:
        """By column, thresholds; by 2 column + (1 if the own cell is taken), values of L = 0 and slopes."""
        cells = np.stack([self.table.alias, np.arange(len(self.table.alias))], axis=1).ravel()
        rows, signs = cells >> 1, cells & 1
        # b = 1 stands for -(G + 1), which is G with all bits turned.
        values = np.where(cells >= self._tails, _TAIL, (rows << self.family.shift) ^ -signs)
        slopes = ((rows << self.family.shift) + signs) * self._slopes[0]
        return np.array(self.table.first_bits, dtype=np.uint32), values, slopes

    def _exponents(self, column: Any, low: Any) -> Any:
        """x, in floats, for cells and L."""
        slope, curvature = self._slopes
        if not curvature:
            return low * slope
        return low * (np.take(self._vectors[2], column, mode="clip") + low * curvature)

    def _parts(self, second: Any) -> tuple[Any, Any]:
        kind = second.dtype.type
        low, drawn = second >> kind(self._accept_bits), second & kind(self._accept_mask)
        # Both have a bit less than the word, and signed integers are turned into floats faster.
        signed = np.int32 if second.dtype.itemsize == 4 else np.int64
        return low.view(signed).astype(np.float64), drawn.view(signed).astype(np.float64)

    def _refused(self, index: Any, second: Any, special: Any, stream: Stream) -> Any:
        """The places that are refused: surely not where u < 1 - x; else by the Taylor polynomial, or exactly."""
        unit = 2.0**-self._accept_bits
        low, uniform = self._parts(second)
        uniform *= unit
        unsure = np.flatnonzero(uniform + self._exponents(index, low) > 1 - unit - _SURE)
        uniform, index = uniform[unsure], index[unsure]
        near = _taylor_exp(self._exponents(index, low[unsure]))
        refused = uniform > near + _NEAR
        open_ = ~refused & (uniform + unit > near - _NEAR) & ~special[unsure]
        for place in np.flatnonzero(open_).tolist():
            corner = self.family.corner(self._cell(int(index[place])))
            refused[place] = self._accepted(corner, int(second[unsure[place]]), stream) is None
        return unsure[refused & ~special[unsure]]

    def _cell(self, index: int) -> int:
        return index >> 1 if index & 1 else self.table.alias[index >> 1]


def _taylor_exp(x: Any) -> Any:
    """exp(-x) for 0 <= x <= 1 to within 1e-10: the remainder after x^12 is at most 1/13!, roundings are below 1e-15."""
    value = np.full_like(x, 1 / 479001600)
    for n in range(11, -1, -1):
        value *= -x
        value += 1 / math.factorial(n)
    return value
