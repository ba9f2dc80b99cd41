"""Registry: the engines whose ways are known here, one line for each."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from viameter.errors import ParameterError

if TYPE_CHECKING:
    from viameter.tables.engines.engine import Engine


@cache
def engines() -> tuple[Engine, ...]:
    """The engines, in the order in which a source is offered to them."""
    # Imported here, since they are made of what asks this module for the engine of a table.
    from viameter.tables.engines.duckdb import DuckDB
    from viameter.tables.engines.postgres import PostgreSQL
    from viameter.tables.engines.spark import Spark

    return (PostgreSQL(), Spark(), DuckDB())


def engine_named(name: str) -> Engine:
    """The engine of this name in Ibis, if its ways are known: on others, whether an error occurs could depend on rows.

    >>> engine_named("postgres").title
    'PostgreSQL'
    """
    known = {engine.name: engine for engine in engines()}
    if name not in known:
        raise ParameterError(
            f"the engine {name!r} is not one whose arithmetic and errors are known here, so that what it gives "
            f"cannot be proved private; expected one of {', '.join(sorted(known))}: for others, export the table to "
            "Parquet and open that"
        )
    return known[name]


def engine_of(backend: Any) -> Engine:
    """The engine of an Ibis backend."""
    return engine_named(getattr(backend, "name", type(backend).__name__))
