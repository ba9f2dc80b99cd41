"""Conditions C1 and C2: when mechanisms on disjoint parts cost no more than the dearest of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import INFINITY, Extended
from viameter.errors import NoTheorem
from viameter.neighborhood.arrangement import Pattern, sum_of
from viameter.neighborhood.changes import Change
from viameter.neighborhood.cuts import Cut, Touched
from viameter.neighborhood.granularities import Granularity
from viameter.neighborhood.witness import Seen, Witness


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a condition holds; None where it is not known. `pair` shows two neighbors for which it does not."""

    holds: bool | None
    reason: str
    pair: Witness | None = None


def check_c1(granularity: Granularity, cuts: Sequence[Cut]) -> Check:
    """Condition C1: neighbors differ in at most one part."""
    try:
        worst = _most(granularity, cuts, lambda _: 1)
    except NoTheorem:
        return Check(None, "how several steps at once touch the parts is not known")
    if worst.value <= 1:
        return Check(True, "neighbors differ in at most one of the parts")
    if not all(touched.exact for touched in worst.touched):
        return Check(None, f"neighbors differ in at most {worst.value} parts; whether in more than one is not known")
    reason = f"there are neighbors that differ in {worst.value} of the parts"
    return Check(False, reason, _pair(granularity, cuts, worst))


def check_c2(granularity: Granularity, cuts: Sequence[Cut]) -> Check:
    """Condition C2: each part of two neighbors is at most one step apart, on its own data."""
    try:
        worst = _most(granularity, cuts, lambda change: int(granularity.distance(change) > 1))
    except NoTheorem:
        return Check(None, "how several steps at once touch the parts is not known")
    if worst.value == 0:
        return Check(True, "each part of two neighbors is at most one step apart")
    if not all(touched.exact for touched in worst.touched):
        return Check(None, "whether a part of two neighbors can be more than one step apart is not known")
    pair = _pair(granularity, cuts, worst)
    most = max(seen.steps for seen in pair.parts.values())
    far = "infinitely many steps" if most == INFINITY else f"{most} steps"
    return Check(False, f"there are neighbors with a part {far} apart", pair)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Parts that count for a change, as what solvers add up."""

    size: int
    count: Callable[[Change], int]

    def of(self, part: int, change: Change) -> Extended:
        return Fraction(self.count(change))

    def column(self, change: Change) -> list[Extended]:
        return [self.of(0, change)] * self.size


def _most(granularity: Granularity, cuts: Sequence[Cut], count: Callable[[Change], int]) -> Pattern:
    patterns = []
    for edit in granularity.edits:
        touched = tuple(cut.worst(edit, _Counts(len(cut), count)) for cut in cuts)
        patterns.append(Pattern(sum_of(one.value for one in touched), edit, touched))
    return max(patterns, key=lambda pattern: pattern.value)


def _pair(granularity: Granularity, cuts: Sequence[Cut], pattern: Pattern) -> Witness:
    parts: dict[str, Seen] = {}
    for cut, touched in zip(cuts, pattern.touched, strict=True):
        for part, change in touched.changes.items():
            parts[unused(cut.label(part), parts)] = seen(touched, part, granularity.distance(change), granularity)
    shown = next((one for one in pattern.touched if one.before is not None), pattern.touched[0])
    return Witness(shown.before, shown.after, parts, attained=True)


def unused(label: str, taken: Mapping[str, object]) -> str:
    """The label, or another like it if it is taken: parts of two cuts may be called the same."""
    number = 2
    name = label
    while name in taken:
        name = f"{label} ({number})"
        number += 1
    return name


def seen(touched: Touched, part: int, steps: Extended | int, granularity: Granularity | None) -> Seen:
    """What a part sees of the two datasets that show a pattern."""
    name = "" if granularity is None else repr(granularity)
    if touched.image is None:
        return Seen(None, None, steps, name)
    return Seen(touched.image(part, touched.before), touched.image(part, touched.after), steps, name)
