"""From a form to the document of a question; what cannot be understood is said field by field."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from viameter.errors import ViameterError, plain
from viameter.service.page.questions import (
    CONFIDENCES,
    COUNTS,
    MEASURES,
    OF_ORDER,
    OF_TEXT,
    WITH_DELTA,
    WITHOUT_VALUE,
    Aggregate,
    Condition,
    Misread,
    QuestionForm,
    tidy,
)
from viameter.service.page.typed_values import (
    lines_of,
    read_exact,
    read_line,
    read_lines,
    read_number,
    read_value,
    text_of,
)
from viameter.tables.cost import read_loss

Columns = Mapping[str, Mapping[str, Any]]
"""Columns by name, with "type", and "values" and "bounds" where the custodian made some public."""


def columns_of(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The columns of a schema's document, by name."""
    return {one["name"]: one for one in schema["columns"]}


def completed(form: QuestionForm, columns: Columns) -> QuestionForm:
    """The form with what is public of its columns in fields that were left empty: values that make groups, bounds."""
    groups = tuple(
        replace(one, values=lines_of(_public(columns, one.column, "values")))
        if form.grouping == "listed" and not one.values
        else one
        for one in form.groups
    )
    return replace(form, groups=groups, aggregates=tuple(_bounded(one, columns) for one in form.aggregates))


def document_of(form: QuestionForm, columns: Columns, measure: str) -> dict[str, Any]:
    """The question that a form asks, of a dataset whose budget is counted in a measure; or Misread."""
    return _Writer(columns, measure).document(form)


def default_name(one: Aggregate, taken: Sequence[str]) -> str:
    """What an aggregate is called if nobody gave it a name: one that is not taken.

    >>> default_name(Aggregate("mean", "wait"), []), default_name(Aggregate("count"), ["rows"])
    ('mean_wait', 'rows_2')
    """
    start = {"count": "rows", "count_units": "units"}.get(one.what, f"{one.what}_{one.column}")
    names = [start, *(f"{start}_{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


class _Writer:
    """Collects what is wrong, so that all of it can be said at once."""

    def __init__(self, columns: Columns, measure: str) -> None:
        self.columns, self.measure = columns, measure
        self.problems: dict[str, str] = {}

    def document(self, given: QuestionForm) -> dict[str, Any]:
        # Rows keep their places in what is said to be wrong; empty ones in between are passed over.
        form = tidy(given)
        found: dict[str, Any] = {}
        self._rows(given, found)
        self._groups(form, found)
        if form.asked == "top":
            self._top(form, found)
        else:
            found["aggregates"] = self._aggregates(given, form)
        self._cost(given, form, found)
        if self.problems:
            raise Misread(self.problems)
        return found

    def _rows(self, form: QuestionForm, found: dict[str, Any]) -> None:
        conditions = []
        for place, one in enumerate(form.conditions, start=1):
            if one.column or (one.value and one.comparison not in WITHOUT_VALUE):
                made = self._condition(one, f"condition-{place}")
                if made is not None:
                    conditions.append(made)
        if form.expression and any(one.column for one in form.conditions):
            self.problems["expression"] = "give conditions above, or an expression here, and not both"
        elif form.expression:
            found["filter"] = form.expression
        elif conditions:
            found["filter"] = reduce(lambda a, b: {"operation": "and", "arguments": [a, b]}, conditions)

    def _condition(self, one: Condition, row: str) -> dict[str, Any] | None:
        column = self._column(one.column, f"{row}-column")
        if column is None:
            return None
        kind = column["type"]
        if (one.comparison in OF_TEXT and kind != "TEXT") or (
            one.comparison in OF_ORDER and kind in ("TEXT", "BOOLEAN")
        ):
            self.problems[f"{row}-comparison"] = f"{one.column} is {kind_in_words(kind)}, which cannot be compared so"
            return None
        try:
            values = _values_of(one, kind)
        except ViameterError as problem:
            self.problems[f"{row}-value"] = str(problem)
            return None
        if one.comparison == "between" and len(values) != 2:
            self.problems[f"{row}-value"] = "expected two values with a comma between them, as in 10, 20"
            return None
        if not values and one.comparison not in WITHOUT_VALUE:
            self.problems[f"{row}-value"] = "a value is missing"
            return None
        arguments = [{"column": one.column}, *({"value": value} for value in values)]
        operation = {"not_in": "is_in", "not_null": "is_null"}.get(one.comparison, one.comparison)
        made = {"operation": operation, "arguments": arguments}
        return {"operation": "not", "arguments": [made]} if one.comparison.startswith("not_") else made

    def _groups(self, form: QuestionForm, found: dict[str, Any]) -> None:
        if form.grouping == "none":
            return
        if not form.groups:
            self.problems["group-1-column"] = "choose the column that makes groups"
            return
        names = [one.column for one in form.groups]
        lists: dict[str, list[Any]] = {}
        for place, one in enumerate(form.groups, start=1):
            column = self._column(one.column, f"group-{place}-column")
            if column is None:
                continue
            if form.grouping != "intervals" and column["type"] == "REAL":
                self.problems[f"group-{place}-column"] = "this is a decimal number: make groups of it by intervals"
            elif form.grouping == "listed":
                lists[one.column] = self._listed(one.values, column["type"], f"group-{place}-values")
        if len(set(names)) < len(names):
            self.problems["group-2-column"] = "choose another column than the first"
        found["group_by"] = names[0] if len(names) == 1 else names
        if form.grouping == "listed":
            found["keys"] = lists.get(names[0], []) if len(names) == 1 else lists
        elif form.grouping == "intervals":
            found["edges"] = self._edges(form.edges)
        elif self.measure not in WITH_DELTA:
            self.problems["grouping"] = "groups can be found where the budget has a delta: list them instead"
        if form.other:
            found["other"] = True

    def _listed(self, values: str, kind: str, field: str) -> list[Any]:
        try:
            found = read_lines(values, kind)
        except ViameterError as problem:
            self.problems[field] = str(problem)
            return []
        if not found:
            self.problems[field] = "list the values that make groups, one in each line"
        elif len(set(map(str, found))) < len(found):
            self.problems[field] = "one of the values is there twice"
        return found

    def _edges(self, text: str) -> list[int | float]:
        try:
            found = [read_number(one) for one in text.replace(";", ",").split(",") if one.strip()]
        except ViameterError as problem:
            self.problems["edges"] = str(problem)
            return []
        if len(found) < 2 or any(left >= right for left, right in itertools.pairwise(found)):
            self.problems["edges"] = "expected two or more numbers that rise, with commas between them, as in 0, 30, 60"
        return found

    def _top(self, form: QuestionForm, found: dict[str, Any]) -> None:
        if form.grouping not in ("listed", "intervals"):
            self.problems["asked"] = "which groups have most: make groups of listed values, or of intervals"
        try:
            number = read_number(form.top)
        except ViameterError:
            number = 0
        if not isinstance(number, int) or not 1 <= number <= 1000:
            self.problems["top"] = "how many groups? Expected a whole number, such as 3"
        found["top"], found["by"] = number, form.by

    def _aggregates(self, given: QuestionForm, form: QuestionForm) -> dict[str, Any]:
        if not form.aggregates:
            self.problems["aggregate-1-what"] = "choose what is asked, such as the number of rows"
        found: dict[str, Any] = {}
        taken = [one.column for one in form.groups]
        for place, one in _placed(given):
            row = f"aggregate-{place}"
            name = one.name or default_name(one, [*taken, *found])
            if name in found or name in taken:
                self.problems[f"{row}-name"] = f"{plain(name)} is there already: choose another name"
            elif len(name) > 60:
                self.problems[f"{row}-name"] = "a name has at most 60 letters"
            found[name] = {one.what: True} if one.what in COUNTS else self._of_column(one, row)
        return found

    def _of_column(self, one: Aggregate, row: str) -> dict[str, Any]:
        column = self._column(one.column, f"{row}-column")
        if column is not None and column["type"] not in ("INTEGER", "REAL", "BOOLEAN"):
            self.problems[f"{row}-column"] = f"{one.column} is {kind_in_words(column['type'])}, and no number"
        made: dict[str, Any] = {one.what: one.column}
        if one.what == "quantile":
            made["q"] = one.q
            try:
                if not 0 <= float(read_number(one.q)) <= 1:
                    self.problems[f"{row}-q"] = "expected a number between 0 and 1, such as 0.9"
            except ViameterError:
                self.problems[f"{row}-q"] = "which quantile? Expected a number between 0 and 1, such as 0.9"
        made["bounds"] = [self._bound(one.lower, f"{row}-lower"), self._bound(one.upper, f"{row}-upper")]
        if not {f"{row}-lower", f"{row}-upper"} & set(self.problems) and float(made["bounds"][0]) >= float(
            made["bounds"][1]
        ):
            self.problems[f"{row}-upper"] = "expected a number above the lower bound"
        return made

    def _bound(self, text: str, field: str) -> int | str:
        if not text:
            self.problems[field] = "a bound is missing: the question needs both, and they must be public"
            return 0
        try:
            return read_exact(text)
        except ViameterError as problem:
            self.problems[field] = str(problem)
            return 0

    def _cost(self, given: QuestionForm, form: QuestionForm, found: dict[str, Any]) -> None:
        if form.costing == "within":
            names = list(found["aggregates"])
            rows = [(place, one) for place, one in _placed(given)]
            widths = {name: (place, one) for name, (place, one) in zip(names, rows, strict=False) if one.within}
            for place, one in widths.values():
                try:
                    if not float(read_number(one.within)) > 0:
                        self.problems[f"aggregate-{place}-within"] = "expected a number above 0"
                except ViameterError as problem:
                    self.problems[f"aggregate-{place}-within"] = str(problem)
            if not widths:
                self.problems["costing"] = "say how exact a count or a sum is to be, beside it"
            found["within"] = {name: one.within for name, (_, one) in widths.items()}
        else:
            found["spend"] = self._spend(form)
        found["alpha"] = CONFIDENCES[form.confidence]

    def _spend(self, form: QuestionForm) -> dict[str, Any]:
        with_delta = self.measure in WITH_DELTA
        spend: dict[str, Any] = {
            MEASURES[self.measure]: [form.amount, form.delta or "0"] if with_delta else form.amount
        }
        if not form.amount:
            self.problems["amount"] = "say what the question may cost, such as 1/100"
            return spend
        if form.delta and with_delta:
            try:
                read_loss({MEASURES[self.measure]: ["1", form.delta]}, "delta")
            except ViameterError as problem:
                self.problems["delta"] = str(problem)
                return spend
        try:
            read_loss(spend, "spend")
        except ViameterError as problem:
            self.problems["amount"] = str(problem)
        return spend

    def _column(self, name: str, field: str) -> Mapping[str, Any] | None:
        if not name:
            self.problems[field] = "choose a column"
        elif name not in self.columns:
            self.problems[field] = f"there is no column {plain(name)}"
        else:
            return self.columns[name]
        return None


def kind_in_words(kind: str) -> str:
    """A type as people say it."""
    words = {
        "INTEGER": "a whole number",
        "REAL": "a number",
        "BOOLEAN": "true or false",
        "TEXT": "text",
        "DATE": "a day",
        "TIMESTAMP": "a time",
    }
    return words[kind]


def _placed(form: QuestionForm) -> list[tuple[int, Aggregate]]:
    """Aggregates that are asked for, without what does not apply, with the places of their rows."""
    kept = [place for place, one in enumerate(form.aggregates, start=1) if one.what]
    return list(zip(kept, tidy(form).aggregates, strict=True))


def _values_of(one: Condition, kind: str) -> list[Any]:
    if one.comparison in WITHOUT_VALUE:
        return []
    if one.comparison in ("is_in", "not_in", "between"):
        return read_line(one.value, kind)
    return [read_value(one.value, kind)] if one.value else []


def _bounded(one: Aggregate, columns: Columns) -> Aggregate:
    bounds = _public(columns, one.column, "bounds")
    if not one.what or one.what in COUNTS or not bounds or one.lower or one.upper:
        return one
    return replace(one, lower=text_of(bounds[0]), upper=text_of(bounds[1]))


def _public(columns: Columns, name: str, what: str) -> list[Any]:
    found: list[Any] | None = columns.get(name, {}).get(what)
    return found or []
