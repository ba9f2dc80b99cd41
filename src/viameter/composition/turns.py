"""Turns: lets interactive mechanisms that were released together answer one after the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from viameter.core import Guard
from viameter.errors import PermissionGone, QueryableBusy


class Turns:
    """Mechanisms in order: once one of them was queried, those before it answer no more.

    None of them answers before its place is opened.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._current = 0
        self._answering: int | None = None
        self._open: set[int] = set()
        # Held while a mechanism answers, so that no other takes its turn in the middle of an answer.
        self._lock = threading.RLock()

    def guard(self, place: int) -> Guard:
        """The guard of the mechanism at this place."""

        def enter() -> AbstractContextManager[Any]:
            return self._turn(place)

        return enter

    def open(self, place: int) -> None:
        """Let the mechanism at this place answer from now on, when it is its turn."""
        with self._lock:
            self._open.add(place)

    @contextmanager
    def _turn(self, place: int) -> Iterator[None]:
        with self._lock:
            if place < self._current:
                raise PermissionGone(
                    f"a later part of {self._what} was queried, and the measure composes sequentially: "
                    "those before it answer no more"
                )
            if place not in self._open:
                raise PermissionGone(
                    f"it is one of several parts of {self._what}, and there it may answer no queries: those would be "
                    "chosen by what others have answered since it began; ask for it alone, under an odometer"
                )
            # A lock lets its own thread in again: one that answers may not move another on in the middle of it.
            if self._answering not in (None, place):
                raise QueryableBusy(f"a part of {self._what} was queried while another one of it answers")
            before, self._answering = self._answering, place
            self._current = place
            try:
                yield
            finally:
                self._answering = before
