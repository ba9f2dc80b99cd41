"""Locks between processes: one writer at a time, in the order in which they came, as far as the system keeps it.

SQLite alone makes waiting processes sleep and try again, which starves some of them for seconds. Where there are no
such locks (Windows), that is what is left: slower, and as safe.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]


_HELD: set[int] = set()


def _let_go_after_fork() -> None:
    """A lock is shared by a process that is forked while it is held, and would outlive the one that holds it."""
    for file in _HELD:
        with contextlib.suppress(OSError):
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, file, inheritable=False)  # the number stays taken: somebody will close it
            os.close(nothing)
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_after_fork)


@contextlib.contextmanager
def locked(file: int) -> Iterator[None]:
    """Hold the lock of an open file; the system lets go of it if the process is killed."""
    if fcntl is None:  # pragma: no cover
        yield
        return
    _HELD.add(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
        _HELD.discard(file)
