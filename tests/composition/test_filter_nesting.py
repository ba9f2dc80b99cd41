"""Filters within filters, and in threads and processes: nobody spends from a budget twice or past it."""

from __future__ import annotations

import math
import os
from typing import Any

import pytest
from tests.composition.oracles import (
    DATA,
    PURE,
    ROWS,
    SEQUENTIAL,
    Runs,
    capped,
    echo,
    maker,
    measurement,
    spawning,
    tenth,
)
from tests.processes import alone
from tests.threads import in_threads

import viameter as vm
from viameter.composition.meter import FilterMeter
from viameter.composition.queries import LossQuery
from viameter.errors import (
    OverBudget,
    PermissionGone,
    QueryableBusy,
    QueryableError,
)

# Children and nesting


def test_a_refusal_leaves_the_newest_child_its_permission() -> None:
    meter = SEQUENTIAL.filter(d_in=1, budget=vm.approx_zcdp("1/10", "1/1000"))(DATA)
    child = meter(spawning(echo))
    with pytest.raises(OverBudget):
        meter(spawning(echo))
    assert child("hello") == "hello"
    meter(measurement(vm.approx_zcdp(0, 0)))
    with pytest.raises(PermissionGone):
        child("hello")


def nest(odometer: vm.Odometer, budgets: list[vm.Loss]) -> list[Any]:
    """A meter, a filter released by it, a filter released by that one, and so on; the outermost first."""
    meters: list[Any] = [odometer(DATA)]
    for budget in budgets:
        meters.append(meters[-1](odometer.filter(d_in=1, budget=budget)))
    return meters


def test_filters_nest_in_filters_and_a_refusal_inside_changes_nothing_outside() -> None:
    runs = Runs()
    top, high, low, lowest = nest(PURE, [vm.pure(1), vm.pure("1/2"), vm.pure("1/5")])
    assert [top.loss(1), high.spent, low.spent, lowest.spent] == [vm.pure(x) for x in ("1", "1/2", "1/5", "0")]
    lowest(tenth(function=runs))
    lowest(tenth(function=runs))
    before = [meter.loss(1) for meter in (top, high, low, lowest)]
    with pytest.raises(OverBudget):
        lowest(tenth(function=runs))
    assert runs.count == 2 and [meter.loss(1) for meter in (top, high, low, lowest)] == before
    # Each goes on with what it has left, since pure losses may be interleaved.
    low(tenth(function=runs))
    assert low.left == vm.pure("1/5") and lowest.left == vm.pure(0)
    with pytest.raises(OverBudget):
        high(measurement(vm.pure("6/10"), function=runs))
    high(measurement(vm.pure("5/10"), function=runs))
    assert top.loss(1) == vm.pure(1) and runs.count == 4


def test_an_odometer_inside_of_a_filter_counts_beyond_what_the_filter_was_told_about_it() -> None:
    """A measurement that releases an odometer has no finite loss: filters refuse it, odometers say that it has none."""
    inner = measurement(vm.pure(math.inf), function=PURE)
    with pytest.raises(OverBudget):
        capped()(inner)
    outer = PURE(DATA)
    child = outer(inner)
    child(tenth())
    assert child.loss(1) == vm.pure("1/10") and outer.loss(1) == vm.pure(math.inf)


def test_sequential_filters_nest_and_only_the_newest_branch_answers() -> None:
    budgets: list[vm.Loss] = [vm.approx_zcdp(1, "1/10"), vm.approx_zcdp("1/2", "1/20")]
    top, high, low = nest(SEQUENTIAL, budgets)
    child = low(spawning(maker))
    grandchild = child(echo)
    assert grandchild("hello") == "hello"
    other = low(spawning(echo))
    for gone in (child, grandchild):
        with pytest.raises(PermissionGone):
            gone("hello")
    assert other("hello") == "hello"
    high(measurement(vm.approx_zcdp(0, 0)))
    with pytest.raises(PermissionGone):
        other("hello")
    with pytest.raises(PermissionGone):
        low(spawning(echo))
    with pytest.raises(PermissionGone):
        low.loss(1)
    newest = high(spawning(echo))
    assert newest("hello") == "hello"
    top(measurement(vm.approx_zcdp(0, 0)))
    for gone, query in ((newest, "hello"), (high, LossQuery(1)), (high, spawning(echo))):
        with pytest.raises(PermissionGone):
            gone(query)
    with pytest.raises(PermissionGone):
        assert high.spent
    assert top.loss(1) == vm.approx_zcdp(1, "1/10")


def test_a_refusal_deep_inside_of_sequential_filters_changes_nothing_outside() -> None:
    top, high, low = nest(SEQUENTIAL, [vm.approx_zcdp(1, "1/10"), vm.approx_zcdp("1/10", "1/1000")])
    child = low(spawning(echo))
    with pytest.raises(OverBudget):
        low(spawning(echo))
    with pytest.raises(OverBudget):
        high(measurement(vm.approx_zcdp(1, 0)))
    assert child("hello") == "hello"
    assert high.left == vm.approx_zcdp("9/10", "99/1000") and top.loss(1) == vm.approx_zcdp(1, "1/10")


def test_a_concurrent_filter_inside_of_a_sequential_one_is_held_to_the_outer_turns() -> None:
    """A pure filter counted in approximate zCDP: its children are interleaved until the outer one moves on."""
    inner = PURE.filter(d_in=1, budget=vm.pure("1/2"))
    top = SEQUENTIAL(DATA)
    low = top(measurement(vm.approx_zcdp("1/8", 0), function=inner.function))
    assert isinstance(low, FilterMeter)
    first, second = (low(tenth(function=lambda _: echo())) for _ in range(2))
    assert [first("a"), second("b"), first("c")] == ["a", "b", "c"]
    top(measurement(vm.approx_zcdp(0, 0)))
    for gone in (first, second):
        with pytest.raises(PermissionGone):
            gone("hello")
    with pytest.raises(PermissionGone):
        low(tenth())


def test_a_sequential_filter_inside_of_a_concurrent_one_keeps_its_own_turns() -> None:
    inner = SEQUENTIAL.filter(d_in=1, budget=vm.approx_zcdp(1, "1/10"))
    top = PURE(DATA)
    one, other = (top(measurement(vm.pure(9), function=inner.function)) for _ in range(2))
    first, beside = one(spawning(echo)), other(spawning(echo))
    assert first("hello") == beside("hello") == "hello"
    one(spawning(echo))
    with pytest.raises(PermissionGone):
        first("hello")
    assert beside("hello") == "hello"


def test_a_converted_filter_costs_its_converted_budget() -> None:
    inner = PURE.filter(d_in=1, budget=vm.pure(1)).to(vm.ApproxDP)
    meter = vm.Odometer(ROWS, vm.ApproxDP)(DATA)
    low = meter(inner)
    assert meter.loss(1) == vm.approx(1, 0)
    low(tenth())
    with pytest.raises(OverBudget):
        low(measurement(vm.pure(1)))


def test_a_filter_on_a_view_of_the_data_costs_its_budget_on_the_view() -> None:
    space = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
    kept = space >> vm.filter(vm.between(1, 3))
    inner = vm.Odometer(kept.output_space, vm.PureDP).filter(d_in=1, budget=vm.pure(1))
    made = kept >> inner
    assert made.map(1) == vm.pure(1) and made.map(2) == vm.pure(math.inf)
    low = made(DATA)
    assert low(tenth(space=kept.output_space, function=lambda rows: rows.tolist())) == [3, 1, 1]


# Threads, processes, reentrancy


def test_many_threads_sharing_one_filter_never_overspend() -> None:
    runs, refused, meter = Runs(), [], capped(10)
    same = tenth(function=runs)

    def work() -> None:
        for _ in range(20):
            try:
                meter(same)
            except OverBudget as error:
                refused.append(error.left)

    in_threads(*[work] * 8)
    assert runs.count == 100 and len(refused) == 60 and meter.spent == vm.pure(10)
    assert set(refused) == {vm.pure(0)}


@alone
def test_a_filter_does_not_survive_a_fork() -> None:
    meter = capped()
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:  # pragma: no cover  # the other process
        refused = 0
        for ask in (lambda: meter(tenth()), lambda: meter.spent, lambda: meter.left, meter.state):
            try:
                ask()
            except QueryableError:
                refused += 1
        os.write(writer, bytes([refused]))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        assert told.read() == bytes([4])
    os.waitpid(process, 0)


def test_a_mechanism_cannot_spend_from_its_own_filter_while_it_runs() -> None:
    meter, seen = capped(), []

    def reenter(_: Any) -> None:
        with pytest.raises(QueryableBusy):
            meter(measurement(vm.pure(1)))
        seen.append(meter.left)

    meter(tenth(function=reenter))
    assert seen == [vm.pure("9/10")] and meter.spent == vm.pure("1/10")


def test_a_mechanism_cannot_spend_from_a_filter_around_its_own() -> None:
    """The outer one only made the inner one and is free again: what is asked there is counted there."""
    outer = capped()
    inner = outer(PURE.filter(d_in=1, budget=vm.pure("1/2")))
    inner(tenth(function=lambda _: outer(tenth())))
    assert outer.spent == vm.pure("6/10") and inner.spent == vm.pure("1/10")
