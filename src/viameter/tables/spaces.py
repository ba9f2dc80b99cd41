"""Where questions start: tables that stay on an engine, and the distance that counts units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.core import Domain, Metric, NotAMember, Space
from viameter.tables.expressions import Schema
from viameter.tables.rows import Rows
from viameter.tables.units import PerEntity, PerEvent, Unit


@dataclass(frozen=True, repr=False, slots=True)
class TablesOnEngine(Domain):
    """Tables with these columns that stay on an engine; a member is a handle, and holds no rows."""

    schema: Schema
    is_on_engine = True

    def _canonical(self, value: Any) -> Rows:
        if not isinstance(value, Rows):
            raise NotAMember(f"it is of type {type(value).__name__}, and no table on an engine")
        if value.schema != self.schema:
            raise NotAMember("it has other columns")
        return value

    def __repr__(self) -> str:
        return f"engine_table({self.schema!r})"


@dataclass(frozen=True, repr=False, slots=True)
class UnitDistance(Metric):
    """How many units have other rows: rows, people, events or entities, as the unit says."""

    slug: str
    by: str | None = None
    replaces: bool = False
    window: int = 1

    counts = True

    @classmethod
    def of(cls, unit: Unit) -> UnitDistance:
        """The distance that counts these units."""
        window = unit.window if isinstance(unit, PerEvent) else 1
        by = unit.time if isinstance(unit, PerEvent) else unit.column
        if isinstance(unit, PerEntity):
            # Which entity is meant: what names one, and what refers to it.
            links = "; ".join(f"{table}.{link.column} to {link.table}.{link.key}" for table, link in unit.links)
            by = f"{unit.root}.{unit.key}" + (f" ({links})" if links else "")
        return cls(unit.granularity.slug, by, unit.replaces, window)

    def fits(self, domain: Domain) -> str | None:
        """Tables on an engine."""
        on_engine = getattr(domain, "is_on_engine", False)
        return None if on_engine else "it counts units of tables on an engine: see vm.open"

    def distance(self, left: Any, right: Any) -> Extended:
        """0 between a table and itself; of others nothing is known without reading them, which this does not."""
        return self.read_distance(0 if left is right else INFINITY)

    def __repr__(self) -> str:
        by = "" if self.by is None else f", by={self.by!r}"
        replaces = ", replaces=True" if self.replaces else ""
        window = "" if self.window == 1 else f", window={self.window}"
        return f"UnitDistance({self.slug!r}{by}{replaces}{window})"


def space_of(schema: Schema, unit: Unit) -> Space:
    """Tables with these columns, measured by units."""
    return Space(TablesOnEngine(schema), UnitDistance.of(unit))
