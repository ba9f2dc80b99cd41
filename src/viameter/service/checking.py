"""Certificates that somebody sent, checked in a process of their own: numbers in them may be as long as they like."""

from __future__ import annotations

import threading
from typing import Any

from viameter.service.problems import Problem
from viameter.service.sandbox import PYTHON, run_alone

SECONDS = 20
MEMORY = 1 << 30
_AT_ONCE = threading.BoundedSemaphore(2)
TOO_MUCH = (
    "it is no certificate, or it needs more time or memory to be checked than a request has: run `viameter check`"
)


def check_submitted(text: str) -> dict[str, Any]:
    """Whether a certificate holds, and the report of the checker, which shares no code with the library.

    >>> check_submitted("{}")["holds"]
    False
    """
    limits = [str(SECONDS), str(MEMORY)]
    command = [*PYTHON, "viameter.service.sandbox", *limits, "viameter_check", "/dev/stdin"]
    if not _AT_ONCE.acquire(blocking=False):
        raise Problem(503, "busy", "other certificates are being checked: try again", retry_after=5)
    try:
        said, _ = run_alone(command, text.encode("utf-8", "replace"), SECONDS + 5)
    finally:
        _AT_ONCE.release()
    lines = said.decode("utf-8", "replace").splitlines()
    # A report that was cut off has neither of the two.
    if not lines or (lines[0] != "FAILED" and lines[-1] != "OK"):
        return {"holds": False, "report": TOO_MUCH}
    return {"holds": lines[0] != "FAILED", "report": "\n".join(lines)}
