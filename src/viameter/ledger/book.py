"""The book: the part of a ledger that a few requests need, and the entries that they add to it. It knows no database.

A store lends a book inside of one transaction, requests are applied to it one after the other, and what they added is
written down in one go. A request that is refused adds nothing, so that those beside it are not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from viameter.errors import UnknownScope
from viameter.ledger.chain import Entry, Head, canonical, digest, link
from viameter.ledger.scopes import Scope


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was charged, by who made it and under which key."""

    by: str
    key: str
    query: str
    """The digest of what was asked, of its cost and its scopes."""
    nonce: str
    """Which call charged it: only that one may run it."""
    reserved: int
    """The entry that charged it."""
    settled: int | None = None
    """The entry with its answer, or with its failure."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """Bytes that may leave: those of a request under number 0, those of what it spawned in order from 1 on."""

    reserved: int
    number: int
    seq: int
    query: str
    content: bytes | None
    """None where the computation failed."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a request has to know."""

    requests: tuple[tuple[str, str], ...] = ()
    scopes: tuple[str, ...] = ()
    answers: tuple[int, ...] = ()
    """Requests of which it has to know how many answers were stored."""

    @staticmethod
    def by_all(needs: Iterable[Needed]) -> Needed:
        """What several requests have to know."""
        listed = list(needs)
        return Needed(
            tuple(dict.fromkeys(one for need in listed for one in need.requests)),
            tuple(dict.fromkeys(one for need in listed for one in need.scopes)),
            tuple(dict.fromkeys(one for need in listed for one in need.answers)),
        )


@dataclass
class Book:
    """What was read of a ledger, and what is to be added to it."""

    head: Head
    requests: dict[tuple[str, str], Request] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    """How many answers of a request were stored."""
    names: Callable[[], tuple[str, ...]] = tuple
    """The names of all scopes, for whoever asks for one that there is not."""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    entries: list[Entry] = field(default_factory=list)
    changed_scopes: dict[str, int] = field(default_factory=dict)
    """The scopes that were changed or made, with the entry that they stood at before; 0 for new ones."""
    states: dict[str, str] = field(default_factory=dict)
    """The texts of the scopes that were changed, as they are kept."""
    changed_requests: dict[tuple[str, str], bool] = field(default_factory=dict)
    """The requests that were made (True) or settled (False)."""
    answers: list[StoredAnswer] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)

    def copy(self) -> Book:
        """A book of its own to try a request on."""
        fields: dict[str, Any] = dict(vars(self))
        for name, value in fields.items():
            if isinstance(value, dict | list):
                fields[name] = value.copy()
        return Book(**fields)

    def become(self, tried: Book) -> None:
        """Be as a copy is on which a request went well: in one step, so that an interrupt leaves no half of it."""
        self.__dict__ = tried.__dict__

    def now(self) -> datetime:
        """The time that entries are given."""
        return self.clock()

    def scope(self, name: str) -> Scope:
        """The scope of that name, or UnknownScope."""
        found = self.scopes.get(name)
        if found is None:
            raise UnknownScope(name, self.names())
        return found

    def add(self, kind: str, by: str, now: datetime, scopes: Mapping[str, Scope] | None = None, **said: Any) -> Entry:
        """Add an entry, with the scopes as it leaves them."""
        left = scopes or {}
        texts = {name: canonical(scope.to_json()) for name, scope in left.items()}
        states = {name: digest(text) for name, text in texts.items()}
        before = {name: self.scopes[name].seq if name in self.scopes else 0 for name in left}
        record = {**said, "kind": kind, "by": by, "at": written_time(now), "states": states, "before": before}
        entry = link(self.head, record)
        self.entries.append(entry)
        self.head = entry.head
        for name, scope in left.items():
            self.changed_scopes.setdefault(name, before[name])
            self.states[name] = texts[name]
            self.scopes[name] = replace(scope, seq=entry.seq)
        return entry

    def put_request(self, request: Request) -> None:
        """Keep a request that was made."""
        self.requests[request.by, request.key] = request
        self.changed_requests[request.by, request.key] = True

    def settle(self, request: Request, entry: Entry) -> None:
        """Keep that a request was settled."""
        name = (request.by, request.key)
        self.requests[name] = replace(request, settled=entry.seq)
        self.changed_requests.setdefault(name, False)

    def put_answer(self, answer: StoredAnswer) -> None:
        """Keep bytes that may leave."""
        self.answers.append(answer)
        self.numbers[answer.reserved] = answer.number + 1

    def put_document(self, text: str) -> str:
        """Keep a certificate under its digest, once."""
        name = digest(text)
        self.documents[name] = text
        return name


def written_time(now: datetime) -> str:
    """A time as entries have it: UTC, to the millisecond."""
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_time(text: str) -> datetime:
    """Read what `written_time` wrote."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
