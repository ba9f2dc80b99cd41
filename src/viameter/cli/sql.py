"""A question in SQL: preview what it costs, try it on made-up rows, or release it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viameter.cli.ledger_values import read_budget
from viameter.cli.query import ENDS, open_table
from viameter.errors import AnswerLost, FormatError, OverBudget
from viameter.tables.preview import binding
from viameter.tables.showing.words import budget_words

Say = Callable[..., None]
UNIT = "--unit: expected 'row', 'per COLUMN', 'per COLUMN rows 20', 'event COLUMN' or 'event COLUMN window 7'"


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be done with a question in SQL."""

    text: str
    source: str
    unit: str
    budget: str | None = None
    table: str | None = None
    types: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    spend: str | None = None
    ledger: str | None = None
    key: str | None = None
    release: bool = False
    dry_run: int | None = None
    as_json: bool = False
    certificate: str | None = None


def run_sql(request: Request, say: Say) -> int:
    """Preview a question, or release it; 0, or 1 where it does not fit into the budget."""
    if request.dry_run is not None and (request.release or request.certificate is not None):
        raise FormatError("--dry-run answers from made-up rows: leave --release and --certificate out")
    if request.certificate is not None and not request.release:
        raise FormatError("--certificate writes what was released: add --release")
    if request.key is not None and request.ledger is None:
        raise FormatError("--key: answers are kept under keys where there is a --ledger")
    table = open_table({"table": _table(request)}, Path.cwd(), release=request.release)
    if request.dry_run is not None:
        table = table.dry_run(rows=request.dry_run)
    question = table.sql(
        _text(request.text), tables={name: _rows(file) for name, file in _pairs(request.public, "--public")}
    )
    spend = None if request.spend is None else read_budget(request.spend, "--spend")
    if spend is None and question.asked.loss is None:
        raise FormatError("what may the question cost? Give --spend, as in --spend 'zcdp 1/100', or write OPTIONS(...)")
    preview = question.preview(spend=spend)
    if not request.release and request.dry_run is None:
        return _preview(preview, request, say)
    try:
        answer = question.release(spend=spend, key=request.key if request.release else None)
    except (OverBudget, AnswerLost) as problem:
        say(json.dumps({"error": str(problem)}, indent=2) if request.as_json else str(problem))
        return 1
    if request.certificate is not None:
        answer.answer.certificate().write(Path(request.certificate))
    _show(table, answer, request, say)
    return 0


def _preview(preview: Any, request: Request, say: Say) -> int:
    if request.as_json:
        rows = [{"aggregate": row.name, "loss": repr(row.loss), "widths": row.widths} for row in preview.rows]
        say(
            json.dumps(
                {"loss": preview.loss.to_json(), "fits": preview.fits, "aggregates": rows}, indent=2, default=str
            )
        )
    else:
        say(f"{preview!r}\nnothing was spent")
    return 0 if preview.fits else 1


def _show(table: Any, answer: Any, request: Request, say: Say) -> None:
    is_practice = request.dry_run is not None
    if request.as_json:
        amounts = {"made_up_rows": is_practice, "loss": answer.loss.to_json(), "left": table.left.to_json()}
        said = {"covers": answer.answer.covers, "notes": list(answer.answer.notes)}
        say(json.dumps({**amounts, "rows": answer.to_dicts(), **said}, indent=2, default=str))
        return
    say(f"{answer!r}\n")
    made_up = " (of made-up rows: nothing was spent)" if is_practice else ""
    for words in budget_words(table.budgets, binding(table.budgets)):
        say(f"{words}{made_up}")
    if request.ledger is None and not is_practice:
        say(ENDS)


def _table(request: Request) -> dict[str, Any]:
    """The table as a query file describes it."""
    given: dict[str, Any] = {"source": request.source, "unit": read_unit(request.unit)}
    if request.budget is not None:
        given["budget"] = read_budget(request.budget, "--budget").to_json()
    if request.table is not None:
        given["table"] = request.table
    if request.types:
        given["types"] = dict(_pairs(request.types, "--type"))
    return given if request.ledger is None else {**given, "ledger": request.ledger}


def read_unit(written: str) -> dict[str, Any]:
    """A unit in words, as query files have it.

    >>> read_unit("per patient rows 20"), read_unit("row"), read_unit("event day window 7")
    ({'per': 'patient', 'rows': 20}, {'row': True}, {'event': 'day', 'window': 7})
    """
    words = written.split()
    kind, *rest = words or [""]
    options = {"per": ("rows", "groups", "per_group"), "event": ("window",)}
    if kind == "row" and not rest:
        return {"row": True}
    if kind not in options or len(rest) % 2 != 1:
        raise FormatError(f"{UNIT}: got {written!r}")
    found: dict[str, Any] = {kind: rest[0]}
    for name, number in zip(rest[1::2], rest[2::2], strict=True):
        if name not in options[kind] or not number.isdecimal() or name in found:
            raise FormatError(f"{UNIT}: got {written!r}")
        found[name] = int(number)
    return found


def _text(written: str) -> str:
    """The text, or that of the file which `@` names."""
    if not written.startswith("@"):
        return written
    try:
        return Path(written[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise FormatError(f"{written[1:]} cannot be read as text") from None


def _pairs(given: tuple[str, ...], option: str) -> list[tuple[str, str]]:
    """NAME=VALUE, each name once."""
    pairs = [(name, value) for name, _, value in (one.partition("=") for one in given)]
    if any(not name or not value for name, value in pairs) or len(dict(pairs)) < len(pairs):
        raise FormatError(f"{option}: expected NAME=VALUE, each name once")
    return pairs


def _rows(file: str) -> Any:
    """The rows of a public table, whose types are found out."""
    import pandas as pd

    try:
        return pd.read_parquet(file) if file.endswith(".parquet") else pd.read_csv(file)
    except (OSError, ValueError) as problem:
        raise FormatError(f"--public: {file} cannot be read: {type(problem).__name__}") from None
