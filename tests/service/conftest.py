"""Services for tests: one for the tests of a module that leave it as it is, and as many others as a test asks for."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import Running, running_in
from tests.tables.engines.postgres_server import running_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server that is good for ledgers, too; tests make databases of their own."""
    with running_server(durable=True) as url:
        yield url


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with "visits", "wages" and people of every role, which the tests of a module share."""
    with running_in(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture
def run_service(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts services of a test's own: `run_service(limits={"seconds": 1})`; they are closed after the test."""
    numbers = itertools.count()
    with contextlib.ExitStack() as stack:

        def start(**sections: Any) -> Running:
            return stack.enter_context(running_in(tmp_path / f"service-{next(numbers)}", **sections))

        yield start
