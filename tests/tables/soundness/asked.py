"""The same rows twice: as a relation on an engine and in plain Python; every step is done to both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.tables.bounding.reference import portable
from tests.tables.soundness.plain import Owned, integers, owned

import viameter as vm
from viameter.tables.collecting import Collecting
from viameter.tables.expressions import Expression, evaluate
from viameter.tables.relation import Relation
from viameter.tables.statistics import Statistic
from viameter.tables.units import Unit

Columns = dict[str, list[Any]]
Make = Callable[[Relation], Expression]
SALT = "5a17"


@dataclass(frozen=True)
class Both:
    """Rows of an engine, and what they are to be."""

    relation: Relation
    rows: Sequence[Owned]

    def filter(self, make: Make) -> Both:
        """The rows for which a predicate is true."""
        predicate = make(self.relation)
        kept = [row for row in self.rows if evaluate(predicate, row.values) is True]
        return Both(self.relation.filter(predicate), kept)

    def derive(self, **columns: Make) -> Both:
        """More columns."""
        made = {name: make(self.relation) for name, make in columns.items()}
        rows = [
            Owned(row.unit, {**row.values, **{name: evaluate(one, row.values) for name, one in made.items()}})
            for row in self.rows
        ]
        return Both(self.relation.derive(made), rows)

    def select(self, *names: str) -> Both:
        """These columns alone."""
        rows = [Owned(row.unit, {name: row.values[name] for name in names}) for row in self.rows]
        return Both(self.relation.select(names), rows)

    def join_public(self, columns: Columns, on: Sequence[str]) -> Both:
        """Rows with those of a public table."""
        public = owned(columns, None)
        rows = [
            Owned(row.unit, {**other.values, **row.values})
            for row in self.rows
            for other in public
            if _alike(row, other, on)
        ]
        return Both(self.relation.join_public(vm.public(columns), on), rows)

    def join(self, other: Both, on: Sequence[str] = ()) -> Both:
        """Pairs of rows of one unit."""
        rows = [
            Owned(row.unit, {**their.values, **row.values})
            for row in self.rows
            for their in other.rows
            if row.unit == their.unit and _alike(row, their, on)
        ]
        return Both(self.relation.join(other.relation, on), rows)

    def sample(self, share: Fraction, salt: str = SALT) -> Both:
        """Some units."""
        bound = f"{int(share * 16**8):08x}"
        rows = [row for row in self.rows if portable([row.unit], salt)[:8] < bound]
        return Both(self.relation.sample(share, salt=salt), rows)

    def found(self, collecting: Collecting, statistics: Sequence[Statistic]) -> list[list[int]]:
        """The integers as the engine finds them."""
        return [array.tolist() for array in collecting(self.relation.rows(), statistics)]

    def expected(self, collecting: Collecting, statistics: Sequence[Statistic]) -> list[list[int]]:
        """The integers as Python finds them, in the portable order."""
        return integers(self.rows, collecting.keys, collecting.limits, statistics, SALT)


def _alike(one: Owned, other: Owned, on: Sequence[str]) -> bool:
    return all(one.values[name] is not None and one.values[name] == other.values[name] for name in on)


def opened(table: Any, columns: Columns, unit: Unit) -> Both:
    """A table of an engine, given as an Ibis table and as columns."""
    made = vm.open(table, unit=unit, budget=vm.pure(1), order="portable")
    return Both(made.relation, owned(columns, unit.column))


def opened_together(tables: Mapping[str, Any], columns: Mapping[str, Columns], unit: Unit) -> dict[str, Both]:
    """Several tables of the same units; each has the unit's column."""
    made = vm.open(dict(tables), unit=unit, budget=vm.pure(1), order="portable")
    return {name: Both(made[name].relation, owned(columns[name], unit.column)) for name in tables}
