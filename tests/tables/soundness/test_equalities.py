"""What an engine takes for the same: joins, keys and units as rows on an engine are, not as Python's values are."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from tests.tables.soundness.asked import SALT

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.contributing import contributing
from viameter.tables.engines import EngineTable

Load = Callable[[Any, str, Any], EngineTable]
BUDGET = vm.pure(1)
NEW_YORK = ZoneInfo("America/New_York")
TWICE = datetime(2024, 11, 3, 1, 30, tzinfo=NEW_YORK)  # a time that clocks there show twice
SAME = datetime(2024, 11, 3, 5, 30, tzinfo=UTC)
NEVER, LATER = datetime(2024, 3, 10, 2, 30), datetime(2024, 3, 10, 3, 30)  # the first is skipped there


@pytest.fixture(autouse=True)
def one_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which rows are kept is the same each time."""
    monkeypatch.setattr("viameter.tables.collecting.fresh_salt", lambda: SALT)


def found(asked: Any) -> dict[str, list[int]]:
    """The exact integers of a question by the name of the statistic, none beyond what one unit may add."""
    statistics = list(dict.fromkeys(one for reading in asked.plan.readings.values() for one in reading.statistics))
    arrays = asked.plan.collecting(asked.plan.relation.rows(), statistics)
    return {repr(one): array.tolist() for one, array in zip(statistics, arrays, strict=True)}


def assert_of_one_unit(asked: Any) -> None:
    """All rows are of one unit: without it everything is 0, and so all numbers are within bounds."""
    statistics = [one for reading in asked.plan.readings.values() for one in reading.statistics]
    for statistic in statistics:
        bound = contributing(asked.plan.relation, statistic, asked.plan.collecting, vm.L1Distance()).map(1)
        assert 0 < sum(found(asked)[repr(statistic)]) <= bound


def test_moments_of_a_public_table_that_are_the_same_in_two_zones_count_as_two_matches() -> None:
    assert TWICE != SAME, "Python does not take them for the same"
    rows = vm.open(pa.table({"k": pa.array([SAME], pa.timestamp("us", tz="UTC"))}), unit=vm.per_row(), budget=BUDGET)
    joined = rows.join(vm.public({"k": [SAME, TWICE], "z": [1, 2]}), on="k")
    assert joined.relation.fanout == 2
    assert_of_one_unit(joined.agg(rows=vm.count(), units=vm.count_units()))


@pytest.fixture
def in_new_york() -> Any:
    """An engine whose clock is that of New York, with one moment that has a zone."""
    import ibis

    connection = ibis.duckdb.connect()
    connection.con.execute("SET TimeZone = 'America/New_York'")
    connection.con.execute("CREATE TABLE moments AS SELECT '2024-03-10 07:30:00+00'::TIMESTAMPTZ AS k, 1 AS n")
    return connection.table("moments")


def test_a_clock_that_skips_an_hour_gives_no_row_two_matches_or_two_groups(in_new_york: Any) -> None:
    rows = vm.open(in_new_york, unit=vm.per_row(), budget=BUDGET)
    # Moments with a zone are read in UTC, whatever the clock of the engine says.
    in_utc = datetime(2024, 3, 10, 7, 30)
    public = vm.public({"k": [NEVER, LATER, in_utc], "z": [1, 2, 3]})
    assert_of_one_unit(rows.join(public, on="k").agg(rows=vm.count()))
    assert found(rows.group_by("k", keys=[LATER, in_utc]).agg(rows=vm.count())) == {"rows": [0, 1]}
    assert_of_one_unit(rows.group_by("k", keys=[NEVER, LATER], other=True).agg(rows=vm.count()))
    pairs = rows.group_by("k", "n", keys=[(NEVER, 1), (LATER, 1)], other=True)
    assert_of_one_unit(pairs.agg(rows=vm.count(), units=vm.count_units()))


def test_decimals_of_a_public_table_are_compared_as_numbers_or_not_at_all() -> None:
    public = vm.public({"k": [Decimal("0.1"), Decimal("0.10000000000000000001"), Fraction(1, 10)], "z": [1, 2, 3]})
    assert public.most_matches(("k",)) == 3


def test_keys_that_are_moments_with_a_zone_are_found(backend: Any, load: Load) -> None:
    moments = [SAME, SAME, SAME.replace(microsecond=1), None]
    table = load(backend, "zoned", pa.table({"k": pa.array(moments, pa.timestamp("us", tz="UTC")), "n": [1] * 4}))
    rows = vm.open(table.expression, unit=vm.per_row(), budget=BUDGET)
    naive = SAME.replace(tzinfo=None)
    assert found(rows.group_by("k", keys=[naive, None], other=True).agg(rows=vm.count())) == {"rows": [2, 1, 1]}
    assert found(rows.group_by("k", "n", keys=[(TWICE, 1)], other=True).agg(rows=vm.count())) == {"rows": [2, 2]}


TEXTS = [
    "\f",
    "f",
    "\v",
    "\a",
    "a",
    "\b",
    "\x1a",
    "\x7f",
    "\n",
    "\r",
    "\t",
    "\\",
    "\\n",
    "'",
    '"',
    "`",
    "🦆",
    "%",
    "",
    "NULL",
]


def test_every_text_is_a_key_and_a_unit(backend: Any, load: Load) -> None:
    columns = {"k": [*TEXTS, *TEXTS, None], "n": [1] * (2 * len(TEXTS) + 1)}
    rows = vm.open(load(backend, "texts", columns).expression, unit=vm.per("k", rows=1), budget=BUDGET)
    counted = found(
        rows.group_by("k", keys=[*TEXTS[:-1], None], other=True).agg(rows=vm.count(), units=vm.count_units())
    )
    assert counted["rows"] == counted["units"] == [*[1] * (len(TEXTS) - 1), 0, 1]
    plain = [text for text in TEXTS if text.isprintable()]
    assert found(rows.group_by("k", keys=plain).agg(rows=vm.count())) == {"rows": [1] * len(plain)}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int8(), [-3, -3, 5, None]),
        (pa.decimal128(18, 0), [Decimal(-3), Decimal(-3), Decimal(5), None]),
        (pa.string(), ["-3", "-3", "5", None]),
    ],
)
def test_units_are_told_apart_whatever_their_type(backend: Any, load: Load, kind: Any, values: list[Any]) -> None:
    table = load(backend, "typed", pa.table({"u": pa.array(values, kind), "x": [1, 2, 4, 8]})).expression
    rows = vm.open(table, unit=vm.per("u", rows=1), budget=BUDGET, order="portable")
    assert found(rows.agg(rows=vm.count(), units=vm.count_units())) == {"rows": [2], "units": [2]}
    key = values[2]
    grouped = rows.group_by("u", keys=[int(key) if isinstance(key, Decimal) else key], other=True)
    assert found(grouped.agg(rows=vm.count())) == {"rows": [1, 1]}
    assert sum(found(rows.sample("1/2").agg(rows=vm.count()))["rows"]) <= 2


def test_numbers_beyond_64_bits_are_units_too(duckdb_backend: Any, load: Load) -> None:
    values = pa.array([2**64 - 1, 2**64 - 1, 2**64 - 2, 0], pa.uint64())
    table = load(duckdb_backend, "unsigned", pa.table({"u": values})).expression
    for order in ("native", "portable"):
        rows = vm.open(table, unit=vm.per("u", rows=1), budget=BUDGET, order=order)
        assert found(rows.agg(rows=vm.count(), units=vm.count_units())) == {"rows": [3], "units": [3]}


def test_tuples_of_keys_with_nothing_but_null_in_a_column(backend: Any, load: Load) -> None:
    columns = {"k": ["a", "a", "b"], "d": pa.array([None, date(2024, 1, 1), None], pa.date32()), "n": [1, 2, None]}
    rows = vm.open(load(backend, "nulls", pa.table(columns)).expression, unit=vm.per_row(), budget=BUDGET)
    asked = rows.group_by("k", "d", "n", keys=[("a", None, 1), ("b", None, None)], other=True)
    assert found(asked.agg(rows=vm.count())) == {"rows": [1, 1, 1]}


@pytest.mark.parametrize("name", ["viameter_unit", "VIAMETER_UNIT", "Viameter_listed"])
def test_names_of_the_librarys_own_columns_are_refused_however_they_are_written(name: str) -> None:
    unit = vm.per("u", rows=1)
    with pytest.raises(ParameterError, match="viameter_"):
        vm.open({"u": ["a"], name: ["b"]}, unit=unit, budget=BUDGET)
    rows = vm.open({"u": ["a"], "k": ["b"]}, unit=unit, budget=BUDGET)
    with pytest.raises(ParameterError, match="viameter_"):
        rows.derive(**{name: rows["k"]})
    with pytest.raises(ParameterError, match="viameter_"):
        rows.join(vm.public({"k": ["b"], name: ["c"]}), on="k")


def test_names_that_differ_in_capitals_alone_are_refused() -> None:
    # DuckDB and Spark would read the one for the other: text for a number, and fail on rows that are none.
    columns = {"u": ["p", "p"], "s": ["a", "7"]}
    rows = vm.open(columns, unit=vm.per("u", rows=2), budget=BUDGET)
    with pytest.raises(ParameterError, match="'s' and 'S' differ in capitals alone"):
        rows.derive(S=rows["s"].length())
    with pytest.raises(ParameterError, match="'T' and 't' differ in capitals alone"):
        rows.derive(t=rows["s"].length(), T=rows["s"])
    with pytest.raises(ParameterError, match="'s' and 'S' differ in capitals alone"):
        rows.join(vm.public({"u": ["p"], "S": [1]}), on="u")
    other = {"u": ["p"], "S": [1]}
    both: dict[str, dict[str, Any]] = {"one": columns, "two": other}
    tables = vm.open(both, unit=vm.per("u", rows=2), budget=BUDGET)
    with pytest.raises(ParameterError, match="'s' and 'S' differ in capitals alone"):
        tables["one"].join(tables["two"])
    assert "s" in rows.derive(s=rows["s"].length()).schema
