"""Giving up: once nobody waits for a release, whatever loop it is in ends, and nothing of it is seen."""

import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from tests.threads import PATIENCE

import viameter as vm
from viameter.core import deadlines
from viameter.core.deadlines import GivenUp, is_given_up, run_by, stop_if_given_up, while_awaited
from viameter.errors import SealedError, ViameterError
from viameter.mechanisms.additive import _adder
from viameter.sampling import (
    discrete_gaussian,
    discrete_laplace,
    exponential,
    noisy_max_laplace,
    permute_and_flip,
    top_k,
)
from viameter.sampling.weights import Weights
from viameter.tables import collecting, selection, session
from viameter.tables.bounding import Limits
from viameter.tables.engines import open_source, run
from viameter.tables.keys import Keys
from viameter.tables.statistics import Bins

FEW = np.arange(5)
ANSWERS = vm.Space(vm.vectors(vm.categories(["yes", "no"])), vm.HammingDistance())
KEYS = Keys(("key",), ((1,), (2,)), False, ((1, 2),))


def first_of(scores: Any, scale: Any, **_: Any) -> int:
    """A pick that does not ask."""
    return 0


def releasing() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "viameter-release"]


def wait_until_nothing_runs() -> None:
    end = time.monotonic() + PATIENCE
    while releasing() and time.monotonic() < end:
        time.sleep(0.01)
    assert not releasing(), "a release that nobody waits for still runs"


def wait_to_be_given_up() -> None:
    end = time.monotonic() + PATIENCE
    while not is_given_up() and time.monotonic() < end:
        time.sleep(0.01)
    assert is_given_up()


def after_giving_up(function: Callable[[], Any]) -> list[Any]:
    """What a function returns or raises that is called when nobody waits any more."""
    seen: list[Any] = []

    def late() -> None:
        wait_to_be_given_up()
        try:
            seen.append(function())
        except ViameterError as error:
            seen.append(error)
            raise

    with pytest.raises(SealedError) as caught:
        run_by(0.05, late)
    wait_until_nothing_runs()
    # Nothing of what the thread raised is in the one error that is seen.
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return seen


def rows_of_an_engine() -> Any:
    source = open_source({"x": [1, 2, 3]})
    return run(source, source.expression)


LOOPS: dict[str, Callable[[], Any]] = {
    "rounds of peeling": lambda: top_k(FEW, 1, 3, pick=first_of),
    "candidates by the exponential mechanism": lambda: exponential(FEW, 1),
    "coins of permute-and-flip": lambda: permute_and_flip(FEW, 1),
    "noisy candidates": lambda: noisy_max_laplace(FEW, 1),
    "weights in double-double": lambda: Weights.of(FEW, Fraction(1)).fixed_near(),
    "weights in integers": lambda: Weights.of(FEW, Fraction(1)).fixed(64),
    "draws of Laplace noise": lambda: discrete_laplace(5, 3),
    "draws of Gaussian noise": lambda: discrete_gaussian(5, 3),
    "sums with noise": lambda: _adder(Fraction(3), lambda count, scale: np.zeros(count, dtype=np.int64))(FEW),
    "answers told": lambda: vm.randomized_response(ANSWERS, probability=0).function(np.array(["yes", "no"])),
    "cells of an engine": lambda: collecting._one_each([(0, None)], [1]),
    "groups of an engine": lambda: collecting.Collecting(KEYS, Limits())._places({"key": [1, 2]}),
    "cells of groups": lambda: collecting._saturated([1, 2]),
    "merged bins": lambda: collecting._merged(np.arange(4), Bins(None, (0, 1, 2, 3, 4), 2)),  # type: ignore[arg-type]
    "rows of an engine": rows_of_an_engine,
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_ends_once_nobody_waits(name: str) -> None:
    (seen,) = after_giving_up(LOOPS[name])
    assert isinstance(seen, GivenUp)


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_goes_on_as_long_as_somebody_waits(name: str) -> None:
    assert run_by(PATIENCE, LOOPS[name]) is not None
    assert LOOPS[name]() is not None


def test_noise_that_is_drawn_one_by_one_ends_between_two_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def slow(scale: Fraction, stream: Any) -> int:
        drawn.append(0)
        wait_to_be_given_up()
        return 0

    monkeypatch.setattr("viameter.sampling.selection._laplace", slow)
    with pytest.raises(SealedError):
        run_by(0.05, lambda: noisy_max_laplace(FEW, 2**60))
    wait_until_nothing_runs()
    assert len(drawn) == 1


def test_keys_that_nobody_listed_end_when_the_engine_has_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    class Row(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            looked_at.append(name)
            return super().__getitem__(name)

    monkeypatch.setattr(selection, "statement", lambda *_, **__: None)
    monkeypatch.setattr(selection, "run", lambda *_, **__: [Row({"key": 1, selection.COUNT: 5})])
    counting: Any = selection.Counting(("key",), Limits())
    (seen,) = after_giving_up(lambda: counting(SimpleNamespace(on=None, unit=None, expression=MagicMock())))
    assert isinstance(seen, GivenUp)
    assert not looked_at


def test_small_items_are_asked_for_now_and_then() -> None:
    seen: list[int] = []

    def late() -> None:
        for item in while_awaited(range(10 * deadlines.AT_ONCE)):
            if not item:
                wait_to_be_given_up()
            seen.append(item)

    with pytest.raises(SealedError):
        run_by(0.05, late)
    wait_until_nothing_runs()
    assert seen == list(range(deadlines.AT_ONCE))


def test_all_items_come_in_order() -> None:
    items = list(range(2 * deadlines.AT_ONCE + 1))
    assert list(while_awaited(items)) == run_by(PATIENCE, lambda: list(while_awaited(items))) == items
    with pytest.raises(ValueError, match="shorter"):
        list(while_awaited(zip([1, 2], [1], strict=True)))


def test_without_a_deadline_nobody_gives_up() -> None:
    stop_if_given_up()
    assert session.GivenUp is GivenUp


def test_the_top_of_many_keys_ends_soon_after_its_deadline(tmp_path: Path) -> None:
    where: dict[str, Any] = {"ledger": tmp_path / "b.db", "dataset": "visits"}
    rows = {"a": [1, 2, 3], "b": [1, 2, 3]}
    table = vm.open(rows, unit=vm.per_row(), budget=vm.zcdp(1), **where).asked_by("ann", deadline=1.0)
    keys = {"a": list(range(1000)), "b": list(range(100))}
    with pytest.raises(SealedError):
        table.group_by("a", "b", keys=keys).top(100_000).release(spend=vm.zcdp("1/2"))
    wait_until_nothing_runs()


def test_medians_end_between_two_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where: dict[str, Any] = {"ledger": tmp_path / "b.db", "dataset": "visits"}
    rows = {"key": [1, 2, 3], "x": [1, 2, 3], "y": [1, 2, 3], "z": [1, 2, 3]}
    table = vm.open(rows, unit=vm.per_row(), budget=vm.zcdp(1), **where)
    passes: list[int] = []
    answer = collecting.Collecting._pass

    def slow(self: Any, *given: Any, **named: Any) -> Any:
        passes.append(0)
        found = answer(self, *given, **named)
        wait_to_be_given_up()
        return found

    medians = {name: vm.median(name, bounds=(0, 10)) for name in ("x", "y", "z")}
    question = table.asked_by("ann", deadline=2.0).group_by("key", keys=[1, 2, 3]).agg(**medians)
    monkeypatch.setattr(collecting.Collecting, "_pass", slow)
    with pytest.raises(SealedError):
        question.release(spend=vm.zcdp("1/2"))
    wait_until_nothing_runs()
    assert len(passes) == 1
