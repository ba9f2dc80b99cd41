"""Dice for trials: the same numbers every time. Nothing that is released, and no proof, depends on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")
_WIDTH = 2**64


class Dice:
    """A counter scrambled by splitmix64 (Steele, Lea and Flood 2014)."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, count: int) -> int:
        """One of 0, ..., count - 1; not exactly as likely as each other, which no trial minds."""
        self.state = (self.state + 0x9E3779B97F4A7C15) % _WIDTH
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % _WIDTH
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % _WIDTH
        return (mixed ^ (mixed >> 31)) * count // _WIDTH

    def between(self, low: int, high: int) -> int:
        """One of low, ..., high."""
        return low + self.below(high - low + 1)

    def chance(self) -> float:
        """A number in [0, 1)."""
        return self.below(2**32) / 2**32

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]
