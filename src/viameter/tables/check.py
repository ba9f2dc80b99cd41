"""Check: everything that is wrong with a question, each with its place; from the columns alone, wherever rows are."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from viameter.core import Measure
from viameter.errors import ParameterError, ViameterError
from viameter.tables.aggregates import Aggregate, number
from viameter.tables.bounding import Limits
from viameter.tables.contributing import require_enough, require_limits, require_order
from viameter.tables.estimates.noise import Kind
from viameter.tables.expressions import Schema
from viameter.tables.grouping import Grouping, grouping
from viameter.tables.planning import noise_kinds
from viameter.tables.plans.rankings import require_top
from viameter.tables.question import Aggregates, FindBounds, HeavyHitters, Question, Top
from viameter.tables.schemas import schema_after
from viameter.tables.selection import require_delta, require_keys
from viameter.tables.statistics import Statistic, Total
from viameter.tables.steps import Derive, Filter, Join, Sample, Select, Source, Step
from viameter.tables.units import Described, Unit

UNSAMPLED = "sample: {!r} hides single rows, which have no name to be sampled by"
UNJOINED = "join: {!r} hides single rows; two private tables are joined where a unit has rows in both"
UNSELECTED = "select: name at least one column: {!r} hides single rows, and nothing would be left of them"
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
        yield from _problem("limit", lambda: require_order(schema, self.unit.limits.tightened(question.limits)))
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
            if self.unit.rows_without_limit is not None and (why := _of_units(part)):
                yield Problem(where, ParameterError(why.format(self.unit)))
                continue
            if any(unknown & one.words for one in formulas):
                unknown |= {name for name, _ in part.columns} if isinstance(part, Derive) else set()
                continue
            try:
                after = schema_after(part, schema, self.other, unit=self.unit.column)
            except ViameterError as problem:
                unknown |= {name for name, _ in part.columns} if isinstance(part, Derive) else set()
                yield Problem(where, problem)
            else:
                made = _with_one(made, after, part) if isinstance(part, Derive) else after
        if len(parts) > 1 and not unknown:
            yield from _problem(place, lambda: schema_after(step, schema, self.other, unit=self.unit.column))
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
                statistics: list[Statistic] = []
                for name, aggregate in named:
                    if not unknown & aggregate.reads:
                        parts = aggregate.parts(name).values()
                        yield from _problem(f"aggregates.{name}", partial(_read, parts, schema, kind, statistics))
                size = None if grouped is None or grouped.keys is None else grouped.keys.size
                yield from self._limits(question.limits, statistics or [Total()], size)
            case Top() if grouped is not None:
                yield from _problem("top", lambda: require_top(grouped, asked))
                yield from self._limits(question.limits, [Total()], None)
            case HeavyHitters(columns):
                yield from _problem("heavy_hitters", lambda: require_delta(self.measure.zero))
                yield from _problem("heavy_hitters", lambda: require_keys(schema, columns))
                yield from self._limits(question.limits.tightened(Limits(per_group=1)), [Total()], None)
            case FindBounds(column):
                yield from _problem("find_bounds", lambda: number(schema, column, "find_bounds"))
                yield from self._limits(question.limits, [Total()], 1)

    def _limits(self, asked: Limits, statistics: Sequence[Statistic], groups: int | None) -> Iterator[Problem]:
        """That something limits what a unit adds; what a service does not say of its unit, it judges itself."""
        if self.unit.rows_without_limit is None and not isinstance(self.unit, Described):
            limits = self.unit.limits.tightened(asked)
            yield from _problem("limit", lambda: require_enough(self.unit, limits, statistics, groups))


def _of_units(step: Step) -> str:
    """Why a step is none where single rows are hidden, which have no name; empty if it is one."""
    match step:
        case Sample():
            return UNSAMPLED
        case Join(Source()):
            return UNJOINED
        case Select(()):
            return UNSELECTED
    return ""


def _with_one(made: Schema, after: Schema, part: Derive) -> Schema:
    """Columns of one step are all made of those before it: what was made so far, and the one that this part makes."""
    ((name, _),) = part.columns
    filled = {name} & after.required
    return Schema({**dict(made), name: after[name]}, made.unusable, (made.required - {name}) | filled)


def _read(parts: Iterable[Aggregate], schema: Schema, kind: Kind, statistics: list[Statistic]) -> None:
    for part in parts:
        statistics += part.read(schema, kind).statistics


def _problem(place: str, look: Callable[[], object]) -> Iterator[Problem]:
    try:
        look()
    except ViameterError as problem:
        yield Problem(place, problem)


__all__ = ["Problem", "check"]
