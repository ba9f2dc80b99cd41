"""Compiled queries: SQL that is made once and run again and again, each time with another salt.

To compile a query takes far longer than to run it over a small table. Nothing in it differs from one release to the
next but the salt, so it is compiled with a placeholder in the salt's place, cut there, and put together again around
the salt of each release.

That a place of the placeholder is a place of the salt, and that there is no other, is sound for two reasons. The
placeholder is drawn secretly when the query is compiled, after all of the question was said: 128 bits as text, or 64
as a number, so that no constant, name or key of the question holds it but by a chance that nobody can raise. And it is
looked at: in the compiled tree it must stand as a constant of its own, as often as its letters occur in the text; at
least once where rows are chosen by salted digests, and nowhere else. A query of which this does not hold is not kept,
and is compiled anew for each release.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any

from viameter.errors import ParameterError
from viameter.query.engines.turns import turn_of

MOST_QUERIES = 256
"""How many compiled queries a table keeps."""
MOST_WEIGHT = 2**26
"""How much they weigh together at most: about as many bytes as they and what they hold."""
MOST_SQL = 2**18
"""How many letters of SQL a query may have. Ibis writes 50 to 100 kB a second, PostgreSQL and DuckDB plan as much in a
second, and Spark a tenth of it; 40 nested roundings have 40 kB.
"""
MOST_VALUES = MOST_SQL // 8
"""How many different values a query may have, which is seen before it is written: none has fewer letters."""
MOST_BOUND = 40
"""How many values may be bound by inner selects, each within the next: the writer of SQL takes 11 calls to each, and
Python ends at 1000.
"""
WEIGHT_OF_KEY = 128
"""What a key weighs that a query is known by."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statement:
    """A query as text that is ready to run, and what must be there when it runs."""

    sql: str
    columns: tuple[str, ...]
    """The names of the columns of its result."""
    query: Any = None
    """The Ibis query where the engine must be handed something of it first, such as small tables; else None."""
    template: str = ""
    """The same with `$1` in the place of a salt that is a number, for engines that plan a query once; else empty."""
    salt: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compiled:
    """A query whose salt can be chosen. It shows nothing of itself: the placeholder is secret."""

    pieces: tuple[str, ...]
    """The SQL, cut where the salt stands."""
    columns: tuple[str, ...]
    query: Any
    """See `Statement`."""
    tables: tuple[Any, ...]
    """The tables that it reads, which stay in the engine as long as something refers to them."""
    weight: int
    """About how many bytes it keeps in memory."""

    def with_salt(self, written: str) -> Statement:
        """The query with a salt as it is written in SQL."""
        # As a number, the salt is a constant of its own; in a text it has neighbors.
        is_number = len(self.pieces) > 1 and not any(piece.startswith("|") for piece in self.pieces[1:])
        template = "CAST($1 AS BIGINT)".join(self.pieces) if is_number else ""
        return Statement(written.join(self.pieces), self.columns, self.query, template, written if is_number else "")


class CompiledQueries:
    """The queries that were asked of one table last, by what they are; for several threads.

    They belong to the table, and not to its backend: they refer to the backend, which would not be closed as soon as
    it is out of use if it referred to them.
    """

    __slots__ = ("_kept", "_lock", "_weight")

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[Compiled, int]] = OrderedDict()
        self._lock = Lock()
        self._weight = 0

    def find(self, key: Hashable) -> Compiled | None:
        """The query of this key, if it is still kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, compiled: Compiled, *, weight: int = 0) -> None:
        """Keep it, in the place of those that were asked longest ago; one that weighs too much is not kept."""
        weight += compiled.weight
        if weight > MOST_WEIGHT:
            return
        out: list[Any] = []
        with self._lock:
            # Another thread may have compiled the same.
            self._weight += weight - (self._kept[key][1] if key in self._kept else 0)
            out.append(self._kept.pop(key, None))
            self._kept[key] = compiled, weight
            while len(self._kept) > MOST_QUERIES or self._weight > MOST_WEIGHT:
                out.append(self._kept.popitem(last=False))
                self._weight -= out[-1][1][1]
        # What goes is let go here: its finalizers need not wait for the lock.
        out.clear()

    def __len__(self) -> int:
        return len(self._kept)


def compile_query(backend: Any, query: Any) -> Statement:
    """A query as text for its engine."""
    return Statement(_written(backend, _tree(backend, query)), _columns(query), _handed_over(backend, query))


def compile_salted(backend: Any, query: Any, *, placeholder: str, is_salted: bool) -> Compiled | None:
    """A query whose salt is a placeholder, as SQL writes it; None where it cannot be told from the rest of the query.

    `is_salted` says whether the salt decides anything in this query.
    """
    import ibis.expr.operations as ops

    tree = _tree(backend, query)
    sql = _written(backend, tree)
    places = _places(tree, placeholder)
    if sql.count(placeholder) != places or (places > 0) != is_salted:
        return None
    tables = tuple(query.op().find((ops.DatabaseTable, ops.InMemoryTable)))
    pieces = tuple(sql.split(placeholder)) if is_salted else (sql,)
    sizes = turn_of(backend).sizes
    weight = len(sql) + sum(sizes.get(table.name, 0) for table in tables)
    return Compiled(pieces, _columns(query), _handed_over(backend, query), tables, weight)


def written_sql(backend: Any, query: Any, *, pretty: bool) -> str:
    """The SQL of a query."""
    return _written(backend, _tree(backend, query), pretty=pretty)


def require_writable(query: Any) -> None:
    """Refuse a query that would take long to write, before that."""
    import ibis.expr.operations as ops

    _require_at_most(MOST_VALUES, len(query.op().find(ops.Value)), "different values")
    _require_at_most(MOST_BOUND, len(query.op().find(ops.Unnest)), "nested selects")


def require_short(statement: Statement) -> None:
    """Refuse a query that would take an engine long to plan."""
    _require_at_most(MOST_SQL, len(statement.sql), "letters of SQL")


def _require_at_most(most: int, size: int, what: str) -> None:
    if size > most:
        raise ParameterError(
            f"the question is too large: a query of it has {size:,} {what}, and at most {most:,} are run; nothing was "
            "charged: ask for fewer aggregates at once, or nest and derive less"
        )


def _tree(backend: Any, query: Any) -> Any:
    try:
        # Not by the backend, which logs what it compiles if Ibis was set to be verbose.
        return backend.compiler.to_sqlglot(query.as_table())
    except Exception as error:
        raise _cannot_be_written(backend, error) from None


def _written(backend: Any, tree: Any, *, pretty: bool = False) -> str:
    try:
        return str(tree.sql(dialect=backend.dialect, pretty=pretty))
    except Exception as error:
        raise _cannot_be_written(backend, error) from None


def _cannot_be_written(backend: Any, error: Exception) -> ParameterError:
    why = "it is nested too deeply" if isinstance(error, RecursionError) else type(error).__name__
    return ParameterError(f"this query cannot be written for {backend.name} ({why})")


def _places(tree: Any, placeholder: str) -> int:
    """How many constants of a compiled query are the salt: the number itself, or the text that digests begin with."""
    import sqlglot.expressions as sge

    # The sign of a number is a node of its own.
    forms = (placeholder.removeprefix("-"), f"{placeholder}|")
    return sum(literal.this in forms for literal in tree.find_all(sge.Literal))


def _columns(query: Any) -> tuple[str, ...]:
    return tuple(query.as_table().columns)


def _handed_over(backend: Any, query: Any) -> Any:
    """The query, if Ibis has something to do before each time it runs: small tables or functions of Python to hand
    over, an extension to load, a stream to watch that can be read once. All of it comes from sources; else None.
    """
    import ibis.expr.operations as ops
    from ibis.expr.operations.udf import InputType

    json = (ops.UnwrapJSONString, ops.UnwrapJSONInt64, ops.UnwrapJSONFloat64, ops.UnwrapJSONBoolean)
    special = (ops.InMemoryTable, ops.vectorized.VectorizedUDF, ops.GeoSpatialUnOp, ops.GeoSpatialBinOp, *json)
    streams = getattr(backend, "_record_batch_readers_consumed", {})
    for node in query.op().find((*special, ops.ScalarUDF, ops.AggUDF, ops.PhysicalTable)):
        if isinstance(node, ops.ScalarUDF | ops.AggUDF):
            if node.__input_type__ is not InputType.BUILTIN:
                return query
        elif isinstance(node, special) or node.name in streams:
            return query
    return None
