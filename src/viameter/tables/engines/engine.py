"""Engine: all that is particular about one engine, as one class in a file of its own, as SQLAlchemy's dialects are.

An engine has no state: what belongs to a connection hangs on its backend (see `turns`).
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from viameter.errors import ParameterError, SourceUnavailable
from viameter.tables.engines.digests import checked_salt, number_of_salt, portable_digest
from viameter.tables.engines.imports import import_ibis
from viameter.tables.engines.names import fresh_name

if TYPE_CHECKING:
    from viameter.tables.engines.compiled import Statement
    from viameter.tables.engines.places import Place
    from viameter.tables.engines.readings import Reading
    from viameter.tables.engines.table import EngineTable

PLAIN = ("integer", "boolean", "date", "time", "timestamp", "decimal", "uuid")
"""Kinds of values that engines take for the same only if they are the same."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Job:
    """One query that is to be run once."""

    backend: Any
    statement: Statement
    seconds: float | None = None
    """For how long somebody waits for it, if that is known: engines that can end a query by themselves do."""
    name: str = field(default_factory=lambda: fresh_name("query"))


class Engine(ABC):
    """What there is to know of an engine, and how it does what every engine must do."""

    name: ClassVar[str]
    """Its name in Ibis."""
    title: ClassVar[str]
    """Its name in sentences."""
    opens: ClassVar[str]
    """What it opens, in sentences."""
    noise: ClassVar[tuple[tuple[str, type[Warning]], ...]] = ()
    """Its warnings that nobody here can mend: the start of their text, and their kind."""
    runs_many: ClassVar[bool] = False
    """Whether it runs many queries at once, and cancels each by its own name."""
    bytes_of_name: ClassVar[float] = inf
    """How many bytes it keeps of a name: two that agree in so many would be one."""
    most_keys_in_text: ClassVar[float] = inf
    """Up to so many keys are best written into the text of a query; more of them are best joined as a table."""
    salt_is_number: ClassVar[bool] = True
    """Whether its own hash begins with a number; else with a text, as portable digests do."""
    summed_as: ClassVar[str] = "int64"
    """What integers are cast to before they are summed, so that the sum has a type that holds 2^63 times 2^63 rows."""
    setting: ClassVar[str] = ""
    """What a source on it is called in a configuration, if one can stand there."""
    setting_like: ClassVar[str] = ""
    """What such a setting looks like."""
    setting_starts: ClassVar[tuple[str, ...]] = ("",)
    """How such a setting starts."""
    parts_of_name: ClassVar[int] = 2
    """How many parts a table's name has at most there, with dots between."""

    # What it opens

    @abstractmethod
    def open(self, source: Any, *, table: str | None, beside: EngineTable | None) -> EngineTable | None:
        """What it can open, as a table; None for all else. Beside a table of its own, on the same backend."""

    def require_known(self, backend: Any) -> None:
        """Refuse a connection of somebody else's that is set to what could make errors or limits depend on rows."""
        return

    @abstractmethod
    def readings(self, backend: Any, node: Any) -> dict[str, Reading | None]:
        """How each column of a table of the database is read; None for one that questions cannot use."""

    def copied(self, table: EngineTable) -> EngineTable:
        """The rows of a table as they are now, copied into the engine's memory: files need not be read each time."""
        raise ParameterError(f"cached: rows in {self.title} are where they are; files and frames can be cached")

    @abstractmethod
    def bring(self, backend: Any, name: str, rows: Any) -> Callable[[], None]:
        """Make a temporary table of this name of an Arrow table; how to drop it."""

    def limit_memory(self, backend: Any, size: int) -> bool:
        """Let queries take so many bytes of memory; whether it is in this process, where rows can be kept in memory."""
        return False

    # What a configuration and a catalog ask of it

    def reached(self, setting: str) -> Any:
        """The source that a setting means, as it is opened with the name of a table."""
        return setting

    def look(self, setting: str) -> str:
        """What can be said of a setting without registering anything; ParameterError if it does not work."""
        return f"{self.title}, which is asked by datasets alone"

    @abstractmethod
    def place(self, backend: Any, source: Any, table: str) -> Place:
        """Where the rows of a table are, by whatever name it was found, and what shares rows with it."""

    # How it runs a query

    @abstractmethod
    def fetch(self, job: Job) -> list[Any]:
        """Run a query; its rows as sequences of Python values. In a thread of its own; the rest from any thread."""

    @abstractmethod
    def cancel(self, job: Job) -> None:
        """Ask it to stop; `fetch` then raises soon. It may be called before `fetch` began, to no effect."""

    def abandon(self, job: Job) -> None:
        """Let go of an engine that does not stop, if another connection to it can be had; `fetch` then raises."""
        return

    def share(self, job: Job) -> float | None:
        """The share of the work that is done, between 0 and 1, if the engine knows."""
        return None

    def is_gone(self, backend: Any) -> bool:
        """Whether the connection is known to be closed."""
        return False

    def require_reachable(self, backend: Any, tables: Sequence[EngineTable]) -> None:
        """Make sure that it answers and that these tables are there; else SourceUnavailable. The lock is held."""
        if self.is_gone(backend):
            raise SourceUnavailable(
                f"the connection to {self.name} is closed: open the source again; nothing was spent"
            )

    def aside(self, backend: Any) -> AbstractContextManager[None]:
        """For what is asked of it beside queries of questions: an engine that hangs meanwhile is let go."""
        return nullcontext()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Ignore its known warnings for a while."""
        with warnings.catch_warnings():
            for message, kind in self.noise:
                warnings.filterwarnings("ignore", message=message, category=kind)
            yield

    # How it computes

    def exact_sum(self, column: Any) -> Any:
        """The sum of an integer column (at most 64 bits, signed) as decimal text; '0' where there is no value.

        It never overflows, and never passes through floats.

        >>> import ibis
        >>> from viameter.tables.engines import engine_named
        >>> rows = ibis.table({"delay": "int32"}, name="rows")
        >>> query = rows.agg(n=engine_named("postgres").exact_sum(rows.delay))
        >>> print(ibis.to_sql(query, dialect="postgres", pretty=False))
        SELECT COALESCE(CAST(SUM(CAST("t0"."delay" AS BIGINT)) AS VARCHAR), '0') AS "n" FROM "rows" AS "t0"
        """
        ibis = import_ibis()
        kind = column.type()
        if not kind.is_integer() or kind == ibis.dtype("uint64").copy(nullable=kind.nullable):
            raise ParameterError(
                f"exact_sum takes integers of at most 64 bits with a sign, not a column of type {kind}"
            )
        return cast(column, self.summed_as).sum().cast("string").fill_null("0")

    def digest(self, order: str, parts: Sequence[Any], salt: str) -> Any:
        """A salted digest of a row's content, by which kept rows are put in order: a function of these alone.

        "portable" is the MD5, as 32 hexadecimal digits, and the same in all engines; "native" a 64-bit integer by the
        engine's own hash: faster, but other rows come first in each engine. Another salt gives an unrelated order. Two
        rows may have one digest although their parts differ: whoever orders by it breaks ties by the parts.
        """
        if not parts:
            raise ParameterError("a digest needs at least one part")
        written = self.salt_in_sql(order, salt)
        if order == "portable":
            return portable_digest(parts, written, self.seconds_and_micros)
        return self.native_digest(tuple(parts), written)

    @abstractmethod
    def native_digest(self, parts: tuple[Any, ...], salt: str) -> Any:
        """The engine's own hash of a salt, as it is written in SQL, and parts."""

    def salt_in_sql(self, order: str, salt: str) -> str:
        """How a salt is written in queries: nothing else in a digest depends on it."""
        text = checked_salt(salt)
        return number_of_salt(text) if self.salt_is_number and order != "portable" else text

    def seconds_and_micros(self, moment: Any) -> tuple[Any, Any]:
        """The seconds and the microseconds of a timestamp, as integers."""
        return moment.second(), moment.microsecond()

    def comparable(self, column: Any, *, name: str) -> Any:
        """The column, such that values are equal in the engine exactly if they have the same digest.

        Limits hold for each group as the engine groups. Where it takes two values for one although their digests differ
        (0.0 and -0.0; 'a' and 'A' under a collation; the decimals 1.0 and 1.00), a group would have two places in the
        order of a unit's rows, and twice as many of them would be kept. Such values are made one, or told apart, before
        anything else.
        """
        kind = column.type()
        if kind.is_string():
            return self.plain_text(column)
        if kind.is_floating():
            return import_ibis().ifelse(column == 0, 0.0, column).cast(kind)
        if kind.is_decimal():
            return self.plain_decimal(column)
        if any(getattr(kind, f"is_{plain}")() for plain in PLAIN):
            return column
        raise ParameterError(
            f"column {name!r} is of type {kind}: expected text, numbers, truth values, dates or times to tell units or "
            "groups apart; make one of these of it first"
        )

    def plain_text(self, column: Any) -> Any:
        """Text that is equal only if every character is."""
        return cast(column, "string")

    def plain_decimal(self, column: Any) -> Any:
        """Decimals that are equal only if they are written alike."""
        return column


def cast(column: Any, kind: str) -> Any:
    """A cast that is written out: Ibis leaves out one that changes nothing by its own types, but an engine may have
    computed 64 bits in 32, or compare text by a collation.
    """
    ibis = import_ibis()
    return ibis.expr.operations.Cast(column, to=ibis.dtype(kind)).to_expr()
