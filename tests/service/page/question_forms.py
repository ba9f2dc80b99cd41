"""Forms of questions as tests write them, part by part, with the fields that they are sent in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from viameter.service.page import questions as q


@dataclass(frozen=True)
class Condition:
    """Which rows count."""

    column: str = ""
    comparison: str = "eq"
    value: str = ""


@dataclass(frozen=True)
class Group:
    """A column whose values make groups, and the values."""

    column: str = ""
    values: str = ""


@dataclass(frozen=True)
class Aggregate:
    """What is asked of each group."""

    what: str = ""
    column: str = ""
    lower: str = ""
    upper: str = ""
    q: str = ""
    within: str = ""
    name: str = ""
    column_2: str = ""
    lower_2: str = ""
    upper_2: str = ""


@dataclass(frozen=True)
class QuestionForm:
    """Everything that a form says."""

    conditions: tuple[Condition, ...] = ()
    expression: str = ""
    grouping: str = "none"
    groups: tuple[Group, ...] = ()
    edges: str = ""
    other: bool = False
    asked: str = "numbers"
    aggregates: tuple[Aggregate, ...] = ()
    top: str = ""
    by: str = "rows"
    costing: str = "spend"
    amount: str = ""
    delta: str = ""
    confidence: str = "95"


ROWS: dict[str, tuple[str, Any]] = {
    "conditions": ("condition", Condition),
    "groups": ("group", Group),
    "aggregates": ("aggregate", Aggregate),
}


def fields_of(form: QuestionForm) -> dict[str, str]:
    """What the fields of a form hold, by name; those that are empty are left out."""
    found: dict[str, str] = {}
    for one in fields(form):
        value = getattr(form, one.name)
        if one.name in ROWS:
            for place, row in enumerate(value, start=1):
                texts = {part.name.replace("_", "-"): getattr(row, part.name) for part in fields(row)}
                found |= {f"{ROWS[one.name][0]}-{place}-{name}": text for name, text in texts.items()}
        else:
            found[one.name] = ("yes" if value else "") if one.name == "other" else value
    return {name: text for name, text in found.items() if text}


def form_in(held: Mapping[str, str]) -> QuestionForm:
    """The form that fields hold, without rows that are empty."""
    found: dict[str, Any] = {}
    for one in fields(QuestionForm):
        if one.name in ROWS:
            row, kind = ROWS[one.name]
            rows = q.used_rows(held, row).values()
            found[one.name] = tuple(
                kind(**{part.replace("-", "_"): held for part, held in row.items()}) for row in rows
            )
        else:
            text = held.get(one.name, "")
            found[one.name] = text == "yes" if one.name == "other" else text
    return QuestionForm(**found)
