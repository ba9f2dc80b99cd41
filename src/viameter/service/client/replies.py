"""Replies: what a service says of columns, previews and answers, as the objects that a local table gives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np

from viameter.core import Loss
from viameter.errors import ServiceError, ViameterError
from viameter.service.client.explaining import Charge, Proofs
from viameter.service.client.refusals import loss_of
from viameter.tables import Answer, Charged, Preview, Question, Ranked, Unit
from viameter.tables.answer import Receipt
from viameter.tables.document import question_from_json
from viameter.tables.estimates import Estimate
from viameter.tables.expressions import Kind, Schema, Type
from viameter.tables.plans import found_bounds
from viameter.tables.preview import PreviewRow, Standing
from viameter.tables.question import FindBounds
from viameter.tables.schemas import schema_after
from viameter.tables.showing.words import printable
from viameter.tables.units import Described, read_unit

OWN_LIMIT = "your own limit"
"""What the limit of whoever asks is called among the budgets that pay."""


@contextmanager
def understood() -> Iterator[None]:
    """Read a reply; ServiceError if it is in words that this version does not know."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        message = "the reply is not one that this version of the client reads: are both of the same version?"
        raise ServiceError(message, code="not_understood") from None


def schema_of(document: Mapping[str, Any]) -> Schema:
    """The columns of a dataset, with their types."""
    usable, unusable = {}, list(document["unusable"])
    for column in document["columns"]:
        if column["type"] not in Kind.__members__:
            unusable.append(column["name"])  # of a later version
        elif column["type"] == "INTEGER" and "lower" in column:
            usable[column["name"]] = Type(Kind.INTEGER, lower=int(column["lower"]), upper=int(column["upper"]))
        else:
            usable[column["name"]] = Type(Kind[column["type"]])
    return Schema(usable, unusable)


def unit_of(document: Mapping[str, Any]) -> Unit:
    """Whose presence answers hide; a text, if the service says no more, or says it in words of a later version."""
    with suppress(ViameterError, KeyError):
        return read_unit(document["definition"])
    return Described(str(document["text"]))


def preview_of(document: Mapping[str, Any], dataset: str, budget: Loss, unit: Unit) -> Preview:
    """What a question would cost; `budget` is that of the dataset, which older services do not say."""
    rows = tuple(
        PreviewRow(
            str(one["name"]),
            loss_of(one["loss"]),
            str(one["noise"]),
            {_when(each["depends_on"]): _finite_or(each["width"], math.inf) for each in one["widths"]},
            str(one["covers"]),
        )
        for one in document["aggregates"]
    )
    return Preview(
        rows,
        loss_of(document["loss"]),
        _budgets(document, dataset, budget),
        document["fits"] is True,
        Fraction(document["alpha"]),
        unit,
        str(document["kept"]),
        tuple(map(str, document["notes"])),
        question=str(document["question"]),
    )


def standing_of(name: str, document: Mapping[str, Any]) -> Standing:
    """A budget as it stands."""
    return Standing(name, *(loss_of(document[amount]) for amount in ("budget", "spent", "left")))


def _budgets(document: Mapping[str, Any], dataset: str, budget: Loss) -> tuple[Standing, ...]:
    said = document.get("budgets")
    if said is None:
        return (Standing(dataset, budget, loss_of(document["spent"]), loss_of(document["left"])),)
    own = () if said["person"] is None else (standing_of(OWN_LIMIT, said["person"]),)
    return (standing_of(dataset, said["dataset"]), *own)


def answer_of(document: Mapping[str, Any], schema: Schema, unit: Unit, proofs: Proofs) -> Answer | Ranked:
    """What was released: numbers by group, or keys in order."""
    said, written = document["answer"], document["question"]
    receipt = Receipt(
        str(document["key"]), int(document["entry"]), document["replayed"] is True, str(document["by"]),
        str(document["asked"]),
    )  # fmt: skip
    proof = Charge(loss_of(said["loss"]), receipt.entry, proofs)
    question = _question(written)
    keys, columns, rows = tuple(said["keys"]), list(said["columns"]), said["rows"]
    kinds = _kinds(keys, question, schema)
    groups = tuple(
        tuple(_key(value, kind) for value, kind in zip(row[: len(keys)], kinds, strict=True)) for row in rows
    )
    notes = tuple(map(str, said["notes"]))
    if "top" in written:
        return Ranked(keys, groups, str(written.get("by", "rows")), proof, unit, notes, receipt)
    alpha = Fraction(said["alpha"])
    covers = {one["name"]: str(one["covers"]) for one in said["aggregates"]}
    estimates = {}
    for name, covered in covers.items():
        three = [[row[columns.index(column)] for row in rows] for column in (name, f"{name}_lower", f"{name}_upper")]
        whole = _is_whole(name, three, written)
        value, lower, upper = (
            _array(numbers, missing, whole=whole)
            for numbers, missing in zip(three, (math.nan, -math.inf, math.inf), strict=True)
        )
        estimates[name] = Estimate(value, lower, upper, alpha, covered)
    answer = Answer(keys, groups, estimates, covers, alpha, proof, unit, notes, receipt)
    if question is not None and isinstance(question.asked, FindBounds):
        return found_bounds(answer, question.asked.within)
    return answer


def charges_of(lines: Sequence[Mapping[str, Any]]) -> tuple[Charged, ...]:
    """The charges among lines of a history, which has the newest first, in order.

    The outcome of one is "answered", "running", "failed" or "lost"; None if the service is of a version that does not
    say it. What failed or was lost has no answer: what was charged stays charged, and asked under a new key it costs
    anew.
    """
    return tuple(
        Charged(
            str(one["text"]),
            loss_of(one["loss"]),
            outcome=None if one.get("outcome") is None else printable(one["outcome"]),
            entry=int(one["entry"]),
            at=str(one["at"]),
            by=str(one["by"]),
            key=str(one["key"]),
        )
        for one in reversed(lines)
        if one["loss"] is not None
    )


def _question(written: Mapping[str, Any]) -> Question | None:
    """The question of an answer; None if it is in words of a later version."""
    with suppress(ViameterError):
        return question_from_json(written)
    return None


def _when(depends_on: str) -> str:
    return f" {depends_on}" if depends_on else ""


def _finite_or(value: float | None, otherwise: float) -> float:
    """A number; JSON has none for infinity, and null stands for it."""
    return otherwise if value is None else float(value)


def _array(numbers: list[Any], missing: float, *, whole: bool) -> Any:
    if whole:
        return np.array(numbers, dtype=np.int64)
    return np.array([_finite_or(number, missing) for number in numbers], dtype=np.float64)


def _is_whole(name: str, three: list[list[Any]], written: Mapping[str, Any]) -> bool:
    """Whether numbers are counts; where there are none, what was asked for says so."""
    numbers = [number for column in three for number in column]
    if numbers:
        return all(type(number) is int for number in numbers)
    asked = written.get("aggregates", {"n": {"count": True}}).get(name)
    return "heavy_hitters" in written or asked in ({"count": True}, {"count_units": True})


def _kinds(keys: Sequence[str], question: Question | None, schema: Schema) -> list[Kind | None]:
    """The kinds of the columns that name a group."""
    # The question was understood when it was asked; if a step is not here, keys stay as they were sent.
    with suppress(ViameterError):
        for step in () if question is None else question.source.steps:
            schema = schema_after(step, schema, lambda _: Schema({}))
    return [schema[name].kind if name in schema else None for name in keys]


def _key(value: Any, kind: Kind | None) -> Any:
    """A key as Python has it: days and moments are sent as text. "(other)" is neither."""
    if isinstance(value, str) and kind in (Kind.DATE, Kind.TIMESTAMP):
        with suppress(ValueError):
            return date.fromisoformat(value) if kind is Kind.DATE else datetime.fromisoformat(value)
    return value
