"""What is kept of each unit, in plain Python: the rule of the portable order, written from its statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import md5
from typing import Any, NamedTuple

Value = str | int | None


class Row(NamedTuple):
    """A row of a unit: its group, and what is added up of it."""

    unit: str | int
    group: tuple[Value, ...]
    content: tuple[int | None, ...] = ()
    first: Any = None
    """Where rows are kept that come first by a column: its value."""


def portable(parts: Sequence[Value], salt: str) -> str:
    """MD5 of salt, a bar and the parts: n; i, digits, semicolon; t, length, colon, text."""
    text = f"{salt}|"
    for part in parts:
        text += "n" if part is None else f"i{part};" if isinstance(part, int) else f"t{len(part)}:{part}"
    return md5(text.encode(), usedforsecurity=False).hexdigest()


Digest = Callable[[Sequence[Value], str], Any]


def kept(
    rows: Iterable[Row],
    limits: tuple[int | None, int | None, int | None],
    salt: str,
    digest: Digest = portable,
) -> list[Row]:
    """The kept rows of all units; limits are (rows, groups, per_group)."""
    of_unit: dict[str | int, list[Row]] = {}
    for row in rows:
        of_unit.setdefault(row.unit, []).append(row)
    return [row for own in of_unit.values() for row in _kept_of_unit(own, limits, salt, digest)]


def _kept_of_unit(
    own: list[Row], limits: tuple[int | None, int | None, int | None], salt: str, digest: Digest
) -> list[Row]:
    most, groups, each = reduced(limits)

    def group_digest(group: tuple[Value, ...]) -> Any:
        return digest([own[0].unit, *group], salt)

    def row_digest(row: Row, ordinal: int) -> Any:
        content = digest([group_digest(row.group), *row.content], salt) if row.content else group_digest(row.group)
        return digest([content, ordinal], salt)

    # None is after everything: engines differ, but it decides only where digests tie.
    chosen = sorted({row.group for row in own}, key=lambda group: (group_digest(group), _last(group)))[:groups]
    numbered: list[tuple[Any, ...]] = []
    for row, times in Counter(row for row in own if row.group in chosen).items():
        for ordinal in range(times):
            ties = _last(row.group), _last(row.content), ordinal
            numbered.append((_last([row.first]), row_digest(row, ordinal), *ties, row))
    left: list[Row] = []
    of_group: Counter[tuple[Value, ...]] = Counter()
    for *_, row in sorted(numbered, key=lambda entry: entry[:-1]):
        if (each is None or of_group[row.group] < each) and (most is None or len(left) < most):
            left.append(row)
            of_group[row.group] += 1
    return left


def reduced(limits: tuple[int | None, int | None, int | None]) -> tuple[int | None, int | None, int | None]:
    """Without what follows from the rest; where a group has one row, rows are groups."""
    most, groups, each = limits
    if each == 1 and most:
        return None, min(most, groups or most), 1
    if most and groups and each and most >= groups * each:
        most = None
    if most and groups and groups >= most:
        groups = None
    return most, groups, None if most and each and each >= most else each


def _last(values: Sequence[Value]) -> tuple[Any, ...]:
    return tuple((value is None, 0 if value is None else value) for value in values)


def sums(rows: Iterable[Row], places: Sequence[int], bin_place: int | None) -> dict[tuple[Value, ...], list[int]]:
    """From (group values, bin) to the count of rows and the sums of the content at those places."""
    totals: dict[tuple[Value, ...], list[int]] = {}
    for row in rows:
        key = row.group if bin_place is None else (*row.group, row.content[bin_place])
        sums = totals.setdefault(key, [0] * (1 + len(places)))
        sums[0] += 1
        for at, place in enumerate(places):
            value = row.content[place]
            assert value is not None
            sums[1 + at] += value
    return totals
