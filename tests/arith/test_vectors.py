"""The vector forms: bit for bit what the scalar forms give, and refusing what they refuse."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.arith.floating_point_unit import (
    DENORMALS_ARE_ZERO,
    DOWNWARD,
    FLUSH_TO_ZERO,
    TOWARD_ZERO,
    UPWARD,
    can_be_set,
    unit_set_to,
)
from tests.arith.oracles import INF, LARGEST, LEAST_NORMAL, NASTY, SMALLEST, any_floats
from tests.cases import for_each

from viameter.arith import floats, vectors
from viameter.errors import NumberError

Floats = NDArray[np.float64]

BINARY = ["add", "sub", "mul", "div"]
UNARY = ["sqrt", "exp", "expm1", "log", "log1p"]
DIRECTIONS = ["up", "down"]
EXPONENTS = [0, 1, 2, 3, 5, 64, 1023, 1024, 1025, 10**6, 2**64 + 1, -1, -2, -3, -7, -100, -1024, -1025, -(10**30)]

both_directions = pytest.mark.parametrize("direction", DIRECTIONS)


def scalar(op: str, direction: str) -> Callable[..., float]:
    function: Callable[..., float] = getattr(floats, f"{op}_{direction}")
    return function


def vector(op: str, direction: str) -> Callable[..., Floats]:
    function: Callable[..., Floats] = getattr(vectors, f"{op}_{direction}")
    return function


def result_or_error(function: Callable[..., Any], *operands: Any) -> Any:
    """The result, or the text of the error."""
    try:
        return function(*operands)
    except NumberError as error:
        return str(error)


def check(op: str, direction: str, *operands: Floats, n: int | None = None) -> None:
    """The vector form gives the bits that the scalar form gives, on the elements for which there is a result."""
    rest = () if n is None else (n,)
    function = scalar(op, direction)
    taken: list[int] = []
    expected: list[float] = []
    for index, numbers in enumerate(zip(*(operand.tolist() for operand in operands), strict=True)):
        result = result_or_error(function, *numbers, *rest)
        if isinstance(result, str):
            alone = [operand[index : index + 1] for operand in operands]
            assert result_or_error(vector(op, direction), *alone, *rest) == result
        else:
            taken.append(index)
            expected.append(result)
    found = vector(op, direction)(*(operand[taken] for operand in operands), *rest)
    assert found.dtype == np.float64
    wrong = np.flatnonzero(found.view(np.int64) != np.array(expected).view(np.int64))
    assert [(*(operand[taken][i] for operand in operands), found[i], expected[i]) for i in wrong[:3]] == []


nasty = np.array(NASTY)
nasty_pairs = np.array(list(itertools.product(NASTY, NASTY))).T


@both_directions
@pytest.mark.parametrize("op", BINARY)
def test_arithmetic_equals_the_scalar_form_for_all_pairs_of_nasty_floats(op: str, direction: str) -> None:
    check(op, direction, *nasty_pairs)


@both_directions
@pytest.mark.parametrize("op", UNARY)
def test_functions_equal_the_scalar_form_for_nasty_floats_and_their_neighbors(op: str, direction: str) -> None:
    neighbors = [math.nextafter(x, toward) for x in NASTY for toward in (-INF, INF)]
    check(op, direction, np.array([*NASTY, *neighbors]))


@both_directions
@for_each("n", EXPONENTS)
def test_powi_equals_the_scalar_form_for_nasty_floats(n: int, direction: str) -> None:
    check("powi", direction, nasty, n=n)


@both_directions
@pytest.mark.parametrize("op", BINARY)
def test_arithmetic_equals_the_scalar_form_over_the_whole_range_of_exponents(op: str, direction: str) -> None:
    check(op, direction, any_floats(10, 3000), any_floats(11, 3000))


@both_directions
@pytest.mark.parametrize("op", UNARY)
def test_functions_equal_the_scalar_form_over_the_whole_range_of_exponents(op: str, direction: str) -> None:
    some = any_floats(12, 2000)
    check(op, direction, some if op.startswith("exp") else np.abs(some))


@both_directions
@pytest.mark.parametrize("op", BINARY)
def test_arithmetic_equals_the_scalar_form_for_operands_that_cancel_or_underflow(op: str, direction: str) -> None:
    random = np.random.default_rng(13)

    def scaled(low: int, high: int) -> Floats:
        numbers: Floats = np.ldexp(random.uniform(-2, 2, 2000), random.integers(low, high, 2000))
        return numbers

    check(op, direction, scaled(0, 1), scaled(-54, 54))
    check(op, direction, scaled(-700, -300), scaled(-700, -300))
    check(op, direction, scaled(-1074, -1000), scaled(0, 1))
    check(op, direction, scaled(900, 1023), scaled(-20, 1023))


@both_directions
@pytest.mark.parametrize("op", UNARY)
def test_functions_equal_the_scalar_form_where_they_vary(op: str, direction: str) -> None:
    random = np.random.default_rng(14)
    near_zero = np.ldexp(random.uniform(-1, 1, 2000), random.integers(-60, 3, 2000))
    near_one = 1.0 + np.ldexp(random.uniform(-1, 1, 1000), random.integers(-52, 0, 1000))
    if op.startswith("exp"):
        check(op, direction, np.concatenate([near_zero, random.uniform(-760, 715, 2000)]))
    elif op == "log1p":
        large = np.exp(random.uniform(0, 700, 1000))
        check(op, direction, np.concatenate([near_zero[near_zero > -1], near_one, large]))
    else:
        check(op, direction, np.concatenate([near_one, np.exp(random.uniform(-740, 709, 1000))]))


@both_directions
@for_each("n", EXPONENTS)
def test_powi_equals_the_scalar_form_where_the_power_is_a_float_and_just_beyond(n: int, direction: str) -> None:
    x = np.exp(np.random.default_rng(15).uniform(-750, 750, 300) / max(abs(n), 1.1))
    check("powi", direction, np.concatenate([x, -x]), n=n)


@both_directions
@pytest.mark.parametrize("n", [3, 5, 64, 1023, -2, -7, -1024])
def test_powi_equals_the_scalar_form_around_the_ends_of_the_range(n: int, direction: str) -> None:
    ends = np.array([1023.0, 1024.0, -1021.0, -1022.0, -1023.0, -1074.0, -1075.0, -1076.0])
    beside = np.concatenate([ends + shift for shift in (-0.5, -1e-6, -1e-12, 0.0, 1e-12, 1e-6, 0.5)])
    x = 2.0 ** (beside / n)
    check("powi", direction, np.concatenate([x, -x]), n=n)


@both_directions
def test_exact_results_are_not_moved(direction: str) -> None:
    whole = np.arange(1.0, 2000.0)
    assert np.array_equal(vector("add", direction)(whole, whole), 2 * whole)
    assert np.array_equal(vector("sub", direction)(whole, 0.5), whole - 0.5)
    assert np.array_equal(vector("mul", direction)(whole, whole), whole * whole)
    assert np.array_equal(vector("div", direction)(whole * whole, whole), whole)
    assert np.array_equal(vector("sqrt", direction)(whole * whole), whole)
    assert np.array_equal(vector("powi", direction)(whole, 2), whole**2)
    assert np.array_equal(vector("powi", direction)(whole, 4), whole**4)
    powers = np.arange(-100.0, 100.0)
    assert np.array_equal(vector("powi", direction)(2.0**powers, -9), 2.0 ** (-9 * powers))


finite_lists = st.lists(st.floats(allow_nan=False), min_size=1, max_size=20).map(np.array)


@both_directions
@pytest.mark.parametrize("op", UNARY)
@settings(max_examples=40)
@given(x=finite_lists)
def test_functions_equal_the_scalar_form_for_any_array(op: str, direction: str, x: Floats) -> None:
    check(op, direction, x)


@both_directions
@pytest.mark.parametrize("op", BINARY)
@settings(max_examples=40)
@given(pairs=st.lists(st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)), min_size=1, max_size=20))
def test_arithmetic_equals_the_scalar_form_for_any_arrays(
    op: str, direction: str, pairs: list[tuple[float, float]]
) -> None:
    check(op, direction, *np.array(pairs).T)


@given(x=finite_lists, n=st.integers(-1100, 1100))
def test_powi_equals_the_scalar_form_for_any_array(x: Floats, n: int) -> None:
    for direction in DIRECTIONS:
        check("powi", direction, x, n=n)


@both_directions
def test_an_element_without_a_result_is_refused_wherever_it_is(direction: str) -> None:
    for position in (0, 1, vectors._BLOCK - 1, vectors._BLOCK, 2 * vectors._BLOCK + 5):
        x = np.ones(2 * vectors._BLOCK + 6)
        x[position] = -1.5
        for op in ("sqrt", "log", "log1p"):
            with pytest.raises(NumberError, match=rf"{op}_{direction}\(-1.5\) has no value"):
                vector(op, direction)(x)
        x[position] = 0.0
        with pytest.raises(NumberError, match=rf"div_{direction}\(1.0, 0.0\) has no value"):
            vector("div", direction)(np.ones(1), x)


@both_directions
@pytest.mark.parametrize("op", [*BINARY, *UNARY])
def test_nan_is_refused(op: str, direction: str) -> None:
    x = np.array([1.0, math.nan])
    with pytest.raises(NumberError, match="nan"):
        vector(op, direction)(*([x, 1.0] if op in BINARY else [x]))
    for n in (0, 1, 2, 3, -1, 5000):
        with pytest.raises(NumberError, match="nan"):
            vector("powi", direction)(x, n)


def test_blocks_are_put_together_in_order() -> None:
    x = np.linspace(0.1, 9.0, 2 * vectors._BLOCK + 17)
    whole = vectors.exp_up(x)
    pieces = [vectors.exp_up(x[i : i + 1000]) for i in range(0, x.size, 1000)]
    assert np.array_equal(whole, np.concatenate(pieces))


def test_operands_broadcast_and_are_left_as_they_were() -> None:
    column, row = np.linspace(0.1, 1.0, 3).reshape(3, 1), np.linspace(2.0, 3.0, 4)
    column.flags.writeable = row.flags.writeable = False
    table = vectors.mul_up(column, row)
    assert table.shape == (3, 4)
    assert table[2, 1] == floats.mul_up(float(column[2, 0]), float(row[1]))
    assert vectors.powi_up(row, 1) is not row
    assert not np.shares_memory(vectors.powi_up(row, 1), row)
    assert vectors.add_up(1.0, 2.0**-60).shape == ()
    assert vectors.add_up(1.0, 2.0**-60) == 1.0 + 2.0**-52
    assert vectors.exp_up(np.empty((0, 3))).shape == (0, 3)
    assert np.array_equal(vectors.sqrt_up(np.arange(20.0)[::-3]), vectors.sqrt_up(np.arange(20.0)[::-3].copy()))


def test_arrays_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(NumberError, match=r"shapes \(2,\) and \(3,\)"):
        vectors.add_up(np.ones(2), np.ones(3))


@for_each(
    "given",
    [
        np.array([1.5, 3.0], dtype=np.float32),
        np.array([1.5, 3.0], dtype=np.float16),
        np.array([1.5, 3.0], dtype=">f8"),
        [1.5, 3],
        (1.5, 3.0),
        np.array([[1.5, 3.0]])[0],
    ],
)
def test_whatever_holds_the_numbers_exactly_is_taken(given: Any) -> None:
    assert np.array_equal(vectors.add_up(given, 0.0), np.array([1.5, 3.0]))


def test_integers_are_taken_if_floats_hold_them() -> None:
    assert vectors.add_up(np.array([2**53, -(2**60)]), 0.0).tolist() == [2.0**53, -(2.0**60)]
    assert vectors.add_up(np.array([2**63], dtype=np.uint64), 0).tolist() == [2.0**63]
    assert vectors.add_up(np.array([-(2**63)]), 0).tolist() == [-(2.0**63)]
    assert vectors.add_up(np.array([7], dtype=np.int8), np.int64(1)).tolist() == [8.0]


@for_each(
    "bad",
    [
        2**53 + 1,
        [0.5, 2**53 + 1],
        np.array([1, 2**53 + 1]),
        np.array([2**64 - 1], dtype=np.uint64),
        np.array([-(2**63) + 1]),
        np.array([True]),
        True,
        np.array(["1.0"]),
        "1.0",
        None,
        np.array([1.0], dtype=np.longdouble),
        np.array([1j]),
        np.array([1.0], dtype=object),
        [[1.0], [1.0, 2.0]],
    ],
)
def test_what_float64_does_not_hold_exactly_is_refused(bad: Any) -> None:
    with pytest.raises(NumberError, match="was given"):
        vectors.add_up(bad, 0.0)
    with pytest.raises(NumberError, match="was given"):
        vectors.sum_down(bad)


@for_each("bad", [2.0, True, None, np.array([1, 2])])
def test_an_exponent_that_is_no_integer_is_refused(bad: Any) -> None:
    for direction in DIRECTIONS:
        with pytest.raises(NumberError, match="expected an integer"):
            vector("powi", direction)(np.ones(2), bad)


def test_no_warning_is_given_and_the_error_state_of_numpy_does_not_matter() -> None:
    with np.errstate(all="raise"):
        for direction in DIRECTIONS:
            for op in BINARY:
                check(op, direction, *nasty_pairs[:, ::7])
            for op in UNARY:
                check(op, direction, nasty)
            check("powi", direction, nasty, n=-3)
            assert vectors.sum_up(np.array([SMALLEST, LARGEST, LEAST_NORMAL])) == INF


@pytest.mark.skipif(not can_be_set, reason="needs glibc on x86-64")
@pytest.mark.parametrize("flags", [FLUSH_TO_ZERO, DENORMALS_ARE_ZERO, UPWARD, DOWNWARD, TOWARD_ZERO])
def test_a_thread_whose_floating_point_unit_is_set_otherwise_is_refused(flags: int) -> None:
    x = np.array([1.0, 2.0])
    calls: list[Callable[[], object]] = [
        lambda: vectors.add_up(x, x),
        lambda: vectors.exp_down(x),
        lambda: vectors.powi_up(x, 3),
        lambda: vectors.exact_sum(x),
        lambda: vectors.sum_up(x),
    ]
    refused = 0
    with unit_set_to(flags):
        for call in calls:
            try:
                call()
            except NumberError:
                refused += 1
    assert refused == len(calls)
    assert vectors.add_up(x, x).tolist() == [2.0, 4.0]
