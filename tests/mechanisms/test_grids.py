"""Noise on a grid: data are rounded exactly, losses are those of what rounding leaves, and nothing is off the grid."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.mechanisms.oracles import (
    BOTH,
    EDGE,
    HUGE,
    HUGE_NOISE,
    INFINITY,
    LARGEST,
    NORM,
    ORDERS,
    REAL,
    TINY,
    Script,
    at_most,
    close,
    common,
    interesting_floats,
    laplace_pmf,
    law_of,
    max_divergence,
    real,
    reals,
    shifted_renyi,
    stopped,
)

import viameter as vm
from viameter.errors import NoTheorem, NumberError, ParameterError
from viameter.mechanisms.additive import (
    gaussian_on_a_grid,
    laplace_on_a_grid,
    rounding_to_a_grid,
)

# --- rounding-to-a-grid ----------------------------------------------------------------------------------------------


def rounded(x: float, step: Fraction) -> int:
    """floor(x/g + 1/2) in rationals; what is infinite, or beyond 2^62 steps, stops there."""
    if math.isinf(x):
        return 2**62 if x > 0 else -(2**62)
    return stopped(math.floor(Fraction(x) / step + Fraction(1, 2)), 2**62)


STEPS = [Fraction(1), Fraction(1, 4), Fraction(1, 2**20), Fraction(8), Fraction(2**60), Fraction(1, 2**1000)]
STEPS += [Fraction(2**900), Fraction(1, 2**500)]


@BOTH
@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"2^{math.log2(step):.0f}")
def test_rounding_to_a_grid_ensures_the_nearest_multiple_exactly(
    step: Fraction, mechanism: Any, draw: str, script: Script
) -> None:
    scale = min(step, Fraction(1))
    scalar = mechanism(REAL, scale=scale, grid=step)
    vector = mechanism(reals(1, NORM[draw]), scale=scale, grid=step)
    for x in interesting_floats(step):
        expected = stopped(rounded(x, step), EDGE)
        # Below 2^53 steps the multiple is a float; beyond, the float that is nearest.
        script.tell(0, 0)
        released = scalar(x)
        assert type(released) is float
        assert Fraction(released) == Fraction(float(expected)) * step, (x, step)
        assert vector([x]).tolist() == [released]
    assert set(script.asked) == {(None, scale / step), (1, scale / step)}


def test_rounding_to_a_grid_ensures_d_over_g_rounded_up_for_one_number_and_it_is_attained() -> None:
    rng = random.Random(20260101)
    attained = 0
    for _ in range(3000):
        step = Fraction(2) ** rng.randint(-6, 6)
        x = math.ldexp(rng.randint(-(2**12), 2**12), rng.randint(-9, 1)) * float(step)
        other = x + math.ldexp(rng.randint(0, 2**9), -rng.randint(4, 9)) * float(step)
        d = Fraction(other) - Fraction(x)
        bound = rounding_to_a_grid(d, step=step, size=1, norm=rng.choice((1, 2)))
        assert bound == math.ceil(d / step)
        assert abs(rounded(other, step) - rounded(x, step)) <= bound
        attained += abs(rounded(other, step) - rounded(x, step)) == bound
    assert attained > 1000
    # From just below a half to just above one.
    half, above = math.nextafter(0.5, 0), math.nextafter(1.5, 2)
    assert rounded(above, Fraction(1)) - rounded(half, Fraction(1)) == 2
    assert rounding_to_a_grid(Fraction(above) - Fraction(half), step=Fraction(1), size=1, norm=1) == 2
    for same in (Fraction(0), INFINITY):
        for size, norm in itertools.product((0, 1, 2, 5), (1, 2)):
            assert rounding_to_a_grid(same, step=Fraction(1, 4), size=size, norm=norm) == same


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("norm", [1, 2])
def test_rounding_to_a_grid_ensures_the_norms_of_vectors_by_brute_force(size: int, norm: int) -> None:
    step = Fraction(1, 2)
    numbers = [k / 8 for k in range(-3, 5)] if size < 3 else [k / 4 + (k % 2) / 16 for k in range(-2, 4)]
    images = {x: rounded(x, step) for x in numbers}
    worst: dict[Fraction, int] = {}
    for x in itertools.product(numbers, repeat=size):
        for other in itertools.product(numbers[: len(numbers) // 2], repeat=size):
            apart = [abs(Fraction(a) - Fraction(b)) for a, b in zip(x, other, strict=True)]
            after = [abs(images[a] - images[b]) for a, b in zip(x, other, strict=True)]
            # For the Euclidean norm, squares on both sides.
            d = sum((a**norm for a in apart), Fraction(0))
            worst[d] = max(worst.get(d, 0), sum(a**norm for a in after))
    for d, found in worst.items():
        if norm == 1:
            bound = rounding_to_a_grid(d, step=step, size=size, norm=1)
            assert found <= bound
            assert bound == (math.floor(d / step + size) if d and size > 1 else math.ceil(d / step))
        else:
            root = gmpy2.sqrt(real(d))
            up = Fraction(int(gmpy2.ceil(root * 2**100)), 2**100)
            assert found <= Fraction(rounding_to_a_grid(up, step=step, size=size, norm=2)) ** 2
    # Without what rounding adds, the bound would be wrong.
    assert any(found > (d / step if norm == 1 else d / step**2) for d, found in worst.items())


def test_rounding_to_a_grid_ensures_the_root_of_the_size_rounded_up() -> None:
    for size in (2, 3, 5, 1000):
        bound = Fraction(rounding_to_a_grid(Fraction(1), step=Fraction(1, 4), size=size, norm=2))
        assert (bound - 4) ** 2 >= size
        assert (bound - 4) ** 2 <= size * (1 + Fraction(1, 2**100))
    assert rounding_to_a_grid(Fraction(1), step=Fraction(1, 4), size=1000, norm=1) == 1004
    assert rounding_to_a_grid(Fraction(1, 3), step=Fraction(1, 4), size=2, norm=1) == 3


@BOTH
@pytest.mark.parametrize(
    "grid", [3, "1/3", "0.1", 0, "-1/4", -1, "3/4", 2**1001, Fraction(1, 2**1001), Fraction(2, 3)], ids=str
)
def test_rounding_to_a_grid_requires_a_step_that_is_a_power_of_two(grid: Any, mechanism: Any, draw: str) -> None:
    for space in (REAL, reals(2, NORM[draw])):
        with pytest.raises(ParameterError, match="power of two"):
            mechanism(space, scale=1, grid=grid)


def test_rounding_to_a_grid_requires_that_the_rounding_is_exact() -> None:
    # floor(x + 0.5) in floats: of two neighbors one goes up by two.
    x, other = 2.0**52, 2.0**52 + 1
    careless = [math.floor(number + 0.5) for number in (x, other)]
    bound = rounding_to_a_grid(Fraction(1), step=Fraction(1), size=1, norm=1)
    assert abs(careless[1] - careless[0]) > bound
    assert abs(rounded(other, Fraction(1)) - rounded(x, Fraction(1))) <= bound


@BOTH
def test_rounding_to_a_grid_requires_that_floats_out_of_range_stop_at_its_ends(
    mechanism: Any, draw: str, script: Script
) -> None:
    step = Fraction(1, 2**1000)
    made = mechanism(REAL, scale=step, grid=step)
    ends = {}
    for x in (HUGE, INFINITY, 1.0, 2.0**-900, -HUGE, -INFINITY):
        script.tell(0)
        ends[x] = made(x)
    end = float(EDGE) * float(step)
    assert ends == {HUGE: end, INFINITY: end, 1.0: end, 2.0**-900: end, -HUGE: -end, -INFINITY: -end}
    # inf and inf are the same, and inf is infinitely far from the rest.
    assert (REAL.distance(INFINITY, INFINITY), REAL.distance(INFINITY, HUGE)) == (0, INFINITY)


# --- noise on a grid -------------------------------------------------------------------------------------------------


def test_laplace_on_a_grid_ensures_the_loss_of_what_rounding_leaves(script: Script) -> None:
    step, scale = Fraction(1, 4), Fraction(1, 2)
    made = vm.laplace(REAL, scale=scale, grid="1/4")
    numbers = [0.0, 0.1, math.nextafter(0.125, 0), 0.125, 0.3, 0.375, 0.8, -0.13, -1.0]
    laws = {x: law_of(made, x, script, lambda z: laplace_pmf(z, scale / step), 9) for x in numbers}
    assert set(script.asked) == {(None, scale / step)}
    attained = 0
    for x, other in itertools.product(numbers, repeat=2):
        d = abs(Fraction(x) - Fraction(other))
        bound = made.map(d).epsilon
        assert bound == math.ceil(d / step) * step / scale
        true = max_divergence(*common(laws[x], laws[other]))
        assert at_most(true, bound)
        attained += x != other and close(true, bound)
    assert attained > 10
    assert made.map(INFINITY) == vm.pure(INFINITY)
    assert made.map(0) == vm.pure(0)


@pytest.mark.parametrize("size", [2, 3])
def test_laplace_on_a_grid_ensures_the_same_for_vectors(size: int, script: Script) -> None:
    step, scale = Fraction(2), Fraction(3)
    made = vm.laplace(reals(size, vm.L1Distance()), scale=scale, grid=2)
    numbers = [0.75, 1.25, -0.5]
    reach = {2: 5, 3: 2}[size]
    points = list(itertools.product(numbers, repeat=size))[:: 1 if size == 2 else 5]
    laws = {x: law_of(made, list(x), script, lambda z: laplace_pmf(z, scale / step), reach) for x in points}
    for x, other in itertools.product(points, repeat=2):
        d = sum((abs(Fraction(a) - Fraction(b)) for a, b in zip(x, other, strict=True)), Fraction(0))
        assert at_most(max_divergence(*common(laws[x], laws[other])), made.map(d).epsilon)
    assert made.map("1/2") == vm.pure(math.floor(Fraction(1, 4) + size) * step / scale)
    assert laplace_on_a_grid(Fraction(1, 2), scale=scale, step=step, size=size) == made.map("1/2")


def test_gaussian_on_a_grid_ensures_the_loss_of_what_rounding_leaves(script: Script) -> None:
    step, scale = Fraction(1, 4), Fraction(1, 2)
    made = vm.gaussian(REAL, scale=scale, grid="1/4")
    for x, other in ((0.0, 0.1), (0.0, 0.125), (0.1, 0.9), (-0.13, 0.13), (math.nextafter(0.125, 0), 0.375)):
        d = abs(Fraction(x) - Fraction(other))
        shift = abs(rounded(x, step) - rounded(other, step))
        rho = made.map(d).rho
        assert rho == (math.ceil(d / step) * step / scale) ** 2 / 2
        for order in ORDERS:
            assert shift == 0 or at_most(shifted_renyi(order, shift, scale / step), rho * order)
        if shift == math.ceil(d / step):
            assert close(shifted_renyi(Fraction(2), shift, scale / step), 2 * rho)
    script.tell(3)
    assert made(0.3) == 1.0
    assert script.asked == [(None, scale / step)]
    assert (made.map(0), made.map(INFINITY)) == (vm.zcdp(0), vm.zcdp(INFINITY))


def test_gaussian_on_a_grid_ensures_the_same_for_vectors() -> None:
    step, scale = Fraction(1, 2), Fraction(2)
    made = vm.gaussian(reals(2, vm.L2Distance()), scale=scale, grid="1/2")
    numbers = [k / 8 for k in range(-2, 4)]
    for x in itertools.product(numbers, repeat=2):
        for other in itertools.product(numbers, repeat=2):
            squared = sum((rounded(a, step) - rounded(b, step)) ** 2 for a, b in zip(x, other, strict=True))
            d = made.input_space.distance(list(x), list(other))
            assert squared * (step / scale) ** 2 / 2 <= made.map(d).rho
    bound = gaussian_on_a_grid(Fraction(1), scale=scale, step=step, size=2)
    assert bound == made.map(1)
    least = ((2 + gmpy2.sqrt(real(2))) * real(step / scale)) ** 2 / 2
    assert real(bound.rho) >= least
    assert close(bound.rho, least, Fraction(1, 2**100))


def test_laplace_on_a_grid_requires_a_public_size() -> None:
    with pytest.raises(NoTheorem, match="size, which is not public"):
        vm.laplace(reals(None, vm.L1Distance()), scale=1, grid=1)


def test_gaussian_on_a_grid_requires_a_public_size() -> None:
    with pytest.raises(NoTheorem, match="size, which is not public"):
        vm.gaussian(reals(None, vm.L2Distance()), scale=1, grid=1)


def test_laplace_on_a_grid_requires_what_rounding_and_noise_require_and_a_scale_in_steps() -> None:
    with pytest.raises(ParameterError, match="power of two"):
        vm.laplace(REAL, scale=1, grid=3)
    # 2^52 is the largest scale, in steps as well.
    with pytest.raises(NumberError, match="2\\^52"):
        vm.laplace(REAL, scale=2**30, grid=Fraction(1, 2**30))
    assert vm.laplace(REAL, scale=2**26, grid=Fraction(1, 2**26)).map(1) == vm.pure(Fraction(1, 2**26))


def test_gaussian_on_a_grid_requires_what_rounding_and_noise_require_and_a_scale_in_steps() -> None:
    with pytest.raises(ParameterError, match="power of two"):
        vm.gaussian(REAL, scale=1, grid=3)
    with pytest.raises(NumberError, match="2\\^52"):
        vm.gaussian(REAL, scale=2**30, grid=Fraction(1, 2**30))


@BOTH
@pytest.mark.parametrize("exponent", [-1000, -60, -2, 0, 5, 60, 900])
def test_no_value_off_the_grid_leaves(exponent: int, mechanism: Any, draw: str, script: Script) -> None:
    step = Fraction(2) ** exponent
    scale = min(step, Fraction(1))
    scalar = mechanism(REAL, scale=scale, grid=step)
    vector = mechanism(reals(len(HUGE_NOISE), NORM[draw]), scale=scale, grid=step)
    for x in (0.0, -0.3, 1 / 3, 1e9 + 0.1, TINY, HUGE, INFINITY, -INFINITY):
        told = []
        for z in HUGE_NOISE:
            script.tell(z)
            told.append(scalar(x))
        script.tell(*HUGE_NOISE)
        assert vector([x] * len(HUGE_NOISE)).tolist() == told
        for value, z in zip(told, HUGE_NOISE, strict=True):
            assert Fraction(value) % step == 0
            steps = stopped(rounded(x, step) + z, EDGE)
            assert Fraction(value) == Fraction(float(steps)) * step


@BOTH
@pytest.mark.parametrize("exponent", [961, 962, 970, 1000])
def test_floats_on_the_largest_grids_neither_fail_nor_leave_the_grid(
    exponent: int, mechanism: Any, draw: str, script: Script
) -> None:
    # Once: from 2^962 on math.ldexp overflows for one number, an error that depends on the row; vectors give inf
    step = Fraction(2) ** exponent
    try:
        scalar = mechanism(REAL, scale=1, grid=step)
    except ParameterError:
        # To refuse such grids is fine: it does not depend on rows.
        assert exponent > 961
        return
    vector = mechanism(reals(1, NORM[draw]), scale=1, grid=step)
    for x, z in itertools.product((0.0, 1.0, HUGE, INFINITY, -HUGE, -INFINITY), (0, 1, -1, 2**40, LARGEST, -LARGEST)):
        script.tell(z)
        released = scalar(x)
        assert math.isfinite(released)
        assert Fraction(released) % step == 0
        script.tell(z)
        assert vector([x]).tolist() == [released]


@BOTH
def test_scale_0_on_a_grid_rounds_and_promises_nothing(mechanism: Any, draw: str) -> None:
    made = mechanism(REAL, scale=0, grid="1/4")
    assert [made(x) for x in (0.1, 0.125, -0.125, 7.9)] == [0.0, 0.25, 0.0, 8.0]
    zero, infinite = made.measure.zero, made.measure.infinite
    assert (made.map(0), made.map("1/100"), made.map(INFINITY)) == (zero, infinite, infinite)
