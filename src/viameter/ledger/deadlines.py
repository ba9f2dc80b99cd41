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


def run_by(limit: float | None, function: Any) -> Any:
    """Call a function, and give up on it after so many seconds; it is left alone, and what it returns is dropped."""
    if limit is None:
        return function()
    done: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(context.run(function))
        except BaseException as problem:
            failed.append(problem)

    context = contextvars.copy_context()
    worker = threading.Thread(target=run, name="viameter-release", daemon=True)
    worker.start()
    worker.join(limit)
    if not done:
        raise SealedError  # late or failed: the same
    return done[0]
