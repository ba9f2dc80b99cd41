"""Deadlines: what takes too long is given up, and looks like whatever else failed."""

from __future__ import annotations

import contextvars
import threading
from typing import Any

from viameter.errors import ParameterError, SealedError, plain


def read_deadline(given: Any) -> float | None:
    """Seconds to run for, or None."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < float("inf"):
        raise ParameterError(f"deadline={plain(given)}: expected seconds above 0, or None")
    return float(given)


_GIVEN_UP: contextvars.ContextVar[threading.Event | None] = contextvars.ContextVar("given_up", default=None)


def is_given_up() -> bool:
    """Whether nobody waits any more for what runs here: long work may ask, and stop."""
    event = _GIVEN_UP.get()
    return event is not None and event.is_set()


def run_by(limit: float | None, function: Any) -> Any:
    """Call a function, and give up on it after so many seconds: what it returns is dropped, and it can learn so."""
    if limit is None:
        return function()
    given_up = threading.Event()
    done: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(context.run(function))
        except BaseException as problem:
            failed.append(problem)

    context = contextvars.copy_context()
    context.run(_GIVEN_UP.set, given_up)
    worker = threading.Thread(target=run, name="viameter-release", daemon=True)
    worker.start()
    try:
        worker.join(limit)
    finally:
        given_up.set()
    if not done:
        raise SealedError  # late or failed: the same
    return done[0]
