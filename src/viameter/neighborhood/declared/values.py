"""Values of TOML or JSON, read one by one: each reader takes a value and where it stands, and refuses with the cure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from viameter.errors import FormatError, ViameterError

Reader = Callable[[Any, str], Any]
"""Takes a value and the place in the file where it stands; returns what it means, or raises FormatError."""

MOST = 10**6
"""How many parts a cut may have, and leaves a file."""


@dataclass(frozen=True, slots=True)
class Written:
    """A number with a point or an exponent, as it was written: TOML and JSON would make a float of it."""

    text: str

    def __repr__(self) -> str:
        return self.text


@contextmanager
def at_place(where: str) -> Iterator[None]:
    """Errors of the library say where in the file they come from."""
    try:
        yield
    except FormatError:
        raise  # it says so already
    except ViameterError as problem:
        raise FormatError(f"{where}: {problem}") from None


def refuse(value: Any, where: str, expected: str) -> FormatError:
    """The error for a value that is not what was expected."""
    if isinstance(value, Written):
        return FormatError(
            f"{where} = {value}: numbers with a point or an exponent are written in quotes, so that they are taken "
            f'exactly: "{value}"'
        )
    shown = repr(value)
    return FormatError(f"{where} = {shown if len(shown) <= 60 else shown[:57] + '...'}: expected {expected}")


def number(value: Any, where: str) -> int | str:
    """An exact number: an integer, or text that the library reads."""
    if type(value) not in (int, str):
        raise refuse(value, where, 'a number, as 2, "0.1", "1/10" or "1e-6"')
    read: int | str = value
    return read


def integer(value: Any, where: str) -> int:
    """Any whole number."""
    if type(value) is not int:
        raise refuse(value, where, "a whole number")
    return value


def count(value: Any, where: str) -> int:
    """How many things there are: one or more, and not absurdly many."""
    if type(value) is not int or not 1 <= value <= MOST:
        raise refuse(value, where, f"a whole number from 1 to {MOST}")
    return value


def place(value: Any, where: str) -> int:
    """The number of a part, or a number of steps: from 0 on."""
    if type(value) is not int or value < 0:
        raise refuse(value, where, "a whole number from 0 on")
    return value


def text(value: Any, where: str) -> str:
    """Text that is not empty."""
    if not isinstance(value, str) or not value:
        raise refuse(value, where, "text")
    return value


def flag(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise refuse(value, where, "true or false")
    return value


def data_value(value: Any, where: str) -> Hashable:
    """A value that data can have: text, a whole number, or a list of those (a record with several columns)."""
    if isinstance(value, list):
        return tuple(data_value(cell, f"{where}[{at}]") for at, cell in enumerate(value))
    if type(value) not in (int, str):
        raise refuse(value, where, "text or a whole number")
    read: Hashable = value
    return read


def list_of(reader: Reader) -> Reader:
    """A list of such values."""

    def read(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list):
            raise refuse(value, where, "a list, as [...]")
        return [reader(each, f"{where}[{at}]") for at, each in enumerate(value)]

    return read


def table_of(reader: Reader) -> Reader:
    """A table of such values under names of the author's choice."""

    def read(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise refuse(value, where, "a table, as { name = ... }")
        return {name: reader(each, f"{where}.{name}") for name, each in value.items()}

    return read


def nearest(given: str, known: Collection[str]) -> str:
    """What was probably meant, as the end of an error's sentence."""
    close = get_close_matches(given, known, 1, 0.6)
    return f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(known)}"


@dataclass(frozen=True, slots=True)
class Kind:
    """Something that is made from a table: the function that makes it, and a reader for each key that it takes."""

    make: Callable[..., Any]
    required: Mapping[str, Reader] = field(default_factory=dict)
    optional: Mapping[str, Reader] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    """What the function calls a key, where it has another name for it."""
    searches: bool = False
    """Whether what it makes may search for long: if so, the function takes `progress`, and tells it how that goes."""

    def read(self, table: Mapping[str, Any], where: str, *, progress: Callable[[str], None] | None = None) -> Any:
        """Read each key of the table and make the thing."""
        given = read_keys(table, where, self.required, self.optional)
        told = {"progress": progress} if self.searches else {}
        with at_place(where):
            return self.make(**{self.names.get(key, key): value for key, value in given.items()}, **told)


def read_keys(table: Any, where: str, required: Mapping[str, Reader], optional: Mapping[str, Reader]) -> dict[str, Any]:
    """Read a table that has just these keys."""
    if not isinstance(table, dict):
        raise refuse(table, where, "a table")
    readers = {**required, **optional}
    inside = where or "the file"
    for key in table:
        if key not in readers:
            meant = nearest(key, readers) if readers else "it takes no keys"
            raise FormatError(f"{inside}: unknown key {key!r}: {meant}")
    for key in required:
        if key not in table:
            raise FormatError(f"{inside}: the key {key!r} is missing")
    return {key: readers[key](value, f"{where}.{key}" if where else key) for key, value in table.items()}


def read_kind(
    kinds: Mapping[str, Kind],
    table: Mapping[str, Any],
    key: str,
    where: str,
    *,
    progress: Callable[[str], None] | None = None,
) -> Any:
    """Make what the table names under a key, with the rest of the table as its parameters."""
    if key not in table:
        raise FormatError(f"{where}: the key {key!r} is missing: expected one of {', '.join(kinds)}")
    name = text(table[key], f"{where}.{key}")
    known = name.replace("_", "-")
    if known not in kinds:
        raise FormatError(f"{where}.{key} = {name!r} is not known: {nearest(known, kinds)}")
    rest = {other: value for other, value in table.items() if other != key}
    return kinds[known].read(rest, where, progress=progress)
