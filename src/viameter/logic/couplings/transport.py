"""The flow problem behind a coupling: how much of mu1 can be sent to related values of factor * mu2."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import ZERO, Number, show
from viameter.logic.couplings.flow import greatest_flow
from viameter.logic.couplings.reading import STAR, Joint, Pair, Relation, listed, read_distribution, related_pairs


@dataclass(frozen=True, slots=True)
class Solution:
    """A greatest flow for one factor, and the event S of a least cut."""

    factor: Fraction
    sent: Mapping[Pair, Fraction]
    event: frozenset[Any]
    own: Fraction
    """mu1(S)"""
    image: Fraction
    """mu2(R(S))"""

    @property
    def delta(self) -> Fraction:
        """What is not sent."""
        return self.gap_at(self.factor)

    def gap_at(self, factor: Fraction) -> Fraction:
        """The line of this event: mu1(S) - factor mu2(R(S)), nowhere more than the least delta."""
        return self.own - factor * self.image

    def shown(self) -> str:
        """The event as text."""
        return "{" + listed(sorted(map(repr, self.event))) + "}"


class Transport:
    """Two distributions and the pairs of values that are related, and greatest flows for any factor."""

    __slots__ = ("_above", "_below", "_partners", "mu1", "mu2", "relation")

    def __init__(self, mu1: Mapping[Any, Number], mu2: Mapping[Any, Number], *, relation: Relation) -> None:
        self.mu1 = read_distribution(mu1, name="mu1")
        self.mu2 = read_distribution(mu2, name="mu2")
        self.relation = related_pairs(relation, self.mu1, self.mu2)
        self._above, self._below = list(self.mu1), list(self.mu2)
        rows = {a: i for i, a in enumerate(self._above)}
        columns = {b: j for j, b in enumerate(self._below)}
        self._partners: list[list[int]] = [[] for _ in self._above]
        for a, b in self.relation:
            self._partners[rows[a]].append(columns[b])
        for ends in self._partners:
            ends.sort()

    @property
    def largest_factor(self) -> Fraction:
        """From this factor on every value with a probability takes all that comes, and delta does not change."""
        return 1 / min(p for p in self.mu2.values() if p)

    def without_partner(self) -> str:
        """Which values of positive probability are related to none, in words; empty if there are none such."""
        ends = ({a for a, _ in self.relation}, {b for _, b in self.relation})
        texts = [
            f"{value!r} has probability {show(p)} in {name} and no partner"
            for mu, partnered, name in ((self.mu1, ends[0], "mu1"), (self.mu2, ends[1], "mu2"))
            for value, p in mu.items()
            if p and value not in partnered
        ]
        return listed(texts)

    def at(self, factor: Fraction) -> Solution:
        """A greatest flow at this factor, in integers: all amounts have a common denominator."""
        demand = [factor * self.mu2[b] for b in self._below]
        unit = math.lcm(*(p.denominator for p in (*self.mu1.values(), *demand)))
        flow, kept = greatest_flow(
            [int(self.mu1[a] * unit) for a in self._above], [int(p * unit) for p in demand], self._partners
        )
        images = {j for i in kept for j in self._partners[i]}
        return Solution(
            factor=factor,
            sent={(self._above[i], self._below[j]): Fraction(amount, unit) for (i, j), amount in flow.items()},
            event=frozenset(self._above[i] for i in kept),
            own=sum((self.mu1[self._above[i]] for i in kept), ZERO),
            image=sum((self.mu2[self._below[j]] for j in images), ZERO),
        )

    def witnesses(self, solution: Solution) -> tuple[Joint, Joint]:
        """The witnesses of the proof: the flow, and what is left of each value on one of its pairs, or on the star."""
        sent = solution.sent
        left = dict(sent)
        right = {pair: amount / solution.factor for pair, amount in sent.items()}
        # Where most is sent already, so that the tables have few entries.
        row_pair: dict[Any, Pair] = {}
        column_pair: dict[Any, Pair] = {}
        for i, a in enumerate(self._above):
            for j in self._partners[i]:
                pair = (a, self._below[j])
                for best, end in ((row_pair, pair[0]), (column_pair, pair[1])):
                    if end not in best or sent.get(pair, ZERO) > sent.get(best[end], ZERO):
                        best[end] = pair
        given, taken = dict(self.mu1), dict(self.mu2)
        for (a, b), amount in sent.items():
            given[a] -= amount
            taken[b] -= right[a, b]
        for a, rest in given.items():
            pair = row_pair.get(a, (a, STAR))
            left[pair] = left.get(pair, ZERO) + rest
        for b, rest in taken.items():
            pair = column_pair.get(b, (STAR, b))
            right[pair] = right.get(pair, ZERO) + rest
        return left, right
