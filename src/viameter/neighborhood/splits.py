"""Cuts of real data: the rows of a table or vector divided by a column's values, each part a filter that runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from viameter.arith import Number, exact
from viameter.core import Space, Transformation
from viameter.errors import ParameterError, plain
from viameter.neighborhood.arguments import read_listed, read_values
from viameter.neighborhood.cuts import Part
from viameter.neighborhood.cuts.partitions import Partition
from viameter.transforms import between, filter, is_in
from viameter.transforms.predicates import Predicate


@dataclass(frozen=True, eq=False, repr=False)
class Split(Partition):
    """Parts of a real table or vector: the rows whose value is in the part's own set."""

    space: Space | None = None
    filters: tuple[Transformation, ...] = ()
    labels: tuple[str, ...] = ()
    holders: Mapping[Any, int] = field(default_factory=dict)
    """The part of each listed value."""

    def part_with(self, value: Any) -> Part:
        """The part that holds a value.

        >>> from viameter import neighborhood as nb
        >>> import viameter as vm
        >>> visits = vm.Space(vm.tables({"ward": str}), vm.SymmetricDistance())
        >>> nb.split(visits, [["A", "B"], ["C"]], column="ward").part_with("C")
        ward is_in(['C'])
        """
        try:
            return self[self.holders[value]]
        except (KeyError, TypeError):
            raise ParameterError(f"no part of {self!r} lists that value; parts are also numbered, from 0") from None

    def has_outside(self, part: int) -> bool:
        """Whether the domain has values that are in no part, or in others, is not asked: nothing is built on it."""
        return False

    def transformation(self, part: int) -> Transformation:
        """The filter that keeps the part's rows."""
        return self.filters[part]

    def label(self, part: int) -> str:
        """The condition on its rows."""
        return self.labels[part]

    def __repr__(self) -> str:
        return f"split(<{self.size} parts by {self.by}>)"


def split(space: Space, parts: Iterable[Iterable[Any]], *, column: str | None = None, rest: bool = False) -> Split:
    """Divide rows by a column: for each part the values that it holds; with `rest`, one part more for all others.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> visits = vm.Space(vm.tables({"ward": str, "wait": int}), vm.SymmetricDistance())
    >>> wards = nb.split(visits, [["A", "B"], ["C"]], column="ward")
    >>> wards[0].transformation({"ward": ["A", "C"], "wait": [10, 20]})["wait"]
    array([10])
    """
    listed: list[list[Any]] = []
    for place, values in enumerate(read_listed(parts, "parts", "[['A', 'B'], ['C']]")):
        listed.append(read_values(values, f"parts[{place}]", "['A', 'B']"))
    seen: set[Any] = set()
    for place, values in enumerate(listed):
        if not values:
            raise ParameterError(f"parts[{place}] holds no value")
        if seen & set(values):
            raise ParameterError(
                f"parts[{place}] has a value that is in another part: these are no parts of a partition"
            )
        seen |= set(values)
    if not listed:
        raise ParameterError("parts=[] divides nothing: expected e.g. [['A', 'B'], ['C']]")
    predicates: list[Predicate] = [is_in(values) for values in listed]
    if rest:
        predicates.append(~is_in([value for values in listed for value in values]))
    made = _split(space, predicates, column, covers=rest)
    return replace(made, holders={value: place for place, values in enumerate(listed) for value in values})


def bins(space: Space, edges: Sequence[Number], *, column: str | None = None) -> Split:
    """Divide rows by a number: from each edge up to, and without, the next. What is outside of them is in no part.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> ages = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> nb.bins(ages, [0, 18, 65])[1].transformation([3, 18, 64, 65])
    array([18, 64])
    """
    edges = read_listed(edges, "edges", "[0, 18, 65]")
    if len(edges) < 2:
        raise ParameterError(f"edges={plain(edges)}: expected two numbers or more, rising")
    predicates = []
    for lower, upper in pairwise(edges):
        predicate = between(lower, None) & ~between(upper, None)
        between(lower, upper)  # refuses edges that fall
        if exact(lower, name="edge") == exact(upper, name="edge"):
            raise ParameterError(f"edges={plain(edges)} do not rise: a bin between two equal edges would hold nothing")
        predicates.append(predicate)
    return _split(space, predicates, column, covers=False)


def _split(space: Space, predicates: Sequence[Predicate], column: str | None, *, covers: bool) -> Split:
    if not isinstance(space, Space):
        raise ParameterError(f"space={plain(space)} is not a Space: expected a domain with a metric")
    filters = tuple(filter(space, predicate, column=column) for predicate in predicates)
    name = "value" if column is None else column
    labels = tuple(f"{name} {predicate!r}" for predicate in predicates)
    return Split(len(filters), name, covers=covers, space=space, filters=filters, labels=labels)
