"""Backend: where questions are asked: an engine with an account in this process, or a service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from viameter.core import Measure
from viameter.tables.answer import Answer, Ranked
from viameter.tables.cost import Cost
from viameter.tables.expressions import Schema
from viameter.tables.preview import Preview, Standing
from viameter.tables.purse import Charged
from viameter.tables.question import Question
from viameter.tables.steps import Source
from viameter.tables.units import Unit

if TYPE_CHECKING:
    from viameter.tables.showing.words import ShownTable


class Backend(Protocol):
    """What a table needs of the place where its rows are."""

    @property
    def unit(self) -> Unit:
        """Whose presence answers hide."""

    @property
    def measure(self) -> Measure:
        """What losses are counted in."""

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """All budgets that pay for questions, each as it stands; the first is the one of the rows."""

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order."""

    def schema(self, source: Source) -> Schema:
        """The columns of rows; ParameterError if a step makes no sense of those before it."""

    def check(self, question: Question) -> None:
        """Refuse a question that cannot be answered; nothing is read or spent."""

    def name(self, question: Question) -> str:
        """What a question is called."""

    def preview(self, question: Question, cost: Cost) -> Preview:
        """What a question would cost; no row is read, and nothing is spent."""

    def release(self, question: Question, cost: Cost, *, key: str | None) -> Answer | Ranked:
        """Spend, run, and answer."""

    def shown(self, source: Source, question: Question) -> ShownTable:
        """What a notebook shows of a table."""
