"""What interactive measurements answer: stored in order before it leaves, and the same again from the record."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from tests.ledger.conftest import SPACE
from tests.threads import in_threads

import viameter as vm
from viameter import ledger as ledgers
from viameter.core import External
from viameter.errors import (
    LedgerError,
    OverBudget,
    QueryableEnded,
    QueryableError,
    SealedError,
    UnknownQuery,
)
from viameter.ledger import Ledger
from viameter.ledger.codec import decode
from viameter.ledger.recording import describe_query
from viameter.ledger.stores.memory import MemoryStore

DATA = [1] * 400 + [2] * 3
HALF = vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure("1/2"))
NESTED = vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure("1/4"))
WATCH = vm.sparse_vector(SPACE, threshold=200, scale=8)
PLAN = vm.adaptive(SPACE, d_in=1, losses=[vm.pure("1/10"), vm.pure("1/5")])


def counting(scale: Any, *kept: int) -> Any:
    rows = SPACE >> vm.filter(vm.is_in(list(kept))) if kept else SPACE
    return rows >> vm.count() >> vm.laplace(scale=scale)


def spawning(transition: Any, cost: Any = "1/10") -> Any:
    """A measurement that releases a queryable of one's own."""

    def made(rows: Any) -> Any:
        return vm.Queryable(lambda self, query: transition(rows, query.query), name="own")

    return vm.measurement(SPACE, function=made, measure=vm.PureDP, privacy=lambda d: vm.pure(cost), trust="for tests")


def echo(rows: Any, query: Any) -> Any:
    if query == "fail":
        raise ValueError(f"row {rows[0]}")
    if query == "refuse":
        raise UnknownQuery("<own>", query)
    if query == "odd":
        return 1j
    if query == "huge":
        return 10**5000
    return [query, len(rows)]


def opened(store: Any = None) -> tuple[Ledger, Any]:
    store = store or MemoryStore()
    book = Ledger(lambda: store)
    book.begin()
    book.define("visits", vm.pure(1), SPACE)
    return book, store


def within(book: Ledger) -> list[Any]:
    """Entries of answers that something spawned gave."""
    return [entry.record for entry in book.entries() if entry.record.get("number")]


def again(book: Ledger, key: str = "k") -> Any:
    return book.replay(key, by="ann").value


def spawned(book: Ledger, measurement: Any, key: str = "k", identity: str = "") -> Any:
    return book.meter(SPACE, DATA, scopes=["visits"], by="ann")(measurement, key=key, identity=identity)


# In order, before they leave.


class Watched(MemoryStore):
    """A store that says what it holds when it is asked to hold more."""

    def contents(self) -> list[bytes | None]:
        return [answer.content for answer in self.all_answers()]


def test_answers_are_stored_before_they_leave_and_in_order() -> None:
    book, store = opened(Watched())
    asked = spawned(book, HALF)
    assert len(store.contents()) == 1
    for number in range(1, 6):
        answer = asked(counting(10))
        assert decode(store.contents()[-1]) == answer and len(store.contents()) == number + 1
    assert [record["number"] for record in within(book)] == [1, 2, 3, 4, 5]
    assert {record["kind"] for record in within(book)} == {"answer"}
    assert book.scope("visits").spent == vm.pure("1/2")  # all of it when it was spawned, nothing since
    assert ledgers.verify(book).ok


def test_an_answer_that_cannot_be_stored_does_not_leave() -> None:
    book, store = opened()
    asked = spawned(book, HALF)
    store.writing = None  # the disk is gone
    with pytest.raises(TypeError):
        asked(counting(10))
    del store.writing
    assert not within(book)


def test_answers_are_given_again_in_order_and_only_those() -> None:
    book, store = opened()
    asked = spawned(book, HALF)
    first, second = asked(counting(10)), asked(counting(20))
    later = Ledger(lambda: store)  # another process
    replay = again(later)
    assert [replay(counting(10)), replay(counting(20))] == [first, second]
    for other in (counting(10), counting(30), None):
        with pytest.raises(QueryableEnded, match="the 2 answers"):
            replay(other)
    replay = again(later)
    with pytest.raises(QueryableEnded):
        replay(counting(20))  # not its turn
    with pytest.raises(QueryableEnded):
        replay(counting(10, 1))  # of other rows
    assert replay(counting(10)) == first
    assert book.head.seq == 6 and repr(replay) == "<stored answers of a queryable>"


def test_a_release_under_the_same_key_replays_what_was_spawned() -> None:
    book, _ = opened()
    first = spawned(book, HALF)(counting(10))
    head = book.head
    assert spawned(book, HALF)(counting(10)) == first and book.head == head
    with pytest.raises(QueryableEnded):
        spawned(book, HALF)(counting(20))


# Kinds of interactive measurements.


def test_a_sparse_vector_is_recorded_until_it_ends() -> None:
    book, store = opened()
    above = spawned(book, WATCH)
    few, many = (SPACE >> vm.filter(vm.is_in([value])) >> vm.count() for value in (2, 1))
    assert [above(few), above(few), above(many)] == [False, False, True]
    with pytest.raises(QueryableEnded, match="has said yes"):
        above(few)
    assert len(within(book)) == 3  # that it ended is no answer
    replay = again(Ledger(lambda: store))
    assert [replay(few), replay(few), replay(many)] == [False, False, True]
    assert ledgers.verify(book).ok


def test_an_adaptive_plan_is_recorded() -> None:
    book, _ = opened()
    ask = spawned(book, PLAN)
    with pytest.raises(OverBudget):
        ask(counting(5))  # dearer than planned: refused, and not recorded
    given = [ask(counting(10)), ask(counting(5))]
    with pytest.raises(QueryableEnded):
        ask(counting(10))
    assert len(within(book)) == 2
    replay = again(book)
    assert [replay(counting(10)), replay(counting(5))] == given
    assert book.scope("visits").spent == vm.pure("3/10")


def test_what_is_spawned_within_is_recorded_too() -> None:
    book, store = opened()
    outer = spawned(book, HALF)
    inner = outer(NESTED)
    given = [inner(counting(10)), outer(counting(8)), inner(counting(20)), outer(counting(16))]
    with pytest.raises(OverBudget):
        inner(counting(5))
    with pytest.raises(OverBudget):
        outer(counting(5))
    assert len(within(book)) == 5
    replay = again(Ledger(lambda: store))
    child = replay(NESTED)
    assert [child(counting(10)), replay(counting(8)), child(counting(20)), replay(counting(16))] == given
    replay = again(book)
    child = replay(NESTED)
    with pytest.raises(QueryableEnded):
        replay(counting(10))  # that one was asked of the child
    assert ledgers.verify(book).ok


def test_several_in_one_release_keep_apart() -> None:
    def made(rows: Any) -> Any:
        def child(name: str) -> Any:
            return vm.Queryable(lambda self, query: f"{name}: {query.query}")

        return {"a": child("a"), "b": [child("b")]}

    both = vm.measurement(SPACE, function=made, measure=vm.PureDP, privacy=lambda d: vm.pure("1/10"), trust="tests")
    book, _ = opened()
    released = spawned(book, both)
    assert released["b"][0]("x") == "b: x" and released["a"]("x") == "a: x"
    replay = again(book)
    with pytest.raises(QueryableEnded):
        replay["a"]("x")
    assert replay["b"][0]("x") == "b: x" and replay["a"]("x") == "a: x"


# What fails, and what is refused.


def test_a_failure_within_is_an_answer() -> None:
    book, _ = opened()
    asked = spawned(book, spawning(echo))
    assert asked("a") == ["a", len(DATA)]
    for query in ("fail", "odd"):  # it raised; it gave what cannot be stored
        with pytest.raises(SealedError) as failed:
            asked(query)
        assert str(failed.value) == SealedError.TEXT and failed.value.__cause__ is None is failed.value.__context__
    assert asked("b") == ["b", len(DATA)]
    assert [record["kind"] for record in within(book)] == ["answer", "fail", "fail", "answer"]
    assert "answer" not in within(book)[1] and "size" not in within(book)[1]
    replay = again(book)
    assert replay("a") == ["a", len(DATA)]
    for query in ("fail", "odd"):
        with pytest.raises(SealedError):
            replay(query)
    assert replay("b") == ["b", len(DATA)]
    assert ledgers.verify(book).ok


def test_numbers_of_any_length_are_answers() -> None:
    book, _ = opened()
    assert spawned(book, spawning(echo))("huge") == 10**5000 == again(book)("huge")


def test_a_refusal_within_is_not_recorded() -> None:
    book, _ = opened()
    asked, head = spawned(book, spawning(echo)), book.head
    with pytest.raises(UnknownQuery):
        asked("refuse")
    assert book.head == head
    assert asked("a") == ["a", len(DATA)] and [record["number"] for record in within(book)] == [1]


# What may be had of a queryable beside its answers.


def test_a_meter_still_tells_its_losses() -> None:
    book, _ = opened()
    asked = spawned(book, HALF)
    asked(counting(10))
    assert (asked.budget, asked.spent, asked.left) == (vm.pure("1/2"), vm.pure("1/10"), vm.pure("2/5"))
    assert asked.loss() == vm.pure("1/10") and asked.preview(counting(10)).fits and len(asked.history) == 1
    assert len(within(book)) == 1


def test_nothing_answers_unrecorded() -> None:
    book, _ = opened()

    def tells(rows: Any, query: Any) -> Any:
        return 41

    asked = spawned(book, spawning(tells))
    for name in ("ask", "holding", "_answer", "_machine", "transition", "member", "budget"):
        with pytest.raises(AttributeError):
            getattr(asked, name)
    asked = spawned(book, HALF, "h")
    for name in ("ask", "holding", "_answer", "_machine"):
        with pytest.raises(AttributeError):
            getattr(asked, name)
    assert not within(book)


def test_it_cannot_be_copied_or_pickled() -> None:
    book, _ = opened()
    asked = spawned(book, HALF)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(QueryableError, match="cannot be copied or pickled"):
            attempt(asked)
    assert "recorded" in repr(asked)


# Queries are known again by all that they are.


def test_queries_that_differ_are_told_apart() -> None:
    long, other = np.arange(5000), np.arange(5000)
    other[2500] = 7
    queries: list[Any] = [
        long, other, 1, "1", 1.0, True, None, (1,), [1], counting(10), counting(20), counting(10, 1),
        SPACE >> vm.count(), External(1), vm.pure(1), vm.pure("1/2"),
    ]  # fmt: skip
    digests = [describe_query(0, query) for query in queries]
    assert len(set(digests)) == len(queries)
    assert describe_query(0, long) == describe_query(0, np.arange(5000)) != describe_query(1, long)
    assert describe_query(0, counting(10)) == describe_query(0, counting(10))


# Threads.


def test_threads_share_what_was_spawned_and_each_answer_is_stored_once() -> None:
    book, _ = opened()
    asked = spawned(book, spawning(echo))
    given: list[Any] = []

    def ask(name: int) -> Any:
        return lambda: given.extend(asked(f"{name}/{turn}") for turn in range(10))

    in_threads(*(ask(name) for name in range(4)))
    assert [record["number"] for record in within(book)] == list(range(1, 41))
    (request,) = book.store.requests()
    stored = [decode(answer.content or b"") for answer in book.stored(request)[1:]]
    assert sorted(map(repr, stored)) == sorted(map(repr, given)) and ledgers.verify(book).ok
    replay = again(book)
    assert [replay(answer[0]) for answer in stored] == stored


def test_an_answer_is_stored_before_the_next_is_computed() -> None:
    book, _ = opened()
    computed, storing = threading.Event(), threading.Event()

    def tells(rows: Any, query: Any) -> Any:
        if query == "second":
            computed.set()
        return query

    asked, record = spawned(book, spawning(tells), identity="it tells"), book.record

    def slow(*given: Any, **options: Any) -> Any:
        storing.set()
        computed.wait(0.2)  # time enough for the other one, if it does not wait
        return record(*given, **options)

    book.record = slow  # type: ignore[method-assign]

    def second() -> None:
        assert storing.wait(30)
        asked("second")

    in_threads(lambda: asked("first"), second)
    assert [again(book)(query) for query in ("first",)] == ["first"]
    assert [record["number"] for record in within(book)] == [1, 2]


def test_what_others_stored_in_between_ends_a_queryable() -> None:
    book, _ = opened()
    asked = spawned(book, spawning(echo))
    (request,) = book.store.requests()
    book.record(request, 1, "q", b"1")
    with pytest.raises(LedgerError, match="stored in order"):
        asked("a")
    for number in (0, 1, 3):
        with pytest.raises(LedgerError, match="stored in order"):
            book.record(request, number, "q", b"1")
    assert ledgers.verify(book).ok


def test_what_processing_raises_carries_nothing_away_unstored() -> None:
    book, _ = opened()
    asked = spawned(book, HALF)

    def carry(value: Any) -> Any:
        raise vm.errors.ParameterError(f"the answer is {value}")

    with pytest.raises(vm.errors.ParameterError):
        asked(counting(10) >> vm.postprocess(carry))
    # It was stored before it was processed, and the processing is the asker's own.
    assert len(within(book)) == 1
    assert asked.spent == vm.pure("1/10") and ledgers.verify(book).ok
    replay = again(book)
    assert isinstance(replay(counting(10) >> vm.postprocess(lambda value: f"{value}")), str)


def test_what_is_spawned_answers_until_the_scope_that_paid_starts_over() -> None:
    book, _ = opened()
    book.define("monthly", vm.pure(1), SPACE, renews="rows")
    asked = book.meter(SPACE, DATA, scopes=["monthly"], by="ann")(HALF, key="k")
    asked(counting(10))
    book.renew("monthly", why="new rows")
    with pytest.raises(vm.errors.PermissionGone, match="started over"):
        asked(counting(10))
    assert ledgers.verify(book).ok
