"""Chains rebuilt with every hash right that say what no ledger could have written: found by `verify` alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.tampering.example import Example, edited, make_example
from tests.processes import folder_in_memory

from viameter import ledger as ledgers
from viameter.errors import LedgerTampered
from viameter.ledger.chain import Entry, Head, digest, link

Record = dict[str, Any]


@pytest.fixture(scope="module")
def example() -> Iterator[Example]:
    with folder_in_memory() as folder:
        yield make_example(folder, signed=False)


@pytest.fixture
def folder() -> Iterator[Path]:
    with folder_in_memory() as made:
        yield made


def rebuild(connection: sqlite3.Connection, change: Callable[[list[Record]], int]) -> int:
    """Change the records, and link them anew; returns the number of the entry that lies."""
    rows = connection.execute("SELECT seq, body, hash FROM ledger_entries ORDER BY seq").fetchall()
    records = [Entry(*row).record for row in rows]
    place = change(records)
    connection.execute("DELETE FROM ledger_entries")
    head = Head()
    for record in records:
        entry = link(head, record)
        connection.execute("INSERT INTO ledger_entries VALUES (?, ?, ?)", (entry.seq, entry.body, entry.hash))
        head = entry.head
    connection.execute("UPDATE ledger_head SET seq = ?, hash = ?", (head.seq, head.hash))
    return place + 1


def nth(records: list[Record], kind: str, number: int = 0) -> int:
    return [place for place, record in enumerate(records) if record["kind"] == kind][number]


def changed(of: str, **values: Any) -> Callable[[list[Record]], int]:
    def change(records: list[Record]) -> int:
        place = nth(records, of)
        assert {name: records[place].get(name) for name in values} != values
        records[place] |= values
        return place

    return change


def at_the_end(of: str, **values: Any) -> Callable[[list[Record]], int]:
    """The same entry once more, somewhat changed."""

    def change(records: list[Record]) -> int:
        records.append({**records[nth(records, of)], "nonce": "f" * 32, **values})
        return len(records) - 1

    return change


def cheaper(records: list[Record]) -> int:
    place = nth(records, "reserve")
    text = json.dumps(records[place]["costs"])
    records[place]["costs"] = json.loads(text.replace("1/10", "1/1000"))
    return place


def another_sum(records: list[Record]) -> int:
    place = nth(records, "reserve", 1)
    records[place]["costs"][0]["spent"] = records[place]["costs"][0]["loss"]
    return place


def charged_twice(records: list[Record]) -> int:
    place = nth(records, "reserve")
    records[place]["costs"] *= 2
    return place


def over_budget(records: list[Record]) -> int:
    place = nth(records, "reserve")
    text = json.dumps(records[place]["costs"])
    records[place]["costs"] = json.loads(text.replace("1/10", "10"))
    return place


def opens_what_there_is(records: list[Record]) -> int:
    place = nth(records, "reserve")
    records[place]["opens"] = {"wards": records[nth(records, "define", 1)]["terms"]}
    return place


def left_out(records: list[Record]) -> int:
    place = nth(records, "commit")
    del records[place]["query"]
    return place


def out_of_line(records: list[Record]) -> int:
    place = nth(records, "reserve", 1)
    records[place]["before"] = {"visits": 2}
    return place


def without_states(records: list[Record]) -> int:
    place = nth(records, "reserve")
    records[place]["states"] = {}
    return place


CHANGES: dict[str, tuple[Callable[[list[Record]], int], str]] = {
    "a charge is lower": (cheaper, "with other amounts than follow|its sum is another one"),
    "a sum is lower": (another_sum, "its sum is another one"),
    "a charge is over the budget": (over_budget, "it could not have been written"),
    "a scope is charged twice": (charged_twice, "it charges a scope twice"),
    "a key is charged twice": (at_the_end("reserve"), "its key was charged before"),
    "an entry is there twice": (
        at_the_end("reserve", key="another", nonce=None),
        "it was written twice",
    ),
    "a scope is defined twice": (at_the_end("define"), "is defined twice"),
    "a share is of a scope that there is": (opens_what_there_is, "is defined twice"),
    "a ledger begins twice": (at_the_end("init"), "a ledger begins once"),
    "another format": (changed("init", format="viameter-ledger/9"), "it is of another format"),
    "a budget that was another": (at_the_end("budget"), "it changes another budget than there was"),
    "an answer is given twice": (at_the_end("commit"), "it answers entry .* again"),
    "an answer to another question": (changed("commit", query="0" * 64), "or something else"),
    "a later answer out of order": (changed("answer", number=2), "it is not the next answer within entry"),
    "a later answer twice": (at_the_end("answer"), "it is not the next answer within entry"),
    "an answer to what was not charged": (changed("commit", reserved=2), "it is no record of this format"),
    "a state that was left out": (without_states, "it changes other scopes than it says"),
    "a charge that follows another one": (out_of_line, "it does not follow the last entry of 'visits'"),
    "something is left out": (left_out, "it is no record of this format"),
    "a time that is none": (changed("reserve", at="yesterday"), "it is no record of this format"),
    "a scope that starts over": (
        at_the_end("define", kind="renew", period="", states={"visits": ""}, before={"visits": 0}),
        "it could not have been written",
    ),
    "a restore that closes nothing": (
        at_the_end("define", kind="restore", lost={}, states={"visits": "0" * 64}, before={"visits": 2}),
        "with other amounts than follow",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_entry_that_could_not_have_been_written_is_found(example: Example, folder: Path, name: str) -> None:
    path = example.put(folder)
    change, text = CHANGES[name]

    def with_nonce(records: list[Record]) -> int:
        place = change(records)
        if records[place]["nonce"] is None:
            records[place]["nonce"] = records[2]["nonce"]
        return place

    with ledgers.open(path, witness=False) as ledger:  # before it is changed: opening it looks at scopes, too
        assert ledgers.verify(ledger).ok
        with edited(path) as connection:
            place = rebuild(connection, with_nonce)
        with pytest.raises(LedgerTampered, match=text) as found:
            ledgers.verify(ledger).require()
    assert found.value.entry == place


def test_rebuilding_alone_changes_nothing(example: Example, folder: Path) -> None:
    path = example.put(folder)
    with edited(path) as connection:
        before = connection.execute("SELECT * FROM ledger_entries").fetchall()
        rebuild(connection, lambda records: 0)
        assert connection.execute("SELECT * FROM ledger_entries").fetchall() == before


@pytest.mark.parametrize(
    ("seq", "change", "named", "text"),
    [
        (5, lambda body: body.replace('"by":"', '"by":"not '), 6, "it does not continue the entry before it"),
        (5, lambda body: body.replace('"seq":5', '"seq":6'), 5, "it does not continue the entry before it"),
        (17, lambda body: body.replace('","', '", "'), 17, "no record as this library writes them"),
        (17, lambda body: "[]", 17, "no record as this library writes them"),
        (17, lambda body: "{", 17, "its text is no record"),
        (17, lambda body: "[" * 100_000, 17, "its text is no record"),
    ],
)
def test_an_entry_with_the_right_hash_of_the_wrong_text_is_found_by_all(
    example: Example, folder: Path, seq: int, change: Callable[[str], str], named: int, text: str
) -> None:
    path = example.put(folder)
    with ledgers.open(path, witness=False) as ledger:
        with edited(path) as connection:
            (body,) = connection.execute("SELECT body FROM ledger_entries WHERE seq = ?", (seq,)).fetchone()
            new = change(body)
            assert new != body
            connection.execute("UPDATE ledger_entries SET body = ?, hash = ? WHERE seq = ?", (new, digest(new), seq))
            connection.execute("UPDATE ledger_head SET hash = ? WHERE seq = ?", (digest(new), seq))
        with pytest.raises(LedgerTampered, match=text) as found:
            ledgers.verify(ledger).require()
        assert found.value.entry == named
    with pytest.raises(LedgerTampered, match=text) as found:
        ledgers.open(path, witness=False)
    assert found.value.entry == named
