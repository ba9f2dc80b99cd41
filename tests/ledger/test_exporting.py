"""Exports: exact, complete, without answers unless they are asked for, and no formulas in spreadsheets."""

from __future__ import annotations

import base64
import csv
import json
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerUnavailable, ParameterError
from viameter.ledger import Ledger
from viameter.ledger.chain import canonical, digest
from viameter.ledger.exporting import cell, export, written_loss
from viameter.ledger.stores import memory

ROWS = vm.SymmetricDistance()
PARTS = {"granularity": "unbounded", "cut": {"kind": "partition", "parts": 2}, "names": ["A", "B"]}


@pytest.fixture
def book() -> Ledger:
    made = ledgers.in_memory()
    made.define("visits", vm.pure(1), ROWS)
    made.define("wards", vm.pure("1/2"), ROWS, parts=PARTS)
    first = made.reserve(
        {"visits": vm.pure("1/3"), "wards": vm.pure("1/10")}, part=None, key="=1+1", label="May, 'all'", by="ann"
    )
    made.commit(first, b"forty-two")
    made.set_budget("visits", vm.pure(2), why="more")
    made.fail(made.reserve(vm.pure("1/7"), scopes=["visits"], key="b", label="@SUM(A1)", by="bob"))
    made.reserve(vm.pure("1/5"), scopes=["wards"], part="B", key="c", query="-2+3", theorems=["chain", "laplace"])
    return made


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_csv_has_a_row_for_each_charge_and_scope_with_exact_amounts(book: Ledger, tmp_path: Path) -> None:
    out = tmp_path / "charges.csv"
    assert export(book, out) == 4
    found = rows(out)
    assert [(row["entry"], row["scope"], row["part"], row["cost"], row["spent"], row["budget"]) for row in found] == [
        ("4", "visits", "", "pure 1/3", "pure 1/3", "pure 1"),
        ("4", "wards", "", "pure 1/10", "pure 1/10", "pure 1/2"),
        ("7", "visits", "", "pure 1/7", "pure 10/21", "pure 2"),
        ("9", "wards", "B", "pure 1/5", "pure 3/10", "pure 1/2"),
    ]
    assert [row["answer"] for row in found] == ["stored", "stored", "failed", "none"]
    assert [row["by"] for row in found][:3] == ["ann", "ann", "bob"]
    assert found[0]["spent_percent"] == "33.3333" and found[3]["theorems"] == "chain laplace"
    assert found[2]["hash"] == book.entry(7).hash and found[2]["at"] == book.entry(7).record["at"]


def test_no_text_of_a_person_becomes_a_formula(book: Ledger, tmp_path: Path) -> None:
    export(book, tmp_path / "charges.csv")
    found = rows(tmp_path / "charges.csv")
    assert (found[0]["key"], found[2]["label"], found[3]["query"]) == ("'=1+1", "'@SUM(A1)", "'-2+3")
    assert found[0]["label"] == "May, 'all'"


@given(st.text(alphabet=st.sampled_from("=+-@\t\r\n \u00a0\uff1da1'\""), max_size=6))
def test_a_cell_never_begins_like_a_formula(text: str) -> None:
    safe = cell(text)
    assert not safe.lstrip(" \u00a0").startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"))
    assert safe in (text, f"'{text}")


def test_the_last_row_stands_as_its_charge_left_it_even_after_its_period(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Past(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime(2020, 2, 3, tzinfo=UTC)

    monkeypatch.setattr(memory, "datetime", Past)
    book = ledgers.in_memory()
    book.define("daily", vm.pure(1), ROWS, renews="day")
    book.reserve(vm.pure("1/4"), scopes=["daily"])
    export(book, tmp_path / "charges.csv")
    (row,) = rows(tmp_path / "charges.csv")
    assert (row["spent"], row["period"]) == ("pure 1/4", "2020-02-03")


def test_json_has_every_entry_as_its_hash_says(book: Ledger, tmp_path: Path) -> None:
    out = tmp_path / "all.json"
    assert export(book, out) == 9
    document = json.loads(out.read_text())
    assert "answers" not in document and "forty" not in out.read_text()
    assert document["head"] == {"seq": 9, "hash": book.head.hash} and document["ledger"] == book.id
    previous = "0" * 64
    for number, entry in enumerate(document["entries"], start=1):
        hash = entry.pop("hash")
        assert digest(canonical(entry)) == hash and entry["previous"] == previous and entry["seq"] == number
        previous = hash
    visits, wards = document["scopes"]
    assert visits["spent"] == {"measure": "pure", "epsilon": "10/21"}
    assert visits["left"] == {"measure": "pure", "epsilon": "32/21"}
    assert wards["by_part"] == {
        "": {"measure": "pure", "epsilon": "1/10"},
        "B": {"measure": "pure", "epsilon": "1/5"},
    }


def test_answers_are_written_if_they_are_asked_for(book: Ledger, tmp_path: Path) -> None:
    export(book, tmp_path / "all.JSON", answers=True)
    stored, failed = json.loads((tmp_path / "all.JSON").read_text())["answers"]
    assert base64.b64decode(stored["content"]) == b"forty-two" and stored["reserved"] == 4
    assert failed["content"] is None and failed["seq"] == 8


def test_a_file_is_replaced_as_a_whole_and_is_for_its_owner(book: Ledger, tmp_path: Path) -> None:
    out = tmp_path / "all.json"
    out.write_text("old")
    export(book, out)
    assert json.loads(out.read_text()) and stat.S_IMODE(out.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["all.json"]
    with pytest.raises(LedgerUnavailable, match="No such file"):
        export(book, tmp_path / "nowhere" / "all.json")


@pytest.mark.parametrize(("name", "answers"), [("all.txt", False), ("all", False), ("all.csv", True)])
def test_what_cannot_be_exported_is_refused(book: Ledger, tmp_path: Path, name: str, answers: bool) -> None:
    with pytest.raises(ParameterError):
        export(book, tmp_path / name, answers=answers)
    assert not list(tmp_path.iterdir())


def test_a_ledger_is_not_replaced_by_its_export(tmp_path: Path) -> None:
    place = tmp_path / "ledger.json"
    with ledgers.open(place) as book:
        with pytest.raises(ParameterError, match="the ledger itself"):
            export(book, place)
        assert ledgers.verify(book).ok


def test_losses_are_written_as_the_command_reads_them() -> None:
    from viameter.cli.ledger_values import read_budget

    for loss in (vm.pure("1/3"), vm.approx(1, "1e-9"), vm.approx_zcdp(1, "1e-9"), vm.gdp(2), vm.renyi({2: 1, 8: 3})):
        assert read_budget(written_loss(loss), "budget") == loss
