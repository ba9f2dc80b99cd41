"""Granularity: which datasets are neighbors, and how many steps a change is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

from viameter.arith import INFINITY
from viameter.neighborhood.changes import Anything, Change, Moved, Steps


@dataclass(frozen=True, slots=True, repr=False)
class Granularity(ABC):
    """A neighbor relation, with its canonical metric: the least number of neighbors on a way from one to the other.

    `edits` are the changes that one step can be; `distance` is how many steps a change takes at most, infinite if no
    number of steps is known to be enough.
    """

    slug: ClassVar[str]
    ordered: ClassVar[bool] = False
    """Whether its datasets are lists, of which another order makes another dataset."""

    @property
    def limits(self) -> Mapping[str, int]:
        """What it takes to be so of all datasets: how many rows a person has, how many edges a node."""
        given = {name: getattr(self, name, None) for name in ("rows", "times", "nodes", "degree")}
        return {name: most for name, most in given.items() if isinstance(most, int)}

    @property
    def innermost(self) -> Granularity:
        """The granularity whose steps this is made of."""
        return self

    @property
    @abstractmethod
    def protects(self) -> str:
        """What one step is, as it ends the sentence "two datasets are neighbors if"."""

    @property
    @abstractmethod
    def edits(self) -> tuple[Change, ...]:
        """What a step can do to the data; every pair of neighbors differs by one of these."""

    def distance(self, change: Change) -> Steps:
        """How many steps of this granularity a change takes at most."""
        if isinstance(change, Moved):
            return change.steps
        if isinstance(change, Anything):
            return INFINITY
        return self._steps(change)

    @abstractmethod
    def _steps(self, change: Change) -> Steps:
        """The number of steps for a change of a kind of data; infinite for kinds that this does not speak of."""

    def quotient(self, change: Change) -> Steps:
        """How many steps a change in a part takes at most if the rest of the data may be chosen to help.

        This is for mechanisms that are private on the whole data and look at a part only: the distance in the quotient
        by the map to that part. The rest can always be left alone, so it is never more than `distance`.
        """
        return self.distance(change)

    def is_exact(self, change: Change) -> bool:
        """Whether `distance` is not only enough steps for such a change, but needed for some.

        An infinite one is if there is no way at all, and not merely none that is known.
        """
        return self.distance(change) != INFINITY or self._is_far(change)

    def _is_far(self, change: Change) -> bool:
        """Whether no number of steps is enough for some changes of this kind."""
        return False

    def __repr__(self) -> str:
        given = ((field, getattr(self, field.name)) for field in fields(self))
        shown = ", ".join(f"{field.name}={value!r}" for field, value in given if value != field.default)
        return f"{self.slug.replace('-', '_')}({shown})"


def steps_of_each(change: Steps, times: Steps) -> Steps:
    """So many steps for each: nothing of infinitely many is nothing."""
    return 0 if change == 0 or times == 0 else change * times
