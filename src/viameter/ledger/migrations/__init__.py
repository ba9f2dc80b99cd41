"""Migrations: from the schema of an older version to that of this one. There is no way back: charges would be lost."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

VERSIONS = Path(__file__).parent / "versions"
"""The steps of a ledger's tables; other tables have a folder of their own."""
_ONE_AT_A_TIME = [threading.Lock()]
"""Alembic keeps what it works on in global variables, which threads that make two ledgers would mix up."""


def _after_fork() -> None:
    _ONE_AT_A_TIME[0] = threading.Lock()  # whoever held it is not in this process


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def migrate(
    connection: Any, *, to: str = "head", versions: Path = VERSIONS, version_table: str = "ledger_version"
) -> None:
    """Bring tables to a version by the steps in a folder, inside of the transaction of a connection.

    `version_table` holds the version that they are of.
    """
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("path_separator", "newline")
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("version_locations", str(versions).replace("%", "%%"))
    config.attributes.update(connection=connection, version_table=version_table)
    with _ONE_AT_A_TIME[0]:
        command.upgrade(config, to)
