"""Waiting: pauses that grow, for as long as somebody has patience; and a line that says what is waited for."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Progress = Callable[[str], None]

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0
"""Seconds between two looks at a question that runs: the first pause, and what pauses grow to."""
LONGEST_RETREAT = 15.0
"""Seconds that pauses grow to while a service does not answer."""
GROWTH = 1.6


@dataclass(frozen=True, slots=True)
class Time:
    """A clock, and a way to let time pass; tests bring their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class Pauses:
    """Pauses that grow from the first one to the longest."""

    time: Time
    longest: float = LONGEST_PAUSE
    next: float = FIRST_PAUSE

    def pause(self, *, least: float = 0.0, most: float = float("inf")) -> None:
        """Let the next pause pass: not less than somebody asked for, and not more than is left."""
        self.time.sleep(min(max(self.next, least), most))
        self.next = min(self.next * GROWTH, self.longest)


@dataclass(slots=True)
class Patience:
    """How long to go on while nothing comes back; whatever comes back begins it anew."""

    seconds: float
    time: Time
    _pauses: Pauses = field(init=False)
    _since: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._pauses = Pauses(self.time, LONGEST_RETREAT)

    def wait(self, *, least: float = 0.0) -> bool:
        """Pause before another try; False if there is no time left for one."""
        now = self.time.now()
        if self._since is None:
            self._since = now
        left = self._since + self.seconds - now
        # Who says when to come back is not asked before.
        if left <= 0 or least > left:
            return False
        self._pauses.pause(least=least, most=left)
        return True

    def renew(self) -> None:
        """Something came back."""
        self._since = None
        self._pauses = Pauses(self.time, LONGEST_RETREAT)


@dataclass(slots=True)
class Waiting:
    """Says how long something is waited for: to whoever wants to know, else on a terminal in one line."""

    what: str
    time: Time
    progress: Progress | None = None
    _began: float = field(init=False)
    _shown: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._began = self.time.now()

    def tell(self, trouble: str = "") -> None:
        """Say how long it has been, and what is in the way."""
        said = f"waiting for {self.what}: {self.time.now() - self._began:.0f} s{f' ({trouble})' if trouble else ''}"
        if self.progress is not None:
            self.progress(said)
        elif _is_terminal():
            self._shown = True
            sys.stderr.write(f"\r\x1b[K{said}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def waiting_for(what: str, time: Time, progress: Progress | None) -> Iterator[Waiting]:
    """A line that is gone in the end, however that comes."""
    made = Waiting(what, time, progress)
    try:
        yield made
    finally:
        made.clear()


def _is_terminal() -> bool:
    # A process without a terminal may have no stderr at all.
    return sys.stderr is not None and sys.stderr.isatty()
