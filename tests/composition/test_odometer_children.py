"""Children of an odometer, threads, processes and copies: who may answer when."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.cases import for_each
from tests.composition.oracles import (
    DATA,
    OTHER_METRIC,
    PURE,
    ROWS,
    SEQUENTIAL,
    Runs,
    assert_gone,
    echo,
    elsewhere,
    maker,
    measurement,
    spawning,
    tenth,
)
from tests.processes import alone
from tests.threads import PATIENCE, in_threads

import viameter as vm
from viameter.composition.queries import (
    LossQuery,
)
from viameter.core import Queryable
from viameter.errors import (
    PermissionGone,
    QueryableBusy,
    QueryableEnded,
    QueryableError,
    SealedError,
    ViameterError,
)

# Children of sequential measures, and of concurrent ones


def nested_list(child: Any) -> Any:
    return [1, {"children": (child, "text")}]


@for_each("how", [lambda make: make(), elsewhere])
@for_each(
    ("wrap", "unwrap"),
    [
        (lambda child: child, lambda made: made),
        (lambda child: [child], lambda made: made[0]),
        (lambda child: {"child": child}, lambda made: made["child"]),
        (nested_list, lambda made: made[1]["children"][0]),
    ],
)
def test_children_lose_permission_when_the_next_measurement_is_asked_for(
    wrap: Callable[[Any], Any], unwrap: Callable[[Any], Any], how: Callable[[Any], Any]
) -> None:
    meter = SEQUENTIAL(DATA)
    child = unwrap(meter(spawning(lambda: wrap(how(maker)))))
    early = child(lambda: wrap(how(maker)))
    grandchild = unwrap(early)
    late = grandchild(lambda: how(echo))
    assert late("hello") == "hello"
    meter(measurement(vm.approx_zcdp(0, 0)))
    for gone in (child, grandchild, late):
        assert_gone(gone)


def test_a_child_whose_parent_failed_at_the_next_measurement_has_lost_permission() -> None:
    """The next mechanism has begun, though it failed."""
    meter = SEQUENTIAL(DATA)
    child = meter(spawning(echo))
    with pytest.raises(SealedError):
        meter(spawning(lambda: 1 / 0))
    assert_gone(child)


@for_each(
    "refused",
    [
        tenth,
        lambda: measurement(vm.approx_zcdp(0, 0), space=OTHER_METRIC),
        lambda: measurement(privacy=lambda _: None, measure=vm.ApproxZCDP),
        lambda: "hello",
    ],
)
def test_a_refusal_and_a_query_of_the_loss_leave_the_newest_child_its_permission(refused: Callable[[], Any]) -> None:
    meter = SEQUENTIAL(DATA)
    child = meter(spawning(echo))
    with pytest.raises(ViameterError):
        meter(refused())
    meter.loss(3)
    meter.preview(spawning(echo), 1)
    meter.state()
    assert child("hello") == "hello"


def test_what_is_queried_while_a_later_mechanism_runs_is_refused() -> None:
    """The next one has begun: an earlier child is not interleaved with it, not even by the mechanism itself."""
    meter = SEQUENTIAL(DATA)
    first, seen = meter(spawning(echo)), []

    def use_first() -> Any:
        with pytest.raises(PermissionGone):
            first("hello")
        seen.append("refused")
        own = echo()
        return own("own children answer at once")

    assert meter(spawning(use_first)) == "own children answer at once"
    assert seen == ["refused"]


def test_a_child_cannot_move_its_meter_on_in_the_middle_of_its_answer() -> None:
    meter = SEQUENTIAL(DATA)

    def ask_meter(_: Queryable, __: Any) -> Any:
        return meter(spawning(echo))

    child = meter(spawning(lambda: Queryable(ask_meter)))
    with pytest.raises(QueryableBusy):
        child("go")
    assert len(meter.history) == 1


def test_the_meter_waits_while_its_child_answers_in_another_thread() -> None:
    meter, answering, log = SEQUENTIAL(DATA), threading.Event(), []

    def slow(_: Queryable, __: Any) -> None:
        answering.set()
        moved.wait(0.1)
        log.append("answered")

    moved = threading.Event()
    child = meter(spawning(lambda: Queryable(slow)))

    def move_on() -> None:
        assert answering.wait(PATIENCE)
        meter(measurement(vm.approx_zcdp(0, 0), function=lambda _: log.append("moved on")))
        moved.set()

    in_threads(lambda: child("go"), move_on)
    assert log == ["answered", "moved on"]


def sparse_in_approx_zcdp() -> vm.Measurement:
    """A sparse vector counted in approximate zCDP: pure(1/2) is zcdp(1/8)."""
    watch = vm.sparse_vector(ROWS, threshold=500, scale=8)
    return measurement(vm.approx_zcdp("1/8", 0), function=watch.function)


COUNT = ROWS >> vm.count()


def test_two_sparse_vectors_in_a_sequential_measure_answer_one_after_the_other() -> None:
    meter = SEQUENTIAL(DATA)
    first = meter(sparse_in_approx_zcdp())
    assert first(COUNT) is False
    second = meter(sparse_in_approx_zcdp())
    with pytest.raises(PermissionGone):
        first(COUNT)
    assert second(COUNT) is False and meter.loss(1) == vm.approx_zcdp("1/4", 0)


def test_two_sparse_vectors_in_a_concurrent_measure_are_interleaved() -> None:
    meter = PURE([1] * 1000)
    low, high = (meter(vm.sparse_vector(ROWS, threshold=t, scale=8)) for t in (100, 5000))
    assert meter.loss(1) == vm.pure(1), "all that they may answer is counted when they are made"
    assert high(COUNT) is False and low(COUNT) is True and high(COUNT) is False
    with pytest.raises(QueryableEnded):
        low(COUNT)
    meter(tenth())
    assert high(COUNT) is False and meter.loss(1) == vm.pure("11/10")


@for_each("measure", [vm.PureDP, vm.ApproxDP, vm.ZCDP, vm.RenyiDP, vm.GaussianDP])
def test_children_of_concurrent_measures_go_on_answering(measure: vm.Measure) -> None:
    meter = vm.Odometer(ROWS, measure)(DATA)
    children = [meter(measurement(measure.zero, function=lambda _: maker())) for _ in range(3)]
    grandchildren = [child(echo) for child in children]
    for child in (*grandchildren, *reversed(grandchildren)):
        assert child("hello") == "hello"


@pytest.mark.parametrize(("how", "refused"), [(vm.SEQUENTIAL, True), (vm.CONCURRENT, False)], ids=repr)
def test_a_users_measure_is_held_to_its_own_table(how: vm.Composability, refused: bool) -> None:
    measure = vm.measure("Distance", adds=True, trust="distances add", composes={vm.FULLY_ADAPTIVE: how})
    meter = vm.Odometer(ROWS, measure)(DATA)
    first, _ = (meter(measurement(measure("1/10"), function=lambda _: echo())) for _ in range(2))
    if refused:
        assert_gone(first)
    else:
        assert first("hello") == "hello"
    assert meter.loss(1) == measure("1/5")


def test_a_childs_queries_cost_nothing_more_since_all_of_it_was_counted() -> None:
    meter = SEQUENTIAL(DATA)
    child = meter(spawning(maker))
    before = meter.loss(1)
    for _ in range(5):
        child(echo)("hello")
    assert meter.loss(1) == before == vm.approx_zcdp("1/10", "1/1000")


# Reentrancy, threads, processes, copies


def test_a_mechanism_that_queries_its_own_meter_is_refused_as_busy() -> None:
    meter, seen = PURE(DATA), []

    def reenter(_: Any) -> Any:
        for query in (tenth(), LossQuery(1)):
            try:
                meter(query)
            except QueryableBusy:
                seen.append("busy")
        return "answer"

    assert meter(tenth(function=reenter)) == "answer" and seen == ["busy", "busy"]
    assert meter.loss(1) == vm.pure("1/10")


def test_many_threads_share_one_odometer_and_every_release_is_counted_once() -> None:
    runs, meter = Runs(), PURE(DATA)
    same = tenth(function=runs)

    def work() -> None:
        for turn in range(25):
            meter(same if turn % 2 else tenth(function=runs))
            meter.loss(turn)

    in_threads(*[work] * 8)
    assert runs.count == 200 and meter.loss(1) == vm.pure(20) and meter.loss(3) == vm.pure(60)


@alone
def test_a_meter_does_not_survive_a_fork() -> None:
    meter = PURE(DATA)
    child = meter(tenth(function=lambda _: echo()))
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:  # pragma: no cover  # the other process
        refused = 0
        for ask in (
            lambda: meter(tenth()),
            lambda: meter.loss(1),
            lambda: meter.preview(tenth(), 1),
            meter.state,
            lambda: child("hello"),
        ):
            try:
                ask()
            except QueryableError:
                refused += 1
        os.write(writer, bytes([refused]))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        assert told.read() == bytes([5])
    os.waitpid(process, 0)
    assert meter(tenth()) == "answer"


@pytest.mark.parametrize("capped", [False, True])
def test_meters_are_not_copied_or_pickled(capped: bool) -> None:
    meter: Any = PURE.filter(d_in=1, budget=vm.pure(1))(DATA) if capped else PURE(DATA)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps, lambda m: copy.deepcopy([m])):
        with pytest.raises(QueryableError, match="cannot be copied or pickled"):
            attempt(meter)
