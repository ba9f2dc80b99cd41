"""clamp, impute, cast, to_grid, map_rows, select, column: what they compute, and how stable they are."""

from __future__ import annotations

import itertools
import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.spaces.oracles import (
    GREATEST,
    INFINITY,
    LEAST,
    NORMS,
    ROW_METRICS,
    bits,
    loose,
    name_of,
    rows_of,
    same,
    sequences,
    shown,
    table_of,
)
from tests.transforms.oracles import check_order_is_ignored, check_stability, drawn, image

import viameter as vm
from viameter.core import Domain, Metric
from viameter.errors import NotExact, NoTheorem, NumberError, ParameterError, ViameterError

NAN, INF, LARGEST, TINY = math.nan, math.inf, 1.7976931348623157e308, 5e-324
OTHER_NAN, SIGNALING_NAN = (
    struct.unpack("<d", struct.pack("<Q", pattern))[0] for pattern in (0xFFF8000000000123, 0x7FF0000000000001)
)
SYMMETRIC = vm.SymmetricDistance()
WHOLE, FLOATS, TEXT = vm.vectors(int), vm.vectors(float), vm.vectors(str)
MISSING = vm.vectors(float, nan=True)


def reciprocal(value: float) -> float:
    return 1 / value


def moody(value: Any) -> Any:
    """Raises for some values, and returns what is in no domain for others."""
    if value == 0:
        raise SystemError("never")
    return {1: "text", 2: 10**30, 3: NAN, 4: True, 5: 5, 6: None}[value]


def counts_calls() -> Any:
    calls = itertools.count()
    return lambda _: next(calls)


CASES: list[tuple[Domain, Any, list[Any]]] = [
    (WHOLE, vm.clamp(bounds=(-2, 3)), [LEAST, -2, 1, GREATEST]),
    (WHOLE, vm.clamp(bounds=(LEAST, GREATEST)), [LEAST, 0, GREATEST]),
    (vm.vectors(int, bounds=(0, 5)), vm.clamp(bounds=(7, 9)), [0, 5]),
    (FLOATS, vm.clamp(bounds=("-0.5", 1)), [-INF, -0.0, 0.0, 0.25, LARGEST]),
    (FLOATS, vm.clamp(bounds=(0, 1)), [-0.0, 0.0, TINY, -TINY]),
    (MISSING, vm.clamp(bounds=(0, "0.1")), [NAN, OTHER_NAN, SIGNALING_NAN, INF, 0.1]),
    (MISSING, vm.impute(value="0.5"), [NAN, OTHER_NAN, SIGNALING_NAN, 0.5, -0.0]),
    (vm.vectors(float, nan=True, bounds=(0, 1)), vm.impute(value=5), [NAN, 0.0, 1.0]),
    (vm.vectors(float, nan=True, bounds=(0, 1)), vm.impute(value=-5), [NAN, 0.0, 1.0]),
    (FLOATS, vm.impute(value=0), [INF, -0.0, 1.0]),
    (TEXT, vm.cast(to=int, default=-1), ["33", "-1", " +7\n", "x", "99999999999999999999", "9" * 40, "1.0"]),
    (TEXT, vm.cast(to=float, default="0.1"), ["1e308", "nan", "1e999", "-infinity", "x", "\ud800", "0.1", "-0"]),
    (TEXT, vm.cast(to=str), ["", "a", "\ud800"]),
    (MISSING, vm.cast(to=int, default=7), [NAN, INF, -INF, 2.0**63, -1.9, 0.9]),
    (MISSING, vm.cast(to=float, default="0.1"), [NAN, INF, -INF, LARGEST, -0.0]),
    (MISSING, vm.cast(to=str), [NAN, OTHER_NAN, -0.0, 0.0, INF]),
    (WHOLE, vm.cast(to=float), [LEAST, GREATEST, 2**53 + 1, 2**53, 0]),
    (vm.vectors(int, bounds=(-3, 2**53 + 1)), vm.cast(to=float), [-3, 2**53 + 1, 2**53]),
    (vm.vectors(int, bounds=(-3, 3)), vm.cast(to=int), [-3, 3]),
    (WHOLE, vm.cast(to=str), [LEAST, 0]),
    (vm.vectors(vm.categories(["1", "x"])), vm.cast(to=int, default=1), ["1", "x"]),
    (vm.vectors(vm.categories([1, 2])), vm.cast(to=float, default=0), [1, 2]),
    (vm.vectors(float, bounds=(-1, 1)), vm.to_grid(step="0.1"), [-1.0, -0.05, -0.0, 0.15, 0.05, 1.0]),
    (vm.vectors(float, bounds=(0, 10**300)), vm.to_grid(step=10**299), [0.0, 4e298, 5e298, 9e299]),
    (vm.vectors(float, bounds=(0, "1e-300")), vm.to_grid(step="1e-305"), [0.0, TINY, 9e-301]),
    (vm.vectors(float, bounds=(-(2**63), 2**62)), vm.to_grid(step=1), [-(2.0**63), 2.0**62, 0.5, -0.5]),
    (
        vm.vectors(float, nan=True),
        vm.map_rows(function=reciprocal, output=vm.scalars(float), default=9.5, trust="it is a function"),
        [NAN, 0.0, -0.0, INF, 2.0],
    ),
    (
        WHOLE,
        vm.map_rows(function=moody, output=vm.scalars(int, bounds=(0, 9)), default=9, trust="it is a function"),
        [0, 1, 2, 3, 4, 5, 6],
    ),
    (TEXT, vm.map_rows(function=len, output=vm.categories([0, 1]), default=0, trust="it is one"), ["", "a", "ab"]),
    (TEXT, vm.map_rows(function=str.upper, output=vm.scalars(str), default="", trust="it is one"), ["a", "A", "ß"]),
]
ROWWISE = for_each(("domain", "recipe", "letters"), CASES)


def of_two_rows(letters: list[Any]) -> list[list[Any]]:
    """Datasets of up to two rows of all letters, and of three rows of three of them."""
    return sequences(letters, 2) + sequences(letters[:2] + letters[-1:], 3, 3)


@ROWWISE
@for_each("metric", ROW_METRICS)
def test_rows_one_by_one_ensures_that_vectors_come_no_further_apart(
    metric: Metric, domain: Domain, recipe: Any, letters: list[Any]
) -> None:
    made = vm.Space(domain, metric) >> recipe
    check_stability(made, of_two_rows(letters))
    assert made.output_space.metric == metric
    assert [made.map(d) for d in (0, 1, 7, INFINITY)] == [0, 1, 7, INFINITY]


@ROWWISE
def test_rows_one_by_one_ensures_that_the_order_stays_overlooked(
    domain: Domain, recipe: Any, letters: list[Any]
) -> None:
    for metric in (SYMMETRIC, vm.ChangeOneDistance()):
        check_order_is_ignored(vm.Space(domain, metric) >> recipe, [letters[:4], letters[-3:], letters[:2] * 2])


TABLE = vm.tables({"user": str, "value": int, "note": str})
TABLE_ROWS = list(itertools.product("uv", (0, 1), "a"))


@for_each("metric", ROW_METRICS)
@for_each(
    "recipe",
    [
        vm.select(["value", "note"]),
        vm.select("user"),
        vm.column("value"),
        vm.map_rows(
            function=lambda row: row["value"] / (row["user"] == "u"),
            output=vm.scalars(float),
            default=-1.0,
            trust="it is a function",
        ),
    ],
)
def test_rows_one_by_one_ensures_that_tables_come_no_further_apart(metric: Metric, recipe: Any) -> None:
    made = vm.Space(TABLE, metric) >> recipe
    datasets = [table_of(TABLE.names, rows) for rows in sequences(TABLE_ROWS, 2)]
    check_stability(made, datasets)
    assert made.output_space.metric == metric


@pytest.mark.parametrize("metric", [vm.SymmetricIdDistance("user"), vm.ChangeOneIdDistance("user")], ids=name_of)
def test_rows_one_by_one_ensures_that_users_come_no_further_apart(metric: Metric) -> None:
    made = vm.Space(TABLE, metric) >> vm.select(["value", "user"])
    datasets = [table_of(TABLE.names, rows) for rows in sequences(list(itertools.product("uv", (0, 1), "ab")), 2)]
    assert 1 in check_stability(made, datasets)
    assert made.output_space.metric == metric


def test_rows_one_by_one_ensures_that_a_public_size_stays_public() -> None:
    for recipe in (
        vm.clamp(bounds=(0, 1)),
        vm.impute(value=0),
        vm.cast(to=int, default=0),
        vm.clamp(bounds=(0, 1)) >> vm.impute(value=0) >> vm.to_grid(step="0.1"),
        vm.map_rows(function=abs, output=vm.scalars(float), default=0.0, trust="it is a function"),
    ):
        made = vm.Space(vm.vectors(float, nan=True, size=2), SYMMETRIC) >> recipe
        assert made.output_space.domain.size == 2  # type: ignore[attr-defined]
    sized = vm.Space(vm.tables({"a": int, "b": int}, size=2), SYMMETRIC)
    for recipe in (vm.select(["b"]), vm.column("b")):
        assert (sized >> recipe).output_space.domain.size == 2  # type: ignore[attr-defined]


@ROWWISE
def test_rows_one_by_one_requires_that_the_image_of_a_row_depends_on_that_row_alone(
    domain: Domain, recipe: Any, letters: list[Any]
) -> None:
    # The image of many rows is the images of each, to the bit, wherever a row stands: NumPy computes most rows of an
    # array in blocks and the last ones one by one.
    made = vm.Space(domain, SYMMETRIC) >> recipe
    alone = {bits(letter): rows_of(image(made, [letter]))[0] for letter in letters}
    many = (letters * 70)[:67]
    for start in range(9):
        data = many[start:]
        assert rows_of(image(made, data)) == tuple(alone[bits(letter)] for letter in data)
    assert len(image(made, [])) == 0


def test_rows_one_by_one_requires_one_row_for_each_row_that_depends_on_it_alone() -> None:
    # The conclusion fails for a running maximum: every row depends on those before it.
    one, other = [0, 0, 0], [5, 0, 0]
    assert vm.HammingDistance().distance(np.array(one), np.array(other)) == 1
    images = np.maximum.accumulate(one), np.maximum.accumulate(other)
    assert vm.HammingDistance().distance(*images) == 3


def test_rows_one_by_one_requires_that_a_function_of_ones_own_is_deterministic() -> None:
    # With a function that counts its calls, equal data have different images: so it asks for trust, and says so.
    space = vm.Space(WHOLE, SYMMETRIC)
    made = vm.map_rows(space, function=counts_calls(), output=vm.scalars(int), default=0, trust="it is deterministic")
    assert made.map(0) == 0
    assert not same(made([1, 1]), made([1, 1]))
    assert made.explain(1).assumptions == ("it is deterministic (map_rows <lambda>)",)
    assert "it is deterministic" in str(made.explain(1))
    for trust in ("", "  ", None, 5):
        with pytest.raises(ParameterError, match="trust="):
            loose.map_rows(space, function=len, output=vm.scalars(int), default=0, trust=trust)
    with pytest.raises(ParameterError, match="trust"):
        loose.map_rows(space, function=len, output=vm.scalars(int), default=0)


def test_rows_one_by_one_requires_that_failures_are_replaced_by_the_default() -> None:
    recipe = vm.map_rows(function=moody, output=vm.scalars(int, bounds=(0, 9)), default=9, trust="it is a function")
    assert image(vm.Space(WHOLE, SYMMETRIC) >> recipe, [0, 1, 2, 3, 4, 5, 6]).tolist() == [9, 9, 9, 9, 9, 5, 9]


def test_rows_one_by_one_requires_that_leaving_the_program_is_replaced_by_the_default() -> None:
    def leaves(value: int) -> int:
        if value == 1:
            raise SystemExit
        return value

    recipe = vm.map_rows(function=leaves, output=vm.scalars(int), default=-1, trust="it is a function")
    assert image(vm.Space(WHOLE, SYMMETRIC) >> recipe, [0, 1, 2]).tolist() == [0, -1, 2]


def test_rows_one_by_one_requires_a_metric_that_counts_rows_or_users() -> None:
    for metric in NORMS:
        space = vm.Space(FLOATS, metric)
        for recipe in (vm.impute(value=0), vm.cast(to=int, default=0)):
            with pytest.raises(NoTheorem, match="not for L"):
                space >> recipe
        with pytest.raises(ParameterError, match="does not measure vectors"):
            space >> vm.cast(to=str)
        with pytest.raises(NoTheorem, match="not for L"):
            vm.Space(vm.vectors(float, bounds=(0, 1)), metric) >> vm.to_grid(step="0.1")
        with pytest.raises(NoTheorem, match="not for L"):
            space >> vm.map_rows(function=abs, output=vm.scalars(float), default=0.0, trust="it is a function")
    for recipe in (vm.clamp(bounds=(0, 1)), vm.impute(value=0), vm.cast(to=str)):
        with pytest.raises(NoTheorem, match="not for DiscreteDistance"):
            vm.Space(FLOATS, vm.DiscreteDistance()) >> recipe


def test_rows_one_by_one_requires_that_the_column_of_the_users_stays() -> None:
    space = vm.Space(TABLE, vm.SymmetricIdDistance("user"))
    with pytest.raises(ParameterError, match="no column 'user'"):
        space >> vm.select(["value", "note"])
    with pytest.raises(NoTheorem, match="limit_rows"):
        space >> vm.column("value")
    with pytest.raises(NoTheorem, match="limit_rows"):
        space >> vm.map_rows(function=len, output=vm.scalars(int), default=0, trust="it is a function")


NUMBERS = [-INF, -LARGEST, -1.0, -TINY, -0.0, 0.0, 0.1, 1.0, math.nextafter(1.0, 2.0), LARGEST, INF]


@for_each("bounds", [(0, 1), (-1, "0.1"), (1, 1), (5, 6)])
def test_clamp_numbers_ensures_that_single_numbers_come_no_further_apart(bounds: Any) -> None:
    floats = vm.Space(vm.scalars(float), vm.AbsoluteDistance()) >> vm.clamp(bounds=bounds)
    assert 0 in check_stability(floats, NUMBERS)
    for value in NUMBERS:
        lower, upper = (Fraction(bound) for bound in bounds)
        exact = value if math.isinf(value) else Fraction(value)
        inside = floats.output_space.domain.bounds  # type: ignore[attr-defined]
        expected = inside[0] if exact < lower else inside[1] if exact > upper else value
        assert floats(value) == expected


@for_each("bounds", [(0, 1), (LEAST, GREATEST), (3, 3), (-5, -2)])
def test_clamp_numbers_ensures_that_single_integers_come_no_further_apart(bounds: Any) -> None:
    made = vm.Space(vm.scalars(int), vm.AbsoluteDistance()) >> vm.clamp(bounds=bounds)
    values = [LEAST, -5, -1, 0, 1, 2, 3, GREATEST]
    check_stability(made, values)
    assert [made(value) for value in values] == [min(max(value, bounds[0]), bounds[1]) for value in values]


@pytest.mark.parametrize("metric", NORMS, ids=name_of)
def test_clamp_numbers_ensures_that_vectors_come_no_further_apart(metric: Metric) -> None:
    floats = vm.Space(FLOATS, metric) >> vm.clamp(bounds=(0, 1))
    assert Fraction(1) in check_stability(floats, sequences([-INF, -3.0, -0.0, 0.25, 1.0, 4.0], 2))
    whole = vm.Space(WHOLE, metric) >> vm.clamp(bounds=(-2, 3))
    assert Fraction(1) in check_stability(whole, sequences([LEAST, -2, 0, 1, GREATEST], 2))
    assert floats.output_space.metric == metric
    assert [floats.map(d) for d in (0, "1/3", INFINITY)] == [0, Fraction(1, 3), INFINITY]


@pytest.mark.parametrize("metric", NORMS, ids=name_of)
@given(
    pairs=st.lists(st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)), max_size=4),
    ends=st.tuples(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6)),
)
@drawn
def test_clamp_numbers_ensures_the_same_for_whatever_is_drawn(
    metric: Metric, pairs: list[tuple[float, float]], ends: tuple[int, int]
) -> None:
    made = vm.Space(FLOATS, metric) >> vm.clamp(bounds=(min(ends), max(ends)))
    check_stability(made, [[a for a, _ in pairs], [b for _, b in pairs]])


def test_clamp_numbers_requires_that_no_number_is_nan() -> None:
    for metric in NORMS:
        with pytest.raises(ParameterError, match="without NaN"):
            vm.Space(MISSING, metric)
    with pytest.raises(ParameterError, match="without NaN"):
        vm.Space(vm.scalars(float, nan=True), vm.AbsoluteDistance())


# --- what is computed ------------------------------------------------------------------------------------------------


@given(
    data=st.lists(st.integers(LEAST, GREATEST), max_size=8),
    ends=st.tuples(st.integers(LEAST, GREATEST), st.integers(LEAST, GREATEST)),
)
@drawn
def test_clamp_brings_integers_into_the_bounds(data: list[int], ends: tuple[int, int]) -> None:
    lower, upper = min(ends), max(ends)
    made = vm.Space(WHOLE, SYMMETRIC) >> vm.clamp(bounds=(lower, upper))
    assert image(made, data).tolist() == [min(max(value, lower), upper) for value in data]
    assert made.output_space.domain == vm.vectors(int, bounds=(lower, upper))


def test_clamp_knows_the_tighter_of_two_bounds() -> None:
    for old, new, both in (
        ((0, 10), (5, 20), (5, 10)),
        ((0, 10), (-5, 20), (0, 10)),
        ((0, 10), (20, 30), (20, 20)),
        ((0, 10), (-30, -20), (-20, -20)),
    ):
        for kind in (int, float):
            made = vm.Space(vm.vectors(kind, bounds=old), SYMMETRIC) >> vm.clamp(bounds=new)
            assert made.output_space.domain == vm.vectors(kind, bounds=both)
            image(made, [0, 10, 5])


def test_clamp_leaves_nan_to_others() -> None:
    made = vm.Space(MISSING, SYMMETRIC) >> vm.clamp(bounds=(0, 1))
    assert made.output_space.domain == vm.vectors(float, bounds=(0, 1), nan=True)
    assert math.isnan(image(made, [NAN])[0])


def test_impute_replaces_nan_and_widens_the_bounds_to_what_it_puts_in() -> None:
    made = vm.Space(vm.vectors(float, nan=True, bounds=(0, 1)), SYMMETRIC) >> vm.impute(value="2.5")
    assert image(made, [NAN, 0.5]).tolist() == [2.5, 0.5]
    assert made.output_space.domain == vm.vectors(float, bounds=(0, "2.5"))


@given(data=st.lists(st.floats(), max_size=8))
@drawn
def test_cast_of_floats_to_integers_cuts_off_the_fraction_and_stops_at_the_ends(data: list[float]) -> None:
    made = vm.Space(MISSING, SYMMETRIC) >> vm.cast(to=int, default=-7)

    def expected(value: float) -> int:
        if math.isnan(value):
            return -7
        if math.isinf(value):
            return GREATEST if value > 0 else LEAST
        return min(max(math.trunc(value), LEAST), GREATEST)

    assert image(made, data).tolist() == [expected(value) for value in data]


def test_cast_of_floats_to_floats_leaves_finite_ones() -> None:
    made = vm.Space(MISSING, SYMMETRIC) >> vm.cast(to=float, default="0.5")
    assert image(made, [NAN, INF, -INF, LARGEST, TINY]).tolist() == [0.5, 0.5, 0.5, LARGEST, TINY]


def test_cast_of_floats_at_the_ends_of_64_bits_is_exact() -> None:
    made = vm.Space(FLOATS, SYMMETRIC) >> vm.cast(to=int, default=0)
    inside = math.nextafter(2.0**63, 0.0)
    values = [2.0**63, inside, -(2.0**63), math.nextafter(-(2.0**63), -INF), LARGEST, -LARGEST]
    assert image(made, values).tolist() == [GREATEST, int(inside), LEAST, LEAST, GREATEST, LEAST]


@for_each(
    ("text", "expected"),
    [
        ("0", 0),
        ("-12", -12),
        (" +7 ", 7),
        (str(GREATEST), GREATEST),
        (str(LEAST), LEAST),
        (str(GREATEST + 1), None),
        (str(LEAST - 1), None),
        ("", None),
        ("1.0", None),
        ("1e3", None),
        ("1_000", None),
        ("٣", None),
        ("0x1", None),
        ("7" * 100_000, None),
        (" " * 100_000, None),
        ("nan", None),
    ],
)
def test_cast_of_text_to_integers(text: str, expected: int | None) -> None:
    made = vm.Space(TEXT, SYMMETRIC) >> vm.cast(to=int, default=-99)
    assert image(made, [text]).tolist() == [-99 if expected is None else expected]


@for_each(
    ("text", "expected"),
    [
        ("0.1", 0.1),
        ("1e308", 1e308),
        ("-0", -0.0),
        ("4e-324", TINY),
        *((text, None) for text in ("1e999", "nan", "inf", "", "x", "1/2", "\ud800", "1" * 100_000)),
    ],
)
def test_cast_of_text_to_floats(text: str, expected: float | None) -> None:
    made = vm.Space(TEXT, SYMMETRIC) >> vm.cast(to=float, default=-9)
    assert rows_of(image(made, [text])) == (bits(-9.0 if expected is None else expected),)


def test_cast_of_integers_to_floats_keeps_bounds_that_hold() -> None:
    made = vm.Space(vm.vectors(int, bounds=(-3, GREATEST)), SYMMETRIC) >> vm.cast(to=float)
    assert made.output_space.domain == vm.vectors(float, bounds=(-3, 2**63))
    assert image(made, [-3, GREATEST, 2**53 + 1]).tolist() == [-3.0, 2.0**63, 2.0**53]
    same_kind = vm.Space(vm.vectors(int, bounds=(-3, 5)), SYMMETRIC) >> vm.cast(to=int)
    assert same_kind.output_space.domain == vm.vectors(int, bounds=(-3, 5))


# np.where with an unsigned default would make the whole column floats, whose sum depends on the order of rows:
# sum([2**53, 1, 1, 1]) and sum([1, 1, 1, 2**53]) would differ by 4 at d_in = 0.
@pytest.mark.parametrize("default", [np.uint64(0), np.int8(0), np.int64(0)], ids=shown)
def test_cast_gives_integers_whatever_the_type_of_the_default(default: Any) -> None:
    made = vm.Space(MISSING, SYMMETRIC) >> vm.cast(to=int, default=default)
    image(made, [NAN, 1.0])
    total = made >> vm.clamp(bounds=(0, 2**53)) >> vm.sum()
    check_order_is_ignored(total, [[2.0**53, 1.0, 1.0, 1.0]])


@given(
    data=st.lists(st.floats(-10, 10), min_size=1, max_size=6),
    step=st.sampled_from(["0.01", "1/3", "1", "7", "0.25", "1e-9"]),
)
@drawn
def test_to_grid_rounds_to_a_nearest_multiple(data: list[float], step: str) -> None:
    made = vm.Space(vm.vectors(float, bounds=(-10, 10)), SYMMETRIC) >> vm.to_grid(step=step)
    size = Fraction(step)
    for value, multiple in zip(data, image(made, data).tolist(), strict=True):
        assert abs(Fraction(value) - multiple * size) <= size / 2 + Fraction(1, 10**12)


@for_each("bounds", [("0.05", "0.95"), ("-0.95", "-0.05"), (0, 0), ("-1e-300", "1e-300")])
def test_to_grid_stays_within_the_bounds_that_it_tells(bounds: Any) -> None:
    for step in ("0.1", "1/3", "3", "1e-3"):
        made = vm.Space(vm.vectors(float, bounds=bounds), SYMMETRIC) >> vm.to_grid(step=step)
        lower, upper = made.input_space.domain.element.bounds  # type: ignore[attr-defined]
        image(made, [lower, upper, (lower + upper) / 2, math.nextafter(lower, upper)])


def test_to_grid_then_sum_has_the_sensitivity_of_integers() -> None:
    made = vm.Space(vm.vectors(float, bounds=(0, 10)), SYMMETRIC) >> vm.to_grid(step="0.01") >> vm.sum()
    assert made.map(1) == 1000
    check_stability(made, sequences([0.0, 0.005, 9.999, 10.0], 3))


def test_map_rows_is_given_a_table_row_by_row() -> None:
    seen = []
    made = vm.map_rows(
        vm.Space(TABLE, SYMMETRIC),
        function=lambda row: seen.append(dict(row)) or row["value"],  # type: ignore[func-returns-value]
        output=vm.scalars(int),
        default=0,
        trust="it is a function",
    )
    assert image(made, {"user": ["u", "v"], "value": [1, 2], "note": ["", "x"]}).tolist() == [1, 2]
    assert seen == [{"user": "u", "value": 1, "note": ""}, {"user": "v", "value": 2, "note": "x"}]


def test_map_rows_gives_members_whatever_the_type_of_the_default() -> None:
    made = vm.map_rows(
        vm.Space(WHOLE, SYMMETRIC), function=len, output=vm.scalars(str), default=np.str_("x"), trust="it is a function"
    )
    image(made, [1])


def test_a_column_and_a_selection_share_the_memory_of_the_table() -> None:
    values = np.arange(3)
    space = vm.Space(vm.tables({"a": int, "b": int}), SYMMETRIC)
    data = {"a": values, "b": values}
    assert np.shares_memory((space >> vm.column("b"))(data), values)
    assert np.shares_memory((space >> vm.select(["b"]))(data)["b"], values)
    assert (space >> vm.select(["b", "a"])).output_space.domain == vm.tables({"b": int, "a": int})


# --- bad parameters --------------------------------------------------------------------------------------------------

BOUNDED = vm.vectors(float, bounds=(0, 1))


@for_each(
    ("domain", "recipe", "said"),
    [
        (WHOLE, vm.clamp(bounds=(3, 1)), r"bounds=\(3, 1\)"),
        (WHOLE, loose.clamp(bounds=5), "bounds=5"),
        (WHOLE, vm.clamp(bounds=("0.5", 1)), "'0.5'"),
        (WHOLE, vm.clamp(bounds=(0, 2**63)), "64 bits"),
        (WHOLE, loose.clamp(bounds=(0, 0.5)), "0.5"),
        (FLOATS, loose.clamp(bounds=(0, INF)), "inf"),
        (FLOATS, vm.clamp(bounds=("a", 1)), "'a'"),
        (TEXT, vm.clamp(bounds=(0, 1)), "clamp takes numbers"),
        (TABLE, vm.clamp(bounds=(0, 1)), "column"),
        (WHOLE, vm.impute(value=0), "nothing else has NaN"),
        (MISSING, vm.impute(value="x"), "'x'"),
        (MISSING, loose.impute(value=None), "NoneType"),
        (MISSING, loose.impute(value=NAN), "nan"),
        (TEXT, vm.cast(to=int), "default="),
        (FLOATS, vm.cast(to=int), "default="),
        (FLOATS, vm.cast(to=float), "default="),
        (TEXT, vm.cast(to=bool, default=False), "bool"),
        (TEXT, loose.cast(to="int", default=0), "'int'"),
        (TEXT, vm.cast(to=int, default="0"), "'0'"),
        (TEXT, vm.cast(to=int, default=0.5), "0.5"),
        (TEXT, vm.cast(to=int, default=True), "True"),
        (TEXT, vm.cast(to=int, default=2**63), "9223372036854775808"),
        (TEXT, vm.cast(to=float, default=NAN), "nan"),
        (TEXT, vm.cast(to=float, default="x"), "'x'"),
        (TEXT, vm.cast(to=str, default=5), "5"),
        (TABLE, vm.cast(to=int, default=0), "column"),
        (BOUNDED, vm.to_grid(step=0), "step=0"),
        (BOUNDED, vm.to_grid(step="-0.1"), "step=-0.1"),
        (BOUNDED, vm.to_grid(step="1e-30"), "too fine"),
        (FLOATS, vm.to_grid(step=1), "with bounds"),
        (vm.vectors(float, bounds=(0, 1), nan=True), vm.to_grid(step=1), "without NaN"),
        (WHOLE, vm.to_grid(step=1), "floats"),
        (WHOLE, loose.map_rows(function=abs, output=int, default=0, trust="t"), "output="),
        (WHOLE, vm.map_rows(function=abs, output=vm.scalars(int), default="x", trust="t"), "default='x'"),
        (WHOLE, vm.map_rows(function=abs, output=vm.scalars(int), default=None, trust="t"), "default=None"),
        (TABLE, vm.select(["age"]), "'age' does not exist"),
        (TABLE, vm.select([]), "one or more"),
        (TABLE, vm.select(["value", "value"]), "different names"),
        (WHOLE, vm.select(["value"]), "takes tables"),
        (TABLE, vm.column("age"), "'age' does not exist"),
        (TABLE, loose.column(["value"]), "does not exist"),
        (WHOLE, vm.column("value"), "takes tables"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_by_name(domain: Domain, recipe: Any, said: str) -> None:
    with pytest.raises((ParameterError, NumberError), match=said):
        vm.Space(domain, SYMMETRIC) >> recipe


def test_a_float_where_an_exact_number_is_needed_is_refused() -> None:
    for domain, recipe in (
        (FLOATS, loose.clamp(bounds=(0.1, 1))),
        (MISSING, loose.impute(value=0.1)),
        (BOUNDED, loose.to_grid(step=0.1)),
    ):
        with pytest.raises(NotExact, match=r"0\.1 is a float"):
            vm.Space(domain, SYMMETRIC) >> recipe


@for_each(
    ("domain", "recipe", "said"),
    [
        (WHOLE, loose.clamp(bounds=None), "bounds"),
        (MISSING, vm.impute(value=10**400), "value"),
        (MISSING, vm.cast(to=float, default=10**400), "default"),
        (TEXT, loose.cast(to={}, default=0), "to="),
        (vm.vectors(float, bounds=(0, "1e-310")), vm.to_grid(step="1e-320"), "step"),
        (WHOLE, loose.map_rows(function=3, output=vm.scalars(int), default=0, trust="t"), "function"),
        (TABLE, loose.select(5), "columns"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_without_a_bare_traceback(
    domain: Domain, recipe: Any, said: str
) -> None:
    with pytest.raises(ViameterError, match=said):
        vm.Space(domain, SYMMETRIC) >> recipe
