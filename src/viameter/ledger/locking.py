"""Locks between processes: one writer at a time, in the order in which they came, as far as the system keeps it.

SQLite alone makes waiting processes sleep and try again, which starves some of them for seconds. Where there are no
such locks (Windows), that is what is left: slower, and as safe.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def locked(file: int) -> Iterator[None]:
    """Hold the lock of an open file; the system lets go of it if the process is killed."""
    if fcntl is None:  # pragma: no cover
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
