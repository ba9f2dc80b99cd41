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


class _Silence(threading.local):
    """No warnings in a thread while anything sealed runs in it: whether one occurs depends on rows, as may its text.

    Filters of warnings belong to the whole process, so that switching them off and on again goes wrong between threads.
    What every warning goes through before it is shown is asked instead.
    """

    inside = 0

    def __enter__(self) -> None:
        self.inside += 1

    def __exit__(self, *_: object) -> None:
        self.inside -= 1


silence = _Silence()
_show_message: Any = getattr(warnings, "_showwarnmsg", None)


def _show_unless_sealed(message: Any) -> None:
    if not silence.inside:
        _show_message(message)


if _show_message is not None:
    warnings._showwarnmsg = _show_unless_sealed  # type: ignore[attr-defined]
