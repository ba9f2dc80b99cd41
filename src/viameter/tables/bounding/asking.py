"""The query of a release as text for its engine: compiled once for all releases of a question, salted for each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from viameter.tables.bounding.keeping import Order
from viameter.tables.bounding.limits import Limits
from viameter.tables.bounding.projection import Projection, Shape, checked_groups
from viameter.tables.bounding.summing import added_up, is_salted
from viameter.tables.engines import (
    Engine,
    EngineTable,
    Frame,
    Statement,
    compile_frame,
    require_short,
    require_writable,
)
from viameter.tables.engines.turns import turn_of

__all__ = ["statement"]

ROWS = "rows_of_the_question"
"""What the rows are called where there is no question yet."""
PLACEHOLDERS = ("firstplaceholder", "secondplaceholder")
"""What stands in the place of a salt while there is no release. They are no secrets: see `engines.compiled`."""
MOST_FRAMES = 512
"""How many shapes of questions are kept; each takes some thousand letters."""


def statement(
    table: EngineTable,
    rows: Callable[[], Any],
    *,
    known_by: Hashable,
    salt: str,
    weight: int = 0,
    unit: str | None,
    groups: Sequence[str],
    totals: Mapping[str, str | int],
    limits: Limits,
    bins: str | None = None,
    first: str | None = None,
    order: Literal["native", "portable"] = "native",
    is_limited: bool = False,
) -> Statement:
    """What `contributions` adds up of `rows()`, with this salt, ready to run on the backend of a table.

    `known_by` says what `rows()` are: two that are equal must be the same Ibis table, to the letter. It is compared by
    its value and held as long as the query is kept. `weight` is about how many letters it holds.

    Where its size `is_limited`, a query that is too large is refused: before anything is charged, and not afterwards,
    when keys that were found in rows may be part of it.
    """
    engine, backend = table.engine, table.backend
    shape = (unit, tuple(groups), tuple(totals.items()), limits, bins, first)
    # What is compiled may name small tables that go with their connection.
    key = (turn_of(backend).connection, known_by, order, *shape)
    compiled = table.compiled.find(key)
    if compiled is None:
        projection = Projection(unit, checked_groups(groups), dict(totals), bins, first)
        projected = projection.of(rows(), engine=engine)
        if is_limited:
            require_writable(projected)
        types = tuple(projected.schema().items())
        frame = _frame(backend.compiler, engine, order, types, limits, projection.shape)
        compiled = frame.around(backend, projected, projection.outputs)
        if not _is_sketch(projected):  # a sketch is not to be run
            table.compiled.keep(key, compiled, weight=weight)
    salted = compiled.with_salt(engine.salt_in_sql(order, salt))
    if is_limited:
        require_short(salted)
    return salted


@lru_cache(maxsize=MOST_FRAMES)
def _frame(
    compiler: Any,
    engine: Engine,
    order: Literal["native", "portable"],
    types: tuple[tuple[str, Any], ...],
    limits: Limits,
    shape: Shape,
) -> Frame:
    """What keeps some rows of each unit, and adds them up: for all questions of a shape, over rows of these types."""
    import ibis

    projection, rows = shape.projection, ibis.table(dict(types), name=ROWS)
    orders = [Order(order, engine, placeholder) for placeholder in PLACEHOLDERS]
    queries = {
        engine.salt_in_sql(order, each.salt): added_up(rows, projection, limits=limits, order=each) for each in orders
    }
    return compile_frame(compiler, queries, rows=ROWS, is_salted=is_salted(projection, limits))


def _is_sketch(query: Any) -> bool:
    import ibis

    return bool(query.op().find(ibis.expr.operations.UnboundTable))
