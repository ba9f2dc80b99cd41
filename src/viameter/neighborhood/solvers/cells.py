"""Values of an attribute merged into cells that no predicate tells apart, without expanding ranges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viameter.errors import ParameterError, plain


@dataclass(frozen=True, slots=True)
class Cell:
    """Values that satisfy the same conjunctions: one of them, another if there is one, and how many there are.

    Bit i of `leaves` is set if conjunction i allows these values.
    """

    value: Any
    other: Any
    size: int
    leaves: int


def cells(
    domain: Sequence[Any], allowed: Mapping[int, Collection[Any]], *, attribute: str, conjunctions: int
) -> list[Cell]:
    """Return the cells of an attribute; allowed[i] are the values that conjunction i asks for, if it names it."""
    find = _Places(domain, attribute)
    # At these places of the domain the set of conjunctions that allow the value changes.
    toggles: dict[int, int] = {0: 0}
    for i, values in allowed.items():
        for first, end in find.runs(values):
            toggles[first] = toggles.get(first, 0) ^ (1 << i)
            toggles[end] = toggles.get(end, 0) ^ (1 << i)
    current = 0
    for i in range(conjunctions):
        if i not in allowed:
            current |= 1 << i
    merged: dict[int, list[tuple[int, int]]] = {}
    places = sorted(toggles)
    for first, end in zip(places, [*places[1:], len(domain)], strict=True):
        current ^= toggles[first]
        if first < end:
            merged.setdefault(current, []).append((first, end))
    return [_cell(domain, runs, leaves) for leaves, runs in merged.items()]


def _cell(domain: Sequence[Any], runs: list[tuple[int, int]], leaves: int) -> Cell:
    size = sum(end - first for first, end in runs)
    first, end = runs[0]
    second = first + 1 if first + 1 < end else runs[1][0] if len(runs) > 1 else first
    return Cell(domain[first], domain[second], size, leaves)


class _Places:
    """Finds the places of values in a domain, and runs of neighboring places."""

    def __init__(self, domain: Sequence[Any], attribute: str) -> None:
        if isinstance(domain, str) or not isinstance(domain, Sequence):
            raise ParameterError(f"the domain of {attribute!r} is {plain(domain)}: expected a sequence of values")
        if len(domain) == 0:
            raise ParameterError(f"the domain of {attribute!r} is empty: expected at least one value")
        self.domain, self.attribute = domain, attribute
        self.place: dict[Any, int] | None = None
        if not isinstance(domain, range):
            try:
                self.place = {value: n for n, value in enumerate(domain)}
            except TypeError:
                raise ParameterError(f"the domain of {attribute!r} has values that cannot be hashed") from None
            if len(self.place) < len(domain):
                raise ParameterError(f"the domain of {attribute!r} names a value twice: expected different values")

    def runs(self, values: Collection[Any]) -> Iterable[tuple[int, int]]:
        """Return where values stand in the domain, as (first, end) without the end."""
        if isinstance(values, str | bytes) or not isinstance(values, Collection):
            raise ParameterError(
                f"a conjunction asks {self.attribute!r} for {plain(values)}: "
                "expected a collection of values, like {value}"
            )
        if isinstance(values, range) and isinstance(self.domain, range):
            if len(values) == 0:
                return []
            ends = sorted((self.find(values[0]), self.find(values[-1])))
            if ends[1] - ends[0] == len(values) - 1:
                return [(ends[0], ends[1] + 1)]
        places = sorted({self.find(value) for value in values})
        breaks = [n for n in range(1, len(places)) if places[n] != places[n - 1] + 1]
        return [
            (places[a], places[b - 1] + 1) for a, b in zip([0, *breaks], [*breaks, len(places)], strict=True) if a < b
        ]

    def find(self, value: Any) -> int:
        """Return the place of a value in the domain."""
        try:
            if self.place is not None:
                return self.place[value]
            return self.domain.index(value)
        except (KeyError, ValueError, TypeError):
            raise ParameterError(
                f"a conjunction asks {self.attribute!r} for {plain(value)}, which is not in its domain: "
                "leave it out, or add it to the domain"
            ) from None
