"""The form of a question: what was typed or chosen, by the names of fields, with so many rows of each kind.

`writing_questions` makes a question of it, and `reading_questions` fills it in from one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from viameter.core import Loss
from viameter.errors import ParameterError
from viameter.service.page.aggregate_fields import INPUT_FIELDS, columns_of, inputs_of
from viameter.service.page.typed_values import lines_of, text_of
from viameter.tables.aggregates import WORDS
from viameter.tables.expressions import Schema
from viameter.tables.units import Unit

Form = Mapping[str, str]
"""What fields hold, by name. A field that is not there is empty."""

CONDITIONS, GROUPS, AGGREGATES = 6, 2, 5
"""How many rows a form has for each; those that are left empty are not there."""
ROWS = {
    "condition": (CONDITIONS, {"column", "value"}),
    "group": (GROUPS, {"column", "values"}),
    "aggregate": (AGGREGATES, {"what"}),
}
"""How many rows there are of each kind, and the fields of which one is filled in if a row is used."""
COMPARISONS = {
    "eq": "is", "ne": "is not", "lt": "is less than", "le": "is at most", "gt": "is more than", "ge": "is at least",
    "between": "is between, as in 10, 20", "is_in": "is one of, as in A, B", "not_in": "is none of, as in A, B",
    "contains": "contains the text", "starts_with": "starts with the text", "ends_with": "ends with the text",
    "is_null": "is missing", "not_null": "is not missing",
}  # fmt: skip
WITHOUT_VALUE = ("is_null", "not_null")
CONFIDENCES = {"95": "1/20", "90": "1/10", "99": "1/100"}
"""How often intervals are right, in percent, and the alpha of it."""
CHOICES: dict[str, tuple[str, ...]] = {
    "grouping": ("none", "listed", "intervals", "found"),
    "asked": ("numbers", "top"),
    "by": ("rows", "units"),
    "costing": ("spend", "within"),
    "confidence": tuple(CONFIDENCES),
    **{f"condition-{place}-comparison": tuple(COMPARISONS) for place in range(1, CONDITIONS + 1)},
    **{f"aggregate-{place}-what": ("", *WORDS) for place in range(1, AGGREGATES + 1)},
}
"""Fields in which something is chosen: the first of it, unless it is said."""
TYPED = (
    *("expression", "edges", "other", "top", "amount", "delta", "sql", "sql-amount", "sql-delta"),
    *(f"condition-{place}-{part}" for place in range(1, CONDITIONS + 1) for part in ("column", "value")),
    *(f"group-{place}-{part}" for place in range(1, GROUPS + 1) for part in ("column", "values")),
    *(f"aggregate-{n}-{part}" for n in range(1, AGGREGATES + 1) for part in (*INPUT_FIELDS, "within", "name")),
)
"""Fields in which anything may be written."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a form is filled in against: the columns of a dataset, its unit, and its budget."""

    schema: Schema
    unit: Unit
    budget: Loss
    published: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By column, the "values" and the "bounds" that the custodian made public."""

    @property
    def with_delta(self) -> bool:
        """Whether losses have a delta."""
        return "delta" in self.budget.to_json()

    def public(self, column: str, what: str) -> list[Any]:
        """What is public of a column: "values" or "bounds"."""
        return self.published.get(column, {}).get(what) or []


class Misread(ParameterError):
    """A form that makes no question yet: what is wrong, by field."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__("some fields need another look: what is wrong is said beside them")
        self.problems = problems


def form_of_fields(text: Callable[[str], str]) -> dict[str, str]:
    """The form that was sent; `text` gives what a field holds, and "" for one that is not there."""
    found = {name: text(name).strip() for name in TYPED}
    for place in range(1, GROUPS + 1):
        lines = map(str.strip, found[f"group-{place}-values"].splitlines())
        found[f"group-{place}-values"] = "\n".join(filter(None, lines))
    return found | {
        name: chosen if (chosen := text(name).strip()) in among else among[0] for name, among in CHOICES.items()
    }


def used_rows(form: Form, kind: str) -> dict[str, dict[str, str]]:
    """The rows of a kind ("condition", "group", "aggregate") that are not empty: by name, what their fields hold."""
    way, (most, needed) = form.get("grouping", "none"), ROWS[kind]
    found: dict[str, dict[str, str]] = {}
    for start in (f"{kind}-{place}-" for place in range(1, most + 1)):
        held = {name.removeprefix(start): text for name, text in form.items() if name.startswith(start) and text}
        # What stands in fields that do not apply.
        if held.get("comparison") in WITHOUT_VALUE:
            held.pop("value", None)
        if way != "listed":
            held.pop("values", None)
        if held.keys() & needed and not (kind == "group" and (way == "none" or (way == "intervals" and found))):
            found[start[:-1]] = held
    return found


def completed(form: Form, sheet: Sheet) -> dict[str, str]:
    """The form with what is public of its columns in fields that were left empty: values that make groups, bounds."""
    found = dict(form)
    if form.get("grouping") == "listed":
        for row, held in used_rows(form, "group").items():
            found[f"{row}-values"] = held.get("values") or lines_of(sheet.public(held.get("column", ""), "values"))
    for row, held in used_rows(form, "aggregate").items():
        inputs = inputs_of(held["what"])
        columns = [held.get(field, "") for field in columns_of(held["what"])]
        for column, ends in zip(columns, (one.fields for one in inputs if one.is_pair), strict=False):
            if not any(end in held for end in ends):
                bounds = map(text_of, sheet.public(column, "bounds"))
                found |= {f"{row}-{end}": bound for end, bound in zip(ends, bounds, strict=False)}
    return found


def suggested_amounts(budget: Mapping[str, Any]) -> list[str]:
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


def first_form(budget: Mapping[str, Any]) -> dict[str, str]:
    """What the form shows at first: how many rows there are, for a small part of the budget."""
    amounts = suggested_amounts(budget)
    chosen = {"aggregate-1-what": "count", "amount": amounts[1] if amounts else "1/100"}
    return form_of_fields(lambda name: chosen.get(name, ""))
