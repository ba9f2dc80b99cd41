"""Numbers as people read them: three digits and a unit."""

from __future__ import annotations

__all__ = ["memory", "number", "seconds"]


def number(value: float) -> str:
    """Three significant digits, without an exponent where the number is large."""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def seconds(value: float) -> str:
    """A duration in the unit in which it has one to three digits before the point."""
    for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if value * factor < 999.5:
            return f"{number(value * factor)} {unit}"
    return f"{number(value)} s"


def memory(size: int) -> str:
    """A number of bytes in MiB, which is as fine as the memory of a process is known."""
    return f"{size / 2**20:,.1f} MiB"
