"""Domain: a set of values that data may be a member of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from viameter.errors import NotInDomain


class NotAMember(Exception):  # it never leaves the library
    """Why a value is no member of a domain; the reason may speak of rows, so it is shown only by `why_not`."""


class Domain(ABC):
    """A set of values. Members have one canonical form (a NumPy array, say), which `admit` returns.

    That the data lie in the domain is the custodian's responsibility, and it is checked when data are handed over.
    """

    assumption: str | None = None
    """What a user-defined domain asks to be trusted; shown in `explain`."""

    @abstractmethod
    def _canonical(self, value: Any) -> Any:
        """Return the member in canonical form, or raise NotAMember."""

    def admit(self, value: Any) -> Any:
        """Return the member in canonical form, or refuse it without saying which part of it is wrong."""
        try:
            return self._canonical(value)
        except NotAMember:
            pass
        # Raised outside of the handler: an exception being handled would be kept as its context, with the reason in it.
        raise NotInDomain(self)

    def contains(self, value: Any) -> bool:
        """Whether the value is a member."""
        return self.why_not(value) is None

    def why_not(self, value: Any) -> str | None:
        """Say why the value is no member, or None. The reason may speak of rows: it is for the custodian's eyes."""
        try:
            self._canonical(value)
        except NotAMember as reason:
            return str(reason)
        return None
