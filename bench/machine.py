"""The description of the machine that a report was made on."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path

__all__ = ["describe_machine"]


def describe_machine() -> dict[str, str]:
    """What a reader has to know to judge the times, and nothing that identifies the machine."""
    return {
        "CPU": _cpu_model(),
        "cores": str(_usable_cores()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
        "OS": f"{_distribution()}{platform.system()} {platform.release()} {platform.machine()}",
        "load at the start": f"{os.getloadavg()[0]:.2f}",
    }


def _cpu_model() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _distribution() -> str:
    with suppress(OSError):
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']}, "
    return ""
