"""The quotient of a privacy space by a map, and the least loss between images for a leaf that is private on the whole.

A mechanism on the whole class that depends on f(D) only is a mechanism on the images. What it promises between two
images is what every path of hops promises: a hop between two images costs what the law gives at the least distance
between their fibres, since the mechanism cannot tell members of a fibre apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from viameter.arith import INFINITY, ZERO, Extended
from viameter.core import Loss
from viameter.errors import ParameterError
from viameter.neighborhood.finite.laws import Law, chain, is_scalar, loss_at, weight
from viameter.neighborhood.finite.pseudometric import plus
from viameter.neighborhood.finite.space import PrivacySpace

Map = Callable[[Any], Hashable]


def fibres(space: PrivacySpace, function: Map) -> dict[Any, list[Any]]:
    """The members of each image."""
    found: dict[Any, list[Any]] = {}
    for member in space.members:
        found.setdefault(function(member), []).append(member)
    return found


def quotient(space: PrivacySpace, function: Map) -> PrivacySpace:
    """The images, as far apart as the shortest path of hops, each as long as the least distance between two fibres.

    >>> line = PrivacySpace(range(5), metric=lambda a, b: abs(a - b))
    >>> quotient(line, "abebc".__getitem__).distance("a", "c")
    Fraction(2, 1)
    """
    name = f"quotient of {space.name}" if space.name else ""
    if not space.is_metric:
        # Every hop is a path of steps, so that steps are enough.
        steps: dict[Any, set[Any]] = {image: set() for image in fibres(space, function)}
        for before, after in space.pairs():
            one, other = function(before), function(after)
            steps[one].add(other)
            steps[other].add(one)
        return PrivacySpace(steps, neighbors=steps.__getitem__, name=name)
    rows = {image: _least_from(space, function, members) for image, members in fibres(space, function).items()}
    for via, onward in rows.items():
        for row in rows.values():
            row.update({other: min(far, plus(row[via], onward[other])) for other, far in row.items()})
    return PrivacySpace(rows, metric=lambda one, other: rows[one][other], name=name)


class LeastLoss:
    """The least loss between images, over all paths of hops of any length, of a leaf with this law on the whole class.

    A law that is a loss at distance 1 is its group law, for which steps are the best hops. For a law that is a
    function the hops add by the measure's law of chains; the law at the quotient distance would be unsound. Measures
    without a law of chains for different steps, such as (epsilon, delta), get the loss of the one direct hop: an upper
    bound, not always the least.
    """

    __slots__ = ("_function", "_hops", "_law", "_losses", "_space", "quotient", "zero")

    def __init__(self, space: PrivacySpace, function: Map, law: Law) -> None:
        self._space, self._function, self._law = space, function, law
        self._hops: _Hops | None = None
        self._losses: dict[Any, dict[Any, Loss]] = {}
        self.quotient = quotient(space, function)
        self.zero = loss_at(law, ZERO)

    def distance(self, one: Any, other: Any) -> Extended:
        """The distance in the quotient."""
        return self.quotient.distance(one, other)

    def between(self, one: Any, other: Any) -> Loss:
        """The least loss between two images."""
        if one == other:
            return self.zero
        if isinstance(self._law, Loss):
            return loss_at(self._law, self.quotient.distance(one, other))
        if self._hops is None:
            self._hops = _Hops(self._space, self._function, self._law)
        if not is_scalar(self.zero):
            return self._hops.steps[one][other]
        if one not in self._losses and other in self._losses:
            one, other = other, one
        if one not in self._losses:
            paths = self._hops.best_from(one)
            self._losses[one] = {image: chain(path, self.zero) for image, path in paths.items()}
        return self._losses[one][other]


class _Hops:
    """The loss of one hop between any two images, and what it costs in whole units, which add along paths."""

    __slots__ = ("costs", "images", "steps")

    def __init__(self, space: PrivacySpace, function: Map, law: Law) -> None:
        lengths = {image: _least_from(space, function, members) for image, members in fibres(space, function).items()}
        losses = {far: loss_at(law, far) for row in lengths.values() for far in row.values()}
        for near, far in pairwise(sorted(losses)):
            if not losses[near] <= losses[far]:
                raise ParameterError(
                    f"the law falls from {losses[near]!r} at distance {near} to {losses[far]!r} at distance {far}: "
                    "expected a law that never falls"
                )
        self.images = list(lengths)
        self.steps = {one: {other: losses[far] for other, far in row.items()} for one, row in lengths.items()}
        if not all(map(is_scalar, losses.values())):
            return
        weights = {far: weight(loss) for far, loss in losses.items()}
        unit = math.lcm(*(Fraction(each).denominator for each in weights.values() if each != INFINITY))
        whole: dict[Extended, float] = {}
        for far, each in weights.items():
            whole[far] = INFINITY if each == INFINITY else int(each * unit)
        self.costs = [[whole[lengths[one][other]] for other in self.images] for one in self.images]

    def best_from(self, source: Any) -> dict[Any, list[Loss]]:
        """The hops of a best path to each image (Dijkstra); fewer hops are preferred, since they are less rounded."""
        start = self.images.index(source)
        best: list[tuple[float, int]] = [(cost, 1) for cost in self.costs[start]]
        before = [start] * len(self.images)
        best[start] = (0, 0)
        waiting = set(range(len(self.images)))
        while waiting:
            own = min(waiting, key=best.__getitem__)
            waiting.remove(own)
            far, hops = best[own]
            if far == INFINITY:
                break
            # Whole costs may be too large for a float, so that infinity is not added to them.
            for other in waiting:
                cost = self.costs[own][other]
                if cost != INFINITY and (far + cost, hops + 1) < best[other]:
                    best[other], before[other] = (far + cost, hops + 1), own
        return {image: self._path(start, end, before) for end, image in enumerate(self.images)}

    def _path(self, start: int, end: int, before: list[int]) -> list[Loss]:
        path = []
        while end != start:
            path.append(self.steps[self.images[before[end]]][self.images[end]])
            end = before[end]
        return path


def least_loss(space: PrivacySpace, function: Map, law: Law) -> LeastLoss:
    """The least losses between the images of a map, for a leaf that has this law on the whole class.

    >>> line = PrivacySpace(range(5), metric=lambda a, b: abs(a - b))
    >>> law = lambda d: (0, 1, 1, 2, 2)[int(d)]
    >>> least_loss(line, "abebc".__getitem__, law).between("a", "c"), law(2)
    (pure(2), 1)
    """
    return LeastLoss(space, function, law)


def _least_from(space: PrivacySpace, function: Map, members: list[Any]) -> dict[Any, Extended]:
    """The least distance of each image's fibre from these members."""
    least: dict[Any, Extended] = {}
    for member, far in space.steps_from(members).items():
        image = function(member)
        least[image] = min(least.get(image, INFINITY), far)
    return {image: far if far == INFINITY else Fraction(far) for image, far in least.items()}
