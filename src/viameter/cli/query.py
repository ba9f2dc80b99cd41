"""Questions in a TOML file: preview what they cost, try them on made-up rows, or release them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import viameter as vm
from viameter.core import Loss
from viameter.errors import AnswerLost, FormatError, LedgerUnavailable, OverBudget
from viameter.tables.cost import COST_KEYS, Cost, cost_from_json, mapping, read_loss
from viameter.tables.document import QUESTION_KEYS, question_from_json
from viameter.tables.preview import Standing, binding
from viameter.tables.showing.words import budget_words
from viameter.tables.table import Query, Table
from viameter.tables.units import read_unit

Say = Callable[..., None]
ENDS = "this budget ends with the command, and the next one begins with all of it again: a ledger keeps what is spent"
TABLE_KEYS = {
    "source",
    "table",
    "unit",
    "budget",
    "types",
    "required",
    "strict",
    "order",
    "ledger",
    "dataset",
    "scopes",
    "by",
}
ENTRY_KEYS = {*QUESTION_KEYS, *COST_KEYS, "name", "key"}


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be done with a file of questions."""

    file: str
    release: bool = False
    dry_run: int | None = None
    as_json: bool = False
    certificate: str | None = None


def run_file(request: Request, say: Say) -> int:
    """Preview the questions of a file, or release them; 0, or 1 where one does not fit into the budget."""
    if request.dry_run is not None and (request.release or request.certificate is not None):
        raise FormatError("--dry-run answers from made-up rows: leave --release and --certificate out")
    if request.certificate is not None and not request.release:
        raise FormatError("--certificate writes what was released: add --release")
    document = _read(request.file)
    table = open_table(document, Path(request.file).parent, release=request.release)
    if request.dry_run is not None:
        table = table.dry_run(rows=request.dry_run, values=_values(document))
    # All questions are understood before the first of them spends anything.
    entries = [
        (str(entry.get("name", f"question {place}")), entry) for place, entry in enumerate(document["question"], 1)
    ]
    asked = [(name, *_read_entry(table, entry, name), entry.get("key")) for name, entry in entries]
    if "ledger" not in document["table"] and any(key is not None for *_, key in asked):
        raise FormatError('key: answers are kept under keys where [table] has ledger = "budget.db"')
    for _, question, cost, _ in asked:
        question.preview_for(cost)
    if request.release or request.dry_run is not None:
        return _release(table, asked, request, say)
    return _preview(table, asked, request, say)


def _preview(table: Any, asked: list[Any], request: Request, say: Say) -> int:
    results: list[dict[str, Any]] = []
    losses: list[Loss] = []
    for name, question, cost, key in asked:
        if _is_answered(table, key):
            results.append({"question": name, "answered": key})
            if not request.as_json:
                say(f"{name}\nanswered before under the key {key!r}: the same answer costs nothing more\n")
            continue
        preview = question.preview_for(cost)
        losses.append(preview.loss)
        rows = [{"aggregate": row.name, "loss": repr(row.loss), "widths": row.widths} for row in preview.rows]
        results.append({"question": name, "loss": preview.loss.to_json(), "aggregates": rows})
        if not request.as_json:
            say(f"{name}\n{preview!r}\n")
    total = table.budget.measure.total([table.spent, *losses])
    too_small = [one for one in table.budgets if not _has_room(one, losses)]
    fits = not too_small
    if request.as_json:
        document = {"total": total.to_json(), "budget": table.budget.to_json(), "fits": fits, "questions": results}
        document["budgets"] = [_standing(one) for one in table.budgets]
        say(json.dumps(document, default=str, indent=2))
    else:
        said = "which fits" if fits else "which does NOT fit"
        say(f"all questions together: {total!r} of {table.budget!r}, {said}; nothing was spent")
        if len(table.budgets) > 1:
            for one in too_small:
                say(f"too little is left of {one.name!r}: {one.left!r}")
    return 0 if fits else 1


def _release(table: Any, asked: list[Any], request: Request, say: Say) -> int:
    results: list[dict[str, Any]] = []
    code = 0
    practice = request.dry_run is not None
    for place, (name, question, cost, key) in enumerate(asked, start=1):
        try:
            # Of made-up rows nothing is charged or stored.
            answer = question.release_for(cost, key=None if practice else key)
        except (OverBudget, AnswerLost) as problem:
            results.append({"question": name, "error": str(problem)})
            code = 1
            if not request.as_json:
                say(f"{name}\n{problem}\n")
            continue
        results.append({"question": name, "loss": answer.loss.to_json(), "rows": answer.to_dicts()})
        if request.certificate is not None:
            _certify(answer, request.certificate, name, place)
        if not request.as_json:
            say(f"{name}\n{answer!r}\n")
    if request.as_json:
        amounts = {"made_up_rows": practice, "spent": table.spent.to_json(), "left": table.left.to_json()}
        amounts["budgets"] = [_standing(one) for one in table.budgets]
        say(json.dumps({**amounts, "questions": results}, default=str, indent=2))
    else:
        made_up = " (of made-up rows: nothing was spent)" if practice else ""
        budgets = table.budgets
        for words in budget_words(budgets, binding(budgets)):
            say(f"{words}{made_up}")
        if table.ledger is None and not practice:
            say(ENDS)
    return code


def _standing(one: Standing) -> dict[str, Any]:
    """A budget that pays, as JSON."""
    return {"scope": one.name, **{name: getattr(one, name).to_json() for name in ("budget", "spent", "left")}}


def _has_room(one: Standing, losses: list[Loss]) -> bool:
    """Whether a budget has room for all losses together; one that is counted in another measure is not judged here."""
    total = (
        losses[0].measure.total([one.spent, *losses]) if losses and losses[0].measure == one.budget.measure else None
    )
    return total is None or total <= one.budget


def _read_entry(table: Table, entry: Mapping[str, Any], name: str) -> tuple[Query[Any], Cost]:
    """The question that an entry of a file describes, and what it may cost."""
    unknown = sorted(set(entry) - ENTRY_KEYS)
    if unknown:
        raise FormatError(f"{name}: unknown key {unknown[0]!r}; known are {', '.join(sorted(ENTRY_KEYS))}")
    written = {word: value for word, value in entry.items() if word not in ("name", "key")}
    return table.query(question_from_json(written, name)), cost_from_json(written, name)


def _read(file: str) -> dict[str, Any]:
    try:
        document = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as problem:
        raise FormatError(f"{file} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FormatError(f"{file} is not TOML: {problem}") from None
    questions = document.get("question")
    if not isinstance(document.get("table"), dict) or not isinstance(questions, list) or not questions:
        raise FormatError(f"{file}: expected a [table] with source, unit and budget, and at least one [[question]]")
    unknown = sorted(set(document["table"]) - TABLE_KEYS - {"values"})
    if unknown:
        raise FormatError(
            f"{file}: [table] has an unknown key {unknown[0]!r}; known are {', '.join(sorted(TABLE_KEYS))}, values"
        )
    return document


def open_table(document: Mapping[str, Any], folder: Path, *, release: bool) -> Any:
    """The table that a document describes, opened as a look, or as a release, needs it."""
    table = document["table"]
    # The budget of a scope that is in the ledger already need not be said again.
    needed = ("source", "unit") if "ledger" in table else ("source", "unit", "budget")
    missing = [key for key in needed if key not in table]
    if missing:
        raise FormatError(f"[table] has no {missing[0]}: expected source, unit and budget")
    return vm.open(
        _place(str(table["source"]), folder),
        table=table.get("table"),
        unit=read_unit(table["unit"]),
        budget=None if "budget" not in table else read_loss(table["budget"], "budget"),
        **_paying(table, folder, release=release),
        types=mapping(table.get("types", {}), "types"),
        required=table.get("required", ()),
        strict=bool(table.get("strict", False)),
        order=table.get("order", "native"),
    )


def _paying(table: Mapping[str, Any], folder: Path, *, release: bool) -> dict[str, Any]:
    """What pays. A look writes nothing: a ledger that is there is read, and one that is not is not made."""
    if "ledger" not in table:
        return {}
    given = {name: table[name] for name in ("dataset", "scopes", "by") if name in table}
    place = _place(str(table["ledger"]), folder)
    if release:
        return {"ledger": place, **given}
    from viameter import ledger as ledgers
    from viameter.tables.durable import name_of

    try:
        book = ledgers.open(place, create=False, read_only=True)
    except LedgerUnavailable:
        return {}
    name = table.get("dataset") or name_of(_place(str(table["source"]), folder), table.get("table"))
    return {"ledger": book, **given} if any(scope.name == name for scope in book.scopes()) else {}


def _is_answered(table: Any, key: str | None) -> bool:
    """Whether the ledger has an answer under a key, so that it costs nothing more."""
    if key is None or table.ledger is None:
        return False
    request = table.ledger.request(table.session.purse.meter.by, key)
    return request is not None and request.settled is not None


def _place(given: str, folder: Path) -> str:
    """A URL, or a path, which is meant from where the file is."""
    return given if "://" in given or Path(given).is_absolute() else str(folder / given)


def _values(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says of columns, for made-up rows: lists of values, or `{range = [0, 10]}`."""
    given = document["table"].get("values", {})
    return {
        name: tuple(value["range"]) if isinstance(value, dict) else value
        for name, value in mapping(given, "values").items()
    }


def _certify(answer: Any, folder: str, name: str, place: int) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    plain = "".join(letter if letter.isalnum() else "-" for letter in name)
    answer.certificate().write(Path(folder) / f"{place:02d}-{plain}.json")
