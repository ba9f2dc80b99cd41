"""From a form to a question and its cost. Typed text is read by the type of its column; what else is wrong is what the
readers of documents and `viameter.tables.check` say, beside the field that it is about.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from viameter.errors import NoTheorem, ParameterError, ViameterError, plain
from viameter.service.page.aggregate_fields import Input, columns_of, entry_of, has_width, inputs_of
from viameter.service.page.questions import CONFIDENCES, WITHOUT_VALUE, Form, Misread, Sheet, used_rows
from viameter.service.page.typed_values import (
    kind_in_words,
    read_exact,
    read_line,
    read_lines,
    read_number,
    read_value,
)
from viameter.tables.aggregates import aggregate_from_json
from viameter.tables.check import check
from viameter.tables.cost import Cost, cost_from_json, read_loss
from viameter.tables.document import plainly, question_from_json, question_to_json
from viameter.tables.expressions import Kind
from viameter.tables.formula import Formula, Json
from viameter.tables.grouping import grouping
from viameter.tables.planning import read_spend
from viameter.tables.question import Aggregates, Listed, Question, read_aggregates, read_groups, read_top
from viameter.tables.statistics import read_bounds
from viameter.tables.steps import Filter, Source

LONGEST_NAME = 60
MOST_VALUES = {"between": 2, "is_null": 0, "not_null": 0}
"""With how many values columns are compared; one, unless it is said."""
SAMPLES = {Kind.BOOLEAN: True, Kind.TEXT: "A", Kind.DATE: "2024-05-31", Kind.TIMESTAMP: "2024-05-31T23:59"}
"""A value of each type that is no number."""


def question_of(form: Form, sheet: Sheet) -> tuple[Question, Cost]:
    """The question that a form asks, and what it may cost; or Misread."""
    return read_question(document_of(form, sheet))


def read_question(document: Mapping[str, Any]) -> tuple[Question, Cost]:
    """The question of a document, and what it may cost."""
    return question_from_json(document), cost_from_json(document)


def document_of(form: Form, sheet: Sheet) -> dict[str, Any]:
    """The document of the question that a form asks, in which numbers stand as they were typed; or Misread."""
    return _Writer(form, sheet).document()


def default_name(what: str, columns: Sequence[str], taken: Sequence[str]) -> str:
    """What an aggregate is called if nobody gave it a name: one that is not taken.

    >>> default_name("mean", ["wait"], []), default_name("count", [], ["rows"])
    ('mean_wait', 'rows_2')
    """
    start = {"count": "rows", "count_units": "units"}.get(what) or "_".join([what, *columns])
    names = [start, *(f"{start}_{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


class _Writer:
    """Collects what is wrong, so that all of it can be said at once."""

    def __init__(self, form: Form, sheet: Sheet) -> None:
        self.form, self.sheet = form, sheet
        self.question = Question(asked=Aggregates(()))
        """The parts that could be read."""
        self.fields: dict[str, dict[str, str]] = {}
        """Where they were filled in, by their places as `check` calls them: fields, with the columns named there."""
        self.problems: dict[str, str] = {}

    def document(self) -> dict[str, Any]:
        numbers = self.form.get("asked") != "top"
        found = {**self._rows(), **self._groups(), **(self._aggregates() if numbers else self._top())}
        within = numbers and self.form.get("costing") == "within"
        found |= {"within": self._within(found["aggregates"])} if within else {"spend": self._spend()}
        for problem in check(self.question, self.sheet.schema, unit=self.sheet.unit, measure=self.sheet.budget.measure):
            fields, said = self.fields.get(problem.place, {problem.place: ""}), str(problem.error)
            field = next((field for field, column in fields.items() if column and column in said), next(iter(fields)))
            if problem.place == "groups" and isinstance(problem.error, NoTheorem):
                field, said = "grouping", "groups can be found where the budget has a delta: list them instead"
            self.problems.setdefault(field, said)
        if self.problems:
            raise Misread(self.problems)
        return {**found, "alpha": CONFIDENCES[self.form.get("confidence", "95")]}

    @contextmanager
    def _beside(self, field: str, says: str = "") -> Iterator[None]:
        """What is wrong within is said beside a field."""
        try:
            yield
        except ViameterError as problem:
            self.problems.setdefault(field, says or str(problem))

    def _kind(self, column: str) -> Kind:
        if not column:
            raise ParameterError("choose a column")
        return self.sheet.schema.require(column).kind

    def _rows(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        conditions, expression = used_rows(self.form, "condition"), self.form.get("expression")
        for row, held in conditions.items():
            column, comparison = held.get("column", ""), held.get("comparison", "eq")
            with self._beside(f"{row}-column"):
                kind = self._kind(column)
                cannot = f"{column} is {kind_in_words(kind.value)}, which cannot be compared so"
                with self._beside(f"{row}-comparison", cannot):
                    sample = _operation(comparison, column, [SAMPLES.get(kind, 1)] * MOST_VALUES.get(comparison, 1))
                    Formula.of(sample).read(self.sheet.schema)
                    with self._beside(f"{row}-value"):
                        values = _values_of(comparison, held.get("value", ""), kind.value)
                        found[f"{row}-value"] = _operation(comparison, column, values)
        if expression and any("column" in held for held in conditions.values()):
            self.problems["expression"] = "give conditions above, or an expression here, and not both"
        elif expression:
            found["expression"] = expression
        self.fields |= {f"steps[{place}].filter": {field: ""} for place, field in enumerate(found)}
        rows = Question(Source(steps=tuple(Filter(Formula.of(one)) for one in found.values())), asked=Aggregates(()))
        self.question = rows
        return {"filter": question_to_json(plainly(rows))["filter"]} if found else {}

    def _groups(self) -> dict[str, Any]:
        way, before = self.form.get("grouping", "none"), len(self.problems)
        rows = used_rows(self.form, "group")
        if not rows:
            self.problems |= {} if way == "none" else {"group-1-column": "choose the column that makes groups"}
            return {}
        lists: dict[str, list[Any]] = {}
        for row, held in rows.items():
            with self._beside(f"{row}-column"):
                column = held.get("column", "")
                kind = self._kind(column)
                if kind is Kind.REAL and way != "intervals":
                    raise ParameterError("this is a decimal number: make groups of it by intervals")
                if column in lists:
                    raise ParameterError("choose another column than the first")
                lists[column] = []
                with self._beside(f"{row}-values"):
                    if way == "listed":
                        lists[column] = _read_listed(held.get("values", ""), kind.value)
                        grouping(self.sheet.schema, Listed((column,), Json.of(lists[column])))
        names = list(lists)
        found: dict[str, Any] = {"group_by": names if len(names) > 1 else "".join(names)}
        if way == "listed":
            found["keys"] = lists if len(names) > 1 else [value for values in lists.values() for value in values]
        if way == "intervals":
            with self._beside("edges"):
                found["edges"] = _read_edges(self.form.get("edges", ""))
        if self.form.get("other") == "yes":
            found["other"] = True
        if len(self.problems) == before:
            options = {name: value for name, value in found.items() if name != "group_by"}
            self.question = replace(self.question, groups=read_groups(names, **options))
            self.fields["groups"] = {f"{row}-column": held["column"] for row, held in rows.items()}
        return found

    def _top(self) -> dict[str, Any]:
        if self.form.get("grouping") not in ("listed", "intervals"):
            self.problems["asked"] = "which groups have most: make groups of listed values, or of intervals"
        with self._beside("top", "how many groups? Expected a whole number, such as 3"):
            asked = read_top(read_number(self.form.get("top", "")), self.form.get("by", "rows"))
            if self.question.groups.columns and "asked" not in self.problems:
                self.question, self.fields["top"] = replace(self.question, asked=asked), {"top": ""}
            return {"top": asked.k, "by": asked.by}
        return {}

    def _aggregates(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        asked: dict[str, Any] = {}
        taken = [held.get("column", "") for held in used_rows(self.form, "group").values()]
        rows = used_rows(self.form, "aggregate")
        if not rows:
            self.problems["aggregate-1-what"] = "choose what is asked, such as the number of rows"
        for row, held in rows.items():
            what, before = held["what"], len(self.problems)
            columns = {f"{row}-{field}": held.get(field, "") for field in columns_of(what)}
            name = held.get("name") or default_name(what, list(columns.values()), [*taken, *found])
            if name in found:
                self.problems[f"{row}-name"] = f"{plain(name)} is there already: choose another name"
            if len(name) > LONGEST_NAME:
                self.problems[f"{row}-name"] = f"a name has at most {LONGEST_NAME} letters"
            found[name] = entry_of(what, partial(self._input, row))
            if len(self.problems) == before:
                # Bounds and columns were looked at.
                rest = [one.fields[0] for one in inputs_of(what) if not one.is_pair]
                with self._beside(f"{row}-{['what', *rest][-1]}"):
                    asked[name] = aggregate_from_json(found[name], what)
                    with self._beside(f"{row}-name"):
                        read_aggregates(asked, self.question.groups)
                self.fields[f"aggregates.{name}"] = columns or {f"{row}-what": ""}
        self.question = replace(self.question, asked=Aggregates(tuple(asked.items())))
        return {"aggregates": found}

    def _input(self, row: str, one: Input) -> Any:
        """What is typed for an input of an aggregate."""
        texts = [self.form.get(f"{row}-{field}", "") for field in one.fields]
        ends = []
        for field, text in zip(one.fields, texts, strict=True):
            with self._beside(f"{row}-{field}"):
                if one.is_column:
                    self._kind(text)
                if one.is_pair:
                    if not text:
                        raise ParameterError("a bound is missing: the question needs both, and they must be public")
                    ends.append(read_exact(text))
                    if len(ends) == len(texts):
                        read_bounds(ends, self.form[f"{row}-what"])
        return ends if one.is_pair else texts[0]

    def _within(self, names: Sequence[str]) -> dict[str, str]:
        found = {}
        for name, (row, held) in zip(names, used_rows(self.form, "aggregate").items(), strict=False):
            if "within" in held and has_width(held["what"]):
                found[name] = held["within"]
                with self._beside(f"{row}-within"):
                    Cost.read(within={name: read_exact(held["within"])})
        if not found:
            self.problems["costing"] = "say how exact a count or a sum is to be, beside it"
        return found

    def _spend(self) -> dict[str, Any]:
        amount, delta = self.form.get("amount", ""), self.form.get("delta", "")
        with self._beside("delta"):
            read_loss(spend_entry("1", delta, self.sheet), "spend")
            with self._beside("amount"):
                read_spend(read_loss(spend_entry(amount, delta, self.sheet), "spend"), self.sheet.budget.measure)
                return spend_entry(amount, delta, self.sheet)
        return {}


def spend_entry(amount: str, delta: str, sheet: Sheet) -> dict[str, Any]:
    """A loss as documents have it, in the measure of the budget."""
    if not amount:
        raise ParameterError("say what the question may cost, such as 1/100")
    return {sheet.budget.measure.slug.replace("-", "_"): [amount, delta or "0"] if sheet.with_delta else amount}


def _operation(comparison: str, column: str, values: Sequence[Any]) -> dict[str, Any]:
    """A condition as documents have it."""
    word = {"not_in": "is_in", "not_null": "is_null"}.get(comparison, comparison)
    made = {"operation": word, "arguments": [{"column": column}, *({"value": value} for value in values)]}
    return {"operation": "not", "arguments": [made]} if comparison.startswith("not_") else made


def _values_of(comparison: str, text: str, kind: str) -> list[Any]:
    if comparison in WITHOUT_VALUE:
        return []
    many = comparison in ("is_in", "not_in", "between")
    values = read_line(text, kind) if many else [read_value(text, kind)] if text else []
    if comparison == "between" and len(values) != 2:
        raise ParameterError("expected two values with a comma between them, as in 10, 20")
    if not values:
        raise ParameterError("a value is missing")
    return values


def _read_listed(text: str, kind: str) -> list[Any]:
    found = read_lines(text, kind)
    if not found:
        raise ParameterError("list the values that make groups, one in each line")
    return found


def _read_edges(text: str) -> list[int | float]:
    found = [read_number(one) for one in text.replace(";", ",").split(",") if one.strip()]
    if len(found) < 2 or any(left >= right for left, right in itertools.pairwise(found)):
        raise ParameterError("expected two or more numbers that rise, with commas between them, as in 0, 30, 60")
    return found
