"""Distances between inputs of programs, where the library's own metrics do not measure them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from viameter.arith import INFINITY, ZERO, Extended
from viameter.core import Domain, Metric
from viameter.logic.lang.core import ANY
from viameter.logic.lang.terms import Sort, Term
from viameter.logic.neighbors import Neighbors, stated
from viameter.logic.running.domains import ProgramDomain
from viameter.logic.running.values import Value, evaluate
from viameter.spaces import FiniteDomain, IntDomain, VectorDomain


@dataclass(frozen=True)
class MonotoneDistance(Metric):
    """The largest difference of two vectors of integers, one of which is nowhere above the other; else infinite."""

    def fits(self, domain: Domain) -> str | None:
        """Vectors of integers."""
        if isinstance(domain, VectorDomain) and isinstance(domain.element, IntDomain):
            return None
        return "it takes vectors(int)"

    def distance(self, left: Any, right: Any) -> Extended:
        """The largest difference, exactly."""
        if len(left) != len(right):
            return INFINITY
        differences = [int(theirs) - int(mine) for mine, theirs in zip(left, right, strict=True)]
        if min(differences, default=0) < 0 < max(differences, default=0):
            return INFINITY
        return Fraction(max(map(abs, differences), default=0))


@dataclass(frozen=True)
class InputDistance(Metric):
    """The distance of a program's private input by some metric, where all public inputs are equal; else infinite.

    Numbers on a grid are measured in their own units, and not in steps.
    """

    inner: Metric
    of: str
    grid: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        # Whether distances are whole is up to the inner metric.
        object.__setattr__(self, "counts", self.inner.counts)

    def fits(self, domain: Domain) -> str | None:
        """The inputs of a program, this one among them."""
        if not isinstance(domain, ProgramDomain):
            return "it takes the inputs of a program"
        entry = next((entry for entry in domain.inputs if entry.name == self.of), None)
        if entry is None or domain.private != {self.of}:
            return f"{self.of!r} is not the private input"
        return None if entry.grid == self.grid else f"{self.of!r} is on a grid of {entry.grid}"

    def distance(self, left: Mapping[str, Value], right: Mapping[str, Value]) -> Extended:
        """That of the private input."""
        if any(left[name] != right[name] for name in left if name != self.of):
            return INFINITY
        apart = self.inner.distance(_array(left[self.of]), _array(right[self.of]))
        return apart if self.counts or apart == INFINITY else apart * self.grid

    def __repr__(self) -> str:
        grid = "" if self.grid == 1 else f", grid={str(self.grid)!r}"
        return f"InputDistance({self.inner!r}, of={self.of!r}{grid})"


def _array(value: Value) -> Any:
    return np.array(value, dtype=np.int64) if isinstance(value, tuple) else value


@dataclass(frozen=True, repr=False)
class ProgramAdjacency(Metric):
    """1 between inputs that a program's adjacency relates, 0 between equal ones, and infinite between all others.

    Nothing is said of several steps: whether they lead from one input to another is not known.
    """

    relations: tuple[Neighbors, ...]
    sorts: tuple[tuple[str, Sort], ...]
    """The private inputs and their sorts."""
    known: tuple[tuple[str, Any], ...] = ()
    """Public inputs that were given before and that the relation speaks of."""

    counts = True

    def fits(self, domain: Domain) -> str | None:
        """The inputs of a program, or the one private input as integers or vectors of integers."""
        if isinstance(domain, ProgramDomain):
            wanted = {name for name, _ in self.sorts}
            return None if domain.private == wanted else f"the private inputs are {', '.join(sorted(wanted))}"
        kinds: dict[Sort, type[Domain]] = {"int": IntDomain, "bool": FiniteDomain, "list": VectorDomain}
        if len(self.sorts) == 1 and isinstance(domain, kinds[self.sorts[0][1]]):
            return None
        return "it takes the inputs of a program"

    def distance(self, left: Any, right: Any) -> Extended:
        """0, 1 or infinity. Of numbers that the relation says exist, those up to the length of lists are tried.

        So it may be infinite where a better choice of such numbers would show 1, and never 1 where none does.
        """
        mine, theirs = self._values(left), self._values(right)
        if mine == theirs:
            return ZERO
        private = {name for name, _ in self.sorts}
        if any(mine[name] != theirs[name] for name in mine if name not in private):
            return INFINITY
        shared = {**dict(self.known), **mine}
        found = all(
            any(related(relation, one, other, shared) for relation in self.relations)
            for one, other in ((mine, theirs), (theirs, mine))
        )
        return Fraction(1) if found else INFINITY

    def _values(self, member: Any) -> dict[str, Any]:
        values = member if isinstance(member, Mapping) else {self.sorts[0][0]: member}
        return {name: tuple(v.tolist()) if isinstance(v, np.ndarray) else v for name, v in values.items()}

    def __repr__(self) -> str:
        texts = "; or ".join(stated(relation) for relation in self.relations)
        known = "".join(f", {name}={value!r}" for name, value in self.known)
        return f"ProgramAdjacency({texts!r}{known})"


def related(
    relation: Neighbors, left: Mapping[str, Value], right: Mapping[str, Value], shared: Mapping[str, Value]
) -> bool:
    """Whether a relation holds from the inputs of one run to those of another, for some choice of its constants."""
    lists = [(left[name], right[name]) for name in relation.private]
    lengths = [(len(a), len(b)) for a, b in lists if not isinstance(a, int) and not isinstance(b, int)]
    if any(a != b for a, b in lengths):
        return False
    values: dict[str, Value] = dict(shared)
    for name in relation.private:
        # A length has no side; nothing else of a private input is the same in both runs.
        values[name], values[f"{name}<1>"], values[f"{name}<2>"] = left[name], left[name], right[name]
    longest = max((a for a, _ in lengths), default=0)
    return any(_hold(relation, {**values, **chosen}) for chosen in _choices(relation.constants, longest))


def _choices(constants: Sequence[str], longest: int) -> Iterator[dict[str, Value]]:
    for chosen in product(range(-1, longest + 1), repeat=len(constants)):
        yield dict(zip(constants, chosen, strict=True))


def _hold(relation: Neighbors, values: Mapping[str, Value]) -> bool:
    if not all(evaluate(fact, values) for fact in relation.facts):
        return False
    return all(_holds_of_each(fact, values[name], values) for name, fact in relation.each)


def _holds_of_each(fact: Term, items: Value, values: Mapping[str, Value]) -> bool:
    assert not isinstance(items, int)  # facts about each element are about lists
    return all(evaluate(fact, {**values, ANY.name: place}) for place in range(len(items)))
