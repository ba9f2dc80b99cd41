"""Export a ledger: charges as CSV for a spreadsheet, or everything as JSON for another program.

Amounts are exact, and text such as "zcdp 1/10": spreadsheets would take a bare 1/10 for a day in January. Text that
people chose (names, keys, labels, questions) cannot become a formula there.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import json
import math
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

from viameter.arith import read_written, write
from viameter.core import Loss
from viameter.errors import LedgerUnavailable, ParameterError
from viameter.ledger.chain import Head
from viameter.ledger.ledger import Ledger
from viameter.ledger.plots import share, steps
from viameter.ledger.scopes import Scope
from viameter.measures import loss_from_json

FORMAT = "viameter-ledger-export/1"
COLUMNS = (
    "entry", "at", "by", "key", "label", "query", "scope", "part", "cost", "spent", "budget", "spent_percent", "period",
    "answer", "theorems", "certificate", "hash",
)  # fmt: skip
"""What a row of CSV has: one charge to one scope, and how the scope stood after it."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What spreadsheets take for the beginning of a formula; also in the wide forms of East Asian text."""


def export(ledger: Ledger, path: str | Path, *, answers: bool = False) -> int:
    """Write a ledger to a .csv or a .json file, which is replaced; returns how many charges or entries were written.

    CSV has a row for each charge and scope. JSON has all entries and scopes and, with `answers`, the bytes that were
    released in base64.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".csv", ".json"):
        raise ParameterError(f"{target}: expected a file that ends in .csv or .json")
    if answers and kind == ".csv":
        raise ParameterError(f"{target}: answers are bytes, which go into JSON: give a file that ends in .json")
    own = getattr(getattr(ledger.store, "dialect", None), "path", None)  # none in memory or on a server
    if own is not None and own.exists() and target.exists() and target.samefile(own):
        raise ParameterError(f"{target} is the ledger itself: give another file")
    with _replacing(target) as file:
        if kind == ".csv":
            return _write_csv(ledger, file)
        return _write_json(ledger, file, answers=answers)


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[TextIO]:
    """A file that takes its place when all of it is written, so that nobody finds half of one."""
    beside = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        # Labels and answers are for those who may read the ledger, so the file is not for everybody either.
        made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        # A label may have half of a pair of surrogates, which is no text in UTF-8.
        with os.fdopen(made, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        beside.replace(target)
    except OSError as problem:
        raise LedgerUnavailable(f"{target} cannot be written: {problem.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def _write_csv(ledger: Ledger, file: TextIO) -> int:
    head = ledger.head
    stood = {
        (step.seq, name): step.scope for name, made in steps(ledger).items() for step in made if step.kind == "charge"
    }
    came: dict[int, str] = {}
    for entry in ledger.entries(1, head.seq):
        record = entry.record
        if record["kind"] in ("commit", "fail") and record["number"] == 0:
            came[record["reserved"]] = "stored" if record["kind"] == "commit" else "failed"
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    written = 0
    for entry in ledger.entries(1, head.seq):
        record = entry.record
        if record["kind"] != "reserve":
            continue
        for cost in record["costs"]:
            scope = stood[entry.seq, cost["scope"]]
            row = {
                "entry": entry.seq,
                "at": record["at"],
                **{name: record[name] for name in ("by", "key", "label", "query")},
                "scope": scope.name,
                "part": cost["part"] or "",
                "cost": written_loss(loss_from_json(cost["loss"])),
                "spent": written_loss(scope.spent),
                "budget": written_loss(scope.cap),
                "spent_percent": f"{100 * float(share(scope.spent, scope.cap)):.6g}",
                "period": scope.period,
                "answer": came.get(entry.seq, "none"),
                "theorems": " ".join(record["theorems"]),
                "certificate": record["certificate"] or "",
                "hash": entry.hash,
            }
            writer.writerow([cell(str(row[name])) for name in COLUMNS])
            written += 1
    return written


def cell(text: str) -> str:
    """Text for a cell of a spreadsheet, which does not take it for a formula: an apostrophe says that it is text.

    >>> cell("=1+1"), cell("how many")
    ("'=1+1", 'how many')
    """
    return f"'{text}" if text.lstrip(" \u00a0").startswith(_FORMULA) else text


def written_loss(loss: Loss) -> str:
    """A loss as its measure and its exact numbers: as the command line takes it, if that can be exact.

    >>> import viameter as vm
    >>> written_loss(vm.approx(1, "1e-6")), written_loss(vm.renyi({2: "1/10", 4: "3/10"}))
    ('approx 1 1/1000000', 'renyi 2=1/10 4=3/10')
    >>> written_loss(vm.gdp(2)), written_loss(vm.gdp(1) + vm.gdp(1))
    ('gdp 2', 'gdp mu_squared=2')
    """
    record = loss.to_json()
    numbers = [_written_number(name, number) for name, number in record.items() if name != "measure"]
    return " ".join([str(record["measure"]), *numbers])


def _written_number(name: str, number: Any) -> str:
    if isinstance(number, dict):
        return " ".join(f"{order}={bound}" for order, bound in number.items())
    if name != "mu_squared":
        return str(number)
    # Gaussian losses add by their squares, of which few have a root that is exact.
    square = Fraction(read_written(number))
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return write(root) if root * root == square else f"{name}={number}"


def _write_json(ledger: Ledger, file: TextIO, *, answers: bool) -> int:
    head, scopes = _at_once(ledger)
    first = {
        "format": FORMAT,
        "ledger": ledger.id,
        "head": {"seq": head.seq, "hash": head.hash},
        "public_key": ledger.public_key,
        "signature": ledger.store.signature(head.seq),
        "scopes": [scope_as_json(scope) for scope in scopes],
    }
    # Entry by entry: a ledger may be larger than memory.
    file.write(json.dumps(first, indent=1).removesuffix("\n}") + ',\n "entries": [')
    for entry in ledger.entries(1, head.seq):
        file.write(("" if entry.seq == 1 else ",") + "\n  ")
        json.dump({"hash": entry.hash, **entry.record}, file)
    file.write("\n ]")
    if answers:
        file.write(',\n "answers": [')
        between = ""
        for answer in ledger.store.all_answers():
            if answer.seq <= head.seq:
                content = None if answer.content is None else base64.b64encode(answer.content).decode("ascii")
                record = {"seq": answer.seq, "reserved": answer.reserved, "number": answer.number, "content": content}
                file.write(between + "\n  " + json.dumps(record))
                between = ","
        file.write("\n ]")
    file.write("\n}\n")
    return head.seq


def _at_once(ledger: Ledger) -> tuple[Head, list[Scope]]:
    """The head with the scopes as it left them; where others write all the time, as they were a little before."""
    for _ in range(20):
        head = ledger.head
        scopes = ledger.store.scopes()
        if ledger.head == head:
            break
    return ledger.head, scopes


def scope_as_json(scope: Scope) -> dict[str, Any]:
    """A scope as plain JSON values, with what follows from its state."""
    return {
        **scope.to_json(),
        "left": scope.left.to_json(),
        "lifetime": scope.lifetime.to_json(),
        "lost": scope.lost,
        "spent_percent": 100 * float(share(scope.spent, scope.cap)),
        "seq": scope.seq,
    }
