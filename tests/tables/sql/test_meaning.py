"""What an expression means: on random rows with NULLs, what DuckDB computes of the same text."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest
from tests.tables.sql.hospital import by_duckdb, by_reference, kept, on_duckdb, rows

ROWS = rows()
VALUES = [
    "wait + beds", "wait - beds * 2", "wait * beds", "wait / beds", "wait / 7", "cost / 3", "-wait", "- (wait - 3)",
    "wait % 7", "wait % beds", "(wait - 100) % 7", "(wait - 100) % -7", "MOD(wait - 100, 3)", "ABS(wait)",
    "ABS(cost)", "SIGN(wait)", "SIGN(cost)", "FLOOR(cost)", "CEIL(cost)", "CEILING(cost)", "ROUND(cost)",
    "TRUNC(cost)", "SQRT(ABS(cost))", "EXP(cost / 1e6)", "wait + 0.5", "wait * 1e3", "wait + cost",
    "CASE WHEN wait > 100 THEN 'long' WHEN wait > 10 THEN 'short' END",
    "CASE WHEN wait > 100 THEN wait ELSE beds END", "CASE ward WHEN 'A' THEN 1 WHEN 'B' THEN 2 ELSE 0 END",
    "CASE WHEN late THEN wait END", "CASE WHEN wait > 5 AND late THEN 1.5 ELSE 0 END", "COALESCE(wait, beds, 0)",
    "COALESCE(ward, 'none')", "IFNULL(wait, -1)", "NULLIF(wait, beds)", "NULLIF(ward, 'A')", "IF(late, wait, beds)",
    "LOWER(ward)", "LENGTH(ward)", "SUBSTR(ward, 2)", "SUBSTR(ward, 1, 3)", "SUBSTRING(ward, 3, 2)", "LEFT(ward, 2)",
    "TRIM(ward)", "CAST(wait AS DOUBLE)", "CAST(late AS INTEGER)", "CAST(wait AS VARCHAR)", "wait::DOUBLE",
    "CAST(moment AS DATE)", "TRY_CAST(ward AS INTEGER)", "CAST(day AS TIMESTAMP)", "CAST('2024-05-31' AS DATE)",
    "DATE '2024-05-31'", "TIMESTAMP '2024-05-31 12:00:00'", "EXTRACT(YEAR FROM day)", "EXTRACT(MONTH FROM day)",
    "EXTRACT(DAY FROM moment)", "EXTRACT(HOUR FROM moment)", "EXTRACT(QUARTER FROM day)", "EXTRACT(ISODOW FROM day)",
    "EXTRACT(DOW FROM day)", "YEAR(day)", "MONTH(moment)", "DAY(day)", "HOUR(moment)", "DATE_TRUNC('month', day)",
    "DATE_TRUNC('week', day)", "DATE_TRUNC('year', day)", "DATE_DIFF('day', DATE '2024-01-01', day)",
    "wait IN (1, 2, 3)", "wait > 5", "(wait > 5) = late", "NOT late", "ward = 'A'", "ward <> 'A'", "wait IS NULL",
    "1 + 2", "1.5", "'it''s'", "TRUE", "(wait)", "wait--a comment\n+1", "wait /* a */ + /* b */ 1",
]  # fmt: skip
PREDICATES = [
    "wait > 60", "wait >= 60 AND ward = 'A'", "wait > 60 OR late", "NOT (wait > 60 OR late)",
    "NOT wait > 60 AND late", "late", "NOT late", "late = TRUE", "late IS TRUE", "late IS NOT TRUE", "late IS FALSE",
    "late IS NOT FALSE", "wait IS NULL", "wait IS NOT NULL", "NOT wait IS NULL", "wait <> beds", "wait != 5",
    "NOT wait = 5", "ward IN ('A', 'B')", "ward NOT IN ('A', 'B')", "NOT ward IN ('A', 'B')", "wait IN (beds, 1)",
    "wait NOT IN (beds, 1)", "wait BETWEEN 10 AND 100", "wait NOT BETWEEN 10 AND 100", "wait BETWEEN beds AND 100",
    "cost BETWEEN -2.5 AND 1", "ward LIKE 'E%'", "ward LIKE '%y'", "ward LIKE '%erg%'", "ward LIKE 'A'",
    "ward NOT LIKE 'E%'", "ward LIKE 'E%y'", "ward LIKE 'em%emergency'", "wait = 1.5", "beds = 2.0", "cost > wait",
    "cost = -2.5", "day > '2024-06-01'", "day >= DATE '2024-06-01' AND day < DATE '2024-07-01'",
    "day BETWEEN '2024-01-01' AND '2024-03-31'", "moment >= TIMESTAMP '2024-06-01 12:30:00'", "moment < '2024-06-01'",
    "wait IS DISTINCT FROM beds", "wait IS NOT DISTINCT FROM beds", "late IS DISTINCT FROM TRUE",
    "(wait > 10 AND (late OR ward = 'A')) OR (beds < 0 AND NOT late)",
    "wait > 10 AND late OR ward = 'A' AND beds = 1", "1 = 1", "wait % 2 = 0", "wait % 2 = 1", "-wait < -60",
    "CASE WHEN wait > 10 THEN late ELSE wait IS NULL END", "COALESCE(late, FALSE)", "COALESCE(wait, 0) > 5",
    "LENGTH(ward) > 3", "ward = ''", "ward = 'it''s'", "(((wait))) > 5",
    "wait > 5 AND wait > 6 AND wait > 7 AND wait > 8 AND wait > 9 AND wait > 10 AND wait > 11 AND wait > 12 "
    "AND wait > 13 AND wait > 14 AND wait > 15 AND wait > 16 AND wait > 17 AND wait > 18 AND wait > 20 AND late",
]  # fmt: skip


def same(one: Any, other: Any) -> bool:
    if isinstance(other, Decimal):
        other = float(other)
    if isinstance(one, float) or isinstance(other, float):
        return one is other if one is None or other is None else one == pytest.approx(other)
    if hasattr(other, "hour") and not hasattr(one, "hour") and one is not None:
        other = other.date()  # what is truncated is a DATE here
    return bool(one == other)


def test_values_are_those_of_an_engine_that_runs_the_same_text() -> None:
    engine = on_duckdb(ROWS)
    for sql in VALUES:
        expected = by_duckdb(engine, sql)
        for typed in (True, False):
            found = by_reference(ROWS, sql, typed=typed)
            wrong = [(row, a, b) for row, a, b in zip(ROWS, found, expected, strict=True) if not same(a, b)]
            assert not wrong, (sql, typed, wrong[0])


def test_where_keeps_the_rows_that_an_engine_keeps() -> None:
    engine = on_duckdb(ROWS)
    for sql in PREDICATES:
        found = engine.execute(f"SELECT place FROM visits WHERE {sql} ORDER BY place").fetchall()
        assert kept(ROWS, sql) == [place for (place,) in found], sql


class Writer:
    """Writes random expressions of SQL."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def number(self, depth: int) -> str:
        draw = self.draw
        if depth == 0:
            return draw.choice(["wait", "beds", "beds", str(draw.randrange(-3, 9)), "LENGTH(ward)"])
        one, other = self.number(depth - 1), self.number(depth - 1)
        return draw.choice(
            [
                f"({one} + {other})", f"({one} - {other})", f"{one} * 3", f"(({one}) % 5)", f"-({one})", f"ABS({one})",
                f"CASE WHEN {self.truth(depth - 1)} THEN {one} ELSE {other} END", f"COALESCE({one}, {other})",
                f"NULLIF({one}, {other})", f"CASE WHEN {self.truth(depth - 1)} THEN {one} END",
            ]
        )  # fmt: skip

    def truth(self, depth: int) -> str:
        draw = self.draw
        if depth == 0:
            return draw.choice(
                ["late", "late IS NULL", "ward = 'A'", "ward <> 'B'", "TRUE", "wait > 100", "ward LIKE '%e%'"]
            )
        one, other = self.truth(depth - 1), self.truth(depth - 1)
        numbers = self.number(depth - 1), self.number(depth - 1)
        sign = draw.choice(["=", "<>", "<", "<=", ">", ">="])
        return draw.choice(
            [
                f"{one} AND {other}", f"({one} OR {other})", f"NOT ({one})", f"NOT {numbers[0]} {sign} {numbers[1]}",
                f"{numbers[0]} {sign} {numbers[1]}", f"{numbers[0]} BETWEEN {numbers[1]} AND 50",
                f"{numbers[0]} IS NULL",
                f"{numbers[0]} NOT IN (1, 2, 3)", f"{numbers[0]} IN (0, {numbers[1]})", f"({one}) IS NOT TRUE",
                f"{one} AND {other} OR {draw.choice(['late', 'beds > 0'])}", f"({one}) = ({other})",
            ]
        )  # fmt: skip


def test_random_expressions_mean_what_an_engine_makes_of_them() -> None:
    engine, writer, compared = on_duckdb(ROWS), Writer(20), 0
    for _ in range(250):
        sql = writer.truth(writer.draw.randrange(1, 4))
        found = engine.execute(f"SELECT place FROM visits WHERE {sql} ORDER BY place").fetchall()
        assert kept(ROWS, sql) == [place for (place,) in found], sql
        compared += 0 < len(found) < len(ROWS)
    assert compared > 120  # most of them keep some rows and not all


def test_a_remainder_has_the_sign_of_what_is_divided() -> None:
    assert by_reference([{"wait": -7}, {"wait": 7}, {"wait": None}], "wait % 3") == [-1, 1, None]
    assert by_reference([{"wait": -7}, {"wait": 7}, {"wait": -6}], "DIV(wait, 3)") == [-2, 2, -2]
    assert by_reference([{"wait": -7, "beds": -2}, {"wait": 7, "beds": 0}], "DIV(wait, beds)") == [3, None]


def test_least_and_greatest_are_null_where_an_argument_is_as_in_bigquery() -> None:
    assert by_reference([{"wait": None, "beds": 1}, {"wait": 3, "beds": 1}], "LEAST(wait, beds)") == [None, 1]


def test_what_depends_on_a_row_is_no_error_but_null() -> None:
    assert by_reference([{"wait": 1, "beds": 0}], "wait / beds") == [None]
    assert by_reference([{"ward": "many"}, {"ward": "12"}], "CAST(ward AS INT64)") == [None, 12]
    assert by_reference([{"wait": 2**62}], "wait * 4") == [None]


def test_bigquerys_words_for_days_are_read() -> None:
    table = [{"day": row["day"]} for row in ROWS]
    engine = on_duckdb(ROWS)
    for bigquery, other in [
        ("DATE_TRUNC(day, MONTH)", "DATE_TRUNC('month', day)"),
        ("DATE_TRUNC(day, ISOWEEK)", "DATE_TRUNC('week', day)"),
        ("DATE_TRUNC(day, WEEK(MONDAY))", "DATE_TRUNC('week', day)"),
        ("DATE_DIFF(day, DATE '2024-01-01', DAY)", "DATE_DIFF('day', DATE '2024-01-01', day)"),
        ("EXTRACT(DAYOFWEEK FROM day)", "EXTRACT(DOW FROM day) + 1"),
    ]:
        pairs = zip(by_reference(table, bigquery), by_duckdb(engine, other), strict=True)
        assert all(same(one, expected) for one, expected in pairs), bigquery
