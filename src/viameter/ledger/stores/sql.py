"""A store over SQLAlchemy Core, for every database: what differs between them is in `dialects`.

A transaction locks the head first (SQLite by BEGIN IMMEDIATE, PostgreSQL by a row lock), so that writers stand in line
and read what the last one left. Every update says what it expects to find, and one that finds something else undoes the
transaction: a charge that was checked against an old state cannot be written.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import sqlalchemy as sa

from viameter.errors import LedgerTampered, LedgerUnavailable
from viameter.ledger.book import Book, Needed, Request, StoredAnswer
from viameter.ledger.chain import Entry, Head, canonical, digest
from viameter.ledger.migrations import migrate
from viameter.ledger.scopes import Scope
from viameter.ledger.stores import tables
from viameter.ledger.stores.base import Disconnected, NotDone, Sign, Store
from viameter.ledger.stores.dialects import Dialect
from viameter.ledger.stores.schema import strange

T = TypeVar("T")

_AT_ONCE = 1000
"""How many rows are read at a time."""

_LOCK_HEAD = sa.select(tables.head.c.seq, tables.head.c.hash).with_for_update()
_MOVE_HEAD = (
    sa.update(tables.head)
    .where(tables.head.c.seq == sa.bindparam("old_seq"), tables.head.c.hash == sa.bindparam("old_hash"))
    .values(seq=sa.bindparam("new_seq"), hash=sa.bindparam("new_hash"))
)
_CHANGE_SCOPE = (
    sa.update(tables.scopes)
    .where(tables.scopes.c.name == sa.bindparam("of"), tables.scopes.c.seq == sa.bindparam("before"))
    .values(seq=sa.bindparam("new_seq"), state=sa.bindparam("new_state"))
)
_SETTLE = (
    sa.update(tables.requests)
    .where(
        tables.requests.c.by == sa.bindparam("of_by"),
        tables.requests.c.key == sa.bindparam("of_key"),
        tables.requests.c.settled.is_(None),
    )
    .values(settled=sa.bindparam("by_entry"))
)
_REQUESTS = sa.select(tables.requests).where(
    sa.tuple_(tables.requests.c.by, tables.requests.c.key).in_(sa.bindparam("asked", expanding=True))
)
_SCOPES = sa.select(tables.scopes).where(tables.scopes.c.name.in_(sa.bindparam("names", expanding=True)))
_ENTRIES = sa.select(tables.entries).where(tables.entries.c.seq.in_(sa.bindparam("numbers", expanding=True)))
_SCOPE = sa.select(tables.scopes).where(tables.scopes.c.name == sa.bindparam("of"))
_REQUEST = sa.select(tables.requests).where(
    tables.requests.c.by == sa.bindparam("of_by"), tables.requests.c.key == sa.bindparam("of_key")
)
_INSERT = {table: sa.insert(table) for table in tables.metadata.sorted_tables}


class SQLStore(Store):
    """Entries in tables of a database."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.place = dialect.place
        self._engine = dialect.engine(writing=True)
        self._reading_engine = dialect.engine(writing=False)
        self._writer: sa.Connection | None = None
        self._reader: sa.Connection | None = None
        self._held: list[Any] = []
        """What a writer has open, down to the driver's connection: one that is interrupted may not come to close it."""
        self.reading = threading.RLock()
        self._parsed: dict[str, tuple[str, Scope]] = {}
        self._stood: dict[str, tuple[int, str]] = {}
        """How scopes stood when a transaction of this process last held or changed them: they never go back."""
        self._documented: set[str] = set()
        """Names of certificates that are there, some of them: they are not looked for with every charge."""

    def prepare(self, *, create: bool) -> None:
        """See that the tables are there, of this version; make them, or bring them there from an older one."""
        with self._plainly(), self._reading_engine.connect() as connection:
            found = self._version(connection)
            names = [] if found else sa.inspect(connection).get_table_names()
            # Another process may have made the tables between the two looks.
            others = [name for name in names if not name.startswith("ledger_")]
            if found == tables.REVISIONS[-1]:
                return
            if found is not None and found not in tables.REVISIONS:
                raise LedgerUnavailable(
                    f"{self.place} was written by a later version of viameter (schema {found}; this one knows up to "
                    f"{tables.REVISIONS[-1]}): upgrade viameter"
                )
            if found is None and others and self.dialect.is_own:
                raise LedgerUnavailable(f"{self.place} is a database of something else, and no ledger")
            if found is None and not create:
                raise LedgerUnavailable(f"{self.place} has no ledger yet: `viameter ledger init` makes one")
        with self._plainly(), self.dialect.alone(), self._engine.begin() as connection:
            self.dialect.hold(connection)
            migrate(connection)

    def _version(self, connection: sa.Connection) -> str | None:
        if not sa.inspect(connection).has_table(tables.VERSION_TABLE):
            return None
        found = connection.execute(sa.text(f"SELECT version_num FROM {tables.VERSION_TABLE}")).scalar()
        return None if found is None else str(found)

    @contextlib.contextmanager
    def _plainly(self) -> Iterator[None]:
        """Errors of the database as this library's: they never show what was asked, which may be long or private."""
        failed: Exception | None = None
        try:
            yield
        except sa.exc.DBAPIError as problem:
            failed = self.dialect.explain(problem)
        except sa.exc.ResourceClosedError:
            failed = Disconnected(self.place)
        except sa.exc.StatementError as problem:
            failed = NotDone(f"{self.place}: what was asked cannot be written ({type(problem.orig).__name__})")
        if failed is not None:
            try:
                raise failed
            finally:
                # What the database said may show what was asked, and whoever logs errors logs what they came from.
                failed.__cause__ = failed.__context__ = None

    @contextlib.contextmanager
    def writing(self, needed: Needed, sign: Sign | None) -> Iterator[Book]:
        """Lend a book inside of a transaction that holds the head."""
        # The connection is put back when all went well, and only then: an interrupt may come anywhere, and again while
        # the first one is handled, so that nothing else says in which state it left a connection.
        connection, self._writer = self._writer, None
        if connection is None:
            _close(self._held)
            self._held = []
        held = self._held  # this call's own: it may be ended late, when another one writes
        try:
            with self._plainly(), self.dialect.alone(held):
                if connection is None:
                    connection = self._engine.connect()
                    held.append(connection.connection.driver_connection)
                with connection.begin() as transaction:
                    book = self._lend(connection, needed)
                    before = book.head
                    yield book
                    if book.entries:
                        self._add(connection, book, before, sign)
                        self._commit(connection, transaction)
                    else:
                        transaction.rollback()
        except BaseException:
            # Gone, or interrupted in the middle of a statement: nobody knows what it would do next.
            _abandon(connection)
            _close(held)
            raise
        self._writer = connection
        self._stood |= {name: (book.scopes[name].seq, book.states[name]) for name in book.changed_scopes}
        if len(self._documented) > _AT_ONCE:
            self._documented = set()
        self._documented |= book.documents.keys()

    def _commit(self, connection: sa.Connection, transaction: sa.Transaction) -> None:
        """Commit what was written; what was undone meanwhile is tried again, since a commit of nothing is no error."""
        if not transaction.is_active or not self.dialect.in_transaction(connection.connection.driver_connection):
            raise Disconnected(self.place)
        self.dialect.require_same_files()
        transaction.commit()

    def _lend(self, connection: sa.Connection, needed: Needed) -> Book:
        found = connection.execute(_LOCK_HEAD).all()
        if len(found) != 1:
            raise LedgerTampered("the head of the chain is missing")
        book = Book(
            Head(*found[0]),
            names=lambda: tuple(connection.execute(sa.select(tables.scopes.c.name).order_by("name")).scalars()),
            clock=lambda: datetime.now(UTC),
        )
        if needed.requests:
            asked = connection.execute(_REQUESTS, {"asked": needed.requests})
            book.requests = {(row.by, row.key): Request(*row) for row in asked}
        if needed.scopes:
            states = connection.execute(_SCOPES, {"names": needed.scopes}).all()
            self._check_states(connection, needed.scopes, states)
            book.scopes = {row.name: self._scope(row) for row in states}
        if needed.answers:
            count = (
                sa.select(tables.answers.c.reserved, sa.func.count())
                .where(tables.answers.c.reserved.in_(needed.answers))
                .group_by(tables.answers.c.reserved)
            )
            book.numbers = dict(connection.execute(count).all())
        return book

    def _check_states(self, connection: sa.Connection, names: Sequence[str], rows: Sequence[Any]) -> None:
        """See that scopes stand as the entries left them that they name, and not as they stood before."""
        found = {row.name: (row.seq, row.state) for row in rows}
        for name in names:
            if name in self._stood and (name not in found or found[name][0] < self._stood[name][0]):
                raise LedgerTampered(f"the scope {name!r} was put back", entry=self._stood[name][0])
        new = {name: stands for name, stands in found.items() if self._stood.get(name) != stands}
        if not new:
            return  # as this process saw or left them, which is what is found where nobody else writes
        entries = connection.execute(_ENTRIES, {"numbers": sorted({seq for seq, _ in new.values()})})
        try:
            said = {row.seq: json.loads(row.body)["states"] for row in entries if digest(row.body) == row.hash}
            wrong = [name for name, (seq, state) in new.items() if said.get(seq, {}).get(name) != digest(state)]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise LedgerTampered("rows of its tables are not as this library writes them") from None
        for name in wrong:
            raise LedgerTampered(f"the scope {name!r} is not as that entry left it", entry=new[name][0])
        self._stood |= new

    def _scope(self, row: Any) -> Scope:
        """A scope from its row; what was read before and is the same text is not read again."""
        known = self._parsed.get(row.name)
        if known is not None and known[0] == row.state and known[1].seq == row.seq:
            return known[1]
        try:
            scope = Scope.from_json(json.loads(row.state), row.seq)
        except Exception:  # whatever is wrong with a text that this library did not write
            raise LedgerTampered(f"the state of the scope {row.name!r} cannot be read") from None
        if scope.name != row.name or canonical(scope.to_json()) != row.state:
            raise LedgerTampered(f"the state of the scope {row.name!r} is not as this library writes it")
        self._parsed[row.name] = (row.state, scope)
        return scope

    def _add(self, connection: sa.Connection, book: Book, before: Head, sign: Sign | None) -> None:
        self._keep(connection, book, before)
        if sign is not None:
            row = {"seq": book.head.seq, "signature": sign(book.head)}
            connection.execute(sa.insert(tables.signatures), row)

    def _keep(self, connection: sa.Connection, book: Book, before: Head) -> None:
        connection.execute(_INSERT[tables.entries], _rows(tables.entries, book.entries))
        moved = {"old_seq": before.seq, "old_hash": before.hash, "new_seq": book.head.seq, "new_hash": book.head.hash}
        self._once(connection, _MOVE_HEAD, moved, "the head of the chain")
        for name, stood_at in book.changed_scopes.items():
            scope, state = book.scopes[name], book.states[name]
            if stood_at == 0:
                connection.execute(_INSERT[tables.scopes], {"name": name, "seq": scope.seq, "state": state})
            else:
                changed = {"of": name, "before": stood_at, "new_seq": scope.seq, "new_state": state}
                self._once(connection, _CHANGE_SCOPE, changed, f"the scope {name!r}")
            self._parsed[name] = (state, scope)  # it is looked at if the same text is read again
        made = [book.requests[asked] for asked, new in book.changed_requests.items() if new]
        if made:
            connection.execute(_INSERT[tables.requests], _rows(tables.requests, made))
        self._settle(connection, [book.requests[asked] for asked, new in book.changed_requests.items() if not new])
        if book.answers:
            connection.execute(_INSERT[tables.answers], _rows(tables.answers, book.answers))
        self._keep_documents(connection, book)

    def _settle(self, connection: sa.Connection, requests: Sequence[Request]) -> None:
        rows = [{"of_by": one.by, "of_key": one.key, "by_entry": one.settled} for one in requests]
        if len(rows) > 1 and connection.dialect.supports_sane_multi_rowcount:
            if connection.execute(_SETTLE, rows).rowcount != len(rows):
                raise LedgerTampered("requests were changed while they were held")
            return
        for row in rows:
            self._once(connection, _SETTLE, row, "a request")

    def _once(self, connection: sa.Connection, statement: sa.Update, values: dict[str, Any], what: str) -> None:
        if connection.execute(statement, values).rowcount != 1:
            raise LedgerTampered(f"{what} was changed while it was held")

    def _keep_documents(self, connection: sa.Connection, book: Book) -> None:
        asked = book.documents.keys() - self._documented
        if not asked:
            return
        wanted = sa.select(tables.documents.c.name).where(tables.documents.c.name.in_(asked))
        known = set(connection.execute(wanted).scalars())
        new = [{"name": name, "text": book.documents[name]} for name in asked - known]
        if new:
            connection.execute(_INSERT[tables.documents], new)

    def _read(self, ask: Callable[[sa.Connection], T]) -> T:
        """Ask on a connection for reading, outside of the writer's transaction."""
        with self.reading:
            connection, self._reader = self._reader, None  # put back when all went well, like the writer's
            try:
                with self._plainly():
                    if connection is None:
                        # No transaction of a writer: reading waits for nobody, and nobody waits for it.
                        connection = self._reading_engine.connect()
                    found = ask(connection)
                    if connection.in_transaction():
                        connection.rollback()
            except BaseException:
                # This one alone: the writer may be in the middle of a transaction that goes well.
                _abandon(connection)
                raise
            self._reader = connection
            return found

    def _rows(self, wanted: sa.Select[Any], **values: Any) -> Sequence[Any]:
        return self._read(lambda connection: connection.execute(wanted, values).all())

    def head(self) -> Head:
        """The last entry."""
        rows = self._rows(sa.select(tables.head.c.seq, tables.head.c.hash))
        if len(rows) != 1:
            raise LedgerTampered("the head of the chain is missing")
        return Head(*rows[0])

    def entries(self, first: int = 1, last: int | None = None) -> Iterator[Entry]:
        """Entries in order, read as they are asked for."""
        while last is None or first <= last:
            wanted = sa.select(tables.entries).where(tables.entries.c.seq >= first).order_by("seq").limit(_AT_ONCE)
            if last is not None:
                wanted = wanted.where(tables.entries.c.seq <= last)
            found = [Entry(*row) for row in self._rows(wanted)]
            yield from found
            if len(found) < _AT_ONCE:
                return
            first = found[-1].seq + 1

    def entries_of(self, numbers: Collection[int]) -> Iterator[Entry]:
        """The entries of these numbers, read in blocks."""
        listed = sorted(numbers)
        for start in range(0, len(listed), _AT_ONCE):
            wanted = sa.select(tables.entries).where(tables.entries.c.seq.in_(listed[start : start + _AT_ONCE]))
            yield from (Entry(*row) for row in self._rows(wanted))

    def scope(self, name: str) -> Scope | None:
        """A scope as it stands."""
        row = next(iter(self._rows(_SCOPE, of=name)), None)
        return None if row is None else self._scope(row)

    def scopes(self) -> list[Scope]:
        """All scopes, by name."""
        rows = self._rows(sa.select(tables.scopes))
        return sorted((self._scope(row) for row in rows), key=lambda scope: scope.name)

    def states(self) -> list[tuple[str, int, str]]:
        """Name, last entry and text of every scope."""
        return [(row.name, row.seq, row.state) for row in self._rows(sa.select(tables.scopes))]

    def requests(self) -> Iterator[Request]:
        """All requests, in the order in which they were charged."""
        return (Request(*row) for row in self._rows(sa.select(tables.requests).order_by("reserved")))

    def request(self, by: str, key: str) -> Request | None:
        """A request by who made it, and its key."""
        row = next(iter(self._rows(_REQUEST, of_by=by, of_key=key)), None)
        return None if row is None else Request(*row)

    def answers(self, reserved: int) -> list[StoredAnswer]:
        """What was stored for a request, in order."""
        wanted = sa.select(tables.answers).where(tables.answers.c.reserved == reserved).order_by("number")
        return [StoredAnswer(*row) for row in self._rows(wanted)]

    def beginnings(self, reserved: Collection[int], size: int) -> Iterator[tuple[int, bytes | None]]:
        """How each answer begins that was stored for requests, read in blocks."""
        listed, columns = sorted(reserved), tables.answers.c
        beginning = sa.func.substr(columns.content, 1, size, type_=sa.LargeBinary)
        for start in range(0, len(listed), _AT_ONCE):
            of = columns.reserved.in_(listed[start : start + _AT_ONCE])
            wanted = sa.select(columns.reserved, beginning).where(of).order_by(columns.reserved, columns.number)
            yield from ((number, found if found is None else bytes(found)) for number, found in self._rows(wanted))

    def all_answers(self) -> Iterator[StoredAnswer]:
        """All that was stored, request by request."""
        at = (-1, -1)
        place = sa.tuple_(tables.answers.c.reserved, tables.answers.c.number)
        while True:
            # A row value for a place to go on from: both databases find it by the primary key.
            wanted = sa.select(tables.answers).where(place > at).order_by("reserved", "number").limit(_AT_ONCE)
            found = [StoredAnswer(*row) for row in self._rows(wanted)]
            yield from found
            if len(found) < _AT_ONCE:
                return
            at = (found[-1].reserved, found[-1].number)

    def counts(self) -> dict[str, int]:
        """How many there are of each."""
        kinds = ("scopes", "requests", "answers", "documents", "signatures")
        counts = {kind: sa.select(sa.func.count()).select_from(getattr(tables, kind)) for kind in kinds}
        return {kind: int(self._rows(count)[0][0]) for kind, count in counts.items()}

    def document(self, name: str) -> str | None:
        """A certificate by its digest."""
        rows = self._rows(sa.select(tables.documents.c.text).where(tables.documents.c.name == name))
        return rows[0][0] if rows else None

    def documents(self) -> Iterator[tuple[str, str]]:
        """All certificates with their digests."""
        names = self._rows(sa.select(tables.documents.c.name).order_by("name"))
        return ((name, self.document(name) or "") for (name,) in names)

    def signature(self, seq: int) -> str | None:
        """The signature of the head that an entry was."""
        rows = self._rows(sa.select(tables.signatures.c.signature).where(tables.signatures.c.seq == seq))
        return rows[0][0] if rows else None

    def strange(self) -> list[str]:
        """Tables, columns, triggers and the like that are not of this library."""
        return self._read(strange)

    def check(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        return self._read(self.dialect.check)

    def facts(self) -> dict[str, Any]:
        """How safely it keeps what it is given."""
        return self._read(self.dialect.facts)

    def copy_to(
        self,
        other: SQLStore,
        progress: Callable[[int], None] | None = None,
        *,
        then: Callable[[Book], None] | None = None,
        sign: Sign | None = None,
    ) -> Head:
        """Copy all rows, as they are at one time, to a store that has none, and add to them in the same transaction.

        `then` is lent a book of all scopes. Returns the head that the copy ends at.
        """
        copied = 0
        with (
            self._plainly(),
            self.dialect.snapshot(self._reading_engine) as rows,
            other._plainly(),
            other.dialect.alone(),
            other._engine.begin() as target,
        ):
            target.execute(sa.delete(tables.head))
            for table in tables.metadata.sorted_tables:
                found = rows.execution_options(yield_per=_AT_ONCE).execute(sa.select(table))
                for block in found.mappings().partitions(_AT_ONCE):
                    target.execute(sa.insert(table), [dict(row) for row in block])
                    copied += len(block)
                    if progress is not None:
                        progress(copied)
            names = tuple(target.execute(sa.select(tables.scopes.c.name)).scalars()) if then is not None else ()
            book = other._lend(target, Needed(scopes=names))
            before = book.head
            if then is not None:
                then(book)
                other._add(target, book, before, sign)
        return book.head

    def close(self) -> None:
        """Close its connections."""
        with self.reading:
            for connection in (self._writer, self._reader):
                if connection is not None:
                    with contextlib.suppress(sa.exc.DBAPIError):
                        connection.close()
            self._writer = self._reader = None
            _close(self._held)
            self._engine.dispose()
            self._reading_engine.dispose()

    @property
    def keeps_files(self) -> bool:  # type: ignore[override]
        """Locks of SQLite are those of a process, and a list of them is copied by a fork."""
        return self.dialect.is_own


def _abandon(connection: sa.Connection | None) -> None:
    """Close a connection in whatever state it is; the database undoes what was not committed."""
    if connection is not None:
        with contextlib.suppress(Exception):
            connection.invalidate()
        with contextlib.suppress(Exception):
            connection.close()


def _close(held: list[Any]) -> None:
    """Close what a writer left open; what was not closed yet when an interrupt comes is still in the list."""
    while held:
        with contextlib.suppress(Exception):
            held[-1].close()
        held.pop()


def _rows(table: sa.Table, records: Sequence[Any]) -> list[dict[str, Any]]:
    """Records whose fields are called like the columns of a table."""
    names = table.columns.keys()
    return [{name: getattr(record, name) for name in names} for record in records]
