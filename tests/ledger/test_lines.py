"""Lines: what happened, in order and in words; all of it, or what concerns one scope."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter import neighborhood as nb
from viameter.core import Queryable
from viameter.errors import UnknownScope
from viameter.ledger import Cost, Ledger, Terms, history
from viameter.ledger.codec import encode
from viameter.ledger.lines import _WORDS
from viameter.ledger.verifying import KINDS

TENTH = vm.pure("1/10")
WARDS = {"granularity": "unbounded", "cut": {"kind": "partition", "parts": 2}, "names": ["east", "west"]}


@pytest.fixture
def book() -> Ledger:
    """One of everything that can happen."""
    made = ledgers.in_memory()
    made.define("visits", vm.pure(1), SPACE, by="custodian", why="decided in May")
    made.define("wards", vm.pure(1), nb.unbounded(), parts=WARDS, renews="rows", by="custodian")
    made.reserve({"visits": TENTH}, key="k1", by="ann", query="how many", theorems=["laplace"])
    both = [Cost("visits", vm.pure("1/5")), Cost("wards", TENTH, "east")]
    asked = made.reserve(both, key="k2", by="ann", query="where", label="May")
    made.commit(asked, b"17")
    failed = made.reserve({"wards": TENTH}, key="k3", by="bob")
    made.fail(failed)
    made.record(asked.request, 1, "q", b"123")
    made.record(asked.request, 2, "q", None)
    made.set_budget("visits", vm.pure(2), why="more", by="custodian")
    made.renew("wards", why="new rows", by="custodian")
    share = Terms.read(TENTH, SPACE, parent="visits")
    made.reserve({"visits": TENTH}, key="k4", by="ann", opens={"visits/ann": share})
    made.close_scopes(lost={}, why="a disk was lost", by="custodian", names=["wards"])
    return made


def test_every_entry_is_a_line_in_words(book: Ledger) -> None:
    lines = history(book)
    assert [line.text for line in lines[1:]] == [
        "scope 'visits' with a budget of pure(1) for unbounded(): decided in May",
        "scope 'wards' with a budget of pure(1) for unbounded(), which starts over (rows)",
        "how many: pure(1/10) from 'visits'",
        "May: pure(1/5) from 'visits', pure(1/10) from 'wards' (east)",
        "answer to entry 5 stored, 2 bytes",
        "k3: pure(1/10) from 'wards'",
        "entry 7 failed; it stays charged",
        "answer 1 within entry 5, 3 bytes",
        "answer 2 within entry 5 failed",
        "budget of 'visits' from pure(1) to pure(2): more",
        "'wards' starts over: new rows",
        "k4: pure(1/10) from 'visits'; opens 'visits/ann'",
        "restored from a backup: a disk was lost",
    ]
    assert lines[0].text.startswith("ledger ") and book.id.startswith(lines[0].text.split()[1])
    assert [line.seq for line in lines] == list(range(1, 15)) == [entry.seq for entry in book.entries()]
    assert [line.by for line in lines[3:8]] == ["ann", "ann", "ann", "bob", "bob"]
    assert all(line.at == book.time_of(line.seq) for line in lines)
    assert repr(lines[3]) == f"     4  {lines[3].at}  ann: how many: pure(1/10) from 'visits' (no answer stored)"


@pytest.mark.parametrize("scope", [None, "visits", "wards"])
@pytest.mark.parametrize("last", [None, 1, 3, 8, 11])
def test_every_charge_says_what_came_of_it_and_nothing_else_does(
    book: Ledger, scope: str | None, last: int | None
) -> None:
    # Of what was spawned, the last answer counts: the second one within entry 5 failed.
    came = {4: "unsettled", 5: "failed", 7: "failed", 13: "unsettled"}
    for line in history(book, scope=scope, last=last):
        assert line.outcome == came.get(line.seq)
    assert {line.seq: line.words.rpartition(" (")[2] for line in history(book) if line.outcome} == {
        number: "no answer stored)" if outcome == "unsettled" else "failed, and stays charged)"
        for number, outcome in came.items()
    }


def test_there_are_words_for_every_kind_of_entry(book: Ledger) -> None:
    assert set(_WORDS) == set(KINDS) == {line.kind for line in history(book)}


def test_a_charge_has_its_costs_and_what_was_spent_after_it(book: Ledger) -> None:
    line = history(book)[4]
    assert line.costs == (("visits", None, vm.pure("1/5"), vm.pure("3/10")), ("wards", "east", TENTH, TENTH))
    assert (line.key, line.label, line.query, line.kind) == ("k2", "May", "where", "reserve")
    assert history(book)[3].theorems == ("laplace",) and line.certificate is None
    assert history(book)[5].costs == () and history(book)[5].query == ""


def test_a_scope_has_its_own_history(book: Ledger) -> None:
    assert [line.seq for line in history(book, scope="visits")] == [2, 4, 5, 11, 13]
    assert [line.seq for line in history(book, scope="wards")] == [3, 5, 7, 12, 14]
    assert [line.seq for line in history(book, scope="visits/ann")] == [13]
    assert history(book, scope="visits") == tuple(history(book)[seq - 1] for seq in (2, 4, 5, 11, 13))
    with pytest.raises(UnknownScope):
        history(book, scope="nobody")


@pytest.mark.parametrize("last", [0, 1, 3, 5, 14, 100])
def test_the_last_lines(book: Ledger, last: int) -> None:
    everything: Any = history(book)
    assert history(book, last=last) == everything[len(everything) - min(last, 14) :]
    own = history(book, scope="visits")
    assert history(book, scope="visits", last=last) == own[len(own) - min(last, 5) :]


@pytest.mark.parametrize(
    ("answers", "outcome"), [([], "unsettled"), ([None], "failed"), ([b"[1]"], "answered"), ([b"1", None], "failed")]
)
def test_what_was_spawned_is_answered_by_what_it_answers(answers: list[bytes | None], outcome: str) -> None:
    """A question of two stages stores a handle first: that alone is no answer."""
    made = ledgers.in_memory()
    made.define("visits", vm.pure(1), SPACE, why="decided")
    reserved = made.reserve({"visits": TENTH}, key="k")
    made.commit(reserved, encode(Queryable(lambda itself, query: 0), place=lambda _: 0))
    for number, content in enumerate(answers):
        made.record(reserved.request, number + 1, f"query {number}", content)
    [line] = [line for line in history(made) if line.kind == "reserve"]
    assert line.outcome == outcome
