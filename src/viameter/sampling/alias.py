"""Alias tables whose thresholds are real numbers, known to as many bits as a draw needs.

A table over n cells of weights w_1..w_n has K columns. Column i holds cell i up to a threshold t_i and another cell,
its alias, above it. A word of random bits picks a column by its upper bits; its lower bits are the first bits of a
uniform number u, which picks the cell by u < t_i. The cells then come out with probability exactly w_i / sum(w),
since

    K w_v / sum(w) = t_v + sum of (1 - t_i) over the columns i whose alias is v.

Which alias a column has is settled once (Vose's method). Given that, the thresholds are the solution of these
equations, a real number each, and are enclosed to any number of bits by starting from enclosures of the weights. A
word whose lower bits are not the first bits of its threshold decides. The others, one in 2^(number of lower bits),
take further bits, which are appended to u, until a finer enclosure of the threshold lies on one side of it. No float
is involved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from viameter.sampling.entropy import Stream

Interval: TypeAlias = tuple[int, int]
Weights: TypeAlias = Callable[[int], list[Interval]]
"""From a number of bits p to an enclosure of each weight, in units of 2^-p. More bits give narrower ones."""

FIRST_BITS = 128


@dataclass(frozen=True, slots=True)
class AliasTable:
    """Columns with an own cell, an alias and the first bits of a threshold."""

    weights: Weights
    column_bits: int
    fraction_bits: int
    alias: list[int]
    order: list[int]
    """Columns in the order in which their thresholds are solved for: a column comes after those it is the alias of."""
    first_bits: list[int]
    """floor(t_i 2^fraction_bits): an own cell below it, the alias above it, more bits needed at it."""

    @classmethod
    def build(cls, weights: Weights, *, column_bits: int, fraction_bits: int) -> AliasTable:
        """Settle the aliases and the first bits of the thresholds, with as many bits of the weights as that takes."""
        bits = FIRST_BITS
        while True:
            settled = _settle(weights(bits), 1 << column_bits)
            if settled is not None:
                alias, order, thresholds, total = settled
                lows = [(low << fraction_bits) // total[1] for low, _ in thresholds]
                highs = [(high << fraction_bits) // total[0] for _, high in thresholds]
                # The last column of the order has no alias: its threshold is 1, exactly.
                lows[order[-1]] = highs[order[-1]] = 1 << fraction_bits
                if lows == highs:
                    return cls(weights, column_bits, fraction_bits, alias, order, lows)
            bits *= 2

    def decide(self, column: int, fraction: int, stream: Stream) -> int:
        """The cell for a word, taking as many further bits as it needs."""
        if fraction != self.first_bits[column]:
            return column if fraction < self.first_bits[column] else self.alias[column]
        drawn, width, columns = fraction, self.fraction_bits, 1 << self.column_bits
        while True:
            drawn, width = drawn << 64 | stream.bits(64), width + 64
            # u is in [drawn, drawn + 1] 2^-width.
            thresholds, total = _solve(self.weights(width + FIRST_BITS), columns, self.alias, self.order)
            low, high = thresholds[column]
            if (drawn + 1) * total[1] <= low << width:
                return column
            if drawn * total[0] >= high << width:
                return self.alias[column]

    def arrays(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]:
        """For vectorized draws: the first bits by column; and cells by 2 column + (1 if the own cell is taken)."""
        own = np.arange(len(self.alias), dtype=np.int32)
        cells = np.stack([np.array(self.alias, dtype=np.int32), own], axis=1).ravel()
        return np.array(self.first_bits, dtype=np.uint32), cells


def _settle(weights: list[Interval], columns: int) -> tuple[list[int], list[int], list[Interval], Interval] | None:
    """Vose's method on enclosures: aliases, their order, thresholds and total; None where the enclosures are too wide.

    A column that takes is proved to be less than full, and one that gives to be more than full, before each step. So
    every threshold is in [0, 1]. The last column is full since all the weight is in some column.
    """
    total_low, total_high = sum(low for low, _ in weights), sum(high for _, high in weights)
    empty = columns - len(weights)
    lows = [columns * low for low, _ in weights] + [0] * empty
    highs = [columns * high for _, high in weights] + [0] * empty
    small = [column for column in range(columns) if highs[column] < total_low]
    large = [column for column in range(columns) if lows[column] > total_high]
    if len(small) + len(large) < columns:
        return None
    alias, order = list(range(columns)), []
    while small:
        taker, giver = small.pop(), large[-1]
        alias[taker] = giver
        order.append(taker)
        lows[giver] -= total_high - lows[taker]
        highs[giver] -= total_low - highs[taker]
        if highs[giver] < total_low:
            small.append(large.pop())
        elif lows[giver] <= total_high and len(order) < columns - 1:
            return None
    order += large
    return (alias, order, list(zip(lows, highs, strict=True)), (total_low, total_high)) if len(large) == 1 else None


def _solve(
    weights: list[Interval], columns: int, alias: list[int], order: list[int]
) -> tuple[list[Interval], Interval]:
    """Enclosures of t_i sum(w), and of sum(w)."""
    total_low, total_high = sum(low for low, _ in weights), sum(high for _, high in weights)
    empty = columns - len(weights)
    lows = [columns * low for low, _ in weights] + [0] * empty
    highs = [columns * high for _, high in weights] + [0] * empty
    for column in order[:-1]:
        giver = alias[column]
        lows[giver] -= total_high - lows[column]
        highs[giver] -= total_low - highs[column]
    return list(zip(lows, highs, strict=True)), (total_low, total_high)
