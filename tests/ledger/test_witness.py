"""The witness: what it saw is never forgotten, and a ledger that lacks it is refused."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import SPACE
from tests.processes import alone, results_of

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerBehind, LedgerUnavailable
from viameter.ledger.chain import Head
from viameter.ledger.witness import Seen, Witness

PLACE = 256


def seen(seq: int, id: str = "a") -> Seen:
    return Seen(id, Head(seq, f"{seq:064x}"))


def ours(head: Head) -> bool:
    """Whether a ledger has a head whose entries are all as `seen` has them."""
    return head.hash == f"{head.seq:064x}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with a few entries."""
    made = tmp_path / "budget.db"
    with ledgers.open(made) as ledger:
        ledger.define("visits", vm.pure(1), SPACE)
        charge(ledger, 3)
    return made


def charge(ledger: ledgers.Ledger, times: int) -> None:
    for _ in range(times):
        ledger.commit(ledger.reserve(vm.pure("1/100"), scopes=["visits"]), b"1")


def witness_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.witness")


def test_it_remembers_the_last_head_and_writes_its_places_in_turn(tmp_path: Path) -> None:
    witness = Witness(tmp_path / "folder" / "w")
    assert witness.read() is None
    contents = []
    for number in range(1, 5):
        witness.advance(seen(number), ours)
        assert witness.read() == seen(number)
        contents.append(witness.path.read_bytes())
    assert [len(content) for content in contents] == [PLACE, 2 * PLACE, 2 * PLACE, 2 * PLACE]
    assert contents[2][PLACE:] == contents[1][PLACE:] and contents[3][:PLACE] == contents[2][:PLACE]


def test_it_never_goes_back(tmp_path: Path) -> None:
    witness = Witness(tmp_path / "w")
    for number in (4, 5):
        witness.advance(seen(number), ours)
    before = witness.path.read_bytes()
    for number in (3, 5, 4, 1):
        witness.advance(seen(number), ours)
        assert witness.read() == seen(5) and witness.path.read_bytes() == before


@pytest.mark.parametrize("at", range(0, PLACE, 37))
def test_a_write_that_is_cut_off_leaves_what_was_seen_before(tmp_path: Path, at: int) -> None:
    witness = Witness(tmp_path / "w")
    for number in (1, 2, 3):
        witness.advance(seen(number), ours)
    before = witness.path.read_bytes()
    witness.advance(seen(4), ours)
    after = witness.path.read_bytes()
    witness.path.write_bytes(before[:PLACE] + after[PLACE : PLACE + at] + before[PLACE + at :])
    assert witness.read() in (seen(3), seen(4))
    witness.advance(seen(5), ours)
    assert witness.read() == seen(5)


@pytest.mark.parametrize("content", [b"", bytes(PLACE), b"viameter-witness/1 a 1", bytes(20)])
def test_a_first_write_that_is_cut_off_saw_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "budget.db"
    ledgers.open(path).close()
    witness_of(path).write_bytes(content)
    with ledgers.open(path) as ledger:  # it has its first entry and nothing that could be forgotten
        ledger.define("visits", vm.pure(1), SPACE)
        assert Witness(witness_of(path)).read() == Seen(ledger.id, ledger.head)


@pytest.mark.parametrize("content", [b"", b"viameter-witness/1 a 1"])
def test_a_ledger_that_was_charged_does_not_go_on_without_what_its_witness_saw(path: Path, content: bytes) -> None:
    witness_of(path).write_bytes(content)
    with pytest.raises(LedgerBehind, match="is missing"):
        ledgers.open(path)


def test_a_damaged_witness_is_refused(path: Path) -> None:
    content = bytearray(witness_of(path).read_bytes())
    content[30] ^= 1
    witness_of(path).write_bytes(content)
    ledgers.open(path).close()  # the other place is enough to see that nothing older was put there
    content[PLACE + 30] ^= 1
    content[30] ^= 2
    witness_of(path).write_bytes(content)
    for options in ({}, {"new_witness": True}, {"read_only": True}):
        with pytest.raises(LedgerBehind, match="is damaged"):
            ledgers.open(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", ["-1", "1.5", "x", "²"])
def test_a_place_whose_number_is_none_is_not_read(tmp_path: Path, number: str) -> None:
    from viameter.ledger.chain import digest

    said = f"viameter-witness/1 a {number} {'0' * 64}"
    (tmp_path / "w").write_bytes(f"{said} {digest(said)[:16]}".encode())
    assert Witness(tmp_path / "w").read() is None


def test_an_older_copy_is_refused_and_the_text_says_how_to_go_on(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "old")
    with ledgers.open(path) as ledger:
        charge(ledger, 1)
    (tmp_path / "old").replace(path)
    for options in ({}, {"new_witness": True}, {"read_only": True}):
        with pytest.raises(LedgerBehind, match=r"ends at entry 8, and its witness saw entry 10.*ledger restore"):
            ledgers.open(path, **options)  # type: ignore[arg-type]


def test_an_older_copy_that_went_on_is_refused(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "old")
    with ledgers.open(path) as ledger:
        charge(ledger, 1)
    (tmp_path / "old").replace(path)
    with ledgers.open(path, witness=False) as ledger:
        charge(ledger, 2)
    with pytest.raises(LedgerBehind, match=r"entry 10 .* is not the one that its witness saw"):
        ledgers.open(path)


def test_another_ledger_in_its_place_is_refused(path: Path, tmp_path: Path) -> None:
    with ledgers.open(tmp_path / "other.db") as other:
        other.define("visits", vm.pure(1), SPACE)
        charge(other, 9)
    (tmp_path / "other.db").replace(path)
    with pytest.raises(LedgerBehind, match="another ledger than the one that its witness saw"):
        ledgers.open(path, new_witness=True)


def test_a_ledger_that_is_gone_or_was_emptied_is_not_made_anew(path: Path) -> None:
    path.unlink()
    with pytest.raises(LedgerBehind, match="is gone, and its witness"):
        ledgers.open(path)
    assert not path.exists()
    path.write_bytes(b"")
    with pytest.raises(LedgerBehind, match="is gone, and its witness"):
        ledgers.open(path)
    assert path.read_bytes() == b""


def test_a_ledger_whose_tables_were_made_anew_is_refused(path: Path) -> None:
    from viameter.ledger.opening import dialect_of
    from viameter.ledger.stores.sql import SQLStore

    path.unlink()
    store = SQLStore(dialect_of(path))
    store.prepare(create=True)
    store.close()
    with pytest.raises(LedgerBehind, match="has no entries, and its witness saw entry 8: it was emptied"):
        ledgers.open(path)


def test_a_witness_that_is_missing_is_made_only_by_somebody_who_says_so(path: Path) -> None:
    witness_of(path).unlink()
    with pytest.raises(LedgerBehind, match="new_witness=True"):
        ledgers.open(path)
    assert not witness_of(path).exists()
    with ledgers.open(path, new_witness=True) as ledger:
        assert Witness(witness_of(path)).read() == Seen(ledger.id, ledger.head)
    ledgers.open(path).close()


def test_reading_writes_no_witness(path: Path) -> None:
    before = witness_of(path).read_bytes()
    with ledgers.open(path, witness=False) as ledger:
        charge(ledger, 1)
    with ledgers.open(path, read_only=True) as ledger:
        assert ledgers.verify(ledger).ok
        assert witness_of(path).read_bytes() == before
    with ledgers.open(path):
        assert witness_of(path).read_bytes() != before


def test_a_witness_may_be_kept_elsewhere(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "folder" / "kept"
    witness_of(path).rename(tmp_path / "moved")
    with ledgers.open(path, witness=tmp_path / "moved") as ledger:
        charge(ledger, 1)
        head = ledger.head
    assert Witness(tmp_path / "moved").read() == Seen(ledger_id(path), head) and not witness_of(path).exists()
    with pytest.raises(LedgerBehind, match="is missing"):
        ledgers.open(path, witness=elsewhere)


def ledger_id(path: Path) -> str:
    with ledgers.open(path, witness=False, read_only=True) as ledger:
        return ledger.id


def test_a_witness_that_cannot_be_written_lets_nothing_leave(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ledgers.open(path) as ledger:
        witness_of(path).unlink()
        witness_of(path).mkdir()
        with pytest.raises(LedgerUnavailable, match="cannot be read"):
            ledger.reserve(vm.pure("1/100"), scopes=["visits"], key="a")
        assert ledger.scope("visits").spent == vm.pure("3/100")  # nothing is charged that could not be released
        with monkeypatch.context() as patch:
            patch.setattr(Witness, "read", lambda _: None)
            with pytest.raises(LedgerUnavailable, match=r"cannot be written.*stays charged, and nothing was released"):
                ledger.reserve(vm.pure("1/100"), scopes=["visits"], key="a")
        witness_of(path).rmdir()
        assert ledger.scope("visits").spent == vm.pure("4/100")
        assert not ledger.reserve(vm.pure("1/100"), scopes=["visits"], key="a").new


def _advance(path: str, start: int) -> None:
    witness, last = Witness(path), 0
    for number in range(start, start + 120, 3):
        witness.advance(seen(number), ours)
        found = witness.read()
        assert found is not None and found.head.seq >= max(number, last)
        last = found.head.seq


@alone
def test_several_processes_that_advance_it_at_once_never_take_it_back(tmp_path: Path) -> None:
    results_of([partial(_advance, str(tmp_path / "w"), start) for start in (1, 2, 3)])
    assert Witness(tmp_path / "w").read() == seen(120)


def test_several_threads_that_advance_it_at_once_never_take_it_back(tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def run(start: int) -> None:
        try:
            _advance(str(tmp_path / "w"), start)
        except BaseException as problem:
            failed.append(problem)

    workers = [threading.Thread(target=run, args=(start,)) for start in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed and Witness(tmp_path / "w").read() == seen(120)


@pytest.mark.parametrize("first", [3, 4, 5])
@pytest.mark.parametrize("second", [3, 4, 5])
def test_of_two_copies_that_go_on_apart_only_one_is_believed(tmp_path: Path, first: int, second: int) -> None:
    """Whoever is ahead, and also when they are equal."""
    common = 2

    def theirs(head: Head) -> bool:
        return ours(head) if head.seq <= common else head.hash == f"{head.seq + 100:064x}"

    witness = Witness(tmp_path / "w")
    for number in (1, common):
        witness.advance(seen(number), ours)
    witness.advance(Seen("a", Head(first, f"{first + 100:064x}")), theirs)
    for number in (common, second):  # also the last entry that both have: others were charged since
        with pytest.raises(LedgerBehind, match=f"saw another entry {first}"):
            witness.advance(seen(number), ours)
    assert witness.read() == Seen("a", Head(first, f"{first + 100:064x}"))
    witness.advance(Seen("a", Head(6, f"{106:064x}")), theirs)


@pytest.mark.parametrize("ahead", [1, 2, 3])
def test_two_copies_with_one_witness_do_not_overtake_each_other(path: Path, tmp_path: Path, ahead: int) -> None:
    """Both open, and charged in turn: nothing is charged to the one that the witness has not seen."""
    shutil.copy(path, tmp_path / "copy.db")
    with ledgers.open(path) as one, ledgers.open(tmp_path / "copy.db", witness=witness_of(path)) as other:
        head = one.head
        charge(other, ahead)
        for _ in range(3):
            with pytest.raises(LedgerBehind, match=r"as its witness saw it.*Nothing was written now"):
                charge(one, 1)
        assert one.head == head and other.head.seq == head.seq + 2 * ahead
        charge(other, 1)
    with pytest.raises(LedgerBehind):
        ledgers.open(path)


@pytest.mark.parametrize("entries", [1, 2])
def test_a_copy_that_is_charged_while_the_other_one_commits_releases_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: int
) -> None:
    """After the look at the witness in the transaction, and before the witness is told."""
    shutil.copy(path, tmp_path / "copy.db")
    with ledgers.open(path) as one, ledgers.open(tmp_path / "copy.db", witness=witness_of(path)) as other:
        writer = one._live()[2]
        transact = writer._transact

        def after_the_other(*given: Any) -> Head:
            head = transact(*given)
            monkeypatch.setattr(writer, "_transact", transact)
            for _ in range(entries):
                other.reserve(vm.pure("1/100"), scopes=["visits"])
            return head

        monkeypatch.setattr(writer, "_transact", after_the_other)
        for expected in ("stays charged, and nothing was released", "Nothing was written now"):
            with pytest.raises(LedgerBehind, match=expected):
                one.reserve(vm.pure("1/100"), scopes=["visits"])
        assert Witness(witness_of(path)).read() == Seen(other.id, other.head)


def test_another_ledgers_witness_in_its_place_lets_nothing_be_charged(path: Path, tmp_path: Path) -> None:
    ledgers.open(tmp_path / "other.db").close()
    with ledgers.open(path) as ledger:
        head = ledger.head
        shutil.copy(tmp_path / "other.db.witness", witness_of(path))
        with pytest.raises(LedgerBehind, match="another ledger"):
            charge(ledger, 1)
        assert ledger.head == head


def test_replacing_it_is_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    witness = Witness(tmp_path / "w")
    witness.advance(seen(9), ours)

    def cut_off(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", cut_off)
        with pytest.raises(LedgerUnavailable, match="cannot be written: No space left"):
            witness.replace(seen(2))
    assert witness.read() == seen(9)
    witness.replace(seen(2))
    assert witness.read() == seen(2) and [one.name for one in tmp_path.iterdir()] == ["w"]


def test_whoever_begins_a_ledger_second_does_not_tell_the_witness_of_a_ledger_that_there_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is told "nothing to do", and reaches the witness before the first does."""
    path = tmp_path / "budget.db"
    begin = ledgers.Ledger.begin

    def after_another(self: ledgers.Ledger, **options: object) -> None:
        monkeypatch.setattr(ledgers.Ledger, "begin", begin)
        head, ask = self.head, self._ask
        with ledgers.open(path, witness=False):  # the first: it began, and has not told the witness yet
            pass
        monkeypatch.setattr(self, "_ask", lambda question: head)  # what the second saw before
        try:
            begin(self, **options)  # type: ignore[arg-type]
        finally:
            monkeypatch.setattr(self, "_ask", ask)

    monkeypatch.setattr(ledgers.Ledger, "begin", after_another)
    with ledgers.open(path) as second:
        assert Witness(witness_of(path)).read() == Seen(second.id, second.head)
    ledgers.open(path).close()
