"""Lanes: the work of one dataset, by threads of its own, so that no dataset can hold up another.

Nothing that waits for a dataset's rows runs in a thread that others need, too: neither in one of the web framework's,
of which there are few, nor in one of another lane.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from viameter.service.watching import describe_error, log

T = TypeVar("T")
Work = Callable[[], None]


class Crew:
    """At most so many threads that work on what people wait for, who take turns. Without work there is no thread."""

    def __init__(self, name: str, threads: int) -> None:
        self._name, self._most = name, threads
        self._lock = threading.Lock()
        self._queues: dict[str, deque[Work]] = {}
        """What waits, by person; the first of the first person is next."""
        self._threads = 0

    def put(self, person: str, work: Work) -> None:
        """Have something done, after what waits before it."""
        with self._lock:
            self._put(person, work)

    def put_if_idle(self, person: str, work: Work) -> None:
        """The same, if nothing else is done or waits."""
        with self._lock:
            if not self._threads:
                self._put(person, work)

    def _put(self, person: str, work: Work) -> None:
        self._queues.setdefault(person, deque()).append(work)
        if self._threads < self._most:
            self._threads += 1
            threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def _run(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except Exception as error:  # whatever it is, others wait
                log("unexpected", level=logging.ERROR, **describe_error(error))

    def _next(self) -> Work | None:
        """What is to be done next. People take turns, so that whoever asks much holds nobody else up for long."""
        with self._lock:
            if not self._queues:
                self._threads -= 1
                return None
            person = next(iter(self._queues))
            queue = self._queues.pop(person)
            work = queue.popleft()
            if queue:
                self._queues[person] = queue  # behind everybody else
            return work


class Lane:
    """What is done for one dataset: questions are read beside one another, and its engine answers one at a time."""

    def __init__(self, threads: int) -> None:
        self.readers = Crew("viameter-reader", threads)
        """For what needs no engine: questions that are read, compiled, previewed, or given again."""
        self.engine = Crew("viameter-question", threads)
        """For questions that are to be charged. Whatever waits here is not."""
        self.alone = threading.Lock()
        """Held by the one that has the engine, from before it is charged until it is answered."""
        self.questions = 0
        """How many questions are read, wait or run."""
        self.previews = 0

    def read(self, person: str, function: Callable[[], T]) -> Future[T]:
        """Call a function in a thread of this lane."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()

        def work() -> None:
            try:
                future.set_result(function())
            except BaseException as problem:
                future.set_exception(problem)

        self.readers.put(person, work)
        return future
