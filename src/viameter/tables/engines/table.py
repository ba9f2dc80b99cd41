"""EngineTable: a private table where it lives, as an Ibis expression; making or copying it reads no row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from viameter.errors import ParameterError
from viameter.tables.engines.compiled import CompiledQueries
from viameter.tables.engines.imports import import_ibis
from viameter.tables.engines.names import fresh_name
from viameter.tables.engines.registry import engine_of

if TYPE_CHECKING:
    from viameter.tables.engines.engine import Engine


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class EngineTable:
    """A table of one engine. It is a handle: copies of it are itself, and what it shows are its columns alone."""

    expression: Any
    """The Ibis table expression."""
    backend: Any
    """The Ibis backend that runs it."""
    keeps: tuple[Any, ...] = ()
    """What must stay alive as long as the table does, such as frames that the engine reads in place."""
    files: tuple[Any, ...] = field(default=(), kw_only=True)
    """What must be there when it is asked, as its engine knows it."""
    unusable: tuple[str, ...] = field(default=(), kw_only=True)
    """Names of columns of types that questions cannot use; they are left out of the expression."""
    compiled: CompiledQueries = field(default_factory=CompiledQueries, kw_only=True)
    """The queries that were asked of it last; one store for all tables that are made of one that was opened."""
    is_sketch: bool = field(default=False, kw_only=True)
    """Whether queries of it are compiled and never run, so that nothing need be brought to the engine for them."""

    def __post_init__(self) -> None:
        ibis = import_ibis()
        if not isinstance(self.expression, ibis.expr.types.Table):
            raise ParameterError(f"an EngineTable holds an Ibis table, not {type(self.expression).__name__}")
        engine_of(self.backend)
        operations = ibis.expr.operations
        for node in self.expression.op().find((operations.DatabaseTable, operations.SQLQueryResult)):
            if node.source is not self.backend:
                raise ParameterError(
                    "the expression has a table of another backend: tables can be joined on one backend only; open the "
                    "second with beside="
                )

    @property
    def engine(self) -> Engine:
        """What runs it."""
        return engine_of(self.backend)

    @property
    def ibis_schema(self) -> Any:
        """Names and Ibis types of the columns."""
        return self.expression.schema()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.expression.columns)

    def with_expression(self, expression: Any, *, unusable: tuple[str, ...] | None = None) -> Self:
        """Another table of the same backend, such as this one filtered or joined."""
        return replace(self, expression=expression, unusable=self.unusable if unusable is None else unusable)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> Any:
        raise ParameterError("an EngineTable stays in its process: it holds a connection; open the source again there")

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}: {kind}" for name, kind in self.ibis_schema.items())
        return f"EngineTable({self.engine.name}; {columns})"


def as_its_own(backend: Any) -> Any:
    """A backend that equals itself alone. Ibis tells backends by how they were connected, and so would take tables of
    two databases in memory for one.
    """
    vars(backend)["db_identity"] = fresh_name("backend")
    return backend
