"""The query of a release as text for its engine: compiled once for all releases of a question, salted for each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal

from viameter.query.bounding.limits import Limits
from viameter.query.bounding.summing import contributions, is_salted
from viameter.query.engines import (
    EngineTable,
    Statement,
    compile_query,
    compile_salted,
    require_short,
    require_writable,
    salt_in_sql,
)
from viameter.query.engines.turns import turn_of

__all__ = ["statement"]


def statement(
    table: EngineTable,
    rows: Callable[[], Any],
    *,
    known_by: Hashable,
    salt: str,
    fresh_salt: Callable[[], str],
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
    its value and held as long as the query is kept. `weight` is about how many letters it holds. Queries of which the
    salt cannot be taken out (see `engines.compiled`) are compiled anew with each salt.

    Where its size `is_limited`, a query that is too large is refused: before anything is charged, and not afterwards,
    when keys that were found in rows may be part of it.
    """
    asked: dict[str, Any] = {"unit": unit, "groups": tuple(groups), "limits": limits, "bins": bins, "first": first}
    engine, backend = table.engine, table.backend
    # What is compiled may name small tables that go with their connection.
    key = (turn_of(backend).connection, known_by, order, tuple(totals.items()), *asked.values())
    compiled = table.compiled.find(key)
    if compiled is None:
        # Drawn now, secretly, and thrown away: it is the salt of no release, and no question can hold it.
        placeholder = fresh_salt()
        made = contributions(rows(), engine=engine, totals=totals, order=order, salt=placeholder, **asked)
        if is_limited:
            require_writable(made)
        compiled = compile_salted(
            backend,
            made,
            placeholder=salt_in_sql(engine, order, placeholder),
            is_salted=is_salted(totals=totals, **asked),
        )
        if compiled is None:
            return compile_query(
                backend, contributions(rows(), engine=engine, totals=totals, order=order, salt=salt, **asked)
            )
        if not _is_sketch(made):  # a sketch is not to be run
            table.compiled.keep(key, compiled, weight=weight)
    salted = compiled.with_salt(salt_in_sql(engine, order, salt))
    if is_limited:
        require_short(salted)
    return salted


def _is_sketch(query: Any) -> bool:
    import ibis.expr.operations as ops

    return bool(query.op().find(ops.UnboundTable))
