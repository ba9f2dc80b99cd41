"""Random small instances for the solvers, and sums that know infinity; nothing here is shared with the library."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from fractions import Fraction

INFINITY = math.inf


def plus(gains: Iterable[Fraction | float]) -> Fraction | float:
    """Add fractions and infinities."""
    terms = list(gains)
    return INFINITY if INFINITY in terms else sum(terms, Fraction(0))


def seeds(name: str, count: int) -> Iterator[random.Random]:
    """Give generators of random instances, the same ones at every run."""
    for n in range(count):
        yield random.Random(f"{name} {n}")


def gain(rng: random.Random, *, infinite: float = 0.0) -> Fraction | float:
    """Draw a gain: often zero or tied, sometimes infinite."""
    if rng.random() < infinite:
        return INFINITY
    return Fraction(rng.choice((0, 1, 1, 2, 3, 5, rng.randrange(20))), rng.choice((1, 1, 2, 3, 10, 7)))


def gains(rng: random.Random, count: int, *, infinite: float = 0.0) -> list[Fraction | float]:
    """Draw several gains; infinite ones are in some instances only."""
    share = infinite if rng.random() < 0.3 else 0.0
    return [gain(rng, infinite=share) for _ in range(count)]


def row(rng: random.Random, most: int, *, infinite: float = 0.0) -> list[Fraction | float]:
    """Draw what amounts 0, 1, ... cost: convex, concave, linear, constant, with an end, or anything."""
    amounts = range(rng.randrange(most + 1) + 1)
    unit = Fraction(rng.randrange(1, 6), rng.choice((2, 3, 10)))
    shapes: list[list[Fraction | float]] = [
        [unit * m * m for m in amounts],
        [unit * m for m in amounts],
        [unit * min(m, 2) for m in amounts],
        [unit * (10 * m - m * m) / 10 for m in amounts],
        [Fraction(0), *(gain(rng, infinite=infinite) for _ in amounts[1:])],
    ]
    return rng.choice(shapes)
