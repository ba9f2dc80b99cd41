"""An interrupt of one thread that writes for others is for it alone: nothing of the others is lost or doubled."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.ledger.crash.interrupts import SECONDS, VICTIMS, charge_and_interrupt
from tests.ledger.crash.kinds import KINDS, requests_of_every_kind
from tests.processes import folder_in_memory, in_clean_process

import viameter as vm
from viameter import ledger as ledgers
from viameter.ledger import Ledger
from viameter.ledger.requests import Renew
from viameter.ledger.writer import Ticket

# An interrupt may leave a file to the garbage collector, which closes it, and warns.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def once(function: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    """A function that is interrupted the first time it is called: before or after it does its work."""
    interrupted: list[bool] = []

    def wrapped(*args: Any, **options: Any) -> Any:
        first = not interrupted
        interrupted.append(True)
        if first and not after:
            raise KeyboardInterrupt
        result = function(*args, **options)
        if first:
            raise KeyboardInterrupt
        return result

    return wrapped


def before_commit(book: Any) -> None:
    book.store._engine.dialect.do_commit = once(book.store._engine.dialect.do_commit, after=False)


def after_commit(book: Any) -> None:
    book.store._engine.dialect.do_commit = once(book.store._engine.dialect.do_commit, after=True)


def before_the_witness(book: Any) -> None:
    writer = book._live()[2]
    writer._tell = once(writer._tell, after=False)


def after_the_witness(book: Any) -> None:
    writer = book._live()[2]
    writer._tell = once(writer._tell, after=True)


@pytest.mark.parametrize("interrupt", [before_commit, after_commit, before_the_witness, after_the_witness])
def test_all_others_are_written_once_and_hear_of_it(
    interrupt: Callable[[Ledger], None], opened: Callable[..., Ledger]
) -> None:
    book = opened()
    asked = requests_of_every_kind(book)
    before, writer = book.head.seq, book._live()[2]
    interrupt(book)
    ended: dict[str, str] = {}

    def ask(kind: str) -> None:
        request, is_right = asked[kind]
        try:
            ended[kind] = "right" if is_right(request()) else "wrong"
        except KeyboardInterrupt:
            ended[kind] = "interrupted"
        except BaseException as problem:
            ended[kind] = repr(problem)

    threads = [threading.Thread(target=ask, args=(kind,), daemon=True) for kind in KINDS]
    nobody = Ticket(Renew(by="nobody", nonce="", name="", why=""))
    writer._line[nobody] = None  # first in the line, so that all others wait behind it
    for thread in threads:
        thread.start()
    _wait_for(lambda: len(writer._line) == len(KINDS) + 1)
    del writer._line[nobody]
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "a thread waits for something that nobody writes"
    assert sorted(ended.values()) == ["interrupted"] + ["right"] * (len(KINDS) - 1)
    (interrupted,) = [kind for kind, how in ended.items() if how == "interrupted"]
    written = [entry.kind for entry in book.entries(before + 1)]
    assert sorted({*written, interrupted}) == sorted(KINDS) and len(written) == len(set(written))
    assert ledgers.verify(book).ok


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("in_memory", [False, True], ids=["file", "memory"])
def test_interrupts_at_random_times(in_memory: bool) -> None:
    with folder_in_memory() as folder:
        location = None if in_memory else str(folder / "budget.db")
        found = in_clean_process(charge_and_interrupt, location, within=4 * SECONDS)
    assert found.failed == []
    assert found.told <= found.charged and len(found.charged - found.told) <= len(found.interrupted)
    assert len(found.interrupted) > 10 and len(found.told) > 50
    assert {int(key.split("-")[0]) for key in found.interrupted} <= set(range(VICTIMS))
    assert found.spent == vm.pure(len(found.charged))
    assert found.problems == []


def test_a_process_that_hangs_is_a_failure_that_shows_where() -> None:
    with pytest.raises(AssertionError, match=r"(?s)not done within 0.1 seconds:.*Aborted.*processes.py.* in called"):
        in_clean_process(signal.pause, within=0.1)


def test_a_process_that_crashes_is_a_failure_that_shows_where() -> None:
    with pytest.raises(AssertionError, match=r"(?s)ended with -11:.*Segmentation fault.*processes.py.* in called"):
        in_clean_process(signal.raise_signal, signal.SIGSEGV)
