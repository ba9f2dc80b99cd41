"""The optional libraries of this room: imported when they are needed, or named with the extra that brings them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from viameter.errors import ParameterError


def import_ibis() -> Any:
    """The module ibis."""
    return import_optional("ibis", extra="query", wanted_for="questions over tables")


def import_optional(module: str, *, extra: str, wanted_for: str) -> Any:
    """A module of an extra, by its dotted name."""
    try:
        return import_module(module)
    except ImportError as error:
        missing = error.name or module
        raise ParameterError(
            f'{wanted_for} need the library {missing}, which is not installed: pip install "viameter[{extra}]"'
        ) from None


def is_of(value: Any, libraries: str, *names: str) -> bool:
    """Whether a value is of a class of one of these names and libraries, or made of one: none is imported to ask."""
    kinds = [kind for kind in type(value).__mro__ if kind.__name__ in names]
    return any(kind.__module__.partition(".")[0] in libraries.split() for kind in kinds)
