"""Broken protocols, each with one fault that others have had: tests of crashes must find every one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.ledger.crash.clients import COST, CURRENT, SCOPE, WHO, Client
from tests.ledger.crash.world import World

from viameter.ledger import Cost, Ledger, Scope
from viameter.ledger.book import Book, Needed
from viameter.ledger.codec import encode
from viameter.ledger.ledger import fresh_name
from viameter.ledger.requests import Reserve, Reserved, Writing


class ByHand(Client):
    """The steps of the protocol one by one, in the right order: what the mutants change one thing of."""

    def reserve(self, key: str) -> Reserved:
        """Charge."""
        return self.ledger.reserve(COST, scopes=[SCOPE], key=key, by=WHO)

    def run(self) -> bytes:
        """Look at rows and add noise."""
        return encode(self.measurement.release([1, 2, 3]))

    def answer(self, key: str) -> bytes:
        """Reserve, run, commit; or what was stored."""
        reserved = self.reserve(key)
        if not reserved.new:
            return self.ledger.replay(key, by=WHO).content
        content = self.run()
        self.ledger.commit(reserved, content)
        return content


class ChargesAfterRun(ByHand):
    """Runs, then charges, as most libraries do."""

    def answer(self, key: str) -> bytes:
        """Run, reserve, commit."""
        content = self.run()
        reserved = self.reserve(key)
        if not reserved.new:
            return self.ledger.replay(key, by=WHO).content
        self.ledger.commit(reserved, content)
        return content


class RedrawsOnRetry(ByHand):
    """Runs again for whoever asks again: noise that is averaged away for the price of one answer."""

    def answer(self, key: str) -> bytes:
        """Reserve, run, commit; on a retry, run."""
        reserved = self.reserve(key)
        content = self.run()
        if reserved.new:
            self.ledger.commit(reserved, content)
        return content


class ReleasesBeforeCommit(ByHand):
    """Hands an answer out before it is stored: whoever asks again after a crash cannot be given the same."""

    def ask(self, key: str) -> bytes:
        """Reserve, run, release, commit."""
        self.asking, CURRENT.client = key, self
        reserved = self.reserve(key)
        if not reserved.new:
            return self.ledger.replay(key, by=WHO).content
        content = self.run()
        self.world.see("left", key, content)
        self.ledger.commit(reserved, content)
        return content


class RefundsOnRestart(ByHand):
    """Gives back, when a ledger is opened, what was charged and has no answer: rows were looked at, perhaps."""

    def __init__(self, location: str, world: World) -> None:
        super().__init__(location, world)
        lost = sum(request.settled is None for request in self.ledger.store.requests())
        if lost:
            self.ledger._write(Refund(by=WHO, nonce=fresh_name(), requests=lost))


@dataclass(frozen=True, kw_only=True)
class Refund(Writing):
    """What `RefundsOnRestart` writes."""

    requests: int

    @property
    def needed(self) -> Needed:
        """The scope."""
        return Needed(scopes=(SCOPE,))

    def apply(self, book: Book) -> Any:
        """Spend less."""
        scope: Any = book.scope(SCOPE)
        # Two who restart at once may give the same back twice.
        left = replace(scope, spent=type(COST)(max(scope.spent.epsilon - self.requests * COST.epsilon, 0)))
        book.add("refund", self.by, book.now(), {SCOPE: left}, nonce=self.nonce)


def charge_later(book: Ledger, key: str, scopes: list[str]) -> bool:
    """Check, and charge in a second transaction: others may have passed the same check meanwhile."""
    if not book.fits([Cost(scope, COST) for scope in scopes]):
        return False
    asked = ChargedUnseen(by=WHO, nonce=fresh_name(), key=key, costs=tuple(Cost(scope, COST) for scope in scopes))
    made: Reserved = book._write(asked)
    return made.new


class ChargedUnseen(Reserve):
    """A request that is charged whatever there is room for."""

    def apply(self, book: Book) -> Reserved:
        """Add to what was spent, and look no further."""
        unseen: Any = book
        unseen.scope = lambda name: Unlimited(book.scopes[name])
        try:
            return super().apply(book)
        finally:
            del unseen.scope


@dataclass(frozen=True)
class Unlimited:
    """A scope that has room for everything."""

    scope: Scope

    def charged(self, cost: Cost, now: Any) -> Scope:
        """The scope after a charge."""
        return replace(self.scope, spent=self.scope.spent + cost.loss)
