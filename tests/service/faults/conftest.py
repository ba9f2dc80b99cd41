"""Stages for fault tests: one for the tests of a module."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest
from tests.query.engines.postgres_server import running_server
from tests.service.faults.scenario import Company
from tests.service.faults.stage import COMPILER, setting_up


@pytest.fixture(scope="session")
def warehouse() -> Iterator[str]:
    """The URL of a PostgreSQL server."""
    with running_server() as url:
        yield url


class Theater:
    """Stages one after the other: a new one is set up when the last one was left broken."""

    def __init__(self, warehouse: str, folders: pytest.TempPathFactory) -> None:
        self._warehouse, self._folders = warehouse, folders
        self._open = contextlib.ExitStack()
        self._company: Company | None = None

    def company(self) -> Company:
        """People before a stage on which nothing is wrong."""
        if self._company is None or not self._company.is_well:
            self._open.close()
            folder = self._folders.mktemp("stage")
            made = setting_up(folder, self._warehouse, disks=os.geteuid() == 0, clock=COMPILER is not None)
            self._company = Company(self._open.enter_context(made))
        return self._company

    def close(self) -> None:
        """End everything."""
        self._open.close()


@pytest.fixture(scope="module")
def theater(warehouse: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theater]:
    """What the tests of a module share."""
    made = Theater(warehouse, tmp_path_factory)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def company(theater: Theater) -> Company:
    """A service on disks and with a clock of its own, and people who ask it; tests leave it well."""
    return theater.company()
