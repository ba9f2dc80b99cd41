"""Relation: a private table and what is done with its rows before anything is added up; each step has its Space.

Every step treats units one by one (see the theorem `units-one-by-one`), so that none moves two tables further apart. A
step is a Transformation from handle to handle; nothing is read before a question is released.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from viameter.arith import Number, exact
from viameter.core import Space, Transformation, by
from viameter.errors import NumberError, ParameterError
from viameter.tables.database import Database, database_space
from viameter.tables.engines import Engine, public_table
from viameter.tables.expressions import Column, Expression, Kind, Schema, filtered, to_ibis, with_columns
from viameter.tables.public_tables import PublicTable
from viameter.tables.rows import RESERVED, UNIT, Rows
from viameter.tables.schemas import (
    derived_schema,
    filtered_schema,
    is_reserved,
    joined_schema,
    require_apart,
    selected_schema,
)
from viameter.tables.spaces import space_of
from viameter.tables.steps import Derive, Filter, Join, Sample, Select, Source, Step
from viameter.tables.theorems import units_one_by_one
from viameter.tables.units import Unit


@dataclass(frozen=True, slots=True, repr=False)
class Relation:
    """Rows of a private table, on the way to a question."""

    source: Rows | Database
    """What was opened: a table, or several."""
    unit: Unit
    steps: tuple[Transformation, ...] = ()
    fanout: int = 1
    """How many rows come of one row at most, through joins with public tables."""

    @property
    def source_space(self) -> Space:
        """Where what was opened lives."""
        if isinstance(self.source, Database):
            return database_space(self.source, self.unit)
        return space_of(self.source.schema, self.unit)

    @property
    def space(self) -> Space:
        """Where these rows live."""
        return self.steps[-1].output_space if self.steps else self.source_space

    @property
    def schema(self) -> Schema:
        """The columns that there are here."""
        domain: Any = self.space.domain
        found: Schema = domain.schema
        return found

    def __getitem__(self, name: str) -> Expression:
        return Column(name, self.schema.require(name))

    def rows(self, source: Rows | Database | None = None) -> Rows:
        """The handle to these rows; nothing is run."""
        rows: Any = self.source if source is None else source
        for step in self.steps:
            rows = step.function(rows)
        found: Rows = rows
        return found

    def sketch(self) -> Rows:
        """The same for compiling alone: public tables are named in it, and not brought to the engine."""
        return self.rows(self.source.sketch())

    def after(self, step: Step, *, other: Callable[[Source], Relation], salt: Callable[[], str]) -> Relation:
        """The rows after a step of a question; `other` gives those of another source, `salt` decides who is sampled."""
        match step:
            case Filter(predicate):
                return self.filter(predicate.read(self.schema))
            case Derive(columns):
                return self.derive({name: made.read(self.schema) for name, made in columns})
            case Select(names):
                return self.select(names)
            case Join(Source() as source, on):
                return self.join(other(source), on)
            case Join(public, on):
                assert not isinstance(public, Source)
                return self.join_public(public, on)
            case Sample(fraction):
                return self.sample(fraction, salt=salt())

    def filter(self, predicate: Expression) -> Relation:
        """The rows for which the predicate is true; those for which it is NULL are left out."""
        schema = filtered_schema(self.schema, predicate)
        is_first = all(isinstance(step.function, Keep) for step in self.steps)
        return self._step(f"filter({predicate!r})", Keep(predicate, remembers=is_first), schema)

    def select(self, names: Sequence[str]) -> Relation:
        """These columns alone."""
        wanted = [names] if isinstance(names, str) else list(names)
        schema = selected_schema(self.schema, wanted)
        if not wanted and self.unit.rows_without_limit is not None:
            raise ParameterError(f"select: name at least one column: {self.unit!r} hides single rows")
        return self._step(f"select({_names(wanted)})", _selecting(wanted, schema), schema)

    def derive(self, columns: Mapping[str, Expression]) -> Relation:
        """One more column for each expression, or another in the place of the one of that name."""
        schema = derived_schema(self.schema, columns)

        def derive(rows: Rows) -> Rows:
            return rows.with_expression(
                lambda table: with_columns(table, {name: to_ibis(made, table) for name, made in columns.items()}),
                schema,
            )

        text = ", ".join(f"{_names([name])}={made!r}" for name, made in columns.items())
        return self._step(f"derive({text})", derive, schema)

    def join_public(self, other: PublicTable, on: Sequence[str]) -> Relation:
        """Rows with the columns of public rows that have the same values in `on`; those without a match are left out.

        A row with several matches gives as many rows.
        """
        keys = [on] if isinstance(on, str) else list(on)
        if not keys:
            raise ParameterError("join: on=[] names no column to join on")
        schema = joined_schema(self.schema, other.schema, keys, "the public table")
        added = [name for name in schema if name not in self.schema]

        def join(rows: Rows) -> Rows:
            right = public_table(rows.on, other.columns)
            # Columns of the public table come in under names of their own: engines differ in what they call doubles.
            numbered = _numbered(right.columns)
            renamed = right.select(**{alias: right[name] for name, alias in numbered.items()})

            def joined(table: Any) -> Any:
                # Read as expressions are: an engine that compared times of a zone with others would take some for one.
                read = {name: to_ibis(Column(name, self.schema[name]), table) for name in keys}
                pairs = [(name, read[name], renamed[numbered[name]]) for name in keys]
                made = table.inner_join(renamed, [_equal(rows, *pair) for pair in pairs])
                kept = {name: made[name] for name in table.columns}
                return made.select(**kept, **{name: made[numbered[name]] for name in added})

            return rows.with_expression(joined, schema)

        text = f"join(public table {other.digest} of {_names(other.schema)}, on={_names(keys)})"
        made = self._step(text, join, schema)
        return replace(made, fanout=self.fanout * other.most_matches(tuple(keys)))

    def join(self, other: Relation, on: Sequence[str] = ()) -> Relation:
        """Pairs of rows of one unit in two private tables, which agree in the columns `on` too."""
        keys = [on] if isinstance(on, str) else list(on)
        if self.rows().unit is None:
            raise ParameterError(
                f"join: {self.unit!r} hides single rows; two private tables are joined where a unit has rows in both, "
                "as with per(...) or per_entity(...)"
            )
        if other.source is not self.source:
            raise ParameterError(
                "join: two private tables are joined if they were opened together, vm.open({'one': ..., 'other': ...}, "
                "...), so that one budget counts what is learned of both; a public one comes in by vm.public(...)"
            )
        own = {self.unit.column} if self.unit.column is not None else set()
        schema = joined_schema(self.schema, other.schema, keys, "the other table", without=own)
        added = [name for name in schema if name not in self.schema]
        mine, theirs = (side.rows().expression[UNIT].type() for side in (self, other))
        if mine.is_string() != theirs.is_string():
            raise ParameterError(f"join: units are named by {mine} in the one table, and by {theirs} in the other")

        def join(source: Rows | Database) -> Rows:
            left, theirs = self.rows(source), other.rows(source).expression
            # Keys are read as expressions are: an engine that cast one side to the type of the other may fail on a row.
            right = {name: to_ibis(Column(name, other.schema[name]), theirs) for name in keys}
            right |= {name: theirs[name] for name in (*added, UNIT)}
            numbered = _numbered(right)
            renamed = theirs.select(**{numbered[name]: column for name, column in right.items()})

            def joined(table: Any) -> Any:
                read = {name: to_ibis(Column(name, self.schema[name]), table) for name in keys} | {UNIT: table[UNIT]}
                pairs = [(name, column, renamed[numbered[name]]) for name, column in read.items()]
                made = table.inner_join(renamed, [_equal(left, *pair) for pair in pairs])
                kept = {name: made[name] for name in table.columns}
                return made.select(**kept, **{name: made[numbered[name]] for name in added})

            return left.with_expression(joined, schema)

        # Both sides come from one source, so that this is one step from there.
        steps = [" >> ".join(step.made_by for step in side.steps) or "all rows" for side in (self, other)]
        # Texts of steps say nothing of the columns that there are, and may be put together in several ways.
        sides = [[(step, step.output_space) for step in side.steps] for side in (self, other)]
        known = hashlib.sha256(repr((self.source_space, sides)).encode()).hexdigest()[:32]
        made_by = f"join({steps[0]}; {steps[1]}; on the unit{''.join(f', {_names([name])}' for name in keys)}; {known})"
        return replace(self, steps=())._step(made_by, join, schema)

    def sample(self, fraction: Number, *, salt: str) -> Relation:
        """About this fraction of units, with all of their rows; chosen by a hash of the unit and the salt.

        No amplification of privacy is claimed for it.
        """
        share = exact(fraction, name="fraction")
        if not 0 < share <= 1:
            raise NumberError(f"fraction={fraction!s} is not between 0 and 1")
        if self.rows().unit is None:
            raise ParameterError(f"sample: {self.unit!r} hides single rows, which have no name to be sampled by")
        # Hexadecimal digits of a digest are uniform: those below the bound are that fraction of them, rounded down.
        bound = f"{int(share * 16**8):08x}" if share < 1 else None

        def sample(rows: Rows) -> Rows:
            if bound is None:
                return rows
            return rows.with_expression(
                lambda table: table.filter(rows.on.engine.digest("portable", [table[UNIT]], salt)[:8] < bound)
            )

        return self._step(f"sample({fraction!s})", sample, self.schema)

    def _step(self, made_by: str, function: Callable[[Any], Rows], schema: Schema) -> Relation:
        step = Transformation(
            input_space=self.space,
            output_space=space_of(schema, self.unit),
            function=function,
            bound=by(units_one_by_one),
            made_by=made_by,
        )
        return replace(self, steps=(*self.steps, step))


@dataclass(frozen=True, slots=True, eq=False)
class Keep:
    """Keeps the rows for which a predicate is true, and does nothing else: what filters is known by its class.

    One that stands first remembers the rows that it was given last, and the handle that it made of them: the handle of
    others may hold more, such as a public table.
    """

    predicate: Expression
    remembers: bool = False
    last: dict[str, tuple[Rows, Rows]] = field(default_factory=dict)

    def __call__(self, rows: Rows) -> Rows:
        """The rows that are kept; nothing is run."""
        given, kept = self.last.get("rows", (None, None))
        if kept is None or given is not rows:
            kept = rows.with_expression(lambda table: filtered(table, to_ibis(self.predicate, table).fill_null(False)))
            if self.remembers:
                self.last["rows"] = rows, kept
        return kept


def _equal(rows: Rows, name: str, left: Any, right: Any) -> Any:
    """That two columns are the same, to the letter: a collation of the engine would take more for equal."""
    engine = rows.on.engine
    return engine.comparable(left, name=name) == engine.comparable(right, name=name)


def source_rows(opened: Any, unit_column: str | None) -> Rows:
    """The rows of a table as it was opened: its columns, and the unit of each row; rows of nobody are dropped."""
    found = Schema.of_ibis(opened.ibis_schema)
    schema = Schema(found, (*found.unusable, *opened.unusable))
    reserved = [name for name in opened.columns if is_reserved(name)]
    if reserved:
        raise ParameterError(
            f"column {reserved[0]!r}: names that start with {RESERVED!r} are the library's own; rename it"
        )
    for place, name in enumerate(opened.columns):
        require_apart(opened.columns[:place], [name])
    # Nothing is left that questions cannot use: an engine might find it under another name.
    is_all = list(schema) == list(opened.columns) and not schema.unusable
    table = opened.expression if is_all else opened.expression.select(*schema)
    if unit_column is None:
        return Rows(opened.with_expression(table), schema, None)
    named = table.mutate(**{UNIT: naming(opened.engine, table, schema, unit_column)})
    return Rows(opened.with_expression(named.filter(named[UNIT].notnull())), schema, UNIT)


def naming(engine: Engine, table: Any, schema: Schema, column: str) -> Any:
    """A column that names units, or leads to them: text to the letter, or whole numbers, which compare without a cast
    that could fail.
    """
    kind = schema.require(column).kind
    if kind not in (Kind.TEXT, Kind.INTEGER):
        raise ParameterError(f"unit column {column!r} is {kind.value}: units are named by text or integers")
    # Whole numbers that are decimals have no digest of their own.
    is_decimal = table[column].type().is_decimal()
    named = to_ibis(Column(column, schema[column]), table) if is_decimal else table[column]
    # To the letter: engines may take 'a' and 'A' for the same, and units are told apart by their names here.
    return engine.comparable(named, name=column)


def _selecting(names: list[str], schema: Schema) -> Callable[[Rows], Rows]:
    def select(rows: Rows) -> Rows:
        hidden = [] if rows.unit is None else [rows.unit]
        return rows.with_expression(lambda table: table.select(*names, *hidden), schema)

    return select


def _names(names: Iterable[str]) -> str:
    """Names of columns in the text of a step; those in quotes that could be taken for something else."""
    return ", ".join(name if name.isidentifier() else repr(name) for name in names)


def _numbered(names: Iterable[str]) -> dict[str, str]:
    """Aliases for the right side of a join: with a prefix before it, a name may be longer than engines keep."""
    return {name: f"{RESERVED}right_{place}" for place, name in enumerate(names)}
