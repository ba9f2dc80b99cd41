"""Which datasets can be reached: as it was when their rows were last asked for; told to the log and the metrics."""

from __future__ import annotations

import logging
import threading
import time

from viameter.service.watching import Metrics, log


class Reachable:
    """For each dataset whether its rows could be reached, and when that was found out."""

    def __init__(self, metrics: Metrics) -> None:
        self._gauge = metrics.reachable
        self._lock = threading.Lock()
        self._known: dict[str, tuple[bool, float]] = {}

    def note(self, dataset: str, is_so: bool) -> None:
        """Keep what was found out; what has changed is logged, once."""
        with self._lock:
            before, _ = self._known.get(dataset, (True, 0.0))
            self._known[dataset] = is_so, time.monotonic()
        self._gauge.labels(dataset).set(is_so)
        if before and not is_so:
            log("source_unavailable", level=logging.WARNING, dataset=dataset)
        elif is_so and not before:
            log("source_available", dataset=dataset)

    def is_known(self, dataset: str, *, within: float) -> bool:
        """Whether it was found out in the last seconds."""
        with self._lock:
            found = self._known.get(dataset)
        return found is not None and time.monotonic() - found[1] < within

    def is_lost(self, dataset: str) -> bool:
        """Whether it could not be reached."""
        with self._lock:
            found = self._known.get(dataset)
        return found is not None and not found[0]

    @property
    def lost(self) -> int:
        """How many datasets cannot be reached."""
        with self._lock:
            return sum(not is_so for is_so, _ in self._known.values())
