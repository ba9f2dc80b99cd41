"""Drafts: the question that was sent to a page, by form, in SQL or as a document. All of them end in a document, which
`read_question` reads to a question and its cost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from viameter.errors import FormatError, SqlError, ViameterError
from viameter.service.api import models
from viameter.service.page import questions as q
from viameter.service.page.forms import Form
from viameter.service.page.reading_questions import form_of, form_of_document
from viameter.service.page.writing_questions import document_of, spend_entry
from viameter.tables.cost import Cost, read_loss
from viameter.tables.document import plainly, question_to_json
from viameter.tables.planning import read_spend
from viameter.tables.sql import SqlQuestion, read_sql

DEEPEST = 200
"""How deeply the document of a question may be nested: far more than any that is understood."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as it was sent: what the form shows of it, and its document, if nothing is wrong with it."""

    form: q.Form
    document: dict[str, Any] = field(default_factory=dict)
    whole: bool = True
    """Whether the form asks all of it."""
    wrong: q.Misread | None = None
    place: str = ""
    """Of SQL, the line in which something is wrong, with a mark below it."""
    left_out: tuple[str, ...] = ()
    """What a SELECT does with the numbers of an answer, which is not done here."""


def draft_of(sent: Form, sheet: q.Sheet) -> Draft:
    """The question that was sent."""
    if "question" in sent:
        document = read_document(sent.text("question"))
        form, whole = form_of_document(document, sheet)
        return Draft(form, document, whole)
    form = q.form_of_fields(sent.text)
    if form["sql"]:
        written = {name: form[name] for name in ("sql", "sql-amount", "sql-delta")}
        return _of_sql(written, sheet)
    form = q.completed(form, sheet)
    try:
        return Draft(form, document_of(form, sheet))
    except q.Misread as wrong:
        return Draft(form, wrong=wrong)


def read_document(text: str) -> dict[str, Any]:
    """A question as a form carries it: JSON, held to the shape of the API."""
    try:
        found = json.loads(text)
        if _depth(found) > DEEPEST:
            raise FormatError("the question is nested too deeply")
        return models.Question.model_validate(found).document()
    except (json.JSONDecodeError, ValidationError, RecursionError):
        raise FormatError("what was sent is no question: go back, and preview it again") from None


def _of_sql(written: q.Form, sheet: q.Sheet) -> Draft:
    """The question of a SELECT; what it may cost is said by its OPTIONS, or beside it."""
    empty, place, field = q.first_form(sheet.budget.to_json()), "", "sql"
    try:
        asked = read_sql(written["sql"], sheet.schema, unit=sheet.unit)
        loss = asked.loss
        if loss is None:
            field = "sql-amount"
            loss = read_loss(spend_entry(written["sql-amount"], written["sql-delta"], sheet), "spend")
        cost = Cost(spend=read_spend(loss, sheet.budget.measure))
    except ViameterError as problem:
        if isinstance(problem, SqlError):
            place = _marked(written["sql"], problem)
        return Draft({**empty, **written}, wrong=q.Misread({field: str(problem)}), place=place)
    question = plainly(asked.question)
    document = models.Question.model_validate({**question_to_json(question), **cost.to_json()}).document()
    form, whole = form_of(question, cost, sheet, document)
    return Draft({**form, **written}, document, whole, left_out=tuple(_afterwards(asked)))


def _marked(text: str, problem: SqlError) -> str:
    """The line in which something is wrong, with a mark below it."""
    line = [*text.splitlines(), ""][problem.line - 1].replace("\t", " ")
    room = max(len(line) - problem.column + 1, 1)
    return f"{line}\n{' ' * (problem.column - 1)}{'^' * max(min(len(problem.text), room), 1)}"


def _afterwards(asked: SqlQuestion) -> Iterator[str]:
    """What a SELECT does with the numbers of its answer."""
    done = {"HAVING": asked.having, "ORDER BY": asked.order_by, "LIMIT": asked.limit, "OFFSET": asked.offset}
    yield from (name for name, given in done.items() if given not in (None, (), 0))
    yield from (f"the computed column {one.name}" for one in asked.outputs if not isinstance(one.of, str))


def _depth(value: Any) -> int:
    """How deeply lists and objects are nested."""
    deepest, level = 0, [value]
    while level:
        deepest += 1
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return deepest
