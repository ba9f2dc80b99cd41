"""Verify: read a whole ledger again from its first entry, and see that everything follows.

Each entry is linked to the one before it; every charge is added up anew from the terms of its scopes, and was within
the budget then; scopes, requests, answers, certificates and signatures are what the entries say, and nothing else is
there. What is found is listed, the first problem first.

Nobody is kept from writing meanwhile. Entries never change and nothing is deleted, so that whatever a table is found to
hold must follow from the entries that were there before it was read, or from those that were added until afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from viameter.errors import LedgerError, LedgerTampered, ViameterError
from viameter.ledger.book import Request, read_time
from viameter.ledger.chain import FORMAT, Head, canonical, digest, follow
from viameter.ledger.ledger import Ledger
from viameter.ledger.requests import require_shares_paid
from viameter.ledger.scopes import Cost, Scope, Terms
from viameter.ledger.signing import is_signed
from viameter.ledger.stores.base import Store
from viameter.measures import loss_from_json

MOST_PROBLEMS = 20
KINDS = frozenset({"init", "define", "budget", "renew", "restore", "reserve", "commit", "fail", "answer"})
_FIRST_OF_ALL = -(2**63)
Progress = Callable[[int, int], None]
"""Told how many entries were read, of how many."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What a full reading found."""

    head: Head
    entries: int
    problems: tuple[LedgerError, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def require(self) -> Verified:
        """Raise the first problem, if there is one."""
        if self.problems:
            raise self.problems[0]
        return self

    def __str__(self) -> str:
        if self.ok:
            return f"{self.entries} entries, all in order; the head is {self.head.seq} {self.head.hash}"
        return "\n".join(str(problem) for problem in self.problems)


@dataclass
class _Replay:
    """What follows from the entries that were read so far."""

    head: Head = field(default_factory=Head)
    first: dict[str, Any] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    requests: dict[tuple[str, str], Request] = field(default_factory=dict)
    names: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The request that an entry charged."""
    numbers: dict[int, int] = field(default_factory=dict)
    answers: dict[int, tuple[int, int, str, str | None]] = field(default_factory=dict)
    """By entry: request, number, digest of the query, digest of the bytes."""
    documents: set[str] = field(default_factory=set)
    nonces: set[str] = field(default_factory=set)
    passed: dict[tuple[str, int], Scope] | None = None
    """Scopes as each entry left them, while it is kept."""

    def read(self, record: dict[str, Any]) -> None:
        kind = record["kind"]
        if kind not in KINDS:
            raise LedgerTampered("it is of a kind that there is not", entry=record["seq"])
        if (kind == "init") != (record["seq"] == 1):
            raise LedgerTampered("a ledger begins once", entry=record["seq"])
        if record["nonce"] in self.nonces:
            raise LedgerTampered("it was written twice", entry=record["seq"])
        self.nonces.add(record["nonce"])
        before = self.scopes.copy() if record["states"] else {}
        changed: dict[str, Scope] = getattr(self, f"_{kind}")(record) or {}
        if set(changed) != set(record["states"]) or set(changed) != set(record["before"]):
            raise LedgerTampered("it changes other scopes than it says", entry=record["seq"])
        for name, scope in changed.items():
            if record["states"][name] != digest(canonical(scope.to_json())):
                raise LedgerTampered(f"it leaves {name!r} with other amounts than follow", entry=record["seq"])
            if record["before"][name] != (before[name].seq if name in before else 0):
                raise LedgerTampered(f"it does not follow the last entry of {name!r}", entry=record["seq"])
            self.scopes[name] = replace(scope, seq=record["seq"])
            if self.passed is not None:
                self.passed[name, record["seq"]] = self.scopes[name]

    def _init(self, record: dict[str, Any]) -> None:
        if record["format"] != FORMAT:
            raise LedgerTampered("it is of another format", entry=record["seq"])
        self.first = record

    def _define(self, record: dict[str, Any]) -> dict[str, Scope]:
        name = record["scope"]
        if name in self.scopes:
            raise LedgerTampered(f"{name!r} is defined twice", entry=record["seq"])
        return {name: Scope.defined(name, Terms.from_json(record["terms"]), read_time(record["at"]))}

    def _budget(self, record: dict[str, Any]) -> dict[str, Scope]:
        scope = self.scopes[record["scope"]]
        if record["was"] != scope.budget.to_json():
            raise LedgerTampered("it changes another budget than there was", entry=record["seq"])
        changed = scope.at(read_time(record["at"])).with_budget(loss_from_json(record["budget"]))
        return {record["scope"]: changed}

    def _renew(self, record: dict[str, Any]) -> dict[str, Scope]:
        return {record["scope"]: self.scopes[record["scope"]].renewed()}

    def _restore(self, record: dict[str, Any]) -> dict[str, Scope]:
        now = read_time(record["at"])
        return {name: self.scopes[name].at(now).closed() for name in record["states"]}

    def _reserve(self, record: dict[str, Any]) -> dict[str, Scope]:
        now, name = read_time(record["at"]), (record["by"], record["key"])
        if name in self.requests:
            raise LedgerTampered("its key was charged before", entry=record["seq"])
        changed: dict[str, Scope] = {}
        for cost in record["costs"]:
            asked = Cost(cost["scope"], loss_from_json(cost["loss"]), cost["part"])
            if asked.scope in changed:
                raise LedgerTampered("it charges a scope twice", entry=record["seq"])
            changed[asked.scope] = self.scopes[asked.scope].charged(asked, now)
            if cost["spent"] != changed[asked.scope].spent.to_json():
                raise LedgerTampered("its sum is another one", entry=record["seq"])
        for opened, terms in record["opens"].items():
            if opened in self.scopes:
                raise LedgerTampered(f"{opened!r} is defined twice", entry=record["seq"])
            paying = [(loss_from_json(cost["loss"]), changed[cost["scope"]]) for cost in record["costs"]]
            require_shares_paid(opened, Terms.from_json(terms), paying)
            changed[opened] = Scope.defined(opened, Terms.from_json(terms), now)
        self.requests[name] = Request(*name, record["digest"], record["nonce"], record["seq"])
        self.names[record["seq"]] = name
        if record["certificate"] is not None:
            self.documents.add(record["certificate"])
        return changed

    def _commit(self, record: dict[str, Any]) -> None:
        self._settle(record)

    def _fail(self, record: dict[str, Any]) -> None:
        if record["number"] == 0:
            self._settle(record)
        else:
            self._answer(record)

    def _settle(self, record: dict[str, Any]) -> None:
        request = self._request(record)
        if request.settled is not None or record["number"] != 0 or record["query"] != request.query:
            raise LedgerTampered(f"it answers entry {request.reserved} again, or something else", entry=record["seq"])
        self.requests[request.by, request.key] = replace(request, settled=record["seq"])
        self._store(record)

    def _answer(self, record: dict[str, Any]) -> None:
        request = self._request(record)
        if request.settled is None or record["number"] != self.numbers[request.reserved]:
            raise LedgerTampered(f"it is not the next answer within entry {request.reserved}", entry=record["seq"])
        self._store(record)

    def _request(self, record: dict[str, Any]) -> Request:
        return self.requests[self.names[record["reserved"]]]

    def _store(self, record: dict[str, Any]) -> None:
        self.numbers[record["reserved"]] = record["number"] + 1
        stored = (record["reserved"], record["number"], record["query"], record.get("answer"))
        self.answers[record["seq"]] = stored


def verify(ledger: Ledger, *, progress: Progress | None = None, public_key: str | None = None) -> Verified:
    """Read everything again. `public_key` is the one that heads should be signed with, as it was given elsewhere.

    >>> import viameter as vm
    >>> from viameter.ledger import in_memory
    >>> book = in_memory()
    >>> scope = book.define("visits", vm.pure(1), vm.SymmetricDistance())
    >>> verify(book).ok
    True
    """
    # A server that went away is waited for, and all is read from the start.
    return ledger._patiently(lambda: _verified(ledger, progress, public_key))


def _verified(ledger: Ledger, progress: Progress | None, public_key: str | None) -> Verified:
    problems: list[LedgerError] = []
    replay = _Replay()
    try:
        for problem in _problems(ledger, replay, progress, public_key):
            problems.append(problem)
            if len(problems) == MOST_PROBLEMS:
                break
    except LedgerError as problem:
        problems.append(problem)
    return Verified(replay.head, replay.head.seq, tuple(problems))


def _problems(
    ledger: Ledger, replay: _Replay, progress: Progress | None, public_key: str | None
) -> Iterator[LedgerError]:
    store = ledger.store
    try:
        for found in store.check():
            yield LedgerTampered(f"the database finds its file damaged ({found})")
        for found in store.strange():
            yield LedgerTampered(f"there is {found}")
        if next(store.entries(_FIRST_OF_ALL, 0), None) is not None:
            yield LedgerTampered("there are entries before the first one")
        _read_chain(store, replay, progress)
        yield from _compare(store, replay)
        yield from _signatures(store, replay, public_key)
    except ViameterError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError):  # text where bytes should be, and the like
        raise LedgerTampered("rows of its tables are not as this library writes them") from None
    if ledger.witness is not None:
        from viameter.ledger.opening import check_witness

        seen = ledger.witness.read()
        if seen is not None:
            check_witness(ledger, seen)


def _read_chain(store: Store, replay: _Replay, progress: Progress | None = None) -> None:
    """Go on reading entries, up to the head as it is now."""
    from viameter.ledger.opening import refuse_beyond

    head = store.head()
    for entry in store.entries(replay.head.seq + 1, head.seq):
        record = follow(replay.head, entry)
        try:
            replay.read(record)
        except LedgerTampered:
            raise
        except ViameterError as problem:
            raise LedgerTampered(f"it could not have been written: {problem}", entry=entry.seq) from None
        except Exception:  # a record that lacks something, or has something else there
            raise LedgerTampered("it is no record of this format", entry=entry.seq) from None
        replay.head = entry.head
        if progress is not None:
            progress(entry.seq, head.seq)
    if replay.head != head:
        raise LedgerTampered(f"the chain ends here, and the head says {head.seq}", entry=replay.head.seq)
    refuse_beyond(store, head)


def _compare(store: Store, replay: _Replay) -> Iterator[LedgerError]:
    """What the other tables have that does not follow from the entries, or lack."""
    at = replay.head.seq
    scopes, requests, answers = dict(replay.scopes), set(replay.requests), set(replay.answers)
    documents = set(replay.documents)
    replay.passed = passed = {(name, scope.seq): scope for name, scope in scopes.items()}
    found_scopes, found_requests = store.scopes(), list(store.requests())
    found_answers = [
        (answer.seq, (answer.reserved, answer.number, answer.query, _digest(answer.content)))
        for answer in store.all_answers()
    ]
    found_documents = [(name, isinstance(text, str) and digest(text) == name) for name, text in store.documents()]
    _read_chain(store, replay)

    for scope in found_scopes:
        scopes.pop(scope.name, None)
        if passed.get((scope.name, scope.seq)) != scope:
            last = replay.scopes.get(scope.name)
            yield LedgerTampered(
                f"the scope {scope.name!r} is not as that entry left it", entry=None if last is None else last.seq
            )
    for name, scope in scopes.items():
        yield LedgerTampered(f"the scope {name!r}, which it changed, is missing", entry=scope.seq)
    for request in found_requests:
        requests.discard((request.by, request.key))
        known = replay.requests.get((request.by, request.key))
        later = known is not None and known.settled is not None and known.settled > at
        if request != known and not (known is not None and later and request == replace(known, settled=None)):
            yield LedgerTampered("its request is not the one that was charged", entry=request.reserved)
    for name_and_key in requests:
        yield LedgerTampered("its request is missing", entry=replay.requests[name_and_key].reserved)
    for seq, stored in found_answers:
        answers.discard(seq)
        if replay.answers.get(seq) != stored:
            yield LedgerTampered("the stored answer is not the one that was released", entry=seq)
    for seq in answers:
        yield LedgerTampered("its stored answer is missing", entry=seq)
    head, counts = _counts(store)
    _read_chain(store, replay)
    if counts is not None and counts["answers"] != sum(seq <= head.seq for seq in replay.answers):
        yield LedgerTampered("there are stored answers of requests that are not there")
    for name, unchanged in found_documents:
        documents.discard(name)
        if not unchanged:
            yield LedgerTampered(f"the certificate {name} was changed")
        if name not in replay.documents:
            yield LedgerTampered(f"the certificate {name} is there, and no entry names it")
    for name in documents:
        yield LedgerTampered(f"the certificate {name} is missing")


def _digest(content: bytes | None) -> str | None:
    # SQLite keeps text in a column for bytes as well, if somebody puts it there.
    return digest(content) if isinstance(content, bytes) else None if content is None else "text"


def _signatures(store: Store, replay: _Replay, public_key: str | None) -> Iterator[LedgerError]:
    public = replay.first.get("public_key")
    if public_key is not None and public != public_key:
        yield LedgerTampered("the ledger names another key than the one that was given", entry=1)
    if public is None:
        if store.counts()["signatures"]:
            yield LedgerTampered("there are signatures, and the ledger names no key")
        return
    head, counts = _counts(store)
    checked = 0
    for entry in store.entries(1, head.seq):
        signature = store.signature(entry.seq)
        if signature is not None:
            checked += 1
            if not is_signed(public, replay.first["id"], entry.head, signature):
                yield LedgerTampered("its signature is not that of the ledger's key", entry=entry.seq)
    if counts is not None and checked != counts["signatures"]:
        yield LedgerTampered("there are signatures of entries that are not there")
    if store.signature(head.seq) is None:
        yield LedgerTampered("the end of the chain is not signed", entry=head.seq)


def _counts(store: Store) -> tuple[Head, dict[str, int] | None]:
    """A head, and how many rows there were at it; None if others write so fast that it cannot be told."""
    head = store.head()
    for _ in range(100):
        counts = store.counts()
        before, head = head, store.head()
        if before == head:
            return head, counts
    return head, None
