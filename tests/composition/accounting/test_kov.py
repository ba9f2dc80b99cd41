"""Optimal homogeneous composition, against its formula in 60 digits and against enumeration."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.composition.accounting.oracles import hockey_stick, kov_delta, least_epsilon, mp, product_law

from viameter.composition.accounting import optimal_delta, optimal_epsilon
from viameter.composition.accounting.optimal import heterogeneous_epsilon
from viameter.errors import NotExact, NumberError, ParameterError

TINY = mp(Fraction(1, 10**30))


def response(epsilon: Fraction, delta: Fraction) -> tuple[dict[str, object], dict[str, object]]:
    """Reveal all with probability delta, else randomized response."""
    e, d = mp(epsilon), mp(delta)
    high, low = (1 - d) / (1 + mpmath.exp(-e)), (1 - d) / (1 + mpmath.exp(e))
    return {"yes": high, "no": low, "I am one": d}, {"yes": low, "no": high, "I am zero": d}


@for_each("count", [0, 1, 2, 3, 20, 101])
@for_each("each", ["0", "0.001", "0.05", "1", "7"])
@for_each("each_delta", ["0", "1e-9", "0.01"])
def test_homogeneous_optimum_delta_ensures_the_formula_rounded_up(count: int, each: str, each_delta: str) -> None:
    # More digits than the 192 bits of the library, so that a rounding in the wrong direction shows.
    with mpmath.workdps(100):
        for part in ("0", "0.3", "0.77", "1"):
            epsilon = Fraction(each) * count * Fraction(part)
            true = kov_delta(epsilon, Fraction(each), count, Fraction(each_delta))
            found = mp(optimal_delta(each, count=count, epsilon=epsilon, each_delta=each_delta))
            assert true - mp(10) ** -90 <= found <= true * (1 + TINY) + TINY


def test_homogeneous_optimum_delta_ensures_that_randomized_response_attains_it() -> None:
    for each, d, count in ((Fraction(1, 2), Fraction(0), 4), (Fraction(3, 10), Fraction(1, 50), 3)):
        left, right = response(each, d)
        for epsilon in (Fraction(0), Fraction(1, 3), Fraction(1)):
            true = hockey_stick(product_law([left] * count), product_law([right] * count), epsilon)
            assert abs(true - mp(optimal_delta(each, count=count, epsilon=epsilon, each_delta=d))) < TINY


def test_homogeneous_optimum_delta_requires_parameters_that_are_fixed_in_advance() -> None:
    # The natural filter: randomized response of 1; after yes one of e_B with tanh(e_B/2) = d/p, after no a leak of d.
    # Each path alone is (1, d)-private by the optimum, the whole is not.
    d = Fraction(1, 1000)
    p = 1 / (1 + mpmath.exp(-1))
    second = 2 * mpmath.atanh(mp(d) / p)
    left, right = response(Fraction(1), Fraction(0))
    high, low = 1 / (1 + mpmath.exp(-second)), 1 / (1 + mpmath.exp(second))
    whole_left = {("yes", 1): left["yes"] * high, ("yes", 0): left["yes"] * low, ("no", 2): left["no"] * mp(d)}
    whole_right = {("yes", 1): right["yes"] * low, ("yes", 0): right["yes"] * high, ("no", 2): mp(0)}
    whole_left["no", 3], whole_right["no", 3] = left["no"] * (1 - mp(d)), right["no"]
    assert hockey_stick(whole_left, whole_right, 1) > mp(d) * mp(Fraction(5, 4))
    for path in ({k: v for k, v in whole_left.items() if k[0] == word} for word in ("yes", "no")):
        assert len(path) == 2
    # With fixed parameters, the same two mechanisms are within the bound.
    assert heterogeneous_epsilon([(1, 0), (Fraction(str(second)[:20]), 0)], delta=d) > 1


def test_homogeneous_optimum_delta_requires_exact_numbers_in_their_range() -> None:
    with pytest.raises(NotExact):
        optimal_delta(1, count=2, epsilon=0.5)  # type: ignore[arg-type]
    cases: list[dict[str, Any]] = [{"loss": -1, "count": 2}, {"loss": 1, "count": 2, "each_delta": 2}]
    for bad in cases:
        with pytest.raises(NumberError):
            optimal_delta(epsilon=1, **bad)
    for count in (-1, 1.5, True, "3", 10**7):
        with pytest.raises(ParameterError):
            optimal_delta(1, count=count, epsilon=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("each", "d", "count", "delta"),
    [
        ("0.05", "0", 20, "1e-3"),
        pytest.param("0.05", "0", 200, "1e-6", marks=pytest.mark.long),
        pytest.param("0.1", "1e-9", 100, "1e-6", marks=pytest.mark.long),
        ("0.1", "1e-9", 40, "1e-6"),
        ("3", "0", 7, "1e-12"),
        ("0.5", "1e-4", 3, "0.2"),
        ("1", "0", 40, "1e-300"),
        ("100", "1e-7", 3, "1e-5"),
    ],
)
def test_homogeneous_optimum_epsilon_ensures_the_least_one_to_12_digits(
    each: str, d: str, count: int, delta: str
) -> None:
    found = optimal_epsilon(each, count=count, delta=delta, each_delta=d)
    assert isinstance(found, Fraction)
    with mpmath.workdps(400 if "e-300" in delta else 100):
        true = least_epsilon(
            lambda e: kov_delta(e, Fraction(each), count, Fraction(d)), Fraction(delta), Fraction(each) * count
        )
        assert true <= mp(found) <= true * (1 + mp(10) ** -20)
    assert optimal_delta(each, count=count, epsilon=found, each_delta=d) <= Fraction(delta) * (1 + Fraction(1, 10**40))


def test_homogeneous_optimum_epsilon_ensures_the_reference_value() -> None:
    reference = Fraction("0.497986408124935")
    found = optimal_epsilon("0.05", count=20, delta="1e-3")
    assert reference - Fraction(1, 10**15) <= found <= reference * (1 + Fraction(1, 10**12))


def test_homogeneous_optimum_epsilon_ensures_an_answer_at_the_ends() -> None:
    assert optimal_epsilon("0.1", count=7, delta=0) == Fraction(7, 10)
    assert optimal_epsilon("0.1", count=7, delta=1) == 0
    assert optimal_epsilon("0.1", count=7, delta=0, each_delta="1e-9") == float("inf")
    assert optimal_epsilon("0.1", count=7, delta="1e-9", each_delta="1e-9") == float("inf")
    assert optimal_epsilon("0.1", count=7, delta="1/2", each_delta=1) == float("inf")
    assert optimal_epsilon("0.1", count=0, delta="1e-9") == 0
    assert optimal_epsilon(0, count=9, delta="1e-9") == 0
    assert optimal_epsilon("0.01", count=9, delta="0.9") == 0


def test_homogeneous_optimum_epsilon_requires_mechanisms_that_have_the_epsilon_that_is_said() -> None:
    # One of 20 that costs a little more is above what 20 equal ones cost.
    bound = optimal_epsilon("0.05", count=20, delta="1e-3")
    more = heterogeneous_epsilon([("0.05", 0)] * 19 + [("0.06", 0)], delta="1e-3")
    assert more > bound


def test_homogeneous_optimum_epsilon_ensures_that_every_rounding_is_outward() -> None:
    # For one mechanism, e^epsilon = ((1 + e^e) T' - e^e) with few operations: a rounding inward would show.
    source = random.Random(13)
    with mpmath.workdps(110):
        for _ in range(150):
            each, d = Fraction(source.randint(1, 10**6), 10**6), Fraction(source.randint(1, 10**6), 10**9)
            delta = d + Fraction(source.randint(1, 10**5), 10**6)
            p, q = 1 / (1 + mpmath.exp(-mp(each))), 1 / (1 + mpmath.exp(mp(each)))
            target = 1 - (1 - mp(delta)) / (1 - mp(d))
            true = max(mpmath.log((p - target) / q), mpmath.log1p(-target), mp(0)) if p > target else mp(0)
            assert mp(optimal_epsilon(each, count=1, delta=delta, each_delta=d)) >= true
            true = 1 - (1 - mp(d)) * (1 - max(mp(0), p - q * mpmath.exp(mp(each) / 2)))
            assert mp(optimal_delta(each, count=1, epsilon=each / 2, each_delta=d)) >= true


def test_the_least_epsilon_and_delta_belong_together() -> None:
    source = random.Random(5)
    for _ in range(40):
        each, count = Fraction(source.randint(1, 400), 200), source.randint(1, 60)
        delta = Fraction(1, 10 ** source.randint(1, 12))
        found = optimal_epsilon(each, count=count, delta=delta)
        assert optimal_delta(each, count=count, epsilon=Fraction(found)) <= delta * (1 + Fraction(1, 10**40))
        if found > 0:
            assert optimal_delta(each, count=count, epsilon=Fraction(found) * (1 - Fraction(1, 10**25))) > delta
