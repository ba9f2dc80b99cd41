"""From a question and its cost to the form that asks it, so that it can be changed and asked again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from viameter.errors import ViameterError
from viameter.service.page.aggregate_fields import columns_of, made_of, texts_of
from viameter.service.page.questions import (
    AGGREGATES,
    COMPARISONS,
    CONDITIONS,
    CONFIDENCES,
    GROUPS,
    Sheet,
    form_of_fields,
)
from viameter.service.page.typed_values import line_of, lines_of, text_of
from viameter.service.page.writing_questions import default_name, question_of, read_question
from viameter.tables.aggregates import WORDS, Aggregate
from viameter.tables.cost import Cost
from viameter.tables.document import plainly
from viameter.tables.expressions import Schema
from viameter.tables.formula import Formula, Json
from viameter.tables.question import Aggregates, Edges, Found, Listed, Question, Top
from viameter.tables.steps import Filter


class Beyond(Exception):
    """A part of a question that the form does not have."""


UNREADABLE = (Beyond, ViameterError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of parts that were asked in another way, and say anything: they are left out, and that is told."""


def form_of(
    question: Question, cost: Cost, sheet: Sheet, written: Mapping[str, Any] | None = None
) -> tuple[dict[str, str], bool]:
    """The form of a question, and whether it asks all of it; what the form does not have is left out.

    Numbers stand as they do in the document that it was `written` in, if there is one.
    """
    found: dict[str, str] = {}
    for part in (_rows, _groups, _asked, _cost):
        with suppress(*UNREADABLE):
            found |= part(question, cost, sheet, written or {})
    form = form_of_fields(lambda name: found.get(name, ""))
    with suppress(*UNREADABLE):
        return form, _settled(*question_of(form, sheet), sheet.schema) == _settled(question, cost, sheet.schema)
    return form, False


def form_of_document(document: Any, sheet: Sheet) -> tuple[dict[str, str], bool]:
    """The form of a question as it was written; empty for one that is not understood."""
    with suppress(*UNREADABLE):
        return form_of(*read_question(document), sheet, document)
    return form_of_fields(lambda name: ""), False


def _settled(question: Question, cost: Cost, schema: Schema) -> tuple[Question, Cost]:
    """The same, as all are written who mean it: formulas with the types of constants, one list of keys as a list."""
    found = plainly(question)
    steps = [
        Filter(Formula.of(one.predicate.read(schema))) if isinstance(one, Filter) else one for one in found.source.steps
    ]
    groups = found.groups
    if isinstance(groups, Listed) and len(groups.columns) == 1 and isinstance(groups.keys.value, dict):
        groups = replace(groups, keys=Json.of(groups.keys.value[groups.columns[0]]))
    source = replace(found.source, steps=tuple(steps))
    return replace(found, source=source, groups=groups), replace(cost, alpha=cost.chance)


def _rows(question: Question, cost: Cost, sheet: Sheet, written: Mapping[str, Any]) -> dict[str, str]:
    match plainly(question).source.steps:
        case ():
            return {}
        case (Filter(predicate),) if isinstance(predicate.to_json(), str):
            return {"expression": predicate.to_json()}
        case (Filter(predicate),):
            conditions = [_condition(one) for one in _anded(predicate.to_json())]
            if len(conditions) <= CONDITIONS:
                return _numbered("condition", conditions)
    raise Beyond


def _anded(written: Any) -> list[Any]:
    if written.get("operation") != "and":
        return [written]
    left, right = written["arguments"]
    return [*_anded(left), right]


def _condition(written: Mapping[str, Any]) -> dict[str, str]:
    operation, arguments = written["operation"], written["arguments"]
    if operation == "not":
        inner = _condition(arguments[0])
        return {**inner, "comparison": {"is_in": "not_in", "is_null": "not_null"}[inner["comparison"]]}
    if operation not in COMPARISONS or operation.startswith("not_"):
        raise Beyond
    values = [one["value"] for one in arguments[1:]]
    value = line_of(values) if operation in ("is_in", "between") else "".join(map(text_of, values))
    return {"column": arguments[0]["column"], "comparison": operation, "value": value}


def _groups(question: Question, cost: Cost, sheet: Sheet, written: Mapping[str, Any]) -> dict[str, str]:
    groups = question.groups
    rows = [{"column": name} for name in groups.columns]
    if len(rows) > GROUPS:
        raise Beyond
    found = {"grouping": "none", "other": "yes" if groups.other else ""}
    match groups:
        case Found():
            found["grouping"] = "found"
        case Edges(edges=edges):
            found |= {"grouping": "intervals", "edges": ", ".join(map(text_of, edges.value))}
        case Listed((*names,), keys):
            lists = keys.value if isinstance(keys.value, dict) else {names[0]: keys.value}
            rows = [{"column": name, "values": lines_of(lists[name])} for name in names]
            found["grouping"] = "listed"
    return {**found, **_numbered("group", rows)}


def _asked(question: Question, cost: Cost, sheet: Sheet, written: Mapping[str, Any]) -> dict[str, str]:
    match question.asked:
        case Top(k, by):
            return {"asked": "top", "top": str(k), "by": by}
        case Aggregates(named):
            rows: list[dict[str, str]] = []
            widths = dict(cost.within or ())
            taken = list(question.groups.columns)
            for name, one in named[:AGGREGATES]:
                row = _row(one, written.get("aggregates", {}).get(name, {}))
                if name in widths:
                    row["within"] = as_typed(widths[name], written.get("within", {}).get(name))
                if name != default_name(row["what"], [row[field] for field in columns_of(row["what"])], taken):
                    row["name"] = name
                rows.append(row)
                taken.append(name)
            return _numbered("aggregate", rows)
    raise Beyond


def _row(one: Aggregate, written: Mapping[str, Any]) -> dict[str, str]:
    """The row that asks for an aggregate, by its own word or by that which needs fewest inputs; or the nearest one."""
    entry, nearest = one.to_json(), None
    of = entry.pop(one.word)
    for word in sorted(WORDS.values(), key=lambda word: (word.name not in written, len(word.inputs))):
        with suppress(*UNREADABLE):
            texts = texts_of(word.name, {**entry, word.name: of}, lambda value: as_typed(value, written))
            row = {"what": word.name, **texts}
            nearest = nearest or (row if word.name in (*written, one.word) else None)
            if made_of(word.name, texts) == one:
                return row
    if nearest is None:
        raise Beyond
    return nearest


def _cost(question: Question, cost: Cost, sheet: Sheet, written: Mapping[str, Any]) -> dict[str, str]:
    percents = {Fraction(alpha): percent for percent, alpha in CONFIDENCES.items()}
    found = {"confidence": percents.get(cost.chance, "95"), "costing": "spend" if cost.within is None else "within"}
    if cost.spend is None or cost.spend.measure != sheet.budget.measure:
        return found
    amounts = [number for name, number in cost.spend.to_json().items() if name != "measure"]
    amount, *delta = (as_typed(number, written.get("spend")) for number in amounts)
    return {**found, "amount": amount, "delta": "".join(delta) if delta != ["0"] else ""}


def as_typed(number: Any, written: Any) -> str:
    """A number as it stands in a part of a document, if it is there, or in short.

    >>> as_typed(Fraction(1, 20), {"zcdp": "5e-2"}), as_typed(Fraction(1, 20), None), as_typed("1/3", [0, 1])
    ('5e-2', '0.05', '1/3')
    """
    exact = Fraction(number)
    for text in re.findall(r"[^][{}:,\s\"]+", json.dumps(written)):
        with suppress(ValueError, ArithmeticError):
            if float(Fraction(text)) == float(exact):
                return str(text)
    short = repr(float(exact))
    return short if exact.denominator > 1 and Fraction(short) == exact else str(exact)


def _numbered(kind: str, rows: list[dict[str, str]]) -> dict[str, str]:
    return {f"{kind}-{place}-{name}": text for place, row in enumerate(rows, start=1) for name, text in row.items()}
