"""The certified contour sum: above the truth for every plan, however bad, and close to it for a good one."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.cases import for_each
from tests.composition.accounting.oracles import (
    gaussian_delta,
    kov_delta,
    mp,
    power_profile,
    profile,
)

from viameter.arith import vectors
from viameter.composition.accounting import contour as module
from viameter.composition.accounting.contour import LIBRARY, Contour, Unfit, contour_delta
from viameter.composition.accounting.distribution import LossDistribution, gaussian_factor, points, together
from viameter.composition.accounting.pairs import discrete_gaussian_pair, pure_pair, response_pair
from viameter.composition.accounting.plan import Plan, line_for_delta, line_for_epsilon, plan_at
from viameter.composition.accounting.product import Product
from viameter.composition.accounting.reals import as_fraction
from viameter.composition.accounting.tight import TightAccount


def short(step: float) -> float:
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(math.ldexp(mantissa, 36)), exponent - 36)


def plan(c: float, h: float, size: int, extra: float) -> Plan:
    return Plan(c, short(h), size, extra, 1.0, 1.0)


def contour_of(product: Product, where: Plan) -> Contour:
    contour = Contour(where)
    contour.include(product.counts.items())
    return contour


def bound(product: Product, where: Plan, epsilon: float) -> Any:
    return mp(as_fraction(contour_delta(product, contour=contour_of(product, where), epsilon=epsilon)))


def product_of(*factors: tuple[LossDistribution, int]) -> Product:
    product = Product()
    for distribution, count in factors:
        product.add(distribution, count)
    return product


def three_points() -> LossDistribution:
    return LossDistribution(np.array([-0.75, 0.125, 1.0]), np.array([0.25, 0.25, 0.5]))


PRODUCTS = {
    "one pair": ((pure_pair(Fraction(1)), 1),),
    "ten pairs": ((pure_pair(Fraction(3, 10)), 10),),
    "two kinds": ((pure_pair(Fraction(1, 4)), 3), (pure_pair(Fraction(7, 10)), 2)),
    "different pairs": tuple((pure_pair(Fraction(n, 10)), 1) for n in (1, 3, 4, 8)),
    "three points": ((three_points(), 2),),
    "five answers": ((response_pair(1, answers=5, probability=Fraction(1, 2)), 3),),
    "with infinity": ((pure_pair(Fraction(1, 2), delta=Fraction(1, 1000)), 4),),
    "gaussian points": ((discrete_gaussian_pair(1, scale=Fraction(2)), 1),),
}


def true_delta(factors: tuple[tuple[LossDistribution, int], ...], epsilon: float) -> Any:
    """The delta of the product of exactly these floats, by enumeration in 60 digits."""
    whole = [(mp(0), mp(1))]
    survival = mp(1)
    for distribution, count in factors:
        survival *= (1 - mp(distribution.infinity)) ** count
        for _ in range(count):
            law: dict[Any, Any] = {}
            for loss, w in whole:
                for other, v in zip(distribution.losses.tolist(), distribution.weights.tolist(), strict=True):
                    law[loss + mp(other)] = law.get(loss + mp(other), mp(0)) + w * mp(v)
            whole = list(law.items())
    return profile([loss for loss, _ in whole], [w for _, w in whole], epsilon, 1 - survival)


@pytest.mark.parametrize("name", PRODUCTS)
def test_contour_sum_ensures_an_upper_bound_for_every_plan_however_bad(name: str) -> None:
    factors = PRODUCTS[name]
    product = product_of(*factors)
    source = random.Random(name)
    levels = [0.0, 0.1, 0.5, 0.9, 1.7, 2.9, 7.0]
    truths = {level: true_delta(factors, level) for level in levels}
    for _ in range(60):
        where = plan(
            c=10 ** source.uniform(-2, 2),
            h=10 ** source.uniform(-2, 1),
            size=int(10 ** source.uniform(0.5, 3)),
            extra=10 ** source.uniform(-6, 0),
        )
        contour = contour_of(product, where)
        for level in levels:
            found = mp(as_fraction(contour_delta(product, contour=contour, epsilon=level)))
            assert found >= truths[level], (where, level, mpmath.nstr(found / truths[level], 20))


@for_each("name", PRODUCTS)
def test_contour_sum_ensures_an_upper_bound_where_what_is_cut_off_matters(name: str) -> None:
    # So short that most of the sum is missing: what is added for it has to make up for it.
    factors = PRODUCTS[name]
    product = product_of(*factors)
    for c, size, level in ((0.5, 1, 0.3), (2.0, 2, 0.3), (5.0, 3, 0.6), (0.2, 1, 0.0), (1.0, 4, 0.45), (3.0, 1, 0.45)):
        for h in (0.2, 0.5, 1.0, 2.0, 4.0):
            where = plan(c, h, size, 1e-4)
            assert bound(product, where, level) >= true_delta(factors, level), where


def test_contour_sum_ensures_an_upper_bound_where_rounding_errors_are_all_that_is_left() -> None:
    # Far from the saddle point the sum is a difference of numbers that are 10^13 times the result and more.
    each = pure_pair(Fraction(1, 20))
    product = product_of((each, 1000))
    losses, weights = each.losses.tolist(), each.weights.tolist()
    below = 0
    for epsilon in (13.8, 14.7, 15.1, 15.6, 16.3, 17.0, 17.9, 18.4):
        true = power_profile(losses, weights, 1000, epsilon)
        for c in (0.25, 0.5):
            where = plan(c, 2 * math.pi / 300, 6000, 5e-3)
            contour = contour_of(product, where)
            found = mp(as_fraction(contour_delta(product, contour=contour, epsilon=epsilon)))
            assert found >= true
            relative, _ = contour.evaluate(epsilon)
            scale = mpmath.exp(mp(as_fraction(contour.log_scale(epsilon))))
            naked = relative - contour._sum_error - contour._sum_error_slope * epsilon - contour._cut
            below += scale * mp(naked) < true
    # The test has teeth: without the errors that are added, some would be below.
    assert below >= 3


def test_contour_sum_ensures_error_bounds_that_hold_against_60_digits() -> None:
    for factors in (PRODUCTS["different pairs"], PRODUCTS["three points"], PRODUCTS["gaussian points"]):
        product = product_of(*factors)
        where = plan(2.0, 0.125, 200, 1e-3)
        contour = contour_of(product, where)
        values = []
        for k in range(where.size + 1):
            z = mpmath.mpc(where.c, mp(k) * mp(where.h))
            value = mpmath.exp(mp(where.extra) * z * (z + 1) / 2) / (z * (z + 1))
            for distribution, count in factors:
                pairs = zip(distribution.losses.tolist(), distribution.weights.tolist(), strict=True)
                value *= mpmath.fsum(mp(w) * mpmath.exp(z * mp(loss)) for loss, w in pairs) ** count
            values.append((z, (1 if k else mp(Fraction(1, 2))) * value * mp(where.h) / mpmath.pi))
        for epsilon in (0.0, 0.7, 1.9):
            contour.prepare(product.mu_squared)
            relative, _ = contour.evaluate(epsilon)
            mass = mpmath.exp(mp(as_fraction(contour.log_scale(epsilon))))
            exact = mpmath.fsum((value * mpmath.exp(-z * mp(epsilon))).real for z, value in values)
            errors = contour._sum_error + contour._sum_error_slope * epsilon
            central = mp(relative) - mp(contour._cut) - mp(errors)
            # Weights are rounded up on the way, so that the computed sum may be a little above; never further below.
            assert central * mass - exact >= -mp(errors) * mass
            assert abs(central * mass - exact) <= mp(2) ** -30 * mass


def test_contour_sum_ensures_errors_at_least_those_of_the_parts() -> None:
    where = plan(3.0, 0.25, 300, 1e-3)
    known = 0
    for distribution in (three_points(), discrete_gaussian_pair(2, scale=Fraction(3)), pure_pair(Fraction(1))):
        contour = Contour(where)
        logarithms, log_mass = contour._transform((distribution,))
        losses, weights = distribution.losses.tolist(), distribution.weights.tolist()
        mass = mpmath.exp(mp(as_fraction(log_mass)))
        for k in (1, 7, 50, 123, 300):
            z = mpmath.mpc(where.c, mp(k) * mp(where.h))
            exact = (
                mpmath.fsum(mp(w) * mpmath.exp(z * mp(loss)) for loss, w in zip(losses, weights, strict=True)) / mass
            )
            found = mpmath.exp(mpmath.mpc(float(logarithms.real[k - 1]), float(logarithms.imaginary[k - 1])))
            if logarithms.unknown[k - 1]:
                assert abs(exact) <= mp(logarithms.bound)
                continue
            known += 1
            assert abs(found / exact - 1) <= mp(float(logarithms.error[k - 1]))
    assert known > 10


def test_contour_sum_ensures_weights_and_masses_that_are_rounded_up() -> None:
    source = random.Random(6)
    for _ in range(40):
        losses = np.unique(np.array([source.uniform(-4, 4) for _ in range(source.randint(3, 9))]))
        weights = np.array([source.random() for _ in losses])
        where = plan(10 ** source.uniform(-1, 1.5), 0.5, 8, 1e-3)
        single = LossDistribution(losses[-1:].copy(), weights[-1:].copy())
        for distribution in (LossDistribution(losses, weights), single):
            _, log_mass = Contour(where)._transform((distribution,))
            pairs = zip(distribution.losses.tolist(), distribution.weights.tolist(), strict=True)
            mass = mpmath.fsum(mp(w) * mpmath.exp(mp(where.c) * mp(loss)) for loss, w in pairs)
            assert mpmath.exp(mp(as_fraction(log_mass))) >= mass * (1 - mp(10) ** -55)
        two = [pure_pair(Fraction(source.randint(1, 300), 100), delta=Fraction(1, 7)) for _ in range(3)]
        contour = Contour(where)
        contour.include((pair, 1) for pair in two)
        masses = [
            mpmath.fsum(
                mp(float(w)) * mpmath.exp(mp(where.c) * mp(float(x)))
                for x, w in zip(pair.losses, pair.weights, strict=True)
            )
            for pair in two
        ]
        assert mp(as_fraction(contour._log_mass)) >= mpmath.log(mpmath.fprod(masses)) - mp(10) ** -55


def test_contour_sum_ensures_a_bound_where_points_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a far higher level, half of the sum is dropped, and what is added for it must be enough.
    monkeypatch.setattr(module, "DROPPED", 0.7)
    factors = PRODUCTS["ten pairs"]
    product = product_of(*factors)
    dropped = 0
    for c in (0.5, 1.0, 2.0, 4.0):
        for h in (0.3, 1.0, 2.5):
            contour = contour_of(product, plan(c, h, 400, 1e-4))
            dropped += 400 - len(contour._places)
            for level in (0.0, 0.3, 0.7, 1.2, 1.9, 2.3):
                found = mp(as_fraction(contour_delta(product, contour=contour, epsilon=level)))
                assert found >= true_delta(factors, level)
    assert dropped > 1000


def test_contour_sum_ensures_a_bound_where_a_transform_is_zero() -> None:
    # cos(t L) = 0 at t = pi/2 L, and the weights are so that the imaginary part nearly vanishes too.
    even = LossDistribution(np.array([-1.0, 0.0, 1.0]), np.array([0.25 * math.e**2, 0.0, 0.25]))
    factors = ((even, 1),)
    product = product_of(*factors)
    where = plan(1.0, math.pi / 64, 2000, 1e-3)
    for level in (0.0, 0.25, 0.5, 0.9):
        assert bound(product, where, level) >= true_delta(factors, level)


@pytest.mark.parametrize(
    ("each", "count", "delta"),
    [("0.05", 1000, "1e-6"), ("0.3", 100, "1e-9"), ("1", 60, "1e-3"), ("0.01", 20000, "1e-12"), ("0.2", 400, "0.1")],
)
def test_contour_sum_ensures_a_tight_bound_by_a_good_plan(each: str, count: int, delta: str) -> None:
    account = TightAccount()
    account.add(pure_pair(Fraction(each)), count)
    found = account.epsilon(Fraction(delta))
    assert isinstance(found, Fraction)
    loss = Fraction(float(pure_pair(Fraction(each)).losses[1]))
    if count <= 2000:
        assert kov_delta(found, loss, count) <= mp(Fraction(delta))
        assert kov_delta(found * (1 - Fraction(1, 10**4)), Fraction(each), count) > mp(Fraction(delta))
    at = account.delta(found)
    assert at <= Fraction(delta)


def test_contour_sum_ensures_the_gaussian_profile_for_gaussian_factors() -> None:
    for mu_squared in (Fraction(1, 100), Fraction(2, 5), Fraction(9)):
        account = TightAccount()
        account.add(gaussian_factor(mu_squared / 10), 10)
        mu = mpmath.sqrt(mp(mu_squared))
        for delta in ("1e-2", "1e-6", "1e-12"):
            found = account.epsilon(Fraction(delta))
            assert gaussian_delta(Fraction(found), mu) <= mp(Fraction(delta))
            assert gaussian_delta(Fraction(found) * (1 - Fraction(1, 10**6)), mu) > mp(Fraction(delta))


def test_contour_sum_ensures_that_adding_one_by_one_and_all_at_once_agree() -> None:
    source = random.Random(3)
    losses = [Fraction(source.randint(10, 900), 1000) for _ in range(150)]
    together_, one_by_one = TightAccount(), TightAccount()
    for loss in losses:
        together_.add(pure_pair(loss), 1)
    last: Any = 0
    for loss in losses:
        one_by_one.add(pure_pair(loss), 1)
        last = one_by_one.epsilon(Fraction(1, 10**6))
    at_once = together_.epsilon(Fraction(1, 10**6))
    assert abs(last / at_once - 1) < Fraction(1, 10**4)
    # The truth by another way: losses rounded to a lattice, convolved exactly, from below and from above.
    step = Fraction(1, 1000)
    values = np.array([1.0])
    for loss in losses:
        n = int(loss / step)
        grown = np.zeros(len(values) + 2 * n)
        p = 1 / (1 + math.exp(-float(loss)))
        grown[2 * n :] += p * values
        grown[: len(values)] += (1 - p) * values
        values = grown
    lattice = (np.arange(len(values)) - (len(values) - 1) / 2) * float(step)

    def lattice_delta(epsilon: float) -> float:
        above = lattice > epsilon
        return float(values[above] @ -np.expm1(epsilon - lattice[above]))

    for found in (last, at_once):
        assert lattice_delta(float(found)) <= 1e-6 * (1 + 1e-9)
        assert lattice_delta(float(found) * (1 - 1e-4)) > 1e-6


def test_contour_sum_requires_losses_and_weights_that_are_not_below_the_true_ones() -> None:
    # A loss or a weight that is a thousandth too small gives a bound that is too small.
    true = kov_delta(Fraction(8), Fraction(1, 20), 1000)
    good = pure_pair(Fraction(1, 20))
    smaller_loss = LossDistribution(good.losses * 0.999, good.weights.copy())
    smaller_weight = LossDistribution(good.losses.copy(), good.weights * 0.999)
    for bad in (smaller_loss, smaller_weight):
        product = product_of((bad, 1000))
        found = bound(product, plan_at(product, line_for_epsilon(product, 8.0)), 8.0)
        assert found < true
    product = product_of((good, 1000))
    assert bound(product, plan_at(product, line_for_epsilon(product, 8.0)), 8.0) >= true


def test_contour_sum_requires_a_library_that_is_as_accurate_as_is_assumed() -> None:
    # What NumPy really does here, against 60 digits: 16 times better than assumed, or more.
    source = random.Random(11)
    arguments = np.array([source.uniform(-1, 1) * 10 ** source.uniform(-6, 9) for _ in range(1500)])
    circular: list[tuple[Any, Any]] = [(np.sin, mpmath.sin), (np.cos, mpmath.cos)]
    for ours, exact in circular:
        found = ours(arguments)
        worst = max(abs(mp(float(y)) - exact(mp(float(x)))) for x, y in zip(arguments, found, strict=True))
        assert worst < LIBRARY / 16
    positive = np.abs(arguments)
    relative: list[tuple[Any, Any, Any]] = [
        (np.exp, mpmath.exp, np.clip(arguments, -700, 700)),
        (np.expm1, mpmath.expm1, np.clip(arguments, -700, 700)),
        (np.log, mpmath.log, positive),
        (np.tanh, mpmath.tanh, arguments),
    ]
    for ours, exact, domain in relative:
        found = ours(domain)
        for x, y in zip(domain.tolist(), found.tolist(), strict=True):
            assert abs(mp(y) - exact(mp(x))) <= LIBRARY / 16 * abs(exact(mp(x))), (ours, x)
    others = arguments[::-1]
    for x, y, angle, length in zip(
        arguments, others, np.arctan2(others, arguments), np.hypot(arguments, others), strict=True
    ):
        assert abs(mp(float(angle)) - mpmath.atan2(mp(float(y)), mp(float(x)))) < LIBRARY / 16
        assert abs(mp(float(length)) / mpmath.hypot(mp(float(x)), mp(float(y))) - 1) < LIBRARY / 16


def test_contour_sum_requires_phases_that_the_assumption_covers() -> None:
    huge = LossDistribution(np.array([-1e9, 1e9]), np.array([0.0, 1.0]))
    with pytest.raises(Unfit):
        contour_of(product_of((huge, 2)), plan(1.0, 1.0, 100, 1e-3))
    with pytest.raises(Unfit):
        contour_of(product_of((huge, 1), (pure_pair(Fraction(10**9)), 1)), plan(1.0, 1.0, 100, 1e-3))
    product = product_of((three_points(), 40))
    contour = contour_of(product, plan(1.0, 1.0, 100, 1e-3))
    with pytest.raises(Unfit):
        contour_delta(product, contour=contour, epsilon=1e12)
    account = TightAccount()
    account.add(huge, 40)
    # Moments answer then, and the largest loss.
    assert 4 * 10**10 - Fraction(1, 10**5) <= account.epsilon(Fraction(1, 10**6)) <= 4 * 10**10
    assert account.delta(Fraction(1)) == 1
    assert account.delta(Fraction(4 * 10**10)) == 0


def test_contour_sum_requires_parameters_that_are_fixed_in_advance_and_says_so() -> None:
    statement = contour_delta.__viameter_theorem__.statement  # type: ignore[attr-defined]
    assert "filters and odometers" in statement.requires


def test_multiples_of_a_step_are_exact() -> None:
    for step in (0.1, math.pi, 1e-9, 12345.678):
        where = plan(1.0, step, 70000, 1.0)
        contour = Contour(where)
        assert all(Fraction(float(t)) == k * Fraction(where.h) for k, t in enumerate(contour._steps, 1) if k % 997 == 0)


def test_the_line_is_near_the_saddle_point() -> None:
    product = product_of((pure_pair(Fraction(1, 20)), 1000))
    c = line_for_delta(product, math.log(1e-6))
    assert 2 < c < 5
    assert abs(plan_at(product, c).epsilon - 8.28) < 0.5
    assert abs(line_for_epsilon(product, 8.2836) / c - 1) < 0.1


def test_products_written_out_equal_products_of_contours() -> None:
    one = three_points()
    two = together(one, after=one)
    assert len(two.losses) == 5
    for level in (0.0, 0.5, 1.5):
        true = true_delta(((one, 2),), level)
        assert abs(profile(two.losses.tolist(), two.weights.tolist(), level) - true) < 1e-13
    assert vectors.sum_up(two.weights) >= 1
    assert points(np.array([1.0, 0.0, 1.0]), np.array([0.25, 0.5, 0.25])).weights.tolist()[0] == pytest.approx(0.5)
