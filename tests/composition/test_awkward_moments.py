"""What a meter and a batch do at awkward moments: interrupts, maps that ask back, lazy releases."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.composition.tally import TRACKED, Tally
from viameter.core import Queryable
from viameter.errors import PermissionGone, QueryableBusy, SealedError, ViameterError

SPACE = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
TENTH = vm.count(SPACE) >> vm.laplace(scale=10)


def claim(
    loss: vm.Loss, function: Callable[[Any], Any] = lambda _: None, privacy: Callable[[Any], Any] | None = None
) -> vm.Measurement:
    return vm.measurement(
        SPACE, function=function, measure=loss.measure, privacy=privacy or (lambda _: loss), trust="a test"
    )


# Interrupts


def interrupted_at(step: int, action: Callable[[], object]) -> bool:
    """Run an action, and interrupt it at its n-th line in the tally; whether it came to that."""
    seen = 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal seen
        if not frame.f_code.co_filename.endswith(("tally.py", "meter.py")):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen += 1
            if seen == step:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("tracked", [2, TRACKED - 1])
def test_no_interrupt_leaves_sums_that_are_too_small(tracked: int) -> None:
    step = 0
    while True:
        step += 1
        meter = vm.Odometer(SPACE, vm.PureDP)([1, 2])
        for d_in in range(2, tracked + 2):
            meter.loss(d_in)
        meter(TENTH)
        if not interrupted_at(step, lambda meter=meter: meter.loss(100)):  # type: ignore[misc]
            break
        meter(TENTH)
        for d_in in (1, 2, 3, tracked, 50, 100, 7):
            assert meter.loss(d_in) >= vm.pure(Fraction(2 * d_in, 10)), (step, d_in)
    assert step > 50


def test_no_interrupt_of_a_query_leaves_what_ran_uncounted() -> None:
    step = 0
    while True:
        step += 1
        runs: list[int] = []
        meter = vm.Odometer(SPACE, vm.PureDP)([1, 2])
        meter.loss(3)
        asked = claim(vm.pure(1), lambda _, runs=runs: runs.append(1))  # type: ignore[misc]
        came = interrupted_at(step, lambda meter=meter, asked=asked: meter(asked))  # type: ignore[misc]
        for d_in in (1, 3, 5):
            assert meter.loss(d_in) >= vm.pure(len(runs)), (step, d_in)
        if not came:
            break
    assert step > 50


# Maps


def test_a_map_that_asks_its_own_meter_is_refused_and_misaligns_nothing() -> None:
    meter = vm.Odometer(SPACE, vm.PureDP)([1, 2])
    for d_in in range(2, TRACKED + 1):
        meter.loss(d_in)
    places = iter(range(1000, 2000))

    def asking(d_in: Fraction) -> vm.Loss:
        meter.preview(TENTH, d_in=next(places))
        return vm.pure(d_in / 10)

    with pytest.raises(QueryableBusy, match="maps may not"):
        meter(claim(vm.pure(1), privacy=asking))
    meter(TENTH)
    assert [meter.loss(d_in) for d_in in (1, 3, 6, 77)] == [vm.pure(Fraction(d_in, 10)) for d_in in (1, 3, 6, 77)]


@dataclass(frozen=True)
class LooselyEqual:
    """A map that is equal to others that give other losses."""

    name: str
    slope: Fraction = field(compare=False)

    def __call__(self, d_in: Fraction) -> vm.Loss:
        return vm.pure(self.slope * d_in)


def test_measurements_that_are_equal_and_cost_different_amounts_are_not_merged() -> None:
    def function(_: object) -> None: ...

    meter = vm.Odometer(SPACE, vm.PureDP)([1, 2])
    for slope in (Fraction(1, 100), Fraction(5)):
        privacy = LooselyEqual("m", slope)
        meter(vm.measurement(SPACE, function=function, measure=vm.PureDP, privacy=privacy, trust="a test"))
    assert meter.loss(1) == vm.pure("501/100")
    assert meter.loss(2) == vm.pure("501/50")
    assert meter.explain(2).derivation.bound_value == vm.pure("501/50")
    assert [premise.times for premise in meter.explain(3).derivation.premises[0].premises] == [1, 1]


def test_a_tally_that_was_changed_since_is_not_charged() -> None:
    tally = Tally(vm.PureDP, rule=None, track=Fraction(1))
    pending = tally.pending(TENTH)
    tally.charge(tally.pending(TENTH))
    with pytest.raises(QueryableBusy):
        tally.charge(pending)
    assert tally.total(Fraction(1)) == vm.pure("1/10")


# Releases


def lazily(data: Any) -> Iterator[int]:
    yield len(data)


class Later:
    def __await__(self) -> Iterator[None]:
        yield None


@for_each("function", [lazily, lambda data: map(int, data), iter, lambda _: Later()])
def test_what_would_look_at_the_data_later_is_not_released(function: Callable[[Any], Any]) -> None:
    meter = vm.Odometer(SPACE, vm.PureDP)([1, 2])
    with pytest.raises(SealedError):
        meter(claim(vm.pure(1), function))
    assert meter.loss(1) == vm.pure(1)


def test_errors_of_a_released_queryable_keep_nothing_of_what_they_were_raised_from() -> None:
    def transition(_: Queryable, query: Any) -> None:
        if query.query == "interrupt":
            raise KeyboardInterrupt([41, 42])
        try:
            dict[int, int]().pop(41)
        except KeyError as problem:
            raise ViameterError("public") from problem

    child = claim(vm.pure(1), lambda _: Queryable(transition))([1, 2])
    with pytest.raises(KeyboardInterrupt) as interrupt:
        child("interrupt")
    assert interrupt.value.args == ()
    with pytest.raises(ViameterError, match="public") as error:
        child("fail")
    assert error.value.__cause__ is None and error.value.__context__ is None


def test_data_of_a_users_domain_are_copied_too() -> None:
    anything = vm.domain("lists", member=lambda value: isinstance(value, list), trust="a test")
    space = vm.Space(
        anything, vm.metric("differences", distance=lambda left, right: int(left != right), trust="a test")
    )
    data = [1, 2, 3]
    meter = vm.Odometer(space, vm.PureDP)(data)
    data.append(4)
    size = vm.measurement(space, function=len, measure=vm.PureDP, privacy=lambda _: vm.pure(1), trust="a test")
    assert meter(size) == 3


# Batches in a sequential measure


def echo(name: str) -> Queryable:
    return Queryable(lambda _, query: f"{name}({query.query})")


LOSS = vm.approx_zcdp("1/8", "1e-9")


def test_no_part_of_a_batch_answers_before_the_last_has_begun() -> None:
    children: list[Queryable] = []
    told: list[str] = []

    def note(answer: Queryable) -> Queryable:
        children.append(answer)
        return answer

    def ask_the_first(answer: str) -> str:
        told.append(children[0](answer))
        return answer

    first = claim(LOSS, lambda _: echo("first")) >> vm.postprocess(note)
    second = claim(LOSS, lambda _: "second") >> vm.postprocess(ask_the_first)
    with pytest.raises((PermissionGone, SealedError)):
        vm.compose(SPACE, [first, second])([1, 2])
    assert told == []
    # After the failure as well.
    with pytest.raises(PermissionGone):
        children[0]("now?")


def test_what_was_said_beside_a_queryable_is_not_hidden_by_post_processing() -> None:
    said: list[str] = []

    def note(answer: tuple[str, Queryable]) -> Queryable:
        said.append(answer[0])
        return answer[1]

    plain = claim(LOSS, lambda _: echo("plain"))
    speaking = claim(LOSS, lambda _: ("already", echo("speaking"))) >> vm.postprocess(note)
    one, other = vm.compose(SPACE, [plain, speaking])([1, 2])
    assert one(said[0]) == "plain(already)"
    with pytest.raises(PermissionGone):
        other("more")


def test_bare_queryables_of_a_batch_answer_in_their_order() -> None:
    first, second = claim(LOSS, lambda _: echo("first")), claim(LOSS, lambda _: echo("second"))
    one, other = vm.compose(SPACE, [first, second.to(vm.ApproxZCDP)])([1, 2])
    assert one("a") == "first(a)" and other("b") == "second(b)"
    with pytest.raises(PermissionGone):
        one("c")


# Budgets that nothing fits into


def test_a_budget_too_small_to_count_in_lets_nothing_pass_and_takes_no_time() -> None:
    budget = vm.approx("1e-100", "1e-200")
    capped = vm.Odometer(SPACE, vm.ApproxDP).filter(d_in=1, budget=budget, rule="concentrated")([1])
    assert capped.budget.rho == 0


def test_a_state_keeps_the_distance_of_a_bound_for_all_times() -> None:
    odometer = vm.Odometer(SPACE, vm.PureDP, anytime=vm.anytime(d_in=3, delta="1e-6"))
    meter = odometer([1, 2])
    meter(TENTH)
    resumed = vm.Odometer.resume(meter.state().to_json(), [1, 2], space=SPACE)
    assert resumed.epsilon_so_far == vm.approx("3/10", 0)
    with pytest.raises(vm.errors.NumberError):
        vm.Odometer(SPACE, vm.PureDP, anytime=vm.anytime(d_in="1/2", delta="1e-6"))


def test_a_state_of_a_space_that_only_looks_the_same_is_refused() -> None:
    fake = vm.metric("SymmetricDistance()", distance=lambda left, right: 0, trust="nothing differs")
    meter = vm.Odometer(vm.Space(vm.vectors(int, bounds=(0, 9)), fake), vm.PureDP)([1, 2])
    saved = meter.state().to_json(key=b"key")
    with pytest.raises(vm.errors.FormatError, match="another space"):
        vm.Odometer.resume(saved, [1, 2], space=SPACE, key=b"key")


def test_an_odometer_outside_of_pure_privacy_says_what_its_reading_needs() -> None:
    gaussian = vm.count(SPACE) >> vm.gaussian(scale=10)
    meter = vm.Odometer(SPACE, vm.ZCDP)([1, 2])
    meter(gaussian)
    assert "if that was a budget set before the first of them" in str(meter.explain(1))
    capped = vm.Odometer(SPACE, vm.ZCDP).filter(d_in=1, budget=vm.zcdp(1))([1, 2])
    capped(gaussian)
    assert "whatever is asked, all stay within zcdp(1), for data 1 apart" in str(capped.explain(1))
    pure = vm.Odometer(SPACE, vm.PureDP)([1, 2])
    pure(TENTH)
    assert "if that was" not in str(pure.explain(1))
