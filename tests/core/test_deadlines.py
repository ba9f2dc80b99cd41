"""Deadlines: only the time that something runs counts, and not what it waits for its turn."""

import threading
from types import SimpleNamespace

import pytest
from tests.threads import PATIENCE

from viameter.core import deadlines
from viameter.core.deadlines import in_line, is_given_up, run_by, seconds_left
from viameter.errors import SealedError


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands still unless a test moves it."""
    made = SimpleNamespace(now=0.0)
    monkeypatch.setattr(deadlines, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


def until_given_up() -> bool:
    """Wait until nobody waits any more; whether that came."""
    given_up = deadlines._CLOCK.get()
    assert given_up is not None
    return given_up.given_up.wait(PATIENCE)


def test_time_in_line_does_not_count(clock: SimpleNamespace) -> None:
    def waits() -> float | None:
        for _ in range(3):
            with in_line():
                clock.now += 0.75
        clock.now += 0.25
        return seconds_left()

    assert run_by(1.0, waits) == 0.75


def test_time_after_it_counts_and_so_does_what_was_before(clock: SimpleNamespace) -> None:
    ended = threading.Event()

    def runs() -> None:
        clock.now += 0.25
        with in_line():
            clock.now += 0.25
        clock.now += 0.25
        assert until_given_up() and is_given_up() and seconds_left() == 0
        ended.set()

    with pytest.raises(SealedError):
        run_by(0.5, runs)
    assert ended.wait(PATIENCE)


def test_nobody_stands_in_line_for_ever(monkeypatch: pytest.MonkeyPatch, clock: SimpleNamespace) -> None:
    monkeypatch.setattr(deadlines, "IN_LINE", 2)
    moves, ends = threading.Event(), threading.Event()

    def hangs() -> bool:
        with in_line():
            clock.now += 0.25  # less than twice the limit, and more than it
            moves.set()
            return ends.wait(PATIENCE)

    def later() -> None:
        moves.wait(PATIENCE)
        assert not deadline.is_set()
        clock.now += 0.25

    deadline, mover = threading.Event(), threading.Thread(target=later)
    mover.start()
    with pytest.raises(SealedError):
        run_by(0.2, hangs)
    deadline.set()
    ends.set()
    mover.join()
    assert clock.now == 0.5


def test_an_error_in_line_ends_the_line(clock: SimpleNamespace) -> None:
    def fails() -> str:
        with pytest.raises(ValueError, match="gone"), in_line():
            raise ValueError("gone")
        clock.now += 0.5
        return "answered" if until_given_up() else "for ever in line"

    with pytest.raises(SealedError):
        run_by(0.25, fails)


def test_without_a_deadline_a_line_is_only_a_line() -> None:
    with in_line():
        assert not is_given_up()
    assert run_by(None, lambda: 17) == 17
