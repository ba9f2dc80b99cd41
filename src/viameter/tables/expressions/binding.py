"""Bind values once: what is large and mentioned again becomes a column of an inner select.

Encodings mention their arguments several times, and SQL has no names within an expression: written out, nested calls
double at each level. Ibis puts selects into one another, and so do engines, so a column of an inner select alone would
be written out again. A column that is unnested from an array of one element is not: no optimizer computes it anew
behind a filter or in another select, on DuckDB, PostgreSQL and Spark alike. Each row stays one row, as the array has
one element, NULL or not.

Nothing is computed that was not before, and nothing before its guard: operands are harmless as they stand (see
`to_engine`), so that every part of a value can be computed on every row.

The text is linear in the number of different parts of the values: of each, no more is written out than `LARGEST`
whenever it is mentioned once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viameter.tables.expressions.engine_values import IBIS_NAMES

LARGEST = 128
"""How many nodes a value has at most that is written out wherever it is mentioned, about 1.5 kB of SQL: a column that
is rounded, clipped or added to another has fewer.
"""
LARGEST_COLUMN = 2 * LARGEST
"""The same for a column, which whoever reads it may mention again."""
TALLEST = 48
"""How deeply a value may be nested: the writer of SQL takes 5 calls to a level, and Python ends at 1000."""
HIDDEN = "viameter_bound_"
"""How the columns of inner selects start; no table has them, and none reaches a result."""


def with_columns(table: Any, columns: Mapping[str, Any]) -> Any:
    """An Ibis table with these columns added, or put in the place of those of the same name.

    A large one is bound itself: it may be mentioned any number of times by what reads it.
    """
    bound = _Bound.of(table, columns.values(), are_columns=True)
    if bound is None:
        return table.mutate(**columns)
    own = {name: bound.table[name] for name in table.columns}
    return bound.table.select(**own | dict(zip(columns, bound.values, strict=True)))


def filtered(table: Any, predicate: Any) -> Any:
    """The rows of an Ibis table for which a predicate is true."""
    bound = _Bound.of(table, [predicate], are_columns=False)
    if bound is None:
        return table.filter(predicate)
    return bound.table.filter(*bound.values).select(*table.columns)


@dataclass(frozen=True, slots=True)
class _Bound:
    """A table with hidden columns, and values that are small on top of it."""

    table: Any
    values: list[Any]

    @classmethod
    def of(cls, table: Any, values: Iterable[Any], *, are_columns: bool) -> _Bound | None:
        """What is large and mentioned again, as hidden columns; None if there is nothing."""
        roots = [value.op() for value in values]
        nodes = _in_order(roots)
        mentions, columns = Counter(roots), set(roots if are_columns else ())
        for node in reversed(nodes):
            # What cannot be bound is written out wherever it is mentioned, with all of its parts.
            for part in _parts(node):
                mentions[part] += 1 if _can_be_bound(node) else mentions[node]
        measure, found = _Measure(), []
        for node in nodes:
            size, height = measure(node)
            most = LARGEST if mentions[node] > 1 else LARGEST_COLUMN if node in columns else size
            if (size > most or height > TALLEST) and _can_be_bound(node):
                found.append(node)
                measure.known[node] = (1, 1)
        return cls._layered(table, roots, nodes, found) if found else None

    @classmethod
    def _layered(cls, table: Any, roots: list[Any], nodes: list[Any], found: list[Any]) -> _Bound:
        import ibis

        own, names = tuple(table.columns), {node: f"{HIDDEN}{place}" for place, node in enumerate(found)}
        last: dict[Any, int] = {}
        for place, node in enumerate([*found, *roots]):
            last |= dict.fromkeys(_mentioned_by(node, names), place)
        # A root that is bound itself is a result, whether or not anything else mentions it.
        last |= dict.fromkeys((root for root in roots if root in names), len(found))
        made: dict[Any, Any] = {}
        earlier: list[Any] = []
        for node in nodes:
            value = _with_parts(node, made)
            if node in names:
                kept = [names[other] for other in earlier if last[other] > len(earlier)]
                # Ibis finds columns of the table as it was in the table as it is: each one is handed on unchanged.
                table = table.select(*own, *kept, **{names[node]: ibis.array([value.to_expr()]).unnest()})
                value = table[names[node]].op()
                earlier.append(node)
            made[node] = value
        return cls(table, [made[root].to_expr() for root in roots])


@dataclass(frozen=True, slots=True)
class _Measure:
    """How many nodes a value has when it is written out, and how deeply they are nested."""

    known: dict[Any, tuple[int, int]] = field(default_factory=dict)

    def __call__(self, value: Any) -> tuple[int, int]:
        import ibis.expr.operations as ops

        for node in _in_order([value], without=self.known):
            if isinstance(node, ops.Field):
                self.known[node] = self(inner) if (inner := _inlined(node)) is not None else (1, 1)
            else:
                sizes = [self.known[part] for part in _parts(node)]
                self.known[node] = 1 + sum(size for size, _ in sizes), 1 + max((deep for _, deep in sizes), default=0)
        return self.known[value]


def _inlined(column: Any) -> Any:
    """How a column is made, if Ibis or an engine may write that out; None for one of a table, or one that is bound."""
    import ibis.expr.operations as ops

    relation = column.rel
    if not isinstance(relation, ops.Project | ops.Filter | ops.DropColumns | ops.JoinChain | ops.JoinReference):
        return None
    value = relation.values[column.name]
    return None if isinstance(value, ops.Unnest) else value


def _can_be_bound(node: Any) -> bool:
    """Whether it is a value of a row of a kind that expressions have; engines compute constants while they plan."""
    return node.shape.is_columnar() and any(getattr(node.dtype, f"is_{name}")() for name in IBIS_NAMES.values())


def _parts(node: Any) -> list[Any]:
    """The values that a value mentions, as often as it does when an engine has read it."""
    import ibis.expr.operations as ops

    parts = [child for child in node.__children__ if isinstance(child, ops.Value)]
    # DuckDB reads NULLIF(x, y) as CASE WHEN x = y THEN NULL ELSE x END; Ibis writes the others in such a way.
    is_doubled = isinstance(node, ops.NullIf | ops.Substring | ops.DayOfWeekIndex)
    return [*parts[:1], *parts] if is_doubled else parts


def _in_order(roots: Sequence[Any], *, without: Mapping[Any, Any] | None = None) -> list[Any]:
    """All parts of values, each once, behind its own parts."""
    seen, found, waiting = set(without or ()), [], [(root, False) for root in reversed(roots)]
    while waiting:
        node, is_ready = waiting.pop()
        if is_ready:
            found.append(node)
        elif node not in seen:
            seen.add(node)
            waiting.append((node, True))
            waiting.extend((part, False) for part in _parts(node))
    return found


def _mentioned_by(node: Any, names: Mapping[Any, str]) -> list[Any]:
    """The bound values that a value mentions when it is written out."""
    waiting, seen = _parts(node), set()
    while waiting:
        part = waiting.pop()
        if part not in seen:
            seen.add(part)
            if part not in names:
                waiting.extend(_parts(part))
    return [part for part in seen if part in names]


def _with_parts(node: Any, made: Mapping[Any, Any]) -> Any:
    """The node with what became of its parts."""
    changed = {part: made[part] for part in _parts(node) if made[part] is not part}
    return node.replace(changed, filter=lambda other: other is node or other in changed) if changed else node
