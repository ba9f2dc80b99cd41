"""Stability by brute force: on all pairs of some datasets, images are no further apart than the map says."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from tests.spaces.oracles import INFINITY, Extended, own_distance, prepared, same, scale

import viameter as vm

drawn = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
"""How often Hypothesis draws, always the same."""


def image(made: vm.Transformation, data: Any) -> Any:
    """The image of a dataset; it is a member of the output domain and in canonical form already."""
    found = made(data)
    assert same(made.output_space.domain.admit(found), found), (made, data, found)
    return found


def check_stability(made: vm.Transformation, datasets: Iterable[Any]) -> set[Extended]:
    """Compare all pairs, and return the distances for which two images are as far apart as the map allows."""
    source, target = made.input_space, made.output_space.metric
    given = [source.domain.admit(data) for data in datasets]
    before = [prepared(source.metric, member) for member in given]
    after = [prepared(target, image(made, member)) for member in given]
    bounds: dict[Extended, Extended] = {}
    scaled: dict[Extended, Extended] = {}
    attained = set()
    for one, left in enumerate(before):
        for two in range(one, len(before)):
            apart = own_distance(source.metric, left, before[two])
            if isinstance(source.metric, vm.L2Distance):
                apart = source.metric.distance(given[one], given[two])
            if apart not in bounds:
                bounds[apart] = made.map(apart)
                scaled[apart] = scale(target, bounds[apart])
            found = own_distance(target, after[one], after[two])
            assert found <= scaled[apart], (made, given[one], given[two], apart, bounds[apart])
            if found == scaled[apart] != INFINITY:
                attained.add(apart)
    # What is said of members d apart is meant for those that are nearer, too.
    rising = [bounds[apart] for apart in sorted(bounds)]
    assert rising == sorted(rising)
    assert made.map(0) == 0
    return attained


def check_order_is_ignored(made: vm.Transformation, datasets: Iterable[Sequence[Any]]) -> None:
    """All orders of the same rows have images at distance 0."""
    target = made.output_space.metric
    for data in datasets:
        first, *others = (prepared(target, image(made, list(rows))) for rows in itertools.permutations(data))
        assert all(own_distance(target, first, other) == 0 for other in others), (made, data)
