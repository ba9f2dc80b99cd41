"""Stages for fault tests, which all tests share as long as they are left well, and with room on their disks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.system.faults.scenario import Company
from tests.system.faults.stage import make_clock, setting_up
from tests.tables.engines.postgres_server import running_server


@pytest.fixture(scope="session")
def warehouse() -> Iterator[str]:
    """The URL of a PostgreSQL server."""
    with running_server() as url:
        yield url


@pytest.fixture(scope="session")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """What gives a process a clock of its own."""
    return make_clock(tmp_path_factory.mktemp("clock"))


class Theater:
    """Stages one after the other: a new one is set up when the last one was left broken, or its disks are filling."""

    def __init__(self, warehouse: str, folders: pytest.TempPathFactory, clock: Path | None, durable: str = "") -> None:
        self._warehouse, self._folders, self._clock, self._durable = warehouse, folders, clock, durable
        self._open = contextlib.ExitStack()
        self._company: Company | None = None

    def company(self) -> Company:
        """People before a stage on which nothing is wrong."""
        if self._company is None or not self._company.is_well or not self._company.stage.has_room():
            self._open.close()
            folder = self._folders.mktemp("stage")
            disks = os.geteuid() == 0
            made = setting_up(folder, self._warehouse, disks=disks, clock=self._clock, durable=self._durable)
            self._company = Company(self._open.enter_context(made))
        return self._company

    def close(self) -> None:
        """End everything."""
        self._open.close()


@pytest.fixture(scope="session")
def theater(warehouse: str, clock: Path | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theater]:
    """What all tests share."""
    made = Theater(warehouse, tmp_path_factory, clock)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def company(theater: Theater) -> Company:
    """A service on disks and with a clock of its own, and people who ask it; tests leave it well."""
    return theater.company()


@pytest.fixture(scope="session")
def theater_on_server(
    warehouse: str, clock: Path | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Theater]:
    """The same, with the ledger and the state on a server."""
    with running_server(durable=True) as url:
        made = Theater(warehouse, tmp_path_factory, clock, url)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def company_on_server(theater_on_server: Theater) -> Company:
    """People before a service whose ledger and state are on a server; tests leave it well."""
    return theater_on_server.company()
