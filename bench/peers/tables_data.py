"""The rows of the benchmark `tables`: who did what, made from a seed, in files that all environments read."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = [
    "GROUPS",
    "GROUPS_OF_USER",
    "LOWER",
    "PER_GROUP",
    "UPPER",
    "arrays",
    "keys",
    "parquet_file",
    "sqlite_file",
    "temporary_folder",
]

SEED = 1000
GROUPS = 1_000
GROUPS_OF_USER, PER_GROUP = 10, 10
"""How many groups of a user count, and how many rows in each."""
LOWER, UPPER = 0, 100
ROWS_OF_USER = 10
"""How many rows a user has on average; who has many has hundreds of times as many."""
NEAR = 40
"""In how many groups a user has rows at most."""


def keys() -> list[int]:
    """The public keys of the groups."""
    return list(range(GROUPS))


def arrays(rows: int) -> dict[str, Any]:
    """Columns `user`, `grp` and `value`.

    The first users have most of the rows, each user has some groups more than others, and a sixth of the values lies
    above the bound, so that every limit leaves something out.
    """
    np: Any = import_module("numpy")
    chance = np.random.Generator(np.random.PCG64(SEED))
    users = max(1, rows // ROWS_OF_USER)
    user = (users * chance.random(rows) ** 2).astype(np.int64)
    favorite = (NEAR * chance.random(rows) ** 3).astype(np.int64)
    return {
        "user": user,
        "grp": (user * 7919 + favorite * 31) % GROUPS,
        "value": chance.integers(LOWER, 6 * UPPER // 5, size=rows),
    }


def temporary_folder() -> Path:
    """Where files are made; they stay for the next run, since workers are killed and cannot clean up."""
    folder = Path(tempfile.gettempdir()) / f"viameter-bench-tables-{SEED}-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def parquet_file(rows: int) -> Path:
    """The table as Parquet."""

    def write(path: Path) -> None:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
        parquet.write_table(arrow.table(arrays(rows)), path, row_group_size=122_880)

    return _made_once(f"rows-{rows}.parquet", write)


def sqlite_file(rows: int) -> Path:
    """The table as a database of SQLite."""

    def write(path: Path) -> None:
        columns = arrays(rows)
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE rows (user INTEGER, grp INTEGER, value INTEGER)")
            listed = zip(*(column.tolist() for column in columns.values()), strict=True)
            database.executemany("INSERT INTO rows VALUES (?, ?, ?)", listed)

    return _made_once(f"rows-{rows}.sqlite", write)


def _made_once(name: str, write: Callable[[Path], None]) -> Path:
    path = temporary_folder() / name
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent) as beside:
            write(Path(beside) / name)
            (Path(beside) / name).replace(path)  # nobody sees half a file
    return path
