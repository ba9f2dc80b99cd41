"""Questions as JSON (and TOML) documents: the one way in which files, requests and ledgers write them.

    {"filter": "wait > 60", "group_by": "ward", "keys": ["A", "B"],
     "aggregates": {"n": {"count": true}, "wait": {"mean": "wait", "bounds": [0, 240]}}}

Rows: `derive` (columns by name, in order), then `filter`, then `limit`; or, for any others, a list of `steps`: objects
with one of `filter`, `derive`, `select`, `sample`, or `join` with `on`. A document with `steps` has `"version": 2`; one
without a version is what every version reads. `table` names one of several tables. Groups: `group_by` with `keys` or
`edges` or neither, and `other`. Then one of `aggregates`, `top` with `by`, `heavy_hitters`, `find_bounds`. Beside them
stands what it may cost (see `cost`). Nothing in a document is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import reduce
from typing import Any

from viameter.errors import FormatError, ParameterError, plain
from viameter.tables.aggregates import Aggregate, aggregate_from_json
from viameter.tables.bounding import Limits
from viameter.tables.cost import COST_KEYS, mapping, placed
from viameter.tables.expressions import Kind
from viameter.tables.formula import Formula, Operand
from viameter.tables.public_tables import PublicTable, public
from viameter.tables.question import (
    Aggregates,
    All,
    Asked,
    Edges,
    FindBounds,
    Groups,
    HeavyHitters,
    Listed,
    Question,
    Top,
    read_aggregates,
    read_bounds_question,
    read_groups,
    read_top,
)
from viameter.tables.steps import Derive, Filter, Join, Sample, Select, Source, Step, read_names, read_sample

VERSION = 2
ROWS = frozenset({"version", "table", "steps", "derive", "filter", "limit"})
GROUPS = frozenset({"group_by", "keys", "edges", "other"})
ASKED = frozenset({"aggregates", "top", "by", "heavy_hitters", "find_bounds"})
QUESTION_KEYS = ROWS | GROUPS | ASKED
"""The names that the document of a question may have, without those of its cost."""
MOST_KEYS = 100_000
"""How many groups a written question may name."""
MOST_DERIVED, MOST_AGGREGATES, MOST_EDGES, MOST_STEPS = 40, 100, 1_000, 40
"""How much else it may have: engines take seconds, and all of a process, to compile many times as much."""
DEEPEST_JOINS = 8
"""How many private joins may stand in one another."""
MOST_COLUMNS = 1_000
"""How many columns may be named at once."""
MOST_PUBLIC = 100_000
"""How many values a public table may have that is part of a document."""


def question_from_json(entry: Mapping[str, Any], where: str = "question") -> Question:
    """The question that a document describes; names of its cost are passed over.

    >>> print(question_from_json({"filter": "wait > 5", "group_by": "ward", "keys": ["A", "B"]}))
    table.filter(wait > 5).group_by(ward, keys=["A","B"]).agg(n=count())
    """
    with placed(where):
        return _question(mapping(entry, where), where)


def _question(entry: Mapping[str, Any], where: str) -> Question:
    known = QUESTION_KEYS | COST_KEYS
    unknown = sorted(set(entry) - known)
    if unknown:
        raise FormatError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    version = entry.get("version", 1)
    if type(version) is not int or not 1 <= version <= VERSION:
        raise FormatError(f"{where}: version={plain(version)}: this version of the library reads 1 to {VERSION}")
    limits = _limits(entry["limit"], f"{where}: limit") if "limit" in entry else Limits()
    groups, asked = _asked(entry, where)
    return Question(Source(_table(entry, where), tuple(_steps(entry, where))), limits, groups, asked)


def question_to_json(question: Question) -> dict[str, Any]:
    """The document of a question; `question_from_json` reads it back."""
    found: dict[str, Any] = {}
    steps = question.source.steps
    if question.source.table:
        found["table"] = question.source.table
    if _is_plain(steps):
        derived = {name: made.to_json() for step in steps if isinstance(step, Derive) for name, made in step.columns}
        found |= {"derive": derived} if derived else {}
        if steps and isinstance(steps[-1], Filter):
            found["filter"] = steps[-1].predicate.to_json()
    else:
        found = {"version": VERSION, **found, "steps": [_step_to_json(step) for step in steps]}
    if question.limits.given:
        found["limit"] = question.limits.given
    return {**found, **_groups_to_json(question.groups), **_asked_to_json(question.asked)}


def plainly(question: Question) -> Question:
    """The same question with columns derived first and one filter then, which every version of a service reads; as it
    is, if its steps cannot be put in that order.
    """
    derived: list[Derive] = []
    filters: list[Filter] = []
    for step in question.source.steps:
        if isinstance(step, Filter):
            filters.append(step)
        elif isinstance(step, Derive):
            names = {name for name, _ in step.columns}
            beside = {word for name, made in step.columns for word in made.words if word != name}
            taken = {name for one in derived for name, _ in one.columns}
            read = {word for one in filters for word in one.predicate.words}
            if names & (beside | taken | read):
                return question
            derived += [Derive((column,)) for column in step.columns]
        else:
            return question
    steps: list[Step] = [*derived]
    if filters:
        # A row is kept by all of them if and only if it is kept by their conjunction, also where one is NULL.
        written = [one.predicate.to_json() for one in filters]
        if len(written) > 1 and any(isinstance(one, str) for one in written):
            return question
        joined = reduce(lambda left, right: {"operation": "and", "arguments": [left, right]}, written)
        steps.append(Filter(Formula.of(joined)))
    return replace(question, source=replace(question.source, steps=tuple(steps)))


def _table(entry: Mapping[str, Any], where: str) -> str:
    table = entry.get("table", "")
    if not isinstance(table, str):
        raise FormatError(f"{where}: table={plain(table)}: expected the name of a table")
    return table


def _steps(entry: Mapping[str, Any], where: str) -> Iterator[Step]:
    if "steps" in entry:
        refuse(entry, {"derive", "filter"}, where, "it is one of steps, where there are steps")
        yield from _listed_steps(entry["steps"], f"{where}: steps", 0)
        return
    derived = _named(mapping(entry.get("derive", {}), f"{where}: derive"), MOST_DERIVED, f"{where}: derive")
    for name, written in derived.items():
        yield Derive(((name, _formula(written, f"{where}: derive.{name}")),))
    if "filter" in entry:
        yield Filter(_formula(entry["filter"], f"{where}: filter"))


def _listed_steps(given: Any, where: str, depth: int) -> Iterator[Step]:
    if depth > DEEPEST_JOINS:
        raise FormatError(f"{where}: joins are nested deeper than {DEEPEST_JOINS}")
    if not isinstance(given, list) or len(given) > MOST_STEPS:
        raise FormatError(
            f'{where}: expected a list of at most {MOST_STEPS} objects, as in [{{"filter": "wait > 60"}}]'
        )
    for place, one in enumerate(given):
        with placed(f"{where}[{place}]"):
            made = _step(one, f"{where}[{place}]", depth)
        yield made


def _step(given: Any, where: str, depth: int) -> Step:
    entry = mapping(given, where)
    kinds = [name for name in STEPS if name in entry]
    if len(kinds) != 1 or set(entry) - set(kinds) - ({"on"} if kinds == ["join"] else set()):
        raise FormatError(f"{where}: expected one of {', '.join(STEPS)}: got {', '.join(map(repr, sorted(entry)[:5]))}")
    with placed(f"{where}.{kinds[0]}"):
        return STEPS[kinds[0]](entry, f"{where}.{kinds[0]}", depth)


def _derive(entry: Mapping[str, Any], where: str, depth: int) -> Step:
    given = _named(mapping(entry["derive"], where), MOST_DERIVED, where)
    return Derive(tuple((name, _formula(one, f"{where}.{name}")) for name, one in given.items()))


def _sample(entry: Mapping[str, Any], where: str, depth: int) -> Step:
    fraction = entry["sample"]
    if isinstance(fraction, bool) or not isinstance(fraction, int | str):
        raise FormatError(f'{where}: expected a number in quotes, such as "1/10"')
    return read_sample(fraction)


def _join(entry: Mapping[str, Any], where: str, depth: int) -> Step:
    given = mapping(entry["join"], where)
    on = _column_list(entry.get("on", []), f"{where}: on", least=0)
    if set(given) == {"public"}:
        return Join(_public_table(mapping(given["public"], where), where), on)
    if {"table"} <= set(given) <= {"table", "steps"}:
        return Join(
            Source(_table(given, where), tuple(_listed_steps(given.get("steps", []), f"{where}: steps", depth + 1))), on
        )
    raise FormatError(f"{where}: expected public rows, or the name of a table with its steps")


STEPS: dict[str, Callable[[Mapping[str, Any], str, int], Step]] = {
    "filter": lambda entry, where, depth: Filter(_formula(entry["filter"], where)),
    "derive": _derive,
    "select": lambda entry, where, depth: Select(_column_list(entry["select"], where, least=0)),
    "join": _join,
    "sample": _sample,
}


def _step_to_json(step: Step) -> dict[str, Any]:
    match step:
        case Filter(predicate):
            return {"filter": predicate.to_json()}
        case Derive(columns):
            return {"derive": {name: made.to_json() for name, made in columns}}
        case Select(names):
            return {"select": list(names)}
        case Sample(fraction):
            return {"sample": fraction}
        case Join(Source(table, steps), on):
            return {"join": {"table": table, "steps": [_step_to_json(one) for one in steps]}, "on": list(on)}
        case Join(PublicTable() as other, on):
            types = {name: kind.kind.value for name, kind in other.schema.items()}
            listed = {name: [_value(value) for value in values] for name, values in other.columns.items()}
            return {"join": {"public": {"columns": listed, "types": types}}, "on": list(on)}
    raise AssertionError(step)


def _public_table(given: Mapping[str, Any], where: str) -> PublicTable:
    columns, types = mapping(given.get("columns", {}), where), mapping(given.get("types", {}), where)
    if not all(isinstance(values, list) for values in columns.values()):
        raise FormatError(f'{where}: expected lists by column, as in {{"columns": {{"ward": ["A", "B"]}}}}')
    if sum(map(len, columns.values())) > MOST_PUBLIC:
        raise FormatError(f"{where}: a public table in a document has at most {MOST_PUBLIC} values")
    readers = {Kind.DATE.value: date.fromisoformat, Kind.TIMESTAMP.value: datetime.fromisoformat}
    try:
        return public(
            {
                name: [
                    readers[kind](value) if (kind := types.get(name)) in readers and value is not None else value
                    for value in values
                ]
                for name, values in columns.items()
            }
        )
    except (TypeError, ValueError) as problem:
        if isinstance(problem, ParameterError):
            raise
        raise FormatError(f"{where}: a value is not of the type that its column is said to have") from None


def _value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _is_plain(steps: Sequence[Step]) -> bool:
    """Whether they are columns that are derived one by one, and then at most one filter."""
    derived = [step for step in steps if isinstance(step, Derive)]
    rest = steps[len(derived) :]
    names = [name for step in derived for name, _ in step.columns]
    in_order = list(steps[: len(derived)]) == derived and all(len(step.columns) == 1 for step in derived)
    is_last = len(rest) <= 1 and all(isinstance(step, Filter) for step in rest)
    return in_order and is_last and len(set(names)) == len(names)


def _limits(given: Any, where: str) -> Limits:
    found = mapping(given, where)
    unknown = sorted(set(found) - {"rows", "groups", "per_group", "keep"})
    if unknown:
        raise ParameterError(f"{where}: there is no {plain(unknown[0])}; there are rows, groups, per_group, keep")
    with placed(where):
        return Limits(**found)


def _asked(entry: Mapping[str, Any], where: str) -> tuple[Groups, Asked]:
    if "heavy_hitters" in entry:
        refuse(entry, (GROUPS | ASKED) - {"heavy_hitters"}, where, "heavy_hitters finds its groups, and counts units")
        return All(), HeavyHitters(_column_list(entry["heavy_hitters"], f"{where}: heavy_hitters"))
    if "find_bounds" in entry:
        refuse(entry, (GROUPS | ASKED) - {"find_bounds"}, where, "find_bounds looks at all rows as one group")
        return All(), _find_bounds(mapping(entry["find_bounds"], f"{where}: find_bounds"), f"{where}: find_bounds")
    if "top" in entry:
        refuse(entry, {"aggregates"}, where, "top tells which groups have most, and no numbers of them")
        return _groups(entry, where), read_top(entry["top"], entry.get("by", "rows"))
    refuse(entry, {"by"}, where, "by goes with top")
    given = _named(
        mapping(entry.get("aggregates", {"n": {"count": True}}), f"{where}: aggregates"),
        MOST_AGGREGATES,
        f"{where}: aggregates",
    )
    if "group_by" not in entry:
        refuse(entry, GROUPS, where, "they go with group_by")
    groups = _groups(entry, where) if "group_by" in entry else All()
    return groups, read_aggregates(dict(_aggregates(given, f"{where}: aggregates")), groups)


def _aggregates(given: Mapping[str, Any], where: str) -> Iterator[tuple[str, Aggregate]]:
    for name, one in given.items():
        with placed(f"{where}: {name}"):
            made = aggregate_from_json(one, f"{where}: {name}")
        yield name, made


def _find_bounds(given: Mapping[str, Any], where: str) -> FindBounds:
    unknown = sorted(set(given) - {"column", "within", "q", "spacing"})
    if unknown or not {"column", "within"} <= set(given):
        raise FormatError(f"{where}: expected column and within, and q or spacing if they are not the usual ones")
    options = {name: given[name] for name in ("q", "spacing") if given.get(name) is not None}
    with placed(where):
        return read_bounds_question(_operand(given["column"], where), within=given["within"], **options)


def _groups(entry: Mapping[str, Any], where: str) -> Groups:
    if "group_by" not in entry:
        raise FormatError(f"{where}: group_by is missing")
    keys, edges = entry.get("keys"), entry.get("edges")
    if isinstance(keys, list):
        named = len(keys)
    else:
        lists = {} if keys is None else mapping(keys, f"{where}: keys")
        if not all(isinstance(values, list) for values in lists.values()):
            raise FormatError(f'{where}: keys: expected lists by column, as in {{"ward": ["A", "B"]}}')
        named = reduce(lambda product, values: product * max(len(values), 1), lists.values(), 1)
    if named > MOST_KEYS:
        raise FormatError(f"{where}: keys name {named} groups: at most {MOST_KEYS}")
    if not isinstance(entry.get("other", False), bool):
        raise FormatError(f"{where}: other: expected true or false")
    if edges is not None and (not isinstance(edges, list) or len(edges) > MOST_EDGES):
        raise FormatError(f"{where}: edges: expected a list of at most {MOST_EDGES} numbers, as in [0, 10, 20]")
    columns = _column_list(entry["group_by"], f"{where}: group_by")
    return read_groups(columns, keys=keys, other=entry.get("other", False), edges=edges)


def _groups_to_json(groups: Groups) -> dict[str, Any]:
    if isinstance(groups, All):
        return {}
    found: dict[str, Any] = {"group_by": list(groups.columns), **({"other": True} if groups.other else {})}
    match groups:
        case Listed(keys=keys):
            return {**found, "keys": keys.value}
        case Edges(edges=edges):
            return {**found, "edges": edges.value}
    return found


def _asked_to_json(asked: Asked) -> dict[str, Any]:
    match asked:
        case Aggregates(named):
            return {"aggregates": {name: one.to_json() for name, one in named}}
        case Top(k, by):
            return {"top": k, "by": by}
        case HeavyHitters(columns):
            return {"heavy_hitters": list(columns)}
        case FindBounds(column, within, q, spacing):
            found = {
                "column": column if isinstance(column, str) else column.to_json(),
                "within": [str(end) for end in within],
                "q": [str(one) for one in q],
            }
            return {"find_bounds": {**found, **({"spacing": spacing} if spacing is not None else {})}}
    raise AssertionError(asked)


def _formula(written: Any, where: str) -> Formula:
    try:
        return Formula.of(written)
    except (ParameterError, FormatError) as problem:
        raise FormatError(f"{where}: {problem}") from None


def _operand(written: Any, where: str) -> Operand:
    return written if isinstance(written, str) else _formula(written, where)


def _column_list(given: Any, where: str, *, least: int = 1) -> tuple[str, ...]:
    columns = given if isinstance(given, list | tuple) else [given]
    if not all(isinstance(column, str) for column in columns) or len(columns) < least:
        raise FormatError(f"{where}: expected the name of a column, or a list of them")
    if len(columns) > MOST_COLUMNS:
        raise FormatError(f"{where}: there are {len(columns)} columns: at most {MOST_COLUMNS}")
    return read_names(columns, where, least=least)


def _named(given: dict[str, Any], most: int, where: str) -> dict[str, Any]:
    """Not too many, by names that can be arguments of a method, which has one of its own."""
    if len(given) > most:
        raise FormatError(f"{where}: there are {len(given)}: at most {most}")
    if "self" in given:
        raise FormatError(f"{where}: nothing can be called 'self' here: choose another name")
    return given


def refuse(entry: Mapping[str, Any], keys: Any, where: str, why: str) -> None:
    """Refuse names that do not go with what else a document says."""
    given = sorted(key for key in keys if key in entry)
    if given:
        raise FormatError(f"{where}: leave {given[0]} out: {why}")
