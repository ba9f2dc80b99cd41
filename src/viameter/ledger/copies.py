"""Copies: a backup of a ledger, and its way back, which cannot refund.

A backup does not know what was charged after it. If the witness says that nothing was, it is restored as it is; else
all that was left in every scope counts as spent, since any of it may have been.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viameter.errors import LedgerBehind, LedgerError, LedgerUnavailable
from viameter.ledger.chain import Head
from viameter.ledger.ledger import Ledger
from viameter.ledger.opening import _signing_key, _witness, check_end, dialect_of
from viameter.ledger.opening import open as open_ledger
from viameter.ledger.verifying import verify
from viameter.ledger.witness import Seen

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
    if into.exists():
        raise LedgerUnavailable(f"{into} is there already: a backup does not replace anything")
    copy = SQLStore(dialect_of(str(into)))
    try:
        copy.prepare(create=True)
        source.copy_to(copy, progress)
        check_end(copy, None, writing=False)
        return copy.head()
    finally:
        copy.close()


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

    The witness of the lost ledger tells whether anything was. Without one nobody knows, and all scopes are closed.
    """
    from viameter.ledger.stores.sql import SQLStore

    outside = _witness(location, witness)
    seen = None if outside is None else outside.read()
    target = dialect_of(location)
    key = _signing_key(signing_key)
    with open_ledger(copy, create=False, read_only=True, witness=False) as source:
        verify(source).require()
        store = source.store
        assert isinstance(store, SQLStore)
        if seen is not None and seen.id != source.id:
            raise LedgerBehind(f"{copy} is a backup of another ledger than the one that the witness saw")
        check_end(store, key, writing=True)
        head = store.head()
        made = SQLStore(target)
        try:
            if target.exists() and target.is_own:
                raise LedgerUnavailable(f"{target.place} is still there: move it away first, and keep its witness")
            made.prepare(create=True)
            if made.head().seq:
                raise LedgerUnavailable(f"{target.place} has entries: a restore does not replace anything")
            store.copy_to(made, progress)
        finally:
            made.close()
        id = source.id
    exact = seen is not None and seen.head == head
    _finish(location, witness, key, Seen(id, head), seen, exact, by, why)
    return Restored(head, None if seen is None else seen.head, closed=not exact)


def _finish(
    location: str | Path,
    witness: Any,
    key: Any,
    copied: Seen,
    seen: Seen | None,
    exact: bool,
    by: str | None,
    why: str,
) -> None:
    # The witness still asks for what was lost, so it is not asked until the loss is written down.
    with open_ledger(location, create=False, witness=False, signing_key=key) as ledger:
        lost = {"backup": copied.head.seq, "witness": None if seen is None else seen.head.seq}
        if exact:
            reason = why or "nothing was charged since the backup"
            ledger.close_scopes(lost=lost, why=reason, by=by, names=())
        else:
            ledger.close_scopes(lost=lost, why=why or "entries were lost: what was left counts as spent", by=by)
        head = ledger.head
    outside = _witness(location, witness)
    if outside is not None:
        outside.replace(Seen(copied.id, head))
