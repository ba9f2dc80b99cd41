"""The same rows have one budget, by whatever name, address or link they are asked for, now or after a restart."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import duckdb
import psycopg
import pytest
from tests.service.datasets.registrations import BODY, opened, refuse, register
from tests.service.serving import make_folder

from viameter.errors import ParameterError
from viameter.service.service import Service
from viameter.tables.engines import engine_named

LONG = "v" * 63


# Files.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a service, with two years of rows and a link to the first."""
    files = tmp_path / "service" / "data"
    make_folder(files)
    for year in (2024, 2025):
        (files / f"{year}.csv").write_text(f"year,wage\n{year},1\n")
    (files / "latest.csv").symlink_to(files / "2024.csv")
    return files.parent


def move(folder: Path, link: str, target: str) -> None:
    """Point a link at another file."""
    (folder / "data" / link).unlink()
    (folder / "data" / link).symlink_to(folder / "data" / target)


def test_a_link_that_moved_is_another_dataset(folder: Path) -> None:
    with opened(folder) as service:
        register(service, "latest", "latest.csv")
    with opened(folder) as service:
        assert list(service.catalog.opened("latest").table.schema) == ["year", "wage"]
    move(folder, "latest.csv", "2025.csv")
    with opened(folder) as service:
        with pytest.raises(ParameterError, match=r"dataset 'latest' are in another place .* as a new dataset") as moved:
            service.catalog.opened("latest")
        assert str(folder) not in str(moved.value) and "2025" not in str(moved.value)
        with pytest.raises(ParameterError, match="another place"):
            service.catalog.asked_by("latest", "ann")
        # Its new rows were in no dataset, and its old ones are in it still.
        register(service, "new", "2025.csv")
        assert "'latest'" in refuse(service, "old", "2024.csv")
    move(folder, "latest.csv", "2024.csv")
    with opened(folder) as service:
        assert service.catalog.opened("latest").registered.place.endswith("2024.csv#")
        assert service.catalog.opened("new").table is not None


def test_a_link_that_moved_before_there_was_a_budget_gets_none(folder: Path) -> None:
    document = {**BODY, "source": "files", "table": "latest.csv"}
    with opened(folder) as service:
        settled = {key: value for key, value in document.items() if key != "budget"}
        # As if it was cut off between its name and its budget.
        service.state.add_dataset("latest", settled, place=f"{(folder / 'data' / '2024.csv').resolve()}#", by="ann")
        move(folder, "latest.csv", "2025.csv")
        with pytest.raises(ParameterError, match="another place"):
            service.catalog.register("latest", document, by="ann")
        assert not service.catalog.has_budget("latest")
        move(folder, "latest.csv", "2024.csv")
        service.catalog.register("latest", document, by="ann")
        assert service.catalog.has_budget("latest")


def refuse_to_open(service: Service, name: str, other: str, caplog: pytest.LogCaptureFixture) -> None:
    """See that a dataset is not opened since another has its rows: the log alone says which."""
    caplog.clear()
    with pytest.raises(ParameterError, match=f"'{name}' may be in another dataset too") as refused:
        service.catalog.opened(name)
    assert repr(other) not in str(refused.value)
    assert f"registered as {other!r}" in str([vars(record) for record in caplog.records])


def test_a_file_that_became_a_link_to_another_is_not_opened(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(folder) as service:
        register(service, "old", "2024.csv")
        register(service, "new", "2025.csv")
    files = folder / "data"
    (files / "2025.csv").unlink()
    os.link(files / "2024.csv", files / "2025.csv")
    with opened(folder) as service:
        refuse_to_open(service, "new", "old", caplog)


def test_a_second_link_is_refused_whatever_became_of_the_first_name(folder: Path) -> None:
    with opened(folder) as service:
        register(service, "latest", "latest.csv")
        move(folder, "latest.csv", "2025.csv")
        os.link(folder / "data" / "2024.csv", folder / "data" / "hard.csv")
        assert "'latest'" in refuse(service, "hard", "hard.csv")
    # The source of the first is not in the configuration any more.
    with opened(folder, sources={"others": {"folder": "data"}}) as service:
        assert "'latest'" in refuse(service, "hard", "hard.csv", "others")


def write(path: Path, *statements: str) -> None:
    """Change a database file, by a copy that takes its place: engines that have it open keep the old one."""
    changed = path.with_suffix(".new")
    if path.exists():
        shutil.copy(path, changed)
    with duckdb.connect(str(changed)) as database:
        for statement in statements:
            database.execute(statement)
    changed.replace(path)


def partners(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """For each that is in a pair the others: pairs in both orders, by the first."""
    both = [*pairs, *(pair[::-1] for pair in pairs)]
    return {first: [second for one, second in both if one == first] for first, _ in both}


def test_views_of_a_database_file_and_what_they_read_have_one_budget(folder: Path) -> None:
    path = folder / "data" / "air.duckdb"
    write(
        path,
        "CREATE TABLE t (wage int)", "CREATE TABLE u (wage int)", "CREATE SCHEMA s", "CREATE TABLE s.x (wage int)",
        "CREATE VIEW v AS SELECT wage FROM T", "CREATE VIEW s.W AS SELECT wage FROM main.v WHERE wage > 1",
        "CREATE VIEW by_with AS WITH q AS (SELECT * FROM t) SELECT wage FROM q",
        "CREATE VIEW by_union AS SELECT wage FROM u UNION ALL SELECT wage FROM s.x",
        "CREATE VIEW inside AS SELECT wage FROM u WHERE wage IN (SELECT wage FROM t)",
        "CREATE VIEW by_query AS SELECT wage FROM query('SELECT * FROM t')",
        "CREATE VIEW by_name AS SELECT wage FROM query_table('t')",
        "CREATE VIEW turned AS PIVOT t ON wage IN (1, 2) USING count(*)",
        "CREATE VIEW made AS SELECT range AS n FROM range(9)",
    )  # fmt: skip
    share = [("t", "v"), ("t", "s.W"), ("v", "S.w"), ("t", "by_with"), ("by_with", "v"), ("by_union", "u"),
             ("by_union", "s.x"), ("inside", "t"), ("inside", "u"), ("inside", "v"), ("by_query", "t"),
             ("by_name", "t"), ("turned", "t")]  # fmt: skip
    apart = [("made", "t"), ("t", "u"), ("v", "u"), ("s.x", "v"), ("by_union", "v")]

    def check(pairs: list[tuple[str, str]], *, are_shared: bool) -> None:
        with opened(folder) as service:
            for first, others in partners(pairs).items():
                register(service, "first", f"air.duckdb#{first}")
                for second in others:
                    if are_shared:
                        assert "'first'" in refuse(service, "second", f"air.duckdb#{second}"), (first, second)
                    else:
                        register(service, "next", f"air.duckdb#{second}")
                        service.state.drop_dataset("next", by="x")
                if are_shared and first in ("t", "v"):
                    os.link(path, path.with_name("linked.duckdb"))
                    assert "'first'" in refuse(service, "second", f"linked.duckdb#{others[0]}"), (first, others[0])
                    path.with_name("linked.duckdb").unlink()
                service.state.drop_dataset("first", by="x")
                service.catalog._opened.clear()

    check(share, are_shared=True)
    check(apart, are_shared=False)
    # With macros, what a view reads is not told by its text.
    write(path, "CREATE MACRO m() AS TABLE SELECT wage FROM t", "CREATE VIEW by_macro AS SELECT wage FROM m()")
    check([("by_macro", "t"), ("by_macro", "u")], are_shared=True)
    check([("t", "u")], are_shared=False)


def test_a_view_that_was_written_over_a_registered_table_is_not_opened(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = folder / "data" / "air.duckdb"
    write(path, "CREATE TABLE t (wage int)", "CREATE VIEW v AS SELECT 1 AS wage")
    with opened(folder) as service:
        register(service, "table", "air.duckdb#t")
        register(service, "view", "air.duckdb#v")
    write(path, "CREATE OR REPLACE VIEW v AS SELECT wage FROM t")
    with opened(folder) as service:
        for name, other in (("table", "view"), ("view", "table")):
            refuse_to_open(service, name, other, caplog)


def test_a_database_file_that_reads_other_files_is_not_registered(folder: Path) -> None:
    outside = folder / "outside.csv"
    outside.write_text("wage\n1\n2\n")
    write(folder / "data" / "air.duckdb", f"CREATE VIEW v AS SELECT * FROM read_csv('{outside}')")
    with opened(folder) as service:
        said = refuse(service, "v", "air.duckdb#v")
        assert "reads other files" in said and str(folder) not in said
        for table in ("", ".", "*.csv", "20?4.csv", "../outside.csv", "sub"):
            (folder / "data" / "sub").mkdir(exist_ok=True)
            refuse(service, "v", table)


# PostgreSQL.


@dataclass(frozen=True)
class Air:
    """A service, and the sources by which its one database is reached: other users, other addresses."""

    service: Service
    sources: dict[str, Any]
    folder: Path


@pytest.fixture(scope="module")
def databases(server: str) -> str:
    """The URL of the server with a database "air", and with one "sea" of the same tables; no test changes them."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE ROLE bob LOGIN")
    for database in ("air", "sea"):
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {database}")
        with psycopg.connect(server.replace("/postgres?", f"/{database}?"), autocommit=True) as connection:
            connection.execute("CREATE SCHEMA other")
            for table in ("visits", "other.visits", LONG, '"a.b"'):
                connection.execute(f"CREATE TABLE {table} AS SELECT 1 AS wage")
            connection.execute(RELATIONS)
            connection.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
            connection.execute("GRANT USAGE ON SCHEMA other TO PUBLIC")
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public, other TO PUBLIC")
    return server


@pytest.fixture
def air(databases: str, tmp_path: Path) -> Iterator[Air]:
    """A service over the database "air", and over "sea"."""
    made = tmp_path / "service"
    make_folder(made / "data")
    start, _, host = databases.partition("/postgres?host=")
    elsewhere = f"{host}{quote('/.', safe='')}"
    assert elsewhere != host
    addresses = {
        "air": f"{start}/air?host={host}",
        "again": f"{start}/air?host={elsewhere}",
        "bob": f"postgresql://bob@/air?host={host}",
        "far": f"postgresql://bob@/air?host={elsewhere}",
        "sea": f"{start}/sea?host={host}",
    }
    sources = {"files": {"folder": "data"}, **{name: {"url": url} for name, url in addresses.items()}}
    with opened(made, sources=sources) as service:
        yield Air(service, sources, made)


def test_a_table_of_postgres_has_one_budget_by_whatever_name(air: Air) -> None:
    # A server of another number is another one, for all that is called the same there.
    air.service.state.add_dataset("elsewhere", {}, place="postgresql system 1/air#public.visits", by="ann")
    register(air.service, "visits", "visits", "air")
    assert "registered as 'visits'" in refuse(air.service, "second", "visits", "again")
    air.service.state.drop_dataset("elsewhere", by="ann")
    for source in ("air", "again", "bob", "far"):
        for table in ("visits", "public.visits"):
            assert "'visits'" in refuse(air.service, "second", table, source), (source, table)
        for table in ("air.public.visits", "air.other.visits", '"public".visits', "public.VISITS", "x.y.z.visits"):
            assert "registered as" not in refuse(air.service, "second", table, source), (source, table)
    # Others have one of their own.
    register(air.service, "other", "other.visits", "again")
    register(air.service, "sea", "visits", "sea")
    with opened(air.folder, sources=air.sources) as restarted:
        assert [len(restarted.catalog.opened(name).table.schema) for name in ("visits", "other", "sea")] == [1, 1, 1]


def test_a_name_that_postgres_cuts_is_refused(air: Air) -> None:
    for table in (f"{LONG}x", f"public.{LONG}xyz"):
        assert "expected" in refuse(air.service, "first", table, "air")
    register(air.service, "long", LONG, "air")
    for table in (f"{LONG}x", f"public.{LONG}xyz"):
        refuse(air.service, "second", table, "air")


@pytest.mark.parametrize("first", ["bob", "far"])
def test_a_server_that_does_not_say_which_it_is_may_be_another(air: Air, first: str) -> None:
    register(air.service, "visits", "visits", first)
    place = air.service.catalog.opened("visits").registered.place
    assert place.endswith(":5432/air#public.visits"), "bob may not ask for the number of the server"
    for source in ("air", "again", "bob", "far"):
        assert "'visits'" in refuse(air.service, "second", "visits", source), source
    register(air.service, "other", "other.visits", first)
    # The connection is of use after what was refused, and so is the dataset after a restart.
    rows: Any = air.service.catalog.opened("visits").table.session.source
    assert rows.on.backend.con.execute("SELECT wage FROM visits").fetchone() == (1,)
    with opened(air.folder, sources=air.sources) as restarted:
        assert list(restarted.catalog.opened("visits").table.schema) == ["wage"]
    # Who may ask for it now finds the dataset that was registered before.
    with opened(air.folder, sources={**air.sources, first: air.sources["air" if first == "bob" else "again"]}) as later:
        assert list(later.catalog.opened("visits").table.schema) == ["wage"]


def test_a_source_that_is_another_database_now_is_not_asked(air: Air) -> None:
    register(air.service, "visits", "visits", "air")
    with opened(air.folder, sources={**air.sources, "air": air.sources["sea"]}) as restarted:
        with pytest.raises(ParameterError, match="another place"):
            restarted.catalog.opened("visits")
        register(restarted, "sea", "visits", "air")


RELATIONS = """
CREATE TABLE parent (wage int);
CREATE TABLE heir (more int) INHERITS (parent);
CREATE TABLE grandheir () INHERITS (heir);
CREATE TABLE parts (wage int) PARTITION BY RANGE (wage);
CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE high PARTITION OF parts FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (wage);
CREATE TABLE highest PARTITION OF high FOR VALUES FROM (15) TO (20);
CREATE TABLE base (wage int);
CREATE VIEW seen AS SELECT wage FROM base;
CREATE VIEW "Seen again" AS SELECT wage FROM seen WHERE wage > 3;
CREATE MATERIALIZED VIEW kept AS SELECT wage FROM base;
CREATE VIEW low_seen AS SELECT wage FROM low;
CREATE FUNCTION wages() RETURNS SETOF base LANGUAGE sql BEGIN ATOMIC SELECT wage FROM base; END;
CREATE VIEW by_function AS SELECT wage FROM wages();
CREATE TABLE alone (wage int);
CREATE VIEW of_alone AS SELECT wage FROM alone;
CREATE FUNCTION told() RETURNS TABLE (wage int) LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT 1; END';
CREATE VIEW told_once AS SELECT wage FROM told();
CREATE VIEW told_twice AS SELECT wage FROM told();
CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 2 * n; END';
CREATE FUNCTION most() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT max(wage) FROM base; END;
CREATE VIEW base_twice AS SELECT twice(wage) AS wage FROM base;
CREATE VIEW alone_twice AS SELECT twice(wage) AS wage FROM alone;
CREATE VIEW beside_most AS SELECT wage, most() AS top FROM alone;
CREATE RULE logs AS ON INSERT TO alone DO ALSO INSERT INTO base VALUES (1);
"""
SHARE = [
    ("parent", "heir"), ("parent", "grandheir"), ("heir", "grandheir"), ("parts", "low"), ("parts", "highest"),
    ("parts", "high"), ("high", "highest"), ("base", "seen"), ("base", "Seen again"), ("seen", "Seen again"),
    ("base", "kept"), ("kept", "seen"), ("kept", "Seen again"), ("parts", "low_seen"), ("low", "low_seen"),
    ("base", "by_function"), ("seen", "by_function"), ("alone", "of_alone"),
    ("told_once", "told_twice"), ("base", "base_twice"), ("base_twice", "seen"), ("beside_most", "base"),
    ("beside_most", "base_twice"), ("beside_most", "alone"),
]  # fmt: skip
APART = [
    ("low", "high"), ("low", "highest"), ("low_seen", "high"), ("alone", "base"), ("of_alone", "seen"),
    ("base_twice", "alone_twice"),
]  # fmt: skip


@pytest.mark.parametrize("source", ["air", "far"])
def test_relations_of_postgres_that_share_rows_have_one_budget(air: Air, source: str) -> None:
    """In both orders, for a server that says which one it is and for one that does not."""
    state = air.service.state
    for first, others in partners(SHARE).items():
        register(air.service, "first", first, "air")
        for second in others:
            assert "'first'" in refuse(air.service, "second", second, source), (first, second)
        state.drop_dataset("first", by="x")
        air.service.catalog._opened.clear()
    for first, others in partners(APART).items():
        register(air.service, "first", first, "air")
        for second in others:
            register(air.service, "next", second, "air")
            for name in ("first", "next"):
                assert air.service.catalog.opened(name).table is not None
            state.drop_dataset("next", by="x")
        state.drop_dataset("first", by="x")
        air.service.catalog._opened.clear()


def test_a_table_that_became_a_partition_of_another_is_not_opened(air: Air, caplog: pytest.LogCaptureFixture) -> None:
    with psycopg.connect(air.sources["air"]["url"], autocommit=True) as connection:
        connection.execute("CREATE TABLE later (wage int); GRANT SELECT ON later TO PUBLIC")
        register(air.service, "all", "parts", "air")
        register(air.service, "later", "later", "air")
        connection.execute("ALTER TABLE parts ATTACH PARTITION later FOR VALUES FROM (20) TO (30)")
        with opened(air.folder, sources=air.sources) as restarted:
            for name, other in (("all", "later"), ("later", "all")):
                refuse_to_open(restarted, name, other, caplog)
        connection.execute("ALTER TABLE parts DETACH PARTITION later")
        with opened(air.folder, sources=air.sources) as restarted:
            assert [len(restarted.catalog.opened(name).table.schema) for name in ("all", "later")] == [1, 1]
        connection.execute("DROP TABLE later")


def test_two_processes_that_register_shared_rows_at_once_leave_one_budget(
    air: Air, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(air.folder, sources=air.sources) as other:
        adding = air.service.state.add_dataset

        def meanwhile(*given: Any, **named: Any) -> None:
            register(other, "all", "parts", "air")  # after this one looked for others, and before it is there
            adding(*given, **named)

        monkeypatch.setattr(air.service.state, "add_dataset", meanwhile)
        assert "registered as 'all'" in refuse(air.service, "part", "low", "air")
        assert other.catalog.opened("all").table is not None


# Spark: how its tables are found is in the tests of engines; here is which server they are on.


class FakeSession:
    """A session of Spark, as far as it is asked where a table is."""

    def __init__(self, host: str) -> None:
        self.client, self.catalog = SimpleNamespace(host=host), self

    def getTable(self, name: str) -> Any:  # noqa: N802, as Spark spells it
        """A table of the usual database."""
        last = name.rpartition(".")[2].strip("`")
        return SimpleNamespace(catalog="spark_catalog", namespace=["default"], name=last)


class FakeRemoteSession(FakeSession):
    """One of Spark Connect, which is told by the module of its class."""

    __module__ = "pyspark.sql.connect.session"


def test_the_place_in_a_remote_spark_names_its_server_and_no_secret() -> None:
    def place(session: FakeSession, table: str) -> str:
        return engine_named("pyspark").place(None, session, table).text

    texts = [place(FakeRemoteSession(f"{host}.example"), "visits") for host in ("one", "two")]
    assert texts == [f"spark {host}.example#spark_catalog.default.visits" for host in ("one", "two")]
    # One session in a process: what counts is the server that it is on.
    assert place(FakeRemoteSession("ONE.example"), "default.VISITS") == texts[0]
    assert place(FakeSession(""), "visits") == "spark#spark_catalog.default.visits"
