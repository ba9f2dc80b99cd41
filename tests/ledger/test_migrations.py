"""Schemas of older versions are brought to the newest, and nothing else is: not later ones, and no other databases."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from tests.ledger.conftest import SPACE
from tests.ledger.versions.make_first import FIRST, make_first
from tests.processes import in_clean_process, results_of

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import AnswerLost, LedgerUnavailable, SealedError
from viameter.ledger import Ledger, migrations
from viameter.ledger.opening import dialect_of
from viameter.ledger.stores import tables
from viameter.ledger.stores.sql import SQLStore
from viameter.ledger.witness import Seen, Witness


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    return ScriptDirectory.from_config(config)


def run(location: str, statement: str) -> Any:
    """Run SQL on the database of a location, beside the library; returns the rows, if there are any."""
    engine = dialect_of(location).engine(writing=True)
    with engine.begin() as connection:
        done = connection.execute(sa.text(statement))
        rows = done.all() if done.returns_rows else None
    engine.dispose()
    return rows


@pytest.fixture
def first(location: str) -> str:
    """A ledger of the first version: the file that is kept, or the same made on a server."""
    if "://" in location:
        make_first(dialect_of(location))
    else:
        shutil.copy(FIRST, location)
    return location


def test_the_file_that_is_kept_is_of_the_first_version() -> None:
    with closing(sqlite3.connect(f"file:{FIRST}?mode=ro&immutable=1", uri=True)) as connection:
        assert connection.execute("SELECT version_num FROM ledger_version").fetchall() == [("0001",)]
        found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert found == {table.name for table in tables.metadata.sorted_tables} - {"ledger_signatures"} | {
            tables.VERSION_TABLE
        }


def test_an_older_ledger_is_brought_to_the_newest_version_and_nothing_is_lost(
    first: str, opened: Callable[..., Ledger]
) -> None:
    before = [tuple(row) for row in run(first, "SELECT seq, body, hash FROM ledger_entries ORDER BY seq")]
    ledger = opened(new_witness=True)
    assert run(first, "SELECT version_num FROM ledger_version") == [(tables.REVISIONS[-1],)]
    assert [(entry.seq, entry.body, entry.hash) for entry in ledger.entries()] == before
    assert ledgers.verify(ledger).ok and ledger.scope("visits").spent == vm.pure("4/10")
    assert ledger.replay("the answer", by="ann").content == b"42"
    with pytest.raises(SealedError):
        ledger.replay("failed", by="ann")
    with pytest.raises(AnswerLost):
        ledger.replay("lost", by="ann")
    assert isinstance(ledger.replay("how many", by="ann").value, int)
    ledger.commit(ledger.reserve(vm.pure("1/10"), scopes=["visits", "ann"], key="new"), b"1")
    assert ledger.scope("visits").spent == vm.pure("1/2") and ledgers.verify(opened()).ok


def test_an_older_ledger_that_is_opened_for_reading_stays_as_it_is(first: str) -> None:
    before = run(first, "SELECT version_num FROM ledger_version")
    try:
        ledgers.open(first, read_only=True, witness=False).close()
    except LedgerUnavailable:
        assert run(first, "SELECT version_num FROM ledger_version") == before == [("0001",)]


def test_an_older_backup_is_restored_and_left_as_it_is(tmp_path: Path) -> None:
    shutil.copy(FIRST, tmp_path / "copy.db")
    with closing(sqlite3.connect(FIRST.absolute().as_uri() + "?mode=ro&immutable=1", uri=True)) as connection:
        (body,) = connection.execute("SELECT body FROM ledger_entries WHERE seq = 1").fetchone()
        seq, hash = connection.execute("SELECT seq, hash FROM ledger_head").fetchone()
    id = ledgers.Entry(1, body, "").record["id"]
    Witness(tmp_path / "budget.db.witness").advance(Seen(id, ledgers.Head(seq, hash)), lambda _: True)
    before = hashlib.sha256((tmp_path / "copy.db").read_bytes()).digest()
    assert not ledgers.restore(tmp_path / "copy.db", tmp_path / "budget.db").closed
    assert hashlib.sha256((tmp_path / "copy.db").read_bytes()).digest() == before
    with ledgers.open(tmp_path / "budget.db") as ledger:
        assert ledgers.verify(ledger).ok and ledger.replay("the answer", by="ann").content == b"42"


def test_the_tables_are_what_the_migrations_make(location: str, opened: Callable[..., Ledger]) -> None:
    opened()
    engine = dialect_of(location).engine(writing=False)
    options = {"version_table": tables.VERSION_TABLE, "compare_type": True, "compare_server_default": True}
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts=options), tables.metadata) == []
    engine.dispose()


def test_the_tables_are_those_that_the_migrations_make_in_sql_too(tmp_path: Path) -> None:
    """What a comparison of columns does not show: tables without rowid, and primary keys."""
    ledgers.open(tmp_path / "migrated.db").close()
    made = sa.create_engine(f"sqlite:///{tmp_path / 'made.db'}")
    tables.metadata.create_all(made)
    made.dispose()
    found = []
    for name in ("migrated.db", "made.db"):
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name")
            found.append({name: " ".join(sql.split()) for name, sql in rows if name != tables.VERSION_TABLE})
    assert found[0] == found[1] and len(found[0]) == 7


def test_there_is_one_way_forward_and_none_back(tmp_path: Path) -> None:
    revisions = list(scripts().walk_revisions())
    assert tuple(reversed([one.revision for one in revisions])) == tables.REVISIONS
    assert not [one for one in revisions if hasattr(one.module, "downgrade")]
    ledgers.open(tmp_path / "budget.db").close()
    engine = dialect_of(tmp_path / "budget.db").engine(writing=True)
    with engine.begin() as connection:
        migrations.migrate(connection, to="0001")  # an upgrade to what is behind does nothing
    engine.dispose()
    assert run(str(tmp_path / "budget.db"), "SELECT version_num FROM ledger_version") == [(tables.REVISIONS[-1],)]


@pytest.mark.parametrize("version", ["0003", "9999", "of something else"])
def test_a_later_version_is_refused_and_nothing_is_changed(
    ledger: Ledger, location: str, opened: Callable[..., Ledger], version: str
) -> None:
    head = ledger.head
    run(location, f"UPDATE ledger_version SET version_num = '{version}'")
    for options in ({}, {"read_only": True}, {"create": False}):
        with pytest.raises(LedgerUnavailable, match=f"later version of viameter.*{version}.*upgrade viameter"):
            opened(**options)
    assert run(location, "SELECT version_num FROM ledger_version") == [(version,)]
    assert run(location, "SELECT seq FROM ledger_head") == [(head.seq,)]


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE patients (name TEXT); INSERT INTO patients VALUES ('x')")
    for options in ({}, {"read_only": True}, {"create": False}):
        with pytest.raises(LedgerUnavailable, match="a database of something else, and no ledger"):
            ledgers.open(path, **options)  # type: ignore[arg-type]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM patients").fetchall() == [("x",)]
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("patients",)]
    assert not (tmp_path / "other.db.witness").exists()


def test_a_database_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE patients (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(LedgerUnavailable):
        ledgers.open(path)
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ["other.db"]


def test_on_a_server_other_tables_may_stand_beside_a_ledger(server: str, tmp_path: Path) -> None:
    from tests.ledger.conftest import new_database

    url = new_database(server)
    run(url, "CREATE TABLE patients (name text)")
    with ledgers.open(url, witness=tmp_path / "w") as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        assert ledgers.verify(ledger).ok
    assert run(url, "SELECT * FROM patients") == []


def test_without_leave_to_create_nothing_is_made(location: str, opened: Callable[..., Ledger]) -> None:
    with pytest.raises(LedgerUnavailable, match="`viameter ledger init` makes"):
        opened(create=False)
    if "://" in location:
        assert not run(location, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
    else:
        assert not Path(location).exists()


def open_at_once(location: str, witness: str) -> list[str]:
    """The name of the ledger for each of the processes that make or migrate it, and charge it."""
    reader, writer = os.pipe()

    def begin() -> str:
        os.close(writer)
        os.read(reader, 1)  # nothing comes: it ends when all are there
        with ledgers.open(location, witness=witness, new_witness=True) as ledger:
            ledger.define("visits", vm.pure(1), SPACE)
            ledger.commit(ledger.reserve(vm.pure("1/100"), scopes=["visits"]), b"1")
            return ledger.id

    return results_of([begin] * 4, lambda: os.close(writer))


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_several_processes_make_or_migrate_one_ledger_at_once(
    location: str, old: bool, opened: Callable[..., Ledger], request: pytest.FixtureRequest
) -> None:
    if old:
        request.getfixturevalue("first")
    witness = str(request.getfixturevalue("tmp_path") / "shared.witness")
    assert len(set(in_clean_process(open_at_once, location, witness))) == 1
    with ledgers.open(location, witness=witness) as ledger:
        assert ledgers.verify(ledger).ok and [entry.kind for entry in ledger.entries()].count("init") == 1
        assert ledger.scope("visits").spent == vm.pure("44/100" if old else "4/100")
        assert Witness(witness).read() == Seen(ledger.id, ledger.head)


def test_a_migration_that_fails_leaves_the_older_version(
    first: str, opened: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    from alembic import op

    real = op.create_table

    def fail(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        raise KeyboardInterrupt  # after the table was made, and before the version is written

    with monkeypatch.context() as patch:
        patch.setattr(op, "create_table", fail)
        with pytest.raises(KeyboardInterrupt):
            opened(new_witness=True)
    store = SQLStore(dialect_of(first))
    with store._reading_engine.connect() as connection:
        assert store._version(connection) == "0001"
        assert "ledger_signatures" not in sa.inspect(connection).get_table_names()
    store.close()
    assert ledgers.verify(opened(new_witness=True)).ok
