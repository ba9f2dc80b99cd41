"""Dataset: the backend of a table whose rows are at a service: it checks questions, sends them, and reads replies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from viameter.core import Measure
from viameter.service.client.explaining import Proofs
from viameter.service.client.releasing import fresh_key, look, read_key, release
from viameter.service.client.replies import (
    OWN_LIMIT,
    answer_of,
    charges_of,
    preview_of,
    schema_of,
    standing_of,
    understood,
    unit_of,
)
from viameter.service.client.wire import Wire
from viameter.tables import Answer, Preview, Question, Ranked, Unit
from viameter.tables.check import check
from viameter.tables.cost import Cost
from viameter.tables.document import plainly, question_to_json
from viameter.tables.expressions import Schema
from viameter.tables.grouping import grouping
from viameter.tables.planning import read_spend
from viameter.tables.plans import kind_of
from viameter.tables.preview import Standing, binding
from viameter.tables.purse import Charged
from viameter.tables.schemas import schema_after
from viameter.tables.showing.words import ShownTable, budget_words, printable, unit_words
from viameter.tables.steps import Source

PAGE = 200
"""Lines of a history that are fetched at once."""


@dataclass(slots=True, repr=False, eq=False)
class Dataset:
    """A dataset as the service describes it; what was spent is as it was when it was last looked at."""

    wire: Wire
    dataset: str
    person: str
    columns: Schema
    unit: Unit
    known: tuple[Standing, ...]
    """The budgets that pay: the dataset's and, once it was looked for, one's own limit."""
    title: str = ""
    description: str = ""

    @classmethod
    def fetch(cls, wire: Wire, name: str, *, person: str) -> Dataset:
        """Ask the service for it."""
        place = f"/datasets/{quote(name, safe='')}"
        said, columns = wire.get(place), wire.get(f"{place}/schema")
        with understood():
            return cls(
                wire, name, person, schema_of(columns), unit_of(said["unit"]), (standing_of(name, said),),
                str(said["title"]), str(said["description"]),
            )  # fmt: skip

    @property
    def measure(self) -> Measure:
        """What losses are counted in."""
        return self.known[0].budget.measure

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """All that pays as it stands now: the dataset's budget, and one's own limit if there is one."""
        said = self.wire.get(f"{self._place}/budgets")
        with understood():
            own = said["people"].get(self.person)
            mine = () if own is None else (standing_of(OWN_LIMIT, own),)
            self.known = (standing_of(self.dataset, said["dataset"]), *mine)
        return self.known

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order: your own charges, or everybody's if you may read them."""
        lines: list[Any] = []
        query: dict[str, int] = {"last": PAGE}
        while True:
            found = self.wire.get(f"{self._place}/history", **query)
            with understood():
                lines += found["lines"]
                if found["more"] is not True or not isinstance(found["before"], int):
                    return charges_of(lines)
                query["before"] = found["before"]

    def schema(self, source: Source) -> Schema:
        """The columns of rows after steps."""
        schema = self.columns
        for step in source.steps:
            schema = schema_after(step, schema, self.schema, unit=self.unit.column)
        return schema

    def check(self, question: Question) -> None:
        """Refuse a question that makes no sense of these columns, before it is sent."""
        for problem in check(question, self.columns, unit=self.unit, measure=self.measure):
            raise problem.error

    def name(self, question: Question) -> str:
        """A question as it would be typed."""
        return str(replace(question, source=replace(question.source, table=self.dataset)))

    def preview(self, question: Question, cost: Cost) -> Preview:
        """What a question would cost, as the service says."""
        found = self.wire.ask(f"{self._place}/preview", self._document(question, cost))
        with understood():
            return preview_of(found, self.dataset, self.known[0].budget, self.unit)

    def release(self, question: Question, cost: Cost, *, key: str | None) -> Answer | Ranked:
        """Spend, run, and answer: under a key, a fresh one unless it is given, by which it is charged once.

        Under it the question is sent again if the connection is lost.
        """
        sent = self._document(question, cost)
        found = release(self.wire, self.dataset, sent, fresh_key() if key is None else read_key(key))
        with understood():
            return answer_of(found, self.columns, self.unit, self._proofs)

    def answer(self, key: str, *, by: str | None = None) -> Answer | Ranked:
        """What was released under a key before, by you or by somebody whose answers you may read."""
        found = look(self.wire, self.dataset, read_key(key), by=by)
        with understood():
            return answer_of(found, self.columns, self.unit, self._proofs)

    def shown(self, source: Source, question: Question) -> ShownTable:
        """What a notebook shows. It asks nothing of the service, which may be gone: budgets are as last looked at."""
        kept = ", ".join(f"{name}={value}" for name, value in question.limits.given.items())
        counts = f"at most {kept}, and not more than the unit says" if kept else "as the unit says"
        return ShownTable(
            f"private table {printable(self.dataset)} of {self.wire.address}",
            self.schema(source),
            (unit_words(self.unit),),
            counts,
            tuple(map(str, source.steps)),
            self.known[0].spent,
            self.known[0].budget,
            tuple(budget_words(self.known, binding(self.known))[1:]),
        )

    def _document(self, question: Question, cost: Cost) -> dict[str, Any]:
        """A question with what it may cost, as it is sent."""
        kind = kind_of(question, grouping(self.schema(question.source), question.groups))
        cost.require(kind.OPTIONS, self.name(question))
        if cost.spend is not None:
            read_spend(cost.spend, self.measure)
        return {**question_to_json(plainly(question)), **cost.to_json()}

    @property
    def _proofs(self) -> Proofs:
        return Proofs(self.wire, self.dataset)

    @property
    def _place(self) -> str:
        return f"/datasets/{quote(self.dataset, safe='')}"
