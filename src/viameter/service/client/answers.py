"""Answers of a service: the face of local ones, with what stands behind them fetched when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from viameter.core import Loss
from viameter.core.certificate import Certificate
from viameter.service.client.explaining import Proofs
from viameter.tables.answer import AnsweredTable
from viameter.tables.budget import Charged
from viameter.tables.estimates import Estimate
from viameter.tables.preview import Preview
from viameter.theorem import Explanation


@dataclass(frozen=True, slots=True)
class Charge:
    """What an answer was charged as: under which key, as which entry of the ledger, how much, by whom and when."""

    key: str
    entry: int
    loss: Loss
    by: str
    asked: str
    replayed: bool
    """Whether it had been released before, so that nothing was spent now."""
    proofs: Proofs = field(repr=False)


class FromService:
    """What all answers of a service have."""

    __slots__ = ()
    charge: Charge

    @property
    def key(self) -> str:
        """Under which `table.answer(key)` gives it again."""
        return self.charge.key

    @property
    def entry(self) -> int:
        """The entry of the ledger that charged it."""
        return self.charge.entry

    @property
    def loss(self) -> Loss:
        """What it cost."""
        return self.charge.loss

    @property
    def replayed(self) -> bool:
        """Whether it had been released before, so that nothing was spent now."""
        return self.charge.replayed

    def explain(self) -> Explanation:
        """What the release tells of one unit at most, and the tree of theorems behind that, as the service keeps it."""
        return self.charge.proofs.explanation(self.entry)

    def certificate(self) -> Certificate:
        """The same as a file that `viameter check` re-derives: nobody has to take the service's word for it."""
        return self.charge.proofs.certificate(self.entry)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RemoteAnswer(FromService, AnsweredTable):
    """What a service released: by group, for each aggregate a value and the ends of its interval."""

    keys: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    estimates: dict[str, Estimate]
    covers: dict[str, str]
    alpha: Fraction
    unit: str
    notes: tuple[str, ...]
    charge: Charge


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RemoteRanked(FromService):
    """Keys in order, the most frequent first; how frequent they are is not told."""

    keys: tuple[str, ...]
    """The columns that name a group."""
    groups: tuple[tuple[Any, ...], ...]
    by: str
    unit: str
    notes: tuple[str, ...]
    charge: Charge

    def to_columns(self) -> dict[str, list[Any]]:
        """The keys as lists, by column, in order."""
        return {name: [group[place] for group in self.groups] for place, name in enumerate(self.keys)}

    def to_dicts(self) -> list[dict[str, Any]]:
        """The keys as a dict for each group, in order."""
        return [dict(zip(self.keys, group, strict=True)) for group in self.groups]

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.groups)

    def __repr__(self) -> str:
        from viameter.tables.showing.words import printable

        shown = (printable(", ".join(repr(value) for value in group)) for group in self.groups)
        lines = (f"{place:>3}  {line}" for place, line in enumerate(shown, start=1))
        head = f"top {len(self)} by {self.by}: {printable(', '.join(self.keys))}"
        return "\n".join([head, *lines, f"cost {self.loss!r}"])


@dataclass(frozen=True, slots=True, repr=False)
class RemotePreview(Preview):
    """What a question would cost, as the service says; nothing was read or spent."""

    question: str = ""
    """The question as the service read it."""


@dataclass(frozen=True, slots=True)
class RemoteCharge(Charged):
    """One charge of a dataset: for what, how much, what came of it, who asked, and the entry of the ledger.

    Its outcome is "answered", "running", "failed" or "lost"; None if the service is of a version that does not say it.
    What failed or was lost has no answer: what was charged stays charged, and asked under a new key it costs anew.
    """

    entry: int
    at: str
    by: str
    key: str
