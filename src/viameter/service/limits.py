"""Limits on how often: buckets that fill with time, one for each person and kind of request, in this process."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from viameter.service.problems import Problem

MOST = 10_000
"""How many buckets are kept; the one unused for longest goes first, and is full when it comes back."""


class RateLimit:
    """At most so many requests in a minute for each name, in one go or spread."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str) -> None:
        """Count a request; Problem if there were too many."""
        with self._lock:
            now = self._clock()
            level, at = self._buckets.pop(name, (float(self._per_minute), now))
            level = min(level + (now - at) * self._per_minute / 60, float(self._per_minute))
            allowed = level >= 1
            self._buckets[name] = (level - 1 if allowed else level, now)
            while len(self._buckets) > MOST:
                self._buckets.popitem(last=False)
        if not allowed:
            wait = math.ceil((1 - level) * 60 / self._per_minute)
            raise Problem(
                429, "too_many_requests", f"at most {self._per_minute} of these a minute", retry_after=max(wait, 1)
            )
