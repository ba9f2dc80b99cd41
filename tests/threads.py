"""Threads for tests: all at once, and none that is left hanging."""

import threading
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 30.0
"""Seconds, for threads that should be long done; nothing waits for it unless a test is failing."""


def in_threads(*tasks: Callable[[], Any]) -> None:
    """Run all at once; fail if one fails or does not end."""
    problems: list[BaseException] = []

    def run(task: Callable[[], Any]) -> None:
        try:
            task()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    end = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    assert not [thread for thread in threads if thread.is_alive()], "a thread did not end: deadlock"
    for problem in problems:
        raise problem
