"""Ledger: budgets that are shared by many processes and survive all of them, and what was charged to them.

Every change is an entry that follows the one before it, and nothing is ever deleted. The ledger holds losses, names,
times, digests and the answers that left; of data it holds nothing.
"""

from __future__ import annotations

import getpass
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from viameter.arith import exact
from viameter.core import Loss, Space, Transformation
from viameter.errors import (
    LedgerBehind,
    LedgerError,
    LedgerTampered,
    LedgerUnavailable,
    OverBudget,
    ParameterError,
    UnknownScope,
    plain,
)
from viameter.ledger.book import Request, StoredAnswer
from viameter.ledger.chain import Entry, Head, digest
from viameter.ledger.releasing import LedgerMeter, Release, replayed
from viameter.ledger.requests import (
    Begin,
    ChangeBudget,
    Close,
    Define,
    Record,
    Renew,
    Reserve,
    Reserved,
    Settle,
    Writing,
)
from viameter.ledger.scopes import Cost, Scope, Terms, describe_neighborhood, read_cost, read_name
from viameter.ledger.signing import SigningKey
from viameter.ledger.sizes import require_size
from viameter.ledger.stores.base import Disconnected, Store
from viameter.ledger.witness import Seen, Witness
from viameter.ledger.writer import PATIENCE, Line, Ticket, Writer, call_alone, pass_on, stand_in
from viameter.sampling.entropy import SYSTEM

T = TypeVar("T")

FORK_PATIENCE = 120.0
"""Seconds for which a fork waits for threads that write: longer than a writer waits for another process."""

_LEFT_BEHIND: list[Any] = []
"""Connections that a process had when it was forked: their new owner neither uses nor closes them."""


_OPENED: weakref.WeakSet[Ledger] = weakref.WeakSet()

_FORKING = [threading.RLock()]
"""Held over a fork, by one thread at a time."""

_STILL: dict[int, list[Generator[None, None, None]]] = {}
"""What each thread that forks holds over it: generators, which hold it until they are closed, if they were begun."""


def _one_at_a_time() -> Generator[None, None, None]:
    with _FORKING[0]:
        yield


def _before_fork() -> None:
    """Wait until nobody writes, and close all files: a connection to SQLite must not be in two processes.

    It has locks of its process that a child does not have and believes to have, and then works on files that others
    take for unused, and delete.
    """
    held = _STILL[threading.get_ident()] = [_one_at_a_time()]
    next(held[-1])
    for ledger in list(_OPENED):
        held.append(ledger._still())
        next(held[-1])


def _after_fork_in_parent() -> None:
    held = _STILL.get(threading.get_ident(), [])
    while held:
        held[-1].close()
        held.pop()


def _after_fork_in_child() -> None:
    for ledger in list(_OPENED):
        ledger._after_fork()
    _after_fork_in_parent()
    _LEFT_BEHIND.append(_STILL.copy())  # of threads that are not here
    _STILL.clear()
    _FORKING[0] = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
    # Once more: the interpreter drops an interrupt of such a function, and what it had left to do.
    os.register_at_fork(after_in_parent=_after_fork_in_parent)


class Ledger:
    """A ledger that is open. Threads may share it; a process that is forked opens its own connections.

    `viameter.ledger.open` makes one from a path or a URL, `viameter.ledger.in_memory` one that ends with its process.
    """

    def __init__(
        self,
        connect: Callable[[], Store],
        *,
        witness: Witness | None = None,
        signing_key: SigningKey | None = None,
        read_only: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        self._connect = connect
        self._witness = witness
        self._key = signing_key
        self._read_only = read_only
        self._patience = patience
        self._id = ""
        self._closed = False
        self._started: tuple[int, Store, Writer] | None = None
        self._starting = threading.RLock()
        self._place = ""
        self._known: Head | None = None
        """The last head that the process knew which this one was forked from."""
        self._parted = False
        """Whether nobody writes, and no files are open, since the process is being forked."""
        self._torn = False
        """Whether it is of no use in this process, which was forked while it was written to, or has a copy of it."""
        _OPENED.add(self)

    # How it is opened, and where.

    def _still(self) -> Generator[None, None, None]:
        """Let nobody write or read, and keep no files open, while the process is forked."""
        with self._starting:
            started = self._started
            if started is None or started[0] != os.getpid() or not started[1].keeps_files:
                yield  # there are no files, or connections that a child leaves alone
                return
            store, line, ticket = started[1], started[2].line, Ticket(None)
            try:
                if not stand_in(line, ticket, FORK_PATIENCE):
                    yield
                    return
                with store.reading:
                    store.close()
                    self._parted = True
                    yield
            finally:
                ticket.done = True
                self._parted = False
                pass_on(line, ticket)

    def _after_fork(self) -> None:
        """In a new process, before it has threads: neither connections nor locks of the parent are usable here."""
        if self._started is not None:
            self._known = self._started[2].known
            store = self._started[1]
            self._torn = not store.is_shared or (store.keeps_files and not self._parted)
            _LEFT_BEHIND.append(self._started)
        self._started = None
        self._starting = threading.RLock()

    def _live(self) -> tuple[int, Store, Writer]:
        """The store and the writer of this process."""
        if self._closed:
            raise LedgerError(f"{self!r} was closed")
        started = self._started
        if started is not None and started[0] == os.getpid():
            return started
        with self._starting:
            if self._closed:
                raise LedgerError(f"{self!r} was closed")
            if self._torn:
                raise LedgerError(
                    f"{self!r} was in memory, or was being written to, when this process was forked: use it in the "
                    "parent"
                )
            if self._started is None or self._started[0] != os.getpid():
                store = self._connect()
                sign = None if self._key is None else self._sign
                head = store.head() if self._known is None else self._known
                writer = Writer(store, sign=sign, tell=self._tell, seen=self._seen, head=head, patience=self._patience)
                self._place = store.place
                self._started = (os.getpid(), store, writer)
                # Whoever forgets to close it leaves no files open; a process that was forked closes only its own.
                weakref.finalize(self, _close, os.getpid(), store, writer.line)
            return self._started

    @property
    def store(self) -> Store:
        """Where entries are kept."""
        return self._live()[1]

    def _sign(self, head: Head) -> str:
        assert self._key is not None
        return self._key.sign(self.id, head)

    def _tell(self, head: Head, has: Callable[[Head], bool]) -> None:
        if self._witness is not None and head.seq > 0:
            self._witness.advance(Seen(self.id, head), has)

    def _seen(self) -> Head | None:
        """What the witness saw of this ledger."""
        seen = None if self._witness is None else self._witness.read()
        if seen is not None and seen.id != self.id:
            raise LedgerBehind(f"{self._place} is another ledger than the one that its witness saw: it was replaced")
        return None if seen is None else seen.head

    def _write(self, writing: Writing) -> Any:
        if self._read_only:
            raise LedgerUnavailable(f"{self!r} was opened for reading only; nothing was written")
        return self._patiently(self._live)[2].write(writing)

    def _ask(self, question: Callable[[Store], T]) -> T:
        """Read from the store; a server that went away is waited for."""
        return self._patiently(lambda: question(self.store))

    def _patiently(self, function: Callable[[], T]) -> T:
        started, pause = time.monotonic(), 0.05
        while True:
            try:
                return function()
            except Disconnected as gone:
                if time.monotonic() - started > self._patience:
                    raise LedgerUnavailable(f"{gone} does not answer for {self._patience:.0f} s") from None
                time.sleep(pause)
                pause = min(2 * pause, 1.0)

    @property
    def id(self) -> str:
        """Which ledger this is, among all there are."""
        if not self._id:
            first = self._ask(lambda store: store.entry(1))
            record = {} if first is None else first.record
            if record.get("kind") != "init" or not isinstance(record.get("id"), str):
                raise LedgerTampered("it does not say which ledger this is", entry=1)
            self._id = record["id"]
        return self._id

    @property
    def place(self) -> str:
        """The path, or the URL without a password."""
        return self.store.place

    @property
    def witness(self) -> Witness | None:
        """The file outside that remembers the last head."""
        return self._witness

    @property
    def signing_key(self) -> SigningKey | None:
        """The key that heads are signed with."""
        return self._key

    @property
    def public_key(self) -> str | None:
        """The public half of the key that its heads are signed with, as its first entry says."""
        first = self._ask(lambda store: store.entry(1))
        found = None if first is None else first.record.get("public_key")
        return None if found is None else str(found)

    @property
    def head(self) -> Head:
        """The last entry: its number and its hash."""
        return self._ask(lambda store: store.head())

    def begin(self, *, by: str | None = None) -> None:
        """Write the first entry, if there is none."""
        public = None if self._key is None else self._key.public
        name = fresh_name()
        if self._ask(lambda store: store.head()).seq == 0:
            self._id = name  # what is signed names it; another process may be first, and is believed then
            try:
                self._write(Begin(by=self._who(by), nonce=fresh_name(), id=name, public_key=public))
            finally:
                self._id = ""

    # Scopes.

    def define(
        self,
        name: str,
        budget: Loss,
        of: Any,
        *,
        by: str | None = None,
        why: str = "",
        d_in: Any = 1,
        rule: str | None = None,
        slack: Any = None,
        parts: Any = None,
        renews: str | None = None,
    ) -> Scope:
        """A budget under a name, for neighbors `of` this kind. A scope of the same terms is left as it is.

        `rule` and `slack` are those of filters; `parts` declares what a change of one unit can touch; `renews` is
        "day", "week", "month", "quarter", "year", or "rows" for a budget that starts over when `renew` says so.

        >>> import viameter as vm
        >>> from viameter.ledger import in_memory
        >>> ledger = in_memory()
        >>> ledger.define("visits", vm.zcdp("1/2"), vm.SymmetricDistance(), why="the board's decision")
        <scope 'visits': zcdp(0) of zcdp(1/2) spent for unbounded()>
        """
        terms = Terms.read(budget, of, d_in=d_in, rule=rule, slack=slack, parts=parts, renews=renews)
        require_size(terms.budget)
        made: Scope = self._write(
            Define(by=self._who(by), nonce=fresh_name(), name=read_name(name), terms=terms, why=read_text(why, "why"))
        )
        return made

    def scope(self, name: str) -> Scope:
        """A scope as it stands now."""
        found = self._ask(lambda store: store.scope(name)) if isinstance(name, str) else None
        if found is None:
            raise UnknownScope(name, tuple(scope.name for scope in self.scopes()))
        return found.at(datetime.now(UTC))

    def has_scope(self, name: str) -> bool:
        """Whether there is a scope of that name."""
        return self._ask(lambda store: store.scope(name)) is not None

    def scopes(self) -> tuple[Scope, ...]:
        """All scopes as they stand now, by name."""
        now = datetime.now(UTC)
        return tuple(scope.at(now) for scope in self._ask(lambda store: store.scopes()))

    def set_budget(self, name: str, budget: Loss, *, why: str, by: str | None = None) -> Scope:
        """Another budget for a scope, as an entry that says who and why; below what was spent is refused."""
        if not isinstance(why, str) or not why.strip():
            raise ParameterError("why: a budget is changed for a reason, which is written down with it")
        require_size(read_cost(budget, "budget"))
        changed: Scope = self._write(
            ChangeBudget(
                by=self._who(by), nonce=fresh_name(), name=read_name(name), budget=budget, why=read_text(why, "why")
            )
        )
        return changed

    def renew(self, name: str, *, why: str, by: str | None = None) -> Scope:
        """Start the budget for new rows over, where that is the policy of the scope."""
        if not isinstance(why, str) or not why.strip():
            raise ParameterError("why: say which rows have arrived, which is written down with it")
        renewed: Scope = self._write(
            Renew(by=self._who(by), nonce=fresh_name(), name=read_name(name), why=read_text(why, "why"))
        )
        return renewed

    def close_scopes(
        self, *, lost: Mapping[str, Any], why: str, by: str | None = None, names: Sequence[str] | None = None
    ) -> None:
        """Count all that is left of scopes as spent, of every one if none are named: entries were lost."""
        listed = tuple(scope.name for scope in self.scopes()) if names is None else tuple(names)
        self._write(Close(by=self._who(by), nonce=fresh_name(), names=listed, lost=lost, why=why))

    def has_lost_entries(self) -> bool:
        """Whether entries were lost in a restore, so that a scope that is not there may have been, and been spent."""
        for entry in self.entries():
            if '"kind":"restore"' in entry.body and entry.kind == "restore":
                lost = entry.record["lost"]
                # Older entries do not say whether it is known that nothing was lost.
                exact = lost.get("exact", lost.get("backup") == lost.get("witness"))
                if not exact or entry.record["states"]:
                    return True
        return False

    # Requests.

    def fits(self, costs: Sequence[Cost]) -> bool:
        """Whether every scope has room now. Nothing is charged; another process may be faster."""
        now = datetime.now(UTC)
        try:
            for cost in costs:
                self.scope(cost.scope).charged(cost, now)
        except OverBudget:
            return False
        return True

    def reserve(
        self,
        cost: Loss | Mapping[str, Loss] | Sequence[Cost],
        *,
        scopes: Sequence[str] = (),
        of: Any = None,
        d_in: Any = None,
        part: str | None = None,
        key: str | None = None,
        by: str | None = None,
        query: str = "",
        identity: str = "",
        label: str = "",
        theorems: Sequence[str] = (),
        certificate: str | None = None,
        opens: Mapping[str, Terms] | None = None,
        unless: Sequence[str] = (),
    ) -> Reserved:
        """Charge a request to all of its scopes at once; when this returns, it is on the disk, and may be run.

        `cost` is one loss for all of `scopes`, or a loss for each. OverBudget names the scope that has no room; then
        nothing was charged. `.new` is False if the same was charged before under the same key: do not run it again.
        Nothing is charged, either, if a scope named in `unless` is there by now: it would have to pay too.
        """
        made = Reserve(
            by=self._who(by),
            nonce=fresh_name(),
            key=fresh_name() if key is None else read_name(key, "key"),
            costs=_read_costs(cost, scopes, of, d_in, part),
            query=read_text(query, "query"),
            identity=read_text(identity, "identity"),
            label=read_text(label, "label"),
            theorems=tuple(read_text(theorem, "theorems") for theorem in theorems),
            certificate=None if certificate is None else _read_certificate(certificate),
            opens={read_name(name): terms for name, terms in (opens or {}).items()},
            unless=tuple(read_name(name) for name in unless),
        )
        reserved: Reserved = self._write(made)
        return reserved

    def commit(self, reserved: Reserved, content: bytes) -> StoredAnswer:
        """Store the bytes of a request that was reserved here; when this returns, they may leave."""
        if not isinstance(content, bytes):
            raise ParameterError(f"content={plain(content)}: an answer is stored as bytes")
        return self.settle(_own(reserved), content)

    def fail(self, reserved: Reserved) -> StoredAnswer:
        """Store that a request failed: it stays charged, and whoever asks again learns it."""
        return self.settle(_own(reserved), None)

    def settle(self, request: Request, content: bytes | None) -> StoredAnswer:
        """Store what came of a request, once."""
        stored: StoredAnswer = self._write(Settle(by=request.by, nonce=fresh_name(), request=request, content=content))
        return stored

    def record(
        self,
        request: Request,
        number: int,
        query: str,
        content: bytes | None,
        *,
        sequential: Sequence[str] = (),
        periods: Mapping[str, str] | None = None,
    ) -> StoredAnswer:
        """Store one more answer of what a request spawned; PermissionGone if scopes that paid for it have moved on."""
        stored: StoredAnswer = self._write(
            Record(
                by=request.by,
                nonce=fresh_name(),
                request=request,
                number=number,
                query=query,
                content=content,
                sequential=tuple(sequential),
                periods=dict(periods or {}),
            )
        )
        return stored

    def request(self, by: str, key: str) -> Request | None:
        """What was charged under a key, if anything was."""
        name = read_name(key, "key")
        return self._ask(lambda store: store.request(by, name))

    def stored(self, request: Request) -> list[StoredAnswer]:
        """What was stored for a request: its answer, then those of what it spawned; seen to be what entries say."""
        answers = self._ask(lambda store: store.answers(request.reserved))
        for number, answer in enumerate(answers):
            said = self.entry(answer.seq).record
            content = None if answer.content is None else digest(answer.content)
            wanted = (request.reserved, number, said.get("answer"))
            if (said.get("reserved"), said.get("number"), content) != wanted or answer.number != number:
                raise LedgerTampered("the stored answer is not the one that was released", entry=answer.seq)
        return answers

    def replay(self, key: str, *, by: str | None = None) -> Release:
        """What was released under a key before; AnswerLost if it was charged, and nothing was stored."""
        who = self._who(by)
        name = read_name(key, "key")
        request = self._ask(lambda store: store.request(who, name))
        if request is None:
            raise LedgerError(f"nothing was charged under key={plain(key)} by {who}")
        return replayed(self, request)

    def meter(
        self,
        space: Space,
        data: Any,
        *,
        scopes: Sequence[str],
        by: str | None = None,
        deadline: float | None = None,
        convert: bool = False,
        part: str | None = None,
        through: Transformation | None = None,
        unless: Sequence[str] = (),
    ) -> LedgerMeter:
        """Put data under scopes: `meter(measurement, key=...)` charges them all before it runs.

        Where scopes have parts, `part` names the one that is paid for, and `through` is the transformation that keeps
        its rows: what is asked is asked of those. Without them, all parts are. Once a scope named in `unless` is there,
        nothing is charged any more: it would have to pay too.

        >>> import viameter as vm
        >>> from viameter.ledger import in_memory
        >>> ledger = in_memory()
        >>> space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
        >>> scope = ledger.define("visits", vm.pure(1), space)
        >>> meter = ledger.meter(space, [3, 1, 4], scopes=["visits"])
        >>> first = meter(vm.count() >> vm.laplace(scale=10), key="how many")
        >>> first == meter(vm.count() >> vm.laplace(scale=10), key="how many")
        True
        >>> ledger.scope("visits").spent
        pure(1/10)
        """
        if not isinstance(space, Space):
            raise ParameterError(f"space={plain(space)} is no space: expected Space(domain, metric)")
        names = _read_scopes(scopes)
        return LedgerMeter.on(
            self,
            space,
            data,
            names,
            by=self._who(by),
            deadline=deadline,
            convert=convert,
            part=part,
            through=through,
            unless=tuple(unless),
        )

    # What was written.

    def entries(self, first: int = 1, last: int | None = None) -> Iterator[Entry]:
        """Entries in order, as they were written; read as they are asked for."""
        found: Iterator[Entry] | None = None

        def following() -> Entry | None:
            nonlocal found
            if found is None:
                found = self.store.entries(first, last)
            try:
                return next(found, None)
            except Disconnected:
                found = None
                raise

        while (entry := self._patiently(following)) is not None:
            yield entry
            first = entry.seq + 1

    def entry(self, seq: int) -> Entry:
        """One entry."""
        found = self._ask(lambda store: store.entry(seq))
        if found is None:
            raise LedgerError(f"there is no entry {plain(seq)}")
        return found

    def time_of(self, seq: int) -> str:
        """When an entry was written."""
        return str(self.entry(seq).record["at"])

    def document(self, name: str) -> str | None:
        """The certificate that an entry names."""
        return self._ask(lambda store: store.document(name))

    def _who(self, by: str | None) -> str:
        return read_name(_user() if by is None else by, "by")

    def close(self) -> None:
        """Let go of files and connections; what was written stays.

        Whoever asks from now on is refused; those who are being written in other threads are waited for.
        """
        self._closed = True
        with self._starting:
            started, self._started = self._started, None
        if started is not None and started[0] == os.getpid():
            started[2].end()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ledger {'closed' if self._closed or not self._place else self._place}>"


def _close(process: int, store: Store, line: Line) -> None:
    """Close what nobody uses any more; a thread that still writes when the process ends is not disturbed."""
    if process == os.getpid():
        call_alone(line, 0, lambda nobody_writes: store.close() if nobody_writes else None)


def fresh_name() -> str:
    """128 random bits, in hexadecimal: no two are the same."""
    return bytes(SYSTEM.stream(16).take(16)).hex()


def read_text(text: Any, what: str) -> str:
    """A text that is kept with an entry."""
    if not isinstance(text, str) or len(text) > 10_000:
        raise ParameterError(f"{what}={plain(text)}: expected text of at most 10000 characters")
    return text


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "somebody"


def _own(reserved: Any) -> Request:
    if not isinstance(reserved, Reserved) or not reserved.new:
        raise ParameterError("only a reservation that was newly made here can be answered")
    return reserved.request


def _read_scopes(scopes: Any) -> tuple[str, ...]:
    if isinstance(scopes, str) or not isinstance(scopes, Sequence) or not scopes:
        raise ParameterError(f"scopes={plain(scopes)}: expected the names of those that pay, as in ['visits']")
    return tuple(read_name(name) for name in scopes)


def _read_certificate(text: Any) -> str:
    """A certificate, as `Measurement.certificate` writes them; databases do not take all characters."""
    if not isinstance(text, str) or not text.isascii() or "\0" in text:
        raise ParameterError(f"certificate={plain(text)}: expected the text of a certificate, in ASCII")
    return text


def _read_costs(cost: Any, scopes: Any, of: Any, d_in: Any, part: str | None) -> tuple[Cost, ...]:
    if isinstance(cost, Mapping | Sequence) and scopes:
        raise ParameterError("scopes: the cost names the scopes that pay, each with its loss; leave them out")
    if isinstance(cost, Sequence) and cost and all(isinstance(one, Cost) for one in cost):
        if (of, d_in, part) != (None, None, None):
            raise ParameterError("of, d_in and part are said by each cost; leave them out")
        return tuple(replace(one, scope=read_name(one.scope), loss=read_cost(one.loss)) for one in cost)
    text = None if of is None else describe_neighborhood(of)
    distance = None if d_in is None else exact(d_in, name="d_in")
    if isinstance(cost, Mapping):
        named = [(read_name(name), read_cost(loss)) for name, loss in cost.items()]
    else:
        loss = read_cost(cost)
        named = [(name, loss) for name in _read_scopes(scopes)]
    return tuple(Cost(name, loss, part, text, distance) for name, loss in named)
