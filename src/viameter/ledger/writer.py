"""The writer: requests that wait together are written in one transaction, and synced to the disk once.

There is no thread of its own. Whoever comes while nobody writes writes for all who wait; while it does, others gather,
and one of them is next. So a single caller waits for nobody, and many share what a sync costs.
"""

from __future__ import annotations

import threading
import time
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


_LOOK_AGAIN = 0.1
"""Seconds after which a caller looks for itself whether it is first: an interrupt may have hit who would wake it."""


class _Ticket:
    """A request that waits to be written, and what came of it."""

    __slots__ = ("done", "error", "result", "since", "woken", "writing")

    def __init__(self, writing: Writing) -> None:
        self.writing = writing
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self.woken = threading.Event()
        """Set when it is done, or when it is first in the line."""
        self.since: int | None = None
        """The last entry that was known when it was first tried: if it was written, and nobody heard of it, then after
        that one."""


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
        self._line: dict[_Ticket, None] = {}
        """Who waits, in order. The first one writes for all, and nobody else does until it has left the line.

        There is no lock: an interrupt could come between taking one and noting so. To leave the line is one step.
        """

    def write(self, writing: Writing) -> Any:
        """Write a request and return what came of it; when this returns, it is on the disk."""
        ticket = _Ticket(writing)
        try:
            self._line[ticket] = None
            while not ticket.done:
                if self._first() is ticket:
                    self._lead(ticket)
                else:
                    ticket.woken.wait(_LOOK_AGAIN)
                    ticket.woken.clear()
        finally:
            # If it was interrupted, and somebody else has written it by now, it is charged, and not run.
            self._line.pop(ticket, None)
            first = self._first()
            if first is not None:
                first.woken.set()
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    def _first(self) -> _Ticket | None:
        return next(iter(list(self._line)), None)  # a copy, in one step: others may come meanwhile

    def _lead(self, own: _Ticket) -> None:
        """Write for all who wait.

        An interrupt is for the caller in this thread alone, wherever it comes. The others are still in the line, and
        those of them that are not done are tried again, and known to have been tried.
        """
        batch = [ticket for ticket in list(self._line) if not ticket.done][:MOST_AT_ONCE]
        try:
            self._write(batch)
        except Exception as problem:  # what is wrong with the store is wrong for all of them
            for ticket in batch:
                ticket.error, ticket.result = problem, None
        for ticket in batch:
            ticket.done = True
            if ticket is not own:
                self._line.pop(ticket, None)
                ticket.woken.set()

    def _write(self, batch: Sequence[_Ticket]) -> None:
        needed = Needed.by_all(ticket.writing.needed for ticket in batch)
        started, pause = time.monotonic(), 0.05
        while True:
            since = min((ticket.since for ticket in batch if ticket.since is not None), default=None)
            for ticket in batch:
                ticket.since = self._known.seq if ticket.since is None else ticket.since
            try:
                head = self._transact(batch, needed, since)
                break
            except Disconnected as gone:
                if time.monotonic() - started > self._patience:
                    raise LedgerUnavailable(
                        f"{gone} does not answer for {self._patience:.0f} s. What was being charged may stay charged; "
                        "nothing of it was released"
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
        self._known = head
        self._tell(head)

    def _transact(self, batch: Sequence[_Ticket], needed: Needed, since: int | None) -> Head:
        with self._store.writing(needed, self._sign) as book:
            written = {} if since is None else self._written_after(since, book)
            for ticket in batch:
                self._apply(ticket, book, written.get(ticket.writing.nonce))
            return book.head

    def _written_after(self, seq: int, book: Book) -> dict[str, dict[str, Any]]:
        """Entries by their nonce, among them those of requests that were tried before and whose reply was lost."""
        records = (entry.record for entry in self._store.entries(seq + 1, book.head.seq))
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
