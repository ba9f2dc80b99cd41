"""Transformations in a row: what does not fit is refused with what both sides said; recipes are values."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.spaces.oracles import GREATEST, INFINITY, LEAST, ROW_METRICS, loose, sequences, table_of
from tests.transforms.oracles import check_stability, drawn, image

import viameter as vm
from viameter.errors import DomainMismatch, MetricMismatch, NotInDomain, ParameterError, SealedError

CANARY, WORD = 867530942, "canary-7f3a"
SYMMETRIC, CHANGE_ONE = vm.SymmetricDistance(), vm.ChangeOneDistance()
WHOLE = vm.Space(vm.vectors(int), SYMMETRIC)
VISITS = vm.tables({"user": str, "age": int, "cost": vm.scalars(float, nan=True)})


def test_another_domain_on_the_right_is_refused_with_what_both_sides_said() -> None:
    left = WHOLE >> vm.clamp(bounds=(0, 5))
    right = vm.Space(vm.vectors(int, bounds=(0, 6)), SYMMETRIC) >> vm.sum()
    with pytest.raises(DomainMismatch) as caught:
        left >> right
    error = caught.value
    assert (error.left, error.right) == (left.output_space.domain, right.input_space.domain)
    assert "the output of clamp(bounds=(0, 5)) has vectors(int, bounds=(0, 5))" in str(error)
    assert "the input of sum() has vectors(int, bounds=(0, 6))" in str(error)


def test_another_metric_on_the_right_is_refused_with_what_both_sides_said() -> None:
    left = WHOLE >> vm.clamp(bounds=(0, 5))
    right = vm.Space(vm.vectors(int, bounds=(0, 5)), CHANGE_ONE) >> vm.sum()
    with pytest.raises(MetricMismatch) as caught:
        left >> right
    assert (caught.value.left, caught.value.right) == (SYMMETRIC, CHANGE_ONE)
    assert "the output of clamp(bounds=(0, 5)) has SymmetricDistance()" in str(caught.value)
    assert "the input of sum() has ChangeOneDistance()" in str(caught.value)


def test_a_size_or_nan_or_a_column_that_differs_is_another_domain() -> None:
    pairs = [
        (vm.vectors(int, bounds=(0, 1), size=2), vm.vectors(int, bounds=(0, 1))),
        (vm.vectors(float, bounds=(0, 1)), vm.vectors(float, bounds=(0, 1), nan=True)),
        (vm.vectors(float, bounds=(0, 1)), vm.vectors(int, bounds=(0, 1))),
        (vm.tables({"a": int}), vm.tables({"b": int})),
        (vm.tables({"a": int, "b": int}), vm.tables({"b": int, "a": int})),
    ]
    for one, other in pairs + [pair[::-1] for pair in pairs]:
        left = vm.Space(one, SYMMETRIC) >> vm.measured_by(SYMMETRIC)
        right = vm.Space(other, SYMMETRIC) >> vm.count()
        with pytest.raises(DomainMismatch, match="domain mismatch"):
            left >> right


def test_a_chain_of_users_names_the_column_that_differs() -> None:
    domain = vm.tables({"a": str, "b": str})
    left = vm.Space(domain, vm.SymmetricIdDistance("a")) >> vm.measured_by(vm.SymmetricIdDistance("a"))
    right = vm.Space(domain, vm.SymmetricIdDistance("b")) >> vm.limit_rows(per_id=1)
    with pytest.raises(MetricMismatch, match=r"id='a'.*id='b'"):
        left >> right


@for_each("other", [None, 5, len, "count"])
def test_what_is_no_step_cannot_be_chained(other: Any) -> None:
    for left in (WHOLE, WHOLE >> vm.clamp(bounds=(0, 1)), vm.clamp(bounds=(0, 1))):
        with pytest.raises(TypeError):
            left >> other


def test_a_chain_is_the_same_however_it_is_put_together() -> None:
    clamped, whole = vm.clamp(bounds=(0, 5)), vm.resize(size=3, fill=0)
    made = WHOLE >> clamped >> whole >> vm.sum()
    others = [
        WHOLE >> (clamped >> whole >> vm.sum()),
        WHOLE >> (clamped >> (whole >> vm.sum())),
        (WHOLE >> clamped) >> (whole >> vm.sum()),
        (WHOLE >> clamped) >> ((WHOLE >> clamped).output_space >> whole >> vm.sum()),
        vm.sum((WHOLE >> clamped >> whole).output_space),
    ]
    for other in others[:-1]:
        assert other == made
        assert hash(other) == hash(made)
        assert repr(other) == repr(made)
        assert other.map(3) == made.map(3)
        assert other([9, 9]) == made([9, 9])
    assert others[-1] != made
    assert len(made.steps) == 3


@given(data=st.lists(st.integers(LEAST, GREATEST), max_size=6), other=st.lists(st.integers(-9, 9), max_size=6))
@drawn
def test_a_chain_maps_as_its_steps_do_one_after_the_other(data: list[int], other: list[int]) -> None:
    for metric in ROW_METRICS:
        steps: list[Any] = [
            vm.filter(vm.between(-5, None)),
            vm.clamp(bounds=(-2, 5)),
            vm.resize(size=4, fill=1),
            vm.sum(),
        ]
        whole = vm.Space(vm.vectors(int), metric) >> steps[0] >> steps[1] >> steps[2] >> steps[3]
        check_stability(whole, [data, other, data[1:], other[::-1]])
        for d_in in (0, 1, 2, 5, INFINITY):
            space, distance = vm.Space(vm.vectors(int), metric), d_in
            for step in steps:
                one = space >> step
                space, distance = one.output_space, one.map(distance)
            assert whole.map(d_in) == distance


def test_a_long_chain_is_stable_from_users_to_a_histogram() -> None:
    letters = list(itertools.product("uv", (17, 40), (math.nan, 0.5)))[:5]
    datasets = [table_of(VISITS.names, rows) for rows in sequences(letters, 2)]
    for metric in (vm.SymmetricIdDistance("user"), vm.ChangeOneIdDistance("user")):
        made = (
            vm.Space(VISITS, metric)
            >> vm.filter(vm.between(18, None), column="age")
            >> vm.limit_rows(per_id=1)
            >> vm.column("cost")
            >> vm.impute(value=0)
            >> vm.histogram(edges=[0, "0.5", 1], other=True, metric=vm.L2Distance())
        )
        check_stability(made, datasets)
        assert made.map(1) == (1 if isinstance(metric, vm.SymmetricIdDistance) else 2)


def test_check_compares_with_the_map() -> None:
    made = WHOLE >> vm.clamp(bounds=(0, 5)) >> vm.sum()
    assert made.check(2, 10)
    assert not made.check(2, "9.999")
    assert made.check("inf", "inf")
    assert not made.check("inf", 10**400)


def test_the_explanation_of_a_chain_names_every_theorem_and_number() -> None:
    made = WHOLE >> vm.filter(vm.between(0, None)) >> vm.clamp(bounds=(0, 5)) >> vm.resize(size=3, fill=0) >> vm.sum()
    text = str(made.explain(2))
    for part in (
        "[chain",
        "[filter-of-added-rows",
        "[rows-one-by-one",
        "[resize-of-added-rows",
        "[sum-of-replaced-rows",
    ):
        assert part in text
    for line in ("filter(predicate=between(0, None)): 2 -> 2", "resize(size=3, fill=0): 2 -> 4", "sum(): 4 -> 10"):
        assert line in text
    assert text.startswith("Data at most 2 apart in SymmetricDistance() have images at most 10 apart")


# --- data that a chain may not tell of -------------------------------------------------------------------------------


def test_data_outside_of_the_domain_are_refused_before_anything_runs() -> None:
    made = vm.Space(vm.vectors(int, bounds=(0, 9)), SYMMETRIC) >> vm.sum()
    with pytest.raises(NotInDomain) as caught:
        made([1, CANARY])
    error = caught.value
    assert str(CANARY) not in str(error) + repr(error) + repr(error.args)
    assert error.__cause__ is None
    assert error.__context__ is None


def test_what_a_trusted_function_raises_is_sealed() -> None:
    def fails(data: Any) -> Any:
        raise ValueError(f"{WORD} {data.tolist()}")

    number = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    for function in (fails, lambda _: WORD, lambda _: None):
        made = WHOLE >> vm.transformation(
            function=function, output=number, stability=lambda d_in: d_in, trust="it is stable"
        )
        with pytest.raises(SealedError) as caught:
            made([CANARY])
        error = caught.value
        assert str(error) == SealedError.TEXT
        assert error.__cause__ is None
        assert error.__context__ is None


def test_numbers_that_would_make_numpy_warn_do_not(recwarn: pytest.WarningsRecorder) -> None:
    hard = [math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, -0.0]
    space = vm.Space(vm.vectors(float, nan=True), SYMMETRIC)
    for recipe in (
        vm.cast(to=int, default=0),
        vm.cast(to=float, default=0),
        vm.cast(to=str),
        vm.clamp(bounds=(0, 1)),
        vm.impute(value=0),
        vm.filter(vm.between("1e-400", 10**400)),
        vm.histogram(edges=[0, "1e-400", 10**400], other=True),
        vm.resize(size=3, fill=0.0),
        vm.clamp(bounds=(0, 1)) >> vm.impute(value=0) >> vm.to_grid(step="1e-9") >> vm.sum(),
        vm.impute(value=0) >> vm.clamp(bounds=(-(10**300), 10**300)) >> vm.resize(size=9, fill=0) >> vm.mean(),
    ):
        image(space >> recipe, hard)
    assert not recwarn.list


# --- recipes ---------------------------------------------------------------------------------------------------------

EQUAL: list[tuple[Any, Any]] = [
    (vm.clamp(bounds=(0, 5)), loose.clamp(bounds=[0, 5])),
    (vm.clamp(bounds=(0, 5)), loose.clamp(bounds=np.array([0, 5]))),
    (vm.select(["a", "b"]), vm.select(columns=("a", "b"))),
    (vm.histogram(keys=["a"]), vm.histogram(keys=("a",), other=False, metric=vm.L1Distance())),
    (vm.filter(vm.between(0, "1/2")), vm.filter(predicate=vm.between("0", "0.5"))),
    (vm.measured_by(SYMMETRIC), vm.measured_by(metric=vm.SymmetricDistance())),
    (vm.count(), vm.count()),
    (vm.clamp(bounds=(0, 1)) >> vm.sum(), vm.clamp(bounds=(0, 1)) >> vm.sum()),
    (vm.cast(to=int, default=None), vm.cast(to=int)),
]
DIFFERENT: list[Any] = [
    vm.clamp(bounds=(0, 5)),
    vm.clamp(bounds=(0, 6)),
    vm.clamp(bounds=("0", "5")),
    vm.count(),
    vm.sum(),
    vm.clamp(bounds=(0, 5)) >> vm.sum(),
    vm.clamp(bounds=(0, 5)) >> vm.count(),
    vm.histogram(keys=["a"]),
    vm.histogram(keys=["a"], other=True),
    vm.histogram(keys=["a"], metric=vm.L2Distance()),
    vm.histogram(edges=["a"]),
]


@for_each(("one", "other"), EQUAL)
def test_recipes_that_say_the_same_are_equal(one: Any, other: Any) -> None:
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == repr(other)


def test_recipes_that_say_something_else_are_not_equal() -> None:
    for one, two in itertools.product(range(len(DIFFERENT)), repeat=2):
        assert (DIFFERENT[one] == DIFFERENT[two]) == (one == two)
    assert len(set(DIFFERENT)) == len(DIFFERENT)


def test_transformations_are_equal_when_recipe_and_space_are() -> None:
    recipe = vm.clamp(bounds=(0, 5)) >> vm.sum()
    assert WHOLE >> recipe == vm.Space(vm.vectors(int), vm.SymmetricDistance()) >> recipe
    assert WHOLE >> recipe != vm.Space(vm.vectors(int), CHANGE_ONE) >> recipe
    assert WHOLE >> vm.count() != WHOLE >> recipe
    assert len({WHOLE >> vm.count(), vm.count(WHOLE), WHOLE >> recipe}) == 2


def test_a_recipe_cannot_be_changed_by_changing_a_list_that_went_into_it() -> None:
    bounds, keys, edges, columns = [0, 5], ["a"], [0, 1], ["a"]
    recipes = [loose.clamp(bounds=bounds), vm.histogram(keys=keys), vm.histogram(edges=edges), vm.select(columns)]
    same = [vm.clamp(bounds=(0, 5)), vm.histogram(keys=["a"]), vm.histogram(edges=[0, 1]), vm.select(["a"])]
    bounds[1], keys[0], edges[1], columns[0] = 100, "b", 2, "b"
    assert recipes == same
    assert (WHOLE >> recipes[0])([50]).tolist() == [5]
    array = np.array([0, 5])
    clamped = loose.clamp(bounds=array)
    array[1] = 100
    assert (WHOLE >> clamped)([50]).tolist() == [5]


def test_a_recipe_can_be_used_twice_whatever_went_into_it() -> None:
    recipe = loose.histogram(edges=(edge for edge in (0, 1, 2)))
    assert (WHOLE >> recipe)([0, 1]).tolist() == (WHOLE >> recipe)([0, 1]).tolist() == [1, 1]


# Once: the order of a set of strings changes from run to run: the columns come in another order, which is another
# domain, and rising edges are accepted or refused by luck.
@pytest.mark.parametrize(
    "recipe", [loose.select({"a", "b", "c"}), loose.histogram(edges={0, 1})], ids=["select", "edges"]
)
def test_a_set_is_refused_where_the_order_matters(recipe: Any) -> None:
    table = vm.Space(vm.tables({"a": int, "b": int, "c": int}), SYMMETRIC)
    with pytest.raises(ParameterError, match="set"):
        (WHOLE if "edges" in repr(recipe) else table) >> recipe


@for_each(
    ("call", "said"),
    [
        (loose.clamp, r"call it as clamp\(bounds=\.\.\.\)"),
        (lambda: loose.clamp((0, 1)), "too many positional arguments"),
        (lambda: loose.clamp(bounds=(0, 1), bound=1), "no parameter 'bound'"),
        (lambda: loose.clamp(WHOLE), "missing a required"),
        (lambda: loose.count(5), "too many positional arguments"),
        (lambda: loose.resize(size=3), "fill"),
        (lambda: loose.resize(WHOLE, 3, 0), "too many positional arguments"),
        (loose.limit_rows, "per_id"),
        (loose.filter, "predicate"),
        (loose.select, "columns"),
        (loose.measured_by, "metric"),
        (lambda: loose.map_rows(function=len), "output"),
        (lambda: loose.sum(space=WHOLE), "space"),
    ],
)
def test_a_recipe_with_missing_or_strange_parameters_is_refused_when_it_is_written(call: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        call()


def test_a_recipe_is_completed_by_a_space_by_a_transformation_or_by_a_call() -> None:
    recipe = vm.clamp(bounds=(0, 5))
    assert WHOLE >> recipe == vm.clamp(WHOLE, bounds=(0, 5)) == recipe.complete(WHOLE)
    assert repr(WHOLE >> recipe) == f"{WHOLE!r} >> clamp(bounds=(0, 5))"
    with pytest.raises(ParameterError, match="clamp takes numbers"):
        vm.Space(vm.vectors(str), SYMMETRIC) >> recipe
    with pytest.raises(ParameterError, match="clamp takes numbers"):
        WHOLE >> vm.cast(to=str) >> recipe


def test_a_recipe_that_fails_half_way_names_the_step_that_failed() -> None:
    with pytest.raises(ParameterError, match="sum takes vectors, not scalars"):
        WHOLE >> (vm.count() >> vm.sum())


@for_each("metric", ROW_METRICS)
def test_an_infinite_distance_stays_infinite_or_becomes_0_where_nothing_can_change(metric: Any) -> None:
    made = vm.Space(vm.vectors(int), metric) >> vm.clamp(bounds=(0, 0)) >> vm.resize(size=2, fill=0) >> vm.sum()
    assert made.map(5) == 0
    check_stability(made, sequences([0, 7], 3))
    assert (vm.Space(vm.vectors(int), metric) >> vm.count()).map("inf") == INFINITY


def test_a_map_gives_fractions_or_infinity_only() -> None:
    made = vm.Space(vm.vectors(float, bounds=(0, "0.1"), size=3), CHANGE_ONE) >> vm.mean()
    assert type(made.map(1)) is Fraction
    assert type(made.map(0)) is Fraction
    assert type(made.map(math.inf)) is float
