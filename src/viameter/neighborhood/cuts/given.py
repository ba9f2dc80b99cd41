"""Cuts that somebody gives as numbers: the whole data, maps known by their stability, patterns, constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import Extended, Number, exact, nonnegative
from viameter.errors import ParameterError, plain
from viameter.neighborhood.arguments import read_listed, read_mapping
from viameter.neighborhood.changes import Change, Moved
from viameter.neighborhood.cuts.base import Cut, Gains, Part, Touched, read_size, total
from viameter.neighborhood.solvers import worst_linear


@dataclass(frozen=True, eq=False, repr=False)
class Whole(Cut):
    """One part, which is all of the data."""

    def __len__(self) -> int:
        return 1

    def has_outside(self, part: int) -> bool:
        """Nothing is outside of everything."""
        return False

    def label(self, part: int) -> str:
        """All of it."""
        return "all data"

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """It sees every change as it is."""
        return Touched(gains.of(0, edit), {0: edit})

    def __repr__(self) -> str:
        return "whole()"


def whole() -> Part:
    """All of the data, as they are: leaves on it compose sequentially.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> nb.compose(nb.bounded(), [nb.leaf(nb.whole(), vm.pure("0.1")), nb.leaf(nb.whole(), vm.pure("0.2"))]).loss
    pure(3/10)
    """
    return Part(Whole(), 0)


@dataclass(frozen=True, eq=False, repr=False)
class Opaque(Cut):
    """One map, of which nothing is known but that it takes neighbors to data so many steps apart."""

    per_step = True
    stability: Fraction
    name: str

    def __len__(self) -> int:
        return 1

    def has_outside(self, part: int) -> bool:
        """Nothing is known of it."""
        return False

    def label(self, part: int) -> str:
        """Its name."""
        return self.name

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """Any step may move it as far as it can move."""
        change = Moved(self.stability)
        return Touched(gains.of(0, change), {0: change} if self.stability else {}, exact=False)

    def __repr__(self) -> str:
        return f"opaque({self.name!r}, stability={self.stability})"


def opaque(name: str = "a map", *, stability: Number) -> Part:
    """A map of which only its stability is known: neighbors go to data at most so many steps apart.

    Steps of the result are those of the leaf's granularity, steps of the data those of the target's.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> nb.compose(nb.unbounded(), [nb.leaf(nb.opaque("join", stability=3), vm.pure("0.1"))]).loss
    pure(3/10)
    """
    return Part(Opaque(nonnegative(stability, name="stability"), name), 0)


@dataclass(frozen=True, eq=False, repr=False)
class Patterns(Cut):
    """Touch patterns that somebody lists: how far each part moves, in steps of its leaf's granularity."""

    per_step = True
    patterns: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.patterns[0])

    def has_outside(self, part: int) -> bool:
        """Nothing is known of it."""
        return False

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """The costliest of the list."""
        best = Touched(Fraction(0), {})
        for pattern in self.patterns:
            changes: dict[int, Change] = {part: Moved(steps) for part, steps in enumerate(pattern) if steps}
            value = total([gains.of(part, change) for part, change in changes.items()])
            if value > best.value:
                best = Touched(value, changes)
        return best

    def __repr__(self) -> str:
        return f"patterns(<{len(self.patterns)} patterns of {len(self)} parts>)"


def patterns(listed: Iterable[Sequence[int]]) -> Patterns:
    """Parts by a list of touch patterns: for each pair of neighbors, how many steps each part moves.

    A pattern that some neighbors have and the list does not would make the bound too small; patterns that none has make
    it larger than need be.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> parts = nb.patterns([(1, 0, 2), (0, 1, 1)])
    >>> nb.compose(nb.unbounded(), [nb.leaf(part, vm.pure("0.1")) for part in parts]).loss
    pure(3/10)
    """
    given = read_listed(listed, "patterns", "[(1, 0, 2), (0, 1, 1)]")
    read = tuple(tuple(read_listed(pattern, f"patterns[{n}]", "(1, 0, 2)")) for n, pattern in enumerate(given))
    if not read or not read[0] or any(len(pattern) != len(read[0]) for pattern in read):
        raise ParameterError("patterns must be a list of equally long lists of steps, as in [(1, 0, 2), (0, 1, 1)]")
    for place, pattern in enumerate(read):
        if any(type(steps) is not int or steps < 0 for steps in pattern):
            raise ParameterError(f"patterns[{place}] has something that is no number of steps: expected integers >= 0")
    return Patterns(read)


@dataclass(frozen=True, eq=False, repr=False)
class Constrained(Cut):
    """Touch patterns that linear constraints describe, in steps of the leaves' granularities."""

    per_step = True
    most: tuple[int, ...]
    rows: tuple[tuple[Mapping[int, Fraction], Fraction], ...]
    time_limit: float | None = None
    progress: Callable[[str], None] | None = None

    def __len__(self) -> int:
        return len(self.most)

    def has_outside(self, part: int) -> bool:
        """Nothing is known of it."""
        return False

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """By integer programming, from above."""
        tables: list[list[Extended]] = [
            [Fraction(0), *(gains.of(part, Moved(steps)) for steps in range(1, most + 1))]
            for part, most in enumerate(self.most)
        ]
        found = worst_linear(tables, rows=self.rows, time_limit=self.time_limit, progress=self.progress)
        changes: dict[int, Change] = {part: Moved(steps) for part, steps in found.chosen or ()}
        return Touched(found.value, changes, found.exact)

    def __repr__(self) -> str:
        return f"constrained(<{len(self)} parts, {len(self.rows)} constraints>)"


def constrained(
    size: int,
    *,
    most: int | Sequence[int],
    constraints: Iterable[tuple[Mapping[int, Number], Number]] = (),
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Constrained:
    """Parts whose touch patterns satisfy linear constraints: each is ({part: coefficient}, bound), sum <= bound.

    `most` bounds the steps of each part. Every pattern of two neighbors must satisfy the constraints. The solver is
    scipy's, which `pip install 'viameter[neighborhood]'` brings.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> parts = nb.constrained(3, most=2, constraints=[({0: 1, 1: 1, 2: 1}, 3)])
    >>> nb.compose(nb.unbounded(), [nb.leaf(part, vm.zcdp("0.1")) for part in parts]).loss
    zcdp(1/2)
    """
    read_size(size, "size")
    caps = [most] * size if isinstance(most, int) else list(most)
    if len(caps) != size or any(type(cap) is not int or cap < 0 for cap in caps):
        raise ParameterError(f"most={plain(most)}: expected a number of steps, or one for each of the {size} parts")
    rows = []
    for number, constraint in enumerate(read_listed(constraints, "constraints", "[({0: 1, 1: 1}, 3)]")):
        pair = read_listed(constraint, f"constraints[{number}]", "({0: 1, 1: 1}, 3)")
        if len(pair) != 2:
            raise ParameterError(f"constraints[{number}] is no constraint: expected e.g. ({{0: 1, 1: 1}}, 3)")
        row, bound = read_mapping(pair[0], f"constraints[{number}][0]", "{0: 1, 1: 1}"), pair[1]
        unknown = [part for part in row if type(part) is not int or not 0 <= part < size]
        if unknown:
            raise ParameterError(f"constraints[{number}] names a part that is not one of 0 to {size - 1}")
        read: dict[int, Any] = {part: exact(value, name="coefficient") for part, value in row.items()}
        rows.append((read, exact(bound, name="bound")))
    return Constrained(tuple(caps), tuple(rows), time_limit, progress)
