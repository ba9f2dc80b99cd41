"""Programs go wherever measurements go: compositions, odometers, neighborhoods, conversions."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.logic.running.programs import (
    ABOVE,
    EVERY,
    HISTOGRAM,
    LAPLACE,
    ONE,
    RESPONSE,
    SPARSE,
    program,
    proved,
)

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import OverBudget, SealedError
from viameter.logic.front.adjacent import added_or_removed, all_differ, one_differs
from viameter.logic.front.decorator import program_from_source
from viameter.logic.kernel.rules.mechanism import mechanism
from viameter.logic.running import ProgramMeasurement


def test_programs_compose_with_one_another_and_with_other_measurements() -> None:
    above, counts = (
        proved(ABOVE, EVERY, eps="1/2", t=5, space=vm.Space(vm.vectors(int), vm.L1Distance())),
        proved(HISTOGRAM, ONE, eps="1/4"),
    )
    both = vm.compose(counts.input_space, [above, counts, vm.laplace(scale=2)])
    assert both.map(2) == vm.pure("5/2")
    first, second, third = both([1, 2, 3])
    assert first in (-1, 0, 1, 2)
    assert len(second) == len(third) == 3
    text = str(both.explain(1))
    assert "program above_threshold(eps=1/2, t=5)" in text and "program noisy_histogram(eps=1/4)" in text


def test_programs_are_asked_under_an_odometer_and_a_filter() -> None:
    found = proved(ABOVE, EVERY, eps="1/2", t=5)
    meter = vm.Odometer(found.input_space, vm.PureDP)([1, 2, 3])
    assert meter(found) in (-1, 0, 1, 2)
    assert meter(found) in (-1, 0, 1, 2)
    assert (meter.loss(d_in=1), meter.loss(d_in=3)) == (vm.pure(1), vm.pure(3))
    assert "program above_threshold" in str(meter.explain(d_in=1))
    capped = vm.Odometer(found.input_space, vm.PureDP).filter(d_in=1, budget=vm.pure("0.6"))([1, 2, 3])
    capped(found)
    with pytest.raises(OverBudget):
        capped(found)
    text = meter.state(d_in=1).to_json()
    assert vm.Odometer.resume(text, [1, 2, 3], space=found.input_space).loss(d_in=1) == vm.pure(1)


def test_programs_of_several_inputs_are_asked_under_an_odometer() -> None:
    found = proved(SPARSE, EVERY, eps=1)
    meter = vm.Odometer(found.input_space, vm.PureDP)({"q": [1], "N": 2, "t": 3})
    assert isinstance(meter(found), int)
    assert meter.loss(d_in=2) == vm.pure(2)
    both = vm.compose(found.input_space, [found, proved(SPARSE, EVERY, eps=2)])
    assert both.map(1) == vm.pure(3)
    assert len(both({"q": [1], "N": 2, "t": 3})) == 2


CLIPPED = """
def clipped(q: list[int], eps: vm.Eps) -> int:
    s = 0
    for x in q:
        s = s + min(max(x, 0), 1)
    return s + vm.lap(1 / eps)
"""


def test_programs_are_leaves_of_neighborhoods() -> None:
    replaced = program_from_source(CLIPPED, adjacent=one_differs("q", by=None))
    leaf = proved(replaced.core, replaced.adjacent, eps="1/3")
    assert leaf.input_space == vm.Space(vm.vectors(int), vm.HammingDistance())
    parts = nb.partition(2, by="value")
    leaves = [nb.leaf(part, leaf, mode="common") for part in parts]
    assert nb.compose(nb.bounded_ordered(), leaves).loss == vm.pure("2/3")
    added = program_from_source(CLIPPED, adjacent=added_or_removed("q"))
    leaf = proved(added.core, added.adjacent, eps="1/3")
    assert nb.compose(nb.insert_delete(), [nb.leaf(part, leaf) for part in parts]).loss == vm.pure("1/3")


def test_losses_of_programs_convert_and_releases_are_processed() -> None:
    found = proved(LAPLACE, all_differ("x"), eps="1/2") >> vm.postprocess(abs)
    assert found(-5) >= 0
    assert found.to(vm.ZCDP).map(1) == vm.zcdp("1/8") or found.to(vm.ZCDP).map(1).rho < Fraction(1, 8)
    assert isinstance(found.to(vm.ZCDP), ProgramMeasurement)
    assert "verified-program" in str(found.to(vm.ZCDP).explain(1))


def test_a_run_that_fails_says_nothing_of_the_data() -> None:
    core = program("program calls", "input x: int", "begin", "y :=$ call m(x)", "end", "return y")
    integers = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    core = replace(core, mechanisms={"m": mechanism(vm.laplace(integers, scale=1) >> vm.postprocess(str))})
    found = proved(core, all_differ("x"), "1")
    with pytest.raises(SealedError) as caught:
        found(424242)
    assert "424242" not in str(caught.value)


def test_randomized_response_costs_the_logarithm_of_its_odds() -> None:
    found = proved(RESPONSE, all_differ("b"), "ln(3)")
    assert math.isclose(found.map(1).epsilon, math.log(3))
    assert found.map(0) == vm.pure(0)
    assert {found(True) for _ in range(200)} == {True, False}
