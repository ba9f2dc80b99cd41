"""The outermost SELECT: its groups, its aggregates, and what is done with their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from viameter.tables.aggregates import Aggregate
from viameter.tables.expressions import Kind
from viameter.tables.formula import Formula
from viameter.tables.question import All, Groups, Question, read_aggregates, read_groups
from viameter.tables.sql.aggregate_calls import WRAPPERS, AggregateCalls, default_name, is_aggregate
from viameter.tables.sql.clause import FOUND, PUBLIC, Options
from viameter.tables.sql.places import Text
from viameter.tables.sql.scalars import Scalar, Scalars
from viameter.tables.sql.scopes import Scope
from viameter.tables.sql.shaping import Ordering, Output, SqlQuestion

MOST_AGGREGATES = 100
LISTING = (
    "list them: FROM visits RIGHT JOIN UNNEST(['A', 'B']) AS w ON visits.ward = w ... GROUP BY ward, or "
    "OPTIONS(..., groups = ['A', 'B'])"
)


@dataclass(frozen=True, slots=True)
class Group:
    """A column or expression of GROUP BY, and how it is called in the question."""

    scalar: Scalar
    name: str
    kind: str
    """The kind of node that it was written as."""


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of the SELECT list."""

    node: Any
    inner: Any
    """The node without its alias."""
    alias: str | None


class Selecting:
    """Reads the outermost SELECT of rows."""

    def __init__(self, text: Text, options: Options, scope: Scope, clause: tuple[int, int]) -> None:
        self.text, self.options, self.scope, self.clause = text, options, scope, clause
        self.items: list[Item] = []
        self.groups: list[Group] = []
        self.named: dict[str, Aggregate] = {}
        self.shown: dict[str, Scalar] = {}
        self.calls = AggregateCalls(text, scope)

    def read(self, select: Any) -> SqlQuestion:
        """The question of a SELECT."""
        self.items = [_item(node) for node in select.expressions]
        self.groups = self._read_groups(select)
        outputs = tuple(self._output(item) for item in self.items)
        having = select.args.get("having")
        after = Scalars(self.text, self._leaf(with_aliases=True))
        test = None if having is None else Formula.of(after.read(having.this).document)
        order = select.args.get("order")
        order_by = () if order is None else tuple(self._ordering(one, after) for one in order.expressions)
        if not self.named:
            raise self.text.at(
                self.items[0].node if self.items else select,
                "values of rows are never shown: ask an aggregate, as in SELECT ward, COUNT(*) ... GROUP BY ward",
            )
        if len(self.named) > MOST_AGGREGATES:
            raise self.text.at(select, f"at most {MOST_AGGREGATES} aggregates are asked at once")
        derived = {one.name: one.scalar for one in self.groups if one.scalar.column != one.name}
        groups = self._asked_groups(select)
        with self.text.blaming(select):
            asked = read_aggregates(self.named, groups)
        question = Question(self.scope.derived(derived).source, self.options.limits, groups, asked)
        found = SqlQuestion(question, outputs, test, order_by, options=self.options)
        return replace(found, limit=self._count(select, "limit"), offset=self._count(select, "offset") or 0)

    def _read_groups(self, select: Any) -> list[Group]:
        given = select.args.get("group")
        if given is None:
            return []
        self.calls.scalars.only(given, "expressions")
        taken = self._columns_written(select)
        groups: list[Group] = []
        for node in given.expressions:
            item = self._item_of(node)
            inner = node if item is None else item.inner
            if _has_aggregate(inner):
                raise self.text.at(node, "groups are of rows: an aggregate cannot make them")
            scalar = self.scope.scalars(self.text).read(inner)
            if scalar.is_constant:
                raise self.text.at(node, "groups are by columns and expressions of them")
            if scalar.expression is not None and scalar.expression.type.kind is Kind.REAL:
                raise self.text.at(
                    node, "it is REAL, and keys must be exact: group by FLOOR(x / 10), or by ranges, CASE WHEN"
                )
            name = scalar.column
            if name is None:
                aliases = [
                    one.alias for one in self.items if one.alias is not None and self._is_same(one.inner, scalar)
                ]
                wanted = aliases[0] if aliases else f"group_{len(groups) + 1}"
                name = _fresh(wanted, [*taken, *(one.name for one in groups)])
            if any(one.scalar.document == scalar.document for one in groups):
                continue
            groups.append(Group(scalar, name, type(inner).__name__))
        return groups

    def _item_of(self, node: Any) -> Item | None:
        """The entry of the SELECT list that GROUP BY names, by its number or its alias."""
        if type(node).__name__ == "Literal" and not node.is_string:
            return self._numbered(node)
        if type(node).__name__ != "Column" or node.table:
            return None
        named = [item for item in self.items if item.alias is not None and _is_called(item.alias, node)]
        if not named:
            return None
        is_itself = type(named[0].inner).__name__ == "Column" and _is_called(named[0].inner.name, node)
        if self.scope.has(node) and not is_itself:
            raise self.text.at(
                node, "both a column and an entry of the SELECT list are called that: write GROUP BY 1, or rename"
            )
        return named[0]

    def _numbered(self, node: Any) -> Item:
        if not node.this.isdecimal() or not 1 <= int(node.this[:9]) <= len(self.items):
            raise self.text.at(node, f"the SELECT list has {len(self.items)} entries, numbered from 1")
        return self.items[int(node.this[:9]) - 1]

    def _is_same(self, node: Any, scalar: Scalar) -> bool:
        if _has_aggregate(node):
            return False
        return bool(self.scope.scalars(self.text).read(node).document == scalar.document)

    def _columns_written(self, select: Any) -> list[str]:
        """The columns that there are: those that are known, or else those that are written before GROUP BY."""
        if self.scope.schema is not None:
            return list(self.scope.schema)
        from sqlglot import exp

        before = [*select.expressions, select.args.get("where"), *(select.args.get("joins") or ())]
        return [one.name for node in before if node is not None for one in node.find_all(exp.Column)]

    def _output(self, item: Item) -> Output:
        if type(item.inner).__name__ == "Star":
            raise self.text.at(
                item.node, "rows are never shown: ask aggregates, as in SELECT ward, COUNT(*) ... GROUP BY ward"
            )
        if is_aggregate(item.inner):
            name = self._aggregate(item.inner, item.alias)
            scalar = Scalar({"column": name})
            called = item.alias or default_name(item.inner)
        else:
            scalar = Scalars(self.text, self._leaf(with_aliases=False)).read(item.inner)
            if item.alias is None and type(item.inner).__name__ != "Column":
                raise self.text.at(item.node, "give it a name, with AS")
            called = item.alias or item.inner.name
        if scalar.is_constant:
            raise self.text.at(item.node, "a constant is not asked: leave it out")
        names = [name for one in self.shown for name in (one, f"{one}_lower", f"{one}_upper")]
        if called in names or f"{called}_lower" in self.shown or f"{called}_upper" in self.shown:
            raise self.text.at(item.node, f"two columns would be called {called}: rename one with AS")
        self.shown[called] = scalar
        return Output(called, scalar.column if scalar.column is not None else Formula.of(scalar.document))

    def _aggregate(self, node: Any, alias: str | None = None) -> str:
        """The name of an aggregate in the question; one that is asked twice is asked, and paid for, once."""
        asked = self.calls.read(node)
        if self.scope.schema is not None:
            with self.text.blaming(node):
                asked.read(self.scope.schema, "laplace")
        for name, known in self.named.items():
            if known == asked:
                return name
        taken = [*(group.name for group in self.groups), *self.named]
        taken += [f"{name}_{end}" for name in self.named for end in ("lower", "upper")]
        taken += [name.removesuffix(end) for name in self.named for end in ("_lower", "_upper")]
        name = _fresh(alias or default_name(node), taken)
        self.named[name] = asked
        return name

    def _leaf(self, *, with_aliases: bool) -> Any:
        """Resolves what stands outside of aggregates: aggregates themselves, groups and entries of the SELECT list."""

        def found(node: Any, depth: int) -> Scalar | None:
            if is_aggregate(node):
                return Scalar({"column": self._aggregate(node)})
            kind = type(node).__name__
            if kind == "Window":
                raise self.text.at(node, "window functions (OVER) give a number to each row: leave OVER (...) out")
            if kind == "Column" and with_aliases and not node.table:
                named = [scalar for name, scalar in self.shown.items() if _is_called(name, node)]
                if named:
                    return named[0]
            if kind == "Column" and type(node.this).__name__ != "Star":
                return self._grouped(node)
            if any(group.kind == kind for group in self.groups) and not _has_aggregate(node):
                scalar = self.scope.scalars(self.text).read(node)
                same = [group.name for group in self.groups if group.scalar.document == scalar.document]
                return Scalar({"column": same[0]}) if same else None
            return None

        return found

    def _grouped(self, node: Any) -> Scalar:
        name = self.scope.name_of(node, self.text)
        for group in self.groups:
            if group.scalar.column == name:
                return Scalar({"column": group.name})
        hint = f"write GROUP BY {name}, or an aggregate of it"
        raise self.text.at(node, f"{name} has a value in each row, and rows are never shown: {hint}")

    def _ordering(self, node: Any, after: Scalars) -> Ordering:
        after.only(node, "this", "desc", "nulls_first")
        if type(node.this).__name__ == "Literal":
            item = self._numbered(node.this) if not node.this.is_string else None
            if item is None:
                raise self.text.at(node, "order by a column, or by its number")
            scalar = self.shown[list(self.shown)[self.items.index(item)]]
        else:
            scalar = after.read(node.this)
        of = scalar.column if scalar.column is not None else Formula.of(scalar.document)
        return Ordering(of, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))

    def _count(self, select: Any, name: str) -> int | None:
        node = select.args.get(name)
        if node is None:
            return None
        self.calls.scalars.only(node, "this", "expression")
        number = node.expression
        if type(number).__name__ != "Literal" or not number.this.isdecimal() or len(number.this) > 9:
            raise self.text.at(node, f"{name.upper()} takes a whole number")
        return int(number.this)

    def _asked_groups(self, select: Any) -> Groups:
        names = [group.name for group in self.groups]
        keys, strategy, place = self.scope.keys, self.options.group_selection_strategy, self.clause
        if keys is not None and self.options.groups is not None:
            raise self.text.error("groups are listed twice: by the RIGHT JOIN and in OPTIONS", *place)
        if keys is not None and sorted(keys.columns) != sorted(names):
            raise self.text.at(
                select.args.get("group") or select,
                f"the RIGHT JOIN lists groups of {', '.join(keys.columns)}: GROUP BY these, and nothing else",
            )
        if self.options.groups is not None and not names:
            raise self.text.error("groups are listed, and GROUP BY is missing", *place)
        listed: list[Any] | None = None
        if keys is not None:
            order = [keys.columns.index(name) for name in names]
            listed = [tuple(values[one] for one in order) for values in keys.values]
        elif self.options.groups is not None:
            listed = [one if isinstance(one, tuple) else (one,) for one in self.options.groups]
            if any(len(one) != len(names) for one in listed):
                raise self.text.error(f"each of the groups has a value of {', '.join(names)}", *place)
        if strategy == PUBLIC and listed is None:
            raise self.text.error(f"which groups are public? {LISTING}", *place)
        if strategy == FOUND and listed is not None:
            raise self.text.error(f"groups are listed, and so they need not be found: write {PUBLIC}", *place)
        if not names:
            return All()
        values = None if listed is None else [one[0] for one in listed] if len(names) == 1 else listed
        return read_groups(names, keys=values)


def _item(node: Any) -> Item:
    is_alias = type(node).__name__ == "Alias"
    return Item(node, node.this if is_alias else node, node.alias if is_alias else None)


def _is_called(name: str, node: Any) -> bool:
    """Whether a column that is written somewhere means this name."""
    if node.this.args.get("quoted"):
        return bool(node.name == name)
    return bool(node.name.casefold() == name.casefold())


def _has_aggregate(node: Any) -> bool:
    return any(is_aggregate(one) for one in node.walk() if type(one).__name__ in (*WRAPPERS, "Anonymous"))


def _fresh(wanted: str, taken: Iterable[str]) -> str:
    """The name that is wanted, or one like it that is not taken, also not in other capitals."""
    known = {name.casefold() for name in taken}
    name, number = wanted, 1
    while name.casefold() in known:
        number += 1
        name = f"{wanted}_{number}"
    return name
