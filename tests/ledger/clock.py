"""A clock that tests set: what ledgers take for the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from unittest import mock

_READ_IN = ("viameter.ledger.ledger", "viameter.ledger.stores.memory", "viameter.ledger.stores.sql")


class Clock:
    """The time, until it is set to another."""

    def __init__(self, start: datetime) -> None:
        self.time = start

    def advance(self, **span: float) -> None:
        """Go on, or back."""
        self.time += timedelta(**span)

    def set(self, *parts: int) -> None:
        """Say which time it is, in UTC."""
        year, month, day, *rest = parts
        self.time = datetime(year, month, day, tzinfo=UTC) + timedelta(
            hours=rest[0] if rest else 0, minutes=rest[1] if len(rest) > 1 else 0
        )


@contextmanager
def set_clock(start: datetime) -> Iterator[Clock]:
    """Let ledgers read this clock."""
    clock = Clock(start)

    class Read(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return clock.time.astimezone(tz)

    with ExitStack() as patched:
        for module in _READ_IN:
            patched.enter_context(mock.patch(f"{module}.datetime", Read))
        yield clock
