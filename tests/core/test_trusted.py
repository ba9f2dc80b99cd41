"""Parts that users define: what they must say, and how they are shown."""

from typing import Any

import numpy as np
import pytest
from tests.cases import for_each

import viameter as vm
from viameter.errors import NotInDomain, ParameterError, SealedError

ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
NUMBER = vm.Space(vm.scalars(int), vm.AbsoluteDistance())


@for_each("trust", ["", " \n", None, 0, ["x"]])
def test_every_part_says_what_it_asks_to_be_trusted(trust: Any) -> None:
    for make in (
        lambda: vm.domain("D", member=bool, trust=trust),
        lambda: vm.metric("M", distance=lambda *_: 0, trust=trust),
        lambda: vm.measure("L", trust=trust),
        lambda: vm.transformation(ROWS, function=len, output=NUMBER, stability=lambda d: d, trust=trust),
        lambda: vm.measurement(ROWS, function=len, measure=vm.PureDP, privacy=lambda _: vm.pure(0), trust=trust),
        lambda: ROWS >> vm.transformation(function=len, output=NUMBER, stability=lambda d: d, trust=trust),
    ):
        with pytest.raises(ParameterError, match="says nothing"):
            make()


@for_each("output", [None, vm.scalars(int), 1, vm.AbsoluteDistance()])
def test_the_output_of_a_transformation_is_a_space(output: Any) -> None:
    with pytest.raises(ParameterError, match="not a Space"):
        vm.transformation(ROWS, function=len, output=output, stability=lambda d: d, trust="t")


@for_each("measure", [None, "PureDP", vm.pure(1), vm.pure])
def test_the_measure_of_a_measurement_is_a_measure(measure: Any) -> None:
    with pytest.raises(ParameterError, match="not a Measure"):
        vm.measurement(ROWS, function=len, measure=measure, privacy=lambda _: vm.pure(0), trust="t")


def test_what_a_transformation_returns_comes_out_in_canonical_form() -> None:
    shuffled = vm.transformation(ROWS, function=lambda rows: [3, 1], output=ROWS, stability=lambda _: 2, trust="t")
    released = shuffled([1])
    assert isinstance(released, np.ndarray) and released.tolist() == [3, 1]


def test_a_function_cannot_change_the_data_in_place() -> None:
    def sort(rows: Any) -> int:
        rows.sort()
        return 0

    mine = np.array([3, 1, 2])
    with pytest.raises(SealedError):
        vm.transformation(ROWS, function=sort, output=NUMBER, stability=lambda d: d, trust="t")(mine)
    assert mine.tolist() == [3, 1, 2] and mine.flags.writeable


def test_a_domain_and_a_metric_of_ones_own_make_a_space() -> None:
    odd = vm.domain("Odd", member=lambda n: n % 2 == 1, trust="oddness")
    apart = vm.metric("Apart", distance=lambda a, b: abs(a - b), trust="apartness")
    space = vm.Space(odd, apart)
    assert repr(space) == "Space(domain=Odd, metric=Apart)"
    assert space.distance(3, 7) == 4 and odd.contains(3) and not odd.contains(4) and not odd.contains("x")
    with pytest.raises(NotInDomain):
        space.distance(2, 7)
    assert odd.why_not(4) == "the membership test of Odd says no"


def test_parts_are_equal_when_they_are_the_same() -> None:
    def member(n: int) -> bool:
        return n > 0

    assert vm.domain("D", member=member, trust="t") == vm.domain("D", member=member, trust="t")
    assert vm.domain("D", member=member, trust="t") != vm.domain("D", member=lambda n: n > 0, trust="t")
    assert vm.domain("D", member=member, trust="t") != vm.domain("D", member=member, trust="u")
