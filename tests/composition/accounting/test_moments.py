"""Moments, sums and heterogeneous composition."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.composition.accounting.oracles import (
    hockey_stick,
    kov_delta,
    least_epsilon,
    mp,
    product_law,
    profile,
)

import viameter as vm
from viameter.composition.accounting import heterogeneous_epsilon, optimal_epsilon
from viameter.composition.accounting.distribution import LossDistribution
from viameter.composition.accounting.moments import Moments, moments_delta, moments_epsilon
from viameter.composition.accounting.pairs import pure_pair
from viameter.composition.accounting.reals import as_fraction
from viameter.composition.accounting.sums import Sums, sums_epsilon
from viameter.errors import NumberError

# --- moments-to-epsilon -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rho", "delta", "reference"),
    [("1/32", "1e-3", "0.688002455487808"), ("0.2", "1e-6", "3.1310556807643472"), ("0.5", "1e-7", "5.67085883546877")],
)
def test_moments_to_epsilon_ensures_the_reference_values_of_zcdp(rho: str, delta: str, reference: str) -> None:
    found = moments_epsilon(Moments(rho=Fraction(rho)), delta=Fraction(delta))
    assert Fraction(reference) - Fraction(1, 10**14) <= found <= Fraction(reference) * (1 + Fraction(1, 10**12))


def test_moments_to_epsilon_ensures_a_bound_on_every_law_by_every_order() -> None:
    source = random.Random(8)
    for _ in range(60):
        losses = np.unique(np.array([source.uniform(-3, 4) for _ in range(source.randint(1, 12))]))
        weights = np.array([source.random() for _ in losses])
        law = LossDistribution(losses, weights / weights.sum() * 0.999, 2.0**-20)
        for order in (Fraction(101, 100), Fraction(3, 2), Fraction(3), Fraction(20), Fraction(1, 3) + 1):
            z = order - 1
            moments = Moments()
            moments.product.add(law, 1)
            moment = mp(as_fraction(moments.at(z)))
            true = mpmath.log(
                mpmath.fsum(
                    mp(float(w)) * mpmath.exp(mp(z) * mp(float(x))) for x, w in zip(losses, law.weights, strict=True)
                )
            )
            assert true <= moment <= true + mp(10) ** -12
        for delta in (Fraction(1, 10), Fraction(1, 10**5)):
            found = moments_epsilon(moments, delta=delta)
            assert profile(losses.tolist(), law.weights.tolist(), Fraction(found), law.infinity) <= mp(delta)
            at = moments_delta(moments, epsilon=Fraction(found))
            assert at <= delta * (1 + Fraction(1, 10**9))
            assert profile(losses.tolist(), law.weights.tolist(), Fraction(found), law.infinity) <= mp(at)


def test_moments_to_epsilon_ensures_the_formula_for_renyi_curves() -> None:
    moments = Moments()
    moments.claim(vm.renyi({2: "0.1", 10: "0.5"}), 3)
    d = mpmath.mpf(10) ** -6
    by_order = {
        a: 3 * mp(r) + mpmath.log(1 - 1 / mp(a)) - mpmath.log(mp(a) * d) / (mp(a) - 1)
        for a, r in ((2, Fraction(1, 10)), (10, Fraction(1, 2)))
    }
    found = mp(moments_epsilon(moments, delta=Fraction(1, 10**6)))
    true = min(by_order.values())
    assert true <= found <= true * (1 + mp(10) ** -30)
    # A bound of infinite order is one of every order.
    pure_curve = Moments()
    pure_curve.claim(vm.renyi({math.inf: 1}), 1)
    assert moments_epsilon(pure_curve, delta=Fraction(1, 10**6)) < math.inf


def test_moments_to_epsilon_ensures_an_answer_at_the_ends() -> None:
    assert moments_epsilon(Moments(rho=Fraction(1)), delta=Fraction(0)) == math.inf
    leak = Moments()
    leak.product.add(pure_pair(Fraction(1), delta=Fraction(1, 100)), 2)
    assert moments_epsilon(leak, delta=Fraction(1, 100)) == math.inf
    assert moments_epsilon(leak, delta=Fraction(1, 20)) < math.inf
    assert moments_epsilon(Moments(rho=Fraction(1, 10**6)), delta=Fraction(9, 10)) == 0
    assert moments_epsilon(Moments(rho=Fraction(1)), delta=Fraction(1, 10**300)) > 20
    assert moments_delta(Moments(rho=Fraction(1)), epsilon=Fraction(10**6)) < Fraction(1, 10**300)


def test_moments_to_epsilon_requires_a_bound_at_the_order_that_is_used() -> None:
    # Between orders only the next higher one is known; above the highest, nothing.
    moments = Moments()
    moments.claim(vm.renyi({2: "0.1", 4: "0.3"}), 1)
    moments.claim(vm.renyi({3: "0.2"}), 1)
    assert moments.at(Fraction(3)) is None
    assert as_fraction(moments.at(Fraction(2))) == pytest.approx(2 * (0.3 + 0.2))
    assert as_fraction(moments.at(Fraction(1))) == pytest.approx(1 * (0.1 + 0.2))
    bounds = {moments_epsilon(moments, delta=Fraction(1, 100))}
    assert all(0 < bound < math.inf for bound in bounds)


def test_moments_to_epsilon_requires_bounds_in_both_directions() -> None:
    # The moments of one direction say nothing about the other: ln M(1) of (P, Q) and of (Q, P) differ.
    left, right = {0: mp(1), 1: mp(0)}, {0: mp(Fraction(1, 2)), 1: mp(Fraction(1, 2))}
    assert sum(left[n] ** 2 / right[n] for n in left) == 2
    forward = Moments()
    forward.claim(vm.renyi({2: Fraction(mpmath.nstr(mpmath.log(2), 40)) + Fraction(1, 10**30)}), 1)
    bound = Fraction(moments_epsilon(forward, delta=Fraction(1, 5)))
    assert hockey_stick(left, right, bound) <= mp(Fraction(1, 5))
    assert hockey_stick(right, left, bound) > mp(Fraction(1, 5))


# --- sums-of-epsilon-and-delta ----------------------------------------------------------------------------------------


def test_sums_of_epsilon_and_delta_ensures_exact_sums() -> None:
    sums = Sums()
    sums.add(Fraction(1, 10), Fraction(1, 10**9), 10)
    sums.add(Fraction(1, 3), Fraction(0), 3)
    assert sums_epsilon(sums, delta=Fraction(1, 10**8)) == 2
    assert sums_epsilon(sums, delta=Fraction(1, 10**9)) == math.inf
    sums.add(Fraction(0), Fraction(1), 1)
    assert sums.delta == 1
    assert sums_epsilon(sums, delta=Fraction(1)) == 2
    # Never below the optimum, and at delta 0 equal to it.
    sums = Sums()
    sums.add(Fraction(1, 20), Fraction(0), 20)
    assert sums_epsilon(sums, delta=Fraction(0)) == optimal_epsilon("0.05", count=20, delta=0)


def test_sums_of_epsilon_and_delta_requires_a_pair_for_every_mechanism() -> None:
    sums = Sums()
    sums.add(Fraction(1), Fraction(0), 5)
    sums.add(math.inf, Fraction(0), 1)
    assert sums_epsilon(sums, delta=Fraction(1, 2)) == math.inf
    sums = Sums()
    sums.add(math.inf, Fraction(0), 0)
    assert sums_epsilon(sums, delta=Fraction(1, 2)) == 0


# --- heterogeneous-optimum-epsilon ------------------------------------------------------------------------------------


def murtagh_vadhan(pairs: list[tuple[Fraction, Fraction]]) -> Callable[[Any], Any]:
    """Delta at an epsilon, by the sum over all sets."""
    kept = mpmath.fprod(1 - mp(delta) for _, delta in pairs)
    laws = [{mp(e): 1 / (1 + mpmath.exp(-mp(e))), -mp(e): 1 / (1 + mpmath.exp(mp(e)))} for e, _ in pairs]
    points = [(p, p * mpmath.exp(-mpmath.fsum(losses))) for losses, p in product_law(laws).items()]
    nothing = mp(0)

    def delta(epsilon: Any) -> Any:
        level = mpmath.exp(mp(epsilon))
        return 1 - kept * (1 - mpmath.fsum(max(nothing, p - level * q) for p, q in points))

    return delta


@pytest.mark.parametrize("size", [1, 2, 4, 7])
def test_heterogeneous_optimum_epsilon_ensures_the_optimum_by_enumeration(size: int) -> None:
    source = random.Random(size)
    for delta in (Fraction(1, 1000), Fraction(1, 20), Fraction(1, 10**6)):
        pairs = [(Fraction(source.randint(1, 100), 100), Fraction(source.randint(0, 9), 10**8)) for _ in range(size)]
        found = heterogeneous_epsilon(pairs, delta=delta)
        true = least_epsilon(murtagh_vadhan(pairs), delta, sum(e for e, _ in pairs))
        assert true <= mp(Fraction(found)) <= true * (1 + mp(10) ** -9) + mp(10) ** -9


def test_heterogeneous_optimum_epsilon_ensures_the_homogeneous_one_for_equal_mechanisms() -> None:
    for count in (3, 40, 500):
        exact = optimal_epsilon("0.1", count=count, delta="1e-6", each_delta="1e-10")
        found = heterogeneous_epsilon([("0.1", "1e-10")] * count, delta="1e-6")
        assert exact * (1 - Fraction(1, 10**15)) <= found <= exact * (1 + Fraction(1, 10**4))


def test_heterogeneous_optimum_epsilon_ensures_an_upper_bound_for_many_that_is_tight() -> None:
    # Two kinds of a hundred: the truth is a double sum of binomials.
    pairs = [(Fraction(1, 10), Fraction(0))] * 100 + [(Fraction(3, 20), Fraction(0))] * 100
    found = Fraction(heterogeneous_epsilon(pairs, delta="1e-6"))
    losses, weights = [], []
    for kind in (Fraction(1, 10), Fraction(3, 20)):
        p = 1 / (1 + mpmath.exp(-mp(kind)))
        losses.append([(2 * n - 100) * kind for n in range(101)])
        weights.append([mpmath.binomial(100, n) * p**n * (1 - p) ** (100 - n) for n in range(101)])
    law: dict[Fraction, Any] = {}
    for a, p in zip(losses[0], weights[0], strict=True):
        for b, q in zip(losses[1], weights[1], strict=True):
            law[a + b] = law.get(a + b, mp(0)) + p * q
    assert profile(law.keys(), law.values(), found) <= mp("1e-6")
    assert profile(law.keys(), law.values(), found * (1 - Fraction(1, 10**4))) > mp("1e-6")


def test_heterogeneous_optimum_epsilon_requires_pairs_of_numbers_in_their_range() -> None:
    with pytest.raises(NumberError):
        heterogeneous_epsilon([(-1, 0)], delta="1e-6")
    with pytest.raises(NumberError):
        heterogeneous_epsilon([(1, 2)], delta="1e-6")
    assert heterogeneous_epsilon([(1, "1e-8")], delta="1e-9") == math.inf
    assert heterogeneous_epsilon([], delta="1e-9") == 0
    assert heterogeneous_epsilon([(1, 0), ("1/2", 0)], delta=0) == Fraction(3, 2)
    assert kov_delta(1, 1, 1) == 0
