"""Reserve, run, commit, release: what is charged, when, and what a retry gets; on every store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import AnswerLost, KeyTaken, OverBudget, SealedError, UnknownScope
from viameter.ledger import Ledger

COUNT = SPACE >> vm.count() >> vm.laplace(scale=10)


def tenth(d_in: Any) -> Any:
    return vm.pure("1/10") if d_in else vm.pure(0)


def spent(ledger: Ledger, name: str = "visits") -> Any:
    return ledger.scope(name).spent


def test_a_release_is_charged_and_stored(ledger: Ledger) -> None:
    meter = ledger.meter(SPACE, [1, 2, 3], scopes=["visits"], by="ann")
    released = meter.release(COUNT, key="a")
    assert spent(ledger) == vm.pure("1/10") and not released.replayed
    (line,) = [line for line in ledgers.history(ledger) if line.kind == "reserve"]
    assert line.by == "ann" and line.key == "a" and "laplace-on-integers" in line.theorems
    assert line.certificate is not None and ledger.document(line.certificate) == COUNT.certificate(1).text
    assert ledgers.verify(ledger).ok


def test_the_same_key_and_query_give_the_same_bytes_and_cost_nothing(
    ledger: Ledger, opened: Callable[..., Ledger]
) -> None:
    first = ledger.meter(SPACE, [1] * 50, scopes=["visits"], by="ann").release(COUNT, key="a")
    again = opened().meter(SPACE, [1] * 99, scopes=["visits"], by="ann").release(COUNT, key="a")
    assert again.replayed and (again.content, again.value) == (first.content, first.value)
    assert spent(ledger) == vm.pure("1/10")


def test_the_same_key_for_another_query_is_refused(ledger: Ledger) -> None:
    meter = ledger.meter(SPACE, [1], scopes=["visits"], by="ann")
    meter(COUNT, key="a")
    with pytest.raises(KeyTaken):
        meter(SPACE >> vm.count() >> vm.laplace(scale=20), key="a")
    assert spent(ledger) == vm.pure("1/10")


def test_another_person_does_not_get_an_answer_by_guessing_its_key(ledger: Ledger) -> None:
    ledger.meter(SPACE, [1], scopes=["visits"], by="ann")(COUNT, key="a")
    bob = ledger.meter(SPACE, [1], scopes=["visits"], by="bob").release(COUNT, key="a")
    assert not bob.replayed and spent(ledger) == vm.pure("1/5")


def test_a_refusal_touches_no_scope_and_no_data(ledger: Ledger) -> None:
    ledger.define("ann", vm.pure("1/20"), SPACE)
    ran: list[int] = []
    spy = vm.measurement(SPACE, function=ran.append, measure=vm.PureDP, privacy=tenth, trust="for tests")
    meter = ledger.meter(SPACE, [1], scopes=["visits", "ann"])
    with pytest.raises(OverBudget) as refused:
        meter(spy)
    assert refused.value.scope == "ann" and not ran
    assert spent(ledger) == vm.pure(0) and spent(ledger, "ann") == vm.pure(0)
    assert meter.fits(SPACE >> vm.count() >> vm.laplace(scale=20))


def test_ten_tenths_fit_and_an_eleventh_does_not(ledger: Ledger) -> None:
    meter = ledger.meter(SPACE, [1], scopes=["visits"])
    for _ in range(10):
        meter(COUNT)
    with pytest.raises(OverBudget):
        meter(COUNT)
    assert spent(ledger) == vm.pure(1)


def test_what_fails_on_rows_is_charged_and_says_nothing(ledger: Ledger, opened: Callable[..., Ledger]) -> None:
    def failing(rows: Any) -> int:
        raise ValueError(f"the row of the zebra: {rows}")

    bad = vm.measurement(SPACE, function=failing, measure=vm.PureDP, privacy=tenth, trust="for tests")
    with pytest.raises(SealedError) as first:
        ledger.meter(SPACE, [41], scopes=["visits"], by="ann")(bad, key="a")
    with pytest.raises(SealedError) as again:
        opened().meter(SPACE, [42], scopes=["visits"], by="ann")(bad, key="a")
    assert str(first.value) == str(again.value) == SealedError.TEXT
    assert spent(ledger) == vm.pure("1/10")
    assert not [entry for entry in ledger.entries() if "zebra" in entry.body]


def test_a_reservation_without_an_answer_stays_spent_and_the_retry_learns_it(ledger: Ledger) -> None:
    reserved = ledger.reserve(vm.pure("1/10"), scopes=["visits"], key="a", by="ann", query="q")
    assert reserved.new
    again = ledger.reserve(vm.pure("1/10"), scopes=["visits"], key="a", by="ann", query="q")
    assert not again.new and spent(ledger) == vm.pure("1/10")
    with pytest.raises(AnswerLost) as lost:
        ledger.replay("a", by="ann")
    assert lost.value.entry == reserved.request.reserved


def test_an_unknown_scope_is_named_with_those_there_are(ledger: Ledger) -> None:
    with pytest.raises(UnknownScope, match="there are: visits"):
        ledger.reserve(vm.pure("1/10"), scopes=["visit"])
