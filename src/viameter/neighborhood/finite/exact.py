"""The worst pair of neighbors by brute force: the ground truth that structured answers are compared with."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from viameter.arith import INFINITY, ZERO, Extended
from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError
from viameter.measures import PureDP, pure
from viameter.neighborhood.finite.conditions import Conditions, smallness
from viameter.neighborhood.finite.laws import Law, loss_at
from viameter.neighborhood.finite.maximal import join, maximal
from viameter.neighborhood.finite.quotient import LeastLoss
from viameter.neighborhood.finite.relations import Neighbors, Relation
from viameter.neighborhood.finite.space import ClassRelation, Metric, PrivacySpace


@dataclass(frozen=True, kw_only=True, slots=True)
class _LeafOptions:
    mode: Literal["separate", "common"] = "separate"
    relation: Relation | ClassRelation | None = None
    neighbors: Neighbors | None = None
    metric: Metric | None = None
    images: Iterable[Hashable] | None = None


@dataclass(frozen=True, slots=True)
class FiniteLeaf(_LeafOptions):
    """One mechanism: the map to what it sees, and its law.

    - `mode="separate"`: it is private on the class of images, or on `images` if that class is larger.
    - `mode="common"`: it is private on the whole class, and depends on the image only.
    - `relation`, `neighbors` or `metric`: what it is private for; the space's own if none is given.
    """

    map: Callable[[Any], Hashable]
    law: Law

    def __post_init__(self) -> None:
        if self.mode not in ("separate", "common"):
            raise ParameterError(f"mode={self.mode!r} is not known: expected 'separate' or 'common'")
        if self.mode == "common" and self.images is not None:
            raise ParameterError("images are of the separate mode: a common leaf is private on the whole class")
        if sum(given is not None for given in (self.relation, self.neighbors, self.metric)) > 1:
            raise ParameterError("a leaf takes at most one of relation=, neighbors= and metric=")
        if self.images is not None:
            object.__setattr__(self, "images", tuple(self.images))


class LeafCosts:
    """Distances and losses of one leaf between two of its images."""

    __slots__ = ("_cache", "_least", "leaf", "space", "zero")

    def __init__(self, space: PrivacySpace, leaf: FiniteLeaf) -> None:
        self.leaf = leaf
        self.zero = loss_at(leaf.law, ZERO)
        self._cache: dict[tuple[Any, Any], tuple[Extended, Loss]] = {}
        self._least: LeastLoss | None = None
        members: Iterable[Hashable] = space.members
        if leaf.mode == "separate":
            reached = dict.fromkeys(map(leaf.map, space.members))
            members = dict.fromkeys(reached if leaf.images is None else leaf.images)
            if not members.keys() >= reached.keys():
                missed = next(image for image in reached if image not in members)
                raise ParameterError(f"images lacks {missed!r}, an image of the map: expected all of them")
        own = any(given is not None for given in (leaf.relation, leaf.neighbors, leaf.metric))
        if own:
            given = {"relation": leaf.relation, "neighbors": leaf.neighbors, "metric": leaf.metric}
            self.space = PrivacySpace(members, **given)  # type: ignore[arg-type]
        else:
            self.space = space if leaf.mode == "common" else space.like(members)
        if leaf.mode == "common":
            self._least = LeastLoss(self.space, leaf.map, leaf.law)

    def between(self, one: Any, other: Any) -> tuple[Extended, Loss]:
        """The distance of two images, and the loss between them."""
        if one == other:
            return ZERO, self.zero
        known = self._cache.get((one, other))
        if known is None:
            if self._least is not None:
                known = self._least.distance(one, other), self._least.between(one, other)
            else:
                far = self.space.distance(one, other)
                known = far, loss_at(self.leaf.law, far)
            self._cache[one, other] = self._cache[other, one] = known
        return known


@dataclass(frozen=True, slots=True)
class WorstPair:
    """A pair of databases, what the leaves see of it, how far apart that is, and what it costs in total."""

    loss: Loss
    before: Any
    after: Any
    images: tuple[tuple[Any, Any], ...]
    distances: tuple[Extended, ...]


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """The composed loss, a smallest pair that has it, and whether the conditions of parallel composition hold.

    Where losses are several numbers, `loss` is the least one above all pairs, and `maximal` lists the pairs that no
    other pair dominates; the first of them is the one shown. A class without neighbors has no pair: its loss is zero.
    """

    loss: Loss
    maximal: tuple[WorstPair, ...]
    conditions: Conditions

    @property
    def before(self) -> Any:
        """One database of the worst pair; None if there are no neighbors."""
        return self.maximal[0].before if self.maximal else None

    @property
    def after(self) -> Any:
        """The other one."""
        return self.maximal[0].after if self.maximal else None

    @property
    def images(self) -> tuple[tuple[Any, Any], ...]:
        """What each leaf sees of the worst pair."""
        return self.maximal[0].images if self.maximal else ()

    @property
    def distances(self) -> tuple[Extended, ...]:
        """How far apart the two are that each leaf sees."""
        return self.maximal[0].distances if self.maximal else ()

    @property
    def c1(self) -> bool:
        """Whether on every pair of neighbors at most one map changes."""
        return self.conditions.c1

    @property
    def c1_pair(self) -> tuple[Any, Any] | None:
        """A smallest pair on which most maps change, if more than one does."""
        return self.conditions.c1_pair

    @property
    def c2(self) -> bool:
        """Whether every map moves neighbors at most distance 1 apart, in the distance that its leaf is private for."""
        return self.conditions.c2

    @property
    def c2_pair(self) -> tuple[int, Any, Any] | None:
        """A leaf and a smallest pair that it moves farthest apart, if that is farther than 1."""
        return self.conditions.c2_pair


def exact_worst(space: PrivacySpace, leaves: Sequence[FiniteLeaf]) -> ExactAnswer:
    """The loss of mechanisms run beside one another: the largest, over neighbors, of the sum of the leaves' losses.

    On a metric space it is the least epsilon with which the whole is (epsilon d)-private; pure losses only.

    >>> from viameter.neighborhood.finite import bounded, multisets
    >>> space = PrivacySpace(multisets("abc", 2), relation=bounded)
    >>> parts = [lambda D, x=x: tuple(r for r in D if r == x) for x in "abc"]
    >>> leaves = [FiniteLeaf(p, pure(e), mode="common") for p, e in zip(parts, (".2", ".5", ".3"))]
    >>> answer = exact_worst(space, leaves)
    >>> answer.loss, answer.before, answer.after
    (pure(4/5), ('b',), ('c',))
    """
    if not leaves:
        raise ParameterError("no leaves were given: expected at least one")
    costs = [LeafCosts(space, leaf) for leaf in leaves]
    measure = costs[0].zero.measure
    if space.is_metric and measure != PureDP:
        raise NoTheorem(f"on a metric space losses per distance are pure: {measure!r} has none; give a relation")
    seen = [{member: leaf.map(member) for member in space.members} for leaf in leaves]
    patterns: dict[tuple[Any, ...], tuple[Any, Any]] = {}
    conditions = Conditions()
    for before, after in sorted(space.pairs(), key=smallness):
        met = tuple(cost.between(image[before], image[after]) for cost, image in zip(costs, seen, strict=True))
        changed = [image[before] != image[after] for image in seen]
        conditions = conditions.with_pair(before, after, changed, [far for far, _ in met], _unit(space, before, after))
        pattern = (*(loss for _, loss in met), space.distance(before, after) if space.is_metric else None)
        patterns.setdefault(pattern, (before, after))
    found = []
    for (*losses, far), (before, after) in patterns.items():
        total = measure.total(losses)
        loss = total if far is None else pure(_per_distance(total, far))
        images = tuple((image[before], image[after]) for image in seen)
        distances = tuple(cost.between(*pair)[0] for cost, pair in zip(costs, images, strict=True))
        found.append(WorstPair(loss, before, after, images, distances))
    worst = maximal(found)
    return ExactAnswer(join([each.loss for each in worst], measure.zero), worst, conditions)


def _unit(space: PrivacySpace, before: Any, after: Any) -> Extended:
    return space.distance(before, after) if space.is_metric else Fraction(1)


def _per_distance(total: Any, distance: Extended) -> Extended:
    if total.epsilon == 0:
        return ZERO
    return INFINITY if distance == 0 or total.epsilon == INFINITY else Fraction(total.epsilon) / Fraction(distance)
