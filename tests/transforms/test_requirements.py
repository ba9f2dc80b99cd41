"""What transformations ask of a space: the same wording everywhere, and nothing but our own errors."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.cases import for_each
from tests.spaces.oracles import NORMS, REPLACING, ROW_METRICS

import viameter as vm
from viameter.core import Domain, Metric
from viameter.errors import NoTheorem, ParameterError
from viameter.transforms.requirements import number_element, row_metric, steps_per_change, table_domain, vector_domain

DOMAINS: tuple[Domain, ...] = (
    vm.scalars(int),
    vm.scalars(float),
    vm.scalars(float, nan=True),
    vm.scalars(str),
    vm.categories([1, 2]),
    *(vm.vectors(kind, size=size) for kind in (int, float, str) for size in (None, 2)),
    *(vm.vectors(kind, bounds=(0, 1), size=size) for kind in (int, float) for size in (None, 2)),
    vm.vectors(float, bounds=(0, 1), nan=True, size=2),
    vm.vectors(vm.categories([1, 2])),
    vm.tables({"user": str, "value": int}),
    vm.tables({"user": str, "value": int}, size=2),
    vm.finite([1, 2]),
    vm.graphs(),
    vm.streams(int),
)
METRICS: tuple[Metric, ...] = (
    *ROW_METRICS,
    vm.SymmetricIdDistance("user"),
    vm.ChangeOneIdDistance("user"),
    *NORMS,
    vm.AbsoluteDistance(),
    vm.DiscreteDistance(),
    vm.metric("own", distance=lambda a, b: 0 if a == b else 1, trust="it is a metric"),
)
RECIPES: tuple[Any, ...] = (
    vm.clamp(bounds=(0, 1)),
    vm.impute(value=0),
    vm.cast(to=int, default=0),
    vm.cast(to=float, default=0),
    vm.cast(to=str),
    vm.to_grid(step=1),
    vm.map_rows(function=hash, output=vm.scalars(int), default=0, trust="it is a function"),
    vm.select(["user"]),
    vm.column("value"),
    vm.filter(vm.between(0, 1)),
    vm.filter(vm.is_in(["u"]), column="user"),
    vm.filter(bool, trust="it is a function"),
    vm.count(),
    vm.sum(),
    vm.mean(),
    vm.histogram(keys=[1]),
    vm.histogram(edges=[0, 1]),
    vm.histogram(),
    vm.resize(size=1, fill=0),
    vm.resize(size=1, fill={"user": "", "value": 0}),
    vm.limit_rows(per_id=1),
    *(vm.measured_by(metric) for metric in METRICS),
)
SPACES = [
    vm.Space(domain, metric) for domain, metric in itertools.product(DOMAINS, METRICS) if metric.fits(domain) is None
]


@for_each("recipe", RECIPES)
def test_a_transformation_can_be_made_on_a_space_or_says_why_not(recipe: Any) -> None:
    made = 0
    for space in SPACES:
        try:
            step = space >> recipe
        except (ParameterError, NoTheorem):  # any other error is one that nobody wrote a text for
            continue
        made += 1
        assert step.input_space == space
        assert step.map(0) == 0
        assert step.map(1) <= step.map(2) <= step.map("inf")
        assert str(step.explain(1)).count("\n") >= 1
    assert made > 0


def test_a_table_is_told_to_take_a_column() -> None:
    space = vm.Space(vm.tables({"a": int}), vm.SymmetricDistance())
    with pytest.raises(ParameterError, match=r"thing takes vectors, not tables\(.*column\(\.\.\.\) first"):
        vector_domain(space, "thing")
    assert table_domain(space, "thing") == space.domain
    with pytest.raises(ParameterError, match="thing takes tables, not vectors"):
        table_domain(vm.Space(vm.vectors(int), vm.SymmetricDistance()), "thing")


def test_numbers_are_asked_for_with_the_cure() -> None:
    for domain, error, cure in (
        (vm.vectors(str), ParameterError, r"cast\(to=int"),
        (vm.vectors(vm.categories([1])), ParameterError, r"cast\(to=int"),
        (vm.vectors(float, nan=True), NoTheorem, r"impute\(value=0\)"),
    ):
        with pytest.raises(error, match=cure):
            number_element(vm.Space(domain, vm.SymmetricDistance()), "thing")


def test_metrics_that_count_rows_are_asked_for_with_the_cure() -> None:
    users = vm.Space(vm.tables({"user": str}), vm.SymmetricIdDistance("user"))
    with pytest.raises(NoTheorem, match=r"limit_rows\(per_id=\.\.\.\) bounds it first"):
        row_metric(users, "thing")
    with pytest.raises(NoTheorem, match="not for L2Distance"):
        row_metric(vm.Space(vm.vectors(int), vm.L2Distance()), "thing")


@for_each("metric", ROW_METRICS)
def test_one_change_takes_one_step_or_two_or_is_none(metric: Any) -> None:
    free, sized = (vm.Space(vm.vectors(int, size=size), metric) for size in (None, 3))
    if isinstance(metric, REPLACING):
        assert steps_per_change(free, metric) == steps_per_change(sized, metric) == 1
    else:
        assert steps_per_change(free, metric) is None
        assert steps_per_change(sized, metric) == 2
    nothing = vm.Space(vm.vectors(int, size=0), metric)
    assert steps_per_change(nothing, metric) == steps_per_change(sized, metric)
