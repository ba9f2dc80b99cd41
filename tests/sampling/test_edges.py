"""The ends of what can be asked for: no draws, one draw, a chunk more or less, scales from 1e-400 to 2^52, nonsense."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each
from tests.sampling.streams import Choices

from viameter.errors import NotExact, NumberError, ParameterError, ViameterError, plain
from viameter.sampling import (
    Tape,
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    noise,
    uniform_below,
)
from viameter.sampling import engine as engine_module

NOISE: dict[str, Callable[..., Any]] = {
    "laplace": discrete_laplace,
    "gaussian": discrete_gaussian,
    "geometric": geometric,
}
EVERY_NOISE = for_each("name", NOISE)

# Text that Python refuses to make of an integer: an error must not need it.
HUGE = 10**5000


@EVERY_NOISE
@for_each("scale", ["1/3", "10", "1000", str(2**40)])
def test_numbers_of_draws(name: str, scale: str) -> None:
    draw = NOISE[name]
    chunk = engine_module._CHUNK
    for count in (0, 1, 2, 7, chunk - 1, chunk, chunk + 1, 2 * chunk + 1):
        drawn = draw(count, scale, entropy=Tape.seeded(5))
        assert drawn.shape == (count,)
        assert drawn.dtype == np.int64
        assert drawn.flags.writeable and drawn.flags.owndata
    alone = draw(scale=scale)
    assert type(alone) is int


@EVERY_NOISE
@for_each("kind", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64])
def test_numbers_of_draws_may_be_numpy_integers(name: str, kind: Callable[[int], Any]) -> None:
    assert len(NOISE[name](kind(100), 50)) == 100


# Once: `bernoulli` hands on n as it is, so that n * 32 is computed in 8 or 16 bits: 4 coins come out instead of 100.
@for_each("n", [np.int8(100), np.uint8(100), np.int16(2000), np.int32(100), np.int64(100), np.uint64(100)])
def test_numbers_of_coins_may_be_numpy_integers(n: Any) -> None:
    assert len(bernoulli(n, "1/2")) == int(n)


@EVERY_NOISE
def test_no_draws_take_no_bits(name: str) -> None:
    assert len(NOISE[name](0, 1000, entropy=Choices())) == 0


def test_no_coins() -> None:
    drawn = bernoulli(0, "1/3")
    assert drawn.shape == (0,)
    assert drawn.dtype == np.bool_


@EVERY_NOISE
@for_each("n", [-1, 1.0, 2.5, True, False, np.bool_(True), "3", Fraction(3), [3], np.array([3])])
def test_numbers_of_draws_that_are_none(name: str, n: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        NOISE[name](n, 3)
    assert plain(n) in str(caught.value)
    with pytest.raises(ParameterError):
        bernoulli(n, "1/2")


@EVERY_NOISE
@for_each(
    ("scale", "error", "said"),
    [
        (0, NumberError, "scale=0 "),
        ("0", NumberError, "scale=0 "),
        (-3, NumberError, "scale=-3 "),
        ("-1/3", NumberError, "scale=-1/3 "),
        (Decimal("-0.1"), NumberError, "scale=-0.1 "),
        (Decimal("NaN"), NumberError, "scale=NaN "),
        (Decimal("Infinity"), NumberError, "scale=Infinity "),
        (float("nan"), NumberError, "scale=nan "),
        (float("inf"), NumberError, "scale=inf "),
        (1.5, NotExact, "scale=1.5 "),
        (np.float64(1.5), NotExact, "scale=1.5 "),
        (True, NumberError, "scale=True "),
        ("three", NumberError, "scale='three' "),
        ("nan", NumberError, "scale='nan' "),
        ("1/0", NumberError, "scale='1/0' "),
        (2**52 + 1, NumberError, f"scale={2**52 + 1} "),
        (Fraction(2**53 + 1, 2), NumberError, f"scale={2**53 + 1}/2 "),
        (None, ParameterError, "scale is missing"),
        ([1], NumberError, "list"),
    ],
)
def test_scales_that_are_none(name: str, scale: Any, error: type[ViameterError], said: str) -> None:
    for count in (None, 5):
        with pytest.raises(error) as caught:
            NOISE[name](count, scale=scale)
        assert said in str(caught.value)


# Once: Decimal("sNaN") and ([],) say that they are hashable and are not; the cache of scales raises TypeError.
@EVERY_NOISE
@for_each("scale", [Decimal("sNaN"), ([],)])
def test_what_cannot_be_hashed_gets_an_error_of_the_library(name: str, scale: Any) -> None:
    with pytest.raises(NumberError):
        NOISE[name](scale=scale)


# Once: the text of the error needs the digits of the number, and Python raises a ValueError of its own.
@for_each(
    "call",
    [
        lambda: discrete_laplace(scale=HUGE),
        lambda: discrete_laplace(scale=-HUGE),
        lambda: discrete_gaussian(5, Fraction(-1, HUGE)),
        lambda: geometric(5, Fraction(HUGE, 3)),
        lambda: discrete_laplace(-HUGE, 1),
        lambda: bernoulli(probability=HUGE),
        lambda: bernoulli(probability=-HUGE),
        lambda: bernoulli_exp(-HUGE),
        lambda: uniform_below(-HUGE),
    ],
)
def test_numbers_too_long_to_be_shown_get_errors_of_the_library(call: Callable[[], object]) -> None:
    with pytest.raises(ViameterError):
        call()


# Once: NumPy's ValueError "Maximum allowed dimension exceeded", and OverflowError from `bernoulli`.
@pytest.mark.parametrize("n", [2**62, 10**30], ids=["2^62", "10^30"])
def test_more_draws_than_any_memory_holds_get_an_error_that_says_so(n: int) -> None:
    with pytest.raises((ViameterError, MemoryError)):
        discrete_laplace(n, 3)
    with pytest.raises((ViameterError, MemoryError)):
        bernoulli(n, "1/2")


@EVERY_NOISE
@for_each(
    "scale",
    ["1e-9", "1e-100", "1e-160", "1e-400", Fraction(1, HUGE)],
)
def test_tiny_scales_are_quick_and_nearly_always_zero(name: str, scale: Any) -> None:
    assert not NOISE[name](100_000, scale).any()
    assert all(NOISE[name](scale=scale) == 0 for _ in range(100))


@EVERY_NOISE
@for_each("scale", ["1e-9", "1e-400"])
def test_tiny_scales_are_exact_where_a_word_does_not_decide(name: str, scale: str) -> None:
    """Bits of 0 pick the cell of least weight until one of them is 1: its weight is not 0, only very small."""
    make = noise.gaussian_engine if name == "gaussian" else noise.laplace_engine
    table = make(noise.read_scale(scale)).table
    assert [first for first in table.first_bits if first] == [1 << table.fraction_bits]
    for column, first in enumerate(table.first_bits):
        if not first:
            assert table.decide(column, 0, Choices([0, 0, 1])) == table.alias[column] == 0


@EVERY_NOISE
def test_the_largest_scale(name: str) -> None:
    drawn = NOISE[name](100_000, 2**52)
    size = np.abs(drawn).astype(np.float64).mean() / 2.0**52
    # E|X|/s is 1, or sqrt(2/pi); its standard deviation is at most 1.
    assert abs(size - (0.7979 if name == "gaussian" else 1)) < 6.2 / 100_000**0.5
    assert len(np.unique(drawn)) > 99_900
    assert (np.bincount(drawn & 1) > 49_000).all()


@EVERY_NOISE
def test_a_scale_may_be_written_in_any_way(name: str) -> None:
    ways: list[Any] = [Fraction(5, 2), "5/2", "2.5", " 2.5 ", "25e-1", Decimal("2.5"), Decimal("2.50")]
    drawn = {NOISE[name](1000, way, entropy=Tape.seeded(9)).tobytes() for way in ways * 2}
    assert len(drawn) == 1
    whole: list[Any] = [3, Fraction(3), "3", np.int64(3), np.uint8(3), Decimal(3)]
    other = {NOISE[name](1000, way, entropy=Tape.seeded(9)).tobytes() for way in whole * 2}
    assert len(other) == 1
    assert other != drawn


@EVERY_NOISE
def test_what_was_refused_once_is_refused_again(name: str) -> None:
    """Scales are remembered as they were written: 1 is one, and True and 1.0, which equal it, are still none."""
    NOISE[name](5, 1)
    for wrong in (True, 1.0, np.float64(1.0)):
        for _ in range(2):
            with pytest.raises(NumberError):
                NOISE[name](5, wrong)


@EVERY_NOISE
def test_more_scales_than_are_kept(name: str) -> None:
    for _ in range(2):
        for scale in range(1, noise.KEPT + 20):
            make = noise.gaussian_engine if name == "gaussian" else noise.laplace_engine
            assert make(Fraction(scale)).family.scale == scale
            size = np.abs(NOISE[name](4000, scale, entropy=Tape.seeded(scale))).mean()
            assert 0.5 * scale < size < 1.5 * scale or scale < 3


# The other draws


@for_each("chance", [-1, 2, "-1e-9", "1.0000001", Fraction(-1, 3)])
def test_probabilities_that_are_none(chance: Any) -> None:
    for count in (None, 3):
        with pytest.raises(NumberError) as caught:
            bernoulli(count, probability=chance)
        assert f"probability={chance}" in str(caught.value)
    with pytest.raises(NotExact):
        bernoulli(probability=0.5)  # type: ignore[call-overload]


def test_exponents_that_are_none() -> None:
    with pytest.raises(NumberError, match="exponent=-1/3 "):
        bernoulli_exp("-1/3")
    with pytest.raises(NotExact):
        bernoulli_exp(0.5)  # type: ignore[arg-type]


@for_each("bound", [0, -1, True, 2.0, "3", Fraction(3), None])
def test_bounds_that_are_none(bound: Any) -> None:
    with pytest.raises(NumberError) as caught:
        uniform_below(bound)
    assert f"bound={bound!r}" in str(caught.value)


def test_exponents_that_are_huge_or_tiny_are_quick() -> None:
    for exponent in ("1e6", "1e400", 10**5000):
        assert not any(bernoulli_exp(exponent) for _ in range(3))
    assert all(bernoulli_exp(exponent) for exponent in ("1e-400", Fraction(1, HUGE), 0))


def test_uniform_numbers() -> None:
    assert {uniform_below(3) for _ in range(200)} == {0, 1, 2}
    assert uniform_below(1) == 0
    assert all(0 <= uniform_below(2**100 + 1) <= 2**100 for _ in range(20))
