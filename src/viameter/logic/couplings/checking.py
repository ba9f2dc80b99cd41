"""A check of given witnesses of a coupling: the definition as it stands, without the theory behind the search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from viameter.arith import ZERO, Number, probability, show
from viameter.logic.couplings.powers import ENOUGH_BITS, Power, read_power
from viameter.logic.couplings.reading import (
    STAR,
    Distribution,
    Joint,
    Pair,
    Relation,
    listed,
    read_distribution,
    read_joint,
    read_relation,
)

Kind = Literal["marginal", "support", "distance", "factor", "event"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with witnesses: of what kind, where, and in words.

    The place is ("left", a) or ("right", b) for a marginal, ("left", (a, b)) or ("right", (a, b)) for a support, and
    for a distance the frozenset of the pairs on which mu_L is too large.
    """

    kind: Kind
    place: Any
    text: str

    def __str__(self) -> str:
        return self.text


def check_coupling(
    mu1: Mapping[Any, Number],
    mu2: Mapping[Any, Number],
    left: Mapping[Pair, Number],
    right: Mapping[Pair, Number],
    *,
    relation: Relation,
    epsilon: Number | None = None,
    factor: Number | None = None,
    delta: Number,
    star: bool = False,
) -> list[Fault]:
    """What is wrong with two witnesses of an R-(epsilon, delta)-coupling; nothing, if they are right.

    The answer is exact, for an epsilon as for a factor e**epsilon. That the witnesses are distributions of sum 1
    follows from their marginals. What is no number, or no distribution mu1 or mu2, is refused with an error.

    Why it ends for an epsilon: D(f) = sum of max(0, mu_L - f mu_R) decreases in f, in finitely many linear pieces that
    meet at rationals. At the irrational f = e**epsilon, D is delta only on a piece that is constant: else D of a bound
    of f is on the same side of delta once the bound is near enough.

    >>> fair, biased = {"h": "1/2", "t": "1/2"}, {"h": "1/4", "t": "3/4"}
    >>> joint = {("h", "h"): "1/2", ("t", "t"): "1/2"}, {("h", "h"): "1/4", ("t", "t"): "3/4"}
    >>> same = {("h", "h"), ("t", "t")}
    >>> check_coupling(fair, biased, *joint, relation=same, factor=2, delta=0)
    []
    >>> for fault in check_coupling(fair, biased, *joint, relation={("h", "h")}, factor="3/2", delta=0):
    ...     print(fault)
    left puts 1/2 on ('t', 't'), which is not in the relation
    right puts 3/4 on ('t', 't'), which is not in the relation
    the distance of left from right is 1/8, more than delta = 0: left is too large on {('h', 'h')}
    """
    first, second = read_distribution(mu1, name="mu1"), read_distribution(mu2, name="mu2")
    one, other = read_joint(left, name="left"), read_joint(right, name="right")
    holds = read_relation(relation, first, second)
    power = read_power(epsilon=epsilon, factor=factor)
    allowed = probability(delta, name="delta")
    # Equal values need not look alike, as 1 and True: the relation is asked about those of mu1 and mu2.
    above, below = {a: a for a in first}, {b: b for b in second}
    faults = [*_wrong_marginals(one, first, 0), *_wrong_marginals(other, second, 1)]
    for name, joint, starred in (("left", one, 1), ("right", other, 0)):
        for pair, p in joint.items():
            kept = [end in mu for end, mu in zip(pair, (first, second), strict=True)]
            if star and kept[1 - starred] and pair[starred] is STAR:
                continue
            if not all(kept):
                why = "which is not a pair of values of mu1 and mu2"
            elif not holds(above[pair[0]], below[pair[1]]):
                why = "which is not in the relation"
            else:
                continue
            faults.append(Fault("support", (name, pair), f"{name} puts {show(p)} on {pair!r}, {why}"))
    return [*faults, *_too_far(one, other, power, allowed)]


def distance(left: Joint, right: Joint, factor: Fraction) -> tuple[Fraction, frozenset[Pair]]:
    """The largest left(E) - factor * right(E) over all events E, and the least E that attains it."""
    excess = {pair: p - factor * right.get(pair, ZERO) for pair, p in left.items()}
    event = frozenset(pair for pair, more in excess.items() if more > 0)
    return sum((excess[pair] for pair in event), ZERO), event


def _wrong_marginals(joint: Joint, mu: Distribution, side: int) -> Iterator[Fault]:
    sums: dict[Any, Fraction] = defaultdict(Fraction)
    for pair, p in joint.items():
        sums[pair[side]] += p
    name, own = ("left", "mu1") if side == 0 else ("right", "mu2")
    for value in {**mu, **sums}:
        found, expected = sums.get(value, ZERO), mu.get(value, ZERO)
        if found != expected:
            text = f"the marginal of {name} at {value!r} is {show(found)}, but {own} has {show(expected)}"
            yield Fault("marginal", (name, value), text)


def _too_far(left: Joint, right: Joint, power: Power, delta: Fraction) -> Iterator[Fault]:
    # From the largest ratio on, only the pairs on which right is 0 count.
    cap = max([Fraction(1), *(p / right[pair] for pair, p in left.items() if pair in right)])
    bits = ENOUGH_BITS
    while True:
        low, high = power.bounds(bits=bits, cap=cap)
        if distance(left, right, low)[0] <= delta:
            return
        far, event = distance(left, right, high)
        if far > delta:
            break
        bits *= 2
    amount = show(far) if low == high else f"about {show(far).removeprefix('<=')}"
    where = "{" + listed(repr(pair) for pair in left if pair in event) + "}"
    text = f"the distance of left from right is {amount}, more than delta = {show(delta)}: left is too large on {where}"
    yield Fault("distance", event, text)
