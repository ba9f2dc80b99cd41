"""Group privacy as a neighbor relation: at most m steps of another relation, counted within the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from viameter.errors import ParameterError
from viameter.neighborhood.finite.relations import Neighbors, Relation
from viameter.neighborhood.finite.space import PrivacySpace


@dataclass(frozen=True, slots=True)
class Group:
    """At most `most` steps of a relation; how many steps it takes depends on the class, so `on` asks for it."""

    relation: Relation | None
    most: int
    neighbors: Neighbors | None = None

    def __post_init__(self) -> None:
        if self.most < 1:
            raise ParameterError(f"a group of {self.most} was asked for: expected at least 1")

    def on(self, members: Sequence[Any], /) -> Relation:
        """The relation on this class."""
        steps = PrivacySpace(members, relation=self.relation, neighbors=self.neighbors)

        def within(before: Any, after: Any) -> bool:
            return before != after and steps.distance(before, after) <= self.most

        return within


def group(relation: Relation | None = None, most: int = 1, *, neighbors: Neighbors | None = None) -> Group:
    """Databases within `most` steps of a relation, or of a lister of neighbors.

    >>> from viameter.neighborhood.finite import multisets, unbounded
    >>> PrivacySpace(multisets("a", 4), relation=group(unbounded, 2)).distance((), ("a",) * 4)
    Fraction(2, 1)
    """
    return Group(relation, most, neighbors)
