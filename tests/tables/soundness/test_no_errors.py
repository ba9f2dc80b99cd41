"""Whether an error occurs does not depend on rows: questions of every kind are answered, whatever is in the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.tables.soundness.nasty import arrow, nasty, without_rows

import viameter as vm
from viameter.tables.engines import EngineTable

Load = Callable[[Any, str, Any], EngineTable]
BUDGET, SPEND = vm.approx(1000, "1/10"), vm.approx(1, "1/1000")
PUBLIC = vm.public({"k": ["north", "north", "no'rth"], "z": [1, 2, 2**62]})
LOW, HIGH = (-5, 10), (-(2**40), 2**52)


def numbers(value: Any) -> dict[str, Any]:
    return {
        "n": vm.count(), "units": vm.count_units(), "total": vm.sum(value, bounds=HIGH),
        "mean": vm.mean(value, bounds=LOW), "spread": vm.std(value, bounds=LOW),
        "middle": vm.median(value, bounds=LOW, bins=8), "most": vm.maximum(value, bounds=HIGH, bins=4),
    }  # fmt: skip


def hostile(table: Any) -> Any:
    """Expressions that fail on some row of some engine, if nothing guards them."""
    x, i, g, k = table["x"], table["i"], table["g"], table["k"]
    return table.filter((x / (i - 3) > -1e9) | (i * g != 7) | k.is_null() | (x.log() < x.sqrt())).derive(
        a=x.exp() * x / (x - x),
        b=i // (g % 3),
        h=abs(i) - (-g),
        c=k.cast("integer") + k.length() + table["text"].slice(0, 3).cast("integer"),
        d=table["day"].truncate("week"),
        e=table["moment"].year() * 10**18,
        f=(x * 1e49 * x).floor() + (x * x).round_to(0.1).floor(),
    )


def ask(table: Any) -> list[Any]:
    """Questions of many kinds; each is answered, which is all that is asked of them."""
    derived = hostile(table)
    return [
        derived.group_by("k", keys=["north", "no'rth", None], other=True).agg(**numbers("a"), **_other(derived)),
        derived.group_by("d", "yes", keys=[(None, True), (None, None)], other=True).agg(n=vm.sum("c", bounds=LOW)),
        derived.join(PUBLIC, on="k").group_by("e", keys=[None, 1970 * 10**15]).agg(n=vm.mean("f", bounds=HIGH)),
    ]


def _other(table: Any) -> dict[str, Any]:
    return {
        "whole": vm.variance("b", bounds=HIGH), "sum": vm.sum(table["h"] * table["c"], bounds=LOW),
        "both": vm.correlation("b", table["h"] * table["c"], bounds=(HIGH, LOW)),
        "line": vm.regression("h", on=["b"], bounds=(LOW, HIGH)),
    }  # fmt: skip


def of_units(table: Any) -> list[Any]:
    return [
        table.sample("1/2").group_by("x", edges=[-5, 0.1, 2**52], other=True).agg(**numbers("single")),
        table.group_by("k", "day").agg(n=vm.count()),
        table.group_by("moment", "g").agg(n=vm.count_units()),
    ]


def assert_answered(questions: list[Any]) -> None:
    for question in questions:
        answer = question.release(spend=SPEND)
        assert set(answer.estimates) and answer.loss.epsilon <= 1, "it was answered"


def test_questions_are_answered_whatever_the_rows(backend: Any, load: Load) -> None:
    table = load(backend, "hostile", arrow(nasty(250, seed=1, engine=backend.name))).expression
    by_unit = vm.open(table, unit=vm.per("text", rows=7), budget=BUDGET)
    questions = ask(by_unit)[:1]
    if backend.name != "pyspark":  # which takes long, and sees all expressions in the first of them
        by_row = vm.open(table, unit=vm.per_row(), budget=BUDGET)
        by_event = vm.open(table, unit=vm.per_event("day", window=2), budget=BUDGET)
        questions = [*ask(by_unit), *of_units(by_unit), *ask(by_row)[1:2], *ask(by_event)[2:]]
    assert_answered(questions)
    # The same, compiled already, of a table that has no rows.
    load(backend, "hostile", arrow(without_rows()))
    assert_answered(questions)


ODD = {
    "duckdb": """
        SELECT * FROM (VALUES
            (1, 'infinity'::DATE, '-infinity'::TIMESTAMP, 'infinity'::TIMESTAMPTZ, 18446744073709551615::UBIGINT,
             170141183460469231731687303715884105727::HUGEINT, 'nan'::FLOAT, chr(0)),
            (1, '-infinity'::DATE, '290000-01-01'::TIMESTAMP, '1900-01-01'::TIMESTAMPTZ, 0::UBIGINT,
             -1::HUGEINT, '-inf'::FLOAT, ''),
            (2, '200000-01-01'::DATE, '0044-03-15 (BC) 00:00:00'::TIMESTAMP, NULL, NULL, NULL, NULL, NULL)
        ) AS odd(u, day, moment, zoned, big, huge, x, k)""",
    "postgres": """
        SELECT * FROM (VALUES
            (1, 'infinity'::DATE, '-infinity'::TIMESTAMP, 'infinity'::TIMESTAMPTZ, 'NaN'::NUMERIC,
             'infinity'::NUMERIC, 'NaN'::REAL, ' '::TEXT),
            (1, '-infinity'::DATE, '290000-01-01'::TIMESTAMP, '1900-01-01'::TIMESTAMPTZ, 1e1000,
             '-infinity'::NUMERIC, '-infinity'::REAL, 'a'),
            (2, '4713-01-01 BC'::DATE, '0044-03-15 BC'::TIMESTAMP, NULL, 1e-1000, NULL, NULL, NULL)
        ) AS odd(u, day, moment, zoned, big, huge, x, k)""",
    "pyspark": """
        SELECT 1 AS u, date'-5000-01-01' AS day, timestamp'9999-12-31 23:59:59' AS moment,
            timestamp'0001-01-01' AS zoned, 1E37BD AS big, float('nan') AS huge, float('-inf') AS x, char(0) AS k
        UNION ALL SELECT 2, date'200000-01-01', NULL, timestamp'-5000-01-01', NULL, float('1e-45'), NULL, NULL""",
}


def odd(backend: Any) -> Any:
    """The table of such values on an engine."""
    if backend.name == "pyspark":
        backend._session.sql(ODD["pyspark"]).createOrReplaceTempView("odd_values")
    else:
        backend.con.execute(f"CREATE TEMPORARY TABLE IF NOT EXISTS odd_values AS {ODD[backend.name]}")
    return backend.table("odd_values")


def test_questions_are_answered_though_values_are_none_that_python_has(backend: Any) -> None:
    table = odd(backend)
    opened = vm.open(table, unit=vm.per("u", rows=5), budget=BUDGET)
    derived = opened.derive(
        a=opened["day"].year() + opened["moment"].month() + opened["zoned"].hour(),
        b=opened["day"].days_since("2024-01-01"),
        c=opened["big"] + opened["huge"] * opened["x"],
    )
    several = {f"n{place}": vm.mean(name, bounds=LOW) for place, name in enumerate(["a", "b", "c", "big", "huge", "x"])}
    assert_answered([derived.group_by("k", keys=["a", None], other=True).agg(**several)])
    assert_answered([opened.group_by("day", "moment", "zoned", "k").agg(n=vm.count())])
