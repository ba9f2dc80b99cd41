"""Ways around a ledger, each closed: files that move, copies that live on, rows that are put back."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.ledger.conftest import SPACE, new_database
from tests.processes import in_clean_process

import viameter as vm
from viameter import ledger as ledgers
from viameter.cli.main import main
from viameter.errors import LedgerBehind, LedgerTampered, LedgerUnavailable, OverBudget, ParameterError
from viameter.ledger import Ledger, SigningKey, copies, opening
from viameter.ledger.chain import Head
from viameter.ledger.exporting import export
from viameter.ledger.witness import Seen, Witness

ALL = vm.pure(1)


def made(path: Path | str, **options: Any) -> Ledger:
    ledger = ledgers.open(path, **options)
    ledger.define("visits", ALL, SPACE)
    return ledger


def spend(ledger: Ledger, loss: Any = ALL, **options: Any) -> bool:
    return ledger.reserve(loss, scopes=["visits"], by="ann", **options).new


def change(path: Path | str, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def change_on(location: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(location, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with made("budget.csv") as ledger:
        assert ledger.place == "budget.csv"
        os.chdir("other")
        spend(ledger)
        with pytest.raises(ParameterError, match="the ledger itself"):
            export(ledger, tmp_path / "budget.csv")
        head = ledger.head
    assert not list((tmp_path / "other").iterdir())
    seen = Witness(tmp_path / "budget.csv.witness").read()
    assert seen is not None and seen.head == head


def test_a_file_that_was_moved_is_not_charged(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    (tmp_path / "old").mkdir()
    with made(path) as ledger:
        ledgers.backup(ledger, tmp_path / "copy.db")
        for name in ("", "-wal", "-shm"):
            Path(f"{path}{name}").rename(tmp_path / "old" / f"budget.db{name}")
        with pytest.raises(LedgerBehind, match="is gone since it was opened"):
            spend(ledger)
        ledgers.restore(tmp_path / "copy.db", path)
        with pytest.raises(LedgerBehind, match="another file than the one that was opened"):
            spend(ledger)
        with ledgers.open(path) as restored:
            assert spend(restored)
        with pytest.raises(LedgerBehind, match="another file"):
            spend(ledger)


def test_a_file_that_is_moved_while_it_is_written_releases_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with made(path) as ledger:
        dialect = ledger.store.dialect  # type: ignore[attr-defined]
        with pytest.raises(LedgerBehind, match="is gone"), dialect.alone():
            path.rename(tmp_path / "moved.db")


def test_a_file_with_two_names_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "budget.db", tmp_path / "other.db"
    with made(path, witness=tmp_path / "w") as ledger:
        other.hardlink_to(path)
        with pytest.raises(LedgerUnavailable, match="hard links"):
            spend(ledger)
        for name in (path, other):
            with pytest.raises(LedgerUnavailable, match="hard links"):
                ledgers.open(name, witness=tmp_path / "w")
        other.unlink()
        assert spend(ledger)


def test_a_witness_tells_two_ledgers_apart(tmp_path: Path) -> None:
    witness = Witness(tmp_path / "w")

    def has(head: Head) -> bool:
        return head.hash == f"{head.seq}" * 64

    for seq in (4, 5):
        witness.advance(Seen("a", Head(seq, f"{seq}" * 64)), has)
    witness.advance(Seen("a", Head(3, "3" * 64)), has)  # another process was faster
    witness.advance(Seen("a", Head(5, "5" * 64)), has)
    for other in (Seen("b", Head(6, "6" * 64)), Seen("a", Head(5, "6" * 64)), Seen("a", Head(4, "5" * 64))):
        with pytest.raises(LedgerBehind, match="saw another"):
            witness.advance(other, lambda head, other=other: head == other.head)  # type: ignore[misc]
    assert witness.read() == Seen("a", Head(5, "5" * 64))


def test_a_ledger_that_lives_elsewhere_is_not_restored_with_its_witness(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with made(path) as ledger:
        ledgers.backup(ledger, tmp_path / "copy.db")
        with pytest.raises(LedgerUnavailable, match="two of them would spend"):
            ledgers.restore(tmp_path / "copy.db", tmp_path / "second.db", witness=f"{path}.witness")
    assert not (tmp_path / "second.db").exists()
    path.rename(tmp_path / "away.db")
    assert not ledgers.restore(tmp_path / "copy.db", tmp_path / "second.db", witness=f"{path}.witness").closed


def test_a_witness_that_is_a_link_stays_one(tmp_path: Path) -> None:
    path, link = tmp_path / "budget.db", tmp_path / "budget.db.witness"
    (tmp_path / "disk").mkdir()
    link.symlink_to(tmp_path / "disk" / "w")
    with made(path) as ledger:
        ledgers.backup(ledger, tmp_path / "copy.db")
    path.unlink()
    ledgers.restore(tmp_path / "copy.db", path)
    with ledgers.open(path) as ledger:
        spend(ledger)
        head = ledger.head
    seen = Witness(tmp_path / "disk" / "w").read()
    assert link.is_symlink() and seen is not None and seen.head == head


@pytest.mark.parametrize("wrong", [{"by": "ann\n"}, {"why": "x" * 10_001}, {"why": 3}])
def test_what_a_restore_is_told_is_read_before_anything_is_copied(
    location: str, opened: Callable[..., Ledger], tmp_path: Path, wrong: dict[str, Any], server: str
) -> None:
    ledger = opened()
    ledger.define("visits", ALL, SPACE)
    ledgers.backup(ledger, tmp_path / "copy.db")
    target = new_database(server) if "://" in location else str(tmp_path / "new.db")
    with pytest.raises(ParameterError):
        ledgers.restore(tmp_path / "copy.db", target, **wrong)
    with pytest.raises(LedgerUnavailable):
        ledgers.open(target, create=False)


def test_a_restore_closes_in_the_transaction_that_copies(
    location: str, opened: Callable[..., Ledger], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    ledger = opened()
    ledger.define("visits", ALL, SPACE)
    ledgers.backup(ledger, tmp_path / "copy.db")
    target = new_database(server) if "://" in location else str(tmp_path / "new.db")
    with monkeypatch.context() as patch:
        patch.setattr(copies, "Close", lambda **_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ledgers.restore(tmp_path / "copy.db", target, witness=False)
    if "://" in location:
        with ledgers.open(target, witness=False) as nothing:
            assert nothing.head.seq == 1 and nothing.scopes() == ()
        target = new_database(server)
    else:
        assert not list(tmp_path.glob("new.db*"))
    assert ledgers.restore(tmp_path / "copy.db", target, witness=False).closed
    with ledgers.open(target, witness=False) as restored:
        assert ledgers.verify(restored).ok and restored.head.seq == 3
        with pytest.raises(OverBudget):
            spend(restored, vm.pure("1/1000"))


def test_a_restore_signs_what_it_adds(tmp_path: Path) -> None:
    key = SigningKey.make(tmp_path / "key.pem")
    with made(tmp_path / "budget.db", signing_key=key) as ledger:
        ledgers.backup(ledger, tmp_path / "copy.db")
    with pytest.raises(ParameterError, match="signing_key"):
        ledgers.restore(tmp_path / "copy.db", tmp_path / "new.db")
    assert ledgers.restore(tmp_path / "copy.db", tmp_path / "new.db", signing_key=key).closed
    with ledgers.open(tmp_path / "new.db", signing_key=key) as restored:
        assert ledgers.verify(restored, public_key=key.public).ok


def test_threads_make_ledgers_at_once(tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def make(number: int) -> None:
        try:
            made(tmp_path / f"{number}.db").close()
        except BaseException as problem:
            failed.append(problem)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def rows(path: Path) -> tuple[int, str]:
    with closing(sqlite3.connect(path)) as connection:
        seq, state = connection.execute("SELECT seq, state FROM ledger_scopes").fetchone()
        return seq, state


@pytest.mark.parametrize("with_number", [True, False])
def test_a_scope_that_is_put_back_is_not_charged_again(tmp_path: Path, with_number: bool) -> None:
    path = tmp_path / "budget.db"
    with made(path) as ledger:
        seq, state = rows(path)
        spend(ledger)
        number = f"seq = {seq}, " if with_number else ""
        change(path, f"UPDATE ledger_scopes SET {number}state = '{state}'")
        with pytest.raises(LedgerTampered, match=r"was put back|not as that entry left it"):
            spend(ledger)
        assert ledger.head.seq == 3
        change(path, "DELETE FROM ledger_scopes")
        with pytest.raises(LedgerTampered, match="was put back"):
            ledger.define("visits", ALL, SPACE)


def test_a_scope_that_another_process_charged_is_seen_to_stand_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with made(path) as one, ledgers.open(path) as two:
        spend(one, vm.pure("1/4"))
        spend(two, vm.pure("1/4"))
        _, state = rows(path)
        assert spend(one, vm.pure("1/4")) and one.scope("visits").spent == vm.pure("3/4")
        change(path, f"UPDATE ledger_scopes SET state = '{state}'")
        with pytest.raises(LedgerTampered, match="not as that entry left it"):
            spend(two, vm.pure("1/4"))


UNDO = "CREATE TRIGGER t AFTER UPDATE ON ledger_scopes BEGIN UPDATE ledger_scopes SET state = old.state; END"


@pytest.mark.parametrize(
    "statement",
    [
        UNDO,
        "CREATE TABLE extra (x)",
        "CREATE VIEW extra AS SELECT * FROM ledger_scopes",
        "CREATE INDEX extra ON ledger_scopes (seq)",
        "ALTER TABLE ledger_entries ADD COLUMN more TEXT",
        "INSERT INTO ledger_version VALUES ('0007')",
    ],
)
def test_what_was_added_to_a_file_is_found(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "budget.db"
    made(path).close()
    with ledgers.open(path) as ledger:
        assert ledgers.verify(ledger).ok
        change(path, statement)
        assert not ledgers.verify(ledger).ok
    with pytest.raises(LedgerTampered, match="there is"):
        ledgers.open(path)
    assert CliRunner().invoke(main, ["ledger", "verify", str(path)]).exit_code == 1


def test_a_trigger_that_comes_later_does_not_refund(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with made(path) as ledger:
        change(path, UNDO)
        spend(ledger)
        with pytest.raises(LedgerTampered):
            spend(ledger)


def test_analyzing_a_file_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    made(path).close()
    change(path, "ANALYZE")
    with ledgers.open(path) as ledger:
        assert ledgers.verify(ledger).ok


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE ledger_entries SET UNLOGGED",
        "CREATE TRIGGER t BEFORE UPDATE ON ledger_scopes FOR EACH ROW EXECUTE FUNCTION undo()",
        "CREATE RULE r AS ON UPDATE TO ledger_scopes DO INSTEAD NOTHING",
        "ALTER TABLE ledger_scopes ENABLE ROW LEVEL SECURITY",
        "CREATE TABLE child () INHERITS (ledger_scopes)",
        "ALTER TABLE ledger_head ADD COLUMN more TEXT",
    ],
)
def test_what_was_added_on_a_server_is_found(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    location = new_database(server)
    made(location).close()
    change_on(location, "CREATE TABLE of_somebody_else (x INT)")
    with ledgers.open(location) as ledger:
        assert ledgers.verify(ledger).ok
    undo = "CREATE FUNCTION undo() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN old; END'"
    change_on(location, undo, statement)
    with pytest.raises(LedgerTampered, match="there is"):
        ledgers.open(location)
    with ledgers.Ledger(lambda: _store(location), read_only=True) as ledger:
        assert not ledgers.verify(ledger).ok


def _store(location: str) -> Any:
    from viameter.ledger.stores.sql import SQLStore

    return SQLStore(opening.dialect_of(location))


def test_half_of_a_pair_of_surrogates_is_exported(tmp_path: Path) -> None:
    with made(tmp_path / "budget.db") as ledger:
        spend(ledger, label="\ud800")
        assert export(ledger, tmp_path / "out.csv") == 1 and export(ledger, tmp_path / "out.json") == 3
    assert "\\ud800" in (tmp_path / "out.csv").read_text(encoding="utf-8")


def test_an_unexpected_error_of_the_command_is_not_taken_for_tampering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "budget.db").close()
    monkeypatch.setattr(ledgers, "history", lambda *_, **__: 1 / 0)
    assert CliRunner().invoke(main, ["ledger", "history", str(tmp_path / "budget.db")]).exit_code == 2


def test_the_witness_of_a_server_does_not_depend_on_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def name(url: str) -> str:
        found = opening.find_witness(url, True)
        assert found is not None
        return found.path.name

    first = name("postgresql://ann@db/budgets")
    for same in (
        "postgresql://ann:secret@db/budgets",
        "postgres://ann@DB:5432/budgets?password=secret",
        "postgresql+psycopg://ann@/budgets?host=db&sslmode=require",
    ):
        assert name(same) == first
    for other in ("bob@db/budgets", "ann@db2/budgets", "ann@db:5433/budgets", "ann@db/others", "ann@db/budgets?port=1"):
        assert name(f"postgresql://{other}") != first


def test_a_ledger_is_not_begun_again_with_another_key(tmp_path: Path) -> None:
    location, key, other = (str(tmp_path / name) for name in ("budget.db", "key.pem", "other.pem"))
    run = CliRunner().invoke
    assert run(main, ["ledger", "init", location, "--sign-with", key]).exit_code == 0
    assert run(main, ["ledger", "init", location, "--sign-with", key]).exit_code == 0
    SigningKey.make(other)
    for wrong in (other, str(tmp_path / "none.pem")):
        assert run(main, ["ledger", "init", location, "--sign-with", wrong]).exit_code == 2
    assert not (tmp_path / "none.pem").exists()


def test_many_scopes_are_looked_at_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from viameter.ledger.stores.sql import SQLStore

    path = tmp_path / "budget.db"
    with ledgers.open(path) as ledger:
        for number in range(40):
            ledger.define(f"scope {number}", ALL, SPACE)
    asked: list[str] = []
    read = SQLStore._rows

    def counted(self: SQLStore, wanted: Any) -> Any:
        asked.append(str(wanted))
        return read(self, wanted)

    monkeypatch.setattr(SQLStore, "_rows", counted)
    ledgers.open(path).close()
    assert 0 < len(asked) < 20


@pytest.mark.parametrize("location", ["postgresql:/ann:secret@db/budgets", "postgres:secret", "PostgreSQL:secret@db"])
def test_a_url_that_is_misspelled_is_no_path(location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError) as found:
        ledgers.open(location)
    assert "secret" not in str(found.value) and not list(tmp_path.iterdir())
    opening.dialect_of("postgres/a:b.db")


def open_and_close(path: Path) -> None:
    ledgers.open(path).close()


def test_to_open_a_ledger_again_lets_go_of_no_locks(tmp_path: Path) -> None:
    """A process that opens and closes a file loses all of its POSIX locks on it, and with them what keeps the WAL."""
    path = tmp_path / "budget.db"
    with ledgers.open(path) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        ledgers.open(path).close()
        in_clean_process(open_and_close, path)
        ledger.reserve(vm.pure("1/10"), scopes=["visits"])
        head = ledger.head
    with ledgers.open(path) as again:
        assert again.head == head and again.scope("visits").spent == vm.pure("1/10")


def test_a_request_names_so_many_scopes_and_no_more() -> None:
    with pytest.raises(ParameterError, match="1000 of them at most"):
        ledgers.in_memory().reserve(dict.fromkeys((f"s{number}" for number in range(1001)), vm.pure("1/10")))


@pytest.mark.parametrize("what", ["content = x'3332'", "content = x''", "content = NULL", "number = 1"])
def test_an_answer_that_was_changed_in_the_table_is_not_released(tmp_path: Path, what: str) -> None:
    location = tmp_path / "budget.db"
    asked = SPACE >> vm.count() >> vm.laplace(scale=10)
    with ledgers.open(location) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        meter = ledger.meter(SPACE, [1, 2, 3], scopes=["visits"], by="ann")
        first = meter(asked, key="k")
        change(location, f"UPDATE ledger_answers SET {what}")
        for again in (lambda: ledger.replay("k", by="ann"), lambda: meter(asked, key="k")):
            with pytest.raises(LedgerTampered, match="not the one that was released"):
                again()
        assert ledger.scope("visits").spent == vm.pure("1/10") and first is not None


def test_verify_finds_a_budget_that_was_given_back_in_the_table(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with made(path) as ledger:
        _, unspent = rows(path)
        spend(ledger, vm.pure("1/2"))
        seq, spent = rows(path)
        for state in (unspent, spent.replace("1/2", "1/4")):
            change(path, f"UPDATE ledger_scopes SET state = '{state}'")
            found = ledgers.verify(ledger)
            assert not found.ok and "not as that entry left it" in str(found), state
        change(path, f"UPDATE ledger_scopes SET state = '{spent}'")
        assert ledgers.verify(ledger).ok and rows(path)[0] == seq
