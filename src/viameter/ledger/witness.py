"""The witness: a small file outside of the database that remembers the last head it saw.

A restored backup, a database that was replaced or one that was made anew is behind it, and is refused: forgetting
charges is a refund. It is written after every transaction and never goes back. It has two places that are written in
turn, each with a digest, so that a write that is cut off leaves the other one; if the very first is, it saw nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from viameter.errors import LedgerBehind, LedgerUnavailable
from viameter.ledger.chain import Head, digest
from viameter.ledger.locking import locked

FORMAT = "viameter-witness/1"
_PLACE = 256


@dataclass(frozen=True, slots=True)
class Seen:
    """The last head that a witness saw, and of which ledger."""

    id: str
    head: Head


class Witness:
    """A file that remembers a head."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()  # a service may go to another folder
        self.place = str(path)

    def read(self) -> Seen | None:
        """What it saw; None if it saw nothing, or is not there. A file that cannot be read is refused."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise LedgerUnavailable(f"the witness {self.place} cannot be read: {problem.strerror}") from None
        found = [seen for _, seen in _places(content)]
        if not found and len(content) <= _PLACE:
            return None  # the first write was cut off: no more than if the file were not there
        if not found:
            raise LedgerBehind(
                f"the witness {self.place} is damaged: what it saw cannot be read. Compare the head of the ledger with "
                "a copy that is kept elsewhere, then take the file away and restore the ledger"
            )
        return max(found, key=lambda seen: seen.head.seq)

    def advance(self, seen: Seen, has: Callable[[Head], bool]) -> None:
        """Remember a head, unless it saw a later one; LedgerBehind if the ledger does not have what it saw.

        `has` says whether the ledger has a head. Who is faster of two copies that go on apart is not to be believed,
        so it is asked also when the witness is ahead: then another process was faster, whose entry is there.
        """
        with self._plainly():
            self._advance(seen, has)

    def replace(self, seen: Seen) -> None:
        """Forget what it saw and remember this: after a restore, in which what was lost was counted as spent."""
        with self._plainly():
            path = Path(os.path.realpath(self.path))  # a link stays one: what it leads to is on another disk, perhaps
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f"{path.name}-new")
            with _opened(beside) as file:
                os.ftruncate(file, 0)
                os.pwrite(file, _line(seen), 0)
                os.fsync(file)
            # At no time is there none: without one, nobody could tell an older copy from the ledger.
            beside.replace(path)
            _sync_folder(path.parent)

    @contextlib.contextmanager
    def _plainly(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise LedgerUnavailable(
                f"the witness {self.place} cannot be written: {problem.strerror}. What was charged stays charged, and "
                "nothing was released"
            ) from None

    def _advance(self, seen: Seen, has: Callable[[Head], bool]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(self.path) as file, locked(file):
            known = dict(_places(os.pread(file, 2 * _PLACE, 0)))
            last = max(known.values(), key=lambda one: one.head.seq, default=None)
            self._refuse_another(seen, last, has)
            if last is not None and last.head.seq >= seen.head.seq:
                return
            # The place that is empty, damaged or older.
            place = min((0, 1), key=lambda one: known[one].head.seq if one in known else -1)
            os.pwrite(file, _line(seen), place * _PLACE)
            # Synced like the charge itself: a restore asks it whether anything was lost.
            os.fsync(file)
            if not known:
                _sync_folder(Path(os.path.realpath(self.path)).parent)

    def _refuse_another(self, seen: Seen, last: Seen | None, has: Callable[[Head], bool]) -> None:
        if last is None or last == seen or (last.id == seen.id and has(last.head)):
            return
        what = "another ledger" if last.id != seen.id else f"another entry {last.head.seq}"
        raise LedgerBehind(
            f"the witness {self.place} saw {what}: a copy of the ledger, or one that replaced it, is written to "
            "somewhere else. What was charged now stays charged, and nothing was released"
        )


def _sync_folder(path: Path) -> None:
    """A new file is on the disk when its folder is, too."""
    try:
        folder = os.open(path, os.O_RDONLY)
    except PermissionError:
        return  # Windows has no such thing; elsewhere, a folder that may be written to but not read
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        yield file
    finally:
        os.close(file)


def _line(seen: Seen) -> bytes:
    said = f"{FORMAT} {seen.id} {seen.head.seq} {seen.head.hash}"
    return f"{said} {digest(said)[:16]}".encode("ascii").ljust(_PLACE - 1) + b"\n"


def _places(content: bytes) -> list[tuple[int, Seen]]:
    found = []
    for place in (0, 1):
        words = content[place * _PLACE : (place + 1) * _PLACE].decode("ascii", errors="replace").split()
        if len(words) != 5 or words[0] != FORMAT or not words[2].isdecimal():
            continue
        if digest(" ".join(words[:4]))[:16] == words[4]:
            found.append((place, Seen(words[1], Head(int(words[2]), words[3]))))
    return found
