"""Questions of every kind that can be written down, each asked under a key; and how their answers are compared."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import viameter as vm
from viameter.tables.cost import cost_from_json
from viameter.tables.document import question_from_json

FOLDER = Path(__file__).parent
FIRST = FOLDER / "first"
"""A ledger and what was asked, of the first version that has answers under keys."""

ROWS: dict[str, list[Any]] = {
    "patient": [f"p{n % 60}" for n in range(240)],
    "ward": ["A", "B", "C", None][:3] * 80,
    "age": [(n * 37) % 90 for n in range(240)],
    "wait": [((n * 53) % 480) / 2 for n in range(240)],
    "urgent": [n % 5 == 0 for n in range(240)],
}
BY_WARD: dict[str, Any] = {"group_by": "ward", "keys": ["A", "B", "C"]}
WAIT = {"bounds": [0, 240]}
QUESTIONS: dict[str, dict[str, Any]] = {
    "count": {},
    "counts by ward": {**BY_WARD, "aggregates": {"n": {"count": True}, "people": {"count_units": True}}},
    "numbers": {
        "aggregates": {
            "total": {"sum": "wait", **WAIT},
            "mean": {"mean": "wait", **WAIT},
            "variance": {"variance": "wait", **WAIT},
            "std": {"std": "wait", **WAIT},
        }
    },
    "places": {
        "aggregates": {
            "half": {"median": "age", "bounds": [0, 90]},
            "most": {"quantile": "age", "q": "9/10", "bounds": [0, 90], "bins": 16, "interval": False},
            "least": {"minimum": "age", "bounds": [0, 90]},
            "greatest": {"maximum": "age", "bounds": [0, 90]},
        },
        "raw": True,
    },
    "rows in words": {
        "derive": {"hours": "wait / 60", "old": "age >= 65"},
        "filter": "hours > 1 and not urgent",
        "limit": {"rows": 2, "keep": "first by age"},
        "group_by": ["ward", "old"],
        "keys": {"ward": ["A", "B"], "old": [False, True]},
        "other": True,
        "aggregates": {"n": {"count": True}},
        "alpha": "1/10",
    },
    "rows as a document": {
        "filter": {
            "operation": "and",
            "arguments": [
                {"operation": "gt", "arguments": [{"column": "age"}, {"value": 18}]},
                {"operation": "is_in", "arguments": [{"column": "ward"}, {"value": "A"}, {"value": "C"}]},
            ],
        },
        "group_by": ["ward", "urgent"],
        "keys": [["A", True], ["C", False]],
        "aggregates": {"n": {"count": True}, "mean": {"mean": "wait", **WAIT}},
        "weights": {"n": "1/2", "mean": 2},
    },
    "intervals": {"group_by": "age", "edges": [0, 18, 65.5, 90], "aggregates": {"n": {"count": True}}},
    "top": {**BY_WARD, "top": 2, "by": "units"},
    "within": {**BY_WARD, "aggregates": {"n": {"count": True}}, "within": {"n": 30}},
    "found": {"group_by": "ward", "aggregates": {"n": {"count": True}}},
    "found with others": {"group_by": ["ward", "urgent"], "other": True, "aggregates": {"n": {"count_units": True}}},
    "heavy hitters": {"heavy_hitters": "ward"},
}


def asked(name: str) -> dict[str, Any]:
    """A question with what it may cost."""
    return QUESTIONS[name] if "within" in QUESTIONS[name] else {**QUESTIONS[name], "spend": {"approx": ["1", "1e-6"]}}


@contextmanager
def opened(ledger: Path) -> Iterator[Any]:
    """The table, under a ledger."""
    with vm.ledger.open(ledger) as book:
        yield vm.open(
            ROWS, unit=vm.per("patient", rows=4), budget=vm.approx(40, "1e-4"), ledger=book, dataset="visits", by="ann"
        )


def release(table: Any, name: str) -> Any:
    """Ask one of the questions under its key."""
    document = asked(name)
    question = table.query(question_from_json(document, name)).question
    return table.backend.release(question, cost_from_json(document, name), key=name)


def written(answer: Any) -> Any:
    """All that an answer says, as JSON reads it back."""
    columns = {name: [str(value) for value in values] for name, values in answer.to_columns().items()}
    return json.loads(json.dumps({"columns": columns, "loss": answer.loss.to_json(), "text": repr(answer)}))


def make(folder: Path) -> None:
    """Write down what this version does, once for a version: `python -m tests.tables.session.versions.asking NAME`."""
    folder.mkdir()
    with opened(folder / "budget.db") as table:
        answers = {name: written(release(table, name)) for name in QUESTIONS}
    document = {"questions": {name: asked(name) for name in QUESTIONS}, "answers": answers}
    (folder / "answers.json").write_text(json.dumps(document, indent=1) + "\n")
    for left in folder.glob("budget.db-*"):
        left.unlink()


def copied(folder: Path, to: Path) -> Path:
    """The ledger of a version, where it may be written."""
    shutil.copytree(folder, to)
    return to / "budget.db"


if __name__ == "__main__":
    import sys

    make(FOLDER / sys.argv[1])
