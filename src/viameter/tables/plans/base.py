"""Plan: what a question becomes when the columns of its table are known. It says nothing of rows, and reads none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from viameter.core import Loss, Measure, Measurement
from viameter.tables.answer import Answer, Ranked
from viameter.tables.collecting import Order, Progress
from viameter.tables.cost import Cost
from viameter.tables.preview import Preview, Standing
from viameter.tables.relation import Relation
from viameter.tables.units import Unit

A_co = TypeVar("A_co", bound=Answer | Ranked, covariant=True)


class Payer(Protocol):
    """Where a plan is charged and run: a session."""

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """All budgets that pay."""

    def fits(self, measurement: Measurement) -> bool:
        """Whether they allow a measurement."""

    def compile(self, compiling: Callable[[], object]) -> None:
        """Make the queries of a question, or refuse it."""

    def charge(
        self, measurement: Measurement, *, key: str | None, identity: Callable[[], str], compiling: Callable[[], object]
    ) -> Any:
        """Charge a measurement, then run it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a question is planned for: how losses are counted, in which order rows are kept, and who is told."""

    measure: Measure
    order: Order
    progress: Progress | None


class Plan(ABC, Generic[A_co]):
    """A question over known columns: its Measurement for a cost, what it would cost, and its release."""

    OPTIONS: ClassVar[frozenset[str]]
    """What of a cost it takes."""
    relation: Relation
    name: str
    """What it is called in accounts and ledgers."""

    @property
    def unit(self) -> Unit:
        """Whose presence it hides."""
        return self.relation.unit

    @property
    def cells(self) -> int:
        """How many numbers its answer has, if that is known."""
        return 0

    @abstractmethod
    def loss(self, cost: Cost) -> Loss:
        """What is to be spent."""

    @abstractmethod
    def measurement(self, cost: Cost) -> Measurement:
        """The question as a Measurement of what was opened, which may be composed and metered like any other."""

    @abstractmethod
    def preview(self, payer: Payer, cost: Cost) -> Preview:
        """What it would cost, and how wide intervals would be; no row is read, and nothing is spent."""

    @abstractmethod
    def release(self, payer: Payer, cost: Cost, *, key: str | None) -> A_co:
        """Spend, run, and answer."""


def name_of(relation: Relation, asked: str) -> str:
    """What a question of these rows is called."""
    return "".join(f"{step.made_by}." for step in relation.steps) + asked
