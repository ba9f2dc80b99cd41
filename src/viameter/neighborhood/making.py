"""Leaves as people make them: a map with a loss, a measurement, a recipe, losses by steps or by class of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from viameter.core import Measurement, Recipe
from viameter.errors import ParameterError, plain
from viameter.neighborhood.arguments import read_listed
from viameter.neighborhood.claims import Leaf, Mode, read_claim
from viameter.neighborhood.cuts import Cut, Part
from viameter.neighborhood.granularities import Granularity, Personalised
from viameter.neighborhood.uniform import UniformLeaves


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
        return Leaf(
            map, (), by_class=tuple((name, read_claim(loss, granularity, mode)) for name, loss in classes.items())
        )
    if isinstance(loss_or_measurement, Recipe):
        loss_or_measurement = _completed(map, loss_or_measurement, mode)
    return Leaf(map, (read_claim(loss_or_measurement, granularity, mode),))


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
    claims = (read_claim(loss, granularity, mode),)
    if isinstance(parts, Cut):
        return UniformLeaves(parts, claims)
    for place, part in enumerate(parts):
        if not isinstance(part, Part):
            raise ParameterError(f"maps[{place}]={plain(part)} is not a map")
    return [Leaf(part, claims) for part in parts]
