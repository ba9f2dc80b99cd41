"""Folders for tests that open hundreds of ledgers and ask nothing of the real disk: in memory, where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_MEMORY = Path("/dev/shm")


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder in which a sync costs nothing; it goes away afterwards."""
    with TemporaryDirectory(prefix="viameter-", dir=_MEMORY if _MEMORY.is_dir() else None) as name:
        yield Path(name)
