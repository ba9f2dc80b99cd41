from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import pytest
from tests.cases import for_each
from tests.neighborhood.solvers.instances import INFINITY, gains, plus, seeds

from viameter.errors import NumberError, ParameterError
from viameter.neighborhood.solvers import Worst, worst_at_most
from viameter.neighborhood.solvers.worst import Unit


def test_at_most_is_the_largest_of_all_choices() -> None:
    for rng in seeds("at most", 400):
        given = gains(rng, rng.randrange(7), infinite=0.2)
        most = rng.randrange(8)
        worst = worst_at_most(given, most)
        choices = [c for size in range(min(most, len(given)) + 1) for c in combinations(range(len(given)), size)]
        assert worst.value == max(plus(given[i] for i in choice) for choice in choices)
        assert worst.exact and len(worst.chosen) <= most and plus(given[i] for i in worst.chosen) == worst.value
        assert 0 not in [given[i] for i in worst.chosen]
        assert list(worst.chosen) == sorted(worst.chosen, key=lambda i: (-given[i], i))


def test_gains_that_no_float_tells_apart_are_compared_exactly() -> None:
    base = Fraction(1, 3)
    for scale in (Fraction(1), Fraction(10**300), Fraction(10**400), Fraction(1, 10**320), Fraction(1, 10**400)):
        for rng in seeds("close", 20):
            close = [scale * (base + Fraction(rng.randrange(10), 10**30)) for _ in range(40)]
            worst = worst_at_most(close, 5)
            assert worst.value == sum(sorted(close)[-5:])
            assert list(worst.chosen) == sorted(range(40), key=lambda i: (-close[i], i))[:5]


def test_gains_of_int64_that_no_float_tells_apart_are_compared_exactly() -> None:
    large = 2**62
    given = [Fraction(large + n % 7, 3) for n in range(100)]
    assert worst_at_most(given, 14).value == sum(sorted(given)[-14:])
    assert list(worst_at_most(given, 20).chosen) == sorted(range(100), key=lambda i: (-given[i], i))[:20]


@pytest.mark.parametrize("same", ["nothing", "numerator", "denominator"])
def test_fractions_of_int64_whose_keys_are_out_of_order_are_compared_exactly(same: str) -> None:
    prime = 2**61 - 1
    for rng in seeds("keys", 30):
        given: list[Fraction | float] = []
        for _ in range(60):
            below = prime if same == "denominator" else 3 * 2**59 + rng.randrange(2**8)
            above = prime if same == "numerator" else 2**60 + rng.randrange(2**8)
            given.append(Fraction(above, below))
        for most in (1, 7, 60):
            order = sorted(range(60), key=lambda i: (-given[i], i))[:most]
            assert list(worst_at_most(given, most).chosen) == order


def test_gains_too_large_or_too_small_for_floats_stand_in_order() -> None:
    exponents = (-500, -330, -320, -308, 0, 307, 309, 400)
    for rng in seeds("sizes", 30):
        given: list[Fraction | float] = [
            Fraction(rng.randrange(1, 50)) * Fraction(10) ** rng.choice(exponents) for _ in range(30)
        ]
        if rng.random() < 0.3:
            given[3] = INFINITY
        most = rng.randrange(1, 31)
        order = sorted(range(30), key=lambda i: (-given[i], i))[:most]
        assert list(worst_at_most(given, most).chosen) == order


def test_large_inputs_agree_with_a_full_sort() -> None:
    rng = random.Random(5)
    given: list[Fraction | float] = [Fraction(rng.randrange(10**4), rng.randrange(1, 50)) for _ in range(3000)]
    for most in (1, 10, 2999, 3000, 10**9):
        order = sorted(range(3000), key=lambda i: (-given[i], i))[:most]
        worst = worst_at_most(given, most)
        assert list(worst.chosen) == [i for i in order if given[i]]
        assert worst.value == plus(given[i] for i in order)
    given[77] = INFINITY
    assert worst_at_most(given, 3).value == INFINITY and worst_at_most(given, 3).chosen[0] == 77


def test_a_sum_of_very_wide_fractions_is_rounded_up_and_says_so() -> None:
    wide = [Fraction(1, 10**500 + n) for n in range(30)]
    worst = worst_at_most(wide, 20)
    truth = sum(sorted(wide)[-20:], Fraction(0))
    assert not worst.exact
    assert truth < worst.value < truth * (1 + Fraction(1, 2**400))


def test_units_cover_what_they_count() -> None:
    for given in (
        [Fraction(1, 3), Fraction(2, 7)],
        [Fraction(1, 10**900 + n) for n in range(9)],
        [Fraction(10**700, 3)],
    ):
        unit = Unit.of(given)
        for one in given:
            covered = unit.value(unit.count(one))
            assert covered == one if unit.exact else one <= covered < one * (1 + Fraction(1, 2**500))


def test_plain_numbers_are_gains_too() -> None:
    assert worst_at_most([1, Fraction(1, 2), 3], 2).value == 4


@for_each("most", [-1, Fraction(1, 2), "many", 1.5, None, True])
def test_a_number_of_leaves_that_is_none_is_refused(most: int) -> None:
    with pytest.raises(ParameterError, match="most="):
        worst_at_most([Fraction(1)], most)


@for_each("bad", [Fraction(-1), -INFINITY, float("nan"), 0.1, None])
def test_a_gain_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(NumberError, match="gains"):
        worst_at_most([Fraction(1), bad, Fraction(10)], 1)


def test_an_answer_has_a_value_that_is_a_bound() -> None:
    for bad in (Fraction(-1), 0.5, float("nan"), None):
        with pytest.raises(ParameterError, match="value="):
            Worst(bad, None)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="exact="):
        Worst(Fraction(1), None, exact=1)  # type: ignore[arg-type]
    for per_one in (0, Fraction(1)):
        with pytest.raises(ParameterError, match="per_one="):
            Unit(per_one)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="not finite"):
        Unit(1).count(INFINITY)
