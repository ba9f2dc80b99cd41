"""least_epsilon: against all events, its rounding, and when it is infinite."""

import math
from fractions import Fraction
from operator import eq

import pytest
from tests.cases import for_each
from tests.logic.couplings.instances import (
    all_have_partners,
    always,
    instances,
    power_of_e,
    strassen_delta,
    strassen_factor,
)

from viameter.arith import INFINITY
from viameter.errors import NumberError, ParameterError
from viameter.logic.couplings import LeastEpsilon, check_coupling, least_delta, least_epsilon

DELTAS = [Fraction(0), Fraction(1, 100), Fraction(1, 12), Fraction(1, 4), Fraction(2, 3), Fraction(1)]


def test_the_factor_is_the_least_of_strassens_condition_and_its_coupling_is_right() -> None:
    infinite = 0
    for mu1, mu2, holds, random in instances(11, 300):
        delta = random.choice(DELTAS)
        least = least_epsilon(mu1, mu2, relation=holds, delta=delta, star=True)
        assert least.factor == strassen_factor(mu1, mu2, holds, delta)
        if least.coupling is None:
            infinite += 1
            assert least.epsilon == INFINITY
            assert "probability 0" in least.obstacle
        else:
            assert isinstance(least.factor, Fraction)
            assert least.coupling.delta == strassen_delta(mu1, mu2, holds, least.factor) <= delta
            assert least.coupling.check() == []
            assert least.coupling.exact
    assert 20 < infinite < 280


def test_without_the_star_it_is_the_same_where_all_have_partners_and_else_infinite() -> None:
    for mu1, mu2, holds, random in instances(12, 200):
        delta = random.choice(DELTAS)
        least = least_epsilon(mu1, mu2, relation=holds, delta=delta)
        if all_have_partners(mu1, mu2, holds):
            assert least.factor == strassen_factor(mu1, mu2, holds, delta)
        else:
            assert least.factor == least.epsilon == INFINITY
            assert "no partner" in least.obstacle


def test_epsilon_is_the_logarithm_of_the_factor_rounded_up_by_little() -> None:
    rounded = 0
    for mu1, mu2, holds, _ in instances(13, 200):
        least = least_epsilon(mu1, mu2, relation=holds, delta=0, star=True)
        if least.coupling is None or not 1 < least.factor < 4:
            continue
        rounded += 1
        assert isinstance(least.epsilon, Fraction)
        assert power_of_e(least.epsilon)[0] > least.factor
        assert power_of_e(least.epsilon - Fraction(1, 2**100))[1] < least.factor
    assert rounded > 20
    assert least_epsilon({0: 1}, {0: 1}, relation=eq, delta=0).epsilon == 0


def test_at_the_epsilon_found_for_delta_0_a_coupling_of_delta_0_is_found_again() -> None:
    found = 0
    for mu1, mu2, holds, _ in instances(14, 100):
        least = least_epsilon(mu1, mu2, relation=holds, delta=0, star=True)
        if least.coupling is None:
            continue
        found += 1
        assert isinstance(least.epsilon, Fraction)
        again = least_delta(mu1, mu2, relation=holds, epsilon=least.epsilon, star=True)
        assert again.delta == 0 and again.exact
        witnesses = least.coupling.left, least.coupling.right
        assert check_coupling(mu1, mu2, *witnesses, relation=holds, epsilon=least.epsilon, delta=0, star=True) == []
    assert found > 20


def test_the_example_of_randomized_response_costs_the_logarithm_of_its_odds() -> None:
    least = least_epsilon({"y": "3/4", "n": "1/4"}, {"y": "1/4", "n": "3/4"}, relation=eq, delta=0)
    assert least.factor == 3
    assert math.isclose(least.epsilon, math.log(3))
    assert least_epsilon({"y": "3/4", "n": "1/4"}, {"y": "1/4", "n": "3/4"}, relation=always, delta=0).factor == 1


def test_a_larger_delta_needs_no_larger_factor() -> None:
    for mu1, mu2, holds, random in instances(15, 60):
        smaller, larger = sorted(random.sample(DELTAS, 2))
        at = [least_epsilon(mu1, mu2, relation=holds, delta=d, star=True).factor for d in (smaller, larger)]
        assert at[0] >= at[1]


@for_each("delta", [-1, "1.01", 0.5])
def test_a_delta_is_an_exact_probability(delta: object) -> None:
    with pytest.raises(NumberError, match="delta"):
        least_epsilon({0: 1}, {0: 1}, relation=eq, delta=delta)  # type: ignore[arg-type]


def test_a_least_epsilon_that_contradicts_itself_is_refused() -> None:
    coupling = least_delta({0: 1, 1: 0}, {0: "1/2", 1: "1/2"}, relation=eq, factor=1)
    with pytest.raises(ParameterError, match="1/2, more than the 1/3"):
        LeastEpsilon(Fraction(1, 3), coupling)
    with pytest.raises(ParameterError, match="obstacle"):
        LeastEpsilon(Fraction(1, 3), None)
    with pytest.raises(ParameterError, match="obstacle"):
        LeastEpsilon(Fraction(1), coupling, "none")
