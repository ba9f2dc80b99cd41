"""Random distributions and relations, and naive answers that share no code with the library."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, combinations
from math import factorial, inf
from operator import eq, le
from random import Random
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import linprog  # type: ignore[import-untyped]

Mu: TypeAlias = dict[Any, Fraction]
Holds: TypeAlias = Callable[[Any, Any], bool]


def near(a: int, b: int) -> bool:
    return abs(a - b) <= 1


def never(a: object, b: object) -> bool:
    return False


def always(a: object, b: object) -> bool:
    return True


def distribution(random: Random, size: int, *, denominator: int = 12) -> Mu:
    """Of sum 1; zeros do occur."""
    cuts = sorted(random.randint(0, denominator) for _ in range(size - 1))
    ends = [0, *cuts, denominator]
    return {value: Fraction(ends[value + 1] - ends[value], denominator) for value in range(size)}


def instances(seed: int, count: int, *, most: int = 5) -> Iterator[tuple[Mu, Mu, Holds, Random]]:
    """Distributions on 0, 1, ... with equality, <=, nearness, or any relation, with rows that may be empty."""
    random = Random(seed)
    for _ in range(count):
        sizes = random.randint(1, most), random.randint(1, most)
        density = random.choice([0.0, 0.2, 0.5, 0.8, 1.0])
        members = {(a, b) for a in range(sizes[0]) for b in range(sizes[1]) if random.random() < density}
        relation = random.choice([eq, le, near, _among(members)])
        denominators = random.choice([4, 12, 60]), random.choice([4, 12, 35])
        mu1, mu2 = (distribution(random, n, denominator=d) for n, d in zip(sizes, denominators, strict=True))
        yield mu1, mu2, relation, random


def _among(pairs: set[tuple[int, int]]) -> Holds:
    return lambda a, b: (a, b) in pairs


def all_have_partners(mu1: Mu, mu2: Mu, holds: Holds) -> bool:
    rows = all(p == 0 or any(holds(a, b) for b in mu2) for a, p in mu1.items())
    return rows and all(p == 0 or any(holds(a, b) for a in mu1) for b, p in mu2.items())


def events(mu1: Mu, mu2: Mu, holds: Holds) -> Iterator[tuple[Fraction, Fraction]]:
    """mu1(S) and mu2(R(S)) of every subset S."""
    for event in chain.from_iterable(combinations(mu1, size) for size in range(len(mu1) + 1)):
        own = sum((mu1[a] for a in event), Fraction(0))
        yield own, sum((p for b, p in mu2.items() if any(holds(a, b) for a in event)), Fraction(0))


def strassen_delta(mu1: Mu, mu2: Mu, holds: Holds, factor: Fraction) -> Fraction:
    """The least delta with mu1(S) <= factor mu2(R(S)) + delta for every S."""
    return max(own - factor * image for own, image in events(mu1, mu2, holds))


def strassen_factor(mu1: Mu, mu2: Mu, holds: Holds, delta: Fraction) -> Fraction | float:
    """The least factor >= 1 with mu1(S) <= factor mu2(R(S)) + delta for every S."""
    above = [(own - delta, image) for own, image in events(mu1, mu2, holds) if own > delta]
    if any(image == 0 for _, image in above):
        return inf
    return max([Fraction(1), *(more / image for more, image in above)])


def program_delta(mu1: Mu, mu2: Mu, holds: Holds, factor: float, *, star: bool = False) -> float:
    """The least delta by the definition, as a linear program in floats; infinite if there are no witnesses."""
    both = [(a, b) for a in mu1 for b in mu2 if holds(a, b)]
    left = both + [(a, "star") for a in mu1 if star]
    right = both + [("star", b) for b in mu2 if star]
    excess = list(dict.fromkeys(left + right))
    names: list[Any] = [*(("L", p) for p in left), *(("R", p) for p in right), *(("T", p) for p in excess)]
    column = {name: place for place, name in enumerate(names)}
    if not names:
        return inf
    equal = np.zeros((len(mu1) + len(mu2), len(names)))
    for row, a in enumerate(mu1):
        for pair in left:
            equal[row, column["L", pair]] = pair[0] == a
    for row, b in enumerate(mu2, start=len(mu1)):
        for pair in right:
            equal[row, column["R", pair]] = pair[1] == b
    upper = np.zeros((len(excess), len(names)))
    for row, pair in enumerate(excess):
        upper[row, column["T", pair]] = -1
        if ("L", pair) in column:
            upper[row, column["L", pair]] = 1
        if ("R", pair) in column:
            upper[row, column["R", pair]] = -factor
    cost = np.array([float(name[0] == "T") for name in names])
    margins = [float(p) for p in (*mu1.values(), *mu2.values())]
    answer = linprog(cost, A_ub=upper, b_ub=np.zeros(len(excess)), A_eq=equal, b_eq=margins, bounds=(0, None))
    assert answer.status in (0, 2)
    return float(answer.fun) if answer.status == 0 else inf


def power_of_e(exponent: Fraction, *, terms: int = 60) -> tuple[Fraction, Fraction]:
    """Bounds of e**exponent for 0 <= exponent <= 2, by its series; they are less than 1e-60 apart."""
    low = sum((exponent**n / factorial(n) for n in range(terms)), Fraction(0))
    return low, low + 2 * exponent**terms / factorial(terms)
