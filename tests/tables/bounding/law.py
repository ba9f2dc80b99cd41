"""The exact law of what is kept of one unit, from the statement of the procedure: by recursion over all draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

from tests.tables.bounding.reference import Row, reduced

FALSE_ALARM = 1e-9
Kept = frozenset[tuple[Row, int]]
"""Rows, each with how often it is kept."""


def law_of(
    own: Iterable[Row], limits: tuple[int | None, int | None, int | None], blocks: Mapping[Any, int] | None = None
) -> dict[Kept, Fraction]:
    """From what may be kept to its probability.

    A uniform choice of groups; then one row after the other, drawn uniformly of all that are left (of those in the
    least block, if there are blocks, which are known by the first number of a row), and passed over where its group is
    full, until there are enough.
    """
    most, groups, each = reduced(limits)
    rows = Counter(own)
    all_groups = sorted({row.group for row in rows}, key=repr)
    choices = list(combinations(all_groups, min(groups or len(all_groups), len(all_groups))))

    @cache
    def drawn(left: Kept, kept: Kept) -> dict[Kept, Fraction]:
        if not left or (most is not None and sum(n for _, n in kept) == most):
            return {kept: Fraction(1)}
        least = min(blocks[row.content[0]] for row, _ in left) if blocks else None
        block = [(row, n) for row, n in left if blocks is None or blocks[row.content[0]] == least]
        found: dict[Kept, Fraction] = {}
        for row, n in sorted(block, key=repr):
            full = each is not None and sum(m for other, m in kept if other.group == row.group) == each
            then = drawn(_more(left, row, -1), kept if full else _more(kept, row, 1))
            for outcome, chance in then.items():
                share = chance * Fraction(n, sum(m for _, m in block))
                found[outcome] = found.get(outcome, Fraction(0)) + share
        return found

    law: dict[Kept, Fraction] = {}
    for chosen in choices:
        start = frozenset((row, n) for row, n in rows.items() if row.group in chosen)
        for outcome, chance in drawn(start, frozenset()).items():
            law[outcome] = law.get(outcome, Fraction(0)) + chance / len(choices)
    assert sum(law.values()) == 1
    return law


def _more(rows: Kept, row: Row, number: int) -> Kept:
    counts = Counter(dict(rows))
    counts[row] += number
    return frozenset((one, n) for one, n in counts.items() if n)


def assert_follows(seen: Mapping[Any, int], law: Mapping[Any, Fraction]) -> None:
    """How often each outcome was seen is between binomial quantiles that all hold but for a chance of 1e-9."""
    from scipy.stats import binom  # type: ignore[import-untyped]

    assert set(seen) <= set(law), "something was kept that cannot be"
    times, tail = sum(seen.values()), FALSE_ALARM / (2 * len(law))
    for outcome, chance in law.items():
        least, most = binom.ppf(tail, times, float(chance)), binom.isf(tail, times, float(chance))
        assert least <= seen.get(outcome, 0) <= most, (outcome, float(chance) * times, seen.get(outcome, 0))


def kept_by_unit(rows: Iterable[Row]) -> dict[Hashable, Kept]:
    """What is kept of each unit, under one name for all of them."""
    own: dict[Hashable, Counter[Row]] = {}
    for row in rows:
        own.setdefault(row.unit, Counter())[Row(0, row.group, row.content)] += 1
    return {unit: frozenset(counts.items()) for unit, counts in own.items()}
