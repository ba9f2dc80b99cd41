"""Approximate losses as approximate zCDP by half the square of epsilon."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import viameter as vm
from viameter.errors import IncomparableLosses
from viameter.measures.conversions.quadratic import approx_to_approx_zcdp_quadratic

BY = "approx-to-approx-zcdp-quadratic"


@given(
    epsilon=st.fractions(min_value=0, max_value=20, max_denominator=1000),
    delta=st.fractions(min_value=0, max_value=1, max_denominator=1000),
)
def test_approx_to_approx_zcdp_quadratic_ensures_no_less_than_the_sharper_theorem(
    epsilon: Fraction, delta: Fraction
) -> None:
    loss = vm.approx(epsilon, delta)
    found = loss.to(vm.ApproxZCDP, by=BY)
    assert found == vm.approx_zcdp(epsilon**2 / 2, delta)
    if delta < 1:
        sharper = loss.to(vm.ApproxZCDP)
        # Rounded up at 1e-30 of itself at most.
        assert sharper.rho <= found.rho * (1 + Fraction(1, 10**30))


def test_approx_to_approx_zcdp_quadratic_requires_an_approximate_loss() -> None:
    assert approx_to_approx_zcdp_quadratic(vm.ApproxDP.infinite) == vm.ApproxZCDP.infinite
    assert vm.approx(float("inf"), "1/2").to(vm.ApproxZCDP, by=BY) == vm.approx_zcdp(float("inf"), "1/2")
    with pytest.raises(IncomparableLosses):
        _ = vm.approx(1, 0).to(vm.ApproxZCDP, by=BY) <= vm.approx(1, 0)
