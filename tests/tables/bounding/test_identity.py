"""Limits hold for groups and units as the engine compares them, also where equal values can look different."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from tests.tables.bounding.tables import sums_by_engine

from viameter.errors import ParameterError
from viameter.tables.bounding import Limits, contributions
from viameter.tables.engines import EngineTable, engine_named, run

Load = Callable[[Any, str, Any], EngineTable]
ONE_EACH = Limits(groups=9, per_group=1)


def counts(table: EngineTable, limits: Limits = ONE_EACH) -> dict[Any, int]:
    # A total and a limit of groups: the shape in which groups are told apart by their digests.
    sums = sums_by_engine(table, limits, groups=["place"], totals=["value"])
    return {place: n for (place,), [n, _] in sums.items()}


def test_zero_is_one_group_whatever_its_sign_and_so_is_nan(backend: Any, load: Load) -> None:
    floats = [0.0, -0.0, 0.0, -0.0, float("nan"), -float("nan"), None, 1.5, None]
    table = load(backend, "floats", {"unit": [1] * 9, "place": floats, "value": list(range(9))})
    found = counts(table)
    assert {"nan" if place != place else place: n for place, n in found.items()} == {0.0: 1, "nan": 1, None: 1, 1.5: 1}  # noqa: PLR0124


def test_zero_has_one_place_among_the_groups_of_a_unit_whatever_its_sign(backend: Any, load: Load) -> None:
    zeros = load(backend, "zeros", {"unit": [1] * 4, "place": [0.0, -0.0, -0.0, 0.0], "value": list(range(4))})
    assert counts(zeros, Limits(groups=1, per_group=9)) == {0.0: 4}
    floats = load(backend, "signs", {"unit": [1] * 4, "place": [0.0, 1.5, -0.0, -1.5], "value": list(range(4))})
    assert counts(floats, Limits(groups=3, per_group=9)) == {0.0: 2, 1.5: 1, -1.5: 1}


def test_decimals_are_one_group_however_many_zeros_they_end_in(postgres_backend: Any) -> None:
    with postgres_backend._safe_raw_sql(
        "CREATE TEMP TABLE decimals AS SELECT 1 AS unit, place, value::bigint "
        "FROM (VALUES (1.0, 1), (1.00, 2), (1, 3), (2.5, 4)) AS rows(place, value)"
    ):
        pass
    found = counts(EngineTable(postgres_backend.table("decimals"), postgres_backend))
    assert found == {Decimal(1): 1, Decimal("2.5"): 1}


SMALL_AND_LARGE = (
    "SELECT 1 AS unit, 'a' AS place, CAST(1 AS BIGINT) AS value UNION ALL SELECT 1, 'A', 2 UNION ALL SELECT 1, 'A', 3"
)


def test_a_collation_of_duckdb_does_not_make_two_texts_one(duckdb_backend: Any) -> None:
    duckdb_backend.raw_sql("CREATE OR REPLACE TABLE loose (unit INT, place VARCHAR COLLATE NOCASE, value BIGINT)")
    duckdb_backend.raw_sql(f"INSERT INTO loose {SMALL_AND_LARGE}")
    table = EngineTable(duckdb_backend.table("loose"), duckdb_backend)
    assert counts(table) == counts(table, Limits(per_group=1)) == {"a": 1, "A": 1}
    assert counts(table, Limits(groups=1)) in ({"a": 1}, {"A": 2})


def test_a_collation_of_postgres_does_not_make_two_texts_one(postgres_backend: Any) -> None:
    for statement in (
        "CREATE COLLATION IF NOT EXISTS loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TEMP TABLE loose (unit int, place text COLLATE loose, value bigint)",
        f"INSERT INTO loose {SMALL_AND_LARGE}",
    ):
        with postgres_backend._safe_raw_sql(statement):
            pass
    table = EngineTable(postgres_backend.table("loose"), postgres_backend)
    assert counts(table) == counts(table, Limits(per_group=1)) == {"a": 1, "A": 1}


def test_a_collation_of_spark_does_not_make_two_texts_one(spark_session: Any, spark_backend: Any) -> None:
    loose = f"SELECT unit, place COLLATE UTF8_LCASE AS place, value FROM ({SMALL_AND_LARGE})"
    spark_session.sql(loose).createOrReplaceTempView("loose")
    table = EngineTable(spark_backend.table("loose"), spark_backend)
    assert counts(table) == counts(table, Limits(per_group=1)) == {"a": 1, "A": 1}


@pytest.mark.parametrize("place", ["unit", "groups"])
def test_columns_whose_values_may_be_equal_and_look_different_are_refused(duckdb_backend: Any, place: str) -> None:
    import ibis

    rows = ibis.table({"who": "string", "lists": "array<int64>", "spans": "interval('s')"}, name="rows")
    for column in ("lists", "spans"):
        names: dict[str, Any] = (
            {"unit": "who", "groups": [column]} if place == "groups" else {"unit": column, "groups": []}
        )
        with pytest.raises(ParameterError, match=column):
            contributions(rows, engine=engine_named("duckdb"), totals={"n": 1}, limits=Limits(), salt="salt", **names)


def test_dates_times_and_truth_values_are_groups(backend: Any, load: Load) -> None:
    from datetime import date, datetime

    days = [date(2024, 1, 1), date(2024, 1, 2), None, date(2024, 1, 1)]
    moments = [datetime(2024, 1, 1, 12), datetime(2024, 1, 1, 12, 0, 0, 1), None, datetime(2024, 1, 1, 12)]
    table = load(backend, "days", {"unit": [1] * 4, "day": days, "at": moments, "is": [True, False, None, True]})
    query = contributions(
        table.expression,
        engine=table.engine,
        unit="unit",
        groups=["day", "at", "is"],
        totals={"n": 1},
        limits=Limits(groups=5, per_group=1),
        salt="salt",
    )
    assert [row["n"] for row in run(table, query)] == ["1", "1", "1"]


def test_what_cannot_be_meant_is_refused(duckdb_backend: Any, load: Load) -> None:
    rows = load(duckdb_backend, "rows", {"unit": [1], "place": ["a"], "value": [1]}).expression
    fine: dict[str, Any] = {"unit": "unit", "groups": ["place"], "totals": {"n": 1}, "limits": Limits(), "salt": "salt"}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"order": "random"}, "order"),
        ({"groups": "place"}, "groups"),
        ({"totals": {"n": 2}}, "'n'"),
        ({"totals": {"n": True}}, "'n'"),
        ({"totals": {"place": "value"}}, "'place'"),
        ({"bins": "place"}, "'place'"),
    ]
    contributions(rows, engine=engine_named("duckdb"), **fine)
    for change, said in wrong:
        with pytest.raises(ParameterError, match=said):
            contributions(rows, engine=engine_named("duckdb"), **(fine | change))
