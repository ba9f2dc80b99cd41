"""The contract, case by case, on the reference; and columns that only one engine has."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from viameter.tables.engines import EngineTable, run
from viameter.tables.expressions import Call, Column, Expression, Kind, Schema, Type, case, evaluate, literal, to_ibis

number, real, text = Column("a", Type(Kind.INTEGER)), Column("x", Type(Kind.REAL)), Column("s", Type(Kind.TEXT))
truth, day, moment = Column("p", Type(Kind.BOOLEAN)), Column("d", Type(Kind.DATE)), Column("m", Type(Kind.TIMESTAMP))
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("expression", "row", "expected"),
    [
        (number + 1, {"a": 2**63 - 1}, None),
        (number + 1, {"a": 2**63 - 2}, 2**63 - 1),
        (number * number, {"a": 3037000499}, 3037000499**2),
        (number * number, {"a": 3037000500}, None),
        (-number, {"a": -(2**63)}, None),
        (number // -7, {"a": 20}, -3),
        (number % -7, {"a": 20}, -1),
        (number % 7, {"a": -20}, 1),
        (number // 0, {"a": 1}, None),
        (number / 0, {"a": 1}, None),
        (number / 4, {"a": 1}, 0.25),
        (number + Fraction(1, 2), {"a": 1}, 1.5),
        (number == real, {"a": 2**53 + 1, "x": 2.0**53}, True),
        (real.is_null(), {"x": NAN}, True),
        (real.is_null(), {"x": INF}, True),
        (real, {"x": 1e60}, None),
        (real, {"x": 1e-60}, 0.0),
        (real.round_to(1), {"x": 2.5}, 3.0),
        (real.round_to(1), {"x": -2.5}, -2.0),
        (number.round_to(10), {"a": 15}, 20),
        (number.round_to(10), {"a": -15}, -10),
        (real.floor(), {"x": -0.5}, -1),
        (real.floor(), {"x": 2.0**63}, None),
        (real.bin([0, 1, 2]), {"x": 1.0}, 1),
        (real.bin([0, 1, 2]), {"x": 2.0}, 1),
        (real.bin([0, 1, 2]), {"x": 2.1}, None),
        (real.sqrt(), {"x": -1.0}, None),
        (real.log(), {"x": 0.0}, None),
        (real.exp(), {"x": 114.5}, None),
        (real.exp(), {"x": -114.5}, 0.0),
        (truth & False, {"p": None}, False),
        (truth & True, {"p": None}, None),
        (truth | True, {"p": None}, True),
        (number.is_in([]), {"a": 1}, False),
        (number.is_in([1]), {"a": None}, None),
        (case((number > 1, "big"), default="small"), {"a": None}, "small"),
        (case((number > 1, 1), default=0.5), {"a": 2}, 1.0),
        (number.clip(0, 10), {"a": None}, None),
        (number.clip(0, 10), {"a": 11}, 10),
        (text.upper(), {"s": "straße"}, "STRAßE"),
        (text.cast("integer"), {"s": "12\n"}, None),
        (text.cast("integer"), {"s": "1" * 19}, None),
        (text.cast("date"), {"s": "1900-02-29"}, None),
        (text.slice(1, 3), {"s": "🦆bcd"}, "bc"),
        (day == "2024-05-31", {"d": date(2024, 5, 31)}, True),
        (day.truncate("week"), {"d": date(2024, 5, 31)}, date(2024, 5, 27)),
        (day.days_since("2024-05-01"), {"d": date(2024, 5, 31)}, 30),
        (moment.hour(), {"m": datetime(2024, 5, 31, 1, tzinfo=timezone(timedelta(hours=2)))}, 23),
        (
            moment == datetime(2024, 5, 31, 1, tzinfo=timezone(timedelta(hours=2))),
            {"m": datetime(2024, 5, 30, 23)},
            True,
        ),
        (moment >= date(2024, 5, 31), {"m": datetime(2024, 5, 31)}, True),
    ],
    ids=str,
)
def test_the_contract_holds(expression: Expression, row: dict[str, Any], expected: Any) -> None:
    value = evaluate(expression, row)
    assert (type(value), value) == (type(expected), expected)


def test_operands_are_settled_only_where_a_result_could_leave_float64() -> None:
    def settles(expression: Expression) -> int:
        inner = expression.arguments if isinstance(expression, Call) else ()
        return (isinstance(expression, Call) and expression.operation == "settle") + sum(map(settles, inner))

    assert settles(real * real * real * real) == 0 and settles((real / real) / (real / real)) == 0
    fifth = real * real * real * real * real
    assert settles(fifth) == 1
    assert evaluate(fifth, {"x": 1e5}) == 1e5**4 * 1e5 and evaluate(fifth, {"x": 1e13}) is None
    assert settles(number * number * number.cast("real") * number * number * number * number * number) == 0


def test_sizes_of_reals_bound_every_result() -> None:
    extremes = [2.0**166, -(2.0**166), 2.0**-166, 2.0**-166 * (1 + 2**-52), 1.0, 1 + 2**-52, 0.0, 0.1]
    y = Column("y", Type(Kind.REAL))
    trees = [
        real + y,
        real - y,
        real * y,
        real / y,
        (real - y) * (real + y),
        (real / y) / (y - real),
        (real * y) / (real / y),
        real.sqrt() - y.log(),
    ]
    trees += [tree * y for tree in trees] + [(tree - real) / y for tree in trees]
    for tree in trees:
        for x in extremes:
            for other in extremes:
                value = evaluate(tree, {"x": x, "y": other})
                if value is not None:
                    assert abs(value) <= 2.0**tree.type.top
                    assert (Fraction(value) / Fraction(2) ** tree.type.grain).denominator == 1


def test_ranges_of_integers_bound_every_result() -> None:
    small = Type(Kind.INTEGER, lower=-3, upper=2)
    a, b = Column("a", small), Column("b", Type(Kind.INTEGER, lower=-2, upper=5))
    trees = [a + b, a - b, a * b, a // b, a % b, -a, abs(a), abs(b + 5), a.clip(-1, 1), a.clip(1, 9), a.clip(lower=0)]
    trees += [a // 2, b % 3, b % -3, a.round_to(4), case((a > b, a), default=b), a.fill_null(9), a // (b + 3)]
    for tree in trees:
        values = [evaluate(tree, {"a": x, "b": y}) for x in range(-3, 3) for y in range(-2, 6)]
        assert all(tree.type.lower <= value <= tree.type.upper for value in values if value is not None), tree
    assert (a + b).type == Type(Kind.INTEGER, lower=-5, upper=7)


def test_only_operations_that_may_leave_64_bits_are_guarded(duckdb_backend: Any) -> None:
    import ibis

    table = ibis.table({"narrow": "int32", "wide": "int64"}, name="numbers")
    narrow, wide = (Column(name, Schema.of_ibis(table.schema()).require(name)) for name in ("narrow", "wide"))
    sums = [str(ibis.to_sql(to_ibis(each + each, table).as_table(), dialect="duckdb")) for each in (narrow, wide)]
    assert ["DECIMAL" in text for text in sums] == [False, True]


def column_of(table: EngineTable, expression: Callable[[Expression], Expression]) -> list[Any]:
    column = Column("v", Schema.of_ibis(table.ibis_schema).require("v"))
    answer = run(table, table.expression.select("row", found=to_ibis(expression(column), table.expression)))
    return [row["found"] for row in sorted(answer, key=lambda row: row["row"])]


def test_unsigned_integers_beyond_64_bits_are_null(duckdb_backend: Any, load: Any) -> None:
    values = pa.array([0, 2**63 - 1, 2**63, 2**64 - 1, None], pa.uint64())
    table = load(duckdb_backend, "unsigned_rows", pa.table({"row": list(range(5)), "v": values}))
    assert column_of(table, lambda v: v) == [0, 2**63 - 1, None, None, None]
    assert column_of(table, lambda v: v + 1) == [1, None, None, None, None]


def test_integers_of_38_digits_are_read_as_the_nearest_float(duckdb_backend: Any, load: Any) -> None:
    source = random.Random(3)
    values = [Decimal(source.randrange(10**38)) for _ in range(1000)]
    rows = pa.table({"row": list(range(1000)), "v": pa.array(values, pa.decimal128(38, 0))})
    assert column_of(load(duckdb_backend, "long_rows", rows), lambda v: v) == [float(value) for value in values]


def execute(backend: Any, *commands: str) -> None:
    for command in commands:
        backend.con.execute(command)
        if backend.name == "postgres":
            backend.con.commit()


def test_decimals_without_limits_are_read_as_reals_by_postgres(postgres_backend: Any) -> None:
    texts = [
        "'NaN'",
        "'Infinity'",
        "'-Infinity'",
        "1e4000",
        "-1e4000",
        "1e-4000",
        "0.1",
        "12345678901234567890.5",
        "NULL",
    ]
    rows = ", ".join(f"({index}, {text})" for index, text in enumerate(texts))
    execute(postgres_backend, "DROP TABLE IF EXISTS free_decimals", "CREATE TABLE free_decimals (row int, v numeric)")
    execute(postgres_backend, f"INSERT INTO free_decimals VALUES {rows}")
    table = EngineTable(postgres_backend.table("free_decimals"), postgres_backend)
    expected = [None, None, None, None, None, 0.0, 0.1, 12345678901234567890.5, None]
    assert column_of(table, lambda v: v) == expected
    assert column_of(table, lambda v: v * v) == [None if v is None else v * v for v in expected]


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
def test_infinite_dates_and_those_before_our_era_are_null(
    kind: str, postgres_backend: Any, duckdb_backend: Any
) -> None:
    values = ["'infinity'", "'-infinity'", "'0044-03-15 (BC)'", "'12024-01-01'", "'2024-01-01'"]
    for backend in (postgres_backend, duckdb_backend):
        texts = [each.replace("(BC)", "BC") if backend is postgres_backend else each for each in values]
        rows = ", ".join(f"({index}, CAST({text} AS {kind}))" for index, text in enumerate(texts))
        execute(backend, "DROP TABLE IF EXISTS far_days", f"CREATE TABLE far_days (row int, v {kind})")
        execute(backend, f"INSERT INTO far_days VALUES {rows}")
        table = EngineTable(backend.table("far_days"), backend)
        assert column_of(table, lambda v: v.year()) == [None, None, None, None, 2024]
        assert column_of(table, lambda v: v.truncate("week")) == [None, None, None, None, date(2024, 1, 1)]


def test_constants_are_computed_before_an_engine_sees_them(backend: Any, load: Any) -> None:
    table = load(backend, "one_row", pa.table({"row": [0], "v": [1]}))
    one, zero = literal(1), literal(0)
    nulls = [one / zero, one // zero, literal(-1.0).log(), literal("x").cast("integer"), literal(2**62) * 4]
    for made in nulls:
        assert column_of(table, lambda v, made=made: case((v > 5, made), default=made)) == [None]  # type: ignore[misc]


def test_a_decimal_row_is_read_as_the_nearest_float() -> None:
    assert evaluate(real, {"x": Decimal("0.1")}) == 0.1
    assert evaluate(moment, {"m": datetime(2024, 1, 1, tzinfo=UTC)}) == datetime(2024, 1, 1)
