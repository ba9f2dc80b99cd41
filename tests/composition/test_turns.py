"""Turns: interactive mechanisms that were released together answer in their order, and not in the middle of another."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from tests.threads import PATIENCE, in_threads

from viameter.composition.turns import Turns
from viameter.core import Queryable, guarded_by
from viameter.errors import PermissionGone, QueryableBusy


def parts(turns: Turns, count: int, answer: Any = lambda query: query, closed: int | None = None) -> list[Queryable]:
    """So many queryables, each at its place, which is open unless it is said to be closed."""
    made = []
    for place in range(count):
        with guarded_by(turns.guard(place)):
            made.append(Queryable(lambda _, query: answer(query.query)))
        if place != closed:
            turns.open(place)
    return made


def test_once_one_was_queried_those_before_it_answer_no_more() -> None:
    first, second, third = parts(Turns("the test"), 3)
    assert first(1) == first(2) - 1 == 1
    assert third(3) == 3
    for gone in (first, second):
        with pytest.raises(PermissionGone, match="a later part of the test was queried"):
            gone(4)
        with pytest.raises(PermissionGone):
            gone.ask(4)
    assert third(5) == 5


def test_one_that_was_refused_has_not_taken_its_turn() -> None:
    first, second, third = parts(Turns("the test"), 3)
    second(1)
    with pytest.raises(PermissionGone):
        first(2)
    assert second(3) == 3 and third(4) == 4


def test_one_that_is_not_open_answers_nothing_and_stops_no_other() -> None:
    first, second, third = parts(Turns("the test"), 3, closed=1)
    assert first(1) == 1
    with pytest.raises(PermissionGone, match="under an odometer"):
        second(2)
    assert first(3) == 3 and third(4) == 4


def test_one_that_fails_has_had_its_turn() -> None:
    def fail(_: Any) -> Any:
        raise ZeroDivisionError

    first, second = parts(Turns("the test"), 2, fail)
    with pytest.raises(ZeroDivisionError):
        second(1)
    with pytest.raises(PermissionGone):
        first(1)
    with pytest.raises(ZeroDivisionError):
        second(1)


def test_one_cannot_move_a_later_one_on_in_the_middle_of_its_answer() -> None:
    """The lock lets its own thread in; then the first would answer after the second had begun."""
    turns, answers = Turns("the test"), []
    first, second = parts(turns, 2, lambda query: query() if callable(query) else query)

    def use_second() -> Any:
        with pytest.raises(QueryableBusy):
            answers.append(second("begun"))
        return "the first answers alone"

    assert first(use_second) == "the first answers alone" and answers == []
    assert first("still there") == "still there" and second("next") == "next"
    with pytest.raises(PermissionGone):
        first("gone")


def test_one_may_query_what_it_made_itself_in_the_middle_of_its_answer() -> None:
    turns = Turns("the test")
    (first,) = parts(turns, 1, lambda query: query())

    def make_and_ask() -> Any:
        return Queryable(lambda _, query: query.query)("own child")

    assert first(make_and_ask) == "own child"


def test_another_thread_waits_until_the_answer_is_given() -> None:
    turns, answering, log = Turns("the test"), threading.Event(), []
    released = threading.Event()

    def slow(query: Any) -> None:
        if query == "slow":
            answering.set()
            released.wait(0.1)
        log.append(query)

    first, second = parts(turns, 2, slow)

    def later() -> None:
        assert answering.wait(PATIENCE)
        second("later")
        released.set()

    in_threads(lambda: first("slow"), later)
    assert log == ["slow", "later"]
    with pytest.raises(PermissionGone):
        first("slow")
