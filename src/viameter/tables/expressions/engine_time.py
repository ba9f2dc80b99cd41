"""Dates and times on engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _truncate(value: Any, unit: str) -> Any:
    if unit == "day":
        return value.cast("date")
    # As a timestamp, which is what engines give for dates too although Ibis takes it for a date.
    return value.cast("timestamp").truncate({"week": "W", "month": "M", "year": "Y"}[unit]).cast("date")


OPERATIONS: dict[str, Callable[..., Any]] = {
    "year": lambda value: value.year().cast("int64"),
    "month": lambda value: value.month().cast("int64"),
    "day": lambda value: value.day().cast("int64"),
    "weekday": lambda value: value.day_of_week.index().cast("int64"),
    "hour": lambda value: value.hour().cast("int64"),
    "days_since": lambda value, other: value.delta(other, unit="day").cast("int64"),
    "truncate": _truncate,
}
