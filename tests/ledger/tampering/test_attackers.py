"""Attackers who know how a ledger is made: who rebuild its chain, take its witness away, or put an older copy back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import SPACE
from tests.ledger.tampering.example import Example, edited, fill, look_at, make_example
from tests.processes import folder_in_memory

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerBehind, LedgerTampered, ParameterError
from viameter.ledger import SigningKey, opening
from viameter.ledger import ledger as ledger_module
from viameter.ledger.chain import Entry, Head, link


@pytest.fixture
def folder() -> Iterator[Path]:
    with folder_in_memory() as made:
        yield made


def rebuilt(path: Path, monkeypatch: pytest.MonkeyPatch, key: Any = None, *, longer: bool = True) -> None:
    """Replace a ledger by one of the same name in which less was charged, and every hash is right."""
    with closing(sqlite3.connect(path)) as connection:
        (body,) = connection.execute("SELECT body FROM ledger_entries WHERE seq = 1").fetchone()
    name = Entry(1, body, "").record["id"]
    beside = path.with_name("rebuilt.db")
    given, names = ledger_module.fresh_name, iter([name])
    with monkeypatch.context() as patch:
        patch.setattr(ledger_module, "fresh_name", lambda: next(names, None) or given())
        patch.setattr(opening, "is_signed", lambda *_: True)
        with ledgers.open(beside, witness=False, signing_key=key) as ledger:
            assert ledger.id == name
            for scope in ("visits", "wards"):
                ledger.define(scope, vm.pure(2), SPACE)
            for number in range(20 if longer else 2):
                reserved = ledger.reserve(vm.pure("1/1000"), scopes=["visits"], key=f"count {number}", by="ann")
                ledger.commit(reserved, b"7")
    beside.replace(path)


@pytest.mark.parametrize(("longer", "text"), [(True, "rewritten, at or before entry"), (False, "an older copy")])
def test_a_chain_that_was_rebuilt_is_found_by_the_witness(
    folder: Path, monkeypatch: pytest.MonkeyPatch, longer: bool, text: str
) -> None:
    path = make_example(folder, signed=False).put(folder)
    rebuilt(path, monkeypatch, longer=longer)
    found = look_at(path, None)
    assert found is not None and found.by == "open" and isinstance(found.error, LedgerBehind)
    assert text in str(found.error)


def test_a_chain_that_was_rebuilt_under_a_ledger_that_is_open_is_found_by_verify(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_example(folder, signed=False).put(folder)
    rebuilt(path, monkeypatch)
    with ledgers.open(path, witness=folder / "other.witness", new_witness=True) as ledger:
        assert ledgers.verify(ledger).ok
        ledger.witness.path.write_bytes(path.with_name("budget.db.witness").read_bytes())  # type: ignore[union-attr]
        (problem,) = ledgers.verify(ledger).problems
        assert isinstance(problem, LedgerBehind) and "rewritten" in str(problem)


def test_whoever_takes_the_witness_away_too_is_refused_until_somebody_trusts_the_ledger_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_example(folder, signed=False).put(folder)
    rebuilt(path, monkeypatch)
    path.with_name("budget.db.witness").unlink()
    found = look_at(path, None)
    assert found is not None and isinstance(found.error, LedgerBehind) and "is missing" in str(found.error)
    # Without a signature this is as far as it goes: whoever says that it is to be trusted is believed.
    assert look_at(path, None, new_witness=True) is None


@pytest.fixture
def signed(folder: Path) -> Example:
    return make_example(folder, signed=True)


def test_a_signed_chain_cannot_be_rebuilt_without_the_key_even_where_the_witness_is_gone(
    folder: Path, signed: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert signed.key is not None
    path = signed.put(folder)
    path.with_name("budget.db.witness").unlink()
    # By somebody with a key of their own.
    own = SigningKey.make(folder / "own.pem")
    rebuilt(path, monkeypatch, own)
    with pytest.raises(ParameterError, match="another key was given"):
        ledgers.open(path, signing_key=signed.key, new_witness=True)
    with ledgers.open(path, read_only=True, witness=False) as ledger:
        assert ledgers.verify(ledger).ok  # nobody said whose signatures they should be
        problem = ledgers.verify(ledger, public_key=signed.key.public).problems[0]
        assert isinstance(problem, LedgerTampered) and problem.entry == 1 and "another key" in str(problem)


def test_a_chain_that_was_rebuilt_without_signatures_is_found_by_whoever_knows_the_key(
    folder: Path, signed: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert signed.key is not None
    path = signed.put(folder)
    path.with_name("budget.db.witness").unlink()
    rebuilt(path, monkeypatch)
    with pytest.raises(ParameterError, match="are not signed"):
        ledgers.open(path, signing_key=signed.key, new_witness=True)
    with ledgers.open(path, read_only=True, witness=False) as ledger:
        (problem,) = ledgers.verify(ledger, public_key=signed.key.public).problems
        assert isinstance(problem, LedgerTampered) and problem.entry == 1


def test_forged_signatures_are_found_when_the_ledger_is_opened_by_anybody(
    folder: Path, signed: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert signed.key is not None
    path = signed.put(folder)
    path.with_name("budget.db.witness").unlink()
    public = signed.key.public
    with monkeypatch.context() as patch:
        own = SigningKey.make(folder / "own.pem")
        patch.setattr(SigningKey, "public", public)  # names the ledger's key, and signs with another one
        rebuilt(path, monkeypatch, own)
    for options in ({"signing_key": signed.key}, {"read_only": True}):
        with pytest.raises(LedgerTampered, match="the end of the chain is not signed by the ledger's key"):
            ledgers.open(path, new_witness=True, **options)


def test_the_end_of_a_chain_that_is_cut_back_to_a_signed_head_is_found_by_the_witness(
    folder: Path, signed: Example
) -> None:
    older = folder / "older"
    older.mkdir()
    key = SigningKey.make(older / "key.pem")
    path = older / "budget.db"
    with ledgers.open(path, signing_key=key) as ledger:
        fill(ledger)
    content = path.read_bytes()
    with ledgers.open(path, signing_key=key) as ledger:
        ledger.reserve(vm.pure("1/10"), scopes=["visits"], key="more")
    path.write_bytes(content)
    found = look_at(path, key)
    assert found is not None and isinstance(found.error, LedgerBehind) and "an older copy forgets" in str(found.error)


@pytest.mark.parametrize("kind", ["store", "settle", "request", "read", "unknown"])
def test_an_entry_of_no_kind_is_found_by_verify(folder: Path, kind: str) -> None:
    path = make_example(folder, signed=False).put(folder)
    path.with_name("budget.db.witness").unlink()
    with edited(path) as connection:
        seq, body, hash = connection.execute("SELECT * FROM ledger_entries ORDER BY seq DESC").fetchone()
        record = {"kind": kind, "by": "mallory", "at": Entry(seq, body, hash).record["at"], "nonce": "n"}
        said = {"states": {}, "before": {}, "reserved": 4, "number": 1, "query": "", "answer": None}
        entry = link(Head(seq, hash), {**record, **said})
        connection.execute("INSERT INTO ledger_entries VALUES (?, ?, ?)", (entry.seq, entry.body, entry.hash))
        connection.execute("UPDATE ledger_head SET seq = ?, hash = ?", (entry.seq, entry.hash))
        connection.execute("INSERT INTO ledger_answers VALUES (4, 1, ?, '', NULL)", (entry.seq,))
    found = look_at(path, None, new_witness=True)
    assert found is not None and (found.by, found.entry) == ("verify", seq + 1)
    assert "of a kind that there is not" in str(found.error)
