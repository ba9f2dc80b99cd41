"""Check: everything that is wrong with a question, each with its place; from the columns alone, wherever rows are."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from viameter.core import Measure
from viameter.errors import ParameterError, ViameterError
from viameter.tables.aggregates import Aggregate, number
from viameter.tables.contributing import require_limits, require_order
from viameter.tables.estimates.noise import Kind
from viameter.tables.expressions import Schema
from viameter.tables.grouping import Grouping, grouping
from viameter.tables.planning import noise_kinds
from viameter.tables.plans.rankings import require_top
from viameter.tables.question import Aggregates, FindBounds, HeavyHitters, Question, Top
from viameter.tables.schemas import schema_after
from viameter.tables.selection import require_delta, require_keys
from viameter.tables.steps import Derive, Filter, Source, Step
from viameter.tables.units import Unit

Others = Callable[[Source], Schema]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a part of a question."""

    place: str
    """Which part: "steps[0].filter", "limit", "groups", "aggregates.wait", "top", ..."""
    error: ViameterError

    def __str__(self) -> str:
        return f"{self.place}: {self.error}"


def check(
    question: Question, schema: Schema, *, unit: Unit, measure: Measure, other: Others | None = None
) -> tuple[Problem, ...]:
    r"""All problems of a question of a table with these columns; none if it can be asked.

    >>> from viameter.measures import ZCDP
    >>> from viameter.tables.document import question_from_json
    >>> from viameter.tables.expressions import Kind, Type
    >>> from viameter.tables.units import per_row
    >>> asked = {"filter": "wiat > 60", "aggregates": {"m": {"mean": "ward", "bounds": [0, 1]}}}
    >>> columns = Schema({"ward": Type(Kind.TEXT), "wait": Type(Kind.INTEGER)})
    >>> print(*check(question_from_json(asked), columns, unit=per_row(), measure=ZCDP), sep="\n")
    steps[0].filter: there is no column 'wiat'; did you mean 'wait'? There are: ward, wait
    aggregates.m: mean of ward: it is TEXT, and no number
    """
    return tuple(_Checker(unit, measure, other or _no_other).problems(question, schema))


def _no_other(source: Source) -> Schema:
    raise ParameterError(f"there is no table {source.table!r} to join with")


@dataclass(frozen=True, slots=True)
class _Checker:
    unit: Unit
    measure: Measure
    other: Others

    def problems(self, question: Question, schema: Schema) -> Iterator[Problem]:
        unknown: set[str] = set()
        for place, step in enumerate(question.source.steps):
            schema = yield from self._after(step, schema, f"steps[{place}]", unknown)
        yield from _problem("limit", lambda: require_limits(self.unit, question.limits))
        yield from _problem("limit", lambda: require_order(schema, question.limits))
        found: list[Grouping] = []
        # What a part that is wrong would have made is not missed once more.
        if not unknown.intersection(question.groups.columns):
            yield from _problem("groups", lambda: found.append(grouping(schema, question.groups)))
        yield from self._asked(question, schema, found[0] if found else None, unknown)

    def _after(self, step: Step, schema: Schema, place: str, unknown: set[str]) -> Generator[Problem, None, Schema]:
        place = f"{place}.{type(step).__name__.lower()}"
        parts = [Derive((one,)) for one in step.columns] if isinstance(step, Derive) else [step]
        made = schema
        for part in parts:
            where = f"{place}.{part.columns[0][0]}" if isinstance(part, Derive) else place
            formulas = [made for _, made in part.columns] if isinstance(part, Derive) else []
            formulas += [part.predicate] if isinstance(part, Filter) else []
            if any(unknown & one.words for one in formulas):
                unknown |= {name for name, _ in part.columns} if isinstance(part, Derive) else set()
                continue
            try:
                after = schema_after(part, schema, self.other, unit=self.unit.column)
            except ViameterError as problem:
                unknown |= {name for name, _ in part.columns} if isinstance(part, Derive) else set()
                yield Problem(where, problem)
            else:
                # Columns of one step are all made of those before it.
                made = Schema({**dict(made), **dict(after)}, required=after.required) if len(parts) > 1 else after
        return made

    def _asked(
        self, question: Question, schema: Schema, grouped: Grouping | None, unknown: set[str]
    ) -> Iterator[Problem]:
        asked = question.asked
        if grouped is not None and grouped.keys is None and isinstance(asked, Aggregates):
            yield from _problem("groups", lambda: require_delta(self.measure.zero))
        match asked:
            case Aggregates(named):
                kind = noise_kinds(self.measure)[0]
                for name, aggregate in named:
                    if not unknown & aggregate.reads:
                        parts = aggregate.parts(name).values()
                        yield from _problem(f"aggregates.{name}", partial(_read, parts, schema, kind))
            case Top() if grouped is not None:
                yield from _problem("top", lambda: require_top(grouped, asked))
            case HeavyHitters(columns):
                yield from _problem("heavy_hitters", lambda: require_delta(self.measure.zero))
                yield from _problem("heavy_hitters", lambda: require_keys(schema, columns))
            case FindBounds(column):
                yield from _problem("find_bounds", lambda: number(schema, column, "find_bounds"))


def _read(parts: Iterable[Aggregate], schema: Schema, kind: Kind) -> None:
    for part in parts:
        part.read(schema, kind)


def _problem(place: str, look: Callable[[], object]) -> Iterator[Problem]:
    try:
        look()
    except ViameterError as problem:
        yield Problem(place, problem)


__all__ = ["Problem", "check"]
