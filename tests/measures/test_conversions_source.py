"""The statements of the source document "make_bounded_range_to_zCDP", one by one, on finite distributions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
from tests.measures.conversion_oracles import (
    ORDERS,
    SLACK,
    Pair,
    at_most,
    loss_range,
    losses,
    number,
    pairs,
    renyi,
    response,
    shifted,
)

import viameter as vm

PAIRS = [*pairs(60, seed=41), *(shifted(2, Fraction(step, 8)) for step in range(1, 16)), response(1)]


def mean(pair: Pair, function: Any) -> Any:
    """The mean of a function of the privacy loss, outcomes drawn from the first of the two."""
    return mp.fsum(p * function(z) for p, z in zip(pair[0], losses(pair), strict=True))


def test_the_mean_of_the_inverse_ratio_is_1_on_equal_supports() -> None:
    for pair in PAIRS:
        assert abs(mean(pair, lambda z: mp.exp(-z)) - 1) < SLACK
    # Where the second has an outcome more, it is less.
    assert mean(([mp.mpf(1)], [mp.mpf("0.5")]), lambda z: mp.exp(-z)) == mp.mpf("0.5")


def test_hoeffdings_lemma_holds_for_privacy_losses() -> None:
    for pair in PAIRS:
        width = loss_range(pair)
        for power in (mp.mpf(-3), mp.mpf(-1), mp.mpf("0.01"), mp.mpf(2), mp.mpf(30)):
            bound = mp.exp(mean(pair, lambda z: z) * power + width**2 * power**2 / 8)
            assert mean(pair, lambda z, power=power: mp.exp(power * z)) <= bound * (1 + SLACK)


def test_the_mean_loss_is_at_most_an_eighth_of_the_squared_range() -> None:
    for pair in PAIRS:
        assert mean(pair, lambda z: z) <= loss_range(pair) ** 2 / 8 + SLACK


def test_both_forms_of_zcdp_are_the_same_statement() -> None:
    # E[exp(b Z)] <= exp(b (b + 1) rho) is a divergence of order b + 1 of at most (b + 1) rho.
    for pair in PAIRS[:20]:
        for order in ORDERS[:8]:
            b = number(order) - 1
            by_loss = max(mp.log(mean(way, lambda z, b=b: mp.exp(b * z))) / (b * (b + 1)) for way in (pair, pair[::-1]))
            assert abs(by_loss - renyi(pair, order) / number(order)) < mp.mpf(10) ** -40


def test_a_range_over_one_support_alone_is_not_enough() -> None:
    # All outcomes of the first have the same loss, ln 2; seen from the second, one of them never occurs.
    first, second = [mp.mpf(1), mp.mpf(0)], [mp.mpf("0.5"), mp.mpf("0.5")]
    over_one_support = [mp.log(p / q) for p, q in zip(first, second, strict=True) if p > 0]
    assert max(over_one_support) - min(over_one_support) == 0
    assert mp.log(second[0] ** 2 / first[0] + mp.inf) == mp.inf  # the divergence of the second from the first
    # And even in the order where it is finite, it is not what a range of 0 would promise.
    assert not at_most(mp.log(2), vm.bounded_range(0).to(vm.ZCDP).rho)


def test_orders_above_2_alone_are_a_weaker_statement() -> None:
    pair = response(1)
    least = max(renyi(pair, 2 + Fraction(step, 10)) / (2 + mp.mpf(step) / 10) for step in range(1, 200))
    assert renyi(pair, Fraction(101, 100)) > least * mp.mpf("1.2") * mp.mpf("1.01")
    # The theorem holds from order 1 on.
    assert at_most(renyi(pair, Fraction(101, 100)), Fraction(101, 100) * vm.bounded_range(2).to(vm.ZCDP).rho)
