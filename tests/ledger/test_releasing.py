"""Releases: what is charged when a run fails, stalls or is interrupted, what a question is known by, and no data."""

from __future__ import annotations

import contextlib
import copy
import functools
import logging
import operator
import os
import pickle
import queue
import re
import subprocess
import sys
import textwrap
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
    KeyTaken,
    LedgerError,
    NoTheorem,
    OverBudget,
    ParameterError,
    PermissionGone,
    QueryableEnded,
    QueryableError,
    SealedError,
    ViameterError,
)
from viameter.ledger import Ledger, Terms
from viameter.ledger.codec import decode
from viameter.ledger.identity import describe
from viameter.ledger.recording import describe_query
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


# What a question is known by.

BUDGET = vm.approx("1/10", "1e-6")


def binned(keys: Any) -> Any:
    return SPACE >> vm.histogram(keys=keys) >> vm.laplace(scale=20)


DIFFERENT: list[Any] = [
    lambda: SPACE >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.count() >> vm.laplace(scale=11),
    lambda: SPACE >> vm.count() >> vm.laplace(scale="10.000000000000000000001"),
    lambda: SPACE >> vm.filter(vm.is_in([1])) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.filter(vm.is_in([2])) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.filter(vm.is_in([1, 2])) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.filter(vm.between(0, 1)) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.clamp(bounds=(0, 10)) >> vm.sum() >> vm.laplace(scale=100),
    lambda: SPACE >> vm.clamp(bounds=(0, 9)) >> vm.sum() >> vm.laplace(scale=100),
    lambda: SPACE >> vm.clamp(bounds=(-1, 10)) >> vm.sum() >> vm.laplace(scale=100),
    lambda: SPACE >> vm.count() >> vm.laplace(scale=10) >> vm.postprocess(abs),
    lambda: SPACE >> vm.count() >> vm.laplace(scale=10) >> vm.postprocess(float),
    lambda: SPACE >> vm.histogram(keys=list(range(3000))) >> vm.laplace(scale=10),
    lambda: SPACE >> vm.histogram(keys=[*range(1500), 9999, *range(1501, 3000)]) >> vm.laplace(scale=10),
    lambda: vm.sparse_vector(SPACE, threshold=5, scale=20),
    lambda: vm.sparse_vector(SPACE, threshold=6, scale=20),
    lambda: vm.sparse_vector(SPACE, threshold=5, scale=40, limit=2),
    lambda: vm.Odometer(SPACE, vm.PureDP).filter(d_in=1, budget=vm.pure("1/10")),
    lambda: vm.Odometer(SPACE, vm.PureDP).filter(d_in=2, budget=vm.pure("1/10")),
    lambda: vm.Odometer(SPACE, vm.PureDP, convert=True).filter(d_in=1, budget=vm.pure("1/10")),
    lambda: vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=BUDGET),
    lambda: vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=BUDGET, rule="advanced"),
    lambda: vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=BUDGET, rule="advanced", slack="1e-8"),
    lambda: vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=BUDGET, rule="concentrated"),
    lambda: SPACE >> vm.filter(vm.is_in(list(range(500)))) >> vm.count() >> vm.laplace(scale=10),
    lambda: SPACE >> vm.filter(vm.is_in([*range(499), 600])) >> vm.count() >> vm.laplace(scale=10),
    lambda: vm.compose(SPACE, [binned([*range(100)]), binned([*range(100)])]),
    lambda: vm.compose(SPACE, [binned([*range(100)]), binned([*range(99), 200])]),
]


def identity(measurement: Any) -> str:
    """What the ledger tells a question by, made in a ledger of its own."""
    book = ledgers.in_memory()
    book.define("visits", vm.pure(10) if measurement.measure == vm.PureDP else vm.approx(1, "1e-3"), SPACE)
    book.meter(SPACE, [1, 2], scopes=["visits"], by="ann")(measurement, key="k")
    return str(book.entry(3).record["digest"])


def test_questions_that_differ_in_any_parameter_are_told_apart_and_made_again_are_the_same() -> None:
    made = [identity(make()) for make in DIFFERENT]
    assert [number for number, one in enumerate(made) if made.index(one) != number] == []
    assert [identity(make()) for make in DIFFERENT] == made


def test_a_question_is_the_same_in_another_process(tmp_path: Path) -> None:
    script = """
        import sys, viameter as vm
        from viameter import ledger
        space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
        asked = space >> vm.filter(vm.is_in([3, 1, 2])) >> vm.count() >> vm.laplace(scale=10)
        with ledger.open(sys.argv[1]) as book:
            book.define("visits", vm.pure(1), space, by="ann")
            for data in ([1], [1, 2]):
                released = book.meter(space, data, scopes=["visits"], by="ann").release(asked, key="k")
            spent = book.scope("visits").spent
            print(released.content, released.reserved, spent)
    """
    made = [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "budget.db")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert made[0] == made[1] and made[0].endswith("3 pure(1/10)\n")


def test_a_callers_identity_tells_questions_apart(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    meter(COUNT, key="k", identity="of May")
    for other in ("", "of June"):
        with pytest.raises(KeyTaken):
            meter(COUNT, key="k", identity=other)
    assert meter.release(COUNT, key="k", identity="of May", label="again").replayed


def test_a_question_of_any_length_is_asked_and_its_whole_text_counts(book: Ledger) -> None:
    book.define("orders", vm.renyi({order: order for order in range(2, 250)}), SPACE)
    meter = book.meter(SPACE, [1], scopes=["orders"], by="ann")

    def plan(last: Any) -> Any:
        curve = {**{order: order - 1 for order in range(2, 250)}, 250: last}
        return vm.Odometer(SPACE, vm.RenyiDP).filter(d_in=1, budget=vm.renyi(curve))

    meter(plan(249), key="k")
    with pytest.raises(KeyTaken):
        meter(plan("249.5"), key="k")
    assert meter.release(plan(249), key="k").replayed
    assert 0 < len(ledgers.history(book)[3].query) <= 2000


def test_a_callers_identity_may_be_any_text(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    for number, text in enumerate(("\ud800", "\x00", "a\nb")):
        meter(COUNT, key=f"k{number}", identity=text)
        assert meter.release(COUNT, key=f"k{number}", identity=text).replayed


def test_a_key_is_a_persons_own(book: Ledger) -> None:
    ann = book.meter(SPACE, [1], scopes=["visits"], by="ann").release(COUNT, key="k")
    bob = book.meter(SPACE, [1], scopes=["visits"], by="bob").release(COUNT, key="k")
    assert (ann.reserved, bob.reserved, bob.replayed) == (3, 5, False)
    assert book.replay("k", by="ann").reserved == 3
    with pytest.raises(LedgerError, match="nothing was charged"):
        book.replay("k", by="eve")


def test_a_question_without_a_key_is_a_new_one_every_time(book: Ledger) -> None:
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    assert meter.release(COUNT).reserved != meter.release(COUNT).reserved
    assert book.scope("visits").spent == vm.pure("1/5")


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


# Functions are known by what they do, not by their names.


def above(least: Any) -> Any:
    def is_above(value: Any) -> bool:
        return bool(value > least)

    return is_above


def twice_above(least: Any) -> Any:
    inner = above(least)
    return lambda value: inner(2 * value)


class Above:
    """An object that is called, and whose text says nothing of what it holds."""

    def __init__(self, least: Any) -> None:
        self.least = least

    def __call__(self, value: Any) -> bool:
        return bool(value > self.least)

    def holds(self, value: Any) -> bool:
        return bool(value > self.least)

    def __repr__(self) -> str:
        return "above"


class SlottedAbove:
    __slots__ = ("__least",)

    def __init__(self, least: Any) -> None:
        self.__least = least

    def __call__(self, value: Any) -> bool:
        return bool(value > self.__least)


def made_class(sign: int) -> Any:
    class Signed:
        def __call__(self, value: Any) -> bool:
            return bool(sign * value > 0)

    return Signed()


def with_default(least: Any) -> Any:
    return lambda value, least=least: value > least


def with_keyword(least: Any) -> Any:
    def is_above(value: Any, *, least: Any = least) -> bool:
        return bool(value > least)

    return is_above


def reading_global(least: Any) -> Any:
    known: dict[str, Any] = {"LEAST": least, "__name__": "of_a_notebook"}
    exec("def is_above(value): return value > LEAST", known)
    return known["is_above"]


def filtered(function: Any) -> Any:
    return SPACE >> vm.filter(function, trust="for tests") >> vm.count() >> vm.laplace(scale=20)


def mapped(function: Any) -> Any:
    made = vm.map_rows(function=function, output=vm.scalars(int, bounds=(0, 1)), default=0, trust="for tests")
    return SPACE >> made >> vm.sum() >> vm.laplace(scale=20)


def processed(function: Any) -> Any:
    return COUNT >> vm.postprocess(function, name="f")


FUNCTIONS: dict[str, Any] = {
    "constants": lambda most: (lambda value: value > 1) if most == 1 else (lambda value: value > 2),
    "operations": lambda most: (lambda value: value > 1) if most == 1 else (lambda value: value < 1),
    "names": lambda most: (lambda value: value.real) if most == 1 else (lambda value: value.imag),
    "nested code": lambda most: (
        (lambda value: [one > 1 for one in [value]]) if most == 1 else (lambda value: [one > 2 for one in [value]])
    ),
    "closure": above,
    "closure of a function": twice_above,
    "closure over an array": lambda most: above(np.arange(5000) + (np.arange(5000) == 2500) * most),
    "closure over a long text": lambda most: above("a" * 500 + str(most) + "a" * 500),
    "default": with_default,
    "keyword default": with_keyword,
    "callable object": Above,
    "callable object with slots": SlottedAbove,
    "class made by a function": made_class,
    "bound method": lambda least: Above(least).holds,
    "bound method of C": lambda least: {1, 5, least}.__contains__,
    "partial": lambda least: functools.partial(operator.lt, least),
    "partial of a function": lambda least: functools.partial(with_keyword(0), least=least),
    "cached": lambda least: functools.lru_cache(above(least)),
    "global": reading_global,
    "pattern": lambda most: above(re.compile("a" * 300 + str(most))),
    "huge": lambda most: above(10**5000 + most),
}
TAKERS: dict[str, Any] = {"filter": filtered, "map_rows": mapped, "measurement": own, "postprocess": processed}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_functions_that_differ_are_told_apart(kind: str, taker: str) -> None:
    make, take = FUNCTIONS[kind], TAKERS[taker]
    first, other, again = (describe(take(make(number))) for number in (1, 2, 1))
    assert first == again and first.text != other.text and not first.unknown


def test_a_key_is_taken_by_another_function_of_the_same_name(book: Ledger) -> None:
    meter = book.meter(SPACE, [1, 5, 9], scopes=["visits"], by="ann")
    for number, take in enumerate(TAKERS.values()):
        if take is own:
            continue  # what it answers is no matter here
        released = meter.release(take(above(3)), key=f"k{number}")
        with pytest.raises(KeyTaken):
            meter(take(above(4)), key=f"k{number}")
        assert meter.release(take(above(3)), key=f"k{number}").content == released.content


def test_queries_of_a_sparse_vector_are_told_apart_by_their_functions(book: Ledger) -> None:
    asked = vm.sparse_vector(SPACE, threshold=20, scale=20, limit=1)
    queries = [SPACE >> vm.filter(above(least), trust="for tests") >> vm.count() for least in (50, 60)]
    meter = book.meter(SPACE, [1] * 5, scopes=["visits"], by="ann")
    first = meter(asked, key="k")
    said = first(queries[0])
    again = meter(asked, key="k")
    with pytest.raises(QueryableEnded):
        again(queries[1])
    assert again(SPACE >> vm.filter(above(50), trust="for tests") >> vm.count()) is said


class Opaque:
    __slots__ = ()


def test_what_shows_only_its_address_takes_an_identity_or_no_key(book: Ledger) -> None:
    made = filtered(above(threading.Lock()))
    meter = book.meter(SPACE, [1], scopes=["visits"], by="ann")
    head = book.head
    with pytest.raises(ParameterError, match=r"_thread\.lock.*identity="):
        meter(made, key="k")
    assert book.head == head
    meter(made)
    meter(made, key="k", identity="locked")
    assert meter.release(filtered(above(threading.Lock())), key="k", identity="locked").replayed
    assert describe(filtered(above(Opaque()))).unknown == (f"{__name__}.Opaque",)


def test_a_query_that_shows_only_its_address_is_never_taken_for_another() -> None:
    query = SPACE >> vm.filter(above(threading.Lock()), trust="for tests") >> vm.count()
    assert describe_query(0, query) != describe_query(0, query)


def test_what_contains_itself_is_described() -> None:
    def first(value: Any) -> Any:
        return second(value)

    def second(value: Any) -> Any:
        return first(value) if value else held

    held: list[Any] = [first]
    held.append(held)
    assert describe(first) == describe(first) != describe(second)


def test_functions_are_the_same_in_another_process() -> None:
    script = """
        import functools, operator
        import viameter as vm
        from viameter.ledger.identity import describe
        from viameter.ledger.recording import describe_query

        LEAST = {"a", "b", "c", "d"}
        space = vm.Space(vm.vectors(int), vm.SymmetricDistance())

        class Above:
            kind = "above"
            def __init__(self, least):
                self.least, self.seen = least, {"x", "y", "z", "w"}
            def __call__(self, value):
                return value > self.least
            def holds(self, value):
                return super().__eq__(value) or self(value)

        def factory(least):
            def inner(value, *, more={"p", "q", "r"}):
                return value in {"k", "l", "m", "n"} or value in LEAST or value > least or helper(value)
            return inner

        def helper(value):
            return factory(value)

        functions = [
            factory(1), factory(factory(2)), Above(3), Above(4).holds, functools.partial(factory(5), more={"a", "b"}),
            {"a", "b", "c"}.__contains__, functools.partial(operator.lt, 5), lambda value: [LEAST for _ in "ab"],
        ]
        for function in functions:
            made = space >> vm.filter(function, trust="t") >> vm.count()
            described = describe(made >> vm.laplace(scale=1) >> vm.postprocess(function))
            assert not described.unknown
            print(described.text, describe_query(0, made))
        from viameter import ledger
        book = ledger.in_memory()
        book.define("s", vm.pure(1000), space)
        meter = book.meter(space, [1], scopes=["s"], by="ann")
        for number, function in enumerate(functions):
            meter(space >> vm.filter(function, trust="t") >> vm.count() >> vm.laplace(scale=1), key=str(number))
        print([entry.record["digest"] for entry in book.entries() if entry.kind == "reserve"])
    """
    said = [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1] and len(said[0].splitlines()) == 9


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
