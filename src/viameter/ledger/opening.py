"""Open a ledger: see that it is one, that its end fits together, and that it is not behind its witness."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from viameter.errors import LedgerBehind, LedgerTampered, LedgerUnavailable, ParameterError, ViameterError, plain
from viameter.ledger.chain import FORMAT, Head, canonical, digest, follow
from viameter.ledger.ledger import Ledger
from viameter.ledger.signing import SigningKey, is_signed
from viameter.ledger.stores.base import Disconnected, Store
from viameter.ledger.stores.memory import MemoryStore
from viameter.ledger.witness import Seen, Witness
from viameter.ledger.writer import PATIENCE

LAST_ENTRIES = 2000
"""How many entries are checked when a ledger is opened; all of them are by `verify`."""

KEY_VARIABLE = "VIAMETER_LEDGER_KEY"
"""The environment variable that names the file of the signing key."""


def open(
    location: str | Path,
    *,
    create: bool = True,
    witness: str | Path | bool = True,
    signing_key: str | Path | SigningKey | None = None,
    read_only: bool = False,
    new_witness: bool = False,
    by: str | None = None,
    patience: float = PATIENCE,
) -> Ledger:
    """Open the ledger at a path (SQLite) or a URL (postgresql://...), and make it if there is none.

    The witness is a file that remembers the last entry: beside a SQLite file as `NAME.witness`, for a server among the
    user's own files; `witness` is another path, or False for none. A ledger behind its witness is refused, and so is
    one without the witness that it should have, unless `new_witness` says that it is to be trusted as it is. With a
    `signing_key` (a PEM file, or the environment variable VIAMETER_LEDGER_KEY), new heads are signed.

    >>> import tempfile, viameter as vm
    >>> from viameter import ledger
    >>> folder = tempfile.TemporaryDirectory()
    >>> with ledger.open(f"{folder.name}/budget.db") as book:
    ...     scope = book.define("visits", vm.pure(1), vm.SymmetricDistance())
    ...     reserved = book.reserve(vm.pure("1/10"), scopes=["visits"], key="a")
    >>> with ledger.open(f"{folder.name}/budget.db") as book:
    ...     book.scope("visits").left
    pure(9/10)
    >>> folder.cleanup()
    """
    dialect = dialect_of(location, read_only=read_only)
    key = read_signing_key(signing_key)
    outside = find_witness(location, witness)
    seen = None if outside is None else outside.read()
    if not dialect.exists():
        if seen is not None:
            raise LedgerBehind(
                f"{dialect.place} is gone, and its witness {outside.place if outside else ''} saw entry "
                f"{seen.head.seq} of it: a new ledger would be a refund. `viameter ledger restore` brings a backup back"
            )
        if not create or read_only:
            raise LedgerUnavailable(f"{dialect.place} is not there: `viameter ledger init` makes it")
    elif dialect.is_own and not read_only:
        _refuse_something_else(dialect.path)

    def connect() -> Store:
        from viameter.ledger.stores.sql import SQLStore

        store = SQLStore(dialect)
        try:
            store.prepare(create=create and not read_only)
        except BaseException:
            store.close()
            raise
        return store

    ledger = Ledger(connect, witness=outside, signing_key=key, read_only=read_only, patience=patience)
    try:
        _start(ledger, seen, key, by=by, trusting=new_witness)
    except Disconnected as gone:
        ledger.close()
        raise LedgerUnavailable(f"{gone} does not answer: is the server running, and may this user connect?") from None
    except UnicodeDecodeError:  # SQLite quotes what it could not read
        ledger.close()
        raise LedgerUnavailable(f"{dialect.place} is damaged: what it says of its own tables cannot be read") from None
    except BaseException:
        ledger.close()
        raise
    return ledger


def in_memory(*, signing_key: SigningKey | None = None) -> Ledger:
    """A ledger that ends with its process: the same interface, no files.

    >>> import viameter as vm
    >>> in_memory().define("visits", vm.pure(1), vm.SymmetricDistance()).left
    pure(1)
    """
    store = MemoryStore()
    ledger = Ledger(lambda: store, signing_key=signing_key)
    ledger.begin()
    return ledger


def dialect_of(location: Any, *, read_only: bool = False) -> Any:
    """The kind of database that a location is in; SQLAlchemy is loaded here and not before."""
    if not isinstance(location, str | os.PathLike) or not str(location):
        raise ParameterError(f"ledger={plain(location)}: expected a path, or a URL such as postgresql://host/database")
    try:
        from viameter.ledger.stores.dialects import PostgreSQL, SQLite
    except ModuleNotFoundError:
        raise LedgerUnavailable("a ledger on disk needs SQLAlchemy: pip install 'viameter[ledger]'") from None
    text = os.fspath(location)
    scheme, separator, _ = text.partition("://")
    # What is wrong with a URL is not shown: it may be a password.
    expected = "expected a path, or postgresql://user@host/database"
    if not separator:
        if text.lower().startswith("postgres") and ":" in text.partition("/")[0]:
            raise ParameterError(f"the URL of the ledger cannot be read: {expected}")
        return SQLite(text, read_only=read_only)
    if scheme.partition("+")[0] not in ("postgresql", "postgres"):
        raise ParameterError(f"a ledger at such a URL is not known: {expected}")
    with contextlib.suppress(ValueError):
        return PostgreSQL(text, read_only=read_only)
    raise ParameterError(f"the URL of the ledger cannot be read: {expected}")


def _refuse_something_else(path: Path) -> None:
    """See that a file is no database of something else before it is opened in the way of ledgers, which changes it."""
    import sqlite3

    try:
        # By SQLite itself: to open and close the file beside it would let go of all locks that this process has on it.
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except (OSError, sqlite3.Error, UnicodeDecodeError):
        return  # which is said when it is opened
    if found and "ledger_version" not in found:
        raise LedgerUnavailable(f"{path} is a database of something else, and no ledger")


def read_signing_key(given: Any) -> SigningKey | None:
    """A key, the one in a file, or the one that the environment names."""
    if isinstance(given, SigningKey):
        return given
    path = given or os.environ.get(KEY_VARIABLE)
    return None if not path else SigningKey.read(path)


def find_witness(location: Any, given: Any) -> Witness | None:
    """The witness of a ledger: where it was said to be, or where it is by default; None for none."""
    if given is False:
        return None
    if given is not True:
        return Witness(given)
    text = os.fspath(location)
    if "://" not in text:
        return Witness(f"{text}.witness")
    # On a server there is no place beside it that this user could write to.
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Witness(state / "viameter" / f"{digest(canonical(_where(dialect_of(text).url)))[:32]}.witness")


def _where(url: Any) -> list[str]:
    """Which database a URL leads to, and as whom: the same with a password, without one, and with the usual port."""
    query = {name: value if isinstance(value, str) else ",".join(value) for name, value in url.query.items()}
    host = query.get("host") or query.get("hostaddr") or url.host or ""
    port = query.get("port") or url.port or 5432
    return [
        query.get("user") or url.username or "",
        host.lower() if "/" not in host else host,
        str(port),
        query.get("dbname") or url.database or "",
    ]


def _start(ledger: Ledger, seen: Seen | None, key: SigningKey | None, *, by: str | None, trusting: bool) -> None:
    """Begin a new ledger, or see that an old one is what it should be."""
    head = ledger.store.head()
    if head.seq == 0:
        if seen is not None:
            raise LedgerBehind(
                f"{ledger.place} has no entries, and its witness saw entry {seen.head.seq}: it was emptied"
            )
        if ledger._read_only:
            raise LedgerUnavailable(f"{ledger.place} has no entries yet")
        _begin(ledger, by)
        head = ledger.store.head()
    check_end(ledger.store, key, writing=not ledger._read_only)
    witness = ledger.witness
    if witness is None:
        return
    if seen is None:
        seen = witness.read()  # another process may have made the ledger meanwhile, and its witness before entry 2
    if seen is None and head.seq > 1 and not trusting and _kept_beside(ledger):
        raise LedgerBehind(
            f"the witness {witness.place} of {ledger.place} is missing: if the ledger was moved, move the witness with "
            "it; if this is a backup, `viameter ledger restore` brings it back; new_witness=True (on the command line, "
            "`viameter ledger verify --new-witness`) trusts it as it is"
        )
    if seen is not None:
        check_witness(ledger, seen)
    if not ledger._read_only:
        witness.advance(Seen(ledger.id, head), ledger.store.has)


def _begin(ledger: Ledger, by: str | None) -> None:
    # Another process may be first. Which ledger this is, is known when it is read again; the witness is told then.
    ledger._witness, outside = None, ledger._witness
    try:
        ledger.begin(by=by)
    finally:
        ledger._witness = outside


def _kept_beside(ledger: Ledger) -> bool:
    """Whether the witness lies beside the file; on a server, each of its users has one, from the first look on."""
    return bool(ledger.store.dialect.is_own)  # type: ignore[attr-defined]


def check_witness(ledger: Ledger, seen: Seen) -> None:
    """Refuse a ledger that does not have what its witness saw."""
    if seen.id != ledger.id:
        raise LedgerBehind(f"{ledger.place} is another ledger than the one that its witness saw: it was replaced")
    known = ledger.store.entry(seen.head.seq)
    if known is None:
        raise LedgerBehind(
            f"{ledger.place} ends at entry {ledger.head.seq}, and its witness saw entry {seen.head.seq}: an older copy "
            "forgets what was charged since. `viameter ledger restore` counts what was lost as spent"
        )
    if known.hash != seen.head.hash:
        raise LedgerBehind(
            f"entry {seen.head.seq} of {ledger.place} is not the one that its witness saw: entries were rewritten, at "
            f"or before entry {seen.head.seq}"
        )


def check_end(store: Store, key: SigningKey | None, *, writing: bool, last: int = LAST_ENTRIES) -> None:
    """See that the last entries follow one another, that scopes stand where they say, and that the end is signed.

    Others may write meanwhile: entries never change, and whatever is read later is at or after the head of before.
    """
    try:
        head = store.head()
        first = store.entry(1)
        record = {} if first is None else follow(Head(), first)
        if record.get("kind") != "init" or record.get("format") != FORMAT:
            raise LedgerTampered("it is not the beginning of a ledger of this format", entry=1)
        for found in store.strange():
            raise LedgerTampered(f"there is {found}")
        _check_scopes(store, head, _last_changes(store, head, last))
        check_signature(store, record, head, key, writing=writing)
    except ViameterError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError):  # text where a number should be, and the like
        raise LedgerTampered("rows of its tables are not as this library writes them") from None


def _last_changes(store: Store, head: Head, last: int) -> dict[str, int]:
    """Follow the last entries up to the head; returns which of them was the last to change a scope."""
    at = Head()
    if head.seq > last:
        before = store.entry(head.seq - last)
        if before is None:
            raise LedgerTampered("it is missing", entry=head.seq - last)
        at = before.head
    changed: dict[str, int] = {}
    for entry in store.entries(at.seq + 1, head.seq):
        changed |= dict.fromkeys(follow(at, entry)["states"], entry.seq)
        at = entry.head
    if at != head:
        raise LedgerTampered(f"the chain ends here, and the head says {head.seq}", entry=at.seq)
    refuse_beyond(store, head)
    return changed


def refuse_beyond(store: Store, head: Head) -> None:
    """See that no entry comes after the head, unless it moved."""
    beyond = next(store.entries(head.seq + 1), None)
    if beyond is not None and store.head() == head:
        raise LedgerTampered(f"it comes after the head, which is entry {head.seq}", entry=beyond.seq)


def _check_scopes(store: Store, head: Head, changed: Mapping[str, int]) -> None:
    """See that scopes are as the entry left them that they name, and that no later one changed them."""
    missing = dict(changed)
    # By their texts, which are not read until they are needed: there may be thousands.
    states = sorted(store.states())
    numbers = {seq for _, seq, _ in states}
    said = {
        entry.seq: entry.record["states"] for entry in store.entries_of(numbers) if digest(entry.body) == entry.hash
    }
    for name, seq, state in states:
        last = missing.pop(name, 0)
        if last and seq != last and seq <= head.seq:
            raise LedgerTampered(f"the scope {name!r} is not as that entry left it", entry=last)
        if not isinstance(state, str) or said.get(seq, {}).get(name) != digest(state):
            raise LedgerTampered(f"the scope {name!r} is not as that entry left it", entry=seq)
    for name, seq in missing.items():
        raise LedgerTampered(f"the scope {name!r}, which it changed, is missing", entry=seq)


def check_signature(store: Store, first: Any, head: Head, key: SigningKey | None, *, writing: bool) -> None:
    """See that the head is signed if the ledger's heads are, and that whoever writes has the key."""
    public = first.get("public_key")
    if public is None:
        if key is not None and writing:
            raise ParameterError(
                "signing_key: the heads of this ledger are not signed, which is decided when a ledger is made "
                "(`viameter ledger init --sign-with KEY`)"
            )
        return
    signature = store.signature(head.seq)
    if signature is None or not is_signed(public, str(first.get("id")), head, signature):
        raise LedgerTampered("the end of the chain is not signed by the ledger's key", entry=head.seq)
    if writing and (key is None or key.public != public):
        which = "no key was given" if key is None else "another key was given"
        raise ParameterError(
            f"signing_key: heads of this ledger are signed, and {which}: give signing_key=, or {KEY_VARIABLE}"
        )
