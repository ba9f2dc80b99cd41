"""Intervals: the least width by sums of the noise that is drawn, for many scales and chances."""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.mechanisms.oracles import (
    INTEGER,
    PRECISION,
    REAL,
    VISITS,
    WORDS,
    close,
    exp,
    exponential_law,
    gaussian_tail,
    gaussian_total,
    integers,
    laplace_tail,
    loose,
    permute_and_flip_law,
    real,
    reals,
)

import viameter as vm
from viameter.errors import NoTheorem, NumberError
from viameter.mechanisms.accuracy import SUMMED, gaussian_width, laplace_width, selection_width
from viameter.sampling.families import Gaussian

# The module, and not the function of that name in the package.
module: Any = importlib.import_module("viameter.mechanisms.accuracy")

ALPHAS = [Fraction(text) for text in ("0.999", "0.9", "1/2", "1/3", "1/20", "1/100", "1e-6", "1e-12", "1e-20")]
LAPLACE_SCALES = ["1/10", "1/3", "1/2", "1", "7/3", "10", "100/7", "1000", "1e6", str(2**40), str(2**52)]
GAUSSIAN_SCALES = ["1/100", "1/10", "3/10", "1/2", "1", "7/3", "10", "100/7", "100"]


def outside_laplace(width: int, scale: Fraction) -> Any:
    """P(|Z| > width)."""
    return 2 * laplace_tail(width + 1, scale)


def outside_gaussian(width: int, scale: Fraction) -> Any:
    """P(|Z| > width), by summation."""
    return 2 * gaussian_tail(width + 1, scale)


def outside_wide_gaussian(width: int, scale: Fraction) -> Any:
    """P(|Z| > width) for large scales, after Euler and Maclaurin: the next term is below s^-5/30240 of the pmf."""
    with gmpy2.context(precision=PRECISION):
        s, k = real(scale), real(width + 1)
        f = exp(-Fraction((width + 1) ** 2) / (2 * scale**2))
        integral = s * gmpy2.sqrt(gmpy2.const_pi() / 2) * gmpy2.erfc(k / s / gmpy2.sqrt(real(2)))
        ends = f / 2 + k / s**2 * f / 12 + (3 * k / s**4 - k**3 / s**6) * f / 720
        return 2 * (integral + ends) / gaussian_total(scale)


@for_each("scale", [Fraction(text) for text in LAPLACE_SCALES])
def test_the_width_of_laplace_noise_is_the_least(scale: Fraction) -> None:
    made = vm.laplace(INTEGER, scale=scale)
    for alpha in [*ALPHAS, Fraction("1e-40"), Fraction("1e-300"), 1 - Fraction("1e-30")]:
        width = vm.accuracy(made, alpha)
        assert isinstance(width, Fraction) and width.denominator == 1 and width >= 0
        assert outside_laplace(int(width), scale) <= real(alpha)
        assert width == 0 or outside_laplace(int(width) - 1, scale) > real(alpha)
        assert width == laplace_width(scale, alpha) == vm.accuracy(vm.geometric(INTEGER, scale=scale), alpha)


@for_each("scale", [Fraction(text) for text in GAUSSIAN_SCALES])
def test_the_width_of_gaussian_noise_is_the_least(scale: Fraction) -> None:
    made = vm.gaussian(INTEGER, scale=scale)
    # At a hundred, each width takes a while.
    for alpha in ALPHAS if scale < 100 else ALPHAS[2:5]:
        width = vm.accuracy(made, alpha)
        assert isinstance(width, Fraction) and width.denominator == 1 and width >= 0
        assert outside_gaussian(int(width), scale) <= real(alpha)
        assert width == 0 or outside_gaussian(int(width) - 1, scale) > real(alpha)
        assert width == gaussian_width(scale, alpha)


def test_the_width_of_gaussian_noise_is_the_least_at_the_largest_scale_that_is_summed() -> None:
    scale, alpha = Fraction(SUMMED), Fraction(1, 20)
    width = int(gaussian_width(scale, alpha))
    assert outside_gaussian(width, scale) <= real(alpha)
    assert outside_gaussian(width - 1, scale) > real(alpha)
    # The oracle for what is above, against the sum.
    assert close(outside_wide_gaussian(width, scale), outside_gaussian(width, scale), Fraction(1, 10**18))


WIDE = [Fraction(SUMMED) + Fraction(1, 3), Fraction(12345), Fraction(10**6), Fraction(2**40)]


@pytest.mark.parametrize("scale", WIDE, ids=str)
def test_the_width_of_wide_gaussian_noise_is_at_most_one_more_than_the_least(scale: Fraction) -> None:
    made = vm.gaussian(INTEGER, scale=scale)
    for alpha in [*ALPHAS, Fraction("1e-100"), Fraction("1e-300")]:
        width = vm.accuracy(made, alpha)
        assert width.denominator == 1
        assert outside_wide_gaussian(int(width), scale) <= real(alpha)
        assert width < 2 or outside_wide_gaussian(int(width) - 2, scale) > real(alpha)


@pytest.mark.parametrize("scale", [Fraction(2**50), Fraction(2**52), Fraction(2**52) - Fraction(1, 3)], ids=str)
def test_the_width_of_the_widest_gaussian_noise_is_at_most_one_more_than_the_least(scale: Fraction) -> None:
    # Once: the argument of erfc is rounded to a float, which at these scales is several widths (on the safe side)
    for alpha in ALPHAS:
        width = int(vm.accuracy(vm.gaussian(INTEGER, scale=scale), alpha))
        assert outside_wide_gaussian(width, scale) <= real(alpha)
        assert width < 2 or outside_wide_gaussian(width - 2, scale) > real(alpha)


class Impatient:
    """A function that is called again and again, up to where it must have settled."""

    def __init__(self, function: Any, most: int) -> None:
        self.function, self.left = function, most

    def __call__(self, *arguments: Any) -> Any:
        self.left -= 1
        assert self.left, "it does not settle"
        return self.function(*arguments)


@contextmanager
def settling(most: int) -> Iterator[None]:
    """Let so many lines of the module run, and not more: what goes on for ever fails."""
    left = most

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != module.__file__:
            return None
        left -= 1
        assert left, "it does not settle"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.parametrize(
    ("scale", "alpha"), [("1", "1e-40"), ("1/10", "1e-30"), ("10", "1e-50"), ("1/3", "1e-300"), ("10", "1e-1000")]
)
def test_the_width_of_gaussian_noise_is_found_for_tiny_chances(
    scale: str, alpha: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once: what is beyond 12 scales is never resolved, and bits are doubled for ever
    weights = Impatient(Gaussian.weights, 8)
    # A plain function: only that becomes a method.
    monkeypatch.setattr(Gaussian, "weights", lambda family, bits: weights(family, bits))  # noqa: PLW0108
    width = int(vm.accuracy(vm.gaussian(INTEGER, scale=scale), alpha))
    exact, chance = Fraction(scale), real(Fraction(alpha))

    def outside(width: int) -> Any:
        reach = math.ceil(90 * exact) + 2
        return 2 * sum(exp(-Fraction(z * z) / (2 * exact**2)) for z in range(width + 1, reach)) / gaussian_total(exact)

    assert outside(width) <= chance
    assert width == 0 or outside(width - 1) > chance


def exact_value(number: Any) -> Fraction:
    return Fraction(*map(int, number.as_integer_ratio()))


@pytest.mark.parametrize("width", [0, 1, 5, 12])
def test_the_width_is_the_least_where_the_chance_is_nearly_a_tie(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = Impatient(Gaussian.weights, 8)
    monkeypatch.setattr(Gaussian, "weights", lambda family, bits: weights(family, bits))  # noqa: PLW0108
    scale, little = Fraction(5, 2), Fraction(1, 10**60)
    for outside, found in ((outside_gaussian, gaussian_width), (outside_laplace, laplace_width)):
        chance = exact_value(outside(width, scale))
        assert found(scale, chance + little) == width
        assert found(scale, chance - little) == width + 1


def test_the_width_of_wide_gaussian_noise_is_found_for_tiny_chances() -> None:
    # Once: 1e-400 becomes the float 0, which no chance is below, and the search goes on for ever
    scale = Fraction(2000)
    with settling(10_000):
        width = int(vm.accuracy(vm.gaussian(INTEGER, scale=scale), "1e-400"))
    assert outside_wide_gaussian(width, scale) <= real(Fraction("1e-400"))
    assert outside_wide_gaussian(width - 3, scale) > real(Fraction("1e-400"))


def test_widths_do_not_depend_on_the_precision_that_the_caller_computes_with() -> None:
    made = [vm.gaussian(INTEGER, scale=scale) for scale in (3, 5000, 2**40)]
    made.append(vm.laplace(INTEGER, scale=10**6))
    expected = [vm.accuracy(release, "1/1000") for release in made]
    for precision, rounding in itertools.product((2, 5, 24), (gmpy2.RoundUp, gmpy2.RoundDown)):
        with gmpy2.context(precision=precision, round=rounding):
            # Once: the argument of erfc is taken into the caller's context, where it may be rounded up
            assert [vm.accuracy(release, "1/1000") for release in made] == expected


def test_the_width_without_noise_is_0() -> None:
    for mechanism in (vm.laplace, vm.gaussian):
        assert vm.accuracy(mechanism(INTEGER, scale=0)) == 0
        assert vm.accuracy(mechanism(REAL, scale=0, grid="1/4"), "1e-9") == 0


def test_the_width_on_a_grid_is_in_the_unit_of_the_data() -> None:
    for step in (Fraction(1, 8), Fraction(4)):
        for mechanism, outside in ((vm.laplace, outside_laplace), (vm.gaussian, outside_gaussian)):
            made = mechanism(REAL, scale=10, grid=step)
            width = vm.accuracy(made)
            assert (width / step).denominator == 1
            assert outside(int(width / step), 10 / step) <= real("1/20")
            assert outside(int(width / step) - 1, 10 / step) > real("1/20")


def test_the_width_of_vectors_is_that_of_each_number() -> None:
    assert vm.accuracy(vm.laplace(integers(7, vm.L1Distance()), scale=10)) == laplace_width(
        Fraction(10), Fraction(1, 20)
    )
    assert vm.accuracy(vm.gaussian(integers(None, vm.L2Distance()), scale=3)) == gaussian_width(
        Fraction(3), Fraction(1, 20)
    )
    on_a_grid = vm.laplace(reals(7, vm.L1Distance()), scale=10, grid="1/2")
    assert vm.accuracy(on_a_grid) == laplace_width(Fraction(20), Fraction(1, 20)) / 2


def test_the_width_after_transformations_is_that_of_the_noise() -> None:
    made = VISITS >> vm.clamp(bounds=(0, 240)) >> vm.sum() >> vm.laplace(scale=480)
    assert vm.accuracy(made) == laplace_width(Fraction(480), Fraction(1, 20))
    assert vm.accuracy(made, "1/100") == laplace_width(Fraction(480), Fraction(1, 100))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(10)], ids=str)
def test_the_width_of_a_choice_holds_for_all_small_scores(scale: Fraction) -> None:
    for size in (1, 2, 3, 4):
        space = integers(size, vm.LInfDistance())
        releases = [
            (vm.exponential(space, scale=scale), exponential_law),
            (vm.noisy_max(space, scale=scale, noise="gumbel"), exponential_law),
            (vm.noisy_max(space, scale=scale), permute_and_flip_law),
        ]
        for alpha in (Fraction(9, 10), Fraction(1, 2), Fraction(1, 20)):
            width = vm.accuracy(releases[0][0], alpha)
            assert all(vm.accuracy(made, alpha) == width for made, _ in releases)
            near = math.floor(width)
            levels = sorted({0, 1, near, near + 1, near + 2})
            for scores in itertools.combinations_with_replacement([-level for level in levels], size):
                if max(scores) == 0:
                    for law in (exponential_law, permute_and_flip_law):
                        far = [chance for index, chance in law(scores, scale).items() if -scores[int(index)] > width]
                        assert sum(far) <= real(alpha)


def test_the_width_of_a_choice_is_its_formula_rounded_up_to_thousandths() -> None:
    for scale, alpha, size in itertools.product((Fraction(1, 3), Fraction(40)), ALPHAS, (1, 2, 3, 1000)):
        width = selection_width(scale, alpha, size)
        exact = real(scale) * gmpy2.log(real((size - 1) / alpha)) if size - 1 > alpha else real(0)
        assert real(width) >= exact
        assert real(width) - exact <= real("1/1000")
        # What is exactly so far behind is chosen with no more than alpha, all others together.
        assert (size - 1) * exp(-width / scale) <= real(alpha) or width == 0


def test_the_width_of_a_private_quantile_is_that_of_the_score_of_the_choice() -> None:
    made = vm.private_quantile(VISITS, alpha="1/2", candidates=range(100), scale=2)
    assert vm.accuracy(made) == selection_width(Fraction(2), Fraction(1, 20), 100)


def test_what_has_no_interval_is_refused() -> None:
    three = integers(3, vm.LInfDistance())
    answer = vm.Space(vm.categories(["a", "b"]), vm.DiscreteDistance())
    for made in (
        vm.noisy_max(three, scale=1, noise="laplace"),
        vm.top_k(three, k=2, scale=1),
        vm.randomized_response(answer, probability="3/4"),
        vm.thresholded_counts(WORDS, scale=1, threshold=5),
        vm.sparse_vector(VISITS, threshold=5, scale=1),
        vm.measurement(
            INTEGER, function=lambda _: 0, measure=vm.PureDP, privacy=lambda _: vm.pure(0), trust="a constant"
        ),
    ):
        with pytest.raises(NoTheorem, match="no interval"):
            vm.accuracy(made)


def test_the_width_of_a_release_that_was_processed_is_refused() -> None:
    # Once: the width of the noise is given for what was made of the release
    with pytest.raises(NoTheorem):
        vm.accuracy(vm.laplace(INTEGER, scale=10) >> vm.postprocess(lambda release: 1000 * release))


@for_each("alpha", [0, 1, -1, "3/2", 0.05, "nan", None, True, "inf"])
def test_chances_that_are_none_are_refused(alpha: Any) -> None:
    with pytest.raises(NumberError):
        loose.accuracy(vm.laplace(INTEGER, scale=1), alpha)
