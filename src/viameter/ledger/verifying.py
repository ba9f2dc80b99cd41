"""Verify: read a whole ledger again from its first entry, and see that everything follows.

Each entry is linked to the one before it; every charge is added up anew from the terms of its scopes, and was within
the budget then; scopes, requests, answers, certificates and signatures are what the entries say, and nothing else is
there. What is found is listed, the first problem first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from viameter.errors import FormatError, LedgerError, LedgerTampered, ViameterError
from viameter.ledger.book import Request, read_time
from viameter.ledger.chain import FORMAT, Head, canonical, digest, follow
from viameter.ledger.ledger import Ledger
from viameter.ledger.scopes import Cost, Scope, Terms
from viameter.ledger.signing import is_signed
from viameter.ledger.stores.base import Store
from viameter.measures import loss_from_json

MOST_PROBLEMS = 20
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

    def read(self, record: dict[str, Any]) -> None:
        kind = record["kind"]
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
        return {name: self.scopes[name].closed() for name in record["states"]}

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
    store, problems = ledger.store, list[LedgerError]()
    for found in store.check():
        problems.append(LedgerTampered(f"the database finds its file damaged ({found})"))
    replay = _Replay()
    try:
        head = store.head()
        _read_chain(store, replay, head, progress)
        problems += _compare(store, replay, head)
        problems += _signatures(store, replay, head, public_key)
    except LedgerError as problem:
        problems.append(problem)
    if ledger.witness is not None and not problems:
        from viameter.ledger.opening import check_witness

        seen = ledger.witness.read()
        if seen is not None:
            try:
                check_witness(ledger, seen)
            except LedgerError as problem:
                problems.append(problem)
    return Verified(replay.head, replay.head.seq, tuple(problems[:MOST_PROBLEMS]))


def _read_chain(store: Store, replay: _Replay, head: Head, progress: Progress | None) -> None:
    for entry in store.entries():
        record = follow(replay.head, entry)
        try:
            replay.read(record)
        except LedgerTampered:
            raise
        except (ViameterError, FormatError) as problem:
            raise LedgerTampered(f"it could not have been written: {problem}", entry=entry.seq) from None
        except Exception:  # a record that lacks something, or has something else there
            raise LedgerTampered("it is no record of this format", entry=entry.seq) from None
        replay.head = entry.head
        if progress is not None:
            progress(entry.seq, head.seq)
    if replay.head != head and store.head() == head:
        raise LedgerTampered(f"the chain ends here, and the head says {head.seq}", entry=replay.head.seq)


def _compare(store: Store, replay: _Replay, head: Head) -> Iterable[LedgerError]:
    """What the other tables have that does not follow from the entries, or lack."""
    if store.head() != replay.head:
        return  # others wrote meanwhile: what follows is newer than what was read
    if {scope.name: scope for scope in store.scopes()} != replay.scopes:
        yield LedgerTampered("scopes are not as the entries left them")
    if {(request.by, request.key): request for request in store.requests()} != replay.requests:
        yield LedgerTampered("requests are not those that the entries charged")
    missing = dict(replay.answers)
    for answer in store.all_answers():
        content = None if answer.content is None else digest(answer.content)
        if missing.pop(answer.seq, None) != (answer.reserved, answer.number, answer.query, content):
            yield LedgerTampered("the stored answer is not the one that was released", entry=answer.seq)
    for seq in list(missing)[:MOST_PROBLEMS]:
        yield LedgerTampered("its stored answer is missing", entry=seq)
    documents = set()
    for name, text in store.documents():
        documents.add(name)
        if digest(text) != name:
            yield LedgerTampered(f"the certificate {name} was changed")
    if documents != replay.documents:
        yield LedgerTampered("certificates are missing, or are there that no entry names")


def _signatures(store: Store, replay: _Replay, head: Head, public_key: str | None) -> Iterable[LedgerError]:
    public = replay.first.get("public_key")
    if public_key is not None and public != public_key:
        yield LedgerTampered("the ledger names another key than the one that was given", entry=1)
    if public is None:
        if store.counts()["signatures"]:
            yield LedgerTampered("there are signatures, and the ledger names no key")
        return
    checked = 0
    for entry in store.entries():
        signature = store.signature(entry.seq)
        if signature is not None:
            checked += 1
            if not is_signed(public, replay.first["id"], entry.head, signature):
                yield LedgerTampered("its signature is not that of the ledger's key", entry=entry.seq)
    if checked != store.counts()["signatures"]:
        yield LedgerTampered("there are signatures of entries that are not there")
    if store.signature(head.seq) is None:
        yield LedgerTampered("the end of the chain is not signed", entry=head.seq)
