"""Leaves: a map, and what a mechanism on its image costs: how private it is, for which granularity, on which domain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from viameter.arith import INFINITY
from viameter.core import Loss, Measure, Measurement
from viameter.errors import MetricMismatch, NoTheorem, ParameterError, plain
from viameter.neighborhood.changes import Change, Moved, Steps
from viameter.neighborhood.cuts import Part
from viameter.neighborhood.granularities import (
    Attribute,
    Bounded,
    BoundedOrdered,
    Geo,
    Granularity,
    InsertDelete,
    Local,
    Unbounded,
    User,
)
from viameter.neighborhood.granularities.classes import speaks_of_data_of
from viameter.neighborhood.laws import Law, OfLoss, read_law
from viameter.spaces import (
    ChangeOneDistance,
    HammingDistance,
    InsertDeleteDistance,
    SymmetricDistance,
    SymmetricIdDistance,
)

if TYPE_CHECKING:
    from viameter.neighborhood.composed import Composed

Mode = Literal["separate", "common"]

GRANULARITY_OF: dict[type[Any], Granularity] = {
    SymmetricDistance: Unbounded(),
    ChangeOneDistance: Bounded(),
    HammingDistance: BoundedOrdered(),
    InsertDeleteDistance: InsertDelete(),
    SymmetricIdDistance: User(),
}
"""The granularity whose canonical metric a library metric on datasets is."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is known of a leaf's mechanism: its law, the granularity that this is for, and on which domain it holds."""

    law: Law
    granularity: Granularity | None
    """None for the granularity that all is composed for."""
    mode: Mode

    def steps(self, change: Change, *, target: Granularity, whole: Iterable[Change], outside: bool) -> Steps:
        """How many steps of the claim's granularity a change in the part is."""
        granularity = target if self.granularity is None else self.granularity
        if not speaks_of_data_of(granularity, target):
            return INFINITY
        if self.mode == "separate":
            return granularity.distance(change)
        if isinstance(target.innermost, Local) and not isinstance(
            granularity.innermost, Local | Bounded | BoundedOrdered | Attribute | Geo
        ):
            raise NoTheorem(
                f"the whole data are one record, between which {granularity!r} knows no steps: state what a leaf on "
                "the common domain loses for local(), bounded() or attribute()"
            )
        # Private on the whole data: two datasets whose images are these may be chosen, and those at hand are two.
        at_hand = max((granularity.distance(edit) for edit in whole), default=INFINITY)
        if isinstance(change, Moved):
            # Steps between images: between data that have them there may be more.
            return at_hand if change.steps else 0
        chosen = granularity.quotient(change) if outside else granularity.distance(change)
        return min(at_hand, chosen)

    def in_granularity(self, target: Granularity) -> Granularity:
        """The granularity that the claim is for."""
        return target if self.granularity is None else self.granularity

    def pinned(self, target: Granularity) -> Claim:
        """The same claim; one for the target's granularity is said to be for that one, whatever comes next."""
        if self.granularity is not None:
            return self
        law = replace(self.law, per_unit=True) if isinstance(target, Geo) and isinstance(self.law, OfLoss) else self.law
        return replace(self, law=law, granularity=target)

    def to(self, measure: Measure) -> Claim:
        """The same claim in another measure."""
        return self if self.law.measure == measure else replace(self, law=self.law.to(measure))


@dataclass(frozen=True, slots=True, repr=False)
class Leaf:
    """A mechanism on what a map keeps of the data, and all that is known of how private it is."""

    part: Part
    claims: tuple[Claim, ...]
    inner: Composed | None = None
    """A composition on the part's data, in place of claims."""
    by_class: tuple[tuple[str, Claim], ...] = ()
    """A claim for each class of people, in place of one for all."""

    def __post_init__(self) -> None:
        if not (self.claims or self.by_class or self.inner is not None):
            raise ParameterError(
                "a leaf of whose mechanism nothing is known costs anything: make it by leaf(map, loss)"
            )

    def __repr__(self) -> str:
        if self.inner is not None:
            return f"leaf({self.part!r}, {self.inner!r})"
        if self.by_class:
            losses = {name: claim.law.first for name, claim in self.by_class}
            return f"leaf({self.part!r}, {losses!r})"
        claim = self.claims[0]
        of = "" if claim.granularity is None else f", granularity={claim.granularity!r}"
        mode = "" if claim.mode == "separate" else f", mode={claim.mode!r}"
        more = "" if len(self.claims) == 1 else f", and {len(self.claims) - 1} more"
        return f"leaf({self.part!r}, {claim.law.first!r}{of}{mode}{more})"

    def also(self, loss: Any, *, granularity: Granularity | None = None, mode: Mode = "separate") -> Leaf:
        """The same leaf, of whose mechanism one thing more is known; for each touch pattern the better claim counts.

        >>> from viameter import neighborhood as nb
        >>> import viameter as vm
        >>> part = nb.partition(2, by="value")[0]
        >>> leaf = nb.leaf(part, vm.pure("0.3"), granularity=nb.bounded())
        >>> nb.compose(nb.bounded(), [leaf.also(vm.pure("0.2"), granularity=nb.unbounded())]).loss
        pure(3/10)
        """
        if self.inner is not None or self.by_class:
            raise ParameterError(
                "a leaf that is a composition, or has a loss for each class of people, takes no more claims"
            )
        return replace(self, claims=(*self.claims, read_claim(loss, granularity, mode)))

    @property
    def losses(self) -> list[Loss]:
        """The losses of its claims at one step."""
        return [claim.law.first for claim in (*self.claims, *(claim for _, claim in self.by_class))]

    def for_class(self, name: str) -> Leaf:
        """The leaf as it is for one class of people."""
        found = dict(self.by_class).get(name)
        if self.by_class and found is None:
            raise ParameterError(f"a leaf gives no loss for the class {name!r} of people: give one for each class")
        return self if found is None else replace(self, claims=(found,), by_class=())

    def to(self, measure: Measure) -> Leaf:
        """The same leaf with its claims in another measure."""
        if self.inner is not None:
            return replace(self, inner=self.inner.to_measure(measure))
        return replace(self, claims=tuple(claim.to(measure) for claim in self.claims))


def read_claim(given: Any, granularity: Granularity | None, mode: str) -> Claim:
    """What somebody says of a leaf: its loss or measurement, for which granularity, on which domain."""
    if mode not in ("separate", "common"):
        raise ParameterError(f"mode={plain(mode)}: expected 'separate' or 'common'")
    if granularity is not None and not isinstance(granularity, Granularity):
        raise ParameterError(f"granularity={plain(granularity)} is not a granularity: expected e.g. unbounded()")
    law = read_law(given, per_unit=isinstance(granularity, Geo))
    if isinstance(given, Measurement):
        granularity = _of_measurement(given, granularity)
    return Claim(law, granularity, mode)  # type: ignore[arg-type]  # checked above


def _of_measurement(measurement: Measurement, granularity: Granularity | None) -> Granularity:
    metric = measurement.input_space.metric
    if measurement.map(0) != measurement.measure.zero:
        raise NoTheorem(
            f"the measurement costs {measurement.map(0)!r} on data that are no step apart (in another order, say), so "
            "that leaves cost something that no step touches: compose it on all data instead"
        )
    own = GRANULARITY_OF.get(type(metric))
    if own is None:
        raise ParameterError(
            f"the measurement counts distances in {metric!r}, which is no granularity of records or people: put the "
            "transformation that leads there in front of it (data >> transformation >> measurement)"
        )
    if granularity is None:
        return own
    if granularity != own:
        raise MetricMismatch("the granularity that was given", granularity, "the measurement", metric)
    return granularity
