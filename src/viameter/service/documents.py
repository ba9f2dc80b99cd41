"""Documents: what replies say of budgets, previews, answers and history. Plain values of JSON, all of them public."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import date
from fractions import Fraction
from typing import Any

from viameter.core import Loss
from viameter.ledger import Line, Scope
from viameter.ledger.plots import share
from viameter.ledger.renewal import ON_NEW_ROWS
from viameter.service.access import Grant
from viameter.service.catalog import Opened
from viameter.service.state import Registered, Token
from viameter.tables import Answer, Preview, Question, Ranked
from viameter.tables.check import Problem
from viameter.tables.document import question_to_json
from viameter.tables.preview import Standing
from viameter.tables.units import Unit


def loss_document(loss: Loss) -> dict[str, Any]:
    """A loss: exact, as `vm.loss_from_json` reads it, and in words."""
    return {**loss.to_json(), "text": repr(loss)}


def scope_document(scope: Scope) -> dict[str, Any]:
    """A budget: what may be spent, what was, what is left."""
    return {
        "budget": loss_document(scope.budget),
        "spent": loss_document(scope.spent),
        "left": loss_document(scope.left),
        "ever_spent": loss_document(scope.lifetime),
        "share_spent": share_of(scope.spent, scope.cap),
        "renews": scope.terms.renews,
        "renewal": renewal_text(scope),
    }


def renewal_text(scope: Scope) -> str | None:
    """What a budget bounds that starts over, in words; None for one that never does."""
    policy = scope.terms.renews
    if policy is None:
        return None
    if policy == ON_NEW_ROWS:
        meant = (
            "starts over when a custodian says that new rows have arrived, and bounds what is lost of each batch, as "
            "long as questions are asked of the newest batch alone. Who is in several batches loses in each"
        )
    else:
        meant = (
            f"starts over every {policy} (UTC), and bounds what is lost in one {policy}. Over several, losses add up"
        )
    return f"This budget {meant}: {scope.lifetime!r} in all so far."


def share_of(part: Loss, cap: Loss) -> float:
    """About what share of a budget a loss is, from 0 to 1; for bars, and for nothing that is decided."""
    return float(min(share(part, cap), Fraction(1)))


def dataset_document(opened: Opened, scope: Scope, roles: list[str]) -> dict[str, Any]:
    """What everybody may know of a dataset who may see it."""
    return registered_document(opened.registered, opened.table.unit, scope, roles)


def registered_document(registered: Registered, unit: Unit, scope: Scope, roles: list[str]) -> dict[str, Any]:
    """The same, of one whose rows need not be there."""
    said = registered.document
    return {
        "name": registered.name,
        "title": said.get("title") or registered.name,
        "description": said.get("description", ""),
        "unit": {
            "text": repr(unit),
            "name": unit.name,
            "granularity": repr(unit.granularity),
            "definition": said["unit"],
        },
        "measure": repr(scope.measure),
        "registered": registered.registered,
        "retired": None if registered.retired is None else asdict(registered.retired),
        "roles": sorted(roles),
        **scope_document(scope),
    }


def schema_document(opened: Opened) -> dict[str, Any]:
    """The columns: their types, and what the custodian said of them. Nothing is found out from rows."""
    said: Mapping[str, Any] = opened.registered.document.get("columns", {})
    columns = []
    for name, kind in opened.table.schema.items():
        known = said.get(name, {})
        one = {"name": name, "type": kind.kind.value, "description": known.get("description", "")}
        one["values"], one["bounds"] = known.get("values"), known.get("bounds")
        if kind.is_number and kind.kind.value == "INTEGER":
            one["lower"], one["upper"] = str(kind.lower), str(kind.upper)
        columns.append(one)
    return {"columns": columns, "unusable": list(opened.table.schema.unusable), "unit": repr(opened.table.unit)}


def standing_document(standing: Standing, loss: Loss) -> dict[str, Any]:
    """A budget that would pay for a question: what may be spent of it, what was, what is left, and whether it fits."""
    amounts = {name: loss_document(getattr(standing, name)) for name in ("budget", "spent", "left")}
    return {**amounts, "fits": standing.has_room_for(loss)}


def preview_document(preview: Preview) -> dict[str, Any]:
    """What a question would cost, and how far its answers may be from the truth.

    The first budget that pays is the dataset's, and another one is the limit of whoever asks.
    """
    dataset, person = preview.budgets[0], next(iter(preview.budgets[1:]), None)
    return {
        "budgets": {
            "dataset": standing_document(dataset, preview.loss),
            "person": None if person is None else standing_document(person, preview.loss),
        },
        "binding": "dataset" if preview.binding == dataset else "person",
        "question": preview.question,
        "loss": loss_document(preview.loss),
        "spent": loss_document(preview.spent),
        "left": loss_document(preview.left),
        "fits": bool(preview.fits),
        "alpha": str(preview.alpha),
        "unit": repr(preview.unit),
        "kept": preview.kept,
        "notes": list(preview.notes),
        "aggregates": [
            {
                "name": row.name,
                "loss": loss_document(row.loss),
                "noise": row.noise,
                "widths": [{"depends_on": on.strip(), "width": number(width)} for on, width in row.widths.items()],
                "covers": row.covers,
            }
            for row in preview.rows
        ],
    }


def problems_in_words(question: Question, problems: Iterable[Problem]) -> list[dict[str, str]]:
    """What is wrong with a question, each with its place in the document."""
    is_listed = "steps" in question_to_json(question)
    return [
        {"place": one.place if is_listed else re.sub(r"^steps\[\d+\][.]", "", one.place), "message": str(one.error)}
        for one in problems
    ]


def answer_document(answer: Answer | Ranked) -> dict[str, Any]:
    """The table of an answer: columns with their rows, and what intervals cover."""
    columns = answer.to_columns()
    found: dict[str, Any] = {
        "keys": list(answer.keys),
        "columns": list(columns),
        "rows": [[value_of(value) for value in row] for row in zip(*columns.values(), strict=True)],
        "loss": loss_document(answer.loss),
        "guarantee": repr(answer.guarantee),
        "unit": repr(answer.unit),
    }
    if isinstance(answer, Answer):
        found["aggregates"] = [{"name": name, "covers": answer.covers[name]} for name in answer.estimates]
        found["alpha"], found["notes"] = str(answer.alpha), list(answer.notes)
    else:
        found["aggregates"], found["alpha"], found["notes"] = [], None, [f"in order, by {answer.by}"]
    return found


def line_document(line: Line, *, dataset: str, outcome: str | None) -> dict[str, Any]:
    """One line of a dataset's history; of a charge, what came of it: answered, failed, lost or running."""
    own = next(((loss, spent) for scope, _, loss, spent in line.costs if scope == dataset), None)
    return {
        "entry": line.seq,
        "at": line.at,
        "by": line.by,
        "kind": line.kind,
        "text": line.label or line.query or line.text,
        "key": line.key,
        "loss": None if own is None else loss_document(own[0]),
        "spent_after": None if own is None else loss_document(own[1]),
        "outcome": outcome,
        "theorems": list(line.theorems),
        "has_certificate": line.certificate is not None,
    }


def token_document(token: Token) -> dict[str, Any]:
    """What is known of a token; the token itself was shown once."""
    return {
        "id": token.id,
        "label": token.label,
        "created": token.created,
        "expires": token.expires,
        "revoked": token.revoked,
    }


def grant_document(grant: Grant) -> dict[str, str]:
    """A grant."""
    return {"role": grant.role.value, "dataset": grant.dataset}


def number(value: float) -> float | None:
    """A number of JSON, which knows no infinity: null stands for it."""
    return value if math.isfinite(value) else None


def value_of(value: Any) -> Any:
    """A value of an answer as JSON has it: dates are ISO text, what is no number is null."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int | bool) else str(value)
