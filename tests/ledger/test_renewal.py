"""Renewal: budgets that start over with the calendar or with new rows, and lifetimes that do not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.clock import Clock, set_clock
from tests.ledger.conftest import SPACE

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import LedgerError, OverBudget, ParameterError
from viameter.ledger import Ledger, Scope, Terms
from viameter.ledger.renewal import BY_CALENDAR, POLICIES, period_of


@pytest.fixture
def clock() -> Iterator[Clock]:
    with set_clock(datetime(2026, 3, 30, 12, tzinfo=UTC)) as made:
        yield made


@pytest.fixture
def book(clock: Clock) -> Iterator[Ledger]:
    made = ledgers.in_memory()
    yield made
    ledgers.verify(made).require()


def charged(book: Ledger, loss: Any, name: str = "visits") -> Any:
    book.reserve(loss, scopes=[name])
    return book.scope(name).spent


ENDS: list[tuple[str, tuple[int, ...], tuple[int, ...], str]] = [
    # policy, the last minute of a period, the first of the next, what that is called
    ("day", (2026, 2, 28, 23, 59), (2026, 3, 1), "2026-03-01"),
    ("day", (2028, 2, 28, 23, 59), (2028, 2, 29), "2028-02-29"),
    ("day", (2026, 12, 31, 23, 59), (2027, 1, 1), "2027-01-01"),
    ("week", (2026, 3, 29, 23, 59), (2026, 3, 30), "2026-W14"),
    ("week", (2026, 12, 27, 23, 59), (2026, 12, 28), "2026-W53"),
    ("week", (2027, 1, 3, 23, 59), (2027, 1, 4), "2027-W01"),  # days of January that are of the old year's week
    ("week", (2024, 12, 29, 23, 59), (2024, 12, 30), "2025-W01"),  # and of December, of the new one's
    ("month", (2026, 1, 31, 23, 59), (2026, 2, 1), "2026-02"),
    ("month", (2026, 9, 30, 23, 59), (2026, 10, 1), "2026-10"),
    ("quarter", (2026, 3, 31, 23, 59), (2026, 4, 1), "2026-Q2"),
    ("quarter", (2026, 6, 30, 23, 59), (2026, 7, 1), "2026-Q3"),
    ("quarter", (2026, 9, 30, 23, 59), (2026, 10, 1), "2026-Q4"),
    ("quarter", (2026, 12, 31, 23, 59), (2027, 1, 1), "2027-Q1"),
    ("year", (2026, 12, 31, 23, 59), (2027, 1, 1), "2027"),
]


@pytest.mark.parametrize(("policy", "last", "first", "called"), ENDS)
def test_a_budget_starts_over_when_its_period_ends_and_not_before(
    book: Ledger, clock: Clock, policy: str, last: Any, first: Any, called: str
) -> None:
    clock.set(*last)
    book.define("visits", vm.pure(1), SPACE, renews=policy)
    meter = book.meter(SPACE, [1], scopes=["visits"])
    tenth = SPACE >> vm.count() >> vm.laplace(scale=10)
    charged(book, vm.pure(1))
    clock.advance(seconds=59)
    assert not meter.fits(tenth)
    with pytest.raises(OverBudget):
        charged(book, vm.pure("1/10"))
    clock.set(*first)
    now = book.scope("visits")
    assert (now.period, now.spent, now.left, now.lifetime) == (called, vm.pure(0), vm.pure(1), vm.pure(1))
    assert book.scopes() == (now,) and meter.fits(tenth) and meter.scopes == (now,)
    assert charged(book, vm.pure(1)) == vm.pure(1)
    assert book.scope("visits").lifetime == vm.pure(2)
    with pytest.raises(OverBudget) as refused:
        charged(book, vm.pure("1/10"))
    assert refused.value.left == vm.pure(0)


def test_looking_at_a_scope_in_a_new_period_writes_nothing(book: Ledger, clock: Clock) -> None:
    book.define("visits", vm.pure(1), SPACE, renews="day")
    charged(book, vm.pure("1/2"))
    clock.advance(days=1)
    head = book.head
    assert book.scope("visits").left == vm.pure(1) and book.head == head


@pytest.mark.parametrize("policy", BY_CALENDAR)
def test_a_clock_that_goes_back_gives_nothing_back(book: Ledger, clock: Clock, policy: str) -> None:
    book.define("visits", vm.pure(1), SPACE, renews=policy)
    charged(book, vm.pure(1))
    clock.advance(days=366)
    charged(book, vm.pure("3/4"))
    period = book.scope("visits").period
    clock.advance(days=-400)
    now = book.scope("visits")
    assert (now.period, now.spent, now.lifetime) == (period, vm.pure("3/4"), vm.pure("7/4"))
    with pytest.raises(OverBudget):
        charged(book, vm.pure("1/2"))
    assert charged(book, vm.pure("1/4")) == vm.pure(1)
    clock.advance(days=400)
    with pytest.raises(OverBudget):  # it was charged to the period that it belongs to
        charged(book, vm.pure("1/4"))


def test_what_was_skipped_is_not_saved_up(book: Ledger, clock: Clock) -> None:
    book.define("visits", vm.pure(1), SPACE, renews="month")
    clock.advance(days=200)
    with pytest.raises(OverBudget):
        charged(book, vm.pure("11/10"))
    assert charged(book, vm.pure(1)) == vm.pure(1)


def test_scopes_start_over_each_by_its_own_policy(book: Ledger, clock: Clock) -> None:
    for name, policy in (("daily", "day"), ("yearly", "year"), ("ever", None)):
        book.define(name, vm.pure(1), SPACE, renews=policy)
    book.reserve(vm.pure("3/4"), scopes=["daily", "yearly", "ever"])
    clock.advance(days=1)
    with pytest.raises(OverBudget) as refused:
        book.reserve(vm.pure("1/2"), scopes=["daily", "yearly"])
    assert refused.value.scope == "yearly"
    book.reserve(vm.pure("1/4"), scopes=["daily", "yearly", "ever"])
    assert [book.scope(name).spent for name in ("daily", "yearly", "ever")] == [vm.pure("1/4"), vm.pure(1), vm.pure(1)]
    assert {book.scope(name).lifetime for name in ("daily", "yearly", "ever")} == {vm.pure(1)}


def test_a_budget_is_changed_in_the_middle_of_a_period(book: Ledger, clock: Clock) -> None:
    book.define("visits", vm.pure(1), SPACE, renews="month")
    charged(book, vm.pure("1/2"))
    with pytest.raises(ParameterError, match="was spent already"):
        book.set_budget("visits", vm.pure("1/4"), why="less")
    book.set_budget("visits", vm.pure("3/4"), why="less")
    assert book.scope("visits").left == vm.pure("1/4")
    clock.advance(days=40)
    lower = book.set_budget("visits", vm.pure("1/4"), why="nothing was spent in this month")
    assert (lower.spent, lower.earlier, lower.left) == (vm.pure(0), vm.pure("1/2"), vm.pure("1/4"))
    charged(book, vm.pure("1/4"))
    clock.advance(days=40)
    assert book.scope("visits").left == vm.pure("1/4") and book.scope("visits").lifetime == vm.pure("3/4")


def test_new_rows_start_a_batch(book: Ledger, clock: Clock) -> None:
    book.define("visits", vm.pure(1), SPACE, renews="rows")
    charged(book, vm.pure(1))
    clock.advance(days=1000)
    with pytest.raises(OverBudget):
        charged(book, vm.pure("1/10"))
    periods = [book.scope("visits").period]
    for number in range(1, 12):
        renewed = book.renew("visits", why=f"batch {number}", by="custodian")
        assert (renewed.spent, renewed.lifetime) == (vm.pure(0), vm.pure(number))
        charged(book, vm.pure(1))
        periods.append(renewed.period)
    assert periods == sorted(set(periods))
    assert ledgers.history(book, scope="visits")[-2].text == "'visits' starts over: batch 11"


@pytest.mark.parametrize("policy", [None, *BY_CALENDAR])
def test_only_new_rows_are_said_by_hand(book: Ledger, policy: str | None) -> None:
    book.define("visits", vm.pure(1), SPACE, renews=policy)
    charged(book, vm.pure(1))
    head = book.head
    with pytest.raises(ParameterError, match="does not start over when new rows arrive"):
        book.renew("visits", why="because")
    assert book.head == head and book.scope("visits").left == vm.pure(0)


@pytest.mark.parametrize("policy", ["", "hour", "Day", "days", 5, True, ["day"]])
def test_policies_have_names(book: Ledger, policy: Any) -> None:
    with pytest.raises(ParameterError, match="is no policy"):
        book.define("visits", vm.pure(1), SPACE, renews=policy)
    assert book.head.seq == 1 and set(POLICIES) == {*BY_CALENDAR, "rows"}


def test_periods_are_those_of_the_first_charge_and_are_read_back(book: Ledger, clock: Clock) -> None:
    clock.set(2026, 12, 31, 23, 59)
    scope = book.define("visits", vm.pure(1), SPACE, renews="year")
    assert scope.period == "2026" and Scope.from_json(scope.to_json(), scope.seq) == scope


MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))


@given(st.sampled_from(BY_CALENDAR), MOMENTS, MOMENTS)
def test_periods_sort_as_times_do(policy: str, one: datetime, other: datetime) -> None:
    early, late = sorted((one, other))
    assert period_of(policy, early) <= period_of(policy, late)
    longest = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}[policy]
    if late - early >= timedelta(days=longest):
        assert period_of(policy, early) < period_of(policy, late)


@given(st.lists(st.tuples(st.integers(-40, 40), st.sampled_from(["0", "1/10", "1/2", "1"])), max_size=12))
def test_lifetimes_never_fall_and_are_the_sum_of_all_charges(steps: list[tuple[int, str]]) -> None:
    scope = Scope.defined(
        "visits", Terms.read(vm.pure(1), SPACE, renews="week"), now := datetime(2026, 1, 1, tzinfo=UTC)
    )
    total: Any = vm.pure(0)
    for days, amount in steps:
        now += timedelta(days=days)
        before = scope.lifetime
        try:
            scope = scope.charged(ledgers.Cost("visits", vm.pure(amount)), now)
            total = total + vm.pure(amount)
        except OverBudget:
            pass
        assert before <= scope.lifetime == total and scope.spent <= vm.pure(1)


def test_entries_that_were_lost_may_have_been_of_the_period_of_now(book: Ledger, clock: Clock) -> None:
    book.define("visits", vm.pure(1), SPACE, renews="month")
    charged(book, vm.pure("1/2"))
    clock.set(2026, 6, 15)
    book.close_scopes(lost={"backup": 3, "witness": 9}, why="a disk was lost")
    with pytest.raises(OverBudget):
        charged(book, vm.pure("1/100"))
    with pytest.raises(LedgerError, match="until it starts over"):
        book.set_budget("visits", vm.pure(2), why="more")
    clock.set(2026, 7, 1)
    charged(book, vm.pure(1))
    scope = book.scope("visits")
    assert not scope.lifetime.is_finite and scope.counted == vm.pure("5/2")
    assert book.set_budget("visits", vm.pure(2), why="more").left == vm.pure(1)
