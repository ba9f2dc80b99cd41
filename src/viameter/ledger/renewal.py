"""Renewal: when a budget starts over, as an explicit policy. What was spent over a lifetime goes on being added up."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from viameter.errors import ParameterError, plain

BY_CALENDAR = ("day", "week", "month", "quarter", "year")
ON_NEW_ROWS = "rows"
"""Somebody says that new rows have arrived, of which alone questions are asked from then on."""
POLICIES = (*BY_CALENDAR, ON_NEW_ROWS)


def read_policy(given: Any) -> str | None:
    """A policy by its name, or None for a budget that never starts over."""
    if given is not None and given not in POLICIES:
        raise ParameterError(f"renews={plain(given)} is no policy: expected one of {', '.join(POLICIES)}, or None")
    return given if given is None else str(given)


def first_period(policy: str | None, now: datetime) -> str:
    """The period that a scope starts in; empty where there are none."""
    return "" if policy is None else _batch(1) if policy == ON_NEW_ROWS else period_of(policy, now)


def period_of(policy: str, now: datetime) -> str:
    """The period of the calendar, in UTC, as text that sorts by time.

    >>> period_of("month", datetime(2026, 3, 31)), period_of("quarter", datetime(2026, 3, 31))
    ('2026-03', '2026-Q1')
    """
    if policy == "week":
        year, week, _ = now.isocalendar()
        return f"{year:04}-W{week:02}"
    if policy == "quarter":
        return f"{now.year:04}-Q{(now.month + 2) // 3}"
    return f"{now:%Y-%m-%d}"[: {"day": 10, "month": 7, "year": 4}[policy]]


def next_batch(period: str) -> str:
    """The period after one that new rows ended."""
    return _batch(int(period) + 1)


def _batch(number: int) -> str:
    return f"{number:06}"
