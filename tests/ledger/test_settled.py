"""What a meter remembers of measurements: only of those that cannot change, only the last ones, and nothing wrong."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import KeyTaken
from viameter.ledger import Ledger, releasing
from viameter.ledger.settled import Itself, is_settled

COUNT = SPACE >> vm.count() >> vm.laplace(scale=10)
LIST: list[int] = [1]


def trusted(privacy: Any, function: Any = len) -> Any:
    return vm.measurement(SPACE, function=function, measure=vm.PureDP, privacy=privacy, trust="for tests")


class Own(vm.SymmetricDistance):
    """A metric of somebody's own."""

    assumption = "for tests"


def a_count(rows: Any) -> int:
    return len(rows) + LIST[0]


SETTLED: dict[str, Any] = {
    "a chain": lambda: COUNT,
    "converted": lambda: COUNT.to(vm.ZCDP, by="pure-to-zcdp-quadratic"),
    "composed": lambda: vm.compose(SPACE, [COUNT, COUNT]),
    "a filter by values": lambda: SPACE >> vm.filter(vm.is_in([1, 2])) >> vm.count() >> vm.laplace(scale=2),
    "a question": lambda: (
        vm.open({"u": [1], "n": [1]}, unit=vm.per("u", rows=2), budget=vm.zcdp(1))
        .agg(n=vm.count(), m=vm.mean("n", bounds=(0, 9)), q=vm.quantile("n", 0.5, bounds=(0, 9)))
        .measurement(spend=vm.zcdp("1/10"))
    ),
}
UNSETTLED: dict[str, Any] = {
    "a map that somebody vouches for": lambda: trusted(lambda d: vm.pure(d * LIST[0])),
    "a function of somebody's own": lambda: trusted(vm.pure, a_count),
    "the library's, with a function of somebody's own": lambda: replace(COUNT.steps[-1], function=a_count),
    "processed by a closure": lambda: COUNT >> vm.postprocess(lambda count: count + LIST[0]),
    "processed by a method of a dict": lambda: COUNT >> vm.postprocess({1: 2}.get),
    "a filter by somebody's function": lambda: (
        SPACE >> vm.filter(lambda row: row in LIST, trust="for tests") >> vm.count() >> vm.laplace(scale=2)
    ),
    "composed with one": lambda: vm.compose(SPACE, [COUNT, trusted(vm.pure)]),
    "a metric of somebody's own": lambda: vm.Space(vm.vectors(int), Own()) >> vm.count() >> vm.laplace(scale=10),
}


@pytest.mark.parametrize("name", SETTLED)
def test_what_the_library_makes_of_plain_values_is_settled(name: str) -> None:
    assert is_settled(SETTLED[name]())


@pytest.mark.parametrize("name", UNSETTLED)
def test_what_holds_something_of_somebody_else_is_not(name: str) -> None:
    assert not is_settled(UNSETTLED[name]())


@pytest.mark.parametrize("value", [[1], {1: 2}, {1}, np.array([1]), (1, [2]), object(), LIST.append, (1, (2, {})), Own])
def test_values_that_may_change_are_not(value: Any) -> None:
    assert not is_settled(value)


def test_an_object_is_itself_and_no_other_that_equals_it() -> None:
    one, same = SPACE >> vm.count() >> vm.laplace(scale=10), SPACE >> vm.count() >> vm.laplace(scale=10)
    assert one == same and Itself(one) == Itself(one) and Itself(one) != Itself(same)
    assert len({Itself(one), Itself(one), Itself(same)}) == 2


@pytest.fixture
def book() -> Ledger:
    made = ledgers.in_memory()
    made.define("visits", vm.pure(10), SPACE)
    return made


def test_what_is_remembered_is_what_would_be_found(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    of = releasing.Facts.of

    def counted(*given: Any) -> Any:
        calls.append(given)
        return of(*given)

    monkeypatch.setattr(releasing.Facts, "of", counted)
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    for _ in range(3):
        meter(COUNT)
    assert len(calls) == 1
    fresh = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    fresh(SPACE >> vm.count() >> vm.laplace(scale=10))
    assert len(calls) == 2
    lines = ledgers.history(book)
    charged = [(line.query, line.costs[0][2], line.certificate) for line in lines if line.costs]
    assert len(charged) == 4 and len({repr(one) for one in charged}) == 1
    assert meter.costs(COUNT) == fresh.costs(COUNT)


def test_a_map_that_has_changed_is_charged_as_it_is(book: Ledger) -> None:
    price = [vm.pure(1)]
    asked = trusted(lambda d: price[0] if d else vm.pure(0))
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    meter(asked)
    price[0] = vm.pure(3)
    meter(asked)
    assert book.scope("visits").spent == vm.pure(4)


def test_a_function_that_has_changed_is_another_question(book: Ledger) -> None:
    table = {1: "one"}
    asked = COUNT >> vm.postprocess(table.get)
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    meter(asked, key="k")
    assert meter.release(asked, key="k").replayed
    table[1] = "two"
    with pytest.raises(KeyTaken):
        meter(asked, key="k")


def test_scopes_with_other_terms_are_charged_by_theirs(book: Ledger) -> None:
    book.define("pairs", vm.pure(10), SPACE, d_in=2)
    book.define("concentrated", vm.zcdp(10), SPACE)
    meter = book.meter(SPACE, [1], scopes=["visits", "pairs", "concentrated"], by="ann", convert=True)
    for _ in range(2):
        losses = [cost.loss for cost in meter.costs(COUNT)]
        assert losses == [vm.pure("1/10"), vm.pure("1/5"), COUNT.to(vm.ZCDP).map(1)]


def test_only_the_last_ones_are_remembered_and_nothing_is_held_of_what_may_change(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releasing, "MOST_REMEMBERED", 2)
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    made = [SPACE >> vm.count() >> vm.laplace(scale=10) for _ in range(3)]
    gone = [weakref.ref(one) for one in made]
    changing = trusted(lambda d: vm.pure(d * LIST[0]))
    gone.append(weakref.ref(changing))
    for one in (*made, changing):
        meter(one)
    del made, one, changing
    gc.collect()
    assert [ref() is None for ref in gone] == [True, False, False, True]


def test_a_meter_is_let_go_at_once(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    meter(COUNT)
    gone = weakref.ref(meter)
    gc.disable()
    try:
        del meter
        assert gone() is None
    finally:
        gc.enable()
