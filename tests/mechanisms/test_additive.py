"""Noise that is added: both output laws by enumeration, the ends of 64 bits, and floats on a grid."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.cases import for_each
from tests.mechanisms.oracles import (
    BOTH,
    EDGE,
    HUGE_NOISE,
    INFINITY,
    INTEGER,
    LARGEST,
    NORM,
    ORDERS,
    REAL,
    Law,
    Script,
    at_most,
    close,
    common,
    exp,
    gaussian_pmf,
    gaussian_tail,
    hockey_stick,
    integers,
    interesting_floats,
    laplace_pmf,
    laplace_tail,
    law_of,
    loose,
    max_divergence,
    pure_loss,
    real,
    reals,
    renyi,
    shifted_renyi,
    slugs,
    stopped,
    two_way,
)

import viameter as vm
from viameter.errors import NotExact, NoTheorem, NotInDomain, NumberError, ParameterError, SealedError
from viameter.mechanisms.additive import (
    gaussian_on_integers,
    laplace_on_integers,
)

SCALES = [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(10)]
SMALL_SIGMAS = [Fraction(3, 10), Fraction(1, 2), Fraction(1), Fraction(3)]


# --- laplace-on-integers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_on_integers_ensures_d_over_s_and_every_whole_distance_attains_it(
    scale: Fraction, script: Script
) -> None:
    made = vm.laplace(INTEGER, scale=scale)
    laws = {x: law_of(made, x, script, lambda z: laplace_pmf(z, scale), 15) for x in (-2, 0, 1, 5)}
    assert set(script.asked) == {(None, scale)}
    for x, other in itertools.product(laws, repeat=2):
        d = abs(x - other)
        bound = made.map(d)
        assert bound == vm.pure(d / scale)
        assert close(max_divergence(*common(laws[x], laws[other])), bound.epsilon)
        # What is said for a distance is enough for those that are between it and the next.
        assert made.map(d + Fraction(1, 2)) == vm.pure((d + Fraction(1, 2)) / scale)
    assert made.map(0) == vm.pure(0)
    assert made.map(10**9) == vm.pure(10**9 / scale)
    assert made.map(INFINITY) == vm.pure(INFINITY)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_laplace_on_integers_ensures_the_same_for_the_l1_norm_of_vectors(size: int, script: Script) -> None:
    scale, reach = Fraction(3, 2), {1: 8, 2: 6, 3: 3}[size]
    made = vm.laplace(integers(size, vm.L1Distance()), scale=scale)
    origin = law_of(made, [0] * size, script, lambda z: laplace_pmf(z, scale), reach)
    assert set(script.asked) == {(size, scale)}
    for moved in itertools.product((-2, 0, 1), repeat=size):
        other = law_of(made, list(moved), script, lambda z: laplace_pmf(z, scale), reach)
        d = sum(map(abs, moved))
        assert close(pure_loss(*common(origin, other)), made.map(d).epsilon)
        assert made.map(d) == vm.pure(d / scale)


def test_laplace_on_integers_ensures_it_where_the_size_is_not_public(script: Script) -> None:
    made = vm.laplace(integers(None, vm.L1Distance()), scale=2)
    assert made.map(3) == vm.pure("3/2")
    script.tell(5, -5, 0)
    assert made([1, 2, 3]).tolist() == [6, -3, 3]
    assert made([]).tolist() == []
    # Of another size is infinitely far apart, and that has no guarantee.
    assert made.input_space.distance([1], [1, 2]) == INFINITY
    assert made.map(INFINITY) == vm.pure(INFINITY)


def test_laplace_on_integers_ensures_no_guarantee_without_noise() -> None:
    for made in (vm.laplace(INTEGER, scale=0), vm.geometric(INTEGER, scale="0")):
        assert [made(x) for x in (-7, 0, 2**63 - 1, -(2**63))] == [-7, 0, 2**63 - 1, -(2**63)]
        assert made.map(0) == vm.pure(0)
        assert made.map("1/1000") == made.map(1) == made.map(INFINITY) == vm.pure(INFINITY)
    vector = vm.laplace(integers(2, vm.L1Distance()), scale=0)
    assert vector([3, -4]).tolist() == [3, -4]
    assert (vector.map(0), vector.map(1)) == (vm.pure(0), vm.pure(INFINITY))
    assert laplace_on_integers(INFINITY, scale=Fraction(0)) == vm.pure(INFINITY)


def test_laplace_on_integers_requires_data_that_are_integers() -> None:
    for space in (REAL, reals(3, vm.L1Distance())):
        with pytest.raises(ParameterError, match="needs a grid"):
            vm.laplace(space, scale=1)
        with pytest.raises(ParameterError, match="needs a grid"):
            vm.geometric(space, scale=1)
    # Reals with whole noise tell where they came from: no outcome is shared.
    scale = Fraction(1)
    left: Law = {Fraction(z): laplace_pmf(z, scale) for z in range(-9, 10)}
    right: Law = {Fraction(z) + Fraction(1, 2): laplace_pmf(z, scale) for z in range(-9, 10)}
    assert gmpy2.is_infinite(pure_loss(left, right))


def test_laplace_on_integers_requires_noise_that_is_drawn_exactly() -> None:
    # Noise that is cut off, as a generator of 53 bits does, has outcomes that only one of two data can have.
    scale = Fraction(1)
    cut: Law = {z: laplace_pmf(z, scale) for z in range(-36, 37)}
    assert gmpy2.is_infinite(pure_loss(cut, {z + 1: chance for z, chance in cut.items()}))
    # Noise whose scale is off by a thousandth is above the bound.
    wrong = scale * Fraction(999, 1000)
    left: Law = {z: laplace_pmf(z, wrong) for z in range(-9, 10)}
    right: Law = {z: laplace_pmf(z - 1, wrong) for z in range(-9, 10)}
    assert pure_loss(left, right) > real(laplace_on_integers(Fraction(1), scale=scale).epsilon)


HUGE_DATA = [0, 1, 2**53 + 1, EDGE - 1, EDGE, EDGE + 1, EDGE + 2, LARGEST - 1, LARGEST]
HUGE_DATA += [-x for x in HUGE_DATA] + [-(2**63)]


@BOTH
def test_laplace_on_integers_requires_that_data_stop_at_2_to_the_62_and_sums_before_it(
    mechanism: Any, draw: str, script: Script
) -> None:
    scalar = mechanism(INTEGER, scale=2**52)
    vector = mechanism(integers(None, NORM[draw]), scale=2**52)
    for x, z in itertools.product(HUGE_DATA, HUGE_NOISE):
        expected = stopped(stopped(x, 2**62) + z, EDGE)
        script.tell(z, z)
        released = scalar(x)
        assert released == expected, (x, z)
        assert type(released) is int
        assert vector([x]).tolist() == [expected], (x, z)
    # All at once: where one noise is huge, the others are added in the same way.
    pairs = list(itertools.product(HUGE_DATA, HUGE_NOISE))
    script.tell(*(z for _, z in pairs))
    released = vector([x for x, _ in pairs])
    assert released.dtype == np.int64
    assert released.tolist() == [stopped(stopped(x, 2**62) + z, EDGE) for x, z in pairs]
    # ... and where none is.
    pairs = [(x, z) for x, z in pairs if abs(z) < 2**62]
    script.tell(*(z for _, z in pairs))
    assert vector([x for x, _ in pairs]).tolist() == [stopped(stopped(x, 2**62) + z, EDGE) for x, z in pairs]


@BOTH
def test_laplace_on_integers_requires_that_noise_beyond_64_bits_leads_where_noise_itself_would(
    mechanism: Any, draw: str, script: Script
) -> None:
    scalar = mechanism(INTEGER, scale=1)
    vector = mechanism(integers(2, NORM[draw]), scale=1)
    for x, beyond, sign in itertools.product(HUGE_DATA, (0, 1, 5, 2**70), (1, -1)):
        true_sum = stopped(x, 2**62) + sign * (LARGEST + beyond)
        script.tell(sign * LARGEST)
        assert scalar(x) == stopped(true_sum, EDGE)
        script.tell(sign * LARGEST, -3)
        assert vector([x, 10]).tolist() == [stopped(true_sum, EDGE), 7]


@BOTH
def test_laplace_on_integers_requires_that_stopping_brings_data_no_further_apart(
    mechanism: Any, draw: str, script: Script
) -> None:
    made = mechanism(INTEGER, scale=1)
    for x, other in itertools.product(HUGE_DATA, repeat=2):
        apart = []
        for z in (0, 7, -7):
            script.tell(z, z)
            apart.append(abs(made(x) - made(other)))
        assert max(apart) <= abs(x - other)


@BOTH
def test_long_vectors_get_the_noise_of_their_own_place(mechanism: Any, draw: str, script: Script) -> None:
    # Longer than any chunk that the sums are made in, and with one huge noise or none.
    size = 70_001
    made = mechanism(integers(None, NORM[draw]), scale=1)
    data = np.arange(size, dtype=np.int64) * 3 - size
    data.flags.writeable = False
    noise = (np.arange(size, dtype=np.int64) * 7919) % 1009 - 500
    script.tell(*noise.tolist())
    assert (made(data) == data + noise).all()
    noise[size - 1] = LARGEST
    script.tell(*noise.tolist())
    expected = data + np.where(noise == LARGEST, 0, noise)
    expected[size - 1] = EDGE
    assert (made(data) == expected).all()
    assert (data == np.arange(size, dtype=np.int64) * 3 - size).all()


# --- gaussian-on-integers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SMALL_SIGMAS, ids=str)
def test_gaussian_on_integers_ensures_rho_at_every_order_and_whole_orders_attain_it(scale: Fraction) -> None:
    made = vm.gaussian(INTEGER, scale=scale)
    for shift in (1, 2, 3, 4):
        rho = made.map(shift).rho
        assert made.map(shift) == vm.zcdp(Fraction(shift**2) / (2 * scale**2))
        for order in ORDERS:
            true = shifted_renyi(order, shift, scale)
            assert at_most(true, rho * order), (shift, order)
            if order.denominator == 1:
                assert close(true, rho * order)
    assert made.map(0) == vm.zcdp(0)
    assert made.map("3/2") == vm.zcdp(Fraction(9, 8) / scale**2)
    assert made.map(INFINITY) == vm.zcdp(INFINITY)


def test_gaussian_on_integers_ensures_the_same_for_the_l2_norm_of_vectors(script: Script) -> None:
    scale = Fraction(1, 2)
    for size, reach in ((1, 10), (2, 10)):
        made = vm.gaussian(integers(size, vm.L2Distance()), scale=scale)
        origin = law_of(made, [0] * size, script, lambda z: gaussian_pmf(z, scale), reach)
        assert set(script.asked[-5:]) == {(size, scale)}
        for moved in ([1, 1], [-2, 1], [0, 2])[: 3 if size == 2 else 2]:
            other = law_of(made, moved[:size], script, lambda z: gaussian_pmf(z, scale), reach)
            squared = sum(part**2 for part in moved[:size])
            d = made.input_space.distance([0] * size, moved[:size])
            rho = made.map(d).rho
            assert Fraction(squared, 2) / scale**2 <= rho <= Fraction(squared, 2) / scale**2 * (1 + Fraction(1, 2**99))
            for order in (Fraction(11, 10), Fraction(3, 2), Fraction(2)):
                # Cut off where a summand is below 10^-40 of the largest.
                true = two_way(renyi, *common(origin, other), order)
                assert true <= real(rho * order) + real(Fraction(1, 10**25))
                if order == 2:
                    assert close(true, rho * order, Fraction(1, 10**20))


def test_gaussian_on_integers_ensures_it_in_three_dimensions() -> None:
    made = vm.gaussian(integers(3, vm.L2Distance()), scale=2)
    # Orders of independent coordinates add up: 1 + 4 + 4 = 3^2.
    for order in ORDERS:
        parts = sum(shifted_renyi(order, shift, Fraction(2)) for shift in (1, 2, 2))
        assert at_most(parts, made.map(3).rho * order)
        assert order.denominator > 1 or close(parts, made.map(3).rho * order)


def test_gaussian_on_integers_ensures_no_guarantee_without_noise() -> None:
    made = vm.gaussian(INTEGER, scale=0)
    assert [made(x) for x in (-7, 2**63 - 1)] == [-7, 2**63 - 1]
    assert (made.map(0), made.map("1/2"), made.map(INFINITY)) == (vm.zcdp(0), vm.zcdp(INFINITY), vm.zcdp(INFINITY))
    assert gaussian_on_integers(INFINITY, scale=Fraction(0)) == vm.zcdp(INFINITY)


def test_gaussian_on_integers_requires_data_that_are_integers() -> None:
    for space in (REAL, reals(3, vm.L2Distance())):
        with pytest.raises(ParameterError, match="needs a grid"):
            vm.gaussian(space, scale=1)
    # A shift by half a step is not a k^2/2s^2: the supports are apart, and no order is finite.
    left: Law = {Fraction(z): gaussian_pmf(z, Fraction(1)) for z in range(-9, 10)}
    right: Law = {Fraction(z) + Fraction(1, 2): gaussian_pmf(z, Fraction(1)) for z in range(-9, 10)}
    assert gmpy2.is_infinite(renyi(left, right, Fraction(2)))


def test_gaussian_on_integers_requires_noise_that_is_drawn_exactly() -> None:
    # Noise that ends at eight scales is not private in any order above 1.
    cut: Law = {z: gaussian_pmf(z, Fraction(1)) for z in range(-8, 9)}
    assert gmpy2.is_infinite(renyi(cut, {z + 1: chance for z, chance in cut.items()}, Fraction(101, 100)))
    # Noise whose scale is off by a thousandth is above the bound.
    rho = gaussian_on_integers(Fraction(1), scale=Fraction(1)).rho
    assert shifted_renyi(Fraction(2), 1, Fraction(999, 1000)) > real(2 * rho)


# --- what holds for continuous noise only -----------------------------------------------------------------------------


@for_each("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3)])
def test_the_zcdp_of_continuous_laplace_noise_does_not_hold_and_is_not_used(epsilon: Fraction) -> None:
    scale = 1 / epsilon
    reach = math.ceil(120 * scale)
    divergence = sum(laplace_pmf(z, scale) * real((abs(z - 1) - abs(z)) * epsilon) for z in range(-reach, reach + 1))
    assert close(divergence, real(epsilon) * gmpy2.tanh(real(epsilon) / 2))
    continuous = real(epsilon) + exp(-epsilon) - 1
    # Renyi divergences rise with the order, so that zCDP has to be at least this at order 1.
    assert divergence > continuous
    assert vm.laplace(INTEGER, scale=scale).measure == vm.PureDP
    assert vm.laplace(INTEGER, scale=scale).map(1) == vm.pure(epsilon)


def test_the_delta_of_continuous_gaussian_noise_does_not_hold_and_is_not_used() -> None:
    scale = Fraction(1)
    left: Law = {z: gaussian_pmf(z, scale) for z in range(-60, 61)}
    right: Law = {z: gaussian_pmf(z - 1, scale) for z in range(-60, 61)}
    true = two_way(hockey_stick, left, right, 1)
    root = gmpy2.sqrt(real(2))

    def phi(x: Any) -> Any:
        return gmpy2.erfc(-x / root) / 2

    continuous = phi(real("-1/2")) - exp(1) * phi(real("-3/2"))
    assert round(float(true), 5) == 0.14135
    assert round(float(continuous), 5) == 0.12694
    made = vm.gaussian(INTEGER, scale=scale)
    assert made.measure == vm.ZCDP
    assert made.map(1) == vm.zcdp("1/2")


def test_laplace_noise_is_pure_and_gaussian_noise_zcdp_whatever_the_space() -> None:
    for space, other in ((INTEGER, {}), (REAL, {"grid": 1}), (integers(2, vm.L1Distance()), {})):
        assert loose.laplace(space, scale=3, **other).measure == vm.PureDP
    for space, other in ((INTEGER, {}), (REAL, {"grid": 1}), (integers(2, vm.L2Distance()), {})):
        assert loose.gaussian(space, scale=3, **other).measure == vm.ZCDP
    assert vm.geometric(INTEGER, scale=3).measure == vm.PureDP


# --- what is refused -------------------------------------------------------------------------------------------------


@BOTH
def test_scales_that_are_no_scales_are_refused(mechanism: Any, draw: str) -> None:
    scale: Any
    for scale in (-1, "-1/2", Fraction(-1, 10**9)):
        with pytest.raises(NumberError, match="not above 0"):
            mechanism(INTEGER, scale=scale)
        with pytest.raises(NumberError, match="not above 0"):
            mechanism(REAL, scale=scale, grid=1)
    for scale in (2**52 + 1, "1e16", Fraction(2**52) + Fraction(1, 10**9), "1e300"):
        with pytest.raises(NumberError, match="2\\^52"):
            mechanism(INTEGER, scale=scale)
    for scale in (0.5, 10.0):
        with pytest.raises(NotExact):
            mechanism(INTEGER, scale=scale)
    for scale in (math.nan, INFINITY, "nan", "inf", "ten", None, True, [1], Decimal("NaN"), "1/0"):
        with pytest.raises(NumberError):
            mechanism(INTEGER, scale=scale)
    assert mechanism(INTEGER, scale=2**52).map(0) == mechanism(INTEGER, scale="0.1").map(0)


@BOTH
def test_spaces_without_a_theorem_are_refused(mechanism: Any, draw: str) -> None:
    other_norm = {"discrete_laplace": vm.L2Distance(), "discrete_gaussian": vm.L1Distance()}[draw]
    for space in (
        integers(3, other_norm),
        integers(3, vm.LInfDistance()),
        vm.Space(vm.vectors(int), vm.SymmetricDistance()),
        vm.Space(vm.scalars(int), vm.DiscreteDistance()),
        vm.Space(vm.tables({"a": int}), vm.SymmetricDistance()),
        vm.Space(vm.scalars(str), vm.DiscreteDistance()),
        reals(2, other_norm),
    ):
        with pytest.raises(NoTheorem, match="noise is known for"):
            mechanism(space, scale=1)
    with pytest.raises(ParameterError, match="integers are their own grid"):
        mechanism(INTEGER, scale=1, grid=1)
    with pytest.raises(NotExact):
        mechanism(REAL, scale=1, grid=0.25)
    # NaN has no distance from anything, so that no metric takes it.
    with pytest.raises(ParameterError):
        vm.Space(vm.scalars(float, nan=True), vm.AbsoluteDistance())


@BOTH
def test_a_vector_of_no_floats_is_released_as_one(mechanism: Any, draw: str) -> None:
    made = mechanism(reals(0, NORM[draw]), scale=1, grid=1)
    assert made([]).tolist() == []
    assert made.map(0) == made.measure.zero


def test_data_outside_of_the_domain_are_refused_without_being_shown() -> None:
    canary = 918273645
    bounded = vm.Space(vm.scalars(int, bounds=(0, 9)), vm.AbsoluteDistance())
    for made in (vm.laplace(bounded, scale=1), vm.gaussian(bounded, scale=1), vm.geometric(bounded, scale=1)):
        with pytest.raises(NotInDomain) as caught:
            made(canary)
        assert str(canary) not in str(caught.value)
        assert caught.value.__cause__ is None and caught.value.__context__ is None


# --- as they come ----------------------------------------------------------------------------------------------------


def test_numbers_of_all_kinds_come_out_as_they_went_in() -> None:
    for mechanism in (vm.laplace, vm.gaussian):
        assert type(mechanism(INTEGER, scale=10)(5)) is int
        assert type(mechanism(REAL, scale=10, grid=1)(5.5)) is float
        norm: Any = vm.L1Distance() if mechanism is vm.laplace else vm.L2Distance()
        whole = mechanism(integers(3, norm), scale=10)([1, 2, 3])
        assert whole.dtype == np.int64 and whole.shape == (3,)
        dense = mechanism(reals(3, norm), scale=10, grid="1/8")([0.1, 0.2, 0.3])
        assert dense.dtype == np.float64 and dense.shape == (3,)
        assert not (dense * 8 % 1).any()


@pytest.mark.parametrize("tiny", ["1e-30", "1e-150", "1e-300"])
def test_tiny_scales_are_scales(tiny: str) -> None:
    # The noise is 0 but for once in e^(10^30) draws.
    assert vm.laplace(INTEGER, scale=tiny)(5) == 5
    # Once: gaussian at 1e-300: the engine turns 1/2s^2 into a float, and all data end in a SealedError
    assert vm.gaussian(INTEGER, scale=tiny)(5) == 5


def test_geometric_is_laplace_on_integers_by_another_name(script: Script) -> None:
    made = vm.geometric(INTEGER, scale="5/2")
    script.tell(-4)
    assert made(10) == 6
    assert script.asked == [(None, Fraction(5, 2))]
    assert made.map(3) == vm.pure("6/5")
    assert slugs(made) == ["laplace-on-integers"]
    assert vm.geometric(integers(3, vm.L1Distance()), scale=2).map(3) == vm.pure("3/2")
    with pytest.raises(ParameterError):
        loose.geometric(REAL, scale=1, grid=1)


def test_noise_fits_on_what_transformations_give() -> None:
    visits = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    total = visits >> vm.clamp(bounds=(0, 240)) >> vm.sum() >> vm.laplace(scale=480)
    assert total.map(1) == vm.pure("1/2")
    assert type(total([1, 2, 3])) is int
    wards = vm.Space(vm.vectors(vm.categories(["A", "B"])), vm.SymmetricDistance())
    counts = wards >> vm.histogram() >> vm.laplace(scale=2)
    assert counts.map(1) == vm.pure("1/2")
    assert len(counts(["A", "A", "B"])) == 2


def test_every_kind_of_data_in_the_domain_goes_through_without_an_error() -> None:
    for mechanism in (vm.laplace, vm.gaussian):
        norm: Any = vm.L1Distance() if mechanism is vm.laplace else vm.L2Distance()
        for x in HUGE_DATA:
            assert -EDGE <= mechanism(INTEGER, scale=1)(x) <= EDGE
        assert np.abs(mechanism(integers(None, norm), scale=2**52)(HUGE_DATA)).max() <= EDGE
        for number in interesting_floats(Fraction(1, 4)):
            try:
                assert math.isfinite(mechanism(REAL, scale=1, grid="1/4")(number))
            except SealedError:
                pytest.fail(f"{number} is in the domain")


def test_tails_of_noise_are_what_the_oracles_say() -> None:
    # The oracles against one another: sums of pmfs are tails.
    for scale in (Fraction(1, 2), Fraction(3)):
        assert close(sum(laplace_pmf(z, scale) for z in range(4, 800)), laplace_tail(4, scale))
        assert close(laplace_tail(-3, scale) + laplace_tail(4, scale), 1)
        assert close(sum(gaussian_pmf(z, scale) for z in range(-90, 91)), 1)
        assert close(sum(gaussian_pmf(z, scale) for z in range(2, 90)), gaussian_tail(2, scale))
