"""Nothing of the rows leaves through an error, a warning or a cause. Every row is a canary here."""

import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each

import viameter as vm
from viameter.core.sealed import run_sealed
from viameter.errors import NotInDomain, SealedError

CANARY = 72360679
NOTHING: dict[str, Any] = {}
ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
NUMBER = vm.Space(vm.scalars(int, bounds=(0, 9)), vm.AbsoluteDistance())


class Hidden(BaseException):
    """An error that is not even an Exception."""


class Mute(Exception):
    """An error that fails once more when it is looked at."""

    def __str__(self) -> str:
        raise ValueError(CANARY)

    __repr__ = __str__


def raising(error: type[BaseException]) -> Callable[[Any], Any]:
    def function(rows: Any) -> Any:
        raise error(f"row {rows.tolist()}")

    return function


def chained(rows: Any) -> Any:
    try:
        return NOTHING[str(rows)]
    except KeyError as problem:
        raise ValueError(str(rows)) from problem


def noted(rows: Any) -> Any:
    problem = ValueError("no")
    problem.add_note(str(rows))
    raise problem


def group(rows: Any) -> Any:
    raise ExceptionGroup(str(rows), [ValueError(str(rows))])


def recursive(rows: Any) -> Any:
    return recursive(rows)


def recursive_text(rows: Any) -> Any:
    raise RecursionError(str(rows))


def exit_with(rows: Any) -> Any:
    sys.exit(str(rows))


def sealed_already(rows: Any) -> Any:
    """A user's function that runs another computation inside of its own handler."""
    try:
        return int(str(rows))
    except ValueError:
        return make_transformation(raising(KeyError))(rows)


FAILING: list[Callable[[Any], Any]] = [
    *map(raising, [ValueError, KeyError, SystemExit, GeneratorExit, StopIteration, MemoryError, OSError, Hidden, Mute]),
    chained,
    noted,
    group,
    recursive,
    recursive_text,
    exit_with,
    sealed_already,
    lambda rows: rows[CANARY],
    lambda rows: NOTHING[str(rows)],
    lambda rows: int(str(rows)),
    lambda rows: f"{rows!s}".nonsense,  # type: ignore[attr-defined]
    lambda _: 1 / 0,
]


def make_transformation(function: Callable[[Any], Any]) -> vm.Transformation:
    return vm.transformation(ROWS, function=function, output=NUMBER, stability=lambda d: d, trust="a test")


def make_measurement(function: Callable[[Any], Any]) -> vm.Measurement:
    return vm.measurement(ROWS, function=function, measure=vm.PureDP, privacy=lambda _: vm.pure(1), trust="a test")


def after_a_step(function: Callable[[Any], Any]) -> vm.Measurement:
    same = vm.transformation(ROWS, function=lambda rows: rows, output=ROWS, stability=lambda d: d, trust="identity")
    return same >> make_measurement(function) >> vm.postprocess(str)


MAKERS = [make_transformation, make_measurement, after_a_step]


def assert_says_nothing(problem: BaseException) -> None:
    assert type(problem) is SealedError
    assert str(problem) == SealedError.TEXT and problem.args == (SealedError.TEXT,)
    assert str(CANARY) not in repr(problem) and str(CANARY) not in str(vars(problem))
    assert problem.__cause__ is None and problem.__context__ is None
    assert not hasattr(problem, "__notes__")
    shown = "".join(traceback.format_exception(problem))
    assert str(CANARY) not in shown
    frames = [frame.name for frame in traceback.extract_tb(problem.__traceback__)]
    assert frames[-1] == "run_sealed"  # no frame of what failed


@for_each("make", MAKERS)
@for_each("function", FAILING)
def test_what_fails_on_rows_is_one_error_of_constant_text_without_a_cause(
    make: Callable[[Any], Any], function: Callable[[Any], Any]
) -> None:
    computation = make(function)
    calls: list[Callable[[], Any]] = [lambda: computation([CANARY])]
    if isinstance(computation, vm.Measurement):
        calls += [lambda: computation.invoke([CANARY]), lambda: computation.release(np.array([CANARY]))]
    for call in calls:
        with pytest.raises(SealedError) as sealed:
            call()
        assert_says_nothing(sealed.value)


@for_each("output", [CANARY, -1, str(CANARY), None, [CANARY], float("nan"), 0.5])
def test_an_output_outside_of_the_output_domain_is_sealed_too(output: Any) -> None:
    with pytest.raises(SealedError) as sealed:
        make_transformation(lambda _: output)([CANARY])
    assert_says_nothing(sealed.value)


def test_the_same_error_comes_for_every_failure() -> None:
    texts = set()
    for function in FAILING:
        for rows in ([], [CANARY], [1, 2, 3]):
            with pytest.raises(SealedError) as sealed:
                make_transformation(lambda rows, function=function: (function(rows), 1 / 0))([*rows])  # type: ignore[misc]
            texts.add(str(sealed.value))
    assert texts == {SealedError.TEXT}


@pytest.mark.parametrize("make", MAKERS)
def test_an_interrupt_passes(make: Callable[[Any], Any]) -> None:
    with pytest.raises(KeyboardInterrupt):
        make(raising(KeyboardInterrupt))([CANARY])


@pytest.mark.parametrize("make", MAKERS)
def test_an_interrupt_does_not_bring_along_what_it_interrupted(make: Callable[[Any], Any]) -> None:
    # Once: the interrupt that passes is the one raised inside, with its arguments, and with the error that was being
    # handled when it came as its context: an uncaught Ctrl-C prints both.
    def interrupted(rows: Any) -> Any:
        try:
            return int(str(rows))
        except ValueError:
            raise KeyboardInterrupt(str(rows))  # noqa: B904

    with pytest.raises(KeyboardInterrupt) as passed:
        make(interrupted)([CANARY])
    assert str(CANARY) not in repr(passed.value)
    assert passed.value.__context__ is None


def test_what_does_not_fail_is_returned() -> None:
    assert run_sealed(len, [1, 2]) == 2
    assert make_transformation(len)([1, 2]) == 2


@for_each(
    "function",
    [
        lambda rows: np.log(np.zeros(1)) + rows,
        lambda rows: np.float64(1) / np.float64(rows.size - rows.size),
        lambda rows: np.exp(np.full(1, 1e6)),
        lambda rows: np.full(1, 1e-300) * 1e-300,
        lambda rows: np.sqrt(np.full(1, -1.0)),
        lambda rows: np.full(1, np.nan).astype(np.int64),
    ],
)
def test_floating_point_warnings_of_numpy_are_silent(function: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        make_measurement(function)([CANARY])
        with np.errstate(all="raise"):  # whoever calls may have made errors of them
            make_measurement(function)([CANARY])
    assert seen == []


@for_each(
    "function",
    [
        lambda rows: np.mean(rows[:0]),
        lambda rows: np.var(rows[:1], ddof=1),
        lambda rows: np.nanmax(np.full(1, np.nan)),
        lambda rows: warnings.warn(f"row {rows}", stacklevel=1),
    ],
)
def test_other_warnings_are_silent_too(function: Callable[[Any], Any]) -> None:
    # Once: np.errstate stops floating-point warnings only. "Mean of empty slice" tells that no row was left, and a
    # function's own warning is printed with its rows.
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        make_measurement(function)([CANARY])
    assert [str(warning.message) for warning in seen] == []


def test_warnings_outside_are_as_they_were() -> None:
    floating, filters = np.geterr(), list(warnings.filters)
    nested = make_measurement(lambda rows: make_measurement(lambda _: np.mean(rows[:0]))(rows))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        nested([CANARY])
        warnings.warn("outside", stacklevel=1)
    assert [str(warning.message) for warning in seen] == ["outside"]
    for function in FAILING:
        with pytest.raises(SealedError):
            make_measurement(function)([CANARY])
    with pytest.raises(KeyboardInterrupt):
        make_measurement(raising(KeyboardInterrupt))([CANARY])
    assert np.geterr() == floating and list(warnings.filters) == filters
    with pytest.warns(UserWarning, match="outside"):
        warnings.warn("outside", stacklevel=1)


def test_warnings_are_silent_in_every_thread_and_as_they_were_when_all_are_done() -> None:
    filters = list(warnings.filters)
    start = threading.Barrier(6)

    def warn(rows: Any) -> None:
        start.wait(30)
        for _ in range(20):
            warnings.warn(f"row {rows}", stacklevel=1)
            time.sleep(0)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        threads = [threading.Thread(target=make_measurement(warn), args=([CANARY],), daemon=True) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in threads)
        warnings.warn("outside", stacklevel=1)
    assert [str(warning.message) for warning in seen] == ["outside"]
    assert list(warnings.filters) == filters


def test_another_thread_that_leaves_its_own_filters_meanwhile_uncovers_nothing_and_loses_nothing() -> None:
    # Once: filters belong to the process. What another thread saved before is put back while the function runs, so
    # that its warning is shown with its rows; and what was saved in the middle stays: nothing warns any more.
    inside, left = threading.Event(), threading.Event()

    def warn_late(rows: Any) -> None:
        inside.set()
        assert left.wait(30)
        warnings.warn(f"row {rows}", stacklevel=1)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        others = warnings.catch_warnings()
        others.__enter__()
        thread = threading.Thread(target=make_measurement(warn_late), args=([CANARY],), daemon=True)
        thread.start()
        assert inside.wait(30)
        others.__exit__(None, None, None)
        left.set()
        thread.join(30)
        warnings.warn("outside", stacklevel=1)
    assert [str(warning.message) for warning in seen] == ["outside"]


def test_post_processing_is_not_sealed_since_it_sees_only_the_release() -> None:
    processed = make_measurement(len) >> vm.postprocess(lambda release: {}[release])
    with pytest.raises(KeyError, match="2"):
        processed([CANARY, CANARY])


def test_data_outside_of_the_domain_are_refused_without_being_named() -> None:
    for make in MAKERS:
        for data in ([str(CANARY)], [CANARY + 0.5], CANARY, None, [[CANARY]], {CANARY: CANARY}):
            with pytest.raises(NotInDomain) as refused:
                make(len)(data)
            assert str(CANARY) not in str(refused.value) and str(CANARY) not in repr(refused.value)
            assert refused.value.__cause__ is None and refused.value.__context__ is None
