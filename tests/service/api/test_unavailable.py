"""Trouble of storage under every route: each statement fails once, in every way in which databases and disks fail.

Whatever fails, the reply is 503 and says when to come back; that nothing was spent is said only where that is true.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import sqlite3
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import httpx
import psycopg
import pytest
import sqlalchemy as sa
from tests.service.routes import API_ROUTES, BODIES, PAGE_ROUTES, filled
from tests.service.serving import API, QUESTION, Running, cookie_of, running_in

from viameter.errors import LedgerUnavailable
from viameter.ledger.stores.base import Disconnected
from viameter.service.api.needing import COOKIE
from viameter.service.problems import NOTHING_SPENT, UNKNOWN_OUTCOME, unavailable
from viameter.service.secrets import guard_of

pytestmark = pytest.mark.usefixtures("no_processes")

CANARY = "CANARY"
COST = Fraction(1, 1000)
"""What the question costs at most."""
NUMBERS = itertools.count()


def server(original: Exception) -> Exception:
    """What SQLAlchemy makes of an error of psycopg."""
    kind = getattr(sa.exc, next(one.__name__ for one in type(original).__mro__ if hasattr(sa.exc, one.__name__)))
    found: Exception = kind("SELECT 1", {}, original, connection_invalidated=True)
    return found


OF_SQLITE: dict[str, Callable[[], Exception]] = {
    "locked": lambda: sqlite3.OperationalError("database is locked"),
    "full": lambda: sqlite3.OperationalError("database or disk is full"),
    "read-only": lambda: sqlite3.OperationalError("attempt to write a readonly database"),
    "I/O": lambda: sqlite3.OperationalError("disk I/O error"),
    "no file": lambda: sqlite3.OperationalError("unable to open database file"),
    "malformed": lambda: sqlite3.DatabaseError("database disk image is malformed"),
}
OF_TABLES: dict[str, Callable[[], Exception]] = {
    **{name: made for name, made in OF_SQLITE.items() if name != "malformed"},
    "server gone": lambda: server(psycopg.OperationalError(CANARY)),
    "server gone, not wrapped": lambda: psycopg.OperationalError(CANARY),
    "administrator": lambda: server(psycopg.errors.AdminShutdown(CANARY)),
    "connection closed": lambda: server(psycopg.InterfaceError(CANARY)),
    "read-only transaction": lambda: server(psycopg.errors.ReadOnlySqlTransaction(CANARY)),
    "no permission": lambda: server(psycopg.errors.InsufficientPrivilege(CANARY)),
    "server full": lambda: server(psycopg.errors.DiskFull(CANARY)),
    "pool": lambda: sa.exc.TimeoutError(CANARY),
    "closed": lambda: sa.exc.ResourceClosedError(CANARY),
    "no space": lambda: OSError(errno.ENOSPC, CANARY),
    "read-only disk": lambda: OSError(errno.EROFS, CANARY),
    "too many files": lambda: OSError(errno.EMFILE, CANARY),
    "reset": lambda: ConnectionResetError(CANARY),
    "too late": lambda: TimeoutError(CANARY),
}
OF_LEDGERS: dict[str, Callable[[], Exception]] = {**OF_SQLITE, "server gone": lambda: Disconnected("the ledger")}
BUGS = [ValueError("x"), KeyError("x"), sa.exc.IntegrityError("", {}, sqlite3.IntegrityError("x")), RuntimeError("x")]


class Faults:
    """Makes the statement of a number fail, of those that are sent from now on to a kind of storage."""

    def __init__(self, running: Running, patch: pytest.MonkeyPatch) -> None:
        self.running = running
        reply = running.ask("admin", "visits", key="known")
        assert reply.status_code == 200, reply.text
        running.service.state.add_person("somebody", (), by="admin")
        self.entry = {"visits": str(reply.json()["entry"])}
        """The entry of a charge, asked by the admin."""
        self.cookie = cookie_of(running, "admin")
        ledger = running.service.ledger
        store: Any = ledger.store
        patch.setattr(ledger, "_patience", 0.0)
        patch.setattr(ledger._live()[2], "_patience", 0.0)
        self._at = {"state": -1, "ledger": -1}
        self._error: Callable[[], Exception] = OF_TABLES["locked"]
        self.has_failed = False
        engines = {"state": [running.service.state._engine], "ledger": [store._engine, store._reading_engine]}
        for where, engine in [(where, engine) for where, found in engines.items() for engine in found]:
            for name in ("do_execute", "do_execute_no_params", "do_executemany", "do_commit"):
                patch.setattr(engine.dialect, name, self._failing(where, getattr(engine.dialect, name)))

    def _failing(self, where: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            self._at[where] -= 1
            if self._at[where] == 0:
                self.has_failed = True
                raise self._error()
            return original(*arguments, **options)

        return run

    @contextlib.contextmanager
    def at(self, where: str, number: int, error: Callable[[], Exception]) -> Iterator[None]:
        """The statement of this number fails, counted from 1."""
        self._error, self.has_failed = error, False
        self._at[where] = number
        try:
            yield
        finally:
            self._at[where] = -1


@pytest.fixture(scope="module")
def faults(running: Running) -> Iterator[Faults]:
    with pytest.MonkeyPatch.context() as patch:
        yield Faults(running, patch)


@pytest.fixture(scope="module")
def faults_of_releases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faults]:
    """At another service, so that the ledger of the first stays short: many routes read all of it."""
    with running_in(tmp_path_factory.mktemp("releases")) as running, pytest.MonkeyPatch.context() as patch:
        yield Faults(running, patch)


FORMS: dict[str, Callable[[str], dict[str, str]]] = {
    "/login": lambda _: {"token": "vmt_" + "x" * 43},
    "/datasets/{dataset}/ask": lambda _: {"question": json.dumps(QUESTION)},
    "/datasets/{dataset}/release": lambda key: {"question": json.dumps(QUESTION), "key": key},
    "/datasets/{dataset}/manage/budget": lambda _: {"budget-rho": "1/2", "why": "as before"},
    "/datasets/{dataset}/manage/limit": lambda _: {"person": "somebody", "limit-rho": "1/2", "why": "as before"},
    "/datasets/{dataset}/manage/roles": lambda _: {"person": "somebody", "role": "analyst"},
    "/datasets/{dataset}/manage/description": lambda _: {"title": "another"},
    "/datasets/{dataset}/manage/column": lambda _: {"column": "ward", "description": "another"},
    "/people": lambda key: {"name": f"person-{key}"},
    "/people/{person}/active": lambda _: {"active": "yes"},
}


def have_retired(running: Running, retired: bool) -> None:
    """Have the dataset retired, or not, whatever was asked before."""
    if bool(running.api("admin", "GET", "/datasets/visits").json()["retired"]) != retired:
        change = running.service.catalog.retire if retired else running.service.catalog.reinstate
        change("visits", by="admin", why="for a test")


def prepared(faults: Faults, method: str, path: str, key: str) -> Callable[[], httpx.Response]:
    """A request to a route that would do what the route is for; whoever sends it is signed in before."""
    running = faults.running
    have_retired(running, path.endswith("/reinstate"))
    at = filled(path, running, faults.entry, "admin", "visits")
    sent: dict[str, Any] = {}
    if (method, path) in PAGE_ROUTES:
        secret = {"/login": "", "/logout": cookie_of(running, "admin")}.get(path, faults.cookie)
        sent["headers"] = {"cookie": f"{COOKIE}={secret}"} if secret else {}
        if method == "POST":
            sent["data"] = {"guard": guard_of(secret), **(FORMS[path](key) if path in FORMS else {})}
        return lambda: running.client().request(method, at, **sent)
    if (method, path) in BODIES:
        sent["json"] = BODIES[method, path]("visits")
    if path.endswith("/releases"):
        sent["headers"] = {"idempotency-key": key}
    return lambda: running.client("admin").request(method, at, **sent)


STORELESS = ("/healthz", "/readyz", "/static/{digest}/{name}", "/metrics")
"""Those that need no storage; metrics need it for the token alone, and give what was read last."""
ROUTES = [one for one in {**API_ROUTES, **PAGE_ROUTES} if one[1] not in STORELESS]
GONE = {"server gone": OF_LEDGERS["server gone"]}
"""What stores of ledgers raise among themselves, at every statement: it must not leave their room."""
KINDS = {"state": OF_TABLES, "ledger": OF_LEDGERS, "ledger, gone": GONE}


@pytest.mark.parametrize("where", list(KINDS))
@pytest.mark.parametrize(("method", "path"), ROUTES, ids=str)
def test_trouble_of_storage_is_503_wherever_it_comes(
    faults: Faults, faults_of_releases: Faults, method: str, path: str, where: str
) -> None:
    """Statement after statement fails, until a request comes through; the kinds of failures take turns."""
    is_release = path.endswith(("/releases", "/release"))
    faults = faults_of_releases if is_release else faults
    running = faults.running
    kinds = itertools.cycle(KINDS[where].items())
    for number in range(1, 400):
        name, error = next(kinds)
        send = prepared(faults, method, path, key=f"{where}-{next(NUMBERS)}")
        before = running.spent()
        with faults.at(where.partition(",")[0], number, error):
            reply = send()
        if not faults.has_failed:
            assert reply.status_code < 500, reply.text
            break
        said = (name, number, reply.status_code, reply.text[-500:])
        assert reply.status_code == 503, said
        assert int(reply.headers["retry-after"]) > 0, said
        if NOTHING_SPENT in reply.text:
            assert running.spent() == before, said
        if is_release:
            # The same key again: charged once, whatever became of the first time.
            assert send().status_code in (200, 202, 303, 410), said
            assert 0 < running.spent().rho - before.rho <= COST, said
    else:
        pytest.fail("every statement failed, and it never came through")
    assert CANARY not in running.log_text()


def test_metrics_need_storage_for_the_token_alone(running: Running, faults: Faults) -> None:
    for where, status in (("state", 503), ("ledger", 200)):
        with faults.at(where, 1, OF_SQLITE["locked"]):
            assert running.client("admin").get("/metrics").status_code == status
            assert faults.has_failed


def test_the_log_says_what_failed_and_where(running: Running, faults: Faults) -> None:
    for where, kind in (("state", "OperationalError"), ("ledger", "LedgerUnavailable")):
        send = prepared(faults, "GET", f"{API}/datasets/{{dataset}}/history", "")
        with faults.at(where, 1, OF_SQLITE["full"]):
            number = send().headers["x-request-id"]
        line = next(one for one in running.lines_of(number) if one["event"] == "unavailable")
        assert (line["level"], line["error"]) == ("error", kind)
        assert line["where"]
        assert ("disk" in line.get("why", "")) == (where == "ledger")


def test_a_question_without_a_key_learns_the_one_it_was_asked_under(running: Running, faults: Faults) -> None:
    """Else nobody could ask again under it; and nothing is said to be free that may have been charged."""
    have_retired(running, False)
    learned = 0
    for number in range(1, 60):
        before = running.spent()
        with faults.at("ledger", number, OF_LEDGERS["server gone"]):
            reply = running.ask("admin")
        if not faults.has_failed:
            assert learned
            return
        error = reply.json()["error"]
        if NOTHING_SPENT in error["message"]:
            assert running.spent() == before
        if UNKNOWN_OUTCOME in error["message"]:
            learned += 1
            assert running.ask("admin", key=error["details"]["key"]).status_code in (200, 202, 410)
    pytest.fail("every statement failed, and it never came through")


@pytest.mark.parametrize("error", BUGS, ids=lambda error: type(error).__name__)
def test_mistakes_are_no_trouble_of_storage(error: Exception) -> None:
    assert unavailable(error) is None


@pytest.mark.parametrize("made", [*OF_TABLES.values(), lambda: LedgerUnavailable("x")], ids=[*OF_TABLES, "ledger"])
def test_whether_anything_was_spent_is_said_as_the_caller_knows(made: Callable[[], Exception]) -> None:
    known, unknown, reading = (unavailable(made(), says) for says in (NOTHING_SPENT, UNKNOWN_OUTCOME, ""))
    assert known is not None and unknown is not None and reading is not None
    assert known.message.endswith(NOTHING_SPENT)
    assert NOTHING_SPENT not in unknown.message and "same key" in unknown.message
    assert reading.message.endswith("try again")
    assert known.retry_after and known.status == 503
