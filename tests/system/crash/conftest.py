"""A database server for services whose ledger is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server that syncs its commits."""
    from tests.tables.engines.postgres_server import running_server

    with running_server(durable=True) as url:
        yield url
