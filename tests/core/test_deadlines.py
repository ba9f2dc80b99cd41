"""Deadlines: only the time that something runs counts, and not what it waits for its turn."""

import threading
import time

import pytest
from tests.threads import PATIENCE

from viameter.core import deadlines
from viameter.core.deadlines import in_line, is_given_up, run_by
from viameter.errors import SealedError


def test_time_in_line_does_not_count() -> None:
    def waits() -> str:
        for _ in range(3):
            with in_line():
                time.sleep(0.5)
        return "late" if is_given_up() else "answered"

    assert run_by(1.0, waits) == "answered"


def test_time_after_it_counts_and_so_does_what_was_before() -> None:
    told: list[bool] = []

    def runs() -> str:
        time.sleep(0.3)
        with in_line():
            pass
        time.sleep(0.3)
        told.append(is_given_up())
        return "answered"

    with pytest.raises(SealedError):
        run_by(0.4, runs)
    end = time.monotonic() + PATIENCE
    while not told and time.monotonic() < end:
        time.sleep(0.01)
    assert told == [True]


def test_nobody_stands_in_line_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "IN_LINE", 2)
    moves = threading.Event()

    def hangs() -> bool:
        with in_line():
            return moves.wait(PATIENCE)

    began = time.monotonic()
    with pytest.raises(SealedError):
        run_by(0.2, hangs)
    moves.set()
    assert time.monotonic() - began >= 0.4  # and not before


def test_an_error_in_line_ends_the_line() -> None:
    def fails() -> str:
        with pytest.raises(ValueError, match="gone"), in_line():
            raise ValueError("gone")
        time.sleep(0.5)
        return "answered"

    with pytest.raises(SealedError):
        run_by(0.2, fails)


def test_without_a_deadline_a_line_is_only_a_line() -> None:
    with in_line():
        assert not is_given_up()
    assert run_by(None, lambda: 17) == 17
