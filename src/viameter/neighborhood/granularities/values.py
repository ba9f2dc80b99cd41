"""Granularities that look at values: a policy says which may be exchanged, a metric how far one may move."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import INFINITY, Number, nonnegative, show
from viameter.errors import ParameterError
from viameter.neighborhood.arguments import read_listed, read_values
from viameter.neighborhood.changes import Change, Records, Rows, Shifted, Steps, Swap
from viameter.neighborhood.granularities.base import Granularity


@dataclass(frozen=True, slots=True, repr=False)
class Policy(Granularity):
    """One record's value turns into another that a graph of secrets joins to it (Blowfish)."""

    slug = "policy"
    pairs: frozenset[frozenset[Hashable]]

    @property
    def protects(self) -> str:
        """One record, along an edge of the policy."""
        return "one record of one has a value in the other that the policy joins to it"

    @property
    def edits(self) -> tuple[Change, ...]:
        """A record along one of the edges."""
        return (Swap(self.pairs),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Swap(pairs=pairs):
                return 1 if pairs <= self.pairs else INFINITY
            case Records() if change.both == 0:
                return 0
        # A way along edges may leave the part, so that its length in the whole graph would be no bound.
        return INFINITY

    def _is_far(self, change: Change) -> bool:
        return isinstance(change, Records) and not change.balanced

    def __repr__(self) -> str:
        return f"policy(<{len(self.pairs)} pairs>)"


def policy(pairs: Iterable[Iterable[Hashable]]) -> Policy:
    """The policy whose secrets are these pairs of values.

    >>> policy([("flu", "cold"), ("cold", "none")])
    policy(<2 pairs>)
    """
    read = []
    for place, pair in enumerate(read_listed(pairs, "pairs", "[('flu', 'cold')]")):
        values = frozenset(read_values(pair, f"pairs[{place}]", "('flu', 'cold')"))
        if len(values) != 2:
            raise ParameterError(f"pairs[{place}] is not a pair of two different values")
        read.append(values)
    if not read:
        raise ParameterError("pairs=[] protects nothing: a policy has at least one pair of values")
    return Policy(frozenset(read))


@dataclass(frozen=True, slots=True, repr=False)
class Geo(Granularity):
    """One record's value moves by at most `radius`, in a metric on values; leaves are private per unit of it.

    This is d-privacy: a leaf with the loss pure(e) is e d-private, so that at the distance d it costs e d, for
    fractions of a unit as well.
    """

    slug = "geo"
    radius: Fraction

    @property
    def protects(self) -> str:
        """One record's place."""
        return f"one record of one is at most {show(self.radius)} away in the other"

    @property
    def edits(self) -> tuple[Change, ...]:
        """A record that moves."""
        return (Shifted(self.radius),)

    def _steps(self, change: Change) -> Steps:
        match change:
            case Shifted(reach=reach):
                return reach
            case Records() if change.both == 0:
                return 0
            case Rows(rows=0):
                return 0
        return INFINITY

    def _is_far(self, change: Change) -> bool:
        return isinstance(change, Records)

    def __repr__(self) -> str:
        return f"geo({show(self.radius)})"


def geo(radius: Number) -> Geo:
    """Places that are at most `radius` apart are neighbors; losses of leaves are per unit of distance.

    >>> geo("1/2").protects
    'one record of one is at most 1/2 away in the other'
    """
    read = nonnegative(radius, name="radius")
    if read == 0:
        raise ParameterError("radius=0 protects nothing: expected a number > 0")
    return Geo(read)
