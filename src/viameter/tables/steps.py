"""Steps: what a question does with the rows of a table before anything is asked of them, as frozen data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from viameter.arith import Number, exact
from viameter.errors import NumberError, ParameterError, plain
from viameter.tables.formula import Formula
from viameter.tables.public_tables import PublicTable


@dataclass(frozen=True, slots=True)
class Filter:
    """Keeps the rows for which a predicate is true."""

    predicate: Formula

    def __str__(self) -> str:
        return f"filter({self.predicate})"


@dataclass(frozen=True, slots=True)
class Derive:
    """Adds a column for each formula, or puts it in the place of the one of that name; all are of the rows before."""

    columns: tuple[tuple[str, Formula], ...]

    def __str__(self) -> str:
        return f"derive({', '.join(f'{name}={made}' for name, made in self.columns)})"


@dataclass(frozen=True, slots=True)
class Select:
    """Keeps these columns alone."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"select({', '.join(self.names)})"


@dataclass(frozen=True, slots=True)
class Join:
    """Joins rows with public ones, or with another private table on the unit, where columns agree."""

    other: PublicTable | Source
    on: tuple[str, ...] = ()

    def __str__(self) -> str:
        on = f", on=[{', '.join(self.on)}]" if self.on else ""
        return f"join({self.other}{on})"


@dataclass(frozen=True, slots=True)
class Sample:
    """Keeps about this fraction of units, with all of their rows: which ones, a secret of the backend says."""

    fraction: str
    """As it was written."""

    def __str__(self) -> str:
        return f"sample({self.fraction})"


Step = Filter | Derive | Select | Join | Sample


@dataclass(frozen=True, slots=True)
class Source:
    """Rows of a table, after steps."""

    table: str = ""
    """By name; empty where there is but one."""
    steps: tuple[Step, ...] = ()

    @property
    def samples(self) -> int:
        """How many samples stand behind one another in it: of rows that were joined, those of the side with more."""
        found = 0
        for step in self.steps:
            match step:
                case Sample():
                    found += 1
                case Join(Source() as other):
                    found = max(found, other.samples)
        return found

    def __str__(self) -> str:
        return ".".join([self.table or "table", *map(str, self.steps)])


def read_names(names: Sequence[Any], where: str, *, least: int = 1) -> tuple[str, ...]:
    """Names of columns; ParameterError for what is none."""
    if len(names) < least:
        raise ParameterError(f"{where}: name at least one column")
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"{where}: {plain(name)} is not the name of a column")
    return tuple(names)


def read_sample(fraction: Number) -> Sample:
    """What `sample` takes."""
    if not 0 < exact(fraction, name="fraction") <= 1:
        raise NumberError(f"fraction={fraction!s} is not between 0 and 1")
    return Sample(str(fraction))
