"""Run what looks at rows so that nothing of them leaves through an error or a warning."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from viameter.errors import SealedError


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
    """(True, what the function returns), or (False, None) if it raised anything at all.

    An interrupt passes, as a new one: the one that came may have been raised by the function, with rows in it.
    """
    interrupted = False
    try:
        with silence, np.errstate(all="ignore"):
            return True, function(*arguments)
    except KeyboardInterrupt:
        interrupted = True
    except BaseException:  # also SystemExit: whether it occurs depends on rows
        pass
    # Outside of the handlers, so that what was raised is not kept as the context of what is raised from here on.
    if interrupted:
        raise KeyboardInterrupt
    return False, None


def run_sealed(function: Callable[[Any], Any], data: Any) -> Any:
    """Call the function; whatever it raises becomes one error with a constant text and no cause."""
    succeeded, result = attempt(function, data)
    if not succeeded:
        raise SealedError
    return result


class _Silence:
    """No warnings while anything sealed runs: whether one occurs depends on rows, and its text may hold them.

    Filters of warnings belong to the process. So the first to enter switches them off for all threads, and the last to
    leave switches them on again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._filters: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._filters = warnings.catch_warnings(action="ignore")
                self._filters.__enter__()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._filters.__exit__(None, None, None)


silence = _Silence()
