"""Migrations: from the schema of an older version to that of this one. There is no way back: charges would be lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def migrate(connection: Any, *, to: str = "head") -> None:
    """Bring the tables to a version, inside of the transaction of a connection."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)
