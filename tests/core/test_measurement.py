"""Measurements: releasing, post-processing, checking, guards."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.core import Query
from viameter.errors import IncomparableLosses, NotInDomain, ParameterError

ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
NUMBER = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
TELL = vm.measurement(
    ROWS,
    function=len,
    measure=vm.PureDP,
    privacy=lambda d: vm.pure(Fraction(d) / 10 if d != float("inf") else d),
    trust="t",
)


def test_a_release_goes_through_post_processing_in_order() -> None:
    processed = TELL >> vm.postprocess(lambda n: n + 1) >> vm.postprocess(lambda n: n * 10)
    assert processed([7, 7]) == processed.invoke([7, 7]) == 30
    assert [getattr(step, "name", "") for step in processed.after] == ["<lambda>", "<lambda>"]
    assert TELL([7, 7]) == 2  # the original is as it was


def test_post_processing_stays_last_when_a_transformation_comes_first() -> None:
    halve = vm.transformation(ROWS, function=lambda r: r[::2], output=ROWS, stability=lambda d: d, trust="not used")
    processed = halve >> (TELL >> vm.postprocess(str))
    assert processed([1, 2, 3]) == "2" and processed.map(3) == vm.pure("3/10")
    assert repr(processed).endswith(">> postprocess(str)")
    assert [node.theorem.slug for node in processed.explain(1).derivation.nodes()] == [
        "post-processing",
        "chain",
        "trusted-map",
        "trusted-map",
    ]
    assert processed == halve >> TELL >> vm.postprocess(str)


def test_check_says_whether_the_loss_is_proved() -> None:
    assert TELL.check(10, vm.pure(1)) is True
    assert TELL.check(10, vm.pure("0.999999999999999999999")) is False
    assert TELL.check("inf", vm.pure(10**9)) is False and TELL.check("inf", vm.pure("inf")) is True


def test_check_refuses_losses_of_other_measures_and_what_is_no_loss() -> None:
    with pytest.raises(IncomparableLosses):
        TELL.check(1, vm.zcdp(1))
    for strange in (1, 0.5, None, "1"):
        with pytest.raises(TypeError):
            TELL.check(1, strange)  # type: ignore[arg-type]


@for_each("function", [None, 1, "str", vm.postprocess(str)])
def test_post_processing_takes_a_function(function: Any) -> None:
    with pytest.raises(ParameterError, match="postprocess"):
        vm.postprocess(function)


def test_post_processing_is_shown_by_name() -> None:
    assert repr(vm.postprocess(str)) == "postprocess(str)"
    assert repr(vm.postprocess(str, name="as text")) == "postprocess(as text)"
    assert vm.postprocess(str) == vm.postprocess(str) != vm.postprocess(int)


@for_each("other", [str, vm.count(), TELL, ROWS, 1, None])
def test_nothing_but_post_processing_comes_after_a_measurement(other: Any) -> None:
    with pytest.raises(ParameterError, match="not possible"):
        TELL >> other
    with pytest.raises(ParameterError, match="postprocess"):
        TELL >> str  # type: ignore[operator]


def test_invoke_checks_the_data_and_release_does_not() -> None:
    with pytest.raises(NotInDomain):
        TELL.invoke(["x"])
    assert TELL.release(["admitted", "before"]) == 2


def make_guard(entered: list[str]) -> Any:
    @contextmanager
    def guard() -> Iterator[None]:
        entered.append("in")
        yield
        entered.append("out")

    return guard


def test_a_queryable_that_is_released_under_a_guard_answers_under_it() -> None:
    entered: list[str] = []

    def transition(_: vm.Queryable, query: Query) -> Any:
        entered.append("answer")
        return query.query

    spawn = vm.measurement(
        ROWS,
        function=lambda _: vm.Queryable(transition),
        measure=vm.PureDP,
        privacy=lambda _: vm.pure(1),
        trust="t",
    )
    assert spawn.invoke([1])("hello") == "hello" and entered == ["answer"]
    entered.clear()
    released = spawn.invoke([1], guard=make_guard(entered))
    assert entered == []  # releasing is not answering
    assert released("hello") == "hello" and entered == ["in", "answer", "out"]


def test_post_processing_of_a_guarded_release_is_under_the_guard_too() -> None:
    entered: list[str] = []
    made_before = vm.Queryable(lambda _, query: query.query)
    spawn = vm.measurement(ROWS, function=len, measure=vm.PureDP, privacy=lambda _: vm.pure(1), trust="t")
    for process in (
        lambda _: vm.Queryable(lambda _, query: query.query),
        lambda _: made_before,
        lambda _: [made_before],
    ):
        entered.clear()
        released = (spawn >> vm.postprocess(process)).invoke([1], guard=make_guard(entered))
        answer = released[0] if isinstance(released, list) else released
        assert answer("hello") == "hello" and entered == ["in", "out"]
    entered.clear()
    assert made_before("hello") == "hello" and entered == []
