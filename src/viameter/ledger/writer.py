"""The writer: requests that wait together are written in one transaction, and synced to the disk once.

There is no thread of its own. Whoever comes while nobody writes writes for all who wait; while it does, others gather,
and one of them is next. So a single caller waits for nobody, and many share what a sync costs.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from viameter.errors import LedgerUnavailable
from viameter.ledger.book import Book, Needed
from viameter.ledger.chain import Head
from viameter.ledger.requests import Writing
from viameter.ledger.stores.base import Disconnected, Sign, Store

MOST_AT_ONCE = 256
"""How many requests one transaction takes, so that nobody waits for long."""

PATIENCE = 30.0
"""Seconds to wait for a server to come back."""


class _Ticket:
    """A request that waits to be written, and what came of it."""

    __slots__ = ("done", "error", "result", "tried", "writing")

    def __init__(self, writing: Writing) -> None:
        self.writing = writing
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self.tried = False
        """Whether it may have been written although nobody heard of it."""


class Writer:
    """Writes requests to a store, several at a time; tells a witness of every new head."""

    def __init__(
        self, store: Store, *, sign: Sign | None, tell: Callable[[Head], None], head: Head, patience: float = PATIENCE
    ) -> None:
        self._store = store
        self._sign = sign
        self._tell = tell
        self._known = head
        self._patience = patience
        self._waiting: deque[_Ticket] = deque()
        self._turn = threading.Lock()

    def write(self, writing: Writing) -> Any:
        """Write a request and return what came of it; when this returns, it is on the disk."""
        ticket = _Ticket(writing)
        self._waiting.append(ticket)
        try:
            while not ticket.done:
                with self._turn:
                    if not ticket.done:
                        self._lead()
        except BaseException:
            # Nobody waits for it any more. If somebody else has taken it by now, it is charged, and not run.
            with contextlib.suppress(ValueError):
                self._waiting.remove(ticket)
            raise
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    def _lead(self) -> None:
        batch: list[_Ticket] = []
        while self._waiting and len(batch) < MOST_AT_ONCE:
            batch.append(self._waiting.popleft())
        try:
            self._write(batch)
        except Exception as problem:  # what is wrong with the store is wrong for all of them
            for ticket in batch:
                ticket.error, ticket.result = problem, None
        except BaseException:
            # An interrupt is for the caller in this thread alone. The others are tried again, and know it.
            for ticket in reversed(batch):
                ticket.tried, ticket.error = True, None
                self._waiting.appendleft(ticket)
            raise
        for ticket in batch:
            ticket.done = True

    def _write(self, batch: Sequence[_Ticket]) -> None:
        needed = Needed.by_all(ticket.writing.needed for ticket in batch)
        started, pause = time.monotonic(), 0.05
        while True:
            try:
                head = self._transact(batch, needed)
                break
            except Disconnected as gone:
                for ticket in batch:
                    ticket.tried = True
                if time.monotonic() - started > self._patience:
                    raise LedgerUnavailable(
                        f"{gone} does not answer for {self._patience:.0f} s. What was being charged may stay charged; "
                        "nothing of it was released"
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
        self._known = head
        self._tell(head)

    def _transact(self, batch: Sequence[_Ticket], needed: Needed) -> Head:
        with self._store.writing(needed, self._sign) as book:
            written = self._written_before(batch, book)
            for ticket in batch:
                self._apply(ticket, book, written.get(ticket.writing.nonce))
            return book.head

    def _written_before(self, batch: Sequence[_Ticket], book: Book) -> dict[str, dict[str, Any]]:
        """Entries of requests that were tried before, by their nonce: those whose reply was lost."""
        if not any(ticket.tried for ticket in batch):
            return {}
        since = self._store.entries(self._known.seq + 1, book.head.seq)
        records = (entry.record for entry in since)
        return {record["nonce"]: record for record in records if "nonce" in record}

    def _apply(self, ticket: _Ticket, book: Book, written: dict[str, Any] | None) -> None:
        ticket.error = None
        try:
            if written is not None:
                ticket.result = ticket.writing.written(book, written)
            else:
                ticket.result = ticket.writing.apply(book)
        except Exception as refused:  # for this one alone
            ticket.error = refused
