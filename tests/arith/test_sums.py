"""Sums never fall below the exact sum, differences never rise above the exact one; short ones are exact.

The oracle of sums adds Fractions one by one; that of differences divides in `decimal`.
"""

import math
import random
from collections.abc import Iterator
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from itertools import repeat

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.cases import for_each

from viameter.arith.rationals import INFINITY, Extended
from viameter.arith.sums import CHUNK, SIGNIFICANT, WIDTH, add_settled_up, difference_down, settle_up, sum_settled_up

PRIMES = [n for n in range(2, 6000) if all(n % d for d in range(2, math.isqrt(n) + 1))]

narrow = st.fractions(min_value=0, max_value=10**6, max_denominator=10**6)
wide = st.builds(
    lambda numerator, base, power: Fraction(numerator, base**power),
    st.integers(0, 10**40),
    st.sampled_from([3, 5, 7, 11]),
    st.integers(100, 600),
)
tiny = st.builds(lambda power: Fraction(1, 2**power + 1), st.integers(500, 3000))
terms_of_any_width = st.lists(st.one_of(narrow, wide, tiny, st.just(Fraction(0))), max_size=30)


def common_width(terms: list[Fraction]) -> int:
    return math.lcm(1, *(term.denominator for term in terms)).bit_length()


def check_sum(terms: list[Fraction]) -> None:
    """The sum is exact where it has to be, and else above the exact one by less than what is stated."""
    result, truth = sum_settled_up(iter(terms)), sum(terms, Fraction(0))
    assert isinstance(result, Fraction)
    if common_width(terms) <= WIDTH:
        assert result == truth
    else:
        assert truth <= result
        assert result - truth < len(terms) * truth / 2 ** (SIGNIFICANT - 2)


@given(terms_of_any_width)
def test_a_sum_is_never_below_the_exact_one_and_above_it_by_less_than_stated(terms: list[Fraction]) -> None:
    check_sum(terms)


@settings(max_examples=40)
@given(st.lists(narrow, max_size=12))
def test_narrow_sums_are_exact_in_every_order(terms: list[Fraction]) -> None:
    if common_width(terms) <= WIDTH:
        assert sum_settled_up(terms) == sum_settled_up(reversed(terms)) == sum(terms, Fraction(0))


@given(narrow | wide | tiny, narrow | wide | tiny)
def test_adding_two_is_never_below_the_exact_sum(left: Fraction, right: Fraction) -> None:
    result, truth = add_settled_up(left, right), left + right
    assert isinstance(result, Fraction)
    assert truth <= result <= truth * (1 + Fraction(1, 2 ** (SIGNIFICANT - 1)))
    if truth.denominator.bit_length() <= WIDTH:
        assert result == truth
    assert add_settled_up(right, left) == result


@settings(max_examples=60)
@given(st.lists(narrow | wide | tiny, max_size=20))
def test_adding_one_by_one_is_never_below_the_exact_sum(terms: list[Fraction]) -> None:
    total: Extended = Fraction(0)
    for term in terms:
        total = add_settled_up(total, term)
    truth = sum(terms, Fraction(0))
    assert truth <= total <= truth * (1 + Fraction(1, 2 ** (SIGNIFICANT - 1))) ** len(terms)


def test_an_empty_sum_is_zero() -> None:
    assert sum_settled_up([]) == 0
    assert sum_settled_up(iter(())) == Fraction(0)


def test_a_sum_of_zeros_is_zero() -> None:
    assert sum_settled_up([Fraction(0)] * (CHUNK + 5)) == 0


def test_zeros_among_wide_terms_change_nothing() -> None:
    terms = [Fraction(1, 3**400), Fraction(1, 5**300)]
    assert sum_settled_up([Fraction(0), *terms, Fraction(0)]) == sum_settled_up(terms)


def test_a_million_tenths_are_exactly_a_hundred_thousand() -> None:
    assert sum_settled_up(repeat(Fraction(1, 10), 10**6)) == 10**5


def test_a_million_terms_of_many_denominators_stay_above_the_exact_sum() -> None:
    denominators = random.Random(5).choices(PRIMES, k=10**6)
    counts: dict[int, int] = {}
    for prime in denominators:
        counts[prime] = counts.get(prime, 0) + 1
    truth = sum((Fraction(count, prime) for prime, count in counts.items()), Fraction(0))
    parts = {prime: Fraction(1, prime) for prime in PRIMES}
    result = sum_settled_up(parts[prime] for prime in denominators)
    assert truth < result < truth * (1 + Fraction(10**6, 2 ** (SIGNIFICANT - 2)))


def test_terms_with_coprime_denominators_are_never_lost() -> None:
    check_sum([Fraction(1, prime) for prime in PRIMES])


def test_many_equal_terms_too_small_for_the_grid_are_rounded_up_each() -> None:
    small = Fraction(1, 3**700)
    check_sum([Fraction(1, 3**400), *[small] * 50, Fraction(1, 5**400)])


@for_each("place", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_the_first_wide_term_may_stand_anywhere(place: int) -> None:
    terms = [Fraction(1, 10)] * (3 * CHUNK + 2)
    terms[place] = Fraction(1, 3**400)
    check_sum(terms)


@for_each("place", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
@for_each("first", [Fraction(1, 10), Fraction(1, 3**400)])
def test_infinity_anywhere_makes_the_sum_infinite(place: int, first: Fraction) -> None:
    terms: list[Extended] = [first] * (2 * CHUNK + 1)
    terms[place] = INFINITY
    result = sum_settled_up(iter(terms))
    assert result == INFINITY and type(result) is float


def test_infinity_plus_anything_is_infinite() -> None:
    for other in (Fraction(0), Fraction(1, 3**400), Fraction(10**400), INFINITY):
        assert add_settled_up(INFINITY, other) == add_settled_up(other, INFINITY) == INFINITY


def test_terms_may_come_from_a_generator_that_is_read_once() -> None:
    read = []

    def terms() -> Iterator[Fraction]:
        for n in range(1, 2 * CHUNK):
            read.append(n)
            yield Fraction(1, 2)

    assert sum_settled_up(terms()) == Fraction(2 * CHUNK - 1, 2)
    assert read == list(range(1, 2 * CHUNK))


def test_a_sum_whose_common_denominator_has_exactly_the_width_is_exact() -> None:
    narrower, left, right = 2**256 - 1, 2**256 + 1, 2**256 + 3  # odd and 2 apart, so coprime
    assert (narrower * left).bit_length() == WIDTH and (left * right).bit_length() == WIDTH + 1
    assert sum_settled_up([Fraction(1, left), Fraction(1, narrower)]) == Fraction(left + narrower, left * narrower)
    wider = sum_settled_up([Fraction(1, left), Fraction(1, right)])
    assert wider > Fraction(left + right, left * right)


@pytest.mark.parametrize("denominator", [2 ** (WIDTH - 1), 2**WIDTH - 1, 2 ** (WIDTH - 1) + 1])
def test_a_number_of_exactly_the_width_is_not_touched(denominator: int) -> None:
    number = Fraction(1, denominator)
    assert settle_up(number) is number
    assert sum_settled_up([number]) == number


def test_a_number_one_bit_wider_is_rounded_up() -> None:
    number = Fraction(1, 2**WIDTH + 1)
    assert number < settle_up(number) < number * (1 + Fraction(1, 2 ** (SIGNIFICANT - 1)))


@given(st.one_of(narrow, wide, tiny))
def test_settling_rounds_up_by_little_to_a_short_dyadic_number_and_once(number: Fraction) -> None:
    settled = settle_up(number)
    assert number <= settled <= number * (1 + Fraction(1, 2 ** (SIGNIFICANT - 1)))
    assert settle_up(settled) == settled
    if number.denominator.bit_length() <= WIDTH:
        assert settled == number
    else:
        assert settled.denominator & (settled.denominator - 1) == 0
        assert settled.numerator.bit_length() <= SIGNIFICANT + 1


@for_each("power", [255, 256, 257, 258, 300, 2000])
def test_settling_takes_large_numbers_with_wide_denominators(power: int) -> None:
    # Once: from about 2^257 on the shift is negative, and `<<` refuses: ValueError, not a bound.
    number = 2**power + Fraction(1, 3**400)
    assert number <= settle_up(number) < number * (1 + Fraction(1, 2 ** (SIGNIFICANT - 1)))


def test_a_tiny_wide_term_and_a_huge_one_are_added() -> None:
    # Once: ValueError (negative shift count), as above.
    check_sum([Fraction(1, 3**400), *[Fraction(0)] * CHUNK, Fraction(2**300)])
    check_sum([Fraction(2**300), Fraction(1, 3**400)])
    check_sum([Fraction(2**3000), Fraction(1, 3**4000), Fraction(1, 7)])
    assert add_settled_up(Fraction(1, 3**400), Fraction(2**300)) >= Fraction(1, 3**400) + 2**300


def cut_off(number: Fraction) -> Fraction:
    """The first 12 digits of a number."""
    return Fraction(Context(prec=12, rounding=ROUND_DOWN).divide(*map(Decimal, number.as_integer_ratio())))


@given(narrow | wide | tiny, narrow | wide | tiny)
@example(Fraction(1), Fraction(1, 3**40))
@example(Fraction(10**20), Fraction(1, 3**40))
@example(Fraction(2, 3**40), Fraction(1, 3**40))
def test_what_is_left_is_exact_if_it_is_short_and_else_its_first_12_digits(budget: Fraction, spent: Fraction) -> None:
    left, truth = difference_down(budget, spent), budget - spent
    if truth <= 0:
        assert left == 0
    elif truth.denominator <= 10**12:
        assert left == truth
    else:
        assert left == cut_off(truth) < truth


@for_each("over", [Fraction(1, 10**9), Fraction(1, 3**40), Fraction(1), Fraction(10**30)])
def test_of_what_was_overspent_nothing_is_left(over: Fraction) -> None:
    for budget in (Fraction(0), Fraction(1, 10), Fraction(7)):
        assert difference_down(budget, budget) == difference_down(budget, budget + over) == 0


def test_after_infinity_was_spent_nothing_is_left_of_any_budget() -> None:
    for budget in (Fraction(0), Fraction(10**400), INFINITY):
        left = difference_down(budget, INFINITY)
        assert left == 0 and type(left) is Fraction
    assert difference_down(INFINITY, Fraction(10**400)) == INFINITY
