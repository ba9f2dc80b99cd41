"""Processes for tests that begin as copies of one that has read all modules, which is most of what a start takes.

A copy is a process as any other: it has its own folder, environment and output, is killed and told to stop, and ends as
an interpreter does. `python -m tests.system.crash.copies FD` is the process that is copied; nothing runs in it.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

READ = (
    "viameter.cli",
    "viameter.service.starting",
    "viameter.service.page",
    "viameter.ledger.stores.files",
    "alembic.command",
    "sqlalchemy.dialects.sqlite",
    "ibis.backends.duckdb",
    "psycopg",
)
"""Modules that are read before there is a copy; they bring the others with them."""
OF_THE_MACHINE = "LD_PRELOAD"
"""What holds from the start of a process on: one that is copied has it already."""


class Copy:
    """A process that runs `viameter` with some arguments, as `subprocess.Popen` has it."""

    def __init__(self, words: Sequence[str], folder: Path, environment: Mapping[str, str], said: int, log: int) -> None:
        told, self._end = socket.socketpair()
        request = json.dumps({"words": words, "folder": str(folder), "environment": dict(environment)})
        with told:
            origin = _origin(environment.get(OF_THE_MACHINE, ""))
            socket.send_fds(origin, [request.encode()], [said, log, told.fileno()])
        self._lines = self._end.makefile("r")
        self.pid = int(self._lines.readline())
        self.returncode: int | None = None

    def kill(self) -> None:
        """Kill -9."""
        self.send_signal(signal.SIGKILL)

    def send_signal(self, which: signal.Signals) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, which)

    def wait(self, timeout: float) -> int:
        """Wait until it has ended; its exit code, or the negative number of the signal that ended it."""
        if self.returncode is None:
            self._end.settimeout(timeout)
            self.returncode = os.waitstatus_to_exitcode(int(self._lines.readline()))
            self._lines.close()
            self._end.close()
        return self.returncode


@functools.cache
def _origin(preloaded: str) -> socket.socket:
    """Where copies are asked for; it ends with this process."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # A copy has one thread: those of libraries that compute would not be there in it.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **({OF_THE_MACHINE: preloaded} if preloaded else {})}
    command = [sys.executable, "-m", "tests.system.crash.copies", str(there.fileno())]
    with there:
        process = subprocess.Popen(
            command, pass_fds=[there.fileno()], env=environment, stdin=subprocess.DEVNULL, cwd=Path(__file__).parents[3]
        )

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return here


def main(asked: socket.socket) -> None:
    """Read the modules, and make copies until nobody can ask for one."""
    for name in READ:
        importlib.import_module(name)
    ended, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([asked.fileno(), ended], [], [])
        if ended in ready:
            os.read(ended, 2**10)
            while running:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                with running.pop(pid) as told:
                    told.sendall(f"{status}\n".encode())
        if asked.fileno() in ready:
            request, handed, _, _ = socket.recv_fds(asked, 2**20, 3)
            if not request:
                for pid in running:
                    os.kill(pid, signal.SIGKILL)
                os._exit(0)
            said, log, end = handed
            told = socket.socket(fileno=end)
            if not (pid := os.fork()):
                gc.unfreeze()
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, signal.default_int_handler)
                for one in (asked, told, *running.values()):
                    one.close()
                os.dup2(said, 1)
                os.dup2(log, 2)
                for number in (ended, wakes, said, log):
                    os.close(number)
                _become(**json.loads(request))
                return
            running[pid] = told
            told.sendall(f"{pid}\n".encode())
            os.close(said)
            os.close(log)


def _become(words: list[str], folder: str, environment: dict[str, str]) -> None:
    """Be the command, in a folder and with an environment; end as it does."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # which was looked up before
    sys.argv[:] = ["viameter", *words]
    importlib.import_module("viameter.cli").main()


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
