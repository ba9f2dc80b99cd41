"""Backups while others write, and restores that cannot refund."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import SPACE, new_database

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import (
    LedgerBehind,
    LedgerError,
    LedgerTampered,
    LedgerUnavailable,
    OverBudget,
    ParameterError,
)
from viameter.ledger import Ledger, SigningKey, copies
from viameter.ledger.witness import Witness

WARDS = {"granularity": "unbounded", "cut": {"kind": "partition", "parts": 2}, "names": ["A", "B"]}


def charge(ledger: Ledger, times: int = 1, **options: Any) -> None:
    for _ in range(times):
        ledger.commit(ledger.reserve(vm.pure("1/100"), scopes=["visits"], **options), b"1")


def lose(location: str) -> None:
    """Lose the database, and keep the witness."""
    if "://" not in location:
        Path(location).unlink()
        return
    import psycopg

    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")


def is_file(location: str) -> bool:
    return "://" not in location


def test_a_backup_is_a_file_with_the_same_entries(ledger: Ledger, tmp_path: Path) -> None:
    charge(ledger, 3)
    told: list[int] = []
    head = ledgers.backup(ledger, tmp_path / "copy.db", progress=told.append)
    assert head == ledger.head and told == sorted(told) and told[-1] > head.seq
    assert sorted(one.name for one in tmp_path.glob("copy.db*")) == ["copy.db"]
    with ledgers.open(tmp_path / "copy.db", read_only=True, witness=False) as copy:
        assert list(copy.entries()) == list(ledger.entries()) and copy.scopes() == ledger.scopes()
        assert ledgers.verify(copy).ok


def test_a_backup_is_not_opened_as_a_ledger_by_mistake(ledger: Ledger, tmp_path: Path) -> None:
    charge(ledger)
    ledgers.backup(ledger, tmp_path / "copy.db")
    content = (tmp_path / "copy.db").read_bytes()
    with pytest.raises(LedgerBehind, match="if this is a backup, `viameter ledger restore` brings it back"):
        ledgers.open(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_bytes() == content and not (tmp_path / "copy.db.witness").exists()


def test_a_backup_replaces_nothing_and_half_a_backup_is_none(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "copy.db").write_bytes(b"something")
    with pytest.raises(LedgerUnavailable, match="is there already"):
        ledgers.backup(ledger, tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_bytes() == b"something"
    with pytest.raises(LedgerUnavailable, match="cannot be written: No such file"):
        ledgers.backup(ledger, tmp_path / "missing" / "copy.db")

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(copies, "check_end", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ledgers.backup(ledger, tmp_path / "other.db")
    assert not list(tmp_path.glob("other.db*"))
    assert ledgers.backup(ledger, tmp_path / "other.db") == ledger.head


def test_a_ledger_in_memory_has_no_backup(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="ends with its process"):
        ledgers.backup(ledgers.in_memory(), tmp_path / "copy.db")


def test_a_backup_is_consistent_while_others_write(
    ledger: Ledger, opened: Callable[..., Ledger], tmp_path: Path
) -> None:
    stop = threading.Event()
    failed: list[BaseException] = []
    other = opened()

    def write() -> None:
        try:
            for number in range(10_000):
                if stop.is_set():
                    return
                other.commit(other.reserve(vm.pure("1/100000"), scopes=["visits"], key=f"{number}"), b"1")
        except BaseException as problem:
            failed.append(problem)

    def wait(_: int) -> None:
        # Between two tables: an entry is added that the copy must not have half of.
        at = ledger.head
        for _ in range(1000):
            if ledger.head != at or failed:
                return
            stop.wait(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            head = ledgers.backup(ledger, tmp_path / f"{number}.db", progress=wait)
            assert ledger.head.seq > head.seq
            with ledgers.open(tmp_path / f"{number}.db", read_only=True, witness=False) as copy:
                assert copy.head == head and ledgers.verify(copy).ok
    finally:
        stop.set()
        writer.join()
    assert not failed


def test_a_ledger_is_opened_and_verified_while_others_write(ledger: Ledger, opened: Callable[..., Ledger]) -> None:
    stop = threading.Event()
    failed: list[BaseException] = []
    other = opened()

    def write() -> None:
        try:
            while not stop.is_set():
                other.commit(other.reserve(vm.pure("1/100000"), scopes=["visits"], certificate="{}"), b"1")
        except BaseException as problem:
            failed.append(problem)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            seen = ledger.head.seq
            reader = opened()
            verified = ledgers.verify(reader)
            assert verified.ok and verified.entries >= seen, verified
    finally:
        stop.set()
        writer.join()
    assert not failed and ledgers.verify(ledger).ok


def test_a_restore_of_all_there_was_closes_nothing_in_a_file(tmp_path: Path) -> None:
    location = tmp_path / "budget.db"
    with ledgers.open(location) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        charge(ledger, 3)
        ledger.commit(ledger.reserve(vm.pure("1/100"), scopes=["visits"], key="a", by="ann"), b"42")
        head = ledgers.backup(ledger, tmp_path / "copy.db")
    lose(str(location))
    restored = ledgers.restore(tmp_path / "copy.db", location, by="custodian", why="the disk broke")
    assert (restored.head, restored.seen, restored.closed) == (head, head, False)
    with ledgers.open(location) as ledger:
        assert ledger.scope("visits").left == vm.pure("96/100") and ledgers.verify(ledger).ok
        assert ledger.replay("a", by="ann").content == b"42"
        last = list(ledger.entries())[-1].record
        assert (last["kind"], last["by"], last["why"]) == ("restore", "custodian", "the disk broke")
        charge(ledger)


def test_a_restore_of_an_older_backup_closes_every_scope_and_part(
    ledger: Ledger, location: str, opened: Callable[..., Ledger], tmp_path: Path
) -> None:
    ledger.define("wards", vm.pure(1), SPACE, parts=WARDS)
    ledger.define("other", vm.zcdp("1/2"), SPACE)
    ledger.reserve(vm.pure("1/10"), scopes=["wards"], part="A")
    head = ledgers.backup(ledger, tmp_path / "copy.db")
    charge(ledger, 2)
    seen = ledger.head
    ledger.close()
    lose(location)
    with pytest.raises(LedgerBehind):
        opened()
    if not is_file(location):
        lose(location)  # what the refused opening made
    restored = ledgers.restore(tmp_path / "copy.db", location)
    assert (restored.head, restored.seen, restored.closed) == (head, seen, True)
    back = opened()
    assert ledgers.verify(back).ok
    for scope in back.scopes():
        assert scope.spent == scope.cap and scope.left == scope.measure.zero
    for part in ("A", "B", None):
        with pytest.raises(OverBudget):
            back.reserve(vm.pure("1/1000000"), scopes=["wards"], part=part)
    with pytest.raises(OverBudget):
        back.reserve(vm.zcdp("1/1000000"), scopes=["other"])
    with pytest.raises(OverBudget):
        charge(back)
    # It may have been raised to 2, and all of that spent, by entries that are gone: a raise to 2 would be a refund.
    with pytest.raises(LedgerError, match="stays closed"):
        back.set_budget("visits", vm.pure(2), why="the board's decision after the loss")
    assert not back.scope("visits").lifetime.is_finite and back.scope("visits").counted == vm.pure(1)
    back.define("visits after the loss", vm.pure(1), SPACE, why="the board's decision")
    back.reserve(vm.pure("3/100"), scopes=["visits after the loss"])
    assert ledgers.verify(back).ok
    assert opened().head == back.head


def test_without_a_witness_nobody_knows_what_was_lost(tmp_path: Path) -> None:
    location = tmp_path / "budget.db"
    with ledgers.open(location) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        ledgers.backup(ledger, tmp_path / "copy.db")
    lose(str(location))
    (tmp_path / "budget.db.witness").unlink()
    restored = ledgers.restore(tmp_path / "copy.db", location)
    assert restored.seen is None and restored.closed
    with ledgers.open(location) as ledger:
        assert ledger.scope("visits").left == vm.pure(0)
        seen = Witness(tmp_path / "budget.db.witness").read()
        assert seen is not None and seen.head == ledger.head


def test_on_a_server_no_witness_knows_what_others_charged(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_database(server)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "ann"))
    with ledgers.open(url) as ann:
        ann.define("visits", vm.pure(1), SPACE)
        ledgers.backup(ann, tmp_path / "copy.db")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "bob"))
    with ledgers.open(url) as bob:
        charge(bob, 50)
    lose(url)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "ann"))
    restored = ledgers.restore(tmp_path / "copy.db", url)
    assert restored.seen == restored.head and restored.closed  # hers saw all of the backup, and nothing of his
    with ledgers.open(url) as ann:
        assert ann.scope("visits").left == vm.pure(0)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "bob"))
    with pytest.raises(LedgerBehind):
        ledgers.open(url)


def test_on_a_server_a_backup_without_scopes_may_have_lost_all_of_them(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_database(server)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "ann"))
    with ledgers.open(url) as ann:
        ledgers.backup(ann, tmp_path / "copy.db")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "bob"))
    with ledgers.open(url) as bob:
        bob.define("visits", vm.pure(1), SPACE)
        charge(bob, 50)
    lose(url)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "ann"))
    restored = ledgers.restore(tmp_path / "copy.db", url)
    assert restored.seen == restored.head and restored.closed
    with ledgers.open(url) as ann:
        # There was no scope to close, and hers saw all of the backup: only the entry says that others may have charged.
        assert ann.scopes() == () and ann.has_lost_entries() and ledgers.verify(ann).ok
        with pytest.raises(LedgerError, match="may have been among them"):
            vm.open({"age": [1]}, unit=vm.per_row(), budget=vm.pure(1), ledger=ann, dataset="visits")


def test_a_file_without_scopes_whose_witness_saw_no_more_has_lost_nothing(tmp_path: Path) -> None:
    with ledgers.open(tmp_path / "budget.db") as ledger:
        ledgers.backup(ledger, tmp_path / "copy.db")
    lose(str(tmp_path / "budget.db"))
    assert not ledgers.restore(tmp_path / "copy.db", tmp_path / "budget.db").closed
    with ledgers.open(tmp_path / "budget.db") as ledger:
        assert not ledger.has_lost_entries() and ledgers.verify(ledger).ok


@pytest.mark.parametrize(
    ("lost", "closed", "has_lost"),
    [
        ({"backup": 2, "witness": 2}, [], False),
        ({"backup": 2, "witness": 2}, ["visits"], True),
        ({"backup": 2, "witness": 3}, [], True),
        ({"backup": 2, "witness": None}, [], True),
        ({"backup": 2, "witness": 2, "exact": True}, [], False),
        ({"backup": 2, "witness": 2, "exact": True}, ["visits"], True),
        ({"backup": 2, "witness": 2, "exact": False}, [], True),
    ],
)
def test_an_entry_tells_whether_something_was_lost(
    ledger: Ledger, lost: dict[str, Any], closed: list[str], has_lost: bool
) -> None:
    """Also one that was written before entries said whether a restore was exact."""
    assert not ledger.has_lost_entries()
    ledger.close_scopes(lost=lost, why="a disk was lost", names=closed)
    assert ledger.has_lost_entries() == has_lost


@pytest.mark.parametrize("signed", [False, True])
def test_a_backup_moves_between_databases(
    ledger: Ledger, location: str, server: str, tmp_path: Path, signed: bool
) -> None:
    """From a file to a server and from a server to a file: with signatures and without."""
    key = SigningKey.make(tmp_path / "key.pem") if signed else None
    if signed:
        ledger.close()
        location = str(tmp_path / "signed.db") if is_file(location) else new_database(server)
        ledger = ledgers.open(location, signing_key=key)
        ledger.define("visits", vm.pure(1), SPACE)
    with ledger:
        charge(ledger, 2)
        entries = list(ledger.entries())
        ledgers.backup(ledger, tmp_path / "copy.db")
    target = new_database(server) if is_file(location) else str(tmp_path / "moved.db")
    if signed:
        with pytest.raises(ParameterError, match="no key was given"):
            ledgers.restore(tmp_path / "copy.db", target)
    assert ledgers.restore(tmp_path / "copy.db", target, signing_key=key).closed
    with ledgers.open(target, signing_key=key) as moved:
        assert list(moved.entries())[:-1] == entries
        assert ledgers.verify(moved, public_key=None if key is None else key.public).ok
        moved.define("moved visits", vm.pure(1), SPACE, why="moved")
        moved.commit(moved.reserve(vm.pure("1/10"), scopes=["moved visits"]), b"1")


def test_a_backup_of_another_ledger_is_refused(tmp_path: Path) -> None:
    for name in ("one.db", "two.db"):
        with ledgers.open(tmp_path / name) as ledger:
            ledger.define("visits", vm.pure(1), SPACE)
            ledgers.backup(ledger, tmp_path / f"copy of {name}")
    lose(str(tmp_path / "one.db"))
    with pytest.raises(LedgerBehind, match="a backup of another ledger"):
        ledgers.restore(tmp_path / "copy of two.db", tmp_path / "one.db")
    assert not (tmp_path / "one.db").exists()


def test_a_restore_replaces_nothing(
    ledger: Ledger, location: str, opened: Callable[..., Ledger], tmp_path: Path
) -> None:
    ledgers.backup(ledger, tmp_path / "copy.db")
    charge(ledger)
    head = ledger.head
    with pytest.raises(LedgerUnavailable, match=r"is still there|has entries"):
        ledgers.restore(tmp_path / "copy.db", location)
    assert opened().head == head and ledgers.verify(ledger).ok
    if is_file(location):
        (tmp_path / "note.txt").write_text("something else")
        with pytest.raises(LedgerUnavailable, match="is still there"):
            ledgers.restore(tmp_path / "copy.db", tmp_path / "note.txt")
        assert (tmp_path / "note.txt").read_text() == "something else"


def test_a_backup_that_was_changed_is_not_restored(tmp_path: Path) -> None:
    location = tmp_path / "budget.db"
    with ledgers.open(location) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        charge(ledger)
        ledgers.backup(ledger, tmp_path / "copy.db")
    lose(str(location))
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        connection.execute("UPDATE ledger_answers SET content = x'32'")
        connection.commit()
    with pytest.raises(LedgerTampered, match="entry 4: the stored answer"):
        ledgers.restore(tmp_path / "copy.db", location)
    assert not location.exists()


def test_a_restore_that_is_cut_off_leaves_a_ledger_that_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = tmp_path / "budget.db"
    with ledgers.open(location) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        ledgers.backup(ledger, tmp_path / "copy.db")
        charge(ledger, 50)
    lose(str(location))
    with monkeypatch.context() as patch:
        patch.setattr(Witness, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ledgers.restore(tmp_path / "copy.db", location)
    with pytest.raises(LedgerBehind, match="an older copy forgets"):
        ledgers.open(location)
    lose(str(location))
    for beside in ("-wal", "-shm"):
        Path(f"{location}{beside}").unlink(missing_ok=True)
    assert ledgers.restore(tmp_path / "copy.db", location).closed


def test_a_file_that_is_copied_with_its_witness_goes_on_elsewhere(tmp_path: Path) -> None:
    with ledgers.open(tmp_path / "budget.db") as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        charge(ledger)
    (tmp_path / "moved").mkdir()
    for name in ("budget.db", "budget.db.witness"):
        shutil.move(tmp_path / name, tmp_path / "moved" / name)
    with ledgers.open(tmp_path / "moved" / "budget.db") as ledger:
        charge(ledger)
        assert ledgers.verify(ledger).ok
