"""A space is a domain with a metric that measures it."""

import dataclasses
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.errors import NotInDomain, ParameterError

INTS, ROWS = vm.vectors(int), vm.SymmetricDistance()


@for_each("domain", [None, int, "vectors(int)", [1], vm.vectors, ROWS])
def test_a_space_takes_a_domain(domain: Any) -> None:
    with pytest.raises(ParameterError, match="domain="):
        vm.Space(domain, ROWS)


@for_each("metric", [None, 1, "SymmetricDistance", vm.SymmetricDistance, INTS])
def test_a_space_takes_a_metric(metric: Any) -> None:
    with pytest.raises(ParameterError, match="metric="):
        vm.Space(INTS, metric)


@pytest.mark.parametrize(
    ("domain", "metric"),
    [(vm.scalars(int), ROWS), (vm.scalars(str), vm.AbsoluteDistance()), (vm.vectors(str), vm.L1Distance())],
)
def test_a_space_refuses_a_metric_that_does_not_measure_its_domain(domain: Any, metric: Any) -> None:
    with pytest.raises(ParameterError) as refused:
        vm.Space(domain, metric)
    assert repr(domain) in str(refused.value) and repr(metric) in str(refused.value)


def test_a_metric_of_ones_own_says_which_domains_it_measures() -> None:
    picky = vm.metric("Picky", distance=lambda *_: 0, trust="none", measures=lambda domain: domain == INTS)
    assert vm.Space(INTS, picky).metric is picky
    with pytest.raises(ParameterError, match="Picky does not measure"):
        vm.Space(vm.vectors(str), picky)


def test_spaces_are_frozen_and_equal_when_their_parts_are() -> None:
    space, again = vm.Space(vm.vectors(int), vm.SymmetricDistance()), vm.Space(INTS, ROWS)
    assert space == again and hash(space) == hash(again)
    assert space != vm.Space(INTS, vm.InsertDeleteDistance())
    assert space != vm.Space(vm.vectors(int, bounds=(0, 1)), ROWS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        space.metric = vm.InsertDeleteDistance()  # type: ignore[misc]


def test_a_space_measures_members_and_refuses_others() -> None:
    space = vm.Space(INTS, ROWS)
    assert space.distance([1, 2, 3], [3, 1, 4]) == 2
    with pytest.raises(NotInDomain):
        space.distance([1], ["x"])


def test_a_space_lists_what_its_parts_ask_to_be_trusted_once_each() -> None:
    odd = vm.domain("Odd", member=lambda n: n % 2 == 1, trust="oddness")
    apart = vm.metric("Apart", distance=lambda a, b: abs(a - b), trust="apartness")
    assert vm.Space(odd, apart).assumptions == ("oddness (domain Odd)", "apartness (metric Apart)")
    assert vm.Space(INTS, ROWS).assumptions == ()


@for_each("other", [1, None, lambda rows: rows, vm.postprocess(str), INTS])
def test_a_space_goes_before_recipes_only(other: Any) -> None:
    with pytest.raises(TypeError):
        vm.Space(INTS, ROWS) >> other
