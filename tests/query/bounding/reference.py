"""What is kept of each unit, in plain Python: the rule of the portable order, written from its statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any

Value = str | int | None


@dataclass(frozen=True)
class Row:
    unit: str | int
    group: tuple[Value, ...]
    content: tuple[int | None, ...] = ()


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
    most, groups, each = limits
    if most and groups and each and most >= groups * each:
        most = None
    if most and groups and groups >= most:
        groups = None
    if most and each and each >= most:
        each = None

    def group_digest(row: Row) -> Any:
        return digest([row.unit, *row.group], salt)

    def row_digest(row: Row) -> Any:
        return digest([group_digest(row), *row.content], salt) if row.content else group_digest(row)

    in_groups: dict[tuple[Value, ...], list[Row]] = {}
    # None is after everything: engines differ, but it decides only where digests tie.
    for row in sorted(own, key=lambda row: (group_digest(row), _last(row.group), row_digest(row), _last(row.content))):
        in_groups.setdefault(row.group, []).append(row)
    chosen = list(in_groups.values())[:groups]
    left = [row for members in chosen for row in members[:each]]
    if not (groups and not each):
        left.sort(key=lambda row: (row_digest(row), _last(row.group), _last(row.content)))
    return left[:most]


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


def units_of_groups(rows: Iterable[Row]) -> Counter[tuple[Value, ...]]:
    """How many units have rows in each group."""
    return Counter(group for _, group in {(row.unit, row.group) for row in rows})
