"""Single exact draws: every tape of bits is tried, and probabilities are added up in exact fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.cases import for_each
from tests.sampling.oracles import PRECISION, as_fraction, exp_fraction, exp_minus, real
from tests.sampling.streams import Choices, Line, NeedBits, bernoulli_module, explore, split_word, use_coins

from viameter.sampling import noise
from viameter.sampling.bernoulli import _logistic, bernoulli, bernoulli_exp, geometric_exp, uniform_below
from viameter.sampling.entropy import Stream

PROBABILITIES = [
    Fraction(0),
    Fraction(1),
    Fraction(1, 2),
    Fraction(1, 3),
    Fraction(2, 3),
    Fraction(5, 8),
    Fraction(1, 2**70),
    1 - Fraction(1, 2**70),
    1 - Fraction(1, 3 * 2**70),
    Fraction(10**30 + 57, 10**31 + 33),
]
EXPONENTS = [
    Fraction(1, 10**30),
    Fraction(1, 2**100),
    Fraction(1, 1000),
    Fraction(1, 3),
    Fraction(1),
    Fraction(355, 113),
    Fraction(20),
    Fraction(44),
]


def enclose(run: Callable[[Choices], bool], words: int) -> tuple[Fraction, Fraction]:
    """Bounds on P(True) from all the values of so many words of 64 bits, of which the open ones are continued."""
    low, high, before, share = Fraction(0), Fraction(1), list[int](), Fraction(1)
    for _ in range(words):
        surely, surely_not = split_word(run, before, True, False)
        low += share * Fraction(surely, 1 << 64)
        high = low + share * Fraction(surely_not - surely, 1 << 64)
        if surely == surely_not:
            break
        assert surely_not == surely + 1, "one value of a word at most is open"
        # That there are no other changes: words all over the place, and next to the two.
        for word in {
            0,
            (1 << 64) - 1,
            surely - 1,
            surely_not,
            *(k * 0x9E3779B97F4A7C15 % (1 << 64) for k in range(30)),
        }:
            if 0 <= word < 1 << 64 and word != surely:
                assert run(Choices([*before, word])) is (word < surely)
        with pytest.raises(NeedBits) as asked:
            run(Choices([*before, surely]))
        assert asked.value.count == 64
        before.append(surely)
        share /= 1 << 64
    return low, high


@for_each("probability", PROBABILITIES)
def test_bernoulli_by_words(probability: Fraction) -> None:
    low, high = enclose(lambda stream: bernoulli(probability, stream), 3)
    assert low <= probability <= high
    assert high - low <= Fraction(1, 1 << 192)


@pytest.mark.parametrize("bits", [1, 2, 3])
@pytest.mark.parametrize("probability", PROBABILITIES, ids=str)
def test_bernoulli_by_bits(probability: Fraction, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bernoulli_module, "FIRST_BITS", bits)
    law = explore(lambda stream: bernoulli(probability, stream), least=Fraction(1, 1 << 90))
    assert law.open <= Fraction(1, 1 << 88)
    found = law.found.get(True, Fraction(0))
    assert found <= probability <= found + law.open


@for_each("exponent", EXPONENTS)
def test_bernoulli_exp_by_words(exponent: Fraction) -> None:
    low, high = enclose(lambda stream: bernoulli_exp(exponent, stream), 3)
    assert low <= exp_fraction(exponent) <= high
    assert high - low == Fraction(1, 1 << 192)


@pytest.mark.parametrize("bits", [1, 2, 3])
@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_bernoulli_exp_by_bits(exponent: Fraction, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bernoulli_module, "FIRST_BITS", bits)
    law = explore(lambda stream: bernoulli_exp(exponent, stream), least=Fraction(1, 1 << 60))
    assert law.open <= Fraction(1, 1 << 58)
    found = law.found.get(True, Fraction(0))
    assert found <= exp_fraction(exponent) <= found + law.open


@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("exponent", [Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(3)], ids=str)
def test_bernoulli_exp_continues_the_bits_that_are_given(
    exponent: Fraction, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bernoulli_module, "FIRST_BITS", 2)
    chance = exp_fraction(exponent)
    total, open_ = Fraction(0), Fraction(0)
    for drawn in range(1 << width):
        law = explore(
            lambda stream, drawn=drawn: bernoulli_exp(exponent, stream, drawn=drawn, width=width),  # type: ignore[misc]
            least=Fraction(1, 1 << 40),
        )
        given = min(max(chance * (1 << width) - drawn, Fraction(0)), Fraction(1))
        found = law.found.get(True, Fraction(0))
        assert found <= given <= found + law.open
        # Only one value of the bits leaves it open.
        assert (law.open > 0) == (0 < given < 1)
        total, open_ = total + found / (1 << width), open_ + law.open / (1 << width)
    assert total <= chance <= total + open_


def test_exponents_that_are_zero_or_huge() -> None:
    assert bernoulli_exp(Fraction(0), Choices()) is True
    assert bernoulli_exp(Fraction(0), Choices(), drawn=3, width=2) is True
    for exponent in (Fraction(100), Fraction(10**6), Fraction(10**9), Fraction(10**400), Fraction(2**20) + 1):
        assert bernoulli_exp(exponent, Choices([1])) is False or exponent == 100
        assert bernoulli_exp(exponent, Choices([(1 << 64) - 1])) is False
        # Zeros tell nothing of a chance that is so small, and are continued.
        with pytest.raises(NeedBits):
            bernoulli_exp(exponent, Choices([0]))
        assert bernoulli_exp(exponent, Choices([0, 0, 1 << 63])) is False


def test_a_chance_that_is_tiny_is_still_right() -> None:
    """exp(-1000) is 2^-1442.7: 22 words of zeros, and then the bits of its mantissa."""
    low, high = Fraction(0), Fraction(1)
    chance = exp_fraction(Fraction(1000), 2000)
    before: list[int] = []
    for place in range(24):
        word = chance.numerator * (1 << 64 * (place + 1)) // chance.denominator % (1 << 64)
        if place >= 22:
            low, high = Fraction(word - 1), Fraction(word + 1)
            assert bernoulli_exp(Fraction(1000), Choices([*before, int(low)])) is True
            assert bernoulli_exp(Fraction(1000), Choices([*before, int(high)])) is False
        before.append(word)
    assert low < high


@for_each("bound", [1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 255, 256])
def test_uniform_below(bound: int) -> None:
    # A first draw, and a second one where it was refused.
    law = explore(lambda stream: uniform_below(bound, stream), least=Fraction(1, 2 * bound))
    assert sorted(law.found) == list(range(bound))
    assert len(set(law.found.values())) == 1, "all are equally likely, exactly, at any depth"
    assert law.open <= Fraction(1, 4)
    assert sum(law.found.values()) + law.open == 1


@pytest.mark.parametrize("bound", [2**64, 2**64 + 1, 3 * 2**100])
def test_uniform_below_large_bounds(bound: int) -> None:
    width = (bound - 1).bit_length()
    assert uniform_below(bound, Choices([bound - 1])) == bound - 1
    assert uniform_below(bound, Choices([0])) == 0
    if bound < 1 << width:
        assert uniform_below(bound, Choices([bound, (1 << width) - 1, 5])) == 5
    with pytest.raises(NeedBits) as asked:
        uniform_below(bound, Choices())
    assert asked.value.count == width


@pytest.mark.parametrize("x", [Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(5)], ids=str)
def test_logistic(x: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    with gmpy2.context(precision=PRECISION):
        chance = as_fraction(1 / (1 + gmpy2.exp(real(x))))
    with monkeypatch.context() as patch:
        use_coins(patch)
        law = explore(lambda stream: _logistic(x, stream), least=Fraction(1, 1 << 30))
        assert law.open < Fraction(1, 1 << 29)
        assert law.encloses(True, chance)
        assert law.encloses(False, 1 - chance)
    monkeypatch.setattr(bernoulli_module, "FIRST_BITS", 2)
    law = explore(lambda stream: _logistic(x, stream), least=Fraction(1, 1 << 12))
    assert law.open < Fraction(1, 1 << 3)
    assert law.encloses(True, chance)
    assert law.encloses(False, 1 - chance)


@pytest.mark.parametrize("rate", [Fraction(3), Fraction(1), Fraction(99, 100), Fraction(1, 3), Fraction(1, 9)], ids=str)
def test_geometric(rate: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    use_coins(monkeypatch)
    law = explore(lambda stream: geometric_exp(rate, stream), least=Fraction(1, 1 << 14))
    assert law.open < Fraction(1, 25)
    for value in range(40):
        assert law.encloses(value, exp_fraction(value * rate) - exp_fraction((value + 1) * rate))


def test_geometric_by_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bernoulli_module, "FIRST_BITS", 1)
    rate = Fraction(2, 3)
    law = explore(lambda stream: geometric_exp(rate, stream), least=Fraction(1, 1 << 11))
    assert law.open < Fraction(1, 16)
    for value in range(20):
        assert law.encloses(value, exp_fraction(value * rate) - exp_fraction((value + 1) * rate))


@dataclass
class Way:
    """One way through a geometric draw: its coins are told their results, and say how likely these are."""

    high: int
    low: int
    chance: Any = field(default_factory=lambda: gmpy2.mpfr(1))
    left: int = 0
    place: int = 0

    def __post_init__(self) -> None:
        self.left = self.high

    def bernoulli_exp(self, exponent: Fraction, stream: object) -> bool:
        more, self.left = self.left > 0, self.left - 1
        self.chance *= exp_minus(exponent) if more else -gmpy2.expm1(-real(exponent))
        return more

    def logistic(self, x: Fraction, stream: object) -> bool:
        bit = bool(self.low >> self.place & 1)
        self.place += 1
        one = 1 / (1 + gmpy2.exp(real(x)))
        self.chance *= one if bit else 1 - one
        return bit


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(7, 8), Fraction(1, 5), Fraction(1, 1000), Fraction(19, 2**53)])
def test_geometric_values_of_any_size_have_their_chances(rate: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    size = next(size for size in itertools.count() if rate * 2**size >= 1)
    for high, low in itertools.product([0, 1, 2, 50], {0, 1, 5, 2**size // 3, 2**size - 1}):
        if low < 2**size:
            with monkeypatch.context() as patch, gmpy2.context(precision=PRECISION):
                way = Way(high, low)
                patch.setattr(bernoulli_module, "bernoulli_exp", way.bernoulli_exp)
                patch.setattr(bernoulli_module, "_logistic", way.logistic)
                value = geometric_exp(rate, Choices())
                assert value == high * 2**size + low
                assert way.place == size
                truth = exp_minus(rate * value) * -gmpy2.expm1(-real(rate))
                assert abs(float(way.chance / truth - 1)) < 1e-60


# Many coins at once


@pytest.mark.parametrize(
    "probability", [*PROBABILITIES, Fraction(1, 2**32), Fraction(3, 2**33), 1 - Fraction(1, 2**40)]
)
def test_many_coins_are_continued_where_their_word_does_not_decide(
    probability: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[Fraction] = []

    def recorded(chance: Fraction, stream: Stream) -> bool:
        rests.append(chance)
        return len(rests) % 2 == 0

    monkeypatch.setattr(bernoulli_module, "bernoulli", recorded)
    at = math.floor(probability * 2**32)
    words = sorted({0, *(word for word in range(at - 1, at + 3) if 0 <= word < 2**32), 2**31, 2**32 - 1})
    words = [*words, *reversed(words)]
    stream = Choices()
    stream.script = [Line(words, 32)]
    drawn = noise.bernoulli(len(words), probability, entropy=stream)
    assert drawn.dtype == np.bool_
    # The word and the rest together: P(True) is (words below + rest) / 2^32.
    assert rests == [probability * 2**32 - at] * words.count(at)
    assert all(0 <= rest < 1 for rest in rests)
    expected = iter([number % 2 == 1 for number in range(len(rests))])
    assert drawn.tolist() == [next(expected) if word == at else word < at for word in words]


def test_coins_that_are_certain() -> None:
    assert not noise.bernoulli(1000, 0).any()
    assert noise.bernoulli(1000, 1).all()
    assert noise.bernoulli(probability=1) is True
    assert noise.bernoulli(probability=0) is False
