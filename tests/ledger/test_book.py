"""The book: several requests that are written in one transaction see what those before them did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import KeyTaken, LedgerError, OverBudget
from viameter.ledger import Cost, Ledger
from viameter.ledger.book import Needed
from viameter.ledger.ledger import fresh_name
from viameter.ledger.requests import Record, Reserve, Settle


@pytest.fixture(params=["memory", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made = ledgers.in_memory() if request.param == "memory" else ledgers.open(tmp_path / "budget.db")
    made.define("visits", vm.pure(1), SPACE)
    yield made
    ledgers.verify(made).require()
    made.close()


def together(ledger: Ledger, *writings: Any) -> list[Any]:
    """Write several in one transaction; an error is what came of the one that was refused."""
    results: list[Any] = []
    with ledger.store.writing(Needed.by_all(one.needed for one in writings), None) as book:
        for one in writings:
            try:
                results.append(one.apply(book))
            except Exception as refused:
                results.append(refused)
    return results


def reserve(amount: str, key: str, query: str = "q", **options: Any) -> Reserve:
    costs = (Cost("visits", vm.pure(amount)),)
    return Reserve(by="ann", nonce=fresh_name(), key=key, costs=costs, query=query, **options)


def test_charges_of_one_transaction_add_up(book: Ledger) -> None:
    first, second, refused, third = together(
        book, reserve("1/2", "a"), reserve("1/3", "b"), reserve("1/3", "c"), reserve("1/6", "d")
    )
    assert first.new and second.new and third.new and isinstance(refused, OverBudget)
    assert refused.left == vm.pure("1/6") and book.scope("visits").spent == vm.pure(1)
    assert [line.key for line in ledgers.history(book, scope="visits")] == ["", "a", "b", "d"]


def test_a_key_is_charged_once_in_one_transaction(book: Ledger) -> None:
    first, again, other = together(book, reserve("1/2", "a"), reserve("1/2", "a"), reserve("1/2", "a", "r"))
    assert first.new and not again.new and again.request == first.request and isinstance(other, KeyTaken)
    assert book.scope("visits").spent == vm.pure("1/2")


def test_a_refusal_leaves_nothing_of_itself(book: Ledger) -> None:
    kept, refused = together(book, reserve("1/2", "a", certificate="one"), reserve("3/4", "b", certificate="two"))
    assert kept.new and isinstance(refused, OverBudget)
    assert [text for _, text in book.store.documents()] == ["one"]


def test_answers_of_one_transaction_are_in_order(book: Ledger) -> None:
    (reserved,) = together(book, reserve("1/2", "a"))
    request = reserved.request

    def record(number: int) -> Record:
        return Record(by="ann", nonce=fresh_name(), request=request, number=number, query="q", content=b"1")

    def settle() -> Settle:
        return Settle(by="ann", nonce=fresh_name(), request=request, content=b"0")

    early, settled, twice, one, two, wrong = together(
        book, record(1), settle(), settle(), record(1), record(2), record(2)
    )
    assert [type(one) for one in (early, twice, wrong)] == [LedgerError] * 3
    assert [stored.number for stored in (settled, one, two)] == [0, 1, 2]
    assert [answer.number for answer in book.stored(request)] == [0, 1, 2]


def test_a_transaction_in_which_all_was_refused_writes_nothing(book: Ledger) -> None:
    head = book.head
    assert all(isinstance(one, OverBudget) for one in together(book, reserve("2", "a"), reserve("3", "b")))
    assert book.head == head
