"""Database: several private tables that hold rows of the same units, opened together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from viameter.core import Domain, NotAMember, Space, Transformation, by
from viameter.tables.rows import Rows
from viameter.tables.spaces import TablesOnEngine, UnitDistance, space_of
from viameter.tables.theorems import units_one_by_one
from viameter.tables.units import Unit


class Database(Mapping[str, Rows]):
    """Handles to several tables, by name. It cannot be changed, and holds no rows."""

    __slots__ = ("_tables",)

    def __init__(self, tables: Mapping[str, Rows]) -> None:
        self._tables = dict(tables)

    def __getitem__(self, name: str) -> Rows:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def sketch(self) -> Database:
        """The same tables, of which queries are compiled and never run."""
        return Database({name: rows.sketch() for name, rows in self.items()})

    def __copy__(self) -> Database:
        return self

    def __deepcopy__(self, memo: Any) -> Database:
        return self

    def __repr__(self) -> str:
        return f"<database of {', '.join(self)}>"


@dataclass(frozen=True, repr=False, slots=True)
class DatabaseOnEngine(Domain):
    """Several tables on an engine, by name."""

    tables: tuple[tuple[str, TablesOnEngine], ...]
    is_on_engine = True

    def _canonical(self, value: Any) -> Database:
        if not isinstance(value, Database):
            raise NotAMember(f"it is of type {type(value).__name__}, and no database of tables on an engine")
        if tuple((name, TablesOnEngine(rows.schema)) for name, rows in value.items()) != self.tables:
            raise NotAMember("it has other tables or columns")
        return value

    def __repr__(self) -> str:
        return f"engine_database({{{', '.join(f'{name!r}: {table!r}' for name, table in self.tables)}}})"


def database_space(database: Database, unit: Unit) -> Space:
    """Databases with these tables and columns, measured by units."""
    tables = tuple((name, TablesOnEngine(rows.schema)) for name, rows in database.items())
    return Space(DatabaseOnEngine(tables), UnitDistance.of(unit))


def picking(database: Database, name: str, unit: Unit) -> Transformation:
    """One table of a database: each unit keeps its rows in it."""
    return Transformation(
        input_space=database_space(database, unit),
        output_space=space_of(database[name].schema, unit),
        function=lambda tables: tables[name],
        bound=by(units_one_by_one),
        made_by=f"table({name!r})",
    )
