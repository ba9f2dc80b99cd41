"""What a store does: lend a book inside of one transaction, keep what was added to it, and read what was kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from viameter.errors import LedgerUnavailable
from viameter.ledger.book import Book, Needed, Request, StoredAnswer
from viameter.ledger.chain import Entry, Head, canonical
from viameter.ledger.scopes import Scope

Sign = Callable[[Head], str]


class Disconnected(Exception):
    """The server went away, perhaps after it wrote what it was asked to: nobody knows until it is asked again.

    It never leaves the room.
    """


class NotDone(LedgerUnavailable):
    """The database did not do it, and is well otherwise: the reason may lie in what was asked."""


class Store(ABC):
    """A place for the entries of one ledger. Writing is by one caller at a time; reading is by anyone."""

    place: str
    """What it is called in errors: a path, or a URL without its password."""

    @abstractmethod
    def writing(self, needed: Needed, sign: Sign | None) -> AbstractContextManager[Book]:
        """Lend a book; what was added to it is durable when the context is left, and nothing is if that raises."""

    @abstractmethod
    def head(self) -> Head:
        """The last entry."""

    @abstractmethod
    def entries(self, first: int = 1, last: int | None = None) -> Iterator[Entry]:
        """Entries in order, from one number to another."""

    @abstractmethod
    def scope(self, name: str) -> Scope | None:
        """A scope as it stands."""

    @abstractmethod
    def scopes(self) -> list[Scope]:
        """All scopes, by name."""

    @abstractmethod
    def requests(self) -> Iterator[Request]:
        """All requests, in the order in which they were charged."""

    @abstractmethod
    def answers(self, reserved: int) -> list[StoredAnswer]:
        """What was stored for a request, in order."""

    @abstractmethod
    def request(self, by: str, key: str) -> Request | None:
        """A request by who made it, and its key."""

    @abstractmethod
    def all_answers(self) -> Iterator[StoredAnswer]:
        """All that was stored, request by request."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """How many scopes, requests, answers, documents and signatures there are."""

    @abstractmethod
    def document(self, name: str) -> str | None:
        """A certificate by its digest."""

    @abstractmethod
    def documents(self) -> Iterator[tuple[str, str]]:
        """All certificates with their digests."""

    @abstractmethod
    def signature(self, seq: int) -> str | None:
        """The signature of the head that an entry was."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    is_shared = True
    """Whether other processes see what is written here: a copy that nobody else sees could spend a budget again."""
    keeps_files = False
    """Whether its files must be closed when the process is forked."""
    reading: AbstractContextManager[Any] = nullcontext()
    """Held by whoever reads: nobody opens a connection for that until it is let go of."""

    def entry(self, seq: int) -> Entry | None:
        """The entry of that number."""
        return next(self.entries(seq, seq), None)

    def has(self, head: Head) -> bool:
        """Whether a head is that of an entry here."""
        found = self.entry(head.seq)
        return found is not None and found.hash == head.hash

    def entries_of(self, numbers: Collection[int]) -> Iterator[Entry]:
        """The entries of these numbers, as far as they are there."""
        for seq in sorted(numbers):
            yield from self.entries(seq, seq)

    def beginnings(self, reserved: Collection[int], size: int) -> Iterator[tuple[int, bytes | None]]:
        """How each answer begins that was stored for requests, in order, with its request; None for what failed."""
        for number in sorted(reserved):
            for stored in self.answers(number):
                yield number, None if stored.content is None else stored.content[:size]

    def states(self) -> list[tuple[str, int, str]]:
        """Name, last entry and text of every scope, as they are kept and without reading them."""
        return [(scope.name, scope.seq, canonical(scope.to_json())) for scope in self.scopes()]

    def strange(self) -> list[str]:
        """What the database has among or on its tables that this library did not put there."""
        return []

    def check(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        return []

    def facts(self) -> dict[str, Any]:
        """What is to be known of how safely it keeps what it is given."""
        return {}
