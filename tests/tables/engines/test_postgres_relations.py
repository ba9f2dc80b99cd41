"""Relations of PostgreSQL of every kind: what this user cannot read is refused when it is opened, and not later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

import viameter as vm
from viameter.errors import ParameterError

ROWS = 7
SETUP = """
CREATE TABLE plain (k text, n int, secret int, m money, t text[]);
INSERT INTO plain SELECT 'k' || n, n, n, n, ARRAY['a'] FROM generate_series(1, 7) n;
CREATE TABLE parts (k text, n int) PARTITION BY RANGE (n);
CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (100);
INSERT INTO parts SELECT k, n FROM plain;
CREATE VIEW seen AS SELECT k, n FROM plain;
CREATE MATERIALIZED VIEW kept AS SELECT k, n FROM plain;
CREATE EXTENSION postgres_fdw;
CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{host}', dbname '{name}');
CREATE SERVER down FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere', dbname '{name}');
CREATE USER MAPPING FOR PUBLIC SERVER here OPTIONS (user 'postgres', password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER down OPTIONS (user 'postgres', password_required 'false');
CREATE FOREIGN TABLE far (k text, n int) SERVER here OPTIONS (table_name 'plain');

CREATE TABLE closed (k text, n int);
CREATE TABLE some_columns (k text, n int, secret int);
INSERT INTO some_columns SELECT k, n, secret FROM plain;
GRANT SELECT (k, n) ON some_columns TO reader;
CREATE TABLE no_columns (m money, t text[]);
CREATE VIEW of_closed AS SELECT * FROM closed;
ALTER VIEW of_closed OWNER TO other;
CREATE VIEW invoking WITH (security_invoker = true) AS SELECT * FROM closed;
CREATE MATERIALIZED VIEW empty AS SELECT k, n FROM plain WITH NO DATA;
CREATE FOREIGN TABLE far_down (k text, n int) SERVER down OPTIONS (table_name 'plain');
CREATE FOREIGN TABLE far_gone (k text, n int) SERVER here OPTIONS (table_name 'gone');
CREATE FOREIGN TABLE far_other (k text, zzz int) SERVER here OPTIONS (table_name 'plain');
CREATE VIEW of_far_down AS SELECT * FROM far_down;
CREATE TABLE rows_hidden (k text, n int);
ALTER TABLE rows_hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY fails ON rows_hidden USING (current_setting('app.tenant') = k);
CREATE SCHEMA hidden;
CREATE TABLE hidden.rows (k text, n int);
"""
READABLE = ["plain", "parts", "part", "seen", "kept", "far"]
REFUSED = {
    "closed": "cannot be read|no column that",
    "no_columns": "no column that questions can use",
    "of_closed": "cannot be read",
    "invoking": "cannot be read",
    "empty": "cannot be read",
    "far_down": "cannot be read",
    "far_gone": "cannot be read",
    "far_other": "cannot be read",
    "of_far_down": "cannot be read",
    "rows_hidden": "row-level security",
    "hidden.rows": "cannot be read",
}


@pytest.fixture(scope="module")
def reader(postgres_url: str) -> Iterator[str]:
    """The URL by which somebody reads a database who may not read all of it."""
    name = "relations"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("CREATE ROLE other")
        host = connection.info.host
    own = postgres_url.replace("/postgres?", f"/{name}?")
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute(SETUP.format(host=host, name=name))
        granted = [*READABLE, *(set(REFUSED) - {"closed", "hidden.rows"})]
        connection.execute(f"GRANT SELECT ON {', '.join(granted)} TO reader")
    yield own.replace("postgres@", "reader@", 1)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute("DROP ROLE reader")
        connection.execute("DROP ROLE other")


def opened(url: str, table: str, **options: Any) -> Any:
    """A table of which each row is somebody's."""
    return vm.open(url, table=table, unit=vm.per_row(), budget=vm.pure(1000), **options)


def count(table: Any) -> int:
    """How many rows it has, by a question that is charged."""
    answer = table.filter(table["n"] > 0).agg(n=vm.count()).release(spend=vm.pure(100))
    return int(answer["n"].value[0])


@pytest.mark.parametrize("relation", READABLE)
def test_every_kind_of_relation_that_can_be_read_is_asked(reader: str, relation: str) -> None:
    assert count(opened(reader, relation)) == ROWS


@pytest.mark.parametrize("relation", REFUSED)
def test_what_cannot_be_read_is_refused_when_it_is_opened(reader: str, relation: str) -> None:
    with pytest.raises(ParameterError, match=REFUSED[relation]) as refused:
        opened(reader, relation)
    assert "nowhere" not in str(refused.value) and "app.tenant" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None or refused.value.__suppress_context__


def test_columns_that_this_user_may_not_read_are_left_out(reader: str) -> None:
    table = opened(reader, "some_columns")
    assert (list(table.schema), table.schema.unusable) == (["k", "n"], ("secret",))
    assert count(table) == ROWS
    with pytest.raises(ParameterError, match="secret"):
        vm.open(reader, table="some_columns", unit=vm.per("secret", rows=1), budget=vm.pure(1))
    # Types that cannot be read are left out in the same way.
    assert set(opened(reader, "plain").schema.unusable) == {"m", "t"}


def test_a_user_whom_no_policy_applies_to_reads_all_rows(reader: str) -> None:
    owner = reader.replace("reader@", "postgres@", 1)
    assert list(opened(owner, "rows_hidden").schema) == ["k", "n"]
