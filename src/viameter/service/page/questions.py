"""Questions as a form has them: what was typed or chosen, field by field, so many rows of each.

`form_of_fields` reads a form that was sent, `fields_of` names what a form shows. `writing_questions` makes the document
of a question from it, and `reading_questions` the form from a document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from viameter.errors import ParameterError

CONDITIONS, GROUPS, AGGREGATES = 6, 2, 5
"""How many rows a form has for each; those that are left empty are not there."""

COMPARISONS = {
    "eq": "is",
    "ne": "is not",
    "lt": "is less than",
    "le": "is at most",
    "gt": "is more than",
    "ge": "is at least",
    "between": "is between, as in 10, 20",
    "is_in": "is one of, as in A, B",
    "not_in": "is none of, as in A, B",
    "contains": "contains the text",
    "starts_with": "starts with the text",
    "ends_with": "ends with the text",
    "is_null": "is missing",
    "not_null": "is not missing",
}
WITHOUT_VALUE = ("is_null", "not_null")
OF_TEXT = ("contains", "starts_with", "ends_with")
OF_ORDER = ("lt", "le", "gt", "ge", "between")
"""Comparisons of numbers, days and times: engines order text in different ways."""

GROUPINGS = ("none", "listed", "intervals", "found")
COUNTS = ("count", "count_units")
WIDTHS_OF = (*COUNTS, "sum")
"""What may be asked for within a width: how wide others are depends on how many rows there are."""
AGGREGATE_WORDS = {
    "count": "number of rows",
    "count_units": "number of units",
    "mean": "mean",
    "sum": "sum",
    "median": "median",
    "quantile": "quantile",
    "minimum": "minimum (about)",
    "maximum": "maximum (about)",
    "variance": "variance",
    "std": "standard deviation",
}
CONFIDENCES = {"90": "1/10", "95": "1/20", "99": "1/100"}
"""How often intervals are right, in percent, and the alpha of it."""
MEASURES = {"pure": "pure", "approx": "approx", "zcdp": "zcdp", "approx-zcdp": "approx_zcdp"}
"""Measures by the name that losses have as JSON, and that they have in questions."""
WITH_DELTA = ("approx", "approx-zcdp")


@dataclass(frozen=True, slots=True)
class Condition:
    """Which rows count: a column, a comparison, and what it is compared with."""

    column: str = ""
    comparison: str = "eq"
    value: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """A column whose values make groups, and the values, one in each line."""

    column: str = ""
    values: str = ""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What is asked of each group."""

    what: str = ""
    column: str = ""
    lower: str = ""
    upper: str = ""
    q: str = ""
    within: str = ""
    name: str = ""
    """What it is called in the answer; empty for the name that it has by itself."""


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """Everything that the form of a question says."""

    conditions: tuple[Condition, ...] = ()
    expression: str = ""
    grouping: str = "none"
    groups: tuple[Group, ...] = ()
    edges: str = ""
    other: bool = False
    asked: str = "numbers"
    """"numbers" or "top"."""
    aggregates: tuple[Aggregate, ...] = ()
    top: str = ""
    by: str = "rows"
    costing: str = "spend"
    """"spend" or "within"."""
    amount: str = ""
    delta: str = ""
    confidence: str = "95"


class Misread(ParameterError):
    """A form that makes no question yet: what is wrong, by field."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__("some fields need another look: what is wrong is said beside them")
        self.problems = problems


def form_of_fields(text: Callable[[str], str]) -> QuestionForm:
    """The form that was sent; `text` gives what a field holds, and "" for one that is not there."""

    def word(name: str) -> str:
        return text(name).strip()

    def chosen(name: str, among: Any, otherwise: str) -> str:
        return word(name) if word(name) in among else otherwise

    def numbered(name: str, most: int) -> list[str]:
        return [f"{name}-{place}" for place in range(1, most + 1)]

    return QuestionForm(
        conditions=tuple(
            Condition(word(f"{row}-column"), chosen(f"{row}-comparison", COMPARISONS, "eq"), word(f"{row}-value"))
            for row in numbered("condition", CONDITIONS)
        ),
        expression=word("expression"),
        grouping=chosen("grouping", GROUPINGS, "none"),
        groups=tuple(Group(word(f"{row}-column"), _tidy(text(f"{row}-values"))) for row in numbered("group", GROUPS)),
        edges=word("edges"),
        other=word("other") == "yes",
        asked=chosen("asked", ("numbers", "top"), "numbers"),
        aggregates=tuple(
            Aggregate(
                chosen(f"{row}-what", AGGREGATE_WORDS, ""),
                *(word(f"{row}-{part}") for part in ("column", "lower", "upper", "q", "within", "name")),
            )
            for row in numbered("aggregate", AGGREGATES)
        ),
        top=word("top"),
        by=chosen("by", ("rows", "units"), "rows"),
        costing=chosen("costing", ("spend", "within"), "spend"),
        amount=word("amount"),
        delta=word("delta"),
        confidence=chosen("confidence", CONFIDENCES, "95"),
    )


def fields_of(form: QuestionForm) -> dict[str, str]:
    """What a form's fields hold, by name: `form_of_fields` reads it back."""
    found = {
        "expression": form.expression,
        "grouping": form.grouping,
        "edges": form.edges,
        "other": "yes" if form.other else "",
        "asked": form.asked,
        "top": form.top,
        "by": form.by,
        "costing": form.costing,
        "amount": form.amount,
        "delta": form.delta,
        "confidence": form.confidence,
    }
    parts: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
        "condition": (form.conditions, ("column", "comparison", "value")),
        "group": (form.groups, ("column", "values")),
        "aggregate": (form.aggregates, ("what", "column", "lower", "upper", "q", "within", "name")),
    }
    for row, (rows, names) in parts.items():
        for place, one in enumerate(rows, start=1):
            found |= {f"{row}-{place}-{name}": getattr(one, name) for name in names}
    return found


def tidy(form: QuestionForm) -> QuestionForm:
    """The same form without what does not apply: rows that are empty, and fields of what was not chosen."""
    conditions = tuple(
        replace(one, value="" if one.comparison in WITHOUT_VALUE else one.value)
        for one in form.conditions
        if one.column or (one.value and one.comparison not in WITHOUT_VALUE)
    )
    groups = tuple(
        replace(one, values=one.values if form.grouping == "listed" else "")
        for one in form.groups
        if form.grouping != "none" and (one.column or (form.grouping == "listed" and one.values))
    )
    numbers = form.asked == "numbers"
    costing = form.costing if numbers else "spend"
    return replace(
        form,
        conditions=conditions,
        groups=groups[: 1 if form.grouping == "intervals" else GROUPS],
        edges=form.edges if form.grouping == "intervals" else "",
        other=form.other and form.grouping != "none",
        aggregates=tuple(_tidy_aggregate(one, costing) for one in form.aggregates if numbers and one.what),
        top="" if numbers else form.top,
        by="rows" if numbers else form.by,
        costing=costing,
        amount=form.amount if costing == "spend" else "",
        delta=form.delta if costing == "spend" else "",
    )


def suggested_amounts(budget: dict[str, Any]) -> list[str]:
    """What one may spend on a question, from little to much: parts of the budget; exact, as text.

    >>> suggested_amounts({"measure": "zcdp", "rho": "1/2"})
    ['1/200', '1/100', '1/40', '1/20']
    """
    written = budget.get("rho", budget.get("epsilon", ""))
    try:
        whole = Fraction(written)
    except (ValueError, ZeroDivisionError):  # infinite, or none of these
        return []
    found = [str(whole / part) for part in (100, 50, 20, 10)]
    return found if whole > 0 and all(len(text) <= 12 for text in found) else []


def first_form(budget: dict[str, Any]) -> QuestionForm:
    """What the form shows at first: how many rows there are, for a small part of the budget."""
    amounts = suggested_amounts(budget)
    return QuestionForm(aggregates=(Aggregate("count"),), amount=amounts[1] if amounts else "1/100")


def _tidy_aggregate(one: Aggregate, costing: str) -> Aggregate:
    within = one.within if costing == "within" and one.what in WIDTHS_OF else ""
    if one.what in COUNTS:
        return Aggregate(one.what, within=within, name=one.name)
    return replace(one, q=one.q if one.what == "quantile" else "", within=within)


def _tidy(lines: str) -> str:
    return "\n".join(line.strip() for line in lines.splitlines() if line.strip())
