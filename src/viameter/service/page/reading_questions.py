"""From the document of a question to the form that asks it, so that it can be changed and asked again."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from viameter.errors import ViameterError
from viameter.service.page.questions import (
    AGGREGATE_WORDS,
    AGGREGATES,
    COMPARISONS,
    CONDITIONS,
    CONFIDENCES,
    COUNTS,
    GROUPS,
    MEASURES,
    WITH_DELTA,
    WITHOUT_VALUE,
    Aggregate,
    Condition,
    Group,
    QuestionForm,
)
from viameter.service.page.typed_values import line_of, lines_of, text_of
from viameter.service.page.writing_questions import Columns, default_name, document_of
from viameter.tables.cost import read_loss


class Beyond(Exception):
    """A part of a question that the form does not have."""


UNREADABLE = (Beyond, ViameterError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of questions that were asked in another way, and say anything: it is left out, and that is told."""


def form_of(document: Mapping[str, Any], columns: Columns, measure: str) -> tuple[QuestionForm, bool]:
    """The form of a question, and whether it asks all of it; what the form does not have is left out."""
    found: dict[str, Any] = {}
    for part in (_rows, _groups, _asked, _cost):
        with contextlib.suppress(*UNREADABLE):
            found |= part(document, measure)
    form = QuestionForm(**found)
    with contextlib.suppress(*UNREADABLE):
        return form, _plainly(document_of(form, columns, measure)) == _plainly(document)
    return form, False


def _rows(document: Mapping[str, Any], measure: str) -> dict[str, Any]:
    written = document.get("filter")
    if written is None:
        return {}
    if isinstance(written, str):
        return {"expression": written}
    conditions = tuple(_condition(one) for one in _anded(written))
    if len(conditions) > CONDITIONS:
        raise Beyond
    return {"conditions": conditions}


def _anded(written: Any) -> list[Any]:
    if written.get("operation") != "and":
        return [written]
    left, right = written["arguments"]
    return [*_anded(left), right]


def _condition(written: Mapping[str, Any]) -> Condition:
    operation, arguments = written["operation"], written["arguments"]
    if operation == "not":
        inner = _condition(arguments[0])
        turned = {"is_in": "not_in", "is_null": "not_null"}
        return Condition(inner.column, turned[inner.comparison], inner.value)
    if operation not in COMPARISONS or operation.startswith("not_"):
        raise Beyond
    column, values = arguments[0]["column"], [one["value"] for one in arguments[1:]]
    if operation in WITHOUT_VALUE:
        return Condition(column, operation)
    if operation in ("is_in", "between"):
        return Condition(column, operation, line_of(values))
    (value,) = values
    return Condition(column, operation, text_of(value))


def _groups(document: Mapping[str, Any], measure: str) -> dict[str, Any]:
    by = document.get("group_by")
    if by is None:
        return {}
    names = [by] if isinstance(by, str) else list(by)
    if not 1 <= len(names) <= GROUPS:
        raise Beyond
    found: dict[str, Any] = {"other": document.get("other") is True}
    if document.get("edges") is not None:
        edges = ", ".join(text_of(one) for one in document["edges"])
        return {**found, "grouping": "intervals", "groups": (Group(names[0]),), "edges": edges}
    keys = document.get("keys")
    if keys is None:
        return {**found, "grouping": "found", "groups": tuple(Group(name) for name in names)}
    lists = {names[0]: keys} if isinstance(keys, list) else keys
    groups = tuple(Group(name, lines_of(lists[name])) for name in names)
    return {**found, "grouping": "listed", "groups": groups}


def _asked(document: Mapping[str, Any], measure: str) -> dict[str, Any]:
    if document.get("top") is not None:
        return {"asked": "top", "top": str(document["top"]), "by": document.get("by", "rows")}
    by = document.get("group_by") or []
    taken = [by] if isinstance(by, str) else list(by)
    found: dict[str, Aggregate] = {}
    given = document.get("aggregates", {"n": {"count": True}})
    within = document.get("within") or {}
    for name, written in list(given.items())[:AGGREGATES]:
        what = next((one for one in AGGREGATE_WORDS if one in written), None)
        if what is None:
            raise Beyond
        width = text_of(within.get(name, ""))
        if what in COUNTS:
            made = Aggregate(what, within=width)
        else:
            lower, upper = written["bounds"]
            q = text_of(written["q"]) if what == "quantile" else ""
            made = Aggregate(what, written[what], text_of(lower), text_of(upper), q, width)
        own = name == default_name(made, [*taken, *found])
        found[name] = made if own else replace(made, name=name)
    return {"asked": "numbers", "aggregates": tuple(found.values())}


def _cost(document: Mapping[str, Any], measure: str) -> dict[str, Any]:
    alpha = Fraction(str(document.get("alpha", "1/20")))
    confidences = {Fraction(one): percent for percent, one in CONFIDENCES.items()}
    found: dict[str, Any] = {"confidence": confidences.get(alpha, "95")}
    if document.get("within") is not None:
        return {**found, "costing": "within"}
    spend = document["spend"]
    amount = spend[MEASURES[measure]] if "measure" not in spend else _amounts(spend, measure)
    if measure in WITH_DELTA:
        amount, delta = amount
        return {**found, "amount": text_of(amount), "delta": "" if delta in ("0", 0) else text_of(delta)}
    return {**found, "amount": text_of(amount)}


def _amounts(spend: Mapping[str, Any], measure: str) -> Any:
    if spend["measure"] != measure:
        raise Beyond
    amount = spend["rho"] if "rho" in spend else spend["epsilon"]
    return [amount, spend["delta"]] if measure in WITH_DELTA else amount


def _plainly(document: Mapping[str, Any]) -> Any:
    """A question in one of the ways in which it can be written, to be compared."""
    found = {key: value for key, value in document.items() if value is not None and value is not False}
    found["alpha"] = Fraction(str(found.get("alpha", "1/20")))
    if "top" in found:
        found.setdefault("by", "rows")
    else:
        found.setdefault("aggregates", {"n": {"count": True}})
    if isinstance(found.get("group_by"), str):
        found["group_by"] = [found["group_by"]]
    if isinstance(found.get("keys"), list) and len(found["group_by"]) == 1:
        found["keys"] = {found["group_by"][0]: found["keys"]}
    if "spend" in found:
        found["spend"] = repr(read_loss(found["spend"], "spend").to_json())
    if "within" in found:
        found["within"] = {name: Fraction(str(width)) for name, width in found["within"].items()}
    if "aggregates" in found:
        found["aggregates"] = [(name, _plain_aggregate(one)) for name, one in found["aggregates"].items()]
    return found


def _plain_aggregate(one: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(one)
    if "bounds" in found:
        found["bounds"] = [Fraction(str(end)) for end in found["bounds"]]
    if "q" in found:
        found["q"] = Fraction(str(found["q"]))
    return found
