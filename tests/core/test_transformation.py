"""Transformations: running, chaining, checking."""

from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.errors import DomainMismatch, MetricMismatch, NumberError

ROWS = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
NUMBER = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
SIZE = vm.transformation(ROWS, function=len, output=NUMBER, stability=lambda d: d, trust="one row, one more")
TRIPLE = vm.transformation(NUMBER, function=lambda n: 3 * n, output=NUMBER, stability=lambda d: 3 * d, trust="a line")
SHIFT = vm.transformation(NUMBER, function=lambda n: n + 1, output=NUMBER, stability=lambda d: d, trust="a shift")


def test_a_chain_runs_its_steps_in_order() -> None:
    assert (SIZE >> TRIPLE >> SHIFT)([1, 2]) == 7
    assert (SIZE >> SHIFT >> TRIPLE)([1, 2]) == 9


def test_chains_are_flat_however_they_were_put_together() -> None:
    left, right = (SIZE >> TRIPLE) >> SHIFT, SIZE >> (TRIPLE >> SHIFT)
    assert left == right and left.steps == right.steps == (SIZE, TRIPLE, SHIFT)
    assert left.input_space == ROWS and left.output_space == NUMBER


def test_check_says_whether_the_bound_is_proved() -> None:
    whole = SIZE >> TRIPLE
    assert whole.check(2, 6) is True and whole.check(2, "13/2") is True and whole.check(2, "inf") is True
    assert whole.check(2, "5.999999999999999999999") is False
    assert whole.check("inf", 10**9) is False and whole.check("inf", "inf") is True


@for_each("d_out", [-1, 0.5, float("nan"), None])
def test_check_refuses_what_is_no_distance(d_out: Any) -> None:
    with pytest.raises(NumberError, match="d_out"):
        SIZE.check(1, d_out)


def test_a_mismatch_of_domains_says_what_each_side_has() -> None:
    names = vm.transformation(
        vm.Space(vm.scalars(str), vm.DiscreteDistance()), function=len, output=NUMBER, stability=lambda d: d, trust="no"
    )
    with pytest.raises(DomainMismatch) as refused:
        SIZE >> names
    assert (refused.value.left, refused.value.right) == (vm.scalars(int), vm.scalars(str))
    for said in ("scalars(int)", "scalars(str)", "the output of transformation(", "the input of transformation("):
        assert said in str(refused.value)


def test_a_mismatch_of_metrics_says_what_each_side_has() -> None:
    discrete = vm.Space(vm.scalars(int), vm.DiscreteDistance())
    tell = vm.measurement(discrete, function=abs, measure=vm.PureDP, privacy=lambda _: vm.pure(1), trust="no")
    with pytest.raises(MetricMismatch) as refused:
        SIZE >> tell
    assert (refused.value.left, refused.value.right) == (vm.AbsoluteDistance(), vm.DiscreteDistance())
    for said in ("AbsoluteDistance()", "DiscreteDistance()"):
        assert said in str(refused.value)


def test_a_mismatch_far_inside_of_a_chain_names_the_two_steps_that_meet() -> None:
    tell = vm.measurement(NUMBER, function=abs, measure=vm.PureDP, privacy=vm.pure, trust="x")
    with pytest.raises(DomainMismatch) as refused:
        (ROWS >> vm.clamp(bounds=(0, 3))) >> (SHIFT >> tell >> vm.postprocess(str))
    text = str(refused.value)
    assert "the output of clamp(bounds=(0, 3))" in text and "the input of transformation(" in text


@for_each("other", [1, None, len, "count", ROWS, vm.postprocess(str)])
def test_a_transformation_goes_before_computations_and_recipes_only(other: Any) -> None:
    with pytest.raises(TypeError):
        SIZE >> other


def test_distances_are_exact_all_the_way() -> None:
    third = vm.transformation(NUMBER, function=abs, output=NUMBER, stability=lambda d: d / 3, trust="exact")
    assert (SIZE >> third >> third).map(1) == Fraction(1, 9)
    assert (SIZE >> third >> TRIPLE).check(1, 1)
