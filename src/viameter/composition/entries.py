"""Entries: what was charged, query by query. No data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from viameter.arith import Extended, show
from viameter.core import Loss, Measurement
from viameter.errors import NoTheorem
from viameter.theorem import Derivation, Numbers, theorem, theorem_of


class Entry(ABC):
    """One query that was charged."""

    __slots__ = ()

    @property
    @abstractmethod
    def query(self) -> str:
        """The query as text; it is public."""

    @abstractmethod
    def loss(self, d_in: Extended) -> Loss:
        """What it cost, for data this far apart."""

    @abstractmethod
    def derive(self, d_in: Extended) -> Derivation:
        """The theorems behind that."""

    def __repr__(self) -> str:
        return self.query


@dataclass(frozen=True, slots=True, repr=False)
class Asked(Entry):
    """A query of this process: its privacy map answers for any distance."""

    measurement: Measurement

    @property
    def query(self) -> str:
        """The measurement as it was made; every one has the odometer's space, which is left out."""
        return repr(self.measurement).removeprefix(f"{self.measurement.input_space!r} >> ")

    def loss(self, d_in: Extended) -> Loss:
        """What it cost, for data this far apart."""
        found: Loss = self.measurement.map(d_in)
        return found

    def derive(self, d_in: Extended) -> Derivation:
        """The theorems behind that."""
        return self.measurement.explain(d_in).derivation


@dataclass(frozen=True, slots=True, repr=False)
class Recorded(Entry):
    """A query of an earlier process, of which a few losses were kept."""

    text: str
    losses: tuple[tuple[Extended, Loss], ...]
    """(distance, loss), distances rising."""

    @property
    def query(self) -> str:
        """The measurement as it was made."""
        return self.text

    def loss(self, d_in: Extended) -> Loss:
        """What it cost, for data this far apart, or for the least distance above that was kept."""
        return recorded_loss(d_in, losses=self.losses)

    def derive(self, d_in: Extended) -> Derivation:
        """What was recorded is taken from the record."""
        loss = self.loss(d_in)
        return Derivation(
            self.text,
            theorem_of(recorded_loss),
            show(d_in),
            repr(loss),
            assumes=("the state that was resumed is the one that was saved",),
            given_value=d_in,
            bound_value=loss,
            parameters=(("losses", self.losses),),
        )


@dataclass(frozen=True, slots=True)
class Charge:
    """A query and what it cost: a line of a filter's history."""

    query: str
    loss: Loss

    def __repr__(self) -> str:
        return f"{self.query}: {self.loss!r}"


@theorem("recorded-loss", cites="a loss for some distance covers all that are nearer", numbers=Numbers.ASSUMED)
def recorded_loss(d_in: Extended, *, losses: tuple[tuple[Extended, Loss], ...]) -> Loss:
    """What a query of an earlier process cost, as it was recorded.

    Theorem
        A mechanism whose outputs are l-close on data at most D apart has outputs that are l-close on data at most d
        apart, for every d <= D.
    Requires
        The record is what was saved: it is checked against its digest. The distance is at most one that was recorded.
    Ensures
        The loss is that of the least recorded distance that is at least d_in; NoTheorem beyond the largest.
    Proof
        Data at most d apart are at most D apart.
    Example
        >>> from viameter.measures import pure
        >>> recorded_loss(2, losses=((1, pure(1)), (3, pure(3))))
        pure(3)
    """
    for distance, loss in losses:
        if d_in <= distance:
            return loss
    kept = ", ".join(show(distance) for distance, _ in losses)
    raise NoTheorem(
        f"d_in={show(d_in)}: the state that was resumed has losses for data up to {kept} apart; "
        "save it with state(d_in=...) to keep others"
    )
