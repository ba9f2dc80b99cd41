"""PrivacySpace: a finite class of databases with a neighbor relation, or with any extended pseudometric."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from viameter.arith import INFINITY, ZERO, Extended, extended, times
from viameter.core import Loss
from viameter.errors import ParameterError
from viameter.neighborhood.finite.pseudometric import refuse_what_is_no_pseudometric
from viameter.neighborhood.finite.relations import Neighbors, Relation
from viameter.neighborhood.finite.tables import Table, at_most_exp, check_table, epsilon_of, log_bounds

Member: TypeAlias = Any
Metric: TypeAlias = Callable[[Any, Any], Any]

_UNSEEN = -1


class ClassRelation(Protocol):
    """A relation that depends on the class of databases, as distances within a class do."""

    def on(self, members: Sequence[Any], /) -> Relation:
        """The relation on this class."""


class PrivacySpace:
    """A finite class of databases and how far apart they are.

    Give a symmetric `relation`, or `neighbors`, which lists the neighbors of a member (those outside of the class are
    left out; it spares looking at all pairs), and the distance is the number of steps within the class, infinite where
    no steps lead. Or give a `metric`: any extended pseudometric. Everything is checked when the space is made; errors
    show members, since such classes are made up and public.

    >>> from viameter.neighborhood.finite import multisets, unbounded
    >>> space = PrivacySpace(multisets("ab", 2), relation=unbounded)
    >>> space.distance((), ("a", "b")), space.neighbors(("a",))
    (Fraction(2, 1), ((), ('a', 'a'), ('a', 'b')))
    """

    __slots__ = ("_adjacent", "_given", "_index", "_rows", "members", "name")

    def __init__(
        self,
        members: Iterable[Hashable],
        *,
        relation: Relation | ClassRelation | None = None,
        metric: Metric | None = None,
        neighbors: Neighbors | None = None,
        name: str = "",
    ) -> None:
        self.name = name
        self.members: tuple[Any, ...] = tuple(members)
        self._given = (relation, metric, neighbors)
        if sum(given is not None for given in self._given) != 1:
            raise ParameterError("a privacy space takes one of relation=, metric= and neighbors=")
        self._index = _numbered(self.members)
        self._rows: dict[int, list[Any]] = {}
        self._adjacent: list[tuple[int, ...]] = []
        if metric is not None:
            self._rows = _measured(self.members, metric)
        elif neighbors is not None:
            self._adjacent = [self._numbers(neighbors(member), but=own) for own, member in enumerate(self.members)]
            self._check_symmetry()
        else:
            assert relation is not None
            holds = relation if callable(relation) else relation.on(self.members)
            everyone = range(len(self.members))
            self._adjacent = [
                tuple(other for other in everyone if other != own and holds(member, self.members[other]))
                for own, member in enumerate(self.members)
            ]
            self._check_symmetry()

    @property
    def is_metric(self) -> bool:
        """Whether distances were given, instead of neighbors."""
        return self._given[1] is not None

    def like(self, members: Iterable[Hashable], *, name: str = "") -> PrivacySpace:
        """Another class of databases under the same relation or metric."""
        relation, metric, neighbors = self._given
        return PrivacySpace(members, relation=relation, metric=metric, neighbors=neighbors, name=name)

    def distance(self, before: Member, after: Member) -> Extended:
        """The distance: the least number of steps, or what the metric says."""
        steps = self._from(self._number(before))[self._number(after)]
        if self.is_metric:
            return steps  # type: ignore[no-any-return]
        return INFINITY if steps == _UNSEEN else Fraction(steps)

    def neighbors(self, member: Member) -> tuple[Any, ...]:
        """The neighbors of a member; with a metric, the other members at a finite distance."""
        own = self._number(member)
        if self.is_metric:
            found = [other for other, far in enumerate(self._rows[own]) if other != own and far != INFINITY]
            return tuple(self.members[other] for other in found)
        return tuple(self.members[other] for other in self._adjacent[own])

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Every unordered pair of neighbors, once; with a metric, of different members at a finite distance."""
        for own, member in enumerate(self.members):
            yield from ((member, other) for other in self.neighbors(member) if self._index[other] > own)

    @property
    def diameter(self) -> Extended:
        """The largest distance."""
        rows = (self._from(own) for own in range(len(self.members)))
        if self.is_metric:
            return max((max(row) for row in rows), default=ZERO)
        largest = 0
        for row in rows:
            if _UNSEEN in row:
                return INFINITY
            largest = max(largest, *row)
        return Fraction(largest)

    def steps_from(self, members: Iterable[Member]) -> dict[Any, Extended]:
        """The distance of every member from the nearest one of these."""
        sources = [self._number(member) for member in members]
        if self.is_metric:
            rows = [self._rows[source] for source in sources]
            return {member: min(row[own] for row in rows) for own, member in enumerate(self.members)}
        steps = _breadth_first(self._adjacent, sources)
        return {
            member: INFINITY if far == _UNSEEN else Fraction(far)
            for member, far in zip(self.members, steps, strict=True)
        }

    def is_private(self, table: Table, loss: Loss | Extended | int = 1) -> bool:
        """Whether a finite mechanism is (epsilon d)-private on this space; exact, whatever the numbers.

        The mechanism is {member: {outcome: probability}}, the loss pure(epsilon) or the number epsilon itself.
        """
        epsilon = epsilon_of(loss)
        checked = check_table(table, self.members)
        for before, after in self.pairs():
            for p, q in _both_ways(checked[before], checked[after]):
                bound = times(epsilon, self.distance(before, after))
                if bound == INFINITY:
                    continue
                if (q == 0 and p > 0) or (q > 0 and not at_most_exp(p / q, Fraction(bound))):
                    return False
        return True

    def exact_epsilon(self, table: Table) -> tuple[Extended, Extended]:
        """Bounds, from below and above, on the least epsilon for which a finite mechanism is (epsilon d)-private."""
        checked = check_table(table, self.members)
        low: Extended = ZERO
        high: Extended = ZERO
        for before, after in self.pairs():
            far = self.distance(before, after)
            for p, q in _both_ways(checked[before], checked[after]):
                if p <= q:
                    continue
                if q == 0 or far == 0:
                    return INFINITY, INFINITY
                down, up = log_bounds(p / q)
                low, high = max(low, down / Fraction(far)), max(high, up / Fraction(far))
        return low, high

    def __repr__(self) -> str:
        return f"PrivacySpace({self.name + ': ' if self.name else ''}{len(self.members)} members)"

    def __contains__(self, member: object) -> bool:
        return member in self._index

    def _number(self, member: Member) -> int:
        try:
            return self._index[member]
        except (KeyError, TypeError):
            raise ParameterError(f"{member!r} is no member of {self!r}") from None

    def _numbers(self, listed: Iterable[Any], *, but: int) -> tuple[int, ...]:
        found = {self._index[member] for member in listed if member in self._index}
        return tuple(sorted(found - {but}))

    def _from(self, source: int) -> list[Any]:
        row = self._rows.get(source)
        if row is None:
            row = self._rows[source] = _breadth_first(self._adjacent, [source])
        return row

    def _check_symmetry(self) -> None:
        steps = {(own, other) for own, others in enumerate(self._adjacent) for other in others}
        for own, other in steps:
            if (other, own) not in steps:
                raise ParameterError(
                    f"the relation is not symmetric: {self.members[other]!r} is a neighbor of {self.members[own]!r}, "
                    "but not the other way round; expected a symmetric relation"
                )


def _numbered(members: Sequence[Any]) -> dict[Any, int]:
    index: dict[Any, int] = {}
    for own, member in enumerate(members):
        try:
            first = index.setdefault(member, own)
        except TypeError:
            raise ParameterError(f"the member {member!r} is not hashable: expected tuples, frozensets, ...") from None
        if first != own:
            raise ParameterError(f"the member {member!r} is listed twice: expected different members")
    return index


def _measured(members: Sequence[Any], metric: Metric) -> dict[int, list[Any]]:
    rows = [[extended(metric(one, other), name="distance") for other in members] for one in members]
    refuse_what_is_no_pseudometric(members, rows)
    return dict(enumerate(rows))


def _breadth_first(adjacent: Sequence[Sequence[int]], sources: Iterable[int]) -> list[int]:
    steps = [_UNSEEN] * len(adjacent)
    frontier = list(dict.fromkeys(sources))
    for source in frontier:
        steps[source] = 0
    count = 0
    while frontier:
        count += 1
        reached = []
        for own in frontier:
            for other in adjacent[own]:
                if steps[other] == _UNSEEN:
                    steps[other] = count
                    reached.append(other)
        frontier = reached
    return steps


def _both_ways(p: Mapping[Any, Fraction], q: Mapping[Any, Fraction]) -> Iterator[tuple[Fraction, Fraction]]:
    for outcome in {*p, *q}:
        one, other = p.get(outcome, ZERO), q.get(outcome, ZERO)
        yield one, other
        yield other, one
