"""Registrations of datasets at a service that is opened and closed: taken ones, and ones that leave nothing behind."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import make_config

from viameter.errors import ParameterError
from viameter.service.service import Service, open_service

BODY = {"unit": {"row": True}, "budget": {"pure": "1"}}


@contextlib.contextmanager
def opened(folder: Path, **sections: Any) -> Iterator[Service]:
    """A service in a folder, without datasets of its configuration; opened again, it is one that was restarted."""
    service = open_service(make_config(folder, **{"datasets": [], **sections}))
    try:
        yield service
    finally:
        service.close()


def register(service: Service, name: str, table: str, source: str = "files") -> None:
    """A new dataset with a budget of its own."""
    service.catalog.register(name, {**BODY, "source": source, "table": table}, by="ann")


def refuse(service: Service, name: str, table: str, source: str = "files") -> str:
    """See that a dataset is not registered, and that nothing is left of it; the words in which it is refused."""
    with pytest.raises(ParameterError) as refused:
        register(service, name, table, source)
    assert name not in service.catalog.names()
    assert name not in [scope.name for scope in service.ledger.scopes()]
    return str(refused.value)
