"""Granularities made of others: several steps at once, anything at all, classes of people, one of your own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import INFINITY
from viameter.errors import MapError, ParameterError, plain
from viameter.neighborhood.arguments import read_listed
from viameter.neighborhood.changes import Anything, Change, Moved, Records, Shifted, Steps
from viameter.neighborhood.granularities.base import Granularity
from viameter.neighborhood.granularities.rows import Local, read_count
from viameter.neighborhood.granularities.values import Geo


@dataclass(frozen=True, slots=True, repr=False)
class Group(Granularity):
    """At most `most` steps of another granularity at once."""

    slug = "group"
    base: Granularity
    most: int

    def __post_init__(self) -> None:
        if not isinstance(self.base, Granularity):
            raise ParameterError(f"base={plain(self.base)} is not a granularity: expected e.g. unbounded()")
        read_count(self.most, "most")
        if isinstance(self.base, Group):  # groups of groups are larger groups
            object.__setattr__(self, "most", self.most * self.base.most)
            object.__setattr__(self, "base", self.base.base)

    @property
    def protects(self) -> str:
        """So many steps."""
        return f"up to {self.most} times in a row, {self.base.protects}"

    @property
    def edits(self) -> tuple[Change, ...]:
        """So many of the changes of a step."""
        if isinstance(self.base, Local):
            return self.base.edits  # the only record is another record, however often it changed
        return tuple(edit.times(self.most) for edit in self.base.edits)

    @property
    def innermost(self) -> Granularity:
        """That of the other."""
        return self.base.innermost

    @property
    def limits(self) -> Mapping[str, int]:
        """Those of the other."""
        return self.base.limits

    def distance(self, change: Change) -> Steps:
        """A step covers so many of the other's: the graph of neighbors, to that power."""
        if isinstance(change, Moved):
            return change.steps  # counted in this granularity
        if isinstance(self.base, Geo):  # whose distance is a length, and no number of steps
            return 1 if isinstance(change, Shifted) and change.reach <= self.base.radius else INFINITY
        return _rounded_up(self.base.distance(change), self.most)

    def quotient(self, change: Change) -> Steps:
        """The same in the quotient."""
        if isinstance(change, Moved) or isinstance(self.base, Geo):
            return self.distance(change)
        return _rounded_up(self.base.quotient(change), self.most)

    def is_exact(self, change: Change) -> bool:
        """Where the other's is."""
        return self.base.is_exact(change)

    def _steps(self, change: Change) -> Steps:
        return self.distance(change)

    def __repr__(self) -> str:
        return f"group({self.base!r}, {self.most})"


def _rounded_up(steps: Steps, most: int) -> Steps:
    return INFINITY if steps == INFINITY else math.ceil(Fraction(steps) / most)


@dataclass(frozen=True, slots=True, repr=False)
class FreeLunch(Granularity):
    """Any two datasets are neighbors."""

    slug = "free-lunch"
    protects = "they are any two datasets"
    edits = (Anything(),)

    def distance(self, change: Change) -> Steps:
        """One step leads anywhere."""
        return 0 if isinstance(change, Records) and change.both == 0 else 1

    def _steps(self, change: Change) -> Steps:
        return self.distance(change)


@dataclass(frozen=True, slots=True, repr=False)
class Personalised(Granularity):
    """A granularity for each class of people: the records of one class are the ones that change."""

    slug = "personalised"
    classes: tuple[str, ...]
    base: Granularity

    @property
    def protects(self) -> str:
        """A step of the base, by a record of one class."""
        return f"for each class of people ({', '.join(self.classes)}): by a record of that class, {self.base.protects}"

    @property
    def edits(self) -> tuple[Change, ...]:
        """Those of the base."""
        return self.base.edits

    @property
    def innermost(self) -> Granularity:
        """That of the base."""
        return self.base.innermost

    @property
    def limits(self) -> Mapping[str, int]:
        """Those of the base."""
        return self.base.limits

    def _steps(self, change: Change) -> Steps:
        return self.base.distance(change)

    def quotient(self, change: Change) -> Steps:
        """That of the base."""
        return self.base.quotient(change)

    def is_exact(self, change: Change) -> bool:
        """Where the base's is."""
        return self.base.is_exact(change)

    def __repr__(self) -> str:
        return f"personalised({list(self.classes)!r}, {self.base!r})"


@dataclass(frozen=True, slots=True, repr=False)
class OwnGranularity(Granularity):
    """A granularity that somebody vouches for: its changes, and how many steps a change is."""

    slug = "own"
    name: str
    step: str
    changes: tuple[Change, ...]
    steps: Callable[[Change], Steps]
    trust: str

    @property
    def protects(self) -> str:
        """What a step is, in its author's words."""
        return self.step

    @property
    def edits(self) -> tuple[Change, ...]:
        """What a step can do, as its author says."""
        return self.changes

    def _steps(self, change: Change) -> Steps:
        found = self.steps(change)
        if isinstance(found, bool) or not isinstance(found, int | Fraction | float) or not found >= 0:
            raise MapError(f"the distance of {self.name} gave {plain(found)} for {change!r}: expected a number >= 0")
        if isinstance(found, float) and found != INFINITY:
            raise MapError(f"the distance of {self.name} gave a float for {change!r}: expected an int or infinity")
        return found

    def is_exact(self, change: Change) -> bool:
        """Nobody says so."""
        return False

    def __repr__(self) -> str:
        return self.name


def granularity(
    name: str, *, protects: str, edits: Iterable[Change], distance: Callable[[Change], Steps], trust: str
) -> OwnGranularity:
    """A granularity of your own: what a step can be, and how many steps a change takes at most.

    `trust` says why the two are right; it is shown wherever a number rests on them. For a finite class, a
    `PrivacySpace` takes the relation itself and needs no trust.

    >>> from viameter.neighborhood.changes import Records
    >>> pair = granularity("pair", protects="two records come or go together", edits=[Records(2, 2, total=2)],
    ...                    distance=lambda change: -(-change.both // 2), trust="records come in pairs")
    >>> pair.distance(Records(4, 0))
    2
    """
    if not isinstance(trust, str) or not trust.strip():
        raise ParameterError(f"{name} is a granularity of your own: say in trust=... why its distance is right")
    read = tuple(read_listed(edits, "edits", "[Records(1, 0)]"))
    if not read or not all(isinstance(edit, Change) for edit in read):
        raise ParameterError(f"edits of {name} must be changes, at least one: expected e.g. [Records(1, 0)]")
    return OwnGranularity(name, protects, read, distance, trust)
