"""Releases: what is charged when a run fails, stalls or is interrupted, and no data anywhere."""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import pickle
import queue
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.ledger.conftest import SPACE
from tests.processes import alone
from tests.threads import in_threads

import viameter as vm
from viameter import ledger as ledgers
from viameter.core.deadlines import read_deadline, run_by
from viameter.errors import (
    AnswerLost,
    LedgerError,
    MetricMismatch,
    NoTheorem,
    OverBudget,
    ParameterError,
    PermissionGone,
    QueryableError,
    SealedError,
    ViameterError,
)
from viameter.ledger import Ledger, Terms
from viameter.ledger.codec import decode
from viameter.ledger.releasing import STAYS
from viameter.ledger.requests import NowPaysToo

COUNT = SPACE >> vm.count() >> vm.laplace(scale=10)
TENTH = vm.pure("1/10")
CANARY = 918273645
"""A value that no digest contains by chance."""


@pytest.fixture
def book() -> Iterator[Ledger]:
    made = ledgers.in_memory()
    made.define("visits", vm.pure(1), SPACE)
    yield made
    ledgers.verify(made).require()


def own(function: Any, cost: Any = TENTH) -> Any:
    return vm.measurement(
        SPACE, function=function, measure=vm.PureDP, privacy=lambda d: cost if d else vm.pure(0), trust="for tests"
    )


def kinds(book: Ledger) -> list[str]:
    return [entry.kind for entry in book.entries()][2:]


# The protocol, in its order.


def test_it_is_charged_before_it_runs_and_stored_before_it_leaves(book: Ledger) -> None:
    seen: list[Any] = []

    def look(rows: Any) -> int:
        seen.append((book.scope("visits").spent, kinds(book)))
        return 17

    released = book.meter(SPACE, [1], scopes=["visits"], by="ann").release(own(look), key="k")
    assert seen == [(TENTH, ["reserve"])]
    (request,) = book.store.requests()
    (stored,) = book.stored(request)
    assert stored.content == released.content and (stored.seq, request.settled) == (4, 4)
    assert (released.reserved, released.stored, released.replayed, released.value) == (3, 4, False, 17)
    assert kinds(book) == ["reserve", "commit"] and "new" in repr(released)


def test_an_answer_is_of_the_scopes_that_paid_for_it(book: Ledger) -> None:
    book.define("others", vm.pure(1), SPACE)
    visits, others = (book.meter(SPACE, [1], scopes=[name], by="ann") for name in ("visits", "others"))
    visits(COUNT, key="k")
    (request,) = book.store.requests()
    assert visits.is_of(request, COUNT) and not others.is_of(request, COUNT)
    assert not visits.is_of(request, SPACE >> vm.count() >> vm.laplace(scale=11))


def test_units_of_another_column_are_not_those_of_the_scope(book: Ledger) -> None:
    rows = vm.tables({"patient": str, "ward": str})
    patients, wards = (vm.Space(rows, vm.SymmetricIdDistance(name)) for name in ("patient", "ward"))
    book.define("patients", vm.pure(1), patients)
    meter = book.meter(patients, {"patient": ["a"], "ward": ["b"]}, scopes=["patients"], by="ann")
    for space in (wards, vm.Space(rows, vm.SymmetricDistance())):
        asked = vm.measurement(space, function=len, measure=vm.PureDP, privacy=lambda _: TENTH, trust="for tests")
        with pytest.raises(MetricMismatch):
            meter(asked, key="k")
    assert book.scope("patients").spent == vm.pure(0)


def test_what_leaves_is_what_was_stored_also_the_first_time(book: Ledger) -> None:
    value: list[Any] = [1, (2, 3), np.arange(3)]
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    # What a function holds is part of what it is known by: this one is said to be the same.
    held: queue.SimpleQueue[Any] = queue.SimpleQueue()
    held.put(value)
    asked = own(lambda rows: held.get_nowait())
    first = meter(asked, key="k", identity="held")
    assert first is not value and first[2] is not value[2]
    value[0] = 41
    again = meter(asked, key="k", identity="held")
    assert first[:2] == again[:2] == [1, (2, 3)] and (first[2] == again[2]).all()
    assert "stored before" in repr(meter.release(asked, key="k", identity="held"))


def test_data_are_those_that_were_handed_over(book: Ledger) -> None:
    rows = [1, 2, 3]
    meter = book.meter(SPACE, rows, scopes=["visits"])
    rows.append(4)

    def change(seen: Any) -> int:
        number = len(seen)
        with contextlib.suppress(Exception):
            seen.append(5)
        return number

    assert [meter(own(change)) for _ in range(2)] == [3, 3]


def test_an_array_that_is_changed_afterwards_is_not_the_one_that_was_handed_over(book: Ledger) -> None:
    rows = np.array([1, 2, 3])
    meter = book.meter(SPACE, rows, scopes=["visits"])
    rows[0] = 41
    assert meter(own(lambda seen: int(seen[0]))) == 1


def test_every_scope_pays(book: Ledger) -> None:
    book.define("ann", vm.pure("1/5"), SPACE)
    meter = book.meter(SPACE, [1], scopes=["visits", "ann"], by="ann")
    meter(COUNT)
    meter(COUNT)
    assert (book.scope("visits").spent, book.scope("ann").spent) == (vm.pure("1/5"), vm.pure("1/5"))
    assert not meter.fits(COUNT) and book.meter(SPACE, [1], scopes=["visits"]).fits(COUNT)
    with pytest.raises(OverBudget) as refused:
        meter(COUNT)
    assert refused.value.scope == "ann" and book.scope("visits").spent == vm.pure("1/5")


def test_recipes_are_completed_on_the_meters_space(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    first = meter.release(vm.count() >> vm.laplace(scale=10), key="k")
    assert meter.fits(vm.count() >> vm.laplace(scale=10))
    assert meter.release(COUNT, key="k").content == first.content
    line = ledgers.history(book)[2]
    assert line.query == "count() >> laplace(scale=10)" and line.costs == (("visits", None, TENTH, TENTH),)


# What goes wrong.


def stalls(rows: Any) -> int:
    threading.Event().wait(30)
    return 1


def fails(rows: Any) -> int:
    raise ValueError(f"row {rows[0]}")


def exits(rows: Any) -> int:
    raise SystemExit(f"row {rows[0]}")


def odd(rows: Any) -> Any:
    return object()


def mixed(rows: Any) -> Any:
    return {"a": 1, "b": [lambda: rows]}


def after(rows: Any) -> Any:
    return iter([rows])


@pytest.mark.parametrize("deadline", [None, 0.05])
@pytest.mark.parametrize("function", [stalls, fails, exits, odd, mixed, after], ids=lambda one: one.__name__)
def test_whatever_goes_wrong_is_one_error_one_entry_and_one_charge(book: Ledger, function: Any, deadline: Any) -> None:
    if function is stalls and deadline is None:
        return
    meter = book.meter(SPACE, [CANARY], scopes=["visits"], by="ann", deadline=deadline)
    with pytest.raises(SealedError) as failed:
        meter(own(function), key="k")
    error = failed.value
    assert type(error) is SealedError and str(error) == SealedError.TEXT
    assert error.__cause__ is None and error.__suppress_context__ is False and error.__context__ is None
    assert error.__notes__ == [STAYS]
    assert book.scope("visits").spent == TENTH and kinds(book) == ["reserve", "fail"]
    record = list(book.entries())[-1].record
    assert (record["kind"], record["number"], record["reserved"]) == ("fail", 0, 3)
    assert "answer" not in record and str(CANARY) not in str(record)
    with pytest.raises(SealedError) as again:
        meter(own(function), key="k")
    assert (str(again.value), again.value.__notes__) == (str(error), error.__notes__)
    assert kinds(book) == ["reserve", "fail"]
    assert ledgers.history(book)[-1].text == "entry 3 failed; it stays charged"


def test_a_deadline_that_is_met_changes_nothing(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], deadline=60)
    assert meter(own(len)) == 1 and meter.deadline == 60.0
    assert meter(own(len), deadline=30) == 1
    with pytest.raises(SealedError):  # the one of the call counts
        meter(own(stalls), deadline=0.05)


@pytest.mark.parametrize("deadline", [0, -1, float("inf"), float("nan"), "5", True, [1]])
def test_deadlines_are_seconds(book: Ledger, deadline: Any) -> None:
    with pytest.raises(ParameterError, match="deadline"):
        read_deadline(deadline)
    with pytest.raises(ParameterError, match="deadline"):
        book.meter(SPACE, [1], scopes=["visits"], deadline=deadline)
    with pytest.raises(ParameterError, match="deadline"):
        book.meter(SPACE, [1], scopes=["visits"])(COUNT, deadline=deadline)
    assert kinds(book) == []


def test_late_and_failed_are_the_same_to_whoever_waits() -> None:
    for function in (lambda: stalls([1]), lambda: fails([CANARY]), lambda: exits([CANARY])):
        with pytest.raises(SealedError) as failed:
            run_by(0.05, function)
        assert failed.value.__cause__ is None is failed.value.__context__
    assert run_by(60, lambda: 17) == run_by(None, lambda: 17) == 17


def test_what_comes_too_late_is_dropped(book: Ledger) -> None:
    let_go, done = threading.Event(), threading.Event()

    def late(rows: Any) -> int:
        let_go.wait(30)
        done.set()
        return 17

    with pytest.raises(SealedError):
        book.meter(SPACE, [1], scopes=["visits"], by="ann", deadline=0.05)(own(late), key="k", identity="late")
    let_go.set()
    assert done.wait(30)
    with pytest.raises(SealedError):
        book.replay("k", by="ann")
    assert kinds(book) == ["reserve", "fail"]


def test_an_interrupt_leaves_it_charged_and_unanswered(book: Ledger) -> None:
    def interrupted(rows: Any) -> int:
        raise KeyboardInterrupt(f"row {rows[0]}")

    meter = book.meter(SPACE, [CANARY], scopes=["visits"], by="ann")
    with pytest.raises(KeyboardInterrupt) as passed:
        meter(own(interrupted), key="k")
    assert str(CANARY) not in str(passed.value)
    assert kinds(book) == ["reserve"] and book.scope("visits").spent == TENTH
    for attempt in (lambda: meter(own(interrupted), key="k"), lambda: book.replay("k", by="ann")):
        with pytest.raises(AnswerLost) as lost:
            attempt()
        assert (lost.value.key, lost.value.entry, lost.value.at) == ("k", 3, book.time_of(3))
    assert kinds(book) == ["reserve"]


def test_a_question_that_is_still_running_is_not_run_again(book: Ledger) -> None:
    running, let_go = threading.Event(), threading.Event()
    ran: queue.SimpleQueue[int] = queue.SimpleQueue()

    def slow(rows: Any) -> int:
        ran.put(1)
        running.set()
        let_go.wait(30)
        return 17

    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    asked = own(slow)

    def ask_again() -> None:
        assert running.wait(30)
        with pytest.raises(AnswerLost):
            meter(asked, key="k", identity="slow")
        let_go.set()

    in_threads(lambda: meter(asked, key="k", identity="slow"), ask_again)
    assert ran.qsize() == 1 and book.scope("visits").spent == TENTH
    assert meter(asked, key="k", identity="slow") == 17


def test_threads_with_one_key_run_it_once(book: Ledger) -> None:
    ran: queue.SimpleQueue[int] = queue.SimpleQueue()
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")

    def count(rows: Any) -> int:
        ran.put(1)
        return ran.qsize()

    asked = own(count)

    def ask() -> None:
        with contextlib.suppress(AnswerLost):
            assert meter(asked, key="k", identity="count") == 1

    in_threads(*[ask] * 6)
    assert ran.qsize() == 1 and kinds(book) == ["reserve", "commit"]


def test_where_answers_may_not_be_interleaved_what_was_spawned_answers_until_the_next_charge(book: Ledger) -> None:
    book.define("rho", vm.approx_zcdp(1, "1e-6"), SPACE)
    book.define("delta", vm.approx(1, "1e-6"), SPACE, rule="concentrated")
    assert [scope.interleaves for scope in book.scopes()] == [False, False, True]
    spawns = vm.measurement(
        SPACE,
        function=lambda rows: {"a": [vm.Queryable(lambda self, query: query.query)]},
        measure=vm.ApproxZCDP,
        privacy=lambda d: vm.approx_zcdp("1/100", 0),
        trust="for tests",
    )
    once = vm.measurement(
        SPACE, function=len, measure=vm.ApproxZCDP, privacy=lambda d: vm.approx_zcdp("1/100", 0), trust="for tests"
    )
    rho = book.meter(SPACE, [1], scopes=["rho"], by="ann")
    first = rho(spawns, key="k")["a"][0]
    assert first(1) == 1
    book.meter(SPACE, [1], scopes=["visits"])(COUNT)  # of another budget
    assert first(2) == 2
    second = rho(spawns)["a"][0]
    head = book.head
    with pytest.raises(PermissionGone):
        first(3)
    assert book.head == head and second(1) == 1
    rho(once)
    with pytest.raises(PermissionGone):
        second(2)
    stored = book.replay("k", by="ann").value["a"][0]
    assert [stored(1), stored(2)] == [1, 2]
    # Also if only one of the scopes that pay is such a one.
    filtered = vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure("1/20"))
    both = book.meter(SPACE, [1], scopes=["visits", "delta"], convert=True)(filtered)
    tiny = SPACE >> vm.count() >> vm.laplace(scale=100)
    assert isinstance(both(tiny), int)
    book.meter(SPACE, [1], scopes=["delta"])(tiny)
    with pytest.raises(PermissionGone):
        both(tiny)


def test_shares_are_of_budgets_that_may_be_spent_side_by_side(book: Ledger) -> None:
    book.define("rho", vm.approx_zcdp(1, "1e-6"), SPACE)
    terms = Terms.read(vm.approx_zcdp("1/2", 0), SPACE)
    with pytest.raises(NoTheorem, match="one after the other"):
        book.reserve(vm.approx_zcdp("1/2", 0), scopes=["rho"], opens={"share": terms})
    assert kinds(book) == ["define"]


# Reservations by hand.


def test_only_who_reserved_may_answer_and_once(book: Ledger) -> None:
    reserved = book.reserve(TENTH, scopes=["visits"], key="k", by="ann", query="q")
    known = book.reserve(TENTH, scopes=["visits"], key="k", by="ann", query="q")
    wrong: list[Any] = [known, None, reserved.request, b"x"]
    for one in wrong:
        with pytest.raises(ParameterError, match="newly made here"):
            book.commit(one, b"1")
        with pytest.raises(ParameterError, match="newly made here"):
            book.fail(one)
    for content in ("1", None, 1, bytearray(b"1")):
        with pytest.raises(ParameterError, match="as bytes"):
            book.commit(reserved, content)  # type: ignore[arg-type]
    other = ledgers.in_memory()
    other.define("visits", vm.pure(1), SPACE)
    other.reserve(TENTH, scopes=["visits"], key="k", by="ann", query="q")
    with pytest.raises(LedgerError, match="not a request of this ledger"):
        other.commit(reserved, b"1")
    with pytest.raises(LedgerError, match="no request of this call that was answered"):
        book.record(reserved.request, 1, "q", b"1")  # before its own answer
    book.commit(reserved, b"1")
    with pytest.raises(LedgerError, match="answered already"):
        book.commit(reserved, b"1")
    with pytest.raises(LedgerError, match="answered already"):
        book.fail(reserved)
    assert kinds(book) == ["reserve", "commit"]


# No data.


def test_nothing_of_the_data_is_in_the_ledger_in_errors_or_in_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    errors: list[str] = []

    def noisy(rows: Any) -> Any:
        warnings.warn(f"row {rows[0]}", stacklevel=1)
        raise ValueError(f"row {rows[0]}")

    def tells(rows: Any) -> Any:
        return vm.Queryable(lambda self, query: 1 // (rows[0] - CANARY))

    with ledgers.open(tmp_path / "budget.db") as book:
        book.define("visits", vm.pure(1), SPACE)
        meter = book.meter(SPACE, [CANARY] * 7, scopes=["visits"], by="ann")
        attempts: list[Any] = [
            lambda: meter(own(noisy), key="a"),
            lambda: meter(own(noisy), key="a"),
            lambda: meter(own(lambda rows: {object(): rows[0]}), key="b"),
            lambda: meter(own(tells), key="c")("x"),
            lambda: meter(own(lambda rows: rows, vm.pure(5)), key="d"),
            lambda: meter(own(noisy), key="e", deadline=5),
            lambda: meter(SPACE >> vm.count(), key="f"),
            lambda: book.meter(SPACE, [CANARY, "x"], scopes=["visits"]),
            lambda: book.meter(SPACE, [CANARY], scopes=["nobody"]),
            lambda: book.reserve(CANARY, scopes=["visits"], of=[CANARY]),  # type: ignore[arg-type]
            lambda: pickle.dumps(meter),
        ]
        for attempt in attempts[:9] + attempts[10:]:
            with pytest.raises(ViameterError) as failed:
                attempt()
            chain, error = [], failed.value
            chain += [str(error), repr(error), repr(vars(error)), *getattr(error, "__notes__", ())]
            assert error.__cause__ is None
            errors += chain
        meter(COUNT, key="g", label="May")
        said = [entry.body for entry in book.entries()] + [text for _, text in book.store.documents()]
        said += [repr(book), repr(meter), repr(book.scopes()), repr(ledgers.history(book))]
        assert ledgers.verify(book).ok
    said += [path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()]
    said += [caplog.text, *capfd.readouterr(), *errors]
    assert not [text for text in said if str(CANARY) in text]
    assert str(CANARY) in str([CANARY])  # it would be seen


def test_a_meter_cannot_be_copied_or_pickled(book: Ledger) -> None:
    meter = book.meter(SPACE, [CANARY], scopes=["visits"])
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(QueryableError, match="cannot be copied or pickled"):
            attempt(meter)
    assert str(CANARY) not in repr(meter)


def test_answers_are_the_noisy_ones_alone(book: Ledger) -> None:
    meter = book.meter(SPACE, [CANARY] * 5, scopes=["visits"], by="ann")
    released = meter.release(COUNT, key="k")
    assert decode(released.content) == released.value and isinstance(released.value, int)
    assert book.document(ledgers.history(book)[2].certificate or "") == COUNT.certificate(1).text


@alone
def test_a_ledger_in_memory_is_not_spent_again_by_a_forked_process() -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.pure(1), SPACE)
    book.reserve(vm.pure(1), scopes=["visits"])
    child = os.fork()
    if child == 0:
        # A copy of the ledger that nobody else sees would have the budget once more.
        try:
            book.reserve(vm.pure(0), scopes=["visits"])
        except LedgerError as refused:
            os._exit(7 if "forked" in str(refused) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert not book.reserve(vm.pure(0), scopes=["visits"]).request.settled


def test_an_exit_raised_in_the_run_is_a_failure_like_any_other() -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.pure(1), SPACE)
    asked = SPACE >> vm.count() >> vm.laplace(scale=10) >> vm.postprocess(leaving)
    with pytest.raises(SealedError):
        book.meter(SPACE, [1], scopes=["visits"], by="ann")(asked, key="k")
    assert book.scope("visits").spent == vm.pure("1/10") and [*book.entries()][-1].kind == "fail"


def leaving(value: Any) -> Any:
    raise SystemExit(f"the answer is {value}")


def test_nothing_is_charged_once_a_scope_is_there_that_has_to_pay_too(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann", unless=["visits@ann"])
    assert meter(own(len), key="before") == 1
    before = book.scope("visits").spent
    book.define("visits@ann", vm.pure("1/100"), SPACE)
    with pytest.raises(NowPaysToo, match="'visits@ann' was made meanwhile"):
        meter(own(len), key="after")
    assert book.scope("visits").spent == before
    assert meter(own(len), key="before") == 1  # which was paid for
