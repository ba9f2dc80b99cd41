"""Every type of each engine's catalog: refused before anything is charged, or total on hostile rows in every use."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.tables.engines.hostile import ALL_OPERATIONS, answered, evaluated, expressions_on, operations

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.expressions import Column, Kind, Type

TEXTS = ["''", "'a'", "'A'", "'p500'", "'%_\\x'", "'12'", "'2024-02-30'", "'ß'", "' '"]
NUMBERS = ["'NaN'", "'Infinity'", "'-Infinity'", "0", "-1", "7"]
INFINITE = ["'infinity'", "'-infinity'", "'1970-01-01'"]
OWN_TYPES = """
create type mood as enum ('a', 'sad', 'it''s');
create type pair as (a int, b text);
create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create domain loose_text as text collate loose;
create domain inner_number as int check (value is null or value > -5);
create domain outer_number as inner_number;
create domain tags as text[];
create domain feeling as mood;
create type span as range (subtype = float8);
"""
POSTGRES: dict[str, list[str]] = {
    "boolean": ["true", "false"],
    "smallint": ["-32768", "32767", "0"],
    "integer": ["-2147483648", "2147483647", "0"],
    "bigint": ["-9223372036854775808", "9223372036854775807", "0"],
    "oid": ["0", "4294967295"],
    "real": [*NUMBERS, "3.4e38", "1e-45"],
    "double precision": [*NUMBERS, "1.7e308", "5e-324", "-5e-324"],
    "numeric": [*NUMBERS, "1e1000", "-1e-1000", "1e130000", "0.1", "9223372036854775807.5"],
    "numeric(3,5)": ["'NaN'", "0.00999", "-0.00001"],
    "numeric(5,-2)": ["'NaN'", "1234500"],
    "numeric(10,2)": ["'NaN'", "99999999.99"],
    "numeric(18,0)": ["'NaN'", "999999999999999999"],
    "numeric(38,30)": ["'NaN'", "99999999.999999999999999999999999999999"],
    "numeric(60,3)": ["'NaN'", "1e56"],
    "text": TEXTS,
    "text collate loose": TEXTS,
    'text collate "C"': TEXTS,
    "loose_text": TEXTS,
    "character varying": TEXTS,
    "varchar(4) collate loose": ["'p500'", "''"],
    "character": ["'a'", "' '"],
    "char(9)": ["'a'", "'a   '", "''"],
    "name": ["'a'", "''"],
    "mood": ["'a'", "'sad'", "'it''s'"],
    "feeling": ["'a'", "'sad'"],
    "inner_number": ["2147483647", "-4"],
    "outer_number": ["2147483647", "-4"],
    "date": [*INFINITE, "'4713-01-01 BC'", "'5874897-12-31'", "'0001-01-01'", "'9999-12-31'"],
    "timestamp without time zone": [*INFINITE, "'4713-01-01 BC'", "'294276-12-31'", "'9999-12-31 23:59:59.999999'"],
    "timestamp(0)": INFINITE,
    "timestamp with time zone": [*INFINITE, "'4713-01-01 BC'", "'294276-12-31'", "'0001-01-01 00:00:00+14'"],
    "timestamptz(3)": INFINITE,
}
ONE_OF_EACH_KIND = (
    "boolean", "bigint", "double precision", "double", "text", "varchar", "date", "timestamp without time zone",
    "timestamp",
)  # fmt: skip
"""Types that are asked of a table without rows too: what is read of a type has the kind's own from there on."""
OTHERS = ["pair", "tags", "span", "int[]", "mood[]", "text[] collate loose", "loose_text[]", "bit(3)", "money", "xml"]


@pytest.fixture(scope="module")
def connection(postgres_url: str) -> Any:
    with psycopg.connect(postgres_url, autocommit=True) as made:
        made.execute("create schema hostile")
        made.execute("set search_path = hostile, public")
        made.execute(OWN_TYPES)
        yield made
        made.execute("drop schema hostile cascade")


def catalog(connection: Any) -> set[str]:
    """Every type that a column can have, as the server spells it."""
    wanted = (
        "SELECT format_type(t.oid, NULL) FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid "
        "WHERE t.typtype <> 'p' AND (c.oid IS NULL OR c.relkind = 'c')"
        "AND t.typnamespace IN ('pg_catalog'::regnamespace, 'hostile'::regnamespace)"
    )
    found = set()
    for (kind,) in connection.execute(wanted).fetchall():
        with suppress(psycopg.errors.InvalidTableDefinition):  # made of what no column can have
            connection.execute(f"drop table if exists hostile.t; create table hostile.t (c {kind})")
            found.add(kind)
    return found


def test_the_harness_uses_every_operation_of_the_language() -> None:
    made = [each for kind in Kind for each in expressions_on(Column("c", Type(kind)))]
    assert operations(made) == ALL_OPERATIONS


def test_types_of_postgres_are_total_or_refused(postgres_url: str, connection: Any) -> None:
    others = sorted({*catalog(connection), *OTHERS} - {*POSTGRES})
    assert len(others) > 100
    columns = ", ".join(f"c{place} {kind}" for place, kind in enumerate(others))
    connection.execute(f"drop table if exists hostile.t; create table hostile.t (u text, {columns})")
    for _ in range(2):
        opened = vm.open(postgres_url, table="hostile.t", unit=vm.per_row(), budget=vm.zcdp(1))
        assert list(opened.schema) == ["u"]
        for place in range(len(others)):
            with pytest.raises(ParameterError, match="type that questions cannot use"):
                opened[f"c{place}"]
            with pytest.raises(ParameterError, match="type that questions cannot use"):
                opened.group_by(f"c{place}", keys=["a"])
        connection.execute("insert into hostile.t values ('p500')")
    for kind, values in POSTGRES.items():
        connection.execute(f"drop table hostile.t; create table hostile.t (u text, c {kind})")
        for rows in ((), values) if kind in ONE_OF_EACH_KIND else (values,):
            for place, value in enumerate(rows):
                connection.execute(f"insert into hostile.t values ('u{place}', {value}), ('u1', {value}), ('u2', NULL)")
            evaluated(postgres_url, table="hostile.t")
            assert answered(postgres_url, table="hostile.t"), kind


def test_a_money_column_is_no_oracle(postgres_url: str, connection: Any) -> None:
    connection.execute("drop table if exists hostile.pay; create table hostile.pay (u text, wage money)")
    for _ in range(2):
        table = vm.open(postgres_url, table="hostile.pay", unit=vm.per("u", rows=1), budget=vm.zcdp(1))
        with pytest.raises(ParameterError, match="'wage' has a type that questions cannot use"):
            table.agg(s=vm.sum("wage", bounds=(0, 1)))
        connection.execute("insert into hostile.pay values ('p500', 92233720368547758.07)")


def test_an_ibis_table_of_postgres_that_uses_such_a_column_is_refused(postgres_backend: Any, connection: Any) -> None:
    connection.execute("drop table if exists hostile.pay; create table hostile.pay (u text, wage money)")
    rows = postgres_backend.table("pay", database="hostile")
    with pytest.raises(ParameterError, match="cannot be read without errors on some rows, one of wage"):
        vm.open(rows.filter(rows.wage.notnull()), unit=vm.per_row(), budget=vm.zcdp(1))
    assert list(vm.open(rows, unit=vm.per_row(), budget=vm.zcdp(1)).schema) == ["u"]


def test_a_server_that_writes_dates_in_another_way_is_read_all_the_same(postgres_url: str, connection: Any) -> None:
    connection.execute("drop table if exists hostile.days; create table hostile.days (c date, m timestamptz)")
    connection.execute("insert into hostile.days values ('2024-02-29', '2024-02-29 23:30:00+00')")
    options = "options=-c%20datestyle%3DSQL%2CDMY%20-c%20timezone%3DAsia%2FTokyo"
    table = vm.open(f"{postgres_url}&{options}", table="hostile.days", unit=vm.per_row(), budget=vm.zcdp(10**12))
    texts = table.derive(t=table["c"].cast("text"), d=table["m"].cast("date").cast("text"))
    same = texts.filter((texts["t"] == "2024-02-29") & (texts["d"] == "2024-02-29")).agg(n=vm.count())
    assert same.release(spend=vm.zcdp(10**9))["n"].value.tolist() == [1]


DUCKDB: dict[str, list[str]] = {
    "BOOLEAN": ["true", "false"],
    **{
        f"{sign}{name}": [f"{low}", f"{high}", "0"]
        for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64))
        for sign, low, high in (("", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1), ("U", 0, 2**bits - 1))
    },
    "HUGEINT": [f"'{-(2**127)}'", f"'{2**127 - 1}'", "0"],
    "FLOAT": [*NUMBERS, "3.4e38", "1e-45"],
    "DOUBLE": [*NUMBERS, "1.7e308", "5e-324"],
    "DECIMAL(18,3)": ["999999999999999.999", "0"],
    "DECIMAL(18,0)": ["999999999999999999"],
    "DECIMAL(38,0)": ["'" + "9" * 38 + "'"],
    "DECIMAL(38,38)": ["'0." + "9" * 38 + "'"],
    "VARCHAR": [*TEXTS, "chr(0)", "'a' || chr(0)"],
    "VARCHAR COLLATE NOCASE": TEXTS,
    "ENUM('a', 'b''s')": ["'a'", "'b''s'"],
    "DATE": [*INFINITE, "'5877642-06-25 (BC)'", "'5881580-07-10'", "'0001-01-01'", "'9999-12-31'"],
    "TIMESTAMP": [*INFINITE, "'290309-12-22 (BC) 00:00:00'", "'294247-01-10 04:00:54'", "'9999-12-31 23:59:59.999999'"],
    "TIMESTAMP_S": [*INFINITE, "'294247-01-10 04:00:54'", "'9999-12-31 23:59:59'"],
    "TIMESTAMP_MS": [*INFINITE, "'294247-01-10 04:00:54'"],
    "TIMESTAMP_NS": [*INFINITE, "'1677-09-22 00:00:00'", "'2262-04-11 23:00:00'"],
    "TIMESTAMP WITH TIME ZONE": [*INFINITE, "'290309-12-22 (BC) 00:00:00+00'", "'294247-01-10 04:00:54+00'"],
    "TIMESTAMPTZ_NS": [*INFINITE, "'2262-04-11 23:00:00+00'"],
    "NULL": ["NULL"],
}
NOT_OF_DUCKDB = [
    "UHUGEINT", "BIGNUM", "BIT", "BLOB", "INTERVAL", "TIME", "TIME_NS", "TIMETZ", "UUID", "JSON", "VARIANT",
    "INTEGER[]", "VARCHAR[3]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "UNION(a INTEGER, b VARCHAR)", "GEOMETRY",
]  # fmt: skip
UNNAMED = {"ARRAY", "LIST", "STRUCT", "MAP", "UNION", "DECIMAL", "ENUM", "TUPLE", "TYPE", "TIME WITH TIME ZONE"}
"""Types of the catalog that are named by their parts above, or of which no column can be."""


def test_types_of_duckdb_are_total_or_refused(tmp_path: Path) -> None:
    import duckdb
    import ibis

    connection = ibis.duckdb.connect()
    found = {row[0] for row in connection.con.execute("SELECT logical_type FROM duckdb_types()").fetchall()}
    assert found <= {*DUCKDB, *NOT_OF_DUCKDB, *UNNAMED}
    columns = ", ".join(f"c{place} {kind}" for place, kind in enumerate(NOT_OF_DUCKDB))
    path = str(tmp_path / "t.duckdb")
    with duckdb.connect(path) as made:
        made.execute(f"create table t (u varchar, {columns})")
    opened = vm.open(path, table="t", unit=vm.per_row(), budget=vm.zcdp(1))
    assert list(opened.schema) == ["u"]
    for place in range(len(NOT_OF_DUCKDB)):
        with pytest.raises(ParameterError, match="type that questions cannot use"):
            opened[f"c{place}"]
    for kind, values in DUCKDB.items():
        for rows in ((), values) if kind.lower() in ONE_OF_EACH_KIND else (values,):
            columns = f"(u varchar, c {kind})" if kind != "NULL" else "as select 'u1' as u, NULL as c"
            connection.raw_sql(f"create or replace table t {columns}")
            for place, value in enumerate(rows):
                connection.raw_sql(f"insert into t values ('u{place}', {value}), ('u1', {value}), ('u2', NULL)")
            evaluated(connection.table("t"))
            assert answered(connection.table("t")), kind


SPARK: dict[str, list[str]] = {
    "boolean": ["true", "false"],
    "tinyint": ["-128", "127"],
    "smallint": ["-32768", "32767"],
    "int": ["-2147483648", "2147483647"],
    "bigint": ["-9223372036854775808", "9223372036854775807"],
    "float": ["'NaN'", "'Infinity'", "'-Infinity'", "3.4e38"],
    "double": ["'NaN'", "'Infinity'", "'-Infinity'", "1.7e308", "5e-324"],
    "decimal(10,2)": ["99999999.99"],
    "decimal(18,0)": ["999999999999999999"],
    "decimal(38,30)": ["99999999.9"],
    "string": ["''", "'a'", "'p500'", "'12'"],
    "string collate unicode_ci": ["''", "'a'", "'A'"],
    "date": ["'0001-01-01'", "'9999-12-31'", "'1582-10-10'"],
    "timestamp": ["'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'", "'+294247-01-10 00:00:00'"],
    "timestamp_ntz": ["'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'"],
}
NOT_OF_SPARK = ["binary", "array<int>", "map<string, int>", "struct<a: int>"]


def test_types_of_spark_are_total_or_refused(spark_session: Any) -> None:
    from tests.tables.engines.hostile import LOUD

    columns = ", ".join(f"cast(null as {kind}) as c{place}" for place, kind in enumerate(NOT_OF_SPARK))
    opened = vm.open(spark_session.sql(f"select 'p500' as u, {columns}"), unit=vm.per_row(), budget=vm.zcdp(1))
    assert list(opened.schema) == ["u"]
    for place in range(len(NOT_OF_SPARK)):
        with pytest.raises(ParameterError, match="type that questions cannot use"):
            opened[f"c{place}"]
    for value in ("cast(null as interval day to second)", "parse_json('1')"):
        with pytest.raises(ParameterError, match="a type that Ibis does not know"):
            vm.open(spark_session.sql(f"select {value} as c"), unit=vm.per_row(), budget=vm.zcdp(1))
    # In one table, since Spark takes long for each.
    rows = max(map(len, SPARK.values()))
    texts = [
        ", ".join(
            f"cast({values[row] if row < len(values) else 'null'} as {kind}) as c{place}"
            for place, (kind, values) in enumerate(SPARK.items())
        )
        for row in range(rows)
    ]
    frame = spark_session.sql(" union all ".join(f"select 'u{row}' as u, {text}" for row, text in enumerate(texts)))
    table = vm.open(frame, unit=vm.per("u", groups=2, per_group=1), budget=vm.zcdp(10**12))
    assert list(table.schema) == ["u", *(f"c{place}" for place in range(len(SPARK)))]
    for name in list(table.schema)[1:]:
        evaluated(frame, name)
    texts_alike = table.group_by(f"c{list(SPARK).index('string collate unicode_ci')}", keys=["a", "A"]).agg(
        n=vm.count()
    )
    assert texts_alike.release(spend=LOUD)["n"].value.tolist() == [1, 1]
