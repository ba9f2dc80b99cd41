"""Locks between processes: one writer at a time, and nobody waits forever for a program that keeps the lock.

SQLite alone makes waiting processes sleep for longer and longer, which starves some of them for seconds. Where there
are no such locks (Windows), that is what is left: slower, and as safe.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections.abc import Iterable, Iterator

from viameter.errors import LedgerUnavailable

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]


PATIENCE = 60.0
"""Seconds to wait for another process."""

_PAUSE = 0.002
"""Seconds between two tries. It does not grow: who waits for long would come after all who came later."""

_HELD: set[int | io.FileIO] = set()


def let_go_of(files: Iterable[int | io.FileIO]) -> None:
    """In a process that was forked: a lock is shared by both, and would outlive the one that holds it."""
    for file in files:
        with contextlib.suppress(OSError, ValueError):  # it may be closed
            number = file if isinstance(file, int) else file.fileno()
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, number, inheritable=False)  # the number stays taken: somebody will close it
            os.close(nothing)


def _after_fork_in_child() -> None:
    let_go_of(_HELD)
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


@contextlib.contextmanager
def locked(file: int | io.FileIO, name: str = "the ledger", patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of an open file; the system lets go of it if the process is killed.

    Whoever may close it meanwhile gives the file itself: its number may be another file's by then.
    """
    if fcntl is None:  # pragma: no cover
        yield
        return
    _HELD.add(file)
    try:
        _take(file, name, time.monotonic() + patience, patience)
        yield
    finally:
        with contextlib.suppress(ValueError):  # closed, and let go of thereby
            fcntl.flock(file, fcntl.LOCK_UN)
        _HELD.discard(file)


def _take(file: int | io.FileIO, name: str, end: float, patience: float) -> None:
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                break
        time.sleep(_PAUSE)
    raise LedgerUnavailable(
        f"{name} is locked by another program for more than {patience:.0f} s; nothing was written now"
    )
