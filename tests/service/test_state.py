"""The tables of the service, in SQLite and in PostgreSQL: the same, from many threads, and across restarts."""

from __future__ import annotations

import contextlib
import functools
import itertools
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from tests.service.serving import API, FIRST_TABLES, QUESTION, Running, running_in
from tests.threads import in_threads

from viameter.errors import LedgerUnavailable, ParameterError
from viameter.ledger.migrations import migrate
from viameter.service import migrations
from viameter.service.access import Grant, Role
from viameter.service.database import OlderTables
from viameter.service.state import Asked, State, UnknownPerson, now
from viameter.service.tables import ABOUT, ACTS, DATASETS, METADATA, REVISIONS, VERSION_TABLE

NUMBERS = itertools.count()
LEDGER = "a" * 64
ANN = Grant(Role.ANALYST, "visits")


def new_database(url: str) -> str:
    """The URL of a new database on a server."""
    name = f"service_{next(NUMBERS)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return url.replace("/postgres?", f"/{name}?")


@pytest.fixture(scope="module")
def database(server: str) -> str:
    """The URL of a database for one test after the other."""
    return new_database(server)


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where new tables can be made: a path, or a URL."""
    if request.param == "sqlite":
        return str(tmp_path / "folder" / "service.db")
    url: str = request.getfixturevalue("database")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET lock_timeout = '60s'")
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return url


@pytest.fixture
def opened(location: str) -> Iterator[Callable[..., State]]:
    """Opens the tables at the location, and closes them after the test."""
    made: list[State] = []

    def open_it(ledger: str = LEDGER) -> State:
        made.append(State(location, ledger=ledger))
        return made[-1]

    yield open_it
    for state in made:
        state.close()


@pytest.fixture
def state(opened: Callable[..., State]) -> State:
    """New tables with one person, "ann"."""
    made = opened()
    made.add_person("ann", [ANN], by="admin")
    return made


def test_what_was_written_is_there_after_a_restart(state: State, opened: Callable[..., State]) -> None:
    secret, token = state.add_token("ann", label="laptop", days=2, by="admin")
    person = state.who_has(secret)
    assert person is not None
    cookie = state.sign_in(person, hours=1)
    state.add_dataset("visits", {"title": "V\u00edsits '\"; --"}, place="/x#", by="ann")
    asked = Asked("ann", "k", "visits", {"filter": "x > 1", "n": [1, None]}, now())
    assert state.remember(asked) is None
    state.close()
    again = opened()
    found = again.who_has(secret)
    assert found is not None
    assert (found.name, found.grants, found.token) == ("ann", frozenset({ANN}), token.id)
    assert again.who_signed_in(cookie) == found
    assert [one.document for one in again.datasets()] == [{"title": "V\u00edsits '\"; --"}]
    assert again.asked("ann", "k") == asked
    assert [one.what for one in again.acts(last=2)] == ["registered a dataset", "made a token"]


def test_people(state: State) -> None:
    with pytest.raises(ParameterError, match="somebody of that name"):
        state.add_person("ann", [], by="admin")
    with pytest.raises(ParameterError, match="somebody of that name"):
        state.add_person("service", [], by="admin")
    state.add_person("bob", [ANN, ANN, Grant(Role.AUDITOR)], by="admin")
    assert {one["name"]: set(one["grants"]) for one in state.people()} == {
        "ann": {ANN}, "bob": {ANN, Grant(Role.AUDITOR)},
    }  # fmt: skip
    for change in (
        lambda: state.set_active("eve", True, by="admin"),
        lambda: state.set_grants("eve", [], by="admin"),
        lambda: state.set_roles("eve", [], among=Role, dataset="visits", by="admin"),
        lambda: state.add_token("eve", label="", days=1, by="admin"),
    ):
        acts = state.acts(last=100)
        with pytest.raises(UnknownPerson, match="'eve'"):
            change()
        assert state.acts(last=100) == acts


def test_roles_among_some_leave_the_others(state: State) -> None:
    keeps = [Grant(Role.CUSTODIAN, "visits"), Grant(Role.ANALYST, "wages"), Grant(Role.ANALYST)]
    state.set_grants("ann", [*keeps, ANN], by="admin")
    among = {Role.ANALYST, Role.AUDITOR}
    state.set_roles("ann", [Grant(Role.AUDITOR, "visits")], among=among, dataset="visits", by="cus")
    person = state.person("ann")
    assert person is not None
    assert set(person["grants"]) == {*keeps, Grant(Role.AUDITOR, "visits")}
    state.set_roles("ann", [], among=among, dataset="visits", by="cus")
    assert set((state.person("ann") or {})["grants"]) == set(keeps)
    assert state.acts(last=1)[0].about == {"person": "ann", "grants": [], "dataset": "visits"}


def test_tokens(state: State) -> None:
    first, one = state.add_token("ann", label="", days=1, by="admin")
    second, _ = state.add_token("ann", label="", days=1, by="admin")
    state.add_person("bob", [], by="admin")
    assert state.revoke("bob", one.id, by="admin") is False
    assert state.revoke("ann", "0" * 24, by="admin") is False
    assert state.who_has(first) is not None
    assert state.revoke("ann", one.id, by="admin") is True
    assert (state.who_has(first), state.who_has(second) is not None) == (None, True)
    revoked = next(token for token in state.tokens("ann") if token.id == one.id).revoked
    assert state.revoke("ann", one.id, by="admin") is True
    assert next(token for token in state.tokens("ann") if token.id == one.id).revoked == revoked
    state.revoke_all("ann", by="admin")
    assert state.who_has(second) is None
    assert state.tokens("bob") == []


def test_the_rows_of_a_dataset_are_registered_once(state: State) -> None:
    state.add_dataset("visits", {}, place="/x#", by="ann")
    with pytest.raises(ParameterError, match="there is a dataset of that name"):
        state.add_dataset("visits", {}, place="/y#", by="ann")
    with pytest.raises(ParameterError, match="registered as 'visits'"):
        state.add_dataset("other", {}, place="/x#", by="ann")
    state.drop_dataset("visits", by="ann")
    state.add_dataset("other", {}, place="/x#", by="ann")
    assert [one.name for one in state.datasets()] == ["other"]


def test_questions_are_kept_by_person_and_key(state: State) -> None:
    asked = Asked("ann", "k", "visits", {"n": 1}, now())
    assert state.remember(asked) is None
    assert state.remember(replace(asked, document={"n": 2})) == asked
    assert state.remember(replace(asked, by="bob", document={"n": 2})) is None
    state.forget("ann", "k")
    assert state.asked("ann", "k") is None
    assert state.asked("bob", "k") is not None


def test_many_threads_at_once(state: State, opened: Callable[..., State]) -> None:
    """One adds a person, a dataset, a question; the others are told so. No error of the database is ever seen."""
    states = [state, state, opened(), opened()]
    added: list[str] = []
    kept: list[Any] = []

    def work(mine: State, number: int) -> None:
        for turn in range(6):
            with contextlib.suppress(ParameterError):
                mine.add_person(f"p{turn}", [ANN], by=f"t{number}")
                added.append("a person")
            with contextlib.suppress(ParameterError):
                mine.add_dataset(f"d{turn}", {}, place=f"/{turn}", by=f"t{number}")
                added.append("a dataset")
            mine.set_grants("ann", [ANN, Grant(Role.AUDITOR, f"d{turn}")], by=f"t{number}")
            mine.set_roles("ann", [ANN], among=[Role.ANALYST], dataset="visits", by=f"t{number}")
            kept.append(mine.remember(Asked("ann", f"k{turn}", "visits", {"by": number}, now())))
            secret, token = mine.add_token("ann", label="", days=1, by="x")
            assert mine.who_has(secret) is not None
            assert mine.revoke("ann", token.id, by="x")

    in_threads(*[lambda mine=mine, number=number: work(mine, number) for number, mine in enumerate(states)])
    assert len(added) == 12
    assert kept.count(None) == 6
    assert (state.person("ann") or {})["grants"].count(ANN) == 1
    assert len([one for one in state.acts(last=1000) if one.what == "added a person"]) == 7


def test_two_that_start_at_once_make_the_tables_once(opened: Callable[..., State]) -> None:
    in_threads(*[opened] * 4)
    assert opened().people() == []


def test_tables_of_another_ledger_or_version_are_refused(state: State, opened: Callable[..., State]) -> None:
    with pytest.raises(LedgerUnavailable, match="do not go together"):
        opened("b" * 64)
    with state._write() as connection:
        connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '0099'"))
    with pytest.raises(LedgerUnavailable, match=r"later version of viameter \(tables of version 0099.*upgrade"):
        opened()


@pytest.fixture
def first(location: str, opened: Callable[..., State]) -> Callable[..., State]:
    """Tables as the first version left them, without a table of versions: the file that is kept, or the same."""
    if "://" not in location:
        Path(location).parent.mkdir()
        shutil.copy(FIRST_TABLES, location)
        return opened
    engine = sa.create_engine(sa.make_url(location).set(drivername="postgresql+psycopg"))
    with (
        engine.begin() as connection,
        contextlib.closing(sqlite3.connect(f"file:{FIRST_TABLES}?mode=ro", uri=True)) as kept,
    ):
        migrate(connection, to="0001", versions=Path(migrations.__file__).parent, version_table=VERSION_TABLE)
        connection.execute(sa.text(f"DROP TABLE {VERSION_TABLE}"))
        for table in METADATA.sorted_tables:
            columns = [one.name for one in table.columns if one is not DATASETS.c.retired and one is not ACTS.c.id]
            quoted = ", ".join(map('"{}"'.format, columns))
            for row in kept.execute(f"SELECT {quoted} FROM {table.name}").fetchall():
                values = dict(zip(columns, row, strict=True))
                connection.execute(sa.insert(table).values(**{**values, **_booleans(values)}))
    engine.dispose()
    return opened


def _booleans(values: dict[str, Any]) -> dict[str, Any]:
    return {"active": bool(values["active"])} if "active" in values else {}


def test_tables_of_the_first_version_are_upgraded_and_nothing_is_lost(first: Callable[..., State]) -> None:
    state = first()
    assert {one["name"]: set(one["grants"]) for one in state.people()} == {
        "admin": {Grant(Role.ADMIN)}, "ann": {ANN}, "Ann": {Grant(Role.CUSTODIAN)},
    }  # fmt: skip
    assert [(one.name, one.place, one.retired) for one in state.datasets()] == [
        ("Visits", "/data/more.csv#", None), ("visits", "/data/visits.csv#", None),
    ]  # fmt: skip
    asked = state.asked("ann", "k")
    assert asked is not None and asked.document == {"spend": {"pure": "1"}}
    assert len(state.acts(last=100)) == 5
    state.set_retired("visits", True, by="Ann", why="over")
    again = first()
    found = again.dataset("visits")
    assert found is not None and found.retired is not None and found.retired.why == "over"
    with again._engine.connect() as connection:
        assert connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).all() == [(REVISIONS[-1],)]
        # The first version refuses them by its own number.
        assert connection.execute(sa.select(ABOUT.c.version)).scalar() == 2
        differences = compare_metadata(MigrationContext.configure(connection), METADATA)
    assert [one for one in differences if "viameter_" in str(one) and VERSION_TABLE not in str(one)] == []


def test_tables_of_another_ledger_are_left_as_they_are(first: Callable[..., State], location: str) -> None:
    with pytest.raises(LedgerUnavailable, match="do not go together"):
        first("b" * 64)
    with pytest.raises(OlderTables, match="version 0001"):
        State(location, ledger=LEDGER, read_only=True)
    assert first().people()  # upgraded now


def test_two_that_start_at_once_upgrade_once(first: Callable[..., State]) -> None:
    in_threads(*[first] * 4)
    assert len(first().people()) == 3


def test_reading_alone_makes_and_changes_nothing(location: str, tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match=r"viameter serve"):
        State(location, ledger=LEDGER, read_only=True)
    assert list(tmp_path.iterdir()) == []
    State(location, ledger=LEDGER).close()
    before = sorted(path.name for path in tmp_path.rglob("*"))
    reading = State(location, ledger=LEDGER, read_only=True)
    assert reading.people() == []
    with pytest.raises(sa.exc.DBAPIError):
        reading.add_person("ann", [], by="x")
    reading.close()
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_names_that_differ_in_capitals_are_one(state: State) -> None:
    for name in ("Ann", "ANN", "Service", "SERVICE"):
        with pytest.raises(ParameterError, match="somebody of that name"):
            state.add_person(name, [], by="admin")
    state.add_dataset("visits", {}, place="/x#", by="ann")
    with pytest.raises(ParameterError, match="a dataset of that name, 'visits'"):
        state.add_dataset("Visits", {}, place="/y#", by="ann")
    in_threads(*[functools.partial(_add, state, name) for name in ("Bob", "bob", "BOB", "boB")])
    assert len([one for one in state.people() if one["name"].lower() == "bob"]) == 1


def _add(state: State, name: str) -> None:
    with contextlib.suppress(ParameterError):
        state.add_person(name, [], by="admin")


def test_nothing_is_half_done(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written down of an act and the act itself are there together, or neither is."""

    def fail(*_: Any) -> None:
        raise RuntimeError

    people = state.people()
    monkeypatch.setattr(State, "_act", staticmethod(fail))
    for change in (
        lambda: state.add_person("bob", [ANN], by="admin"),
        lambda: state.set_grants("ann", [], by="admin"),
        lambda: state.set_active("ann", False, by="admin"),
        lambda: state.add_token("ann", label="", days=1, by="admin"),
        lambda: state.add_dataset("visits", {}, place="/x#", by="ann"),
    ):
        with pytest.raises(RuntimeError):
            change()
    assert (state.people(), state.tokens("ann"), state.datasets()) == (people, [], [])


def test_what_cannot_be_opened_is_said_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable) as caught:
        State("postgresql://ann:secret@127.0.0.1:1/none?connect_timeout=1", ledger=LEDGER)
    assert "secret" not in str(caught.value)
    (tmp_path / "service.db").write_text("this is no database, and is long enough not to be taken for an empty one" * 9)
    with pytest.raises(LedgerUnavailable, match="cannot be used"):
        State(str(tmp_path / "service.db"), ledger=LEDGER)


@pytest.fixture
def on_postgres(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A service that has everything in PostgreSQL: ledger, tables, and one of its datasets."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    books, rows = new_database(server), new_database(server)
    with psycopg.connect(rows, autocommit=True) as connection:
        connection.execute("CREATE TABLE visits (patient text, ward text, wait int)")
        connection.execute("INSERT INTO visits SELECT 'p' || n, 'A', n % 60 FROM generate_series(1, 200) n")
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE other.visits AS SELECT * FROM visits")
    sources = {"files": {"folder": "data"}, "rows": {"url": rows}, "same": {"url": f"{rows}&application_name=x"}}
    storage = {"ledger": books, "state": books}
    with running_in(tmp_path / "service", sources=sources, storage=storage) as running:
        yield running


def test_a_service_on_postgres(on_postgres: Running) -> None:
    running = on_postgres
    assert running.ask("analyst-visits", key="k").status_code == 200
    assert running.ask("analyst-visits", key="k").json()["replayed"] is True

    def register(**changes: Any) -> httpx.Response:
        unit = {"per": "patient", "rows": 1}
        body = {"name": "far", "source": "rows", "table": "visits", "unit": unit, "budget": {"zcdp": "1"}, **changes}
        return running.api("custodian-all", "POST", "/datasets", json=body)

    assert register().status_code == 201
    assert running.ask("analyst-all", "far", {"spend": {"zcdp": "1/10"}}).status_code == 200
    # The same rows by their schema's name, and by way of another source that is the same database.
    for source, table in (("rows", "public.visits"), ("same", "visits"), ("same", "public.visits")):
        reply = register(name="again", source=source, table=table)
        assert (reply.status_code, "registered as 'far'" in reply.text) == (422, True), (source, table, reply.text)
    assert register(name="other", table="other.visits").status_code == 201
    # Signs that PostgreSQL does not keep.
    for method, path, body in (
        ("GET", "/datasets/a%00b", None),
        ("PATCH", "/people/a%00b", {"active": True}),
        ("POST", "/people/nobody/tokens", {"label": "a\0b"}),
        ("PUT", "/datasets/visits/budget", {"budget": {"zcdp": "1/2"}, "why": "a\0b"}),
        ("DELETE", "/me/tokens/a%00b", None),
        ("GET", "/datasets/visits/releases/x?by=a%00b", None),
    ):
        assert running.api("admin", method, path, json=body).status_code in (404, 422), path
    for text in ("a\0b", "\U0001f600"):
        asked = {**QUESTION, "filter": {"operation": "eq", "arguments": [{"column": "ward"}, {"value": text}]}}
        assert running.api("analyst-all", "POST", "/datasets/far/preview", json=asked).status_code in (200, 422)
    assert running.client("admin").get("/readyz").status_code == 200
    assert running.api("auditor-all", "GET", "/ledger/verify").json()["holds"] is True
    assert [line for line in running.log_lines() if line["level"] == "error"] == []
    assert API in str(running.client("admin").get(f"{API}/me").url)
