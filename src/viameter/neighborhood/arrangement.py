"""Arrangement: leaves gathered by the cut that their maps belong to, and the touch pattern that costs them most.

What leaves cost adds up, in each number of a loss. So for each number the worst pattern is looked for on its own;
leaves of different cuts are taken to be touched independently: exact where they are, an upper bound where not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from viameter.arith import INFINITY, Extended
from viameter.core import Loss
from viameter.measures.groups import group_loss
from viameter.neighborhood.changes import Change, Moved, Steps
from viameter.neighborhood.claims import Claim, Leaf
from viameter.neighborhood.cuts import Cut, Touched
from viameter.neighborhood.granularities import Geo, Granularity, Group
from viameter.neighborhood.granularities.classes import speaks_of_data_of
from viameter.neighborhood.scales import Scale
from viameter.neighborhood.uniform import UniformLeaves

if TYPE_CHECKING:
    from viameter.neighborhood.composed import Composed

Numbers = tuple[Extended, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one step does that costs most: the edit, and how it touches the parts of each cut."""

    value: Extended
    edit: Change
    touched: tuple[Touched, ...]

    @property
    def exact(self) -> bool:
        """Whether two neighbors do this: as far as each cut knows, and if no two of them must be touched at once."""
        return all(one.exact for one in self.touched) and sum(bool(one.changes) for one in self.touched) <= 1


@dataclass(frozen=True, slots=True)
class TouchedLeaf:
    """A leaf that a pattern touches, on which part, and by what change."""

    leaf: Leaf
    cut: Cut
    part: int
    change: Change


@dataclass(frozen=True, slots=True)
class Chosen:
    """The claim that counts for a leaf at a change, the steps that this is, and the loss."""

    claim: Claim
    steps: Steps
    loss: Loss


@dataclass(frozen=True)
class CutLeaves:
    """The leaves on the parts of one cut, gathered: parts with the same claims cost the same."""

    cut: Cut
    bundles: tuple[tuple[Leaf, ...], ...]
    """The different sets of leaves that parts have."""
    bundle_of: Sequence[int]
    """Which of them each part has."""

    @cached_property
    def alike(self) -> list[tuple[int, bool]]:
        """For each part, what decides its costs: its leaves, and whether there can be data outside of it."""
        return [(self.bundle_of[part], self.cut.has_outside(part)) for part in range(len(self.cut))]

    @cached_property
    def different(self) -> frozenset[tuple[int, bool]]:
        """The different ones among them."""
        return frozenset(self.alike)

    def leaves_of(self, part: int) -> tuple[Leaf, ...]:
        """The leaves on a part; their own parts may be others that cost the same."""
        return self.bundles[self.bundle_of[part]]


@dataclass(frozen=True)
class Arrangement:
    """Leaves, gathered by cut, with the granularity they are composed for and the numbers that their losses are."""

    target: Granularity
    scale: Scale
    cuts: tuple[CutLeaves, ...]
    _known: dict[tuple[int, bool, Change, tuple[Change, ...]], Numbers] = field(default_factory=dict, repr=False)
    _within: WeakKeyDictionary[Composed, Arrangement] = field(default_factory=WeakKeyDictionary, repr=False)

    def worst(self, edits: Iterable[Change], number: int) -> Pattern:
        """The touch pattern of these edits that costs most in one number of the losses."""
        listed = tuple(edits)
        best: Pattern | None = None
        for edit in listed:
            touched = tuple(
                gathered.cut.worst(edit, _CutGains(self, gathered, listed, number)) for gathered in self.cuts
            )
            value = sum_of(one.value for one in touched)
            if best is None or value > best.value:
                best = Pattern(value, edit, touched)
        assert best is not None, "a granularity has at least one edit"
        return best

    def numbers(self, edits: Iterable[Change]) -> Numbers:
        """The largest cost of these edits in each number."""
        listed = tuple(edits)
        return tuple(self.worst(listed, number).value for number in range(self.scale.size))

    def cost(self, leaf: Leaf, change: Change, whole: tuple[Change, ...], *, outside: bool) -> Numbers:
        """What a change in its part costs a leaf."""
        if leaf.inner is not None:
            return self._cost_within(leaf, change)
        return self.scale.numbers(self.choose(leaf, change, whole, outside=outside).loss)

    def choose(self, leaf: Leaf, change: Change, whole: tuple[Change, ...], *, outside: bool) -> Chosen:
        """The claim of a leaf that gives the least loss for a change; with several numbers, the least first one."""
        ways = []
        for claim in leaf.claims:
            steps = claim.steps(change, target=self.target, whole=whole, outside=outside)
            # On the common domain steps are those of the whole data, which a map after the part does not bring nearer.
            factor = leaf.part.stability if claim.mode == "separate" else 1
            reached = steps if steps in (0, INFINITY) else _whole_number(steps * factor, claim)
            ways.append(Chosen(claim, reached, claim.law.at(reached)))
        return min(ways, key=lambda way: self.scale.numbers(way.loss))

    def chosen_for(self, touched: TouchedLeaf, pattern: Pattern) -> Chosen:
        """The claim that counts for a leaf that a pattern touches."""
        outside = touched.cut.has_outside(touched.part)
        return self.choose(touched.leaf, touched.change, (pattern.edit,), outside=outside)

    def _cost_within(self, leaf: Leaf, change: Change) -> Numbers:
        """What a change costs a composition on the part: its own worst pattern, for that change of its data."""
        assert leaf.inner is not None
        stretched = leaf.part.stability != 1 and not isinstance(change, Moved)
        if not _speaks_within(leaf.inner, self.target, in_steps=stretched):
            return (INFINITY,) * self.scale.size
        inner = self._within.get(leaf.inner)
        if inner is None:
            # Its numbers are to be those of this arrangement: Renyi losses are read at all orders that are listed here.
            inner = replace(leaf.inner.arrangement, scale=self.scale, _known={}, _within=WeakKeyDictionary())
            self._within[leaf.inner] = inner
        in_steps = isinstance(change, Moved) or any(gathered.cut.per_step for gathered in inner.cuts)
        if leaf.part.stability == 1 and not in_steps:
            return inner.numbers((change,))
        steps = steps_of(leaf.inner.granularity, change)
        if steps not in (0, INFINITY):
            steps = steps * leaf.part.stability
        return self.scale.numbers(group_loss(leaf.inner.loss, steps))


def touched_leaves(arrangement: Arrangement, pattern: Pattern) -> Iterator[TouchedLeaf]:
    """The leaves that a pattern touches, cut by cut."""
    for gathered, touched in zip(arrangement.cuts, pattern.touched, strict=True):
        for part, change in touched.changes.items():
            for leaf in gathered.leaves_of(part):
                yield TouchedLeaf(leaf, gathered.cut, part, change)


def _speaks_within(inner: Composed, target: Granularity, *, in_steps: bool) -> bool:
    """Whether all claims within a composition are about the data of the granularity that is composed for.

    Where the composition's own loss is used, at a number of its steps, so must its granularity be.
    """
    in_steps = in_steps or any(gathered.cut.per_step for gathered in inner.arrangement.cuts)
    if in_steps and not speaks_of_data_of(inner.granularity, target):
        return False
    for leaf in inner.leaves:
        if leaf.inner is not None and not _speaks_within(leaf.inner, target, in_steps=leaf.part.stability != 1):
            return False
        if not all(speaks_of_data_of(claim.in_granularity(inner.granularity), target) for claim in leaf.claims):
            return False
    return True


def steps_of(granularity: Granularity, change: Change) -> Steps:
    """How many steps a change is; a metric on values gives a length, which is one step or none that are known."""
    return Group(granularity, 1).distance(change) if isinstance(granularity, Geo) else granularity.distance(change)


def _whole_number(steps: Steps, claim: Claim) -> Steps:
    """Steps are counted in whole ones, unless they are those of a metric on values."""
    if steps == INFINITY or getattr(claim.law, "per_unit", False):
        return steps
    fraction = Fraction(steps)
    return -(-fraction.numerator // fraction.denominator)


@dataclass(frozen=True, slots=True)
class _CutGains:
    """One number of what each part of a cut costs for a change."""

    arrangement: Arrangement
    gathered: CutLeaves
    whole: tuple[Change, ...]
    number: int

    def of(self, part: int, change: Change) -> Extended:
        """The cost of all leaves on the part."""
        return self._bundle(self.gathered.bundle_of[part], self.gathered.cut.has_outside(part), change)

    def column(self, change: Change) -> list[Extended]:
        """The cost for each part, computed once for parts that are alike."""
        cut, bundle_of = self.gathered.cut, self.gathered.bundle_of
        if len(self.gathered.bundles) == 1 and cut.alike_outside:
            return [self.of(0, change)] * len(cut)
        if cut.alike_outside:
            outside = cut.has_outside(0)
            costs = [self._bundle(bundle, outside, change) for bundle in range(len(self.gathered.bundles))]
            return [costs[bundle] for bundle in bundle_of]
        costs_of = {pair: self._bundle(*pair, change) for pair in self.gathered.different}
        if len(set(costs_of.values())) == 1:
            return [next(iter(costs_of.values()))] * len(cut)
        return [costs_of[pair] for pair in self.gathered.alike]

    def _bundle(self, bundle: int, outside: bool, change: Change) -> Extended:
        arrangement = self.arrangement
        key = (id(self.gathered.bundles[bundle]), outside, change, self.whole)
        known = arrangement._known.get(key)
        if known is None:
            costs = [
                arrangement.cost(leaf, change, self.whole, outside=outside) for leaf in self.gathered.bundles[bundle]
            ]
            size = arrangement.scale.size
            known = tuple(sum_of(cost[number] for cost in costs) for number in range(size))
            arrangement._known[key] = known
        return known[self.number]


def sum_of(values: Iterable[Extended]) -> Extended:
    """The sum; infinite if one of them is."""
    total: Extended = Fraction(0)
    for value in values:
        if value == INFINITY:
            return INFINITY
        total = Fraction(total) + Fraction(value)
    return total


def arrange(target: Granularity, scale: Scale, leaves: Sequence[Leaf]) -> Arrangement:
    """Gather leaves by the cut of their maps."""
    if isinstance(leaves, UniformLeaves):
        same = CutLeaves(leaves.cut, ((leaves[0],),), [0] * len(leaves))
        return Arrangement(target, scale, (same,))
    by_cut: dict[int, tuple[Cut, list[Leaf]]] = {}
    for leaf in leaves:
        by_cut.setdefault(id(leaf.part.cut), (leaf.part.cut, []))[1].append(leaf)
    return Arrangement(target, scale, tuple(_gather(cut, members) for cut, members in by_cut.values()))


def _gather(cut: Cut, leaves: list[Leaf]) -> CutLeaves:
    on_part: dict[int, list[Leaf]] = {}
    for leaf in leaves:
        on_part.setdefault(leaf.part.place, []).append(leaf)
    # The same claims are often the same object, whose identity is quicker to compare than what it says.
    by_identity: dict[int, int] = {}
    by_content: dict[object, int] = {}
    seen: dict[object, int] = {}
    bundles: list[tuple[Leaf, ...]] = []
    bundle_of = []
    for part in range(len(cut)):
        members = on_part.get(part, ())
        key = tuple(
            (_number(leaf.claims, by_identity, by_content), id(leaf.inner), leaf.part.stability) for leaf in members
        )
        if key not in seen:
            seen[key] = len(bundles)
            bundles.append(tuple(members))
        bundle_of.append(seen[key])
    return CutLeaves(cut, tuple(bundles), bundle_of)


def _number(claims: tuple[Claim, ...], by_identity: dict[int, int], by_content: dict[object, int]) -> int:
    """A number for claims, the same for those that say the same."""
    number = by_identity.get(id(claims))
    if number is None:
        number = by_identity[id(claims)] = by_content.setdefault(claims, len(by_content))
    return number
