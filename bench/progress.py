"""Progress of long work on stderr: one line that changes on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

__all__ = ["Progress", "announce"]


class Progress:
    """Says what is being done and since when; `heading` is the benchmark."""

    def __init__(self, heading: str, stream: TextIO = sys.stderr, seconds_between_lines: float = 5.0) -> None:
        self._heading, self._stream, self._between = heading, stream, seconds_between_lines
        self._start = time.monotonic()
        self._last_line = -float("inf")

    def say(self, what: str) -> None:
        """Show `what`; in a log, only if the last line is some time ago."""
        elapsed = time.monotonic() - self._start
        text = f"[{self._heading} {elapsed:4.0f} s] {what}"
        if self._stream.isatty():
            print(f"\r\033[K{text}", end="", file=self._stream, flush=True)
        elif elapsed - self._last_line >= self._between:
            self._last_line = elapsed
            print(text, file=self._stream, flush=True)

    def done(self) -> None:
        """Leave the line to what is printed next."""
        if self._stream.isatty():
            print("\r\033[K", end="", file=self._stream, flush=True)


def announce(what: str) -> None:
    """A line of its own, in the way the scripts of this project say what they do."""
    print(f"\033[1m==> {what}\033[0m", file=sys.stderr, flush=True)
