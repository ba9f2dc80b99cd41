"""Mechanisms of the library as calls in programs: their cost comes from their own map."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.logic.kernel.proving import amount, facts, oracle, program, prove, proves

import viameter as vm
from viameter.errors import NoTheorem, ParameterError, ViameterError
from viameter.logic.kernel.judgment import Unproved
from viameter.logic.kernel.rules.mechanism import Mechanism, call, mechanism
from viameter.logic.kernel.rules.structure import assign, seq
from viameter.logic.kernel.rules.whole import concluded
from viameter.logic.lang.core import Assign, Program, Sample
from viameter.logic.lang.terms import Num
from viameter.measures import ApproxDP

NUMBERS = vm.Space(vm.scalars(int), vm.AbsoluteDistance())


def calling(entry: Any, *body: str) -> Program:
    return replace(program(*(body or ("x :=$ call m(q)", "r := x")), budgets=()), mechanisms={"m": entry})


def test_a_mechanism_knows_its_cost_at_a_distance() -> None:
    found = mechanism(vm.laplace(NUMBERS, scale=4), distance=3)
    assert (found.distance, found.epsilon, found.delta) == (3, Fraction(3, 4), Fraction(0))
    assert found.measurement.map(3) == vm.pure("3/4") and "at most 3 apart" in found.says
    far = mechanism(vm.laplace(NUMBERS, scale=4), distance="2")
    assert far.epsilon == Fraction(1, 2)
    assert mechanism(vm.laplace(NUMBERS, scale=4), distance=0).epsilon == 0


def test_approximate_mechanisms_are_taken_and_concentrated_ones_only_if_they_were_converted() -> None:
    gaussian = vm.gaussian(NUMBERS, scale=4)
    with pytest.raises(NoTheorem, match="PureDP or ApproxDP"):
        mechanism(gaussian)
    found = mechanism(gaussian.to(ApproxDP, delta="1e-6"))
    loss: Any = gaussian.to(ApproxDP, delta="1e-6").map(1)
    assert (found.epsilon, found.delta) == (loss.epsilon, Fraction(1, 10**6))


def test_what_is_no_mechanism_on_an_integer_is_refused() -> None:
    vectors = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    counting = vectors >> vm.count() >> vm.laplace(scale=1)
    floats = vm.laplace(vm.Space(vm.scalars(float), vm.AbsoluteDistance()), scale=1, grid="1/8")
    for wrong in (counting, floats, vm.laplace(NUMBERS, scale=0)):
        with pytest.raises(NoTheorem):
            mechanism(wrong)
    for other in (None, 3, "laplace"):
        with pytest.raises(ParameterError):
            mechanism(other)  # type: ignore[arg-type]
    for distance in ("1/2", -1, "inf"):
        with pytest.raises(ViameterError):
            mechanism(vm.laplace(NUMBERS, scale=1), distance=distance)


def test_a_mechanism_is_not_made_cheaper_by_hand() -> None:
    true = mechanism(vm.laplace(NUMBERS, scale=4))
    with pytest.raises(ParameterError, match="the measurement has"):
        Mechanism(true.measurement, 1, Fraction(1, 8), Fraction(0), "")
    with pytest.raises(ParameterError, match="the measurement has"):
        replace(true, distance=2)
    approximate = mechanism(vm.gaussian(NUMBERS, scale=4).to(ApproxDP, epsilon="1/2"))
    for delta in (Fraction(0), approximate.delta / 2):
        with pytest.raises(ParameterError, match="the measurement has"):
            replace(approximate, delta=delta)


def test_a_call_runs_the_measurement_within_its_domain() -> None:
    assert isinstance(mechanism(vm.laplace(NUMBERS, scale=4))(5), int)
    bounded = vm.Space(vm.scalars(int, bounds=(0, 10)), vm.AbsoluteDistance())
    found = mechanism(vm.laplace(bounded, scale="1/1000"))
    assert {found(10**9), found(-5)} <= set(range(-3, 14))


def test_the_rule_of_a_call_has_the_cost_of_the_mechanism() -> None:
    made = calling(mechanism(vm.gaussian(NUMBERS, scale=4).to(ApproxDP, epsilon="1/2"), distance=2))
    asks = oracle(made, "1/2 + delta", "abs(q<1> - q<2>) <= 2")
    draw, last = made.body
    assert isinstance(draw, Sample) and isinstance(last, Assign)
    found = call(asks.context, draw)
    entry = made.mechanisms["m"]
    number = asks.context.units["delta"].number
    assert (found.pre, found.post) == (facts(asks, "abs(q<1> - q<2>) <= 2"), facts(asks, "x<1> == x<2>"))
    assert dict(found.budget) == {
        "1": Num(asks.context.units["1"].number // 2),
        "delta": Num(int(entry.delta * number)),
    }
    ends = assign(asks.context, last, facts(asks, "r<1> == r<2>"))
    whole = seq(found, ends)
    assert concluded(asks, whole, amount(made, f"1/2 + {entry.delta}*delta")).rule == "consequence"
    with pytest.raises(Unproved):
        concluded(asks, whole, amount(made, "0 + delta"))
    wide = oracle(made, "1/2 + delta", "abs(q<1> - q<2>) <= 3")
    again = seq(call(wide.context, draw), assign(wide.context, last, ends.post))
    with pytest.raises(Unproved, match="close enough"):
        concluded(wide, again, amount(made, "1/2 + delta"))


@pytest.mark.parametrize("near", ["0 <= q<1> - q<2> and q<1> - q<2> <= 3", "0 <= q<2> - q<1> and q<2> - q<1> <= 3"])
def test_the_arguments_of_a_call_are_close_from_either_side(near: str) -> None:
    made = calling(mechanism(vm.laplace(NUMBERS, scale=4), distance=2))
    with pytest.raises(Unproved, match="close enough"):
        prove(oracle(made, "1/2", near), "1/2")
    assert proves(oracle(made, "1/2", near.replace("<= 3", "<= 2")), "1/2")


def test_automatic_proofs_charge_calls_the_same() -> None:
    body = ("x :=$ call m(q)", "y :=$ call m(2*q)", "r := x")
    made = calling(mechanism(vm.laplace(NUMBERS, scale=4)), *body)
    assert not proves(oracle(made, "1"), "1")
    made = calling(mechanism(vm.laplace(NUMBERS, scale=4), distance=2), *body)
    assert proves(oracle(made, "1"), "1") and not proves(oracle(made, "9/10"), "9/10")
    assert prove(oracle(made, "1"), "1").context.program.mechanisms["m"].epsilon == Fraction(1, 2)


def test_the_rule_of_a_call_is_for_one_known_mechanism() -> None:
    made = calling(mechanism(vm.laplace(NUMBERS, scale=4)), "x :=$ call m(q)", "y :=$ lap(1)", "r := x")
    asks = oracle(made, "1")
    first, second = made.body.statements[:2]
    assert isinstance(first, Sample) and isinstance(second, Sample)
    with pytest.raises(ParameterError, match="call m"):
        call(asks.context, second)
    with pytest.raises(ParameterError, match="call m"):
        call(asks.context, first, second)
    entry = type("Entry", (), {"distance": 1, "epsilon": Fraction(1, 99), "delta": Fraction(0), "says": ""})()
    with pytest.raises(ParameterError, match="whose cost its map says"):
        oracle(calling(entry), "1")
