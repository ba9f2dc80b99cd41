"""Processes for tests: a clean one outlives the thread that asked for it first."""

import os
import threading

from tests.processes import in_clean_process
from tests.threads import in_threads


def number_of_parent() -> int:
    """Which process forked this one."""
    return os.getppid()


def test_a_clean_process_outlives_the_thread_that_asked_for_it_first() -> None:
    """The system ends a process with its parent, which is the thread that started it."""
    first: list[int] = []
    in_threads(lambda: first.append(in_clean_process(number_of_parent, hash_seed=20)))
    threading.Event().wait(0.2)  # if it is ended, it is ended by now
    assert in_clean_process(number_of_parent, hash_seed=20) == first[0]
