"""A ledger to tamper with: a bit of everything that ledgers hold, and what is said of a copy that was changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerError
from viameter.ledger import Ledger, SigningKey

TABLES = ("entries", "head", "scopes", "requests", "answers", "documents", "signatures", "version")
"""All tables of a ledger, without what their names begin with."""
WARDS = {"granularity": "unbounded", "cut": {"kind": "partition", "parts": 2}, "names": ["A", "B"]}


@dataclass(frozen=True)
class Example:
    """A ledger as its files are when nobody has it open."""

    content: bytes
    witness: bytes
    key: SigningKey | None

    def put(self, folder: Path) -> Path:
        """Write it into a folder; returns its path."""
        path = folder / "budget.db"
        path.write_bytes(self.content)
        path.with_name("budget.db.witness").write_bytes(self.witness)
        return path


def fill(ledger: Ledger) -> None:
    """Scopes with and without parts, a raised budget, answers, failures, and a request that is not answered."""
    ledger.define("visits", vm.pure(1), SPACE, by="custodian", why="for tests")
    ledger.define("wards", vm.pure(1), SPACE, by="custodian", parts=WARDS)
    meter = ledger.meter(SPACE, [1, 2, 3], scopes=["visits"], by="ann")
    for number in range(3):
        meter(vm.count() >> vm.laplace(scale=10 + number), key=f"count {number}", label="how many")
    ledger.set_budget("visits", vm.pure(2), why="the board's decision", by="custodian")
    reserved = ledger.reserve(vm.pure("1/7"), scopes=["wards"], part="A", key="ward A", by="bob")
    ledger.commit(reserved, b'"thirteen"')
    ledger.record(reserved.request, 1, "0" * 64, b"14")
    ledger.record(reserved.request, 2, "1" * 64, None)
    ledger.fail(ledger.reserve(vm.pure("1/7"), scopes=["visits", "wards"], key="both", by="bob"))
    ledger.reserve(vm.pure("1/9"), scopes=["visits"], key="lost", by="bob", certificate="{}")


def make_example(folder: Path, *, signed: bool) -> Example:
    """The example, with signed heads or without."""
    key = SigningKey.make(folder / "key.pem") if signed else None
    path = folder / "budget.db"
    with ledgers.open(path, signing_key=key) as ledger:
        fill(ledger)
        assert ledgers.verify(ledger, public_key=ledger.public_key).ok
    return Example(path.read_bytes(), path.with_name("budget.db.witness").read_bytes(), key)


@dataclass(frozen=True)
class Finding:
    """Who found that a ledger was changed, and what they said."""

    by: str
    error: LedgerError

    @property
    def entry(self) -> int | None:
        """The entry that is named."""
        return getattr(self.error, "entry", None)


def look_at(path: Path, key: SigningKey | None, **options: Any) -> Finding | None:
    """What `open` and then `verify` find; None if they find nothing, and then the ledger goes on as it should."""
    try:
        ledger = ledgers.open(path, signing_key=key, **options)
    except LedgerError as refused:
        return Finding("open", refused)
    with ledger:
        verified = ledgers.verify(ledger, public_key=None if key is None else key.public)
        if not verified.ok:
            return Finding("verify", verified.problems[0])
        before = ledger.scope("visits").spent
        ledger.commit(ledger.reserve(vm.pure("1/100"), scopes=["visits"], key="goes on"), b"1")
        assert ledger.scope("visits").spent == before + vm.pure("1/100") and ledgers.verify(ledger).ok
    return None


@contextmanager
def edited(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of somebody who changes the file by hand."""
    with closing(sqlite3.connect(path)) as connection:
        yield connection
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def dump(path: Path) -> dict[str, list[Any]] | None:
    """All rows with the types of their values; None if they cannot be read."""
    found = {}
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            for table in TABLES:
                rows = connection.execute(f"SELECT * FROM ledger_{table}")
                found[table] = sorted(repr(row) for row in rows)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError):
        return None
    return found
