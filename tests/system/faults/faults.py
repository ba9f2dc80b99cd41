"""Faults as data: where something goes wrong, how, and what whoever asks meanwhile may be told."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from tests.faulty_proxy import FaultyProxy
from tests.system.faults.model import Outcome
from tests.system.faults.stage import Stage

ANSWERED, REFUSED, FAILED, LOST = Outcome.ANSWERED, Outcome.REFUSED, Outcome.FAILED, Outcome.LOST
RUNNING, UNSURE, SILENT = Outcome.RUNNING, Outcome.UNSURE, Outcome.SILENT


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong at a place, for as long as `suffering` lasts."""

    place: str
    how: str
    amount: float = 0
    told: frozenset[Outcome] = frozenset({ANSWERED})
    """What those may be told who ask meanwhile."""
    dataset: str = ""
    """The only dataset that suffers; all of them, if it is empty."""
    charges: int | None = None
    """How many questions to the dataset may be charged meanwhile; any number, if it is None."""
    replies: bool = True
    """Whether the service can reply before it is over."""
    wait: int = 2
    """For how many seconds people wait until they are told that a question is still running."""

    def __str__(self) -> str:
        return f"{self.place} {self.how}" + (f" {self.amount:g}" if self.amount else "")


def engine(how: str, *told: Outcome, amount: float = 0, charges: int | None = None, wait: int = 2) -> Fault:
    """A fault of the database server behind "remote"."""
    return Fault("engine", how, amount, frozenset(told), "remote", charges, wait=wait)


FAULTS = (
    # What is known before anything is charged is refused; a connection that was lost is opened again.
    engine("hangs", REFUSED, RUNNING, charges=0),
    engine("refuses connections", REFUSED, charges=0),
    engine("forbids to connect", REFUSED, charges=0),
    engine("drops connections", ANSWERED),
    engine("ends sessions", ANSWERED),
    engine("is late by", ANSWERED, FAILED, amount=0.05),  # a question may run for a second, on any machine
    # An engine answers one question at a time: others wait for it, and are not charged meanwhile.
    engine("is late by", ANSWERED, REFUSED, FAILED, RUNNING, amount=0.7),
    engine("hangs after bytes", ANSWERED, REFUSED, FAILED, RUNNING, amount=1, charges=1),
    engine("hangs after bytes", ANSWERED, REFUSED, FAILED, RUNNING, amount=300, charges=1),
    engine("drops connections after bytes", ANSWERED, REFUSED, FAILED, amount=1),
    engine("drops connections after bytes", ANSWERED, REFUSED, FAILED, amount=300),
    engine("has the table locked", REFUSED, FAILED, RUNNING),
    engine("forbids to read", REFUSED, FAILED),
    engine("has no such table", REFUSED, FAILED),
    Fault("file", "is away", told=frozenset({ANSWERED, REFUSED}), dataset="file"),
    Fault("file", "is another", told=frozenset({ANSWERED, REFUSED}), dataset="file"),
    Fault("ledger", "is locked", told=frozenset({REFUSED, UNSURE, RUNNING}), charges=0),
    Fault("disk", "ledger", told=frozenset({ANSWERED, REFUSED, UNSURE, LOST, RUNNING})),
    Fault("disk", "state", told=frozenset({ANSWERED, REFUSED, UNSURE})),
    Fault("disk", "witness", told=frozenset({ANSWERED, REFUSED, UNSURE, LOST, RUNNING})),
    Fault("disk", "temp", told=frozenset({ANSWERED})),
    Fault("process", "is paused", told=frozenset({ANSWERED}), replies=False),
    Fault("clock", "jumps by days", 30),
    Fault("clock", "jumps by days", -30),
)
CUT_FAULTS = tuple(
    engine(
        f"{how} after bytes", ANSWERED, REFUSED, FAILED, RUNNING, amount=amount, charges=1 if how == "hangs" else None
    )
    for how in ("hangs", "drops connections")
    for amount in (20, 60, 100, 150, 200, 400, 700, 1000, 2000)
)
"""Replies of the engine that are cut at other places."""
OPENING_FAULTS = (
    engine("hangs", REFUSED, RUNNING, charges=0, wait=8),
    engine("refuses connections", REFUSED, charges=0),
    engine("forbids to read", REFUSED, charges=0),
    engine("has no such table", REFUSED, charges=0),
    engine("has the table locked", REFUSED, FAILED, RUNNING),
    Fault("file", "is away", told=frozenset({REFUSED}), dataset="file", charges=0),
    Fault("file", "is another", told=frozenset({REFUSED}), dataset="file", charges=0),
)
"""Faults that are there before a dataset is opened."""
TOLD = frozenset({ANSWERED, REFUSED, UNSURE, LOST, RUNNING})
STORAGE_FAULTS = (
    Fault("storage", "refuses connections", told=frozenset({REFUSED, UNSURE}), charges=0),
    Fault("storage", "drops connections"),
    Fault("storage", "is late by", 0.05, told=frozenset({ANSWERED, RUNNING})),
    *(Fault("storage", "drops connections after bytes", amount, TOLD) for amount in (1, 1000, 4000)),
    *(Fault("storage", "is gone after commits", amount, TOLD) for amount in (1, 2, 3, 4)),
)
"""Faults of a server with the ledger and the state."""
HUNG_STORAGE = (
    Fault("storage", "hangs", told=frozenset({REFUSED, UNSURE, RUNNING}), charges=0),
    *(Fault("storage", "hangs after bytes", amount, TOLD) for amount in (1, 400, 2000)),
)
PROCESS_FAULTS = (
    Fault("process", "is killed", told=frozenset({ANSWERED, SILENT, FAILED, RUNNING}), replies=False),
    Fault(
        "process",
        "is told to stop",
        told=frozenset({ANSWERED, SILENT, FAILED, REFUSED, UNSURE, RUNNING}),
        replies=False,
    ),
)


@contextlib.contextmanager
def suffering(stage: Stage, fault: Fault) -> Iterator[None]:
    """Let it be so, and mend it in the end; the process is started again if that is what ended."""
    with PLACES[fault.place](stage, fault.how, fault.amount):
        yield


@contextlib.contextmanager
def _engine(stage: Stage, how: str, amount: float) -> Iterator[None]:
    role = stage.role
    faults: dict[str, tuple[Callable[[], object], str]] = {
        "ends sessions": (lambda: stage.execute(_END_SESSIONS.format(role)), ""),
        "forbids to read": (
            lambda: stage.execute(f"REVOKE SELECT ON visits FROM {role}"),
            f"GRANT SELECT ON visits TO {role}",
        ),
        "forbids to connect": (
            lambda: stage.execute(f"ALTER ROLE {role} NOLOGIN; {_END_SESSIONS.format(role)}"),
            f"ALTER ROLE {role} LOGIN",
        ),
        "has no such table": (
            lambda: stage.execute("ALTER TABLE visits RENAME TO gone"),
            "ALTER TABLE gone RENAME TO visits",
        ),
        "has the table locked": (lambda: None, ""),
    }
    if how not in faults:
        with _proxied(stage.proxy, how, amount):
            yield
        return
    begin, end = faults[how]
    locked = how == "has the table locked"
    with psycopg.connect(stage.database) if locked else contextlib.nullcontext() as owner:
        if owner is not None:
            owner.execute("LOCK TABLE visits IN ACCESS EXCLUSIVE MODE")
        begin()
        try:
            yield
        finally:
            if end:
                stage.execute(end)


@contextlib.contextmanager
def _proxied(proxy: FaultyProxy, how: str, amount: float) -> Iterator[None]:
    faults: dict[str, Callable[[], object]] = {
        "hangs": proxy.hang,
        "hangs after bytes": lambda: proxy.hang(after=int(amount)),
        "drops connections": proxy.drop_all,
        "drops connections after bytes": lambda: proxy.drop_all(after=int(amount)),
        "refuses connections": proxy.refuse,
        "is gone after commits": lambda: proxy.refuse(on=b"COMMIT", times=int(amount)),
        "is late by": lambda: proxy.delay(amount),
    }
    faults[how]()
    try:
        yield
    finally:
        proxy.pass_through()


def _storage(stage: Stage, how: str, amount: float) -> contextlib.AbstractContextManager[None]:
    return _proxied(stage.storage, how, amount)


_END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{}'"


@contextlib.contextmanager
def _file(stage: Stage, how: str, amount: float) -> Iterator[None]:
    path, away = stage.folder / "data" / "visits.duckdb", stage.folder / "visits.away"
    path.rename(away)
    if how == "is another":
        path.write_bytes((stage.folder / "data" / "stays.duckdb").read_bytes())
    try:
        yield
    finally:
        away.replace(path)


@contextlib.contextmanager
def _ledger(stage: Stage, how: str, amount: float) -> Iterator[None]:
    """Another process that does not get on holds the database, and the file that writers wait for."""
    other = sqlite3.connect(stage.ledger, isolation_level=None)
    other.execute("PRAGMA busy_timeout = 5000")
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextlib.contextmanager
def _disk(stage: Stage, how: str, amount: float) -> Iterator[None]:
    filler = stage.folder / how / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        for size in (2**16, 2**12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(size))
    try:
        yield
    finally:
        filler.unlink()


@contextlib.contextmanager
def _process(stage: Stage, how: str, amount: float) -> Iterator[None]:
    served = stage.served
    if how == "is paused":
        served.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            served.signal(signal.SIGCONT)
        return
    served.signal(signal.SIGKILL if how == "is killed" else signal.SIGTERM)
    try:
        yield
    finally:
        served.ended()
        stage.restart()


@contextlib.contextmanager
def _clock(stage: Stage, how: str, amount: float) -> Iterator[None]:
    file = Path(stage.environment["VIAMETER_CLOCK"])
    file.write_text(str(int(amount * 86_400)))
    try:
        yield
    finally:
        file.write_text("0")


PLACES: dict[str, Callable[[Stage, str, float], contextlib.AbstractContextManager[None]]] = {
    "engine": _engine,
    "storage": _storage,
    "file": _file,
    "ledger": _ledger,
    "disk": _disk,
    "process": _process,
    "clock": _clock,
}
