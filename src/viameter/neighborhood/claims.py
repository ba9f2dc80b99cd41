"""Leaves: a map, and what a mechanism on its image costs: how private it is, for which granularity, on which domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

from viameter.arith import INFINITY
from viameter.core import Loss, Measure, Measurement, Recipe
from viameter.errors import MetricMismatch, NoTheorem, ParameterError, plain
from viameter.neighborhood.arguments import read_listed
from viameter.neighborhood.changes import Change, Steps
from viameter.neighborhood.cuts import Cut, Part
from viameter.neighborhood.granularities import (
    Attribute,
    Bounded,
    BoundedOrdered,
    Geo,
    Granularity,
    InsertDelete,
    Local,
    Personalised,
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
        return replace(self, claims=(*self.claims, _claim(loss, granularity, mode)))

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


def leaf(
    map: Part,
    loss_or_measurement: Any,
    *,
    granularity: Granularity | None = None,
    mode: Mode = "separate",
) -> Leaf:
    """A mechanism on what a map keeps of the data: its map, and its loss, or the measurement itself.

    mode="separate": the mechanism is private on the part's own data, for that granularity (Theorem III.1).
    mode="common": the mechanism after the map is private on the whole data, and looks at nothing but what the map keeps
    (Theorem III.4). The granularity is that of the target if none is given; a measurement's follows from its metric.
    Besides a loss or a Measurement (or its recipe, on a part of real data), these are taken: losses by number of steps,
    {1: loss, 2: loss}; losses by class of people for personalised guarantees, {"staff": loss, "patients": loss}; a
    composition on the part's data.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> nb.leaf(nb.partition(3, by="value")[1], vm.pure("1/2"), mode="common")
    leaf(part 1 by value, pure(1/2), mode='common')
    """
    from viameter.neighborhood.composed import Composed

    if not isinstance(map, Part):
        hint = "choose one of its parts" if isinstance(map, Iterable) else "make one, as partition(3, by='value')[0]"
        raise ParameterError(f"map={plain(map)} is not a map: {hint}")
    if isinstance(loss_or_measurement, Composed):
        if granularity is not None or mode != "separate":
            raise ParameterError("a composition knows its granularities: give none, and no mode")
        if isinstance(loss_or_measurement.granularity, Personalised):
            raise ParameterError("a personalised composition is none for everybody: nest that of each class on its own")
        return Leaf(map, (), inner=loss_or_measurement)
    classes = loss_or_measurement
    if isinstance(classes, Mapping) and classes and all(isinstance(name, str) for name in classes):
        return Leaf(map, (), by_class=tuple((name, _claim(loss, granularity, mode)) for name, loss in classes.items()))
    if isinstance(loss_or_measurement, Recipe):
        loss_or_measurement = _completed(map, loss_or_measurement, mode)
    return Leaf(map, (_claim(loss_or_measurement, granularity, mode),))


def _completed(map: Part, recipe: Recipe[Any], mode: str) -> Measurement:
    first = map.transformation
    if first is None:
        raise ParameterError(f"{map!r} is no transformation of real data, on which a recipe could be completed")
    made = first >> recipe if mode == "common" else recipe.complete(first.output_space)
    if not isinstance(made, Measurement):
        raise ParameterError(f"leaf({map!r}, ...): the recipe makes no Measurement; add noise, as >> laplace(scale=10)")
    return made


def leaves(
    maps: Iterable[Part], loss: Any, *, granularity: Granularity | None = None, mode: Mode = "separate"
) -> Sequence[Leaf]:
    """A leaf for each map, all with the same loss, measurement or recipe; or with a list of those, one for each.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> nb.compose(nb.unbounded(), nb.leaves(nb.subsets(10, at_most=3), vm.zcdp("0.05"))).loss
    zcdp(3/20)
    """
    parts = maps if isinstance(maps, Cut) else read_listed(maps, "maps", "partition(3)")
    if isinstance(loss, Recipe):
        return [leaf(part, loss, granularity=granularity, mode=mode) for part in parts]
    if isinstance(loss, list | tuple):
        if len(loss) != len(parts):
            raise ParameterError(
                f"there are {len(loss)} losses for {len(parts)} maps: give one for each, or one for all"
            )
        return [leaf(part, own, granularity=granularity, mode=mode) for part, own in zip(parts, loss, strict=True)]
    claims = (_claim(loss, granularity, mode),)
    if isinstance(parts, Cut):
        return UniformLeaves(parts, claims)
    for place, part in enumerate(parts):
        if not isinstance(part, Part):
            raise ParameterError(f"maps[{place}]={plain(part)} is not a map")
    return [Leaf(part, claims) for part in parts]


@dataclass(frozen=True)
class UniformLeaves(Sequence[Leaf]):
    """A leaf on each part of a cut, all with the same claims: a million of them take no memory."""

    cut: Cut
    claims: tuple[Claim, ...]

    def __len__(self) -> int:
        return len(self.cut)

    @overload
    def __getitem__(self, place: int) -> Leaf: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Leaf]: ...
    def __getitem__(self, place: int | slice) -> Leaf | Sequence[Leaf]:
        """One of the leaves, or several."""
        if isinstance(place, slice):
            return [Leaf(part, self.claims) for part in self.cut[place]]
        return Leaf(self.cut[place], self.claims)

    def __repr__(self) -> str:
        return f"<{len(self)} leaves like {self[0]!r}>"


def with_claims(leaves: Sequence[Leaf], change: Callable[[Claim], Claim]) -> Sequence[Leaf]:
    """The same leaves with their claims changed; leaves that share their claims go on to do so."""
    if isinstance(leaves, UniformLeaves):
        return replace(leaves, claims=tuple(change(claim) for claim in leaves.claims))
    changed: dict[int, tuple[Claim, ...]] = {}
    found = []
    for leaf in leaves:
        claims = changed.get(id(leaf.claims))
        if claims is None:
            claims = changed[id(leaf.claims)] = tuple(change(claim) for claim in leaf.claims)
        by_class = tuple((name, change(claim)) for name, claim in leaf.by_class)
        found.append(replace(leaf, claims=claims, by_class=by_class))
    return tuple(found)


def distinct_claims(leaves: Sequence[Leaf]) -> list[tuple[Claim, ...]]:
    """The claims of leaves, those that are one object once."""
    if isinstance(leaves, UniformLeaves):
        return [leaves.claims]
    return list({id(leaf.claims): leaf.claims for leaf in leaves}.values())


def _claim(given: Any, granularity: Granularity | None, mode: str) -> Claim:
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
