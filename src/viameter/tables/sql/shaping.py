"""SqlQuestion: a question that was written in SQL, with what is done with the answer's numbers afterwards.

HAVING, ORDER BY, LIMIT and arithmetic on aggregates are post-processing: they see the noisy numbers of an answer, cost
nothing, and tell nothing more of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viameter.core import Loss
from viameter.errors import ParameterError
from viameter.tables.expressions import Expression, Kind, Schema, Type, evaluate, type_of_value
from viameter.tables.formula import Formula
from viameter.tables.question import Aggregates, Question
from viameter.tables.sql.clause import Options


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result: one of the answer, or a number that is computed of the answer's, without an interval."""

    name: str
    of: str | Formula


@dataclass(frozen=True, slots=True)
class Ordering:
    """By what rows of the result are ordered; those without a value come last unless they are to be first."""

    of: str | Formula
    descending: bool = False
    unknown_first: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class SqlAnswer:
    """The rows that a SELECT shows, in its order, of an answer that was released."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    answer: Any = field(compare=False)
    """What was released: with what it cost, all of its intervals, and the theorems behind it."""

    @property
    def loss(self) -> Loss:
        """What it cost."""
        found: Loss = self.answer.loss
        return found

    def __len__(self) -> int:
        return len(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows, each as a dict."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns as lists."""
        return {name: [row[place] for row in self.rows] for place, name in enumerate(self.columns)}

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.to_columns(), columns=list(self.columns))

    def __repr__(self) -> str:
        from viameter.tables.showing.text import footer

        cells = [[name, *(_shown(row[place]) for row in self.rows)] for place, name in enumerate(self.columns)]
        widths = [max(map(len, column)) for column in cells]
        lines = zip(
            *([cell.ljust(width) for cell in column] for column, width in zip(cells, widths, strict=True)), strict=True
        )
        table = ["  ".join(line).rstrip() for line in lines]
        return "\n".join([*table, *([] if self.rows else ["(no rows)"]), "", *footer(self.answer)])


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """What a SELECT asks: a question, and how its answer is to be shown."""

    question: Question
    outputs: tuple[Output, ...]
    """The columns of the SELECT list, in its order."""
    having: Formula | None = None
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    options: Options = field(default_factory=Options)
    """What OPTIONS(...) says, of which limits and groups are in the question too."""

    @property
    def loss(self) -> Loss | None:
        """What the question may cost by its OPTIONS; None where they do not say it."""
        return self.options.loss

    @property
    def unit_column(self) -> str | None:
        """The column of which OPTIONS says that it names units; None where they do not say it."""
        return self.options.privacy_unit_column

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in the SELECT list, in its order."""
        return tuple(one.name for one in self.outputs)

    def shape(self, answer: Any, *, intervals: bool = True) -> SqlAnswer:
        """The rows of the SELECT list from the answer to the question: after HAVING, ORDER BY, LIMIT, and renamed.

        Behind each aggregate stand the ends of its interval, unless they are not wanted.
        """
        rows = [dict(row) for row in answer.to_dicts()]
        reader = _Reader(self.question, rows)
        if self.having is not None:
            test = reader.value(self.having)
            rows = [row for row in rows if test(row) is True]
        for ordering in reversed(self.order_by):
            rows = _ordered(rows, reader.value(ordering.of), ordering)
        end = None if self.limit is None else self.offset + self.limit
        rows = rows[self.offset : end]
        shown: dict[str, Any] = {}
        for one in self.outputs:
            shown[one.name] = reader.value(one.of)
            if intervals and isinstance(one.of, str) and one.of in reader.numbers:
                for part in ("lower", "upper"):
                    shown[f"{one.name}_{part}"] = reader.value(f"{one.of}_{part}")
        return SqlAnswer(tuple(shown), tuple(tuple(value(row) for value in shown.values()) for row in rows), answer)


class _Reader:
    """Gives the values of columns and formulas on the rows of an answer."""

    def __init__(self, question: Question, rows: Sequence[Mapping[str, Any]]) -> None:
        asked = question.asked
        if not isinstance(asked, Aggregates):
            raise ParameterError("the answer of a SELECT has aggregates")
        self.numbers = [part for name, one in asked.named for part in one.parts(name)]
        types = {name: Type(Kind.REAL) for name in self.numbers}
        for name in question.groups.columns:
            first = next((row[name] for row in rows if row[name] is not None), "")
            types[name] = type_of_value(first)
        self.schema = Schema(types)

    def value(self, of: str | Formula) -> Any:
        """A function that gives the value of a row."""
        if isinstance(of, str):
            return lambda row: row[of]
        expression: Expression = of.read(self.schema)
        return lambda row: evaluate(expression, row)


def _shown(value: Any) -> str:
    """A value in a table of text; nothing where it is not known."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _ordered(rows: list[dict[str, Any]], value: Any, ordering: Ordering) -> list[dict[str, Any]]:
    known = [row for row in rows if value(row) is not None]
    unknown = [row for row in rows if value(row) is None]
    # Python's order is stable in both directions: equal rows stay as they were.
    ordered = sorted(known, key=value, reverse=ordering.descending)
    return [*unknown, *ordered] if ordering.unknown_first else [*ordered, *unknown]
