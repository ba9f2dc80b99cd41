"""Whatever can be asked of a column of a kind: every operation of the language, and every use in a question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import viameter as vm
from viameter.errors import ViameterError
from viameter.tables.engines import EngineTable, open_source, run
from viameter.tables.expressions import Call, Expression, Kind, case, greatest, least, to_ibis
from viameter.tables.expressions.typing_rules import RULES
from viameter.tables.relation import source_rows

LOUD = vm.zcdp(10**9)
CONSTANTS: dict[Kind, list[Any]] = {
    Kind.INTEGER: [0, 7, -1, 2**63 - 1],
    Kind.REAL: [0.0, 7.5, -1e40],
    Kind.BOOLEAN: [True, False],
    Kind.TEXT: ["a", "no member", "", "%"],
    Kind.DATE: ["1970-01-01", "2024-02-29"],
    Kind.TIMESTAMP: ["1970-01-01T00:00:00", "2024-02-29T12:00:00"],
}
TARGETS = ("integer", "real", "text", "boolean", "date", "timestamp")


def expressions_on(c: Expression) -> list[Expression]:
    """Every operation that takes a column of its kind."""
    kind, values = c.type.kind, CONSTANTS[c.type.kind]
    made: list[Expression] = [c, c.is_null(), c.is_in(values), c.is_in([]), c.fill_null(values[0])]
    made += [case((c.is_null(), values[0]), (c == values[0], c), default=None)]
    made += [compared for value in values for compared in (c == value, c != value)]
    for target in TARGETS:
        if target.upper() != kind.value:
            try:
                made.append(c.cast(target))
            except ViameterError:
                continue
    if kind in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP):
        low, high = sorted(values[:2])
        made += [c < low, c <= low, c > low, c >= low, c.between(low, high), c.clip(low, high), c.bin([low, high])]
        made += [least(c, low), greatest(c, high), least(c, c)]
    if kind in (Kind.INTEGER, Kind.REAL):
        made += [c + c, c - 1, c * c * c, c / 0, c / c, c / 3, -c, abs(c), c.round_to(10), c.sqrt(), c.log(), c.exp()]
        made += [c.floor(), Call("settle", (c if kind is Kind.REAL else c.cast("real"),))]
    if kind is Kind.INTEGER:
        made += [c // c, c // 0, c % c, c % -1, c // 7, c % 10**9]
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        made += [c.year(), c.month(), c.day(), c.weekday()]
        made += [c.truncate(unit) for unit in ("day", "week", "month", "year")]
    if kind is Kind.TIMESTAMP:
        made += [c.hour(), c.cast("date").days_since("1970-01-01")]
    if kind is Kind.DATE:
        made += [c.days_since("1970-01-01"), c.cast("timestamp").hour()]
    if kind is Kind.BOOLEAN:
        made += [c & c, c | True, ~c]
    if kind is Kind.TEXT:
        made += [c.lower(), c.upper(), c.strip(), c.length(), c.slice(0, 2), c.slice(1, 1)]
        made += [test for part in values for test in (c.starts_with(part), c.ends_with(part), c.contains(part))]
    return made


def operations(made: list[Expression]) -> set[str]:
    """The operations that occur."""
    found: set[str] = set()
    waiting = list(made)
    while waiting:
        each = waiting.pop()
        if isinstance(each, Call):
            found.add(each.operation)
            waiting += each.arguments
    return found


ALL_OPERATIONS = set(RULES)


def evaluated(source: Any, name: str = "c", **options: Any) -> None:
    """Compute every expression on every row, and hand all of it over."""
    table = source if isinstance(source, EngineTable) else open_source(source, **options)
    rows = source_rows(table, None)
    column = vm.open(table.expression if isinstance(source, EngineTable) else source, **options, **FREE)[name]
    named = {f"e{place}": to_ibis(each, rows.expression) for place, each in enumerate(expressions_on(column))}
    run(rows.on, rows.expression.select(**named))


FREE: dict[str, Any] = {"unit": vm.per_row(), "budget": vm.zcdp(10**15)}


def questions(source: Any, name: str = "c", *, user: str = "u", **options: Any) -> Iterator[tuple[str, Any]]:
    """Questions that use a column in every place that there is for one."""
    free = {"budget": vm.zcdp(10**15), **options}
    rows = vm.open(source, unit=vm.per_row(), **free)
    kind = rows.schema.require(name).kind
    low, *_ = values = CONSTANTS[kind][:2]
    for order in ("native", "portable"):
        people = vm.open(source, unit=vm.per(user, groups=2, per_group=1), order=order, **free)
        if kind is not Kind.REAL:
            yield (
                f"groups, {order}",
                people.group_by(name, keys=values, other=True).agg(n=vm.count(), m=vm.count_units()),
            )
        if kind in (Kind.INTEGER, Kind.TEXT):
            each = vm.open(source, unit=vm.per(name, rows=2), order=order, **free)
            yield f"units, {order}", each.agg(n=vm.count(), m=vm.count_units())
            yield f"units by user, {order}", each.group_by(user, keys=["u1"]).agg(n=vm.count())
    if kind is not Kind.REAL:
        yield "join", rows.join(vm.public({name: _typed(values, kind), "other": [1, 2]}), on=name).agg(n=vm.count())
        if kind is not Kind.BOOLEAN:
            found = vm.open(
                source, unit=vm.per(user, groups=2, per_group=1), budget=vm.approx(10**6, "1/10"), **options
            )
            yield "keys that are found", found.group_by(name).agg(n=vm.count())
    if kind in (Kind.INTEGER, Kind.REAL):
        bounds: Any = {"bounds": (0, 100)}
        sums = {"s": vm.sum(name, **bounds), "m": vm.mean(name, **bounds), "v": vm.variance(name, **bounds)}
        yield "numbers", rows.agg(**sums, q=vm.median(name, **bounds))
        yield "bins", rows.group_by(name, edges=[0, 1, 50]).agg(n=vm.count())
    yield "filter", rows.filter(rows[name] == low).agg(n=vm.count())
    yield "sample", vm.open(source, unit=vm.per(user, rows=2), **free).sample("1/2").agg(n=vm.count())


def _typed(values: list[Any], kind: Kind) -> list[Any]:
    from datetime import date, datetime

    read = {Kind.DATE: date.fromisoformat, Kind.TIMESTAMP: datetime.fromisoformat}.get(kind)
    return [read(value) if read else value for value in values]


def answered(source: Any, name: str = "c", **options: Any) -> list[str]:
    """The questions that were answered; an error of any question is raised."""
    done = []
    for said, question in questions(source, name, **options):
        spend = vm.approx(1, "1/100") if said.startswith("keys") else LOUD
        question.release(spend=spend)
        done.append(said)
    return done
