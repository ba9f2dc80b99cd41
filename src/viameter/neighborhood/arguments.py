"""Arguments that are lists, read: what is none is refused with an example of one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from viameter.errors import ParameterError, plain


def read_listed(value: Any, name: str, example: str) -> list[Any]:
    """A list of anything, as a list; text is none."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise ParameterError(f"{name}={plain(value)} is no list: expected e.g. {example}")
    return list(value)


def read_mapping(value: Any, name: str, example: str) -> dict[Any, Any]:
    """A dictionary of anything, as one."""
    if not isinstance(value, Mapping):
        raise ParameterError(f"{name}={plain(value)} is no dictionary: expected e.g. {example}")
    return dict(value)


def read_values(value: Any, name: str, example: str) -> list[Hashable]:
    """A list of values that records can have: they are compared and counted, so they have a hash."""
    found = read_listed(value, name, example)
    for item in found:
        try:
            hash(item)
        except TypeError:
            raise ParameterError(
                f"{name} has a {type(item).__name__} in it, which is no value: expected e.g. {example}"
            ) from None
    return found
