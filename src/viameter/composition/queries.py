"""What a meter is asked apart from mechanisms: losses, previews, a child's question for permission, its records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from viameter.core import Loss


@dataclass(frozen=True, slots=True)
class LossQuery:
    """What was spent so far, for data this far apart; it changes nothing."""

    d_in: Any


@dataclass(frozen=True, slots=True)
class PendingQuery:
    """What the loss for data this far apart would be after a query, which is not run. Internal."""

    query: Any
    d_in: Any


@dataclass(frozen=True, slots=True)
class AskPermission:
    """A child's question whether it may answer; `child` is the number of the query that made it. Internal."""

    child: int


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """What was charged so far. Internal."""


@dataclass(frozen=True, slots=True)
class DerivationQuery:
    """The theorems behind the loss so far. Internal."""

    d_in: Any


@dataclass(frozen=True, slots=True)
class BudgetQuery:
    """What a filter was given, what of it was spent, and what is left. Internal."""


@dataclass(frozen=True, slots=True)
class AnytimeQuery:
    """The bound for all times, at this one. Internal."""


@dataclass(frozen=True, slots=True)
class StateQuery:
    """All that a meter knows, apart from the data; with losses for these distances too. Internal."""

    d_in: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class NewLoss:
    """The loss after a query that would run a mechanism."""

    loss: Loss
    fits: bool = True
    """Whether a filter would answer it; an odometer answers everything."""

    def __repr__(self) -> str:
        return f"NEW({self.loss!r})" if self.fits else f"NEW({self.loss!r}, over budget)"


@dataclass(frozen=True, slots=True)
class SameLoss:
    """The loss stays what it is."""

    def __repr__(self) -> str:
        return "SAME"


SAME = SameLoss()
PendingLoss: TypeAlias = NewLoss | SameLoss
