"""Touch patterns one by one, where there are few: each is converted on its own, and the largest result counts.

A Renyi loss bounds many orders, and different patterns may be worst at different ones. Converted pattern by pattern to
an epsilon, the worst of them is less than what the largest bound at every order converts to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from viameter.neighborhood.changes import Change, Edges, Events, Moved, Records, Rows, Star, exchanged
from viameter.neighborhood.cuts import Cut
from viameter.neighborhood.cuts.given import Opaque, Patterns, Whole
from viameter.neighborhood.cuts.graphs import Induced
from viameter.neighborhood.cuts.overlapping import Memberships
from viameter.neighborhood.cuts.partitions import Partition
from viameter.neighborhood.cuts.rows import ByColumn, ById
from viameter.neighborhood.cuts.times import Intervals

Touches = Mapping[int, Change]


def list_patterns(cut: Cut, edit: Change) -> Iterator[Touches] | None:
    """Every touch pattern of a change, or more than there are; None where there is no short list of them."""
    match cut, edit:
        case Whole(), _:
            return iter([{0: edit}])
        case Opaque(), _:
            return iter([{0: Moved(cut.stability)}])
        case Patterns(), _:
            return iter([{p: Moved(m) for p, m in enumerate(pattern) if m} for pattern in cut.patterns])
        case Induced(), Star() | Edges(count=1):
            return _each(len(cut), edit)
        case ByColumn(columns=None), Rows(cells=1):
            return _each(len(cut), edit)
        case ById(), Rows(rows=1):
            return _each(len(cut), edit)
        case Intervals(), Events(count=1):
            return _stabbed(cut, edit)
        case Partition(blanks=False), Records():
            return _records(cut, edit)
        case Memberships(), Records():
            return _listed(cut, edit)
    return None


def _each(size: int, change: Change) -> Iterator[Touches]:
    return ({part: change} for part in range(size))


def _stabbed(cut: Intervals, change: Change) -> Iterator[Touches]:
    for time in sorted({start for start, _ in cut.spans}):
        yield {part: change for part, (start, end) in enumerate(cut.spans) if start <= time <= end}


def _records(cut: Partition, edit: Records) -> Iterator[Touches] | None:
    if edit.added > 1 or edit.removed > 1:
        return None
    outside: list[frozenset[int]] = [] if cut.covers else [frozenset()]
    return _of_kinds([frozenset({part}) for part in range(len(cut))] + outside, edit, same=cut.values > 1)


def _listed(cut: Memberships, edit: Records) -> Iterator[Touches] | None:
    if edit.added > 1 or edit.removed > 1:
        return None
    return _of_kinds(list(dict.fromkeys(cut.parts)), edit, same=True)


def _of_kinds(kinds: list[frozenset[int]], edit: Records, *, same: bool) -> Iterator[Touches]:
    """Records that come or go, and records replaced by others; of one kind too, if there are several of a kind."""
    come, both = exchanged(1, 0), exchanged(1, 1)
    if not edit.balanced:
        for kind in kinds:
            yield dict.fromkeys(kind, come)
    if edit.both == 1:
        return
    if same:
        for kind in kinds:
            yield dict.fromkeys(kind, both)
    for old, new in combinations(kinds, 2):
        yield {part: both if part in old and part in new else come for part in old | new}
