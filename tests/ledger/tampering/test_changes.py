"""Changes of a ledger's tables by hand are found, all of them, and the entry is named where there is one."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ledger.tampering.changes import Change, all_changes, make
from tests.ledger.tampering.example import Example, Finding, dump, edited, look_at, make_example
from tests.processes import folder_in_memory

from viameter import ledger as ledgers
from viameter.errors import LedgerTampered
from viameter.ledger.chain import digest
from viameter.ledger.opening import check_end


@pytest.fixture(scope="module")
def examples() -> Iterator[dict[bool, Example]]:
    """The example with signed heads, and without."""
    with folder_in_memory() as plain, folder_in_memory() as signed:
        yield {False: make_example(plain, signed=False), True: make_example(signed, signed=True)}


@pytest.fixture
def folder() -> Iterator[Path]:
    with folder_in_memory() as made:
        yield made


def means_nothing(change: Change) -> bool:
    """Rows that nobody reads: the number of the only head, signatures that later ones make up for, other versions."""
    if change.table == "ledger_head":
        return change.column == "id"
    if change.table == "ledger_version":
        return change.how == "a row was added"
    return change.table == "ledger_signatures" and change.how == "a row was deleted"


def names_the_entry(change: Change, finding: Finding) -> bool:
    """Whether what was found names the entry whose row was changed, if that is what the change leaves to be seen."""
    if not isinstance(finding.error, LedgerTampered) or change.how.startswith("a row was"):
        return True
    rows = (change.row, change.other or change.row)
    if change.table == "ledger_entries" and change.column != "seq":
        return finding.entry in [row[0] + after for row in rows for after in (0, 1)]
    if change.table == "ledger_answers" and change.column in ("query", "content"):
        return finding.entry in [row[2] for row in rows] and finding.by == "verify"
    if change.table == "ledger_requests" and change.column in ("query", "nonce", "settled"):
        return finding.entry in [row[4] for row in rows]
    return True


def look_for(example: Example, times: int, seed: int, folder: Path) -> Counter[tuple[str, str]]:
    """Make every change so many times, each on a fresh copy; what was found, by table and by whom."""
    chance = random.Random(seed)
    found = Counter[tuple[str, str]]()
    path = example.put(folder)
    before = dump(path)
    with edited(path) as connection:
        wanted = all_changes(connection) * times
    for one in wanted:
        for _ in range(4):  # some values are what they were before, and some rows may not be there twice
            example.put(folder)
            with edited(path) as connection:
                change = make(one, connection, chance)
            if change is not None and dump(path) != before:
                found[change.table, found_by(change, path, example)] += 1
                break
    return found


def found_by(change: Change, path: Path, example: Example) -> str:
    """Who finds a change: somebody does, and names the entry, unless it means nothing."""
    finding = look_at(path, example.key)
    if finding is None:
        assert means_nothing(change), change
        return "nobody"
    assert names_the_entry(change, finding), (change, finding)
    assert "thirteen" not in str(finding.error)
    return finding.by


@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
def test_changes_of_every_column_of_every_table_are_found(
    examples: dict[bool, Example], folder: Path, signed: bool
) -> None:
    found = look_for(examples[signed], 1, 3, folder)
    assert found.total() > 100
    for table in ("entries", "scopes"):
        assert found[f"ledger_{table}", "open"] and not found[f"ledger_{table}", "nobody"]
    for table in ("requests", "answers", "documents"):
        assert found[f"ledger_{table}", "verify"] and not found[f"ledger_{table}", "nobody"]


@pytest.mark.long
@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_changes_are_found(examples: dict[bool, Example], folder: Path, signed: bool, seed: int) -> None:
    assert look_for(examples[signed], 11, seed, folder).total() > 1000


def test_a_scope_set_back_to_what_it_was_is_found_when_the_ledger_is_opened(
    examples: dict[bool, Example], folder: Path
) -> None:
    earlier = folder / "earlier"
    earlier.mkdir()
    path = examples[False].put(folder)
    with edited(path) as connection:
        rows = connection.execute("SELECT seq, body FROM ledger_entries ORDER BY seq").fetchall()
        changes = [seq for seq, body in rows if "visits" in json.loads(body)["states"]]
        # A state that an entry did leave: that of the scope when it was defined.
        state = json.loads(connection.execute("SELECT state FROM ledger_scopes WHERE name = 'visits'").fetchone()[0])
        state["terms"]["budget"] = json.loads(rows[changes[0] - 1][1])["terms"]["budget"]
        state["cap"] = state["terms"]["budget"]
        state["spent"] = state["earlier"]
        text = json.dumps(state, sort_keys=True, separators=(",", ":"))
        connection.execute("UPDATE ledger_scopes SET state = ?, seq = ? WHERE name = 'visits'", (text, changes[0]))
    found = look_at(path, None)
    assert found is not None and found.by == "open" and found.entry == changes[-1]
    assert "the scope 'visits' is not as that entry left it" in str(found.error)


def test_a_scope_that_was_taken_away_is_found_when_the_ledger_is_opened(
    examples: dict[bool, Example], folder: Path
) -> None:
    path = examples[False].put(folder)
    with edited(path) as connection:
        (seq,) = connection.execute("SELECT seq FROM ledger_scopes WHERE name = 'wards'").fetchone()
        connection.execute("DELETE FROM ledger_scopes WHERE name = 'wards'")
    found = look_at(path, None)
    assert found is not None and found.by == "open" and found.entry == seq and "is missing" in str(found.error)


def test_entries_cut_off_at_the_end_are_found_by_the_witness_or_the_chain(
    examples: dict[bool, Example], folder: Path
) -> None:
    path = examples[False].put(folder)
    with edited(path) as connection:
        connection.execute("DELETE FROM ledger_entries WHERE seq > 8")
        connection.execute("UPDATE ledger_head SET (seq, hash) = (SELECT seq, hash FROM ledger_entries WHERE seq = 8)")
    found = look_at(path, None)
    assert found is not None and found.by == "open"


def test_a_second_head_is_found_when_the_ledger_is_opened(examples: dict[bool, Example], folder: Path) -> None:
    path = examples[False].put(folder)
    with edited(path) as connection:
        connection.execute("INSERT INTO ledger_head SELECT 2, seq, hash FROM ledger_head")
    found = look_at(path, None)
    assert found is not None and found.by == "open" and isinstance(found.error, LedgerTampered)


@pytest.mark.parametrize(
    ("statement", "by", "text"),
    [
        ("UPDATE ledger_answers SET content = x'00' WHERE seq = 5", "verify", "entry 5: the stored answer is not"),
        ("INSERT INTO ledger_answers VALUES (-5, 0, 5, '', NULL)", "verify", "of requests that are not there"),
        ("DELETE FROM ledger_answers WHERE number = 2", "verify", "its stored answer is missing"),
        ("UPDATE ledger_documents SET text = replace(text, '1', '2')", "verify", "was changed"),
        ("UPDATE ledger_documents SET text = CAST(text AS BLOB)", "verify", "was changed"),
        ("UPDATE ledger_answers SET content = CAST(content AS TEXT)", "verify", "is not the one that was"),
        ("DELETE FROM ledger_requests WHERE key = 'lost'", "verify", "its request is missing"),
        (
            "UPDATE ledger_requests SET settled = NULL WHERE key = 'both'",
            "verify",
            "its request is not the one that was",
        ),
        ("UPDATE ledger_signatures SET signature = upper(signature)", "open", "is not signed by the ledger's key"),
        ("UPDATE ledger_signatures SET signature = CAST(signature AS BLOB)", "open", "is not signed"),
        ("UPDATE ledger_signatures SET signature = upper(signature) WHERE seq = 3", "verify", "entry 3: its signature"),
        ("INSERT INTO ledger_signatures VALUES (99, 'x')", "verify", "signatures of entries that are not there"),
        ("INSERT INTO ledger_entries SELECT 0, body, hash FROM ledger_entries WHERE seq = 1", "verify", "before the"),
        ("INSERT INTO ledger_entries SELECT 99, body, hash FROM ledger_entries WHERE seq = 1", "open", "entry 99: it"),
        ("UPDATE ledger_head SET seq = 'x'", "open", "not as this library writes them"),
        ("UPDATE ledger_head SET hash = (SELECT hash FROM ledger_entries WHERE seq = 2)", "open", "the head says"),
        ("UPDATE ledger_scopes SET seq = 'x'", "open", "not as this library writes them"),
        ("DELETE FROM ledger_head", "open", "the head of the chain is missing"),
        ("DELETE FROM ledger_entries WHERE seq = 5", "open", "entry 6: it follows entry 4: entries between them are"),
        ("DELETE FROM ledger_entries", "open", "not the beginning of a ledger"),
        ("UPDATE ledger_entries SET body = '[]' WHERE seq = 3", "open", "entry 3: its text is not"),
        ("UPDATE ledger_version SET version_num = '0001'", "open", "could not do it"),
        ("UPDATE ledger_version SET version_num = '9999'", "open", "later version"),
        ("DROP TABLE ledger_answers", "open", "other columns"),
    ],
)
def test_what_is_said_of_a_change(
    examples: dict[bool, Example], folder: Path, statement: str, by: str, text: str
) -> None:
    path = examples[True].put(folder)
    with edited(path) as connection:
        connection.execute(statement)
    found = look_at(path, examples[True].key)
    assert found is not None and (found.by, text in str(found.error)) == (by, True), found
    assert "SELECT" not in str(found.error) and "sqlite3." not in str(found.error)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("DELETE FROM ledger_entries WHERE seq = 17", "entry 16: the chain ends here, and the head says 17"),
        ("UPDATE ledger_head SET seq = 16", "entry 16: the chain ends here"),
        (
            "UPDATE ledger_head SET (seq, hash) = (SELECT 16, hash FROM ledger_entries WHERE seq = 16)",
            "entry 17: it comes",
        ),
        (
            "INSERT INTO ledger_entries SELECT 99, body, hash FROM ledger_entries WHERE seq = 1",
            "entry 99: it comes after",
        ),
        ("DELETE FROM ledger_scopes WHERE name = 'wards'", "the scope 'wards', which it changed, is missing"),
        ("UPDATE ledger_scopes SET seq = 2 WHERE name = 'visits'", "entry 17: the scope 'visits' is not as that"),
        ("INSERT INTO ledger_documents VALUES ('x', 'y')", "the certificate x was changed"),
        (f"INSERT INTO ledger_documents VALUES ('{digest('y')}', 'y')", "is there, and no entry names it"),
        ("DELETE FROM ledger_documents", "is missing"),
        ("UPDATE ledger_documents SET name = CAST(name AS BLOB)", "the ledger was changed outside of this library"),
        ("UPDATE ledger_head SET seq = 'x'", "the ledger was changed outside of this library"),
        ("INSERT INTO ledger_signatures VALUES (1, 'x')", "there are signatures, and the ledger names no key"),
    ],
)
def test_what_is_changed_while_a_ledger_is_open_is_found_by_verify(
    examples: dict[bool, Example], folder: Path, statement: str, text: str
) -> None:
    path = examples[False].put(folder)
    with ledgers.open(path) as ledger:
        assert ledger.head.seq == 17
        with edited(path) as connection:
            connection.execute(statement)
        assert text in str(ledgers.verify(ledger)), str(ledgers.verify(ledger))


def test_a_scope_that_fits_an_old_entry_whose_hash_does_not_is_found_when_the_ledger_is_opened(
    examples: dict[bool, Example], folder: Path
) -> None:
    path = examples[False].put(folder)
    with ledgers.open(path, witness=False) as ledger:
        check_end(ledger.store, None, writing=False, last=1)
        with edited(path) as connection:
            seq, state = connection.execute("SELECT seq, state FROM ledger_scopes WHERE name = 'wards'").fetchone()
            changed = state.replace('"1/7"', '"1/70"')
            connection.execute("UPDATE ledger_scopes SET state = ? WHERE name = 'wards'", (changed,))
            (body,) = connection.execute("SELECT body FROM ledger_entries WHERE seq = ?", (seq,)).fetchone()
            body = body.replace(digest(state), digest(changed))
            connection.execute("UPDATE ledger_entries SET body = ? WHERE seq = ?", (body, seq))
        assert changed != state and seq < ledger.head.seq - 1
        with pytest.raises(LedgerTampered, match="the scope 'wards' is not as that entry left it") as found:
            check_end(ledger.store, None, writing=False, last=1)
        assert found.value.entry == seq
