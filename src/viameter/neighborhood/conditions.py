"""Conditions C1 and C2: when mechanisms on disjoint parts cost no more than the dearest of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import INFINITY, Extended
from viameter.errors import NoTheorem
from viameter.neighborhood.arrangement import Pattern, steps_of, sum_of
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
    return _check(
        granularity,
        cuts,
        lambda _: 1,
        most=1,
        holds="neighbors differ in at most one of the parts",
        unknown="whether neighbors can differ in more than one part is not known",
        fails=lambda worst, _: f"there are neighbors that differ in {worst.value} of the parts",
    )


def check_c2(granularity: Granularity, cuts: Sequence[Cut]) -> Check:
    """Condition C2: each part of two neighbors is at most one step apart, on its own data."""

    def fails(_: Pattern, pair: Witness) -> str:
        most = max(seen.steps for seen in pair.parts.values())
        far = "infinitely many steps" if most == INFINITY else f"{most} steps"
        return f"there are neighbors with a part {far} apart"

    return _check(
        granularity,
        cuts,
        lambda change: int(steps_of(granularity, change) > 1),
        sure=lambda change: steps_of(granularity, change) > 1 and granularity.is_exact(change),
        most=0,
        holds="each part of two neighbors is at most one step apart",
        unknown="whether a part of two neighbors can be more than one step apart is not known",
        fails=fails,
    )


def _check(
    granularity: Granularity,
    cuts: Sequence[Cut],
    count: Callable[[Change], int],
    *,
    most: int,
    sure: Callable[[Change], bool] = lambda _: True,
    holds: str,
    unknown: str,
    fails: Callable[[Pattern, Witness], str],
) -> Check:
    """Whether no neighbors have more parts that count; parts of two cuts need not be touched by the same neighbors."""
    try:
        each = [(cut, _most(granularity, cut, count)) for cut in cuts]
    except NoTheorem:
        return Check(None, "how several steps at once touch the parts is not known")
    if sum_of(worst.value for _, worst in each) <= most:
        return Check(True, holds)
    for cut, worst in each:
        (touched,) = worst.touched
        if worst.value > most and touched.exact and any(map(sure, touched.changes.values())):
            pair = _pair(granularity, cut, worst)
            return Check(False, fails(worst, pair), pair)
    return Check(None, unknown)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Parts that count for a change, as what solvers add up."""

    size: int
    count: Callable[[Change], int]

    def of(self, part: int, change: Change) -> Extended:
        return Fraction(self.count(change))

    def column(self, change: Change) -> list[Extended]:
        return [self.of(0, change)] * self.size


def _most(granularity: Granularity, cut: Cut, count: Callable[[Change], int]) -> Pattern:
    patterns = []
    for edit in granularity.edits:
        touched = cut.worst(edit, _Counts(len(cut), count))
        patterns.append(Pattern(touched.value, edit, (touched,)))
    return max(patterns, key=lambda pattern: pattern.value)


def _pair(granularity: Granularity, cut: Cut, pattern: Pattern) -> Witness:
    (touched,) = pattern.touched
    parts: dict[str, Seen] = {}
    for part, change in touched.changes.items():
        parts[unused(cut.label(part), parts)] = seen(touched, part, steps_of(granularity, change), granularity)
    return Witness(touched.before, touched.after, parts, attained=True)


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
