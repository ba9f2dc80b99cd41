"""The writer: requests that wait together are written in one transaction, and synced to the disk once.

There is no thread of its own. Whoever comes while nobody writes writes for all who wait; while it does, others gather,
and one of them is next. So a single caller waits for nobody, and many share what a sync costs.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from viameter.errors import LedgerBehind, LedgerError, LedgerUnavailable, ViameterError
from viameter.ledger.book import Book, Needed
from viameter.ledger.chain import Head
from viameter.ledger.requests import Writing
from viameter.ledger.stores.base import Disconnected, NotDone, Sign, Store

MOST_AT_ONCE = 256
"""How many requests one transaction takes, so that nobody waits for long."""

PATIENCE = 30.0
"""Seconds to wait for a server to come back."""


_LOOK_AGAIN = 0.1
"""Seconds after which a caller looks for itself whether it is first: an interrupt may have hit who would wake it."""


class Ticket:
    """A request that waits to be written, and what came of it."""

    __slots__ = ("alone", "done", "error", "result", "since", "thread", "woken", "writing")

    def __init__(self, writing: Writing | None) -> None:
        self.writing = writing
        """None for whoever wants nobody to write for a while."""
        self.thread = threading.get_ident()
        self.alone = False
        """Whether it was in a transaction that failed: then its own caller writes it, and nothing else with it."""
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        """Whether nobody waits for it: it was written or refused, or its caller has left."""
        self.woken: queue.SimpleQueue[None] = queue.SimpleQueue()
        """Told when it is done, or when it is first in the line.

        An event would have a lock that an interrupt of who waits can leave taken, and who sets it would wait forever.
        """
        self.since: int | None = None
        """The last entry that was known when it was first tried: if it was written, and nobody heard of it, then after
        that one."""


Line = dict[Ticket, None]
"""Who waits, in order. The first one that is not done writes for all, and nobody else does until it is done.

There is no lock: an interrupt could come between taking one and noting so. To leave the line is `ticket.done = True`,
first thing in a `finally`: an interrupt comes after a call, on entry to a function or at the end of a loop's body, and
there is none of these before it.
"""


def _first(line: Line) -> Ticket | None:
    for ticket in list(line):  # a copy, in one step: others may come meanwhile
        if not ticket.done:
            return ticket
        line.pop(ticket, None)  # its caller was interrupted before it came to do so
    return None


def pass_on(line: Line, ticket: Ticket) -> None:
    """Wake who is next, after a ticket was done; who is not woken looks for itself before long."""
    line.pop(ticket, None)
    first = _first(line)
    if first is not None:
        first.woken.put(None)


def stand_in(line: Line, ticket: Ticket, patience: float) -> bool:
    """Wait until nobody else writes; False if others did not end, or this very thread writes.

    Whoever writes cannot wait for itself: a signal handler may fork or close what its own thread is writing to. The
    caller sets `done` in the end, whatever comes.
    """
    if any(one.thread == ticket.thread and not one.done for one in list(line)):
        return False
    end = time.monotonic() + patience
    line[ticket] = None
    while _first(line) is not ticket and time.monotonic() < end:
        with contextlib.suppress(queue.Empty):
            ticket.woken.get(timeout=min(_LOOK_AGAIN, max(patience, 0.001)))
    return _first(line) is ticket


def call_alone(line: Line, patience: float, function: Callable[[bool], None]) -> None:
    """Call a function that is told whether nobody writes until it ends."""
    ticket = Ticket(None)
    try:
        function(stand_in(line, ticket, patience))
    finally:
        ticket.done = True
        pass_on(line, ticket)


class Writer:
    """Writes requests to a store, several at a time; tells a witness of every new head."""

    def __init__(
        self,
        store: Store,
        *,
        sign: Sign | None,
        tell: Callable[[Head, Callable[[Head], bool]], None],
        seen: Callable[[], Head | None],
        head: Head,
        patience: float = PATIENCE,
    ) -> None:
        self._store = store
        self._sign = sign
        self._tell = tell
        self._seen = seen
        self._known = head
        self._witnessed = head
        """A head that the witness saw, and that is here."""
        self._patience = patience
        self._line: Line = {}
        self._ended = False

    @property
    def line(self) -> Line:
        """Who waits to write."""
        return self._line

    @property
    def known(self) -> Head:
        """The last head that was written or read here: what is written next comes after it."""
        return self._known

    def end(self) -> None:
        """Refuse whoever comes from now on, and close the store when those who came before have written.

        If they do not end for long, the store is closed with the last who uses it.
        """
        call_alone(self._line, self._patience, self._end)

    def _end(self, nobody_writes: bool) -> None:
        self._ended = True
        if nobody_writes:
            self._store.close()

    def write(self, writing: Writing) -> Any:
        """Write a request and return what came of it; when this returns, it is on the disk."""
        ticket = Ticket(writing)
        try:
            self._line[ticket] = None
            while not ticket.done:
                if _first(self._line) is not ticket:
                    with contextlib.suppress(queue.Empty):
                        ticket.woken.get(timeout=_LOOK_AGAIN)
                elif self._ended:
                    raise LedgerError("the ledger was closed; nothing was written now")
                else:
                    self._lead(ticket)
        finally:
            # If it was interrupted, and somebody else has written it by now, it is charged, and not run.
            ticket.done = True
            pass_on(self._line, ticket)
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    def _lead(self, own: Ticket) -> None:
        """Write for all who wait.

        An interrupt is for the caller in this thread alone, wherever it comes, and so is every error that is not this
        library's: a signal handler may raise any. The others are still in the line, and those of them that are not done
        are tried again, each alone, and known to have been tried.
        """
        waiting = [own] if own.alone else [ticket for ticket in list(self._line) if not ticket.alone]
        batch = [ticket for ticket in waiting if ticket.writing is not None and not ticket.done][:MOST_AT_ONCE]
        try:
            self._write(batch, own)
        except ViameterError as problem:
            is_of_the_store = isinstance(problem, LedgerUnavailable) and not isinstance(problem, NotDone)
            if len(batch) > 1 and not is_of_the_store:
                _part(batch)  # it may be what one of them asked for
                return
            for ticket in batch:
                ticket.error, ticket.result = problem, None
        except Exception:
            _part(batch)
            raise
        for ticket in batch:
            if ticket is not own:
                ticket.done = True
                ticket.woken.put(None)
        own.done = True  # last: whoever is first and not done writes

    def _write(self, batch: Sequence[Ticket], own: Ticket) -> None:
        needed = Needed.by_all(ticket.writing.needed for ticket in batch if ticket.writing is not None)
        started, pause = time.monotonic(), 0.05
        while True:
            since = min((ticket.since for ticket in batch if ticket.since is not None), default=None)
            for ticket in batch:
                ticket.since = self._known.seq if ticket.since is None else ticket.since
            try:
                self._known = head = self._transact(batch, needed, since, own)
                self._tell(head, self._has)
                break
            except Disconnected as gone:
                if time.monotonic() - started > self._patience:
                    raise LedgerUnavailable(
                        f"{gone} does not answer for {self._patience:.0f} s. What was being charged may stay charged; "
                        "nothing of it was released"
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
        self._witnessed = head

    def _transact(self, batch: Sequence[Ticket], needed: Needed, since: int | None, own: Ticket) -> Head:
        with self._store.writing(needed, self._sign) as book:
            self._require_known(book)
            written = {} if since is None else self._written_after(since, book)
            for ticket in batch:
                self._apply(ticket, book, written, own)
            return book.head

    def _has(self, head: Head) -> bool:
        """Whether the store has a head: one that this process wrote or saw is not looked for again."""
        return head in (Head(), self._known, self._witnessed) or self._store.has(head)

    def _require_known(self, book: Book) -> None:
        """Refuse a database that was put back to an older state meanwhile: what was charged since would be free.

        What the witness saw was committed before, so it is here, unless it saw another copy of the ledger.
        """
        known = self._known
        if book.head.seq < known.seq or not (known in (Head(), book.head) or self._store.has(known)):
            raise LedgerBehind(
                f"{self._store.place} does not have entry {self._known.seq} as it was when this process last saw it: "
                "an older copy took its place. Nothing was written now; `viameter ledger restore` counts what was lost "
                "as spent"
            )
        seen = self._seen()
        if seen is not None and seen != book.head and not self._has(seen):
            raise LedgerBehind(
                f"{self._store.place} does not have entry {seen.seq} as its witness saw it: another copy of the ledger "
                "was charged since. Nothing was written now; `viameter ledger verify` says more"
            )
        self._witnessed = seen or self._witnessed

    def _written_after(self, seq: int, book: Book) -> dict[str, dict[str, Any]]:
        """Entries by their nonce, among them those of requests that were tried before and whose reply was lost."""
        records = (entry.record for entry in self._store.entries(seq + 1, book.head.seq))
        return {record["nonce"]: record for record in records if "nonce" in record}

    def _apply(self, ticket: Ticket, book: Book, written: Mapping[str, dict[str, Any]], own: Ticket) -> None:
        """Apply one request to the book, or none of it."""
        try:
            self._try(ticket, book, written)
        except ViameterError as refused:  # for this one alone
            ticket.error, ticket.result = refused, None
        except Exception:
            if ticket is own:
                raise
            # Another one's mistake would come again. If it does not, it came from outside, and is for this thread.
            try:
                self._try(ticket, book.copy(), written)
            except Exception as mistake:
                ticket.error, ticket.result = mistake, None
            else:
                raise

    def _try(self, ticket: Ticket, book: Book, written: Mapping[str, dict[str, Any]]) -> None:
        assert ticket.writing is not None
        ticket.error, tried = None, book.copy()
        entry = written.get(ticket.writing.nonce)
        if entry is not None:
            ticket.result = ticket.writing.written(tried, entry)
        else:
            ticket.result = ticket.writing.apply(tried)
        book.become(tried)


def _part(batch: Sequence[Ticket]) -> None:
    """Nobody knows whose fault it was that a transaction failed: each is to be written by its own caller, alone."""
    for ticket in batch:
        ticket.alone = True
