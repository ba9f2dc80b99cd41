"""The chain: entries as canonical JSON, each with the hash of the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viameter.errors import LedgerTampered

FORMAT = "viameter-ledger/1"
"""The name and version of the entries; a change that old readers would misread gets another number."""

NOTHING = "0" * 64
"""What the first entry has for the hash of the one before it."""


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry: its number and its hash. Whoever knows it can tell whether anything before it was changed."""

    seq: int = 0
    hash: str = NOTHING


@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """One line of a ledger: what happened, as it was written."""

    seq: int
    body: str
    """Canonical JSON, with the number of the entry and the hash of the one before it."""
    hash: str

    @property
    def record(self) -> dict[str, Any]:
        """The body as plain JSON values."""
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def kind(self) -> str:
        """What happened: init, define, budget, renew, reserve, commit, fail, answer or restore."""
        return str(self.record["kind"])

    @property
    def head(self) -> Head:
        """This entry as the end of a chain."""
        return Head(self.seq, self.hash)

    def __repr__(self) -> str:
        record = self.record
        return f"<entry {self.seq}: {record['kind']} by {record['by']} at {record['at']}>"


def canonical(value: Any) -> str:
    """The one text of plain JSON values: keys sorted, no spaces, ASCII only, no floats that are no numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(content: str | bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(content.encode("utf-8") if isinstance(content, str) else content).hexdigest()


def link(head: Head, record: Mapping[str, Any]) -> Entry:
    """The entry that follows a head and says this."""
    seq = head.seq + 1
    body = canonical({**record, "seq": seq, "previous": head.hash})
    return Entry(seq, body, digest(body))


def follow(head: Head, entry: Entry) -> dict[str, Any]:
    """The record of an entry, seen to follow a head; LedgerTampered says what is wrong with it."""
    if entry.seq != head.seq + 1:
        raise LedgerTampered(f"it follows entry {head.seq}: entries between them are missing", entry=entry.seq)
    if digest(entry.body) != entry.hash:
        raise LedgerTampered("its text is not the one that its hash is of", entry=entry.seq)
    try:
        record = entry.record
    except (ValueError, RecursionError):
        raise LedgerTampered("its text is no record", entry=entry.seq) from None
    if not isinstance(record, dict) or canonical(record) != entry.body:
        raise LedgerTampered("its text is no record as this library writes them", entry=entry.seq)
    if record.get("seq") != entry.seq or record.get("previous") != head.hash:
        raise LedgerTampered("it does not continue the entry before it", entry=entry.seq)
    return record
