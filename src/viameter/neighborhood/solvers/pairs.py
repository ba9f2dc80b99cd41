"""The worst pair of kinds of records, where one record is replaced by another, by branch and bound."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from viameter.arith import INFINITY, ZERO, Extended
from viameter.errors import ParameterError
from viameter.neighborhood.solvers.kind_tree import END, Family, KindTree
from viameter.neighborhood.solvers.kinds import flat_kinds, sums_by_kind
from viameter.neighborhood.solvers.worst import Unit, Worst, read_count, read_gains, same_length, whole_array

Whole: TypeAlias = NDArray[np.int64]

MOST_STEPS = 50_000
"""So many pairs of families are looked at in the search."""

MOST_SCANNED = 10**8
"""If the search does not end, all pairs are tried where this many steps are enough for that.

If not, the answer is the bound that the search has by then, and marked as not exact.
"""


def worst_pair(
    kinds: Sequence[frozenset[int]],
    *,
    cross: Sequence[Extended],
    both: Sequence[Extended],
    plural: Sequence[bool],
    pairs: Iterable[tuple[int, int]] | None = None,
) -> Worst:
    """Return the largest cost of a record of kind s that becomes one of kind t; chosen is (s, t).

    Leaf i costs cross[i] if it is in one of the two kinds and both[i] if it is in both. A kind may become itself if it
    is `plural`: there are different records of this kind. `pairs` names the pairs {s, t} that are allowed.

    >>> from fractions import Fraction
    >>> epsilons = [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)]
    >>> bins = [frozenset({0}), frozenset({1}), frozenset({2})]
    >>> worst_pair(bins, cross=epsilons, both=[0, 0, 0], plural=[True] * 3)
    Worst(value=Fraction(4, 5), chosen=(1, 2), exact=True)
    """
    one, two = read_gains(cross, name="cross"), read_gains(both, name="both")
    same_length("cross", one, "both", two)
    same_length("kinds", kinds, "plural", plural)
    leaves, starts = flat_kinds(kinds, len(one))
    if pairs is not None:
        return _among(kinds, one, two, plural, pairs)
    if len(kinds) == 0 or (len(kinds) == 1 and not plural[0]):
        return Worst(ZERO, None)
    members = np.bincount(leaves, minlength=len(one)).tolist()
    infinite = _infinite(kinds, one, two, plural, members)
    if infinite is not None:
        return Worst(INFINITY, infinite)
    # What is infinite now never comes to pass, and neither does what no two kinds can do.
    one = [ZERO if n in (0, len(kinds)) else gain for gain, n in zip(one, members, strict=True)]
    several = {i for s, kind in enumerate(kinds) if plural[s] for i in kind}
    two = [gain if n > 1 or i in several else ZERO for i, (gain, n) in enumerate(zip(two, members, strict=True))]
    found = _Search(leaves, starts, one, two, plural).run()
    if found.chosen is None and len(kinds) ** 2 + sum(n * n for n in members) <= MOST_SCANNED:
        return _scan(leaves, starts, one, two, plural)
    return found


def _scan(leaves: Whole, starts: Whole, one: list[Extended], two: list[Extended], plural: Sequence[bool]) -> Worst:
    # Each kind with all others: what they cost alone, less what they share.
    unit = Unit.of([*one, *two])
    crossed, shared = [unit.count(gain) for gain in one], [unit.count(gain) for gain in two]
    most = 4 * (sum(crossed) + sum(shared)) + 4
    alone = sums_by_kind(whole_array(crossed, most=most), leaves, starts)
    kinds = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    by_leaf = np.split(
        kinds[np.argsort(leaves, kind="stable")], np.cumsum(np.bincount(leaves, minlength=len(one)))[:-1]
    )
    best, chosen = -1, None
    for s in range(len(starts) - 1):
        costs = alone + alone[s]
        for i in leaves[starts[s] : starts[s + 1]].tolist():
            costs[by_leaf[i]] -= 2 * crossed[i] - shared[i]
        if not plural[s]:
            costs[s] = -1
        t = int(np.argmax(costs))
        if costs[t] > best:
            best, chosen = int(costs[t]), (min(s, t), max(s, t))
    return Worst(unit.value(best), chosen, unit.exact)


def _infinite(
    kinds: Sequence[frozenset[int]],
    one: list[Extended],
    two: list[Extended],
    plural: Sequence[bool],
    members: list[int],
) -> tuple[int, int] | None:
    for i, n in enumerate(members):
        if one[i] == INFINITY and 0 < n < len(kinds):
            inside = next(s for s, kind in enumerate(kinds) if i in kind)
            outside = next(s for s, kind in enumerate(kinds) if i not in kind)
            return min(inside, outside), max(inside, outside)
        if two[i] == INFINITY and n:
            having = [s for s, kind in enumerate(kinds) if i in kind]
            if n > 1:
                return having[0], having[1]
            if plural[having[0]]:
                return having[0], having[0]
    return None


def _among(
    kinds: Sequence[frozenset[int]],
    one: list[Extended],
    two: list[Extended],
    plural: Sequence[bool],
    pairs: Iterable[tuple[int, int]],
) -> Worst:
    unit = Unit.of([*one, *two])
    # An infinite gain is more than all finite ones together.
    beyond = 1 + sum(unit.count(gain) for gain in (*one, *two) if not isinstance(gain, float))
    crossed = [beyond if isinstance(gain, float) else unit.count(gain) for gain in one]
    shared = [beyond if isinstance(gain, float) else unit.count(gain) for gain in two]
    less = [2 * alone - together for alone, together in zip(crossed, shared, strict=True)]
    alone = [sum(crossed[i] for i in kind) for kind in kinds]
    best, chosen = -1, None
    for pair in pairs:
        s, t = (read_count(end, name="an end of a pair") for end in pair)
        if max(s, t) >= len(kinds):
            raise ParameterError(f"pairs names kind {max(s, t)}: expected an index below {len(kinds)}")
        if s == t and not plural[s]:
            continue
        value = alone[s] + alone[t] - sum(less[i] for i in kinds[s] & kinds[t])
        if value > best:
            best, chosen = value, (s, t)
    if chosen is None:
        return Worst(ZERO, None)
    return Worst(INFINITY, chosen) if best >= beyond else Worst(unit.value(best), chosen, unit.exact)


class _Search:
    """Best first over pairs of families of kinds: places are decided for both, one after another.

    A pair of families is bounded by what its decided places cost, and by the weights max(cross, both / 2) of all
    further places of its heaviest members; everything is counted twice, so that halves are whole.
    """

    def __init__(
        self,
        leaves: Whole,
        starts: Whole,
        one: list[Extended],
        two: list[Extended],
        plural: Sequence[bool],
    ) -> None:
        self.unit = Unit.of([*one, *two])
        crossed = [2 * self.unit.count(gain) for gain in one]
        shared = [2 * self.unit.count(gain) for gain in two]
        weights = [max(a, b // 2) for a, b in zip(crossed, shared, strict=True)]
        # First what misleads the weights most: far from additive, and in many kinds.
        members = np.bincount(leaves, minlength=len(one)).tolist()
        order = sorted(range(len(one)), key=lambda i: abs(2 * crossed[i] - shared[i]) * members[i], reverse=True)
        place = np.empty(len(one), dtype=np.int64)
        place[order] = np.arange(len(one))
        self.crossed = [crossed[i] for i in order]
        self.shared = [shared[i] for i in order]
        by_place = whole_array([weights[i] for i in order], most=2 * sum(weights))
        self.tree = KindTree(leaves, starts, place=place, weights=by_place)
        self.plural = [bool(plural[s]) for s in self.tree.order]
        self.serial = count(0, -1)
        self.heap: list[tuple[int, int, int, Family, Family]] = []

    def run(self) -> Worst:
        self.push(0, self.tree.root, self.tree.root)
        for _ in range(MOST_STEPS):
            bound, _, cost, left, right = heapq.heappop(self.heap)
            if left.place == right.place == END:
                return Worst(self.unit.value(-bound) / 2, self.members(left, right), self.unit.exact)
            self.expand(cost, left, right)
        return Worst(self.unit.value(-self.heap[0][0]) / 2, None, exact=False)

    def push(self, cost: int, left: Family | None, right: Family | None) -> None:
        if left is None or right is None:
            return
        if left is right and left.last - left.first == 1 and not self.plural[left.first]:
            return
        # Among equal bounds the latest comes first, and so the search goes down.
        entry = (-(cost + left.rest + right.rest), next(self.serial), cost, left, right)
        heapq.heappush(self.heap, entry)

    def expand(self, cost: int, left: Family, right: Family) -> None:
        place = min(left.place, right.place)
        has, lacks = self.tree.split(left) if left.place == place else (None, left)
        if left is right:
            self.push(cost, lacks, lacks)
            self.push(cost + self.crossed[place], has, lacks)
            self.push(cost + self.shared[place], has, has)
            return
        has_too, lacks_too = self.tree.split(right) if right.place == place else (None, right)
        self.push(cost, lacks, lacks_too)
        self.push(cost + self.crossed[place], lacks, has_too)
        self.push(cost + self.crossed[place], has, lacks_too)
        self.push(cost + self.shared[place], has, has_too)

    def members(self, left: Family, right: Family) -> tuple[int, int]:
        # All kinds of a family that has no further place are the same set of leaves.
        first, second = left.first, right.first
        if left is right and not self.plural[first]:
            second += 1
        s, t = self.tree.order[first], self.tree.order[second]
        return min(s, t), max(s, t)
