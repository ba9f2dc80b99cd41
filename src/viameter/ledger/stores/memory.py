"""A store that ends with its process: the same ledger, for trying out and for work that needs no other memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from viameter.ledger.book import Book, Needed, Request, StoredAnswer
from viameter.ledger.chain import Entry, Head
from viameter.ledger.scopes import Scope
from viameter.ledger.stores.base import Sign, Store


class MemoryStore(Store):
    """Entries in a list."""

    is_shared = False

    def __init__(self) -> None:
        self.place = "memory"
        self._entries: list[Entry] = []
        self._scopes: dict[str, Scope] = {}
        self._requests: dict[tuple[str, str], Request] = {}
        self._answers: dict[int, dict[int, StoredAnswer]] = {}
        self._documents: dict[str, str] = {}
        self._signatures: dict[int, str] = {}
        self._kept: tuple[Book, str | None] | None = None
        """What was committed and is not yet all in its place."""

    @contextmanager
    def writing(self, needed: Needed, sign: Sign | None) -> Iterator[Book]:
        """Lend a book; keep what was added to it."""
        self._put_in_place()
        book = Book(
            self.head(),
            {name: self._requests[name] for name in needed.requests if name in self._requests},
            {name: self._scopes[name] for name in needed.scopes if name in self._scopes},
            {reserved: len(self._answers.get(reserved, ())) for reserved in needed.answers},
            names=lambda: tuple(sorted(self._scopes)),
            clock=lambda: datetime.now(UTC),
        )
        yield book
        if not book.entries:
            return
        self._kept = (book, None if sign is None else sign(book.head))
        try:
            self._put_in_place()
        except BaseException:  # an interrupt, which must not leave half of it
            self._put_in_place()
            raise

    def _put_in_place(self) -> None:
        """Do what was committed. Doing it again, after an interrupt, is the same as doing it once."""
        if self._kept is None:
            return
        book, signature = self._kept
        self._scopes |= {name: book.scopes[name] for name in book.changed_scopes}
        self._requests |= {name: book.requests[name] for name in book.changed_requests}
        self._documents |= book.documents
        for answer in book.answers:
            self._answers.setdefault(answer.reserved, {})[answer.number] = answer
        if signature is not None:
            self._signatures[book.head.seq] = signature
        self._entries[book.entries[0].seq - 1 :] = book.entries
        self._kept = None

    def head(self) -> Head:
        """The last entry."""
        return self._entries[-1].head if self._entries else Head()

    def entries(self, first: int = 1, last: int | None = None) -> Iterator[Entry]:
        """Entries in order."""
        return iter(self._entries[max(first, 1) - 1 : last])

    def scope(self, name: str) -> Scope | None:
        """A scope as it stands."""
        return self._scopes.get(name)

    def scopes(self) -> list[Scope]:
        """All scopes, by name."""
        return [self._scopes[name] for name in sorted(self._scopes)]

    def requests(self) -> Iterator[Request]:
        """All requests, in order."""
        return iter(sorted(self._requests.values(), key=lambda request: request.reserved))

    def answers(self, reserved: int) -> list[StoredAnswer]:
        """What was stored for a request, in order."""
        return list(self._answers.get(reserved, {}).values())

    def request(self, by: str, key: str) -> Request | None:
        """A request by who made it, and its key."""
        return self._requests.get((by, key))

    def all_answers(self) -> Iterator[StoredAnswer]:
        """All that was stored, request by request."""
        return (answer for reserved in sorted(self._answers) for answer in self._answers[reserved].values())

    def counts(self) -> dict[str, int]:
        """How many there are of each."""
        return {
            "scopes": len(self._scopes),
            "requests": len(self._requests),
            "answers": sum(len(answers) for answers in self._answers.values()),
            "documents": len(self._documents),
            "signatures": len(self._signatures),
        }

    def document(self, name: str) -> str | None:
        """A certificate by its digest."""
        return self._documents.get(name)

    def documents(self) -> Iterator[tuple[str, str]]:
        """All certificates with their digests."""
        return iter(self._documents.items())

    def signature(self, seq: int) -> str | None:
        """The signature of the head that an entry was."""
        return self._signatures.get(seq)

    def close(self) -> None:
        """There is nothing to let go of."""
