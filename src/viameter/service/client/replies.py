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
from viameter.service.client.answers import Charge, RemoteAnswer, RemoteCharge, RemotePreview, RemoteRanked
from viameter.service.client.explaining import Proofs
from viameter.service.client.refusals import loss_of
from viameter.tables.estimates import Estimate
from viameter.tables.expressions import Kind, Schema, Type
from viameter.tables.preview import PreviewRow, Standing
from viameter.tables.showing.words import printable
from viameter.tables.written import read_expression

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


def preview_of(document: Mapping[str, Any], dataset: str, budget: Loss) -> RemotePreview:
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
    return RemotePreview(
        rows,
        loss_of(document["loss"]),
        _budgets(document, dataset, budget),
        document["fits"] is True,
        Fraction(document["alpha"]),
        str(document["unit"]),
        str(document["kept"]),
        tuple(map(str, document["notes"])),
        str(document["question"]),
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


def answer_of(document: Mapping[str, Any], schema: Schema, proofs: Proofs) -> RemoteAnswer | RemoteRanked:
    """What was released: numbers by group, or keys in order."""
    said, question = document["answer"], document["question"]
    charge = Charge(
        str(document["key"]), int(document["entry"]), loss_of(said["loss"]), str(document["by"]),
        str(document["asked"]), document["replayed"] is True, proofs,
    )  # fmt: skip
    keys, columns, rows = tuple(said["keys"]), list(said["columns"]), said["rows"]
    kinds = _kinds(keys, question, schema)
    groups = tuple(
        tuple(_key(value, kind) for value, kind in zip(row[: len(keys)], kinds, strict=True)) for row in rows
    )
    unit, notes = str(said["unit"]), tuple(map(str, said["notes"]))
    if "top" in question:
        return RemoteRanked(keys, groups, str(question.get("by", "rows")), unit, notes, charge)
    alpha = Fraction(said["alpha"])
    covers = {one["name"]: str(one["covers"]) for one in said["aggregates"]}
    estimates = {}
    for name, covered in covers.items():
        three = [[row[columns.index(column)] for row in rows] for column in (name, f"{name}_lower", f"{name}_upper")]
        whole = _is_whole(name, three, question)
        value, lower, upper = (
            _array(numbers, missing, whole=whole)
            for numbers, missing in zip(three, (math.nan, -math.inf, math.inf), strict=True)
        )
        estimates[name] = Estimate(value, lower, upper, alpha, covered)
    return RemoteAnswer(keys, groups, estimates, covers, alpha, unit, notes, charge)


def charges_of(lines: Sequence[Mapping[str, Any]]) -> tuple[RemoteCharge, ...]:
    """The charges among lines of a history, which has the newest first, in order."""
    return tuple(
        RemoteCharge(
            str(one["text"]),
            loss_of(one["loss"]),
            int(one["entry"]),
            str(one["at"]),
            str(one["by"]),
            str(one["key"]),
            outcome=None if one.get("outcome") is None else printable(one["outcome"]),
        )
        for one in reversed(lines)
        if one["loss"] is not None
    )


def _when(depends_on: str) -> str:
    return f" {depends_on}" if depends_on else ""


def _finite_or(value: float | None, otherwise: float) -> float:
    """A number; JSON has none for infinity, and null stands for it."""
    return otherwise if value is None else float(value)


def _array(numbers: list[Any], missing: float, *, whole: bool) -> Any:
    if whole:
        return np.array(numbers, dtype=np.int64)
    return np.array([_finite_or(number, missing) for number in numbers], dtype=np.float64)


def _is_whole(name: str, three: list[list[Any]], question: Mapping[str, Any]) -> bool:
    """Whether numbers are counts; where there are none, what was asked for says so."""
    numbers = [number for column in three for number in column]
    if numbers:
        return all(type(number) is int for number in numbers)
    asked = question.get("aggregates", {"n": {"count": True}}).get(name)
    return "heavy_hitters" in question or asked in ({"count": True}, {"count_units": True})


def _kinds(keys: Sequence[str], question: Mapping[str, Any], schema: Schema) -> list[Kind | None]:
    """The kinds of the columns that name a group."""
    known = {name: found.kind for name, found in schema.items()}
    now = schema
    # The question was understood when it was asked; if it is not here, keys stay as they were sent.
    with suppress(ViameterError):
        for name, written in question.get("derive", {}).items():
            made = read_expression(written, now)
            now = Schema({**dict(now), name: made.type})
            known[name] = made.type.kind
    return [known.get(name) for name in keys]


def _key(value: Any, kind: Kind | None) -> Any:
    """A key as Python has it: days and moments are sent as text. "(other)" is neither."""
    if isinstance(value, str) and kind in (Kind.DATE, Kind.TIMESTAMP):
        with suppress(ValueError):
            return date.fromisoformat(value) if kind is Kind.DATE else datetime.fromisoformat(value)
    return value
