"""`viameter ledger`: what its commands do, say, and exit with."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.processes import in_clean_process

import viameter as vm
from viameter import ledger as ledgers
from viameter.cli import main
from viameter.cli.ledger import PICTURES, RENEWALS, RULES, ledger
from viameter.composition.filters import RULES as KNOWN_RULES
from viameter.ledger.renewal import POLICIES

ROWS = vm.SymmetricDistance()
COMMANDS = [
    "backup", "budget", "define", "export", "history", "init", "plot", "renew", "restore", "show", "verify"
]  # fmt: skip


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, and nothing of the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("VIAMETER_LEDGER_KEY", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: Any, **options: Any) -> Result:
    return CliRunner().invoke(main, ["ledger", *map(str, arguments)], **options)


def done(*arguments: Any, **options: Any) -> str:
    result = run(*arguments, **options)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments: Any, code: int = 2) -> str:
    """The one line of an error."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line.removeprefix("Error: ")


@pytest.fixture
def book(apart: None) -> str:
    """A ledger with two scopes, an answer, a failure, and a charge that was cut off."""
    with ledgers.open("budget.db") as made:
        made.define("visits", vm.zcdp("1/2"), "UnitDistance('user', by='patient')", why="decided", by="board")
        made.define("sensors", vm.pure(1), ROWS, renews="rows", by="board")
        made.commit(made.reserve(vm.zcdp("1/8"), scopes=["visits"], key="a", label="May", by="ann"), b"forty-two")
        made.fail(made.reserve(vm.pure("1/4"), scopes=["sensors"], key="b", label="\x1b[2J[red]", by="bob"))
        made.reserve(vm.zcdp("1/8"), scopes=["visits"], key="cut", label="cut off", by="bob")
    return "budget.db"


def test_every_command_has_a_sentence_and_an_example() -> None:
    assert sorted(ledger.commands) == COMMANDS
    for name in COMMANDS:
        said = done(name, "--help")
        sentence = said.split("\n\n")[1].strip()
        assert re.match(r"[A-Z].*\.", sentence, re.DOTALL), name
        example = said.split("Example:\n")[1].strip()
        assert example.startswith(f"viameter ledger {name} ") and "\n" not in example
        # The list of commands shows whole sentences.
        assert not ledger.commands[name].get_short_help_str(62).endswith("...")
    assert "Example:\n    viameter ledger init budget.db\n" in done("--help")


def test_choices_are_those_of_the_library() -> None:
    assert tuple(RENEWALS) == POLICIES and set(RULES) == set(KNOWN_RULES)


def help_and_what_it_imports() -> tuple[str, list[str]]:
    shown = done("show", "--help")
    return shown, sorted({"rich", "sqlalchemy", "alembic", "matplotlib"} & set(sys.modules))


def test_help_is_had_without_databases_and_colors() -> None:
    shown, imported = in_clean_process(help_and_what_it_imports)
    assert imported == [] and "viameter ledger show" in shown


def refused_without(package: str, asked: list[str]) -> str:
    assert package not in sys.modules
    sys.modules[package] = None  # type: ignore[assignment]
    return refused(*asked)


@pytest.mark.parametrize("missing", ["sqlalchemy", "rich", "alembic"])
def test_what_to_install_is_said_where_a_package_is_missing(missing: str, book: str, tmp_path: Path) -> None:
    asked = ["init", str(tmp_path / "new.db")] if missing == "alembic" else ["show", str(tmp_path / book)]
    assert "pip install 'viameter[ledger]'" in in_clean_process(refused_without, missing, asked)


def test_init_makes_a_ledger_and_a_key_for_its_owner() -> None:
    said = done("init", "budget.db", "--sign-with", "key.pem")
    assert stat.S_IMODE(Path("key.pem").stat().st_mode) == 0o600
    public = ledgers.SigningKey.read("key.pem").public
    assert public in said and "budget.db.witness" in said and Path("budget.db.witness").exists()
    with ledgers.open("budget.db", read_only=True) as made:
        assert made.public_key == public and made.head.seq == 1
    assert "is a ledger already, at entry 1; nothing was changed" in done("init", "budget.db")
    # An existing key is used, and never replaced.
    done("init", "second.db", "--sign-with", "key.pem", "--no-witness")
    assert ledgers.SigningKey.read("key.pem").public == public and not Path("second.db.witness").exists()


def test_init_does_not_pretend_that_an_unsigned_ledger_is_signed() -> None:
    assert "its heads are not signed" in done("init", "budget.db")
    assert "whose heads are not signed" in refused("init", "budget.db", "--sign-with", "key.pem")
    assert not Path("key.pem").exists()


def test_a_signed_ledger_is_written_with_its_key_only(monkeypatch: pytest.MonkeyPatch) -> None:
    done("init", "budget.db", "--sign-with", "key.pem")
    define = ("define", "budget.db", "visits", "--budget", "pure 1", "--of", "unbounded")
    assert "signing_key" in refused(*define)
    done(*define, "--sign-with", "key.pem")
    monkeypatch.setenv("VIAMETER_LEDGER_KEY", "key.pem")
    done("budget", "budget.db", "visits", "pure 2", "--why", "more")
    monkeypatch.delenv("VIAMETER_LEDGER_KEY")
    public = ledgers.SigningKey.read("key.pem").public
    assert f"signed: by its own key {public}" in done("verify", "budget.db")
    assert "signed: by the key that was given" in done("verify", "budget.db", "--public-key", public.upper())
    result = run("verify", "budget.db", "--public-key", "ab" * 32)
    assert result.exit_code == 1 and "names another key" in result.output
    assert "64 hexadecimal digits" in refused("verify", "budget.db", "--public-key", "ab")


@pytest.mark.parametrize(
    ("options", "neighborhood"),
    [
        (["--of", "unbounded"], "unbounded()"),
        (["--of", "w_event"], None),
        (["--of", '{ name = "w-event", w = 3 }'], "w_event(w=3)"),
        (["--of", "SymmetricIdDistance(id='patient')"], "SymmetricIdDistance(id='patient')"),
        (["--of", "unbouned"], None),
        (["--unit", "row"], "UnitDistance('unbounded')"),
        (["--unit", "per patient"], "UnitDistance('user', by='patient')"),
        (["--unit", "per patient id"], "UnitDistance('user', by='patient id')"),
        (["--unit", "event day"], "UnitDistance('event', by='day', replaces=True)"),
        (["--unit", "event day window 7"], "UnitDistance('w-event', by='day', replaces=True, window=7)"),
        (["--unit", '{per = "patient", replace = true}'], "UnitDistance('user', by='patient', replaces=True)"),
        (["--unit", '{per = "patient", nonsense = true}'], None),
        (["--unit", "{per"], None),
        (["--unit", "patient"], None),
        (["--unit", "per"], None),
        (["--unit", "row", "--of", "unbounded"], None),
        ([], None),
    ],
)
def test_whom_a_budget_is_for(options: list[str], neighborhood: str | None) -> None:
    done("init", "budget.db", "--no-witness")
    define = ("define", "budget.db", "visits", "--budget", "zcdp 1/2", "--no-witness", *options)
    if neighborhood is None:
        assert refused(*define)
        return
    done(*define)
    with ledgers.open("budget.db", read_only=True, witness=False) as made:
        assert made.scope("visits").terms.neighborhood == neighborhood


def test_a_unit_is_what_a_table_that_is_opened_is_counted_in() -> None:
    Path("visits.csv").write_text("patient,wait\np,1\nq,2\n")
    done("init", "budget.db")
    done("define", "budget.db", "visits", "--budget", "zcdp 1/2", "--unit", "per patient")
    table = vm.open("visits.csv", unit=vm.per("patient", rows=1), ledger="budget.db", dataset="visits")
    assert table.budget == vm.zcdp("1/2")
    table.agg(n=vm.count()).release(spend=vm.zcdp("1/8"))
    assert "spent zcdp(1/8), left zcdp(3/8)" in done("show", "budget.db")


def test_define_takes_all_terms() -> None:
    done("init", "budget.db")
    Path("parts.toml").write_text(
        'granularity = "unbounded"\ncut = { kind = "partition", parts = 2 }\nnames = ["A", "B"]'
    )
    given = ("--budget", "pure 1", "--parts", "parts.toml", "--renews", "month", "--why", "decided", "--by", "board")
    assert done("define", "budget.db", "wards", *given) == "'wards': pure(1) for unbounded()\n"
    assert done("define", "budget.db", "wards", *given).endswith("; it was there already\n")
    rule = ("--budget", "approx 1 1e-6", "--rule", "concentrated", "--slack", "1e-7", "--d-in", "2")
    done("define", "budget.db", "ruled", *rule, "--of", "unbounded")
    with ledgers.open("budget.db", read_only=True) as made:
        wards, ruled = made.scope("wards").terms, made.scope("ruled").terms
        first = made.entry(2).record
    assert wards.renews == "month" and wards.parts is not None and wards.parts.labels == ("A", "B")
    assert (first["why"], first["by"]) == ("decided", "board")
    assert (ruled.rule, str(ruled.slack), ruled.d_in) == ("concentrated", "1/10000000", 2)
    assert "not on these terms" in refused("define", "budget.db", "ruled", "--budget", "pure 1", "--of", "unbounded")
    Path("parts.toml").write_text("granularity = 0.5")
    assert "in quotes" in refused("define", "budget.db", "x", "--budget", "pure 1", "--parts", "parts.toml")
    assert "cannot be read" in refused("define", "budget.db", "x", "--budget", "pure 1", "--parts", "no.toml")


@pytest.mark.parametrize(
    "written", ["", "zcdp", "1/2", "zdcp 1", "approx 1", "pure 1 2", "pure -1", "pure x", "renyi 2", "renyi 2=1 2=1"]
)
def test_a_budget_that_cannot_be_read_is_refused(written: str, book: str) -> None:
    refused("define", book, "other", "--budget", written, "--of", "unbounded")
    refused("budget", book, "visits", written, "--why", "more")


def test_a_ledger_that_is_not_there_is_not_made_by_looking_at_it() -> None:
    for arguments in (
        ("show", "budget.db"),
        ("history", "budget.db"),
        ("verify", "budget.db"),
        ("export", "budget.db", "out.csv"),
        ("backup", "budget.db", "copy.db"),
        ("plot", "budget.db", "out.png"),
        ("budget", "budget.db", "visits", "pure 1", "--why", "more"),
        ("renew", "budget.db", "visits", "--why", "more"),
        ("define", "budget.db", "visits", "--budget", "pure 1", "--of", "unbounded"),
    ):
        assert "`viameter ledger init` makes it" in refused(*arguments)
    assert not list(Path().iterdir())


def test_show_draws_every_scope_with_what_it_rests_on(book: str) -> None:
    said = done("show", book)
    assert "witness  budget.db.witness, saw entry 8" in said and "signed   no" in said
    assert "journal_mode = wal, synchronous = 2" in said
    assert "budget zcdp(1/2) for UnitDistance('user', by='patient')" in said
    assert "spent zcdp(1/4), left zcdp(1/4)" in said and " 50 %" in said
    assert "starts over when new rows arrive, now in 000001; pure(1/4) in its lifetime" in said
    assert "█" in said and "╌" in said and "2 charges" in said
    (line,) = [line for line in said.splitlines() if "key 'cut'" in line]
    assert "1 charge has no answer" in said and "by bob" in line and "zcdp(1/8) from 'visits'" in line
    alone = done("show", book, "--scope", "visits")
    assert "visits" in alone and "sensors" not in alone
    assert "no scope is called 'nothing'; there are: sensors, visits" in refused("show", book, "--scope", "nothing")


def test_the_curve_rises_to_what_was_spent(book: str) -> None:
    rows = [line.split("│")[2] for line in done("show", book, "--scope", "visits").splitlines() if line.count("│") > 2]
    filled = [sum(letter in "▁▂▃▄▅▆▇█" for letter in row) for row in rows]
    # Half of the budget is two and a half of five rows, from the second of two charges on.
    assert filled[:2] == [0, 0] and 0 < filled[2] < filled[3] == filled[4]
    assert {letter for letter in rows[2] if letter.strip()} == {"▄"}


@pytest.mark.parametrize("columns", ["20", "40", "80", "200"])
def test_show_fits_where_there_is_little_room(book: str, columns: str) -> None:
    said = done("show", book, "--scope", "visits", env={"COLUMNS": columns})
    boxed = [line for line in said.splitlines() if line[:1] in "╭│╰"]
    assert boxed and {len(line) for line in boxed} == {min(int(columns), 100)}
    assert "50 %" in said


def test_show_is_ascii_where_nothing_else_can_be_written(book: str) -> None:
    with ledgers.open(book) as made:
        made.define("caf\u00e9 [bold]", vm.pure(1), "what\x1b[2J\nthey are")
    shown = CliRunner(charset="ascii").invoke(main, ["ledger", "show", book])
    assert shown.exit_code == 0
    said = shown.stdout_bytes.decode("ascii")
    assert "caf\\xe9 [bold]" in said and "\x1b" not in said and "for what\\x1b[2J\\nthey are" in said
    assert "#" in said and "+-" in said


def test_colors_are_for_terminals_that_want_them(book: str) -> None:
    assert "\x1b[" not in done("show", book)
    assert "\x1b[" in done("show", book, env={"FORCE_COLOR": "1"}, color=True)
    colorless = done("show", book, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}, color=True)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", colorless)


def test_many_scopes_are_a_table(book: str) -> None:
    with ledgers.open(book) as made:
        for number in range(8):
            made.define(f"more {number}", vm.pure(1), ROWS)
    said = done("show", book, env={"COLUMNS": "120"})
    assert "╌" not in said and all(f"more {number}" in said for number in range(8)) and "50 %" in said


def test_show_as_json(book: str) -> None:
    said = json.loads(done("show", book, "--json"))
    sensors, visits = said["scopes"]
    assert visits["spent"] == {"measure": "zcdp", "rho": "1/4"} and visits["left"] == {"measure": "zcdp", "rho": "1/4"}
    assert visits["spent_percent"] == 50 and sensors["terms"]["renews"] == "rows"
    assert said["head"]["seq"] == said["witness_saw"] == 8 and said["public_key"] is None
    assert said["kept"]["synchronous"] == 2
    assert [(one["entry"], one["by"], one["key"]) for one in said["unanswered"]] == [(8, "bob", "cut")]


def test_a_ledger_without_scopes_can_be_shown() -> None:
    done("init", "budget.db")
    assert "no scopes yet" in done("show", "budget.db")
    assert "no scopes yet" in refused("plot", "budget.db", "out.png")


def test_history_is_a_line_for_each_entry_that_no_terminal_obeys(book: str) -> None:
    lines = done("history", book).splitlines()
    assert len(lines) == 8 and [line.split()[0] for line in lines] == list("12345678")
    assert lines[3].split(None, 4)[2:] == ["ann", "reserve", "May: zcdp(1/8) from 'visits' (answered)"]
    assert [line.rpartition(" (")[2] for line in lines if " reserve " in line] == [
        "answered)",
        "failed, and stays charged)",
        "no answer stored)",
    ]
    written = json.loads(done("history", book, "--json"))
    assert [line["outcome"] for line in written if line["kind"] == "reserve"] == ["answered", "failed", "unsettled"]
    assert all(line["outcome"] is None for line in written if line["kind"] != "reserve")
    assert "\\x1b[2J[red]: pure(1/4)" in lines[5] and "\x1b" not in "".join(lines)

    def numbers(*options: Any) -> list[str]:
        return [line.split()[0] for line in done("history", book, *options).splitlines()]

    assert numbers("--last", "2") == ["7", "8"]
    assert numbers("--scope", "visits") == ["2", "4", "8"]
    assert numbers("--scope", "visits", "--last", "1") == ["8"]
    assert run("history", book, "--last", "0").exit_code == 2
    charged = json.loads(done("history", book, "--json"))[3]
    assert charged["key"] == "a" and charged["label"] == "May"
    assert charged["costs"] == [
        {
            "scope": "visits",
            "part": None,
            "cost": {"measure": "zcdp", "rho": "1/8"},
            "spent": {"measure": "zcdp", "rho": "1/8"},
        }
    ]


def test_verify_says_what_it_found_in_order(book: str) -> None:
    with ledgers.open(book, read_only=True) as made:
        hash = made.head.hash
    result = run("verify", book)
    assert result.exit_code == 0 and result.stderr == ""
    assert result.stdout.splitlines() == [
        "budget.db: 8 entries, all in order",
        f"head: entry 8, {hash}",
        "witness: budget.db.witness saw entry 8",
        "signed: no; who can write it can rewrite it",
    ]


def change(book: str, *statements: str) -> None:
    with sqlite3.connect(book) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_verify_lists_every_problem_on_its_line(book: str) -> None:
    with sqlite3.connect(book) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    connection.close()
    answers = next(name for name in names if "answer" in name)
    scopes = next(name for name in names if "scope" in name)
    change(
        book,
        f"UPDATE {answers} SET content = x'00' WHERE content IS NOT NULL",
        f"UPDATE {scopes} SET state = replace(state, '1/4', '1/5') WHERE name = 'visits'",
    )
    result = run("verify", book)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert any("the scope 'visits' is not as that entry left it" in line for line in lines)
    assert any("entry 5: the stored answer is not the one that was released" in line for line in lines)
    assert len(set(lines)) == len(lines)
    assert all("changed outside of this library" in line for line in lines) and "in order" not in result.stdout
    assert "visits" in refused("show", book, code=1)


def test_a_missing_witness_is_found_and_made_again_only_if_told_so(book: str) -> None:
    Path("budget.db.witness").unlink()
    result = run("verify", book)
    assert result.exit_code == 1 and len(result.stdout.splitlines()) == 1 and "is missing" in result.stdout
    assert "is missing" in refused("show", book, code=1)
    assert not Path("budget.db.witness").exists()
    assert "made now" in done("verify", book, "--new-witness")
    assert "saw entry 8" in done("verify", book) and "budget.db" in done("show", book)
    assert run("verify", book, "--new-witness", "--no-witness").exit_code == 2


def test_a_ledger_that_is_wrong_gets_no_new_witness(book: str) -> None:
    Path("budget.db.witness").unlink()
    with sqlite3.connect(book) as connection:
        connection.execute("DELETE FROM " + next(
            name for (name,) in connection.execute("SELECT name FROM sqlite_master") if "answers" in name
        ))  # fmt: skip
    connection.close()
    assert run("verify", book, "--new-witness").exit_code == 1
    assert not Path("budget.db.witness").exists()


def test_a_witness_elsewhere_is_named_to_every_command() -> None:
    there = ("--witness", "elsewhere/seen")
    done("init", "budget.db", *there)
    done("define", "budget.db", "visits", "--budget", "pure 1", "--of", "unbounded", *there)
    assert "elsewhere/seen, saw entry 2" in done("show", "budget.db", *there)
    assert "is missing" in refused("show", "budget.db", code=1)
    assert "witness  none" in done("show", "budget.db", "--no-witness")
    assert run("show", "budget.db", "--no-witness", *there).exit_code == 2


def test_export_writes_charges_or_all_of_it(book: str) -> None:
    assert done("export", book, "out.csv") == "out.csv: 3 rows, one for each charge and scope\n"
    with Path("out.csv").open(newline="") as file:
        assert [row["cost"] for row in csv.DictReader(file)] == ["zcdp 1/8", "pure 1/4", "zcdp 1/8"]
    assert done("export", book, "out.json") == "out.json: 8 entries\n"
    assert "answers" not in json.loads(Path("out.json").read_text())
    done("export", book, "out.json", "--answers")
    assert len(json.loads(Path("out.json").read_text())["answers"]) == 2
    assert ".csv or .json" in refused("export", book, "out.txt")
    assert "bytes" in refused("export", book, "out.csv", "--answers")


def test_a_budget_is_changed_for_a_reason(book: str) -> None:
    said = done("budget", book, "visits", "zcdp 1", "--why", "the second study", "--by", "board")
    assert said == "'visits': from zcdp(1/2) to zcdp(1); zcdp(1/4) is spent, zcdp(3/4) is left\n"
    line = done("history", book, "--last", "1")
    assert "board" in line and "the second study" in line
    assert "cannot be lowered below" in refused("budget", book, "visits", "zcdp 1/5", "--why", "less")
    assert "measure" in refused("budget", book, "visits", "pure 1", "--why", "less")
    assert run("budget", book, "visits", "zcdp 2").exit_code == 2
    assert "why" in refused("budget", book, "visits", "zcdp 2", "--why", " ")


def test_a_scope_starts_over_when_somebody_says_so(book: str) -> None:
    said = done("renew", book, "sensors", "--why", "June", "--by", "ann")
    assert said == "'sensors' starts over: pure(1) is left; pure(1/4) was spent in its lifetime\n"
    assert "it never does" in refused("renew", book, "visits", "--why", "June")


def test_a_backup_comes_back_as_it_was_if_nothing_was_charged_since(book: str) -> None:
    assert done("backup", book, "copy.db").startswith("copy.db: 8 entries, up to ")
    assert "is there already" in refused("backup", book, "copy.db")
    assert "is still there" in refused("restore", "copy.db", book)
    Path(book).unlink()
    said = done("restore", "copy.db", book, "--why", "the disk failed")
    assert "nothing was lost" in said and "closed" not in said
    assert "left zcdp(1/4)" in done("show", book)


def test_a_restore_says_plainly_what_it_closed(book: str) -> None:
    done("backup", book, "copy.db")
    done("budget", book, "visits", "zcdp 1", "--why", "more")
    Path(book).unlink()
    assert "would be a refund" in refused("init", book, code=1)
    said = done("restore", "copy.db", book, "--why", "the disk failed", "--by", "ann").splitlines()
    assert said[:4] == [
        "restored budget.db from copy.db, up to entry 8",
        "the witness had seen entry 9: 1 entry is lost",
        "closed 'sensors': pure(1) counts as spent, pure(0) is left",
        "closed 'visits': zcdp(1/2) counts as spent, zcdp(0) is left",
    ]
    assert "the disk failed" in done("history", book, "--last", "1")
    assert done("verify", book)


def test_a_restore_without_a_witness_closes_everything(book: str) -> None:
    done("backup", book, "copy.db")
    said = done("restore", "copy.db", "new.db")
    assert "there was no witness, so nobody knows" in said and said.count("closed '") == 2


def test_pictures_are_drawn(book: str) -> None:
    assert done("plot", book, "out.png") == "out.png: 2 scopes\n"
    assert Path("out.png").read_bytes()[:4] == b"\x89PNG"
    assert done("plot", book, "out.svg", "--scope", "visits", "--over", "time") == "out.svg: 1 scope\n"
    assert "time (UTC)" in Path("out.svg").read_text() or "<svg" in Path("out.svg").read_text()
    assert ", ".join(PICTURES) in refused("plot", book, "out.txt")
    assert "no scope is called" in refused("plot", book, "out.png", "--scope", "nothing")
    assert "cannot be written" in refused("plot", book, "nowhere/out.png")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    from tests.tables.engines.postgres_server import running_server

    with running_server(durable=True) as url:
        yield url


def test_a_ledger_on_a_server_from_init_to_restore(server: str) -> None:
    import psycopg

    for name in ("first", "second"):
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE cli_{name}")
    url, other = (server.replace("/postgres?", f"/cli_{name}?") for name in ("first", "second"))
    assert "has no ledger yet" in refused("show", url)
    assert "made the ledger postgresql://" in done("init", url)
    done("define", url, "visits", "--budget", "zcdp 1/2", "--unit", "per patient")
    with ledgers.open(url) as made:
        made.commit(made.reserve(vm.zcdp("1/8"), scopes=["visits"], key="a", by="ann"), b"1")
    said = done("show", url)
    assert "PostgreSQL" in said and "fsync = on" in said and "spent zcdp(1/8), left zcdp(3/8)" in said
    assert "4 entries, all in order" in done("verify", url)
    assert "4 entries" in done("backup", url, "copy.db")
    (witness,) = Path("state", "viameter").iterdir()
    witness.unlink()
    # On a server each user has a witness from the first writing on, and looking makes none.
    assert "is not there yet; whoever writes makes it" in done("verify", url) and not witness.exists()
    assert "made now" in done("verify", url, "--new-witness") and witness.exists()
    assert "closed 'visits'" in done("restore", "copy.db", other)
    assert "left zcdp(0)" in done("show", other)


def test_a_server_that_is_not_there_is_one_line() -> None:
    assert "does not answer" in refused("show", "postgresql://nobody@/nothing?host=/nonexistent")
    assert "is not known" in refused("show", "mysql://nobody@localhost/nothing")


def verify_on_a_terminal(book: str, folder: Path) -> tuple[bytes, bytes]:
    """What is shown on a terminal, and what stdout has, of a process whose stderr alone is a terminal."""
    reader, terminal = os.openpty()
    stderr = os.dup(2)
    os.dup2(terminal, 2)
    os.environ["TERM"] = "xterm"
    with (folder / "stdout").open("wb") as file:
        os.dup2(file.fileno(), 1)
    os.chdir(folder)
    main(["ledger", "verify", book], standalone_mode=False)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(stderr, 2)
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # nobody has the terminal open any more
        while part := os.read(reader, 10_000):
            shown += part
    return shown, (folder / "stdout").read_bytes()


def test_the_progress_of_a_verification_is_for_terminals(book: str, tmp_path: Path) -> None:
    """On a terminal there is a bar on stderr, and stdout has the report alone."""
    shown, said = in_clean_process(verify_on_a_terminal, book, tmp_path)
    assert b"entries" in shown and b"8/8" in shown
    assert said.startswith(b"budget.db: 8 entries, all in order\n")
