"""Import the optional libraries of this room, or say which extra brings them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from viameter.errors import ParameterError


def import_ibis() -> Any:
    """The module ibis."""
    return import_optional("ibis", extra="query", wanted_for="questions over tables")


def table_not_found() -> Any:
    """The error by which Ibis says that there is no table of a name."""
    return import_optional("ibis.common.exceptions", extra="query", wanted_for="questions over tables").TableNotFound


def import_optional(module: str, *, extra: str, wanted_for: str) -> Any:
    """A module of an extra, by its dotted name."""
    try:
        return import_module(module)
    except ImportError as error:
        missing = error.name or module
        raise ParameterError(
            f'{wanted_for} need the library {missing}, which is not installed: pip install "viameter[{extra}]"'
        ) from None
