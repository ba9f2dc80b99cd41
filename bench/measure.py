"""What a worker measures of a prepared callable: its time, its memory, and a digest of its result."""

from __future__ import annotations

import ctypes
import gc
import math
import re
import resource
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from typing import Any

__all__ = ["ENOUGH_SECONDS", "digest", "loops_needed", "peak_growth", "seconds_per_call"]

ENOUGH_SECONDS = 0.02
"""How long one timing lasts at least: far above the resolution of the clock and the noise of a context switch."""


def seconds_per_call(run: Callable[[], object], loops: int) -> float:
    """Call `loops` times in a row, without pauses by the garbage collector, and return the mean time."""
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in repeat(None, loops):
            run()
        return (time.perf_counter() - start) / loops
    finally:
        if collecting:
            gc.enable()


def loops_needed(run: Callable[[], object], enough_seconds: float = ENOUGH_SECONDS) -> int:
    """How many calls make a timing last long enough, found by trying more and more of them."""
    loops = 1
    while (elapsed := loops * seconds_per_call(run, loops)) < enough_seconds:
        # The first calls are slower than the rest, so that one big step could overshoot or fall short.
        growth = 1.2 * enough_seconds / elapsed if elapsed > 0 else 10.0
        loops = math.ceil(loops * min(growth, 10.0))
    return loops


def peak_growth(run: Callable[[], object]) -> int:
    """By how many bytes the peak memory of this process exceeds, during a call, what it held before the call."""
    gc.collect()
    with suppress(AttributeError):  # glibc keeps freed memory, and a call that reuses it would seem to need none
        ctypes.CDLL(None).malloc_trim(0)
    before = _peak_bytes_from_now()
    run()
    return max(0, _peak_bytes() - before)


def _peak_bytes_from_now() -> int:
    # Linux can forget the peak of earlier calls; elsewhere growth is seen only where it exceeds every earlier peak.
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _peak_bytes()


def _peak_bytes() -> int:
    with suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        if found := re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE):
            return int(found[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def digest(value: Any) -> list[float]:
    """A few numbers that tell results apart: the number itself, or the length, ends, middle and sum of a sequence.

    None, the result of callables that are run for their effect, has an empty digest.
    """
    if value is None:
        return []
    if hasattr(value, "tolist"):  # numpy's arrays and scalars, without importing numpy where it is not installed
        value = value.tolist()
    if not isinstance(value, Iterable):
        return [float(value)]
    numbers = [float(item) for item in value]
    if not numbers:
        return [0.0]
    return [float(len(numbers)), numbers[0], numbers[len(numbers) // 2], numbers[-1], math.fsum(numbers)]
