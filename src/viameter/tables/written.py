"""Written questions: one entry of a query file, or the body of a request, made a question of a table.

A question is data, in the same words wherever it is written: which rows (`derive`, `filter`, `limit`), by which groups
(`group_by` with `keys`, `edges` or neither, `other`), what of them (`aggregates`, or `top`, or `heavy_hitters`), and
what it may cost (`spend` or `within`, `alpha`, `weights`). Nothing in it is executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viameter.arith.rationals import exact
from viameter.errors import FormatError, OverBudget, ParameterError, plain
from viameter.tables.expressions import Expression, Schema
from viameter.tables.expressions.document import from_json
from viameter.tables.expressions.parsing import parse
from viameter.tables.written_values import read_aggregates, read_loss

ROWS = frozenset({"derive", "filter", "limit"})
GROUPS = frozenset({"group_by", "keys", "edges", "other"})
ASKED = frozenset({"aggregates", "top", "by", "heavy_hitters"})
COST = frozenset({"spend", "within", "alpha", "weights", "raw"})
QUESTION_KEYS = ROWS | GROUPS | ASKED | COST
MOST_KEYS = 100_000
"""How many groups a written question may name."""
MOST_DERIVED, MOST_AGGREGATES, MOST_EDGES = 40, 100, 1_000
"""How much else it may have: engines take seconds, and all of a process, to compile many times as much."""


def read_question(table: Any, entry: Mapping[str, Any], name: str = "question") -> Any:
    """The question that an entry describes: it has `preview` and `release`, which take what `read_cost` gives.

    >>> import viameter as vm
    >>> table = vm.open({"ward": ["A", "B"], "wait": [10, 20]}, unit=vm.per_row(), budget=vm.pure(1))
    >>> read_question(table, {"filter": "wait > 5", "group_by": "ward", "keys": ["A", "B"]})
    filter(wait > 5).group_by(ward).agg(n)
    """
    unknown = sorted(str(key) for key in set(entry) - QUESTION_KEYS)
    if unknown:
        raise FormatError(f"{name}: unknown key {unknown[0]!r}; known are {', '.join(sorted(QUESTION_KEYS))}")
    derived = mapping(entry.get("derive", {}), f"{name}: derive")
    for column, written in _named(derived, MOST_DERIVED, f"{name}: derive").items():
        table = table.derive(**{column: read_expression(written, table.schema)})
    if "filter" in entry:
        table = table.filter(read_expression(entry["filter"], table.schema))
    if "limit" in entry:
        table = table.limit(**_limit(entry["limit"], f"{name}: limit"))
    if "heavy_hitters" in entry:
        _refuse(entry, (GROUPS | ASKED) - {"heavy_hitters"}, name, "heavy_hitters finds its groups, and counts units")
        return table.heavy_hitters(*_columns(entry["heavy_hitters"], f"{name}: heavy_hitters"))
    if "top" in entry:
        _refuse(entry, {"aggregates"}, name, "top tells which groups have most, and no numbers of them")
        grouped = _grouped(table, entry, name)
        if not hasattr(grouped, "top"):
            raise FormatError(f"{name}: top ranks groups that are listed: give keys or edges, or ask heavy_hitters")
        return grouped.top(entry["top"], by=entry.get("by", "rows"))
    _refuse(entry, {"by"}, name, "by goes with top")
    given = mapping(entry.get("aggregates", {"n": {"count": True}}), f"{name}: aggregates")
    aggregates = read_aggregates(_named(given, MOST_AGGREGATES, f"{name}: aggregates"), name)
    if "group_by" not in entry:
        _refuse(entry, GROUPS, name, "they go with group_by")
        return table.agg(**aggregates)
    return _grouped(table, entry, name).agg(**aggregates)


def read_expression(written: Any, schema: Schema) -> Expression:
    """An expression: as text, `"wait > 60"`, or as a document of `expressions.document`."""
    return parse(written, schema) if isinstance(written, str) else from_json(written, schema)


def read_cost(entry: Mapping[str, Any], name: str = "question") -> dict[str, Any]:
    """What `release` of the question takes: `spend` or `within`, and what was said of `alpha`, `weights`, `raw`."""
    if ("spend" in entry) == ("within" in entry):
        raise FormatError(f'{name}: give spend = {{zcdp = "1/100"}}, or within = {{n = 25}}')
    found: dict[str, Any] = {}
    if "spend" in entry:
        found["spend"] = read_loss(entry["spend"], f"{name}: spend")
    else:
        found["within"] = mapping(entry["within"], f"{name}: within")
    if "alpha" in entry:
        found["alpha"] = str(entry["alpha"])
    if entry.get("weights") is not None:
        given = mapping(entry["weights"], f"{name}: weights")
        found["weights"] = {word: exact(value, name=f"{name}: weights.{word}") for word, value in given.items()}
    if entry.get("raw") is not None:
        found["raw"] = entry["raw"] is True
    return found


def preview_of(question: Any, cost: Mapping[str, Any]) -> Any:
    """The preview of a question at a cost as `read_cost` gives it; also of one that does not fit."""
    given = {name: value for name, value in cost.items() if name not in ("within", "raw")}
    if "within" in cost:
        given["spend"] = spend_of(question, cost)
    return _with_options(question, question.preview, given)


def spend_of(question: Any, cost: Mapping[str, Any]) -> Any:
    """What a question is to spend, whether or not that fits."""
    if "spend" in cost:
        return cost["spend"]
    if not hasattr(question, "spend_for"):
        raise FormatError("within: what widths of this question cost would tell of its rows; give spend")
    given = {name: value for name, value in cost.items() if name in ("alpha", "weights")}
    try:
        return question.spend_for(cost["within"], **given)
    except OverBudget as problem:
        return problem.asked


def release_of(question: Any, cost: Mapping[str, Any], *, key: str | None) -> Any:
    """Release a question at a cost as `read_cost` gives it."""
    if "within" in cost and not hasattr(question, "spend_for"):
        raise FormatError("within: what widths of this question cost would tell of its rows; give spend")
    return _with_options(question, question.release, {**cost, "key": key})


def _with_options(question: Any, function: Any, given: Mapping[str, Any]) -> Any:
    """Questions of other kinds have fewer options; one that a question does not have is refused, not left out."""
    known = function.__func__.__kwdefaults__ or {}
    taken = {*known, "spend"}
    # Keys in order come without intervals.
    unknown = [name for name in given if name not in taken and name != "alpha"]
    if unknown:
        raise FormatError(f"{unknown[0]}: a question of this kind, {question!r}, does not have it")
    return function(**{name: value for name, value in given.items() if name in taken})


def _grouped(table: Any, entry: Mapping[str, Any], name: str) -> Any:
    if "group_by" not in entry:
        raise FormatError(f"{name}: group_by is missing")
    keys = entry.get("keys")
    if isinstance(keys, list):
        keys = [tuple(key) if isinstance(key, list) else key for key in keys]
        named = len(keys)
    else:
        if keys is not None:
            lists = mapping(keys, f"{name}: keys")
            if not all(isinstance(values, list) for values in lists.values()):
                raise FormatError(f'{name}: keys: expected lists by column, as in {{"ward": ["A", "B"]}}')
        named = 1
        for values in (keys or {}).values():
            named *= max(len(values), 1)
    if named > MOST_KEYS:
        raise FormatError(f"{name}: keys name {named} groups: at most {MOST_KEYS}")
    other = entry.get("other", False)
    if not isinstance(other, bool):
        raise FormatError(f"{name}: other: expected true or false")
    edges = entry.get("edges")
    if edges is not None and (not isinstance(edges, list) or len(edges) > MOST_EDGES):
        raise FormatError(f"{name}: edges: expected a list of at most {MOST_EDGES} numbers, as in [0, 10, 20]")
    return table.group_by(*_columns(entry["group_by"], f"{name}: group_by"), keys=keys, other=other, edges=edges)


def _columns(given: Any, name: str) -> list[str]:
    columns = given if isinstance(given, list) else [given]
    if not columns or not all(isinstance(column, str) for column in columns):
        raise FormatError(f"{name}: expected the name of a column, or a list of them")
    return columns


def _limit(given: Any, name: str) -> dict[str, Any]:
    found = mapping(given, name)
    unknown = sorted(set(found) - {"rows", "groups", "per_group", "keep"})
    if unknown:
        raise ParameterError(f"{name}: there is no {plain(unknown[0])}; there are rows, groups, per_group, keep")
    return found


def _named(given: dict[str, Any], most: int, name: str) -> dict[str, Any]:
    """Not too many, by names that can be arguments of a method, which has one of its own."""
    if len(given) > most:
        raise FormatError(f"{name}: there are {len(given)}: at most {most}")
    if "self" in given:
        raise FormatError(f"{name}: nothing can be called 'self' here: choose another name")
    return given


def _refuse(entry: Mapping[str, Any], keys: Any, name: str, why: str) -> None:
    given = sorted(key for key in keys if key in entry)
    if given:
        raise FormatError(f"{name}: leave {given[0]} out: {why}")


def mapping(value: Any, name: str) -> dict[str, Any]:
    """Names with values, or FormatError."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise FormatError(f"{name}: expected names with values")
    return dict(value)
