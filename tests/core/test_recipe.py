"""Recipes: computations that wait for their space, frozen and equal when they say the same."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each

import viameter as vm
from viameter.core import Recipe, constructor
from viameter.core.recipe import freeze
from viameter.errors import DomainMismatch, ParameterError

ROWS = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())


@constructor
def times(space: vm.Space, factor: int, *, table: Any = (), offset: int = 0) -> vm.Transformation:
    """Multiply every row."""
    return vm.transformation(
        space,
        function=lambda rows: rows,
        output=space,
        stability=lambda d: factor * d,
        trust=f"times {factor} and {table}",
    )


# The same without their types: what callers do who run no type checker.
CLAMP: Any = vm.clamp
COUNT: Any = vm.count
TIMES: Any = times


def test_a_constructor_with_a_space_makes_a_computation_and_without_one_a_recipe() -> None:
    assert isinstance(vm.count(ROWS), vm.Transformation)
    assert isinstance(vm.count(), Recipe)
    assert ROWS >> vm.count() == vm.count(ROWS) == vm.count().complete(ROWS)


def test_recipes_compose_before_they_have_a_space() -> None:
    recipe = vm.clamp(bounds=(2, 5)) >> vm.count()
    assert isinstance(recipe, Recipe)
    assert ROWS >> recipe == ROWS >> vm.clamp(bounds=(2, 5)) >> vm.count()
    assert (vm.clamp(bounds=(2, 5)) >> vm.clamp(bounds=(3, 4))) >> vm.count() == vm.clamp(bounds=(2, 5)) >> (
        vm.clamp(bounds=(3, 4)) >> vm.count()
    )
    assert (ROWS >> recipe)([1, 2, 3]) == 3


def test_recipes_are_equal_when_they_say_the_same() -> None:
    for bounds in ([0, 5], np.array([0, 5])):
        same = CLAMP(bounds=bounds)
        assert same == vm.clamp(bounds=(0, 5)) and hash(same) == hash(vm.clamp(bounds=(0, 5)))
    assert vm.clamp(bounds=(0, 5)) != vm.clamp(bounds=(0, 6)) != vm.count()
    assert times(3) == times(factor=3) == times(3, offset=0) != times(3, offset=1)
    assert repr(times(3)) == "times(factor=3)" and repr(times(3, offset=1)) == "times(factor=3, offset=1)"
    assert repr(times(3) >> vm.count()) == "times(factor=3) >> count()"


def test_a_recipe_cannot_be_changed_after_it_was_said() -> None:
    bounds: Any = [0, 5]
    recipe = vm.clamp(bounds=bounds)
    bounds[1] = 9
    assert recipe == vm.clamp(bounds=(0, 5)) and repr(recipe) == "clamp(bounds=(0, 5))"
    with pytest.raises(dataclasses.FrozenInstanceError):
        recipe.steps = ()  # type: ignore[misc]
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
        recipe.steps[0].parameters = ()  # type: ignore[misc]


@for_each(
    ("value", "frozen"),
    [
        ([1, [2, [3]]], (1, (2, (3,)))),
        ({1, 2}, frozenset({1, 2})),
        (np.array([1, 2]), (1, 2)),
        ("text", "text"),
        (([],), ((),)),
    ],
)
def test_what_can_change_is_frozen(value: Any, frozen: Any) -> None:
    assert freeze(value) == frozen and hash(freeze(value)) == hash(frozen)


@pytest.mark.parametrize(
    ("value", "frozen"), [(np.array([[1, 2], [3, 4]]), ((1, 2), (3, 4))), (np.array(3), 3)], ids=["two", "zero"]
)
def test_arrays_of_any_dimension_are_frozen(value: Any, frozen: Any) -> None:
    # Once: tolist() gives lists inside of the tuple (mutable, unhashable), and in dimension 0 a bare number.
    assert freeze(value) == frozen
    assert hash(times(1, table=value)) == hash(times(1, table=frozen))


def test_a_dict_in_a_recipe_is_frozen() -> None:
    # Once: dicts are kept as they are, so that what the recipe says can change after it was said, and has no hash.
    table = {"a": [1, 2]}
    recipe = times(1, table=table)
    before = repr(recipe)
    assert hash(recipe) == hash(times(1, table={"a": [1, 2]}))
    one, other = times(1, table={"a": 1, "b": 2}), times(1, table={"b": 2, "a": 1})
    assert one == other and hash(one) == hash(other)
    table["a"].append(3)
    assert repr(recipe) == before and recipe == times(1, table={"a": [1, 2]})


@for_each(
    "call",
    [
        CLAMP,
        lambda: CLAMP(bounds=(0, 1), limit=3),
        lambda: COUNT(1, 2, 3),
        lambda: COUNT(ROWS, 1, 2, 3),
        lambda: CLAMP(ROWS, bound=(0, 1)),
        TIMES,
        lambda: TIMES(space=ROWS, factor=1),
    ],
)
def test_wrong_parameters_are_refused_at_once_with_how_to_call_it(call: Any) -> None:
    with pytest.raises(ParameterError, match="call it as"):
        call()


def test_a_recipe_whose_steps_do_not_fit_is_refused_when_it_gets_its_space() -> None:
    @constructor
    def on_numbers(space: vm.Space) -> vm.Transformation:
        number = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
        return vm.transformation(number, function=abs, output=number, stability=lambda d: d, trust="none")

    with pytest.raises(DomainMismatch):
        ROWS >> (vm.clamp(bounds=(0, 1)) >> on_numbers())


def test_nothing_follows_a_measurement_in_a_recipe() -> None:
    tell = vm.measurement(function=len, measure=vm.PureDP, privacy=lambda _: vm.pure(1), trust="t")
    with pytest.raises(ParameterError, match="not possible"):
        ROWS >> (tell >> vm.count())


@for_each("other", [1, None, len, ROWS, vm.count(ROWS), vm.postprocess(str)])
def test_a_recipe_goes_before_recipes_only(other: Any) -> None:
    with pytest.raises(TypeError):
        vm.count() >> other


def test_a_constructor_keeps_its_name_and_docstring() -> None:
    assert repr(times) == "<constructor times>" and times.__doc__ == "Multiply every row."


def test_a_computation_remembers_the_step_that_made_it() -> None:
    made = times(ROWS, 3)
    assert made.made_by == "times(factor=3)" and made == ROWS >> times(3) and made.map(2) == 6
