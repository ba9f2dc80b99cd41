"""Processes for tests: clean ones with a single thread, and those that are forked from them and may be killed."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import faulthandler
import functools
import gc
import importlib
import inspect
import io
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PATIENCE = 600.0
"""Seconds, for processes that should be long done; nothing waits for it unless a test is failing."""


def in_clean_process(
    function: Callable[..., Any],
    *args: Any,
    within: float = PATIENCE,
    quiet: bool = False,
    hash_seed: int | None = None,
    **options: Any,
) -> Any:
    """Call a function of a module in a new process: what is forked there has no thread and no connection of a test's.

    Its file is imported there, so that a fork has everything at hand. A process that crashes, or that is not done
    within some seconds, is a failure that shows what it said and where each of its threads was; to say anything at
    all is one, too, if it should be quiet. Sets of texts are in the order of a hash seed, or in any.
    """
    nursery = _MADE.get(hash_seed)
    if nursery is None or not nursery.is_there:
        nursery = _MADE[hash_seed] = Nursery(hash_seed)
    return nursery.call(function, args, options, within, quiet)


def alone(test: Callable[..., None]) -> Callable[..., None]:
    """A test that forks, in a clean process: engines and servers of earlier tests have threads that a fork breaks."""

    @functools.wraps(test)
    def run(*args: Any, **options: Any) -> None:
        in_clean_process(test, *args, **options)

    return run


class Nursery:
    """A process with a single thread that forks another one for every call.

    So an interpreter starts once, and imports the files of what is called, for all calls of a session.
    """

    def __init__(self, hash_seed: int | None = None) -> None:
        self._owner = os.getpid()
        self._end, other = socket.socketpair()
        with other:
            code = f"from tests.processes import serve; serve({other.fileno()})"
            seeded = {} if hash_seed is None else {"PYTHONHASHSEED": str(hash_seed)}
            # Its parent, for the system, is the thread that starts it: one that lasts as long as this process.
            self._starter = ThreadPoolExecutor(1)
            self._process = self._starter.submit(
                subprocess.Popen,
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                env={**os.environ, **seeded},
                pass_fds=[other.fileno()],
            ).result()
        atexit.register(self.close)

    @property
    def is_there(self) -> bool:
        """Whether this process can ask it: one that was forked from its owner has one of its own."""
        return self._owner == os.getpid() and self._process.poll() is None

    def call(self, function: Callable[..., Any], args: Any, options: Any, within: float, quiet: bool) -> Any:
        """What a function returns in a new process."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as said:
            pickle.dump((function.__module__, dict(os.environ)), asked)
            pickle.dump((function.__qualname__, args, options), asked)
            asked.seek(0)
            socket.send_fds(self._end, [b"!"], [file.fileno() for file in (asked, answer, said)])
            ended = self._wait(within)
            said.seek(0)
            text = said.read().decode(errors="replace")[-10_000:]
            assert ended == "it ended with 0" and not (quiet and text), f"{ended}:\n{text}"
            answer.seek(0)
            return pickle.load(answer)

    def _wait(self, within: float) -> str:
        """How a process ended that was just asked for; one that hangs is ended, and says where its threads are."""
        process, status = self._told(PATIENCE), None
        assert process is not None, "no clean process was made"
        try:
            status = self._told(within)
            if status is not None:
                return f"it ended with {os.waitstatus_to_exitcode(status)}"
            os.kill(process, signal.SIGABRT)  # which its fault handler answers, whatever holds the interpreter
            status = self._told(10)
            return f"it was not done within {within} seconds"
        finally:
            if status is None:
                os.kill(process, signal.SIGKILL)
                self._told(PATIENCE)

    def _told(self, within: float) -> int | None:
        """The next number that it tells, if that comes within some seconds."""
        digits = self._end.recv(_DIGITS) if select.select([self._end], [], [], within)[0] else b""
        return int(digits) if digits else None

    def close(self) -> None:
        """Let it end, which it does when nobody can ask it any more."""
        self._end.close()
        if self._owner == os.getpid():
            self._process.wait()


_MADE: dict[int | None, Nursery] = {}
_DIGITS = 10


def serve(number: int) -> None:
    """What a nursery does: fork for whoever asks, and tell which process that is and how it ended."""
    faulthandler.enable()
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt at the terminal is for who asks
    end = socket.socket(fileno=number)
    while True:
        message, files, _, _ = socket.recv_fds(end, 1, 3)
        if not message:
            return
        with os.fdopen(files[0], "rb") as file:
            asked = io.BytesIO(file.read())
        module, environment = pickle.load(asked)
        with contextlib.suppress(Exception):  # which the process meets, too
            importlib.import_module(module)
        gc.freeze()  # what is imported is not looked at again, and stays shared with what is forked
        process = os.fork()
        if process == 0:
            os.dup2(files[2], 2)
            os.dup2(2, 1)  # whatever is printed is no answer
            end_with_parent()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.environ.clear()
            os.environ.update(environment)
            with end:
                _tell(end, os.getpid())
            called(module, asked, files[1])  # and then it ends as any interpreter does
            return
        for one in files[1:]:
            os.close(one)
        _tell(end, os.waitpid(process, 0)[1])


def _tell(end: socket.socket, number: int) -> None:
    end.sendall(f"{number:{_DIGITS}}".encode())


def called(module: str, asked: io.BytesIO, answer: int) -> None:
    """What a clean process does."""
    name, args, options = pickle.load(asked)
    function = inspect.unwrap(getattr(importlib.import_module(module), name))
    result = function(*args, **options)
    with os.fdopen(answer, "wb") as file:
        pickle.dump(result, file)


def end_with_parent() -> None:
    """Have the system kill this process when its parent ends, whatever ended that (on Linux)."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def fork(task: Callable[[], Any]) -> int:
    """Do something in a forked process, which ends with it; returns its number."""
    made = os.fork()
    if made:
        return made
    status = 1
    try:
        end_with_parent()
        task()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def kill(process: int) -> None:
    """Kill -9, and wait until it is gone; whatever else ended it before is a failure."""
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, f"a process ended by itself: {status}"


def wait_until_killed(process: int) -> None:
    """Wait for a process that kills itself."""
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, f"a process was not killed: {status}"


def results_of(tasks: Sequence[Callable[[], Any]], meanwhile: Callable[[], Any] = lambda: None) -> list[Any]:
    """Do all at once, each in a forked process; what they return, or a failure if one fails."""
    started = [_with_result(task) for task in tasks]
    meanwhile()
    found = []
    for process, reader in started:
        with os.fdopen(reader, "rb") as file:
            content = file.read()
        _, status = os.waitpid(process, 0)
        assert status == 0, f"a process failed: {status}"
        found.append(pickle.loads(content))
    return found


def _with_result(task: Callable[[], Any]) -> tuple[int, int]:
    reader, writer = os.pipe()

    def told() -> None:
        os.close(reader)
        with os.fdopen(writer, "wb") as file:
            pickle.dump(task(), file)

    process = fork(told)
    os.close(writer)
    return process, reader


@contextlib.contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A folder in memory, if the system has one: killing a process does not show what a disk keeps, so it may be fast.

    What a power cut leaves is for other tests.
    """
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="viameter-", dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)
