"""Domain: a set of values that data may be a member of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from viameter.core.sealed import attempt
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
        succeeded, member = attempt(self._canonical, value)
        if not succeeded:
            raise NotInDomain(self)
        return member

    def contains(self, value: Any) -> bool:
        """Whether the value is a member."""
        return attempt(self._canonical, value)[0]

    def why_not(self, value: Any) -> str | None:
        """Say why the value is no member, or None. The reason may speak of rows: it is for the custodian's eyes."""
        try:
            with np.errstate(all="ignore"):
                self._canonical(value)
        except NotAMember as reason:
            return str(reason)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # data may be objects with a will of their own
            return f"looking at it failed with {type(problem).__name__}"
        return None
