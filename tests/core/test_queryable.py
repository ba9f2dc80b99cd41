"""Queryables: one answer at a time, from whatever thread; never copied, pickled or carried over a fork."""

import copy
import os
import pickle
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from tests.cases import for_each
from tests.processes import alone, end_with_parent
from tests.threads import PATIENCE, in_threads

import viameter as vm
from viameter.core import External, Internal, Query, Queryable
from viameter.errors import QueryableBusy, QueryableError, UnknownQuery

CANARY = "canary-7f3a"


def counter(name: str = "counter") -> Queryable:
    """The smallest state machine: counts external "next", tells the count to internal "count"."""
    count = 0

    def transition(me: Queryable, query: Query) -> int:
        nonlocal count
        match query:
            case External(query="next"):
                count += 1
                return count
            case Internal(query="count"):
                return count
            case _:
                raise UnknownQuery(me, query.query)

    return Queryable(transition, name=name)


def test_state_is_kept_between_queries() -> None:
    count = counter()
    assert [count("next"), count("next"), count("next")] == [1, 2, 3]
    assert count.ask("count") == 3
    assert counter()("next") == 1


def test_external_and_internal_queries_are_told_apart() -> None:
    seen: list[Query] = []
    echo = Queryable(lambda _, query: seen.append(query))
    echo(1)
    echo.ask(2)
    with echo.holding(3):
        pass
    assert seen == [External(1), Internal(2), Internal(3)]
    external: Query = External(1)
    assert external != Internal(1)


def test_a_query_that_looks_like_an_internal_one_is_still_external() -> None:
    assert Queryable(lambda _, query: type(query))(Internal("count")) is External


def test_an_unknown_query_is_refused_by_its_type_alone() -> None:
    with pytest.raises(UnknownQuery) as refused:
        counter()(CANARY)
    assert refused.value.query_type is str
    assert str(refused.value) == "<counter> does not know queries of type str"
    with pytest.raises(UnknownQuery):
        counter()("count")  # internal only


def test_a_queryable_asked_externally_by_its_own_answer_is_busy() -> None:
    def transition(me: Queryable, query: Query) -> Any:
        return me("again") if query == External("first") else "deep"

    loop = Queryable(transition, name="loop")
    with pytest.raises(QueryableBusy, match="<loop>"):
        loop("first")
    assert loop("second") == "deep"


def test_a_queryable_asked_internally_by_its_own_answer_answers() -> None:
    def transition(me: Queryable, query: Query) -> Any:
        match query:
            case External():
                with me.holding("inner") as held:
                    return me.ask("inner"), held
            case _:
                return "deep"

    assert Queryable(transition)("first") == ("deep", "deep")


def test_two_queryables_that_ask_each_other_in_a_circle_are_busy() -> None:
    right: Queryable
    left = Queryable(lambda _, query: right(query.query))
    right = Queryable(lambda _, query: left(query.query))
    with pytest.raises(QueryableBusy):
        left(1)


@for_each("error", [ValueError, KeyError, SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration])
def test_an_error_leaves_it_usable(error: type[BaseException]) -> None:
    calls = 0

    def transition(_: Queryable, query: Query) -> int:
        nonlocal calls
        calls += 1
        if query.query == "fail":
            raise error("no")
        return calls

    fragile = Queryable(transition)
    for ask in (fragile, fragile.ask):
        with pytest.raises(error):
            ask("fail")
        assert ask("fine") == calls
    in_threads(lambda: fragile("fine"))  # the lock was left too
    assert calls == 5


def test_an_error_inside_of_a_hold_leaves_it_usable() -> None:
    count = counter()
    with pytest.raises(ZeroDivisionError), count.holding("count"):
        raise ZeroDivisionError
    with pytest.raises(UnknownQuery), count.holding("nonsense"):
        raise AssertionError("not reached")
    in_threads(lambda: count("next"))
    assert count.ask("count") == 1


def test_threads_are_answered_one_after_the_other_and_no_update_is_lost() -> None:
    threads, queries = 8, 60
    total, inside, most_inside = 0, 0, 0

    def racy(_: Queryable, query: Query) -> int:
        nonlocal total, inside, most_inside
        inside += 1
        most_inside = max(most_inside, inside)
        before = total
        time.sleep(0)  # lets another thread in, if anything does
        total = before + 1
        inside -= 1
        return total

    shared = Queryable(racy)
    answers: list[int] = []
    start = threading.Barrier(threads)

    def hammer(ask: Callable[[Any], int]) -> None:
        start.wait(PATIENCE)
        for _ in range(queries):
            answers.append(ask("next"))

    in_threads(*(lambda ask=ask: hammer(ask) for ask in [shared, shared.ask] * (threads // 2)))
    assert total == threads * queries
    assert sorted(answers) == list(range(1, threads * queries + 1))
    assert most_inside == 1


def test_while_it_is_held_no_other_thread_is_answered() -> None:
    count = counter()
    held, asked, released = threading.Event(), threading.Event(), []

    def hold() -> None:
        with count.holding("count"):
            held.set()
            assert asked.wait(PATIENCE)
            time.sleep(0.05)
            released.append(count.ask("count"))

    def ask() -> None:
        assert held.wait(PATIENCE)
        asked.set()
        count("next")
        assert released == [0]

    in_threads(hold, ask)
    assert count.ask("count") == 1


def test_while_it_is_held_nothing_external_is_answered_to_whoever_holds_it() -> None:
    # Once: the lock lets the same thread in again, and `holding` does not mark it as answering: a child whose answer
    # queries its own parent moves the parent on in the middle of that answer.
    count = counter()
    with count.holding("count"), pytest.raises(QueryableBusy):
        count("next")
    with count.holding("count"):
        assert count.ask("count") == 0
        with count.holding("count"):
            pass
        with pytest.raises(QueryableBusy):
            count("next")
    assert count("next") == 1


@for_each(
    "make_copy",
    [copy.copy, copy.deepcopy, pickle.dumps, lambda q: pickle.dumps(q, protocol=0), lambda q: copy.deepcopy([q])],
)
def test_it_is_neither_copied_nor_pickled(make_copy: Callable[[Any], Any]) -> None:
    with pytest.raises(QueryableError, match="<counter> cannot be copied or pickled"):
        make_copy(counter())


def test_its_text_shows_no_data() -> None:
    data = CANARY
    secret = Queryable(lambda *_: data)
    assert repr(secret) == str(secret) == "<queryable>"
    assert repr(counter("odometer")) == "<odometer>"
    assert not hasattr(secret, "__dict__")


def run_in_fork(task: Callable[[], int]) -> int:
    """The exit code of a forked process that runs the task: what it returns, or 99 where it fails."""
    with warnings.catch_warnings():
        # Newer Pythons warn of forks of processes with threads; the child here only asks and exits.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 99
        try:
            end_with_parent()
            code = task()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def refusals(*attempts: Callable[[], Any]) -> int:
    """How many of the attempts are refused since the queryable was made in another process."""
    refused = 0
    for attempt in attempts:
        try:
            attempt()
        except QueryableError as problem:
            refused += "another process" in str(problem)
    return refused


@alone
def test_it_does_not_answer_in_a_forked_process() -> None:
    count = counter()
    count("next")

    def hold() -> None:
        with count.holding("count"):
            pass

    assert run_in_fork(lambda: refusals(lambda: count("next"), lambda: count.ask("count"), hold)) == 3
    assert run_in_fork(lambda: counter()("next")) == 1  # one that is made there answers there
    assert count("next") == 2


@alone
def test_a_fork_while_another_thread_holds_it_refuses_and_does_not_hang() -> None:
    count = counter()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with count.holding("count"):
            held.set()
            done.wait(PATIENCE)

    def fork() -> None:
        assert held.wait(PATIENCE)
        try:
            assert run_in_fork(lambda: refusals(lambda: count("next"))) == 1
        finally:
            done.set()

    in_threads(hold, fork)


@alone
def test_a_wrapper_made_after_a_fork_does_not_bring_it_back() -> None:
    from contextlib import nullcontext

    from viameter.core import guarded_by

    count = counter()

    def wrap() -> int:
        with guarded_by(nullcontext) as keep:
            wrapped = keep(count)
        return refusals(lambda: wrapped("next"))

    assert run_in_fork(wrap) == 1


def test_a_measurement_may_release_a_queryable() -> None:
    rows = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    spawn = vm.measurement(
        rows, function=lambda _: counter(), measure=vm.PureDP, privacy=lambda _: vm.pure(1), trust="t"
    )
    first, second = spawn([1]), spawn([1])
    assert (first("next"), first("next"), second("next")) == (1, 2, 1)
