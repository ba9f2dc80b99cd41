"""Coins of a probability that is a root of a rational are exact to the bit, and what is made of them is too."""

from fractions import Fraction

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each

from viameter.errors import NumberError
from viameter.logic.running.ratios import LARGEST_ROOT, Ratio
from viameter.sampling import Tape, TapeExhausted

SCALES = [("1", "3"), ("1/2", "3"), ("3", "4"), ("5/3", "7/2"), ("2", "3"), ("1/7", "11/10"), ("12/5", "100")]


def digits(amount: str, base: str, bits: int) -> int:
    """2^bits r^(-1/C) rounded down, by logarithms at 600 bits."""
    with gmpy2.context(precision=600):
        exponent = -gmpy2.log(gmpy2.mpfr(gmpy2.mpq(base))) / gmpy2.mpfr(gmpy2.mpq(amount))
        return int(gmpy2.floor(gmpy2.exp(exponent) * gmpy2.mpfr(2) ** bits))


@for_each(("amount", "base"), SCALES)
def test_a_coin_shows_heads_for_exactly_the_uniform_numbers_below_its_probability(amount: str, base: str) -> None:
    ratio = Ratio.of(Fraction(amount), Fraction(base))
    edge, longer = digits(amount, base, 64), digits(amount, base, 128)
    assert ratio.coin(Tape((edge - 1).to_bytes(8, "big")))
    assert not ratio.coin(Tape((edge + 1).to_bytes(8, "big")))
    with pytest.raises(TapeExhausted):
        ratio.coin(Tape(edge.to_bytes(8, "big")))
    assert longer >> 64 == edge
    assert ratio.coin(Tape((longer - 1).to_bytes(16, "big")))
    assert not ratio.coin(Tape((longer + 1).to_bytes(16, "big")))


def test_a_coin_whose_probability_is_a_dyadic_number_needs_no_more_bits() -> None:
    for ratio in (Ratio.of(Fraction(1), Fraction(4)), Ratio.of(Fraction(2), Fraction(16))):
        assert ratio.coin(Tape((2**62 - 1).to_bytes(8, "big")))
        assert not ratio.coin(Tape((2**62).to_bytes(8, "big")))


def bits(*flags: int) -> Tape:
    """Coins of probability 1/2 that show heads for 1; a sign takes a byte, of which the first bit counts."""
    return Tape(b"".join(b"\x00" * 8 if flag else b"\xff" * 8 for flag in flags))


def test_a_geometric_number_counts_heads_before_tails() -> None:
    half = Ratio.of(Fraction(1), Fraction(2))
    assert half.geometric(bits(0)) == 0
    assert half.geometric(bits(1, 1, 1, 0)) == 3


def test_a_signed_number_is_zero_with_one_sign_only() -> None:
    half = Ratio.of(Fraction(1), Fraction(2))
    tails, heads, minus, plus = b"\xff" * 8, b"\x00" * 8, b"\x80", b"\x00"
    assert half.laplace(Tape(tails + plus)) == 0
    assert half.laplace(Tape(heads + tails + minus)) == -1
    assert half.laplace(Tape(heads + heads + tails + plus)) == 2
    assert half.laplace(Tape(tails + minus + heads + tails + plus)) == 1


def test_a_candidate_is_kept_if_as_many_coins_show_heads_as_it_is_behind() -> None:
    half = Ratio.of(Fraction(1), Fraction(2))
    tails, heads = b"\xff" * 8, b"\x00" * 8
    first, second = b"\x00", b"\x80"
    assert half.choose([5, 3], Tape(first)) == 0
    assert half.choose([5, 3], Tape(second + heads + heads)) == 1
    assert half.choose([5, 3], Tape(second + heads + tails + first)) == 0
    assert half.choose([], Tape(b"")) == 0
    assert half.choose([0, -(10**18)], Tape(second + tails + first)) == 0


@for_each(
    ("amount", "base"),
    [
        ("1", "1"), ("1", "1/2"), ("0", "2"), ("-1", "2"), ("1", "10000001/10000000"), ("2000000", "3"),
        (f"1/{LARGEST_ROOT + 1}", "2"), (f"{LARGEST_ROOT + 1}/2", "1000000000000"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(amount: str, base: str) -> None:
    with pytest.raises(NumberError):
        Ratio.of(Fraction(amount), Fraction(base))
