"""Mechanisms that attain the exact answer of pure composition, and random private ones that never exceed it.

The first kind: with (D, E) the worst pair, leaf i says 0 with probability exp(-L(y, f_i(D))) / 2 and 1 otherwise, where
L(y, z) is the least loss that its law allows between y and z. L is a pseudometric, so that the logarithm of the first
probability never moves more than L does; nor does that of the second, since the first is at most 1/2. The transcript
of zeros then has a log-ratio of exactly the sum of L_i(f_i(E), f_i(D)) between D and E.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

from viameter.arith import INFINITY, ZERO, Extended, dyadic
from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError
from viameter.measures import PureDP
from viameter.neighborhood.finite.exact import FiniteLeaf, LeafCosts, exact_worst
from viameter.neighborhood.finite.laws import loss_at
from viameter.neighborhood.finite.pseudometric import plus
from viameter.neighborhood.finite.quotient import LeastLoss
from viameter.neighborhood.finite.space import PrivacySpace

_MOST_BITS = 4096


@dataclass(frozen=True, slots=True)
class ZeroOne:
    """A mechanism that says 0 with probability exp(-exponent) / 2, and 1 otherwise; exponents by image."""

    exponents: Mapping[Any, Extended]

    def log_ratio_of_zero(self, one: Any, other: Any) -> Extended:
        """ln P(0 | one) - ln P(0 | other), exactly; infinite if 0 is possible for the first only (negative: other)."""
        near, far = self.exponents[one], self.exponents[other]
        if near == far:
            return ZERO
        if INFINITY in (near, far):
            return INFINITY if far == INFINITY else -INFINITY
        return Fraction(far) - Fraction(near)

    def keeps(self, one: Any, other: Any, bound: Extended) -> bool:
        """Whether both outcomes have log-ratios of at most `bound`, either way; a doubt counts against it."""
        if bound == INFINITY or self.exponents[one] == self.exponents[other]:
            return True
        low, high = sorted((self.exponents[one], self.exponents[other]))
        if high == INFINITY or Fraction(high) - Fraction(low) > bound:
            return False
        return _one_keeps(Fraction(low), Fraction(high), Fraction(bound))


@dataclass(frozen=True, slots=True)
class Attained:
    """What the constructed mechanisms attain: `tight` says that each is private and that together they lose it all."""

    mechanisms: tuple[ZeroOne, ...]
    private: tuple[bool, ...]
    log_ratio: Extended
    promised: Loss
    tight: bool


def attain(space: PrivacySpace, leaves: Sequence[FiniteLeaf]) -> Attained:
    """Build the mechanisms for the worst pair of `exact_worst`, check that they are private, and take the log-ratio.

    On a metric space the log-ratio is divided by the distance of the pair.
    """
    answer = exact_worst(space, leaves)
    if answer.loss.measure != PureDP:
        raise NoTheorem(f"the construction is for pure losses, not for {answer.loss!r}")
    if not answer.maximal:
        raise ParameterError("the class has no neighbors: expected at least one pair")
    mechanisms, private = [], []
    log_ratio: Extended = ZERO
    for leaf, (before, after) in zip(leaves, answer.images, strict=True):
        base = LeafCosts(space, leaf).space
        function = leaf.map if leaf.mode == "common" else _itself
        least = LeastLoss(base, function, leaf.law)
        mechanism = ZeroOne({image: _epsilon(least.between(image, before)) for image in least.quotient.members})
        mechanisms.append(mechanism)
        private.append(_keeps_its_law(mechanism, base, function, leaf))
        log_ratio = plus(log_ratio, mechanism.log_ratio_of_zero(before, after))
    if space.is_metric and log_ratio not in (0, INFINITY):
        far = space.distance(answer.before, answer.after)
        log_ratio = INFINITY if far == 0 else log_ratio / Fraction(far)
    tight = all(private) and log_ratio == _epsilon(answer.loss)
    return Attained(tuple(mechanisms), tuple(private), log_ratio, answer.loss, tight)


def random_private_table(
    members: Sequence[Any], distance: Callable[[Any, Any], Extended], *, random: Random, outcomes: int = 2
) -> dict[Any, dict[int, Fraction]]:
    """A random mechanism that is d-private for this pseudometric, with exact probabilities.

    Random weights are raised until their logarithms move no faster than d (or, for more than two outcomes, than d / 2,
    since dividing by their sum moves them once more).
    """
    rows = {one: {other: distance(one, other) for other in members} for one in members}
    finite = [Fraction(far) for row in rows.values() for far in row.values() if far != INFINITY]
    unit = Fraction(1, math.lcm(*(far.denominator for far in finite)))
    base = dyadic.exp_down(unit if outcomes == 2 else unit / 2, bits=24)

    def raised() -> dict[Any, Fraction]:
        weights = {member: Fraction(1, 2 ** random.randint(0, 12)) for member in members}
        return {
            one: max(weights[other] / base ** int(far / unit) for other, far in row.items() if far != INFINITY)
            for one, row in rows.items()
        }

    if outcomes == 2:
        halves = raised()
        return {member: {0: halves[member] / 2, 1: 1 - halves[member] / 2} for member in members}
    drawn = [raised() for _ in range(outcomes)]
    sums = {member: sum(weights[member] for weights in drawn) for member in members}
    return {member: {o: weights[member] / sums[member] for o, weights in enumerate(drawn)} for member in members}


def _keeps_its_law(mechanism: ZeroOne, base: PrivacySpace, function: Callable[[Any], Any], leaf: FiniteLeaf) -> bool:
    return all(
        mechanism.keeps(function(one), function(other), _epsilon(loss_at(leaf.law, base.distance(one, other))))
        for one, other in combinations(base.members, 2)
    )


@functools.lru_cache(maxsize=1024)
def _one_keeps(near: Fraction, far: Fraction, bound: Fraction) -> bool:
    """Whether the outcome 1 has a log-ratio of at most `bound` between these exponents; False if it stays in doubt."""
    bits = dyadic.BITS
    while bits <= _MOST_BITS:
        rarer = 1 - dyadic.exp_up(-near, bits=bits) / 2
        if rarer > 0 and dyadic.log_up((1 - dyadic.exp_down(-far, bits=bits) / 2) / rarer, bits=bits) <= bound:
            return True
        bits *= 2
    return False


def _itself(member: Any) -> Any:
    return member


def _epsilon(loss: Loss) -> Extended:
    epsilon: Extended = getattr(loss, "epsilon", INFINITY)
    return epsilon
