"""Adaptive composition: losses fixed in advance, measurements chosen by the answers so far."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.cases import for_each
from tests.composition.oracles import (
    BIT,
    DATA,
    ROWS,
    Runs,
    Toy,
    answering,
    both_views,
    echo,
    elsewhere,
    losses_on,
    maker,
    measurement,
    response_laws,
    response_rho,
    spawning,
    strategies,
    tenth,
)
from tests.mechanisms.oracles import ORDERS, at_most, close, real, renyi, two_way
from tests.threads import in_threads

import viameter as vm
from viameter.composition.adaptive import adaptive_composition
from viameter.composition.queries import AskPermission, LossQuery
from viameter.core import Queryable
from viameter.errors import (
    DomainMismatch,
    MapError,
    MeasureMismatch,
    MetricMismatch,
    NoTheorem,
    NumberError,
    OverBudget,
    ParameterError,
    PermissionGone,
    QueryableBusy,
    QueryableEnded,
    QueryableError,
    SealedError,
    UnknownQuery,
    ViameterError,
)

TENTH, FIFTH = vm.pure("1/10"), vm.pure("1/5")
SMALL = vm.approx_zcdp("1/10", "1/1000")
OTHER_DOMAIN = vm.Space(vm.vectors(int, size=5), vm.SymmetricDistance())
OTHER_METRIC = vm.Space(vm.vectors(int), vm.InsertDeleteDistance())


def plan(*losses: vm.Loss, d_in: Any = 1) -> vm.Measurement:
    return vm.adaptive(ROWS, d_in=d_in, losses=losses)


# adaptive-composition


def test_adaptive_composition_ensures_every_view_of_every_strategy_is_within_the_composition() -> None:
    """Strategies of two steps whose losses are fixed: run on a real plan, and enumerated."""
    menu = [Toy(response_laws(e, flipped=f), vm.pure(e)) for e in ("1/2", 1) for f in (False, True)]
    worst = real(0)
    for strategy in strategies(menu, fixed=True):
        left, right = both_views(strategy)
        losses = losses_on(strategy, next(iter(left)))
        made = vm.adaptive(BIT, d_in=1, losses=losses)
        loss: Any = made.map(1)
        for view in left:
            for bit in (0, 1):
                ask = made(bit)
                for step, answer in enumerate(view):
                    toy = strategy(view[:step])
                    assert toy is not None
                    assert ask(answering(toy, answer)) == answer
            ratio = abs(gmpy2.log(left[view] / right[view]))
            assert at_most(ratio, loss.epsilon)
            worst = max(worst, ratio)
    assert close(worst, 2)


def test_adaptive_composition_ensures_renyi_divergences_in_zcdp() -> None:
    menu = [Toy(response_laws(e, flipped=f), vm.zcdp(response_rho(e))) for e in ("1/2", 1) for f in (False, True)]
    for strategy in strategies(menu, fixed=True):
        left, right = both_views(strategy)
        loss: Any = vm.adaptive(BIT, d_in=1, losses=losses_on(strategy, next(iter(left)))).map(1)
        assert all(at_most(two_way(renyi, left, right, order) / real(order), loss.rho) for order in ORDERS)


def test_adaptive_composition_ensures_all_losses_up_to_its_distance_and_none_beyond() -> None:
    made = plan(TENTH, FIFTH, d_in=2)
    for d_in in (0, 1, 2):
        assert made.map(d_in) == vm.pure("3/10")
    for far in (3, math.inf):
        assert made.map(far) == vm.pure(math.inf)
    assert adaptive_composition(Fraction(2), at=Fraction(2), losses=(TENTH,) * 10, measure=vm.PureDP) == vm.pure(1)
    assert adaptive_composition(Fraction(1), at=Fraction(2), losses=(), measure=vm.ZCDP) == vm.zcdp(0)
    assert vm.adaptive(ROWS, d_in=1, losses=[], measure=vm.ZCDP).map(1) == vm.zcdp(0)
    gauss = vm.adaptive(ROWS, d_in=1, losses=[vm.gdp(3), vm.gdp(4)])
    assert gauss.map(1) == vm.gdp(5)


@pytest.mark.parametrize(
    ("loss", "helps"),
    [
        (vm.bounded_range(1), r"\.to\(ZCDP\) or \.to\(PureDP\)"),
        (vm.profile({1: 0}), "an Accountant"),
        (vm.measure("Distance", adds=True, trust="distances add")(1), "composes="),
    ],
    ids=repr,
)
def test_adaptive_composition_requires_a_measure_that_composes_adaptively(loss: vm.Loss, helps: str) -> None:
    with pytest.raises(NoTheorem, match=helps):
        plan(loss)


@for_each("loss", [vm.pure(math.inf), vm.approx(1, 1), vm.zcdp(math.inf), vm.RenyiDP.infinite])
def test_adaptive_composition_requires_finite_losses(loss: vm.Loss) -> None:
    with pytest.raises(ParameterError, match=r"losses\[1\].* is no limit"):
        plan(loss.measure.zero, loss)


def test_adaptive_composition_requires_that_each_measurement_costs_at_most_its_loss() -> None:
    """Not even if another slot has more left."""
    runs = Runs()
    ask = plan(TENTH, FIFTH)(DATA)
    with pytest.raises(OverBudget) as caught:
        ask(measurement(FIFTH, function=runs))
    assert (caught.value.asked, caught.value.left, caught.value.budget) == (FIFTH, TENTH, TENTH + FIFTH)
    assert caught.value.spent == vm.pure(0)
    assert runs.count == 0
    ask(measurement(vm.pure(0), function=runs))  # what is left of a slot is lost
    with pytest.raises(OverBudget):
        ask(measurement(vm.pure("3/10"), function=runs))
    ask(measurement(FIFTH, function=runs))
    with pytest.raises(QueryableEnded, match="has run 2 measurements"):
        ask(measurement(vm.pure(0), function=runs))
    assert runs.count == 2


def test_adaptive_composition_requires_that_in_a_sequential_measure_only_the_last_one_answers() -> None:
    ask = plan(SMALL, SMALL, SMALL)(DATA)
    first = ask(spawning(maker))
    grandchild = first(echo)
    assert grandchild("hello") == "hello"
    with pytest.raises(OverBudget):
        ask(spawning(echo, vm.approx_zcdp(1, 0)))
    assert grandchild("hello") == "hello", "a refusal changes nothing"
    second = ask(spawning(echo))
    for gone in (first, grandchild):
        with pytest.raises(PermissionGone):
            gone("hello")
        with pytest.raises(PermissionGone):
            gone.ask("hello")
    assert second("hello") == "hello"
    with pytest.raises(SealedError):
        ask(spawning(lambda: 1 / 0))
    with pytest.raises(PermissionGone):
        second("hello")


@pytest.mark.parametrize("how", [lambda make: make(), elsewhere], ids=["here", "in another thread"])
def test_children_in_lists_and_from_other_threads_lose_permission_too(how: Callable[[Any], Any]) -> None:
    ask = plan(SMALL, SMALL)(DATA)
    (first,) = ask(spawning(lambda: [how(echo)]))
    assert first("hello") == "hello"
    ask(spawning(echo))
    with pytest.raises(PermissionGone):
        first("hello")


def test_a_child_cannot_move_its_plan_on_in_the_middle_of_its_answer() -> None:
    """Once: the turns let the thread of the child in, and it went on answering after the next had begun."""
    ask = plan(SMALL, SMALL)(DATA)
    child = ask(spawning(maker))

    def move_on() -> Any:
        return ask(spawning(echo))

    with pytest.raises(QueryableBusy):
        child(move_on)
    assert child(echo)("hello") == "hello"


def test_what_is_queried_while_a_later_mechanism_runs_is_refused() -> None:
    ask = plan(SMALL, SMALL)(DATA)
    first = ask(spawning(echo))
    with pytest.raises(SealedError):
        ask(spawning(lambda: first("hello")))
    with pytest.raises(PermissionGone):
        first("hello")


def test_children_of_concurrent_measures_are_interleaved() -> None:
    ask = plan(TENTH, TENTH)(DATA)
    first, second = (ask(tenth(function=lambda _: echo())) for _ in range(2))
    assert [first("a"), second("b"), first("c")] == ["a", "b", "c"]


# What is refused


@for_each(
    ("asked", "error"),
    [
        (lambda runs: tenth(space=OTHER_DOMAIN, function=runs), DomainMismatch),
        (lambda runs: tenth(space=OTHER_METRIC, function=runs), MetricMismatch),
        (lambda runs: measurement(vm.zcdp(0), function=runs), MeasureMismatch),
        (lambda runs: measurement(privacy=lambda _: None, function=runs), MapError),
        (lambda runs: measurement(privacy=lambda _: vm.pure(-1), function=runs), NumberError),
        (lambda runs: measurement(privacy=lambda _: vm.zcdp(0), function=runs), MapError),
        (lambda runs: measurement(vm.pure(math.inf), function=runs), OverBudget),
        (lambda _: "hello", UnknownQuery),
        (lambda _: LossQuery(1), UnknownQuery),
        (lambda _: AskPermission(0), UnknownQuery),
    ],
)
def test_a_refusal_runs_nothing_and_uses_no_loss(asked: Callable[[Any], Any], error: type[ViameterError]) -> None:
    runs, ask = Runs(), plan(TENTH)(DATA)
    for _ in range(2):
        with pytest.raises(error):
            ask(asked(runs))
    assert runs.count == 0 and ask(tenth()) == "answer"
    with pytest.raises(QueryableEnded):
        ask(tenth())


def test_measurements_are_unknown_as_internal_queries() -> None:
    runs, ask = Runs(), plan(TENTH)(DATA)
    with pytest.raises(UnknownQuery):
        ask.ask(tenth(function=runs))
    assert runs.count == 0


def test_one_that_fails_has_used_its_loss() -> None:
    def interrupted(_: Any) -> Any:
        raise KeyboardInterrupt

    ask = plan(TENTH, TENTH)(DATA)
    with pytest.raises(SealedError):
        ask(tenth(function=lambda rows: rows[99]))
    with pytest.raises(KeyboardInterrupt):
        ask(tenth(function=interrupted))
    with pytest.raises(QueryableEnded):
        ask(tenth())


def test_losses_are_looked_at_for_the_distance_of_the_plan() -> None:
    ask = plan(FIFTH, d_in=3)(DATA)
    with pytest.raises(OverBudget) as caught:
        ask(tenth())
    assert caught.value.asked == vm.pure("3/10")


@pytest.mark.parametrize("losses", [[1], ["1/10"], [TENTH, None]])
def test_what_is_no_loss_is_refused(losses: Any) -> None:
    with pytest.raises(ParameterError, match="expected a loss"):
        vm.adaptive(ROWS, d_in=1, losses=losses)


def test_losses_of_several_measures_and_of_none_are_refused() -> None:
    with pytest.raises(MeasureMismatch):
        plan(TENTH, vm.zcdp(1))
    with pytest.raises(MeasureMismatch):
        vm.adaptive(ROWS, d_in=1, losses=[TENTH], measure=vm.ZCDP)
    with pytest.raises(ParameterError, match="give measure="):
        plan()


@for_each("d_in", [0.5, -1, "1/2", math.nan, None])
def test_what_is_no_distance_is_refused(d_in: Any) -> None:
    with pytest.raises(NumberError):
        plan(TENTH, d_in=d_in)


# How it runs


def test_threads_that_share_a_plan_use_each_loss_once() -> None:
    runs, ended = Runs(), []
    ask = plan(*[TENTH] * 30)(DATA)

    def work() -> None:
        for _ in range(10):
            try:
                ask(tenth(function=runs))
            except QueryableEnded:
                ended.append(1)

    in_threads(*[work] * 8)
    assert runs.count == 30 and len(ended) == 50


def test_a_mechanism_cannot_use_its_own_plan_while_it_runs() -> None:
    ask, seen = plan(TENTH, TENTH)(DATA), []

    def reenter(_: Any) -> None:
        with pytest.raises(QueryableBusy):
            ask(tenth())
        seen.append("busy")

    ask(tenth(function=reenter))
    assert seen == ["busy"] and ask(tenth()) == "answer"


def test_every_release_of_a_plan_has_losses_of_its_own_and_is_counted() -> None:
    made, meter = plan(TENTH), vm.Odometer(ROWS, vm.PureDP)(DATA)
    first, second = meter(made), meter(made)
    first(tenth())
    with pytest.raises(QueryableEnded):
        first(tenth())
    assert second(tenth()) == "answer" and meter.loss(1) == FIFTH


def test_a_plan_inside_of_a_sequential_odometer_is_held_to_its_turns() -> None:
    meter = vm.Odometer(ROWS, vm.ApproxZCDP)(DATA)
    ask = meter(plan(SMALL, SMALL))
    child = ask(spawning(echo))
    assert child("hello") == "hello"
    meter(measurement(vm.approx_zcdp(0, 0)))
    for gone, query in ((child, "hello"), (ask, spawning(echo))):
        with pytest.raises(PermissionGone):
            gone(query)


def test_the_data_are_copied_and_read_only() -> None:
    rows = np.array(DATA)
    ask = plan(*[TENTH] * 3)(rows)
    rows[:] = 0

    def overwrite(data: Any) -> None:
        data[0] = 99

    with pytest.raises(SealedError):
        ask(tenth(function=overwrite))
    assert ask(tenth(function=lambda data: data.tolist())) == DATA


def test_a_plan_is_not_copied() -> None:
    ask = plan(TENTH)(DATA)
    assert isinstance(ask, Queryable)
    with pytest.raises(QueryableError):
        copy.deepcopy(ask)


def test_the_same_query_raises_the_same_error_on_all_data_or_none() -> None:
    small = vm.Space(vm.vectors(int, bounds=(0, 1)), vm.SymmetricDistance())
    made = vm.adaptive(small, d_in=1, losses=[TENTH])
    for data in ([], [0], [1], [0, 1]):
        ask = made(data)
        with pytest.raises(OverBudget, match=re.escape("asks for pure(1/5), and pure(1/10) is left")):
            ask(measurement(FIFTH, space=small))
        assert isinstance(ask(vm.count(small) >> vm.laplace(scale=10)), int)
