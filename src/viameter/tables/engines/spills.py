"""Where DuckDB spills what does not fit into memory: a folder for each engine, which goes with it.

If the process is killed, the folder stays, and there are rows in it: whoever opens an engine next removes it. Which are
left over is known from a lock, which the system lets go of when the process ends, whatever ended it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

PREFIX = "viameter-spills-"
LOCK, ROWS = "lock", "rows"


def folder_for(engine: object) -> str:
    """A new folder that no other engine uses, removed with this one; "" where there is no place for one."""
    _remove_left_over()
    try:
        place = Path(tempfile.mkdtemp(prefix=PREFIX))
        (place / ROWS).mkdir(mode=0o700)
        lock = _locked(place)
    except OSError:
        return ""
    weakref.finalize(engine, remove, str(place), lock, os.getpid())
    return str(place / ROWS)


def remove(place: str, lock: int | None, owner: int) -> None:
    """Remove a folder, but not from a process that was forked from its owner."""
    if os.getpid() == owner:
        shutil.rmtree(place, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked(place: Path) -> int | None:
    """Hold the lock of a folder; it is locked before it has its name, so that nobody takes it for left over."""
    if fcntl is None:  # pragma: no cover
        return None
    lock = os.open(place / "new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (place / "new").rename(place / LOCK)
    return lock


@cache
def _remove_left_over() -> None:
    """Remove folders of this user whose processes are gone; once in a process."""
    if fcntl is None:  # pragma: no cover
        return
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == os.getuid():
                        _remove_if_left(Path(entry.path))


def _remove_if_left(place: Path) -> None:
    lock = os.open(place / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(place, ignore_errors=True)
    finally:
        os.close(lock)
