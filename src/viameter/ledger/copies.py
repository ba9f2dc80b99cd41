"""Copies: a backup of a ledger, and its way back, which cannot refund.

A backup does not know what was charged after it. If the witness beside a file says that nothing was, it is restored as
it is; else all that was left in every scope counts as spent, since any of it may have been. On a server each user has a
witness of their own, and none of them knows what others have charged.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viameter.errors import LedgerBehind, LedgerError, LedgerUnavailable
from viameter.ledger.book import Book
from viameter.ledger.chain import Head
from viameter.ledger.ledger import Ledger, fresh_name, read_text
from viameter.ledger.opening import check_end, dialect_of, find_witness, read_signing_key
from viameter.ledger.opening import open as open_ledger
from viameter.ledger.requests import Close
from viameter.ledger.verifying import verify
from viameter.ledger.witness import Seen, Witness

Progress = Callable[[int], None]


def backup(ledger: Ledger, target: str | Path, *, progress: Progress | None = None) -> Head:
    """Copy a ledger, as it is at one time, into a new SQLite file; returns the head that the copy ends at.

    The copy has no witness, so that nobody opens it by mistake and spends again: `restore` brings it back.
    """
    from viameter.ledger.stores.sql import SQLStore

    source = ledger.store
    if not isinstance(source, SQLStore):
        raise LedgerError("a ledger in memory has no backup: it ends with its process")
    into = Path(target)
    with _made_here(into):
        copy = SQLStore(dialect_of(str(into)))
        try:
            copy.prepare(create=True)
            head = source.copy_to(copy, progress)
            check_end(copy, None, writing=False)
            return head
        finally:
            copy.close()


@contextlib.contextmanager
def _made_here(path: Path) -> Iterator[None]:
    """A file that nobody else made, and that goes away again if this fails: half a copy is none."""
    try:
        path.open("xb").close()
    except FileExistsError:
        raise LedgerUnavailable(f"{path} is there already: a copy does not replace anything") from None
    except OSError as problem:
        raise LedgerUnavailable(f"{path} cannot be written: {problem.strerror}") from None
    try:
        yield
    except BaseException:
        for name in ("", "-wal", "-shm", "-lock"):
            with contextlib.suppress(OSError):
                path.with_name(path.name + name).unlink()
        raise
    with contextlib.suppress(OSError):
        path.with_name(f"{path.name}-lock").unlink()  # nobody waits to write to a backup


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of a restore."""

    head: Head
    """The last entry of the backup."""
    seen: Head | None
    """What the witness had seen; None if there was none."""
    closed: bool
    """Whether what was left counts as spent now, since entries were lost."""


def restore(
    copy: str | Path,
    location: str | Path,
    *,
    witness: str | Path | bool = True,
    signing_key: Any = None,
    by: str | None = None,
    why: str = "",
    progress: Progress | None = None,
) -> Restored:
    """Bring a backup back to where its ledger was. What was charged since the backup stays spent, whatever it was.

    The witness beside a lost file tells whether anything was. Without one, or on a server, nobody knows, and all scopes
    are closed. A backup that an older version wrote is left as it is: it is a copy of it that is brought to this one.
    """
    from viameter.ledger.stores.sql import SQLStore

    outside = find_witness(location, witness)
    seen = None if outside is None else outside.read()
    target = dialect_of(location)
    reason = read_text(why, "why")
    key = read_signing_key(signing_key)
    with (
        _of_this_version(Path(copy)) as readable,
        open_ledger(readable, create=False, read_only=True, witness=False) as source,
    ):
        verify(source).require()
        store = source.store
        assert isinstance(store, SQLStore)
        if seen is not None and seen.id != source.id:
            raise LedgerBehind(f"{copy} is a backup of another ledger than the one that the witness saw")
        check_end(store, key, writing=True)
        head, id = store.head(), source.id
        if target.exists() and target.is_own:
            raise LedgerUnavailable(f"{target.place} is still there: move it away first, and keep its witness")
        if outside is not None:
            _refuse_one_that_lives(outside, id)
        exact = target.is_own and seen is not None and seen.head == head
        if exact:
            reason = reason or "nothing was charged since the backup"
        else:
            reason = reason or "entries were lost: what was left counts as spent"
        lost = {"backup": head.seq, "witness": None if seen is None else seen.head.seq, "exact": exact}
        who, nonce = source._who(by), fresh_name()

        def close(book: Book) -> None:
            names = () if exact else tuple(sorted(book.scopes))
            Close(by=who, nonce=nonce, names=names, lost=lost, why=reason).apply(book)

        with _made_here(target.path) if target.is_own else contextlib.nullcontext():
            made = SQLStore(target)
            try:
                made.prepare(create=True)
                if made.head().seq:
                    raise LedgerUnavailable(f"{target.place} has entries: a restore does not replace anything")
                # In one transaction: a copy that nobody has closed would be a refund.
                sign = None if key is None else lambda at: key.sign(id, at)
                end = store.copy_to(made, progress, then=close, sign=sign)
                check_end(made, key, writing=True)
            finally:
                made.close()
    if outside is not None:
        outside.replace(Seen(id, end))  # until now, it asks for what was lost
    return Restored(head, None if seen is None else seen.head, closed=not exact)


def _refuse_one_that_lives(witness: Witness, id: str) -> None:
    """Refuse to restore a ledger whose witness lies beside it, somewhere else, as long as it is there."""
    from viameter.ledger.stores.sql import SQLStore

    path = Path(os.path.realpath(witness.path))
    for beside in {witness.path.with_suffix(""), path.with_suffix("")}:
        if ".witness" not in (path.suffix, witness.path.suffix) or not beside.is_file():
            continue
        found = SQLStore(dialect_of(beside, read_only=True))
        try:
            first = found.entry(1)
            same = first is not None and first.record.get("id") == id
        except (LedgerError, ValueError, AttributeError):
            same = False  # something else, or nothing that could be opened
        finally:
            found.close()
        if same:
            raise LedgerUnavailable(
                f"{beside} is still there, and is the ledger that this witness is of: two of them would spend the same "
                "budget twice. Move it away first, and keep its witness"
            )


@contextlib.contextmanager
def _of_this_version(copy: Path) -> Iterator[Path]:
    """A backup that can be read now: itself, or a copy of it in the schema of this version."""
    from viameter.ledger.stores.sql import SQLStore
    from viameter.ledger.stores.tables import REVISIONS

    looked_at = SQLStore(dialect_of(copy, read_only=True))
    try:
        with looked_at._plainly(), looked_at._reading_engine.connect() as connection:
            found = looked_at._version(connection)
    finally:
        looked_at.close()
    if found not in REVISIONS[:-1]:
        yield copy
        return
    with tempfile.TemporaryDirectory() as folder:
        brought = Path(folder, "backup.db")
        # By SQLite: to read the file beside it would drop all locks that this process has on it.
        address = f"{copy.absolute().as_uri()}?mode=ro"
        with (
            contextlib.closing(sqlite3.connect(address, uri=True)) as source,
            contextlib.closing(sqlite3.connect(brought)) as target,
        ):
            source.backup(target)
        store = SQLStore(dialect_of(brought))
        try:
            store.prepare(create=False)
        finally:
            store.close()
        yield brought
