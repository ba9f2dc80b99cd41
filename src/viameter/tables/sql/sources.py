"""Sources: FROM, JOIN, WITH and subqueries, read to the rows that a question is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from viameter.tables.expressions import Schema
from viameter.tables.public_tables import PublicTable
from viameter.tables.sql.joins import equal_columns, join_private, join_public, list_keys, listed_values
from viameter.tables.sql.places import Text
from viameter.tables.sql.scalars import Scalar
from viameter.tables.sql.scopes import Scope
from viameter.tables.units import PerEntity, Unit

MOST_TABLES = 60
ROWS_ONLY = {
    "group": "a subquery after FROM gives rows: GROUP BY stands in the outermost SELECT",
    "having": "a subquery after FROM gives rows: HAVING stands in the outermost SELECT",
    "distinct": "DISTINCT rows would depend on several units at once: leave it out",
    "order": "a subquery after FROM gives rows in no order: ORDER BY stands in the outermost SELECT",
    "limit": "which rows LIMIT leaves would depend on several units at once: leave it out",
    "offset": "which rows OFFSET leaves would depend on several units at once: leave it out",
    "qualify": "window functions (QUALIFY) are not read",
}
JOINS = (
    "joins are JOIN of public tables on equal columns, which leaves out rows without a match, and RIGHT JOIN of the "
    "groups to be shown"
)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of tables: private ones by name (or the only one), public ones, and the unit."""

    schemas: Schema | Mapping[str, Schema] | None
    public: Mapping[str, PublicTable]
    unit: Unit | str | None

    def unit_column(self, table: str) -> str | None:
        """The column of a table that names units; None if that is not known."""
        if isinstance(self.unit, PerEntity):
            if table == self.unit.root:
                return self.unit.key
            link = dict(self.unit.links).get(table)
            return (
                link.column if link is not None and (link.table, link.key) == (self.unit.root, self.unit.key) else None
            )
        return self.unit.column if isinstance(self.unit, Unit) else self.unit


NO_TABLES = frozenset({"only", "lateral", "table"})
"""Words of SQL that stand before the name of a table."""


class Sources:
    """Reads the rows of a SELECT."""

    def __init__(self, text: Text, known: Known) -> None:
        self.text, self.known, self.tables = text, known, 0
        self.used: set[int] = set()
        """What WITH names and is read somewhere."""
        self.private = ""
        """What FROM calls the private table, if there is but one."""

    def rows(self, select: Any, ctes: Mapping[str, Any]) -> Scope:
        """The rows that FROM, its joins and WHERE give; and what WITH names is read where it is used."""
        ctes = self._with(select, ctes)
        first = select.args.get("from_") or select.args.get("from")
        if first is None:
            raise self.text.at(select, "FROM is missing: of which table is it asked?")
        scope = self._table(first.this, ctes)
        if isinstance(scope, PublicTable):
            raise self.text.at(first.this, "this table is public: FROM names the private one, and JOIN the public ones")
        for join in select.args.get("joins") or ():
            scope = self._joined(scope, join, ctes)
        where = select.args.get("where")
        if where is not None:
            predicate = scope.scalars(self.text).read(where.this)
            self._require_truth(predicate, where.this)
            scope = scope.filtered(predicate)
        self._require_used(select)
        return scope

    def _require_used(self, select: Any) -> None:
        """Refuse what WITH names and nothing reads: it may have been meant where another name stands."""
        given = select.args.get("with_") or select.args.get("with")
        for one in () if given is None else given.expressions:
            if id(one.this) not in self.used:
                raise self.text.at(one, f"{one.alias} is named here and not used: FROM {one.alias}, or leave it out")

    def _require_truth(self, predicate: Scalar, node: Any) -> None:
        if predicate.expression is not None and predicate.expression.type.kind.value != "BOOLEAN":
            kind = predicate.expression.type.kind.value
            raise self.text.at(node, f"WHERE takes a condition, as in wait > 60: this is {kind}")

    def _with(self, select: Any, ctes: Mapping[str, Any]) -> Mapping[str, Any]:
        given = select.args.get("with_") or select.args.get("with")
        if given is None:
            return ctes
        if given.args.get("recursive"):
            raise self.text.at(given, "WITH RECURSIVE is not read")
        found = dict(ctes)
        names = [one.alias.casefold() for one in given.expressions]
        for place, one in enumerate(given.expressions):
            self._only_named(one)
            if names[place] in names[:place]:
                raise self.text.at(one, f"two parts of WITH are called {one.alias}: give one another name")
            # Each knows those before it, and not itself.
            found[one.alias.casefold()] = (one.this, dict(found))
        return found

    def only(self, node: Any, *names: str) -> None:
        """Refuse whatever else is written there: nothing is left out silently."""
        for name, value in node.args.items():
            if value and name not in names:
                raise self.text.at(node, f"{name.strip('_').upper()} is not read in this place; leave it out")

    def _only_named(self, node: Any) -> None:
        """Refuse all but rows and the name that they are given: columns are named where they are selected."""
        self.only(node, "this", "alias")
        alias = node.args.get("alias")
        if alias is not None:
            self.only(alias, "this")
            if type(alias.this).__name__ != "Identifier":
                raise self.text.at(node, "expected a name for it, as in AS late")

    def _table(self, node: Any, ctes: Mapping[str, Any]) -> Scope | PublicTable:
        kind = type(node).__name__
        self.tables += 1
        if self.tables > MOST_TABLES:
            raise self.text.at(node, f"at most {MOST_TABLES} tables are read, each as often as it is named")
        if kind == "Subquery":
            self._only_named(node)
            return self._subquery(node.this, node.alias, ctes)
        if kind == "Unnest":
            raise self.text.at(node, "UNNEST lists groups: write FROM table RIGHT JOIN UNNEST([...]) AS name ON ...")
        if kind != "Table" or type(node.this).__name__ != "Identifier":
            raise self.text.at(node, "FROM takes the name of a table, or a subquery in parentheses")
        self._only_named(node)
        name = node.name
        alias = node.alias or name
        if name.casefold() in ctes:
            select, before = ctes[name.casefold()]
            self.used.add(id(select))
            return self._subquery(select, alias, before)
        public = _by_name(self.known.public, name)
        if public is not None:
            return self.known.public[public]
        return self._private(node, name, alias)

    def _private(self, node: Any, name: str, alias: str) -> Scope:
        schemas = self.known.schemas
        if schemas is None or isinstance(schemas, Schema):
            table, schema = "", schemas
            self.private = self.private or name
            if name.casefold() in NO_TABLES:
                raise self.text.at(node, f"{name.upper()} is not read in this place; leave it out")
            if name.casefold() != self.private.casefold():
                known = ", ".join([self.private, *self.known.public])
                raise self.text.at(node, f"there is no table {name}; there are {known}")
        else:
            found = _by_name(schemas, name)
            if found is None:
                names = ", ".join([*schemas, *self.known.public])
                raise self.text.at(node, f"there is no table {name}; there are {names}")
            table, schema = found, schemas[found]
        unit = self.known.unit_column(table)
        scope = Scope(table, schema, {}, frozenset() if unit is None else frozenset((unit,)))
        return scope.called(alias, None if schema is None else schema)

    def _subquery(self, select: Any, alias: str, ctes: Mapping[str, Any]) -> Scope | PublicTable:
        if type(select).__name__ != "Select":
            raise self.text.at(select, "UNION and the like are not read: ask one question for each part")
        public = self._public(select, ctes)
        if public is not None:
            return public
        for name, problem in ROWS_ONLY.items():
            if select.args.get(name):
                raise self.text.at(select.args[name], problem)
        self.only(select, "expressions", "from", "from_", "joins", "where", "with", "with_")
        scope = self.rows(select, ctes)
        if scope.keys is not None:
            raise self.text.at(select, "groups are listed in the outermost SELECT: write the RIGHT JOIN there")
        return self._projected(scope, select, alias)

    def _projected(self, scope: Scope, select: Any, alias: str) -> Scope:
        """The columns that a subquery shows, under the names that it gives them."""
        shown: dict[str, Scalar] = {}
        with_all = False
        for node in select.expressions:
            if type(node).__name__ == "Star":
                self.only(node)
                with_all = True
                continue
            inner = node.this if type(node).__name__ == "Alias" else node
            scalar = scope.scalars(self.text).read(inner)
            name = node.alias_or_name
            if not name or (inner is node and scalar.column is None):
                raise self.text.at(node, "give it a name, with AS")
            if name in shown:
                raise self.text.at(node, f"two columns are called {name}: rename one with AS")
            # A column keeps the name that it has, if that was written with other capitals.
            shown[scalar.column if inner is node and scalar.column is not None else name] = scalar
        made = {name: scalar for name, scalar in shown.items() if scalar.column != name}
        for name in made if with_all and scope.schema is not None else ():
            if scope.schema is not None and name in scope.schema:
                raise self.text.at(select, f"two columns are called {name}, one of them by *: give it another name")
        unit = {name for name, scalar in shown.items() if scalar.column in scope.unit}
        unit |= {name for name in scope.unit if with_all and name not in shown}
        found = scope.derived(made)
        if with_all:
            columns = None if found.schema is None else list(found.schema)
        else:
            found, columns = found.selected(shown), list(shown)
        return replace(found.called(alias, columns), unit=frozenset(unit))

    def _public(self, select: Any, ctes: Mapping[str, Any]) -> PublicTable | None:
        """The columns that a subquery shows of a public table; None if it is of no public table."""
        first = select.args.get("from_") or select.args.get("from")
        if first is None or type(first.this).__name__ not in ("Table", "Subquery"):
            return None
        table = self._table(first.this, self._with(select, ctes)) if _is_plain(first.this) else None
        if not isinstance(table, PublicTable):
            return None
        self.only(select, "expressions", "from", "from_", "distinct", "with", "with_")
        called = (first.this.alias or first.this.name).casefold()
        columns: dict[str, tuple[Any, ...]] = {}
        for node in select.expressions:
            inner = node.this if type(node).__name__ == "Alias" else node
            is_star = type(inner).__name__ == "Star"
            added = list(table.columns) if is_star else [node.alias or inner.name]
            both = next((one for one in added if one.casefold() in {known.casefold() for known in columns}), None)
            if both is not None:
                raise self.text.at(node, f"two columns are called {both}: give one another name, with AS")
            if is_star:
                self.only(inner)
                columns |= table.columns
                continue
            qualifier = inner.text("table") if type(inner).__name__ == "Column" else ""
            if qualifier and qualifier.casefold() != called:
                raise self.text.at(node, f"there is no table {qualifier} here; there is {called}")
            name = _by_name(table.columns, inner.name) if type(inner).__name__ == "Column" else None
            if name is None:
                raise self.text.at(
                    node, f"of a public table, columns are taken as they are: {', '.join(table.columns)}"
                )
            columns[node.alias or name] = table.columns[name]
        self._require_used(select)
        if select.args.get("distinct"):
            self.only(select.args["distinct"])
            rows = dict.fromkeys(zip(*columns.values(), strict=True))
            columns = dict(zip(columns, zip(*rows, strict=True), strict=True))
        with self.text.blaming(select):
            from viameter.tables.public_tables import public

            return public(columns)

    def _joined(self, scope: Scope, join: Any, ctes: Mapping[str, Any]) -> Scope:
        self.only(join, "this", "on", "using", "side", "kind")
        side, kind = (join.args.get("side") or "").upper(), (join.args.get("kind") or "").upper()
        if side not in ("", "RIGHT") or kind not in ("", "INNER", "OUTER") or (kind == "OUTER" and side != "RIGHT"):
            raise self.text.at(join, f"{' '.join(filter(None, (side, kind)))} JOIN is not read: {JOINS}")
        if scope.keys is not None:
            raise self.text.at(join, "the RIGHT JOIN that lists groups comes last")
        if not join.args.get("on") and not join.args.get("using"):
            raise self.text.at(join, f"on which columns? Write ON a.x = b.x, or USING (x): {JOINS}")
        right = listed_values(join.this, self.text) if type(join.this).__name__ == "Unnest" else None
        other = self._table(join.this, ctes) if right is None else right
        alias = join.this.alias or join.this.name
        if alias.casefold() in scope.tables:
            raise self.text.at(join.this, f"two tables are called {alias}: give one another name, with AS")
        if isinstance(other, Scope):
            if side == "RIGHT":
                raise self.text.at(join, f"a private table lists no groups: {JOINS}")
            pairs = equal_columns(join, scope, alias, other.tables[alias.casefold()], self.text)
            return join_private(join, scope, other, alias, pairs, self.text)
        pairs = equal_columns(join, scope, alias, {name: name for name in other.columns}, self.text)
        if side == "RIGHT":
            return list_keys(join, scope, other, alias, pairs, self.text)
        if right is not None:
            raise self.text.at(
                join, "values are listed for groups, by RIGHT JOIN; to keep rows of them, write WHERE x IN (...)"
            )
        return join_public(join, scope, other, alias, pairs, self.text)


def _is_plain(node: Any) -> bool:
    """Whether it is a table by name, which is looked at twice at no cost."""
    return type(node).__name__ == "Table"


def _by_name(known: Mapping[str, Any], name: str) -> str | None:
    """The name that is written so, or else the only one but for capitals."""
    if name in known:
        return name
    alike = [one for one in known if one.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None
