"""Processes for tests: a clean one with a single thread, and those that are forked from it and may be killed."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import gc
import inspect
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MAIN = "from tests.processes import main; main()"


def in_clean_process(function: Callable[..., Any], *args: Any, within: float = 600, **options: Any) -> Any:
    """Call a function of a module in a new process: what is forked there has no thread and no connection of a test's.

    Its file is imported there, so that a fork has everything at hand. A process that crashes, or that is not done
    within some seconds, is a failure that shows what it said and where each of its threads was.
    """
    asked = pickle.dumps((function.__module__, function.__qualname__, args, options))
    command, pipe = [sys.executable, "-c", MAIN], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT) as process:
        try:
            answer, said = process.communicate(asked, timeout=within)
            ended = f"it ended with {process.returncode}"
        except subprocess.TimeoutExpired:
            answer, said = _what_it_does(process)
            ended = f"it was not done within {within} seconds"
        finally:
            process.kill()
    assert ended == "it ended with 0", f"{ended}:\n{said.decode(errors='replace')[-10_000:]}"
    return pickle.loads(answer)


def alone(test: Callable[..., None]) -> Callable[..., None]:
    """A test that forks, in a clean process: engines and servers of earlier tests have threads that a fork breaks."""

    @functools.wraps(test)
    def run(*args: Any, **options: Any) -> None:
        in_clean_process(test, *args, **options)

    return run


def _what_it_does(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """End a process that hangs, and have it say where each of its threads is."""
    process.send_signal(signal.SIGABRT)  # which its fault handler answers, whatever holds the interpreter
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.communicate(timeout=10)
    process.kill()
    return process.communicate()


def main() -> None:
    """What a clean process does."""
    faulthandler.enable()
    end_with_parent()
    answer = os.dup(1)
    os.dup2(2, 1)  # whatever is printed is no answer
    module, name, args, options = pickle.load(sys.stdin.buffer)
    function = inspect.unwrap(getattr(sys.modules.get(module) or __import__(module, fromlist=[name]), name))
    gc.freeze()  # what is imported is not looked at again, and stays shared with what is forked
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
