"""What a ledger can be asked to write down: each request says what it needs to know, and what it adds to the book.

Requests are applied inside of one transaction. They compute first and add last, so that a refusal leaves the book as it
was. They carry a nonce, so that one that was written just before a connection broke is known when it is tried again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from viameter.core import Loss
from viameter.errors import KeyTaken, LedgerError, NoTheorem, ParameterError, PermissionGone
from viameter.ledger.book import Book, Needed, Request, StoredAnswer
from viameter.ledger.chain import FORMAT, canonical, digest
from viameter.ledger.scopes import Cost, Scope, Terms

MOST_SCOPES = 1000
"""How many scopes a request is charged to at most: all who wait with it wait for it."""

ANSWERED, FAILED, RECORDED = "commit", "fail", "answer"


@dataclass(frozen=True, kw_only=True)
class Writing(ABC):
    """A request to write something down."""

    by: str
    nonce: str

    @property
    @abstractmethod
    def needed(self) -> Needed:
        """What it has to know."""

    @abstractmethod
    def apply(self, book: Book) -> Any:
        """Add to the book, or refuse with an error and add nothing."""

    def written(self, book: Book, entry: Mapping[str, Any]) -> Any:
        """What `apply` returned when it wrote this entry, whose reply was lost."""
        return None


@dataclass(frozen=True, kw_only=True)
class Begin(Writing):
    """The first entry: which ledger this is, and whose signatures its heads have."""

    id: str
    public_key: str | None

    @property
    def needed(self) -> Needed:
        """Nothing: it is the first."""
        return Needed()

    def apply(self, book: Book) -> None:
        """Add the first entry, if there is none."""
        if book.head.seq == 0:
            named = {"id": self.id, "public_key": self.public_key}
            book.add("init", self.by, book.now(), None, format=FORMAT, nonce=self.nonce, **named)


@dataclass(frozen=True, kw_only=True)
class Define(Writing):
    """A new scope with its budget."""

    name: str
    terms: Terms
    why: str

    @property
    def needed(self) -> Needed:
        """Whether there is one of that name."""
        return Needed(scopes=(self.name,))

    def apply(self, book: Book) -> Scope:
        """Add the scope; one of the same terms is left as it is."""
        known = book.scopes.get(self.name)
        if known is not None:
            require_same_terms(known, self.terms)
            return known
        now = book.now()
        made = Scope.defined(self.name, self.terms, now)
        said = {"scope": self.name, "terms": self.terms.to_json(), "why": self.why, "nonce": self.nonce}
        book.add("define", self.by, now, {self.name: made}, **said)
        return book.scopes[self.name]

    def written(self, book: Book, entry: Mapping[str, Any]) -> Scope:
        """The scope."""
        return book.scope(self.name)


def require_same_terms(known: Scope, terms: Terms) -> None:
    """Refuse to define a scope again on other terms."""
    if known.terms.to_json() != terms.to_json():
        raise LedgerError(
            f"the scope {known.name!r} exists, with a budget of {known.budget!r} for {known.terms.neighborhood}, and "
            f"not on these terms ({terms.budget!r} for {terms.neighborhood}); a budget is raised by an entry that says "
            "why (`viameter ledger budget`), and another neighborhood is another scope"
        )


@dataclass(frozen=True, kw_only=True)
class ChangeBudget(Writing):
    """Another budget for a scope, and why."""

    name: str
    budget: Loss
    why: str

    @property
    def needed(self) -> Needed:
        """The scope."""
        return Needed(scopes=(self.name,))

    def apply(self, book: Book) -> Scope:
        """Change it; below what was spent is refused."""
        now = book.now()
        known = book.scope(self.name)
        changed = known.at(now).with_budget(self.budget)
        said = {"scope": self.name, "budget": changed.budget.to_json(), "was": known.budget.to_json(), "why": self.why}
        book.add("budget", self.by, now, {self.name: changed}, nonce=self.nonce, **said)
        return book.scopes[self.name]

    def written(self, book: Book, entry: Mapping[str, Any]) -> Scope:
        """The scope."""
        return book.scope(self.name)


@dataclass(frozen=True, kw_only=True)
class Renew(Writing):
    """New rows have arrived: the budget for them starts over."""

    name: str
    why: str

    @property
    def needed(self) -> Needed:
        """The scope."""
        return Needed(scopes=(self.name,))

    def apply(self, book: Book) -> Scope:
        """Start over, if that is the scope's policy."""
        changed = book.scope(self.name).renewed()
        said = {"scope": self.name, "period": changed.period, "why": self.why, "nonce": self.nonce}
        book.add("renew", self.by, book.now(), {self.name: changed}, **said)
        return book.scopes[self.name]

    def written(self, book: Book, entry: Mapping[str, Any]) -> Scope:
        """The scope."""
        return book.scope(self.name)


@dataclass(frozen=True, kw_only=True)
class Close(Writing):
    """Entries were lost, nobody knows which: what was left of every scope counts as spent."""

    names: tuple[str, ...]
    lost: Mapping[str, Any]
    why: str

    @property
    def needed(self) -> Needed:
        """The scopes."""
        return Needed(scopes=self.names)

    def apply(self, book: Book) -> None:
        """Spend all that is left."""
        now = book.now()
        # In the period of now: entries of that one may be among those that were lost.
        closed = {name: book.scope(name).at(now).closed() for name in self.names}
        book.add("restore", self.by, now, closed, lost=dict(self.lost), why=self.why, nonce=self.nonce)


class NowPaysToo(LedgerError):
    """A scope that was not there when a request was made is there when it is charged. Ask again, with that scope."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """A request that is charged: new and to be run now, or one that was made before under the same key."""

    request: Request
    new: bool


@dataclass(frozen=True, kw_only=True)
class Reserve(Writing):
    """Charge a request to all of its scopes at once, before it runs."""

    key: str
    costs: tuple[Cost, ...]
    query: str = ""
    """What is asked, as text: public, and the same again if the same is asked again."""
    identity: str = ""
    """What else tells it from other questions: a digest of what the text leaves out."""
    label: str = ""
    theorems: tuple[str, ...] = ()
    certificate: str | None = None
    opens: Mapping[str, Terms] = field(default_factory=dict)
    """Scopes that this request pays for as a whole, and that are made by it."""
    unless: tuple[str, ...] = ()
    """Scopes that were not there when it was asked who pays: if one is by now, nothing is charged."""

    def __post_init__(self) -> None:
        if not self.costs:
            raise ParameterError("scopes: name at least one that pays for the request")
        names = [cost.scope for cost in self.costs]
        if len(names) > MOST_SCOPES:
            raise ParameterError(f"scopes: a request is charged to {MOST_SCOPES} of them at most, not to {len(names)}")
        if len(set(names)) < len(names):
            raise ParameterError("scopes: one is named twice; a request is charged to each scope once")

    @property
    def needed(self) -> Needed:
        """Whether the key was used, and the scopes."""
        return Needed(((self.by, self.key),), (*(cost.scope for cost in self.costs), *self.opens, *self.unless))

    @cached_property
    def digest(self) -> str:
        """What makes a request the same: the question, what it costs, whom, and what it opens."""
        opened = {name: terms.to_json() for name, terms in self.opens.items()}
        costs = sorted((cost.to_json() for cost in self.costs), key=canonical)
        return digest(canonical({"query": self.query, "identity": self.identity, "costs": costs, "opens": opened}))

    def apply(self, book: Book) -> Reserved:
        """Charge every scope, or none."""
        known = book.requests.get((self.by, self.key))
        if known is not None:
            if known.query != self.digest:
                raise KeyTaken(self.key)
            return Reserved(known, known.nonce == self.nonce and known.settled is None)
        for name in self.unless:
            if name in book.scopes:
                raise NowPaysToo(f"the scope {name!r} was made meanwhile, and has to pay too; nothing was charged")
        now = book.now()
        after = {cost.scope: book.scope(cost.scope).charged(cost, now) for cost in self.costs}
        for name, terms in self.opens.items():
            require_shares_paid(name, terms, [(cost.loss, after[cost.scope]) for cost in self.costs])
            if name in book.scopes:
                raise LedgerError(f"the scope {name!r} exists already: choose another name for the share of a budget")
            after[name] = Scope.defined(name, terms, now)
        costs = [{**cost.to_json(), "spent": after[cost.scope].spent.to_json()} for cost in self.costs]
        said = {
            "key": self.key,
            "digest": self.digest,
            "query": self.query,
            "identity": self.identity,
            "label": self.label,
            "costs": costs,
            "theorems": list(self.theorems),
            "certificate": None if self.certificate is None else book.put_document(self.certificate),
            "opens": {name: terms.to_json() for name, terms in self.opens.items()},
        }
        entry = book.add("reserve", self.by, now, after, nonce=self.nonce, **said)
        request = Request(self.by, self.key, self.digest, self.nonce, entry.seq)
        book.put_request(request)
        return Reserved(request, True)

    def written(self, book: Book, entry: Mapping[str, Any]) -> Reserved:
        """The request, which nobody has run: the call that charged it did not hear of it yet."""
        return Reserved(book.requests[self.by, self.key], True)


def require_shares_paid(name: str, terms: Terms, paying: Sequence[tuple[Loss, Scope]]) -> None:
    """Refuse a share that those who pay for it do not pay for: it is asked beside all that is charged to them later.

    What shares of several parts cost together is proved by whoever opens them; no part costs more than they do.
    """
    for cost, scope in paying:
        if not scope.interleaves:
            raise NoTheorem(
                f"the scope {scope.name!r} counts in {scope.measure!r}, which composes one after the other: it has no "
                "shares that are spent side by side"
            )
        if scope.terms.renews is not None:
            raise LedgerError(
                f"the scope {scope.name!r} starts over, and a share would outlive the period that paid for it: ask "
                "questions of the table itself"
            )
        alike = (terms.neighborhood, terms.d_in) == (scope.terms.neighborhood, scope.terms.d_in)
        if not alike or terms.budget.measure != cost.measure or not terms.budget <= cost:
            raise LedgerError(
                f"the share {name!r} of {terms.budget!r} is not paid for by {cost!r} from {scope.name!r}: a share "
                "costs all that it may spend, in the same measure and for the same neighbors"
            )


@dataclass(frozen=True, kw_only=True)
class Settle(Writing):
    """The bytes that a request may release, or that it failed; once, and never again."""

    request: Request
    content: bytes | None

    @property
    def needed(self) -> Needed:
        """The request."""
        return Needed(requests=((self.request.by, self.request.key),))

    def apply(self, book: Book) -> StoredAnswer:
        """Store the bytes; a second time is refused, whatever they are."""
        known = book.requests.get((self.request.by, self.request.key))
        if known is None or known.reserved != self.request.reserved or known.nonce != self.request.nonce:
            raise LedgerError(f"entry {self.request.reserved} is not a request of this ledger that this call charged")
        if known.settled is not None:
            raise LedgerError(f"entry {known.reserved} was answered already, by entry {known.settled}")
        stored = _written_answer(book, self, known.reserved, 0, known.query, self.content)
        book.settle(known, book.entries[-1])
        return stored

    def written(self, book: Book, entry: Mapping[str, Any]) -> StoredAnswer:
        """What was stored."""
        return StoredAnswer(self.request.reserved, 0, int(entry["seq"]), self.request.query, self.content)


@dataclass(frozen=True, kw_only=True)
class Record(Writing):
    """One more answer of what a request spawned; its loss was charged with the request."""

    request: Request
    number: int
    query: str
    content: bytes | None
    sequential: tuple[str, ...] = ()
    """Scopes whose measure composes one after the other: what was spawned answers until they are charged again."""
    periods: Mapping[str, str] = field(default_factory=dict)
    """Scopes that start over, with the period that paid: what was spawned answers until that ends."""

    @property
    def needed(self) -> Needed:
        """How many answers there are, and whether scopes have moved on."""
        scopes = (*self.sequential, *self.periods)
        return Needed(((self.request.by, self.request.key),), scopes, (self.request.reserved,))

    def apply(self, book: Book) -> StoredAnswer:
        """Store the answer, in order."""
        known = book.requests.get((self.request.by, self.request.key))
        if known is None or known.nonce != self.request.nonce or known.settled is None:
            raise LedgerError(f"entry {self.request.reserved} is no request of this call that was answered")
        if book.numbers.get(known.reserved, 0) != self.number:
            raise LedgerError(
                f"answers of entry {known.reserved} are stored in order, and {self.number} is not the next"
            )
        # In the transaction that lets the answer out: whatever is charged next comes after it.
        now = book.now()
        scopes = {name: book.scope(name).at(now) for name in (*self.sequential, *self.periods)}
        require_turn(scopes, known.reserved, self.sequential, self.periods)
        return _written_answer(book, self, known.reserved, self.number, self.query, self.content)

    def written(self, book: Book, entry: Mapping[str, Any]) -> StoredAnswer:
        """What was stored."""
        return StoredAnswer(self.request.reserved, self.number, int(entry["seq"]), self.query, self.content)


def require_turn(
    scopes: Mapping[str, Scope], reserved: int, sequential: Iterable[str], periods: Mapping[str, str]
) -> None:
    """Refuse an answer of what entry `reserved` spawned, if a scope that paid for it has moved on."""
    for name in sequential:
        if scopes[name].seq != reserved:
            raise PermissionGone(
                f"{name!r} has been charged again since, and its measure composes one after the other: what entry "
                f"{reserved} spawned answers no more"
            )
    for name, period in periods.items():
        if scopes[name].period != period:
            raise PermissionGone(f"{name!r} has started over since: what entry {reserved} spawned answers no more")


def _written_answer(
    book: Book, asked: Writing, reserved: int, number: int, query: str, content: bytes | None
) -> StoredAnswer:
    kind = FAILED if content is None else ANSWERED if number == 0 else RECORDED
    said: dict[str, Any] = {"reserved": reserved, "number": number, "query": query, "nonce": asked.nonce}
    if content is not None:
        said |= {"answer": digest(content), "size": len(content)}
    entry = book.add(kind, asked.by, book.now(), **said)
    stored = StoredAnswer(reserved, number, entry.seq, query, content)
    book.put_answer(stored)
    return stored
