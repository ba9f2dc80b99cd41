"""Compiled queries: SQL that is made once and run again and again, each time with another salt.

To compile a query takes far longer than to run it over a small table. A query has two parts. The *rows* are what a
person asked about: filters, columns, keys; they are compiled for each question. What is *around* them keeps some rows
of each unit and adds them up; it is the same for all questions of one shape (how many groups, sums and limits, of
which types), so that it is compiled once for a shape. The text of the rows is put into it as a subquery.

Nothing differs from one release of a question to the next but the salt, and the salt stands in the outer part alone,
in which no name and no constant of a question is. That part is compiled with a placeholder in the salt's place, and
cut there. That these are the places of the salt, and all of them, is looked at: compiled with another placeholder, it
must be the same pieces around that one. A limit, say, that happens to be the first placeholder would stay as it is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from viameter.errors import ParameterError
from viameter.tables.engines.turns import turn_of

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
    """A query whose salt can be chosen."""

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
    return Statement(written_sql(backend, query), tuple(query.as_table().columns), _handed_over(backend, query))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frame:
    """What is around the rows of a query, as SQL that is cut where the rows stand, and where the salt does."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    def around(self, backend: Any, rows: Any, columns: tuple[str, ...]) -> Compiled:
        """The query of these rows, an Ibis table; its result has these columns."""
        import ibis.expr.operations as ops

        sql = written_sql(backend, rows)
        joined = f"{self.before[-1]}({sql}){self.after[0]}"
        tables = tuple(rows.op().find((ops.DatabaseTable, ops.InMemoryTable)))
        sizes = turn_of(backend).sizes
        pieces = (*self.before[:-1], joined, *self.after[1:])
        weight = sum(map(len, pieces)) + sum(sizes.get(table.name, 0) for table in tables)
        return Compiled(pieces, columns, _handed_over(backend, rows), tables, weight)


def compile_frame(compiler: Any, queries: Mapping[str, Any], *, rows: str, is_salted: bool) -> Frame:
    """The frame of a query over a table that is called `rows`; given twice, by the salt that it has in SQL.

    `is_salted` says whether the salt decides anything in this query.
    """
    import sqlglot.expressions as sge

    (salt, query), (other_salt, other) = queries.items()
    tree = _tree(compiler, query)
    sql = _written(compiler, tree)
    pieces = sql.split(salt)
    if other_salt.join(pieces) != _written(compiler, _tree(compiler, other)) or (len(pieces) > 1) != is_salted:
        raise RuntimeError("the place of the salt is not known")
    name = sge.to_identifier(rows, quoted=True).sql(dialect=compiler.dialect)
    if [table.name for table in tree.find_all(sge.Table)].count(rows) != 1 or sql.count(name) != 1:
        raise RuntimeError("the place of the rows is not known")
    before, after = (tuple(part.split(salt)) for part in sql.split(name))
    return Frame(before, after)


def written_sql(backend: Any, query: Any) -> str:
    """The SQL that the engine is given for a query."""
    return _written(backend.compiler, _tree(backend.compiler, query))


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


def _tree(compiler: Any, query: Any) -> Any:
    try:
        # Not by the backend, which logs what it compiles if Ibis was set to be verbose.
        return compiler.to_sqlglot(query.as_table())
    except Exception as error:
        raise _cannot_be_written(compiler, error) from None


def _written(compiler: Any, tree: Any) -> str:
    try:
        return str(tree.sql(dialect=compiler.dialect))
    except Exception as error:
        raise _cannot_be_written(compiler, error) from None


def _cannot_be_written(compiler: Any, error: Exception) -> ParameterError:
    why = "it is nested too deeply" if isinstance(error, RecursionError) else type(error).__name__
    return ParameterError(f"this query cannot be written for {compiler.dialect.__name__} ({why})")


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
