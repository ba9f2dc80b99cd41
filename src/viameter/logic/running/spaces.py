"""Spaces of programs: the data that a program takes, and how distances between them are measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from viameter.core import Domain, Metric, Space
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.logic.lang.core import Input
from viameter.logic.neighbors import Neighbors
from viameter.logic.running.data import ALL_INTEGERS, Data, marks_of
from viameter.logic.running.distances import InputDistance, ProgramAdjacency
from viameter.logic.running.domains import ProgramDomain
from viameter.logic.running.values import names_measured, names_read
from viameter.logic.running.ways import ONE, Way, ways
from viameter.spaces import IntDomain, VectorDomain


def space_of(data: Data, adjacent: Any, relations: Sequence[Neighbors], wanted: Space | None) -> tuple[Space, Way]:
    """Where the data of a program live, and how steps of its adjacency are counted there.

    A space that is wanted must have a domain within what the program requires, and a metric in which steps are counted.
    """
    domain = data.domain()
    found = _ways(data, adjacent, relations, domain)
    if wanted is None:
        return Space(domain, found[0].metric), found[0]
    if not isinstance(wanted, Space):
        raise ParameterError(f"space={plain(wanted)} is not a Space: expected a domain with a metric")
    if wanted.domain != domain and not _is_within(wanted.domain, domain):
        raise ParameterError(f"space: {wanted.domain!r} is not within {domain!r}, which the program takes")
    for way in found:
        if way.metric == wanted.metric:
            return wanted, way
    known = ", ".join(repr(way.metric) for way in found)
    raise NoTheorem(f"steps of {adjacency_says(relations)!r} are not counted in {wanted.metric!r}; they are in {known}")


def adjacency_says(relations: Sequence[Neighbors]) -> str:
    """The adjacency in words."""
    return relations[0].says + ("" if len(relations) == 1 else ", or the other way around")


def adjacency_metric(data: Data, relations: Sequence[Neighbors]) -> ProgramAdjacency:
    """The relation itself as a metric."""
    sorts = tuple((entry.name, entry.sort) for entry in data.inputs if entry.name in data.private)
    terms = [fact for relation in relations for fact in (*relation.facts, *(fact for _, fact in relation.each))]
    mentioned = {name for term in terms for name in names_read(term) | names_measured(term)}
    known = tuple((name, value) for name, value in data.known.values.items() if name in mentioned)
    return ProgramAdjacency(tuple(relations), sorts, known)


def _ways(data: Data, adjacent: Any, relations: Sequence[Neighbors], domain: Domain) -> list[Way]:
    entry = data.secret
    found: list[Way] = []
    if entry is not None:
        found = ways(
            adjacent, entry, relations=relations, known=data.known.values, box=data.box, separate=data.separate
        )
        if isinstance(domain, ProgramDomain):
            found = [_within_inputs(way, entry) for way in found]
    if not marks_of(data.program):
        found.append(Way(adjacency_metric(data, relations), most=ONE))
    if not found:
        raise NoTheorem(f"no metric is known in which steps of {adjacency_says(relations)!r} can be counted")
    return found


def _within_inputs(way: Way, entry: Input) -> Way:
    metric: Metric = InputDistance(way.metric, entry.name, entry.grid)
    return Way(metric, way.by, way.spacing, way.moves, way.most)


def _is_within(inner: Domain, outer: Domain) -> bool:
    """Whether vectors or numbers are all among others: tighter bounds, a fixed size."""
    if type(inner) is VectorDomain and type(outer) is VectorDomain:
        return outer.size in (None, inner.size) and _is_within(inner.element, outer.element)
    if type(inner) is IntDomain and type(outer) is IntDomain:
        (low, high), (least, greatest) = inner.bounds or ALL_INTEGERS, outer.bounds or ALL_INTEGERS
        return least <= low and high <= greatest
    return False
