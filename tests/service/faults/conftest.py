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

    def __init__(self, warehouse: str, folders: pytest.TempPathFactory, durable: str = "") -> None:
        self._warehouse, self._folders, self._durable = warehouse, folders, durable
        self._open = contextlib.ExitStack()
        self._company: Company | None = None

    def company(self) -> Company:
        """People before a stage on which nothing is wrong."""
        if self._company is None or not self._company.is_well:
            self._open.close()
            folder = self._folders.mktemp("stage")
            own = {"disks": os.geteuid() == 0, "clock": COMPILER is not None}
            made = setting_up(folder, self._warehouse, **own, durable=self._durable)
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


@pytest.fixture(scope="module")
def theater_on_server(warehouse: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theater]:
    """The same, with the ledger and the state on a server."""
    with running_server(durable=True) as url:
        made = Theater(warehouse, tmp_path_factory, url)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def company_on_server(theater_on_server: Theater) -> Company:
    """People before a service whose ledger and state are on a server; tests leave it well."""
    return theater_on_server.company()
