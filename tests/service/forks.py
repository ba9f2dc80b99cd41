"""Verifiers of programs that are copies of a clean process: they have read all modules, and say what a fresh one would.

A copy of the process of the tests would not do: z3 may have run in it, and its threads are not in a copy, which waits.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time

from tests.processes import in_clean_process

from viameter.logic.solving.z3bridge import load
from viameter.service import programs

_TURN = threading.Lock()
MAIN = "import viameter.service.programs as p; p.main()"


def run_in_a_fork(command: list[str], request: bytes, seconds: float) -> tuple[bytes, bool]:
    """As `sandbox.run_alone`, without its limits and with this process's environment; one after the other."""
    with _TURN:
        found: tuple[bytes, bool] = in_clean_process(_run, command, request, seconds)
        return found


def _run(command: list[str], request: bytes, seconds: float) -> tuple[bytes, bool]:
    reading, writing = os.pipe()
    asked = os.memfd_create("request")
    os.write(asked, request)
    os.lseek(asked, 0, os.SEEK_SET)
    number = os.fork()
    if number == 0:
        _be_alone(command, asked, writing)
    os.close(asked)
    os.close(writing)
    said, until = b"", time.monotonic() + seconds
    try:
        while select.select([reading], [], [], max(until - time.monotonic(), 0))[0]:
            part = os.read(reading, 1 << 16)
            if not part:
                return said, False
            said += part
        return said, True
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(number, signal.SIGKILL)
        os.waitpid(number, 0)


def _be_alone(command: list[str], asked: int, writing: int) -> None:
    """Run the code of a command, and end."""
    try:
        os.setsid()
        for place, file in enumerate((asked, writing, os.open(os.devnull, os.O_WRONLY))):
            os.dup2(file, place)
        os.closerange(3, 1024)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        sys.argv = ["", *command[-2:]]
        setattr(programs, "limit_this_process", lambda *_: None)  # noqa: B010
        exec(command[command.index("-c") + 1] if "-c" in command else MAIN, {"__name__": "a copy"})
        sys.stdout.flush()
    finally:
        os._exit(0)


if "pytest" not in sys.modules:  # in the clean process: once, and not in every copy
    load()
