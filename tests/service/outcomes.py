"""Charges of every outcome at a service: answered, failed, lost, and one that runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from tests.service.serving import QUESTION, Running

import viameter as vm
from viameter.service import desk
from viameter.service.state import Asked

PERSON = "analyst-visits"
OUTCOMES = ("answered", "failed", "lost", "running")


@dataclass(frozen=True)
class Charged:
    """A service, and the entries of its charges by what came of them."""

    at: Running
    entries: dict[str, int]


@contextmanager
def charged_at(there: Running) -> Iterator[Charged]:
    """Charges of every outcome, by one person; while this is entered, one of them is too old to be running."""
    ledger, state = there.service.ledger, there.service.state
    entries = {}
    for outcome in OUTCOMES:
        key = f"is-{outcome}"
        if outcome == "answered":
            entries[outcome] = there.ask(PERSON, key=key).json()["entry"]
            continue
        state.remember(Asked(PERSON, key, "visits", QUESTION, "2026-01-01T00:00:00+00:00"))
        reserved = ledger.reserve(vm.zcdp("1/1000"), scopes=["visits"], key=key, by=PERSON, query=key)
        entries[outcome] = reserved.request.reserved
        if outcome == "failed":
            ledger.fail(reserved)
    whole = desk.Desk._may_still_run

    def may_still_run(self: desk.Desk, entry: int) -> bool:
        return entry != entries["lost"] and whole(self, entry)

    with patch.object(desk.Desk, "_may_still_run", may_still_run):
        yield Charged(there, entries)
