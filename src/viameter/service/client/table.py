"""RemoteTable: a dataset of a service with the face of a local table: columns, filters, groups; never a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn
from urllib.parse import quote

from viameter.arith import Number
from viameter.core import Loss, Measure
from viameter.errors import ParameterError, plain
from viameter.service.client.answers import RemoteAnswer, RemoteCharge, RemoteRanked
from viameter.service.client.explaining import Proofs
from viameter.service.client.question import RemoteGrouped, RemoteQuestion
from viameter.service.client.releasing import look, read_key
from viameter.service.client.replies import OWN_LIMIT, answer_of, charges_of, schema_of, standing_of, understood
from viameter.service.client.steps import Steps
from viameter.service.client.wire import Wire
from viameter.service.client.writing import written_groups
from viameter.tables.bounding import Limits
from viameter.tables.expressions import Column, Expression, Schema
from viameter.tables.preview import Standing, binding
from viameter.tables.showing import table_html, table_text
from viameter.tables.showing.words import ShownTable, budget_words, printable, unit_words

PAGE = 200
"""Lines of a history that are fetched at once."""


@dataclass(slots=True, repr=False, eq=False)
class RemoteDataset:
    """A dataset as the service describes it; what was spent is as it was when it was last looked at."""

    wire: Wire
    name: str
    person: str
    schema: Schema
    unit: str
    budgets: tuple[Standing, ...]
    """Those that pay: the dataset's and, once it was looked for, one's own limit."""
    title: str = ""
    description: str = ""

    @classmethod
    def fetch(cls, wire: Wire, name: str, *, person: str) -> RemoteDataset:
        """Ask the service for it."""
        place = f"/datasets/{quote(name, safe='')}"
        said, columns = wire.get(place), wire.get(f"{place}/schema")
        with understood():
            return cls(
                wire, name, person, schema_of(columns), str(said["unit"]["text"]), (standing_of(name, said),),
                str(said["title"]), str(said["description"]),
            )  # fmt: skip

    @property
    def budget(self) -> Loss:
        """What may be spent in all."""
        return self.budgets[0].budget

    @property
    def measure(self) -> Measure:
        """What losses are counted in."""
        return self.budget.measure

    @property
    def proofs(self) -> Proofs:
        """What stands behind its charges."""
        return Proofs(self.wire, self.name)

    def look(self) -> RemoteDataset:
        """See what was spent by now of all that pays: the dataset's budget, and one's own limit if there is one."""
        said = self.wire.get(f"/datasets/{quote(self.name, safe='')}/budgets")
        with understood():
            own = said["people"].get(self.person)
            mine = () if own is None else (standing_of(OWN_LIMIT, own),)
            self.budgets = (standing_of(self.name, said["dataset"]), *mine)
        return self


def _cannot_be_sent(name: str, why: str) -> Callable[..., NoReturn]:
    """A method that local tables have and that a service is not asked for."""

    def refuse(self: RemoteTable, *_: Any, **__: Any) -> NoReturn:
        raise ParameterError(f"{name} cannot be sent to a service: {why}")

    refuse.__name__ = name
    refuse.__doc__ = f"Refused: {why}."
    return refuse


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RemoteTable:
    """Private rows under a budget, elsewhere. Nothing is asked of them before a question is released."""

    dataset: RemoteDataset
    steps: Steps

    @property
    def name(self) -> str:
        """What the dataset is called."""
        return self.dataset.name

    @property
    def schema(self) -> Schema:
        """The columns, with their types."""
        return self.steps.schema

    @property
    def unit(self) -> str:
        """Whose presence answers hide, as the custodian wrote it."""
        return self.dataset.unit

    @property
    def budget(self) -> Loss:
        """What may be spent in all."""
        return self.dataset.look().budget

    @property
    def spent(self) -> Loss:
        """What was spent so far, by everybody."""
        return self.dataset.look().budgets[0].spent

    @property
    def left(self) -> Loss:
        """What is left for you to spend: of the dataset's budget, or of your own limit if that is less."""
        return binding(self.dataset.look().budgets).left

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """The budgets that pay for your questions, each with what was spent of it and is left of it."""
        return self.dataset.look().budgets

    @property
    def history(self) -> tuple[RemoteCharge, ...]:
        """What was charged, in order: your own charges, or everybody's if you may read them."""
        lines: list[Any] = []
        query: dict[str, int] = {"last": PAGE}
        while True:
            found = self.dataset.wire.get(f"/datasets/{quote(self.name, safe='')}/history", **query)
            with understood():
                lines += found["lines"]
                if found["more"] is not True or not isinstance(found["before"], int):
                    return charges_of(lines)
                query["before"] = found["before"]

    def __getitem__(self, name: str) -> Expression:
        return Column(name, self.schema.require(name))

    def filter(self, predicate: Expression) -> RemoteTable:
        """The rows for which the predicate is true."""
        return replace(self, steps=self.steps.filter(predicate))

    def derive(self, **columns: Expression) -> RemoteTable:
        """One more column for each expression."""
        return replace(self, steps=self.steps.derive(columns))

    def limit(
        self,
        *,
        rows: int | None = None,
        groups: int | None = None,
        per_group: int | None = None,
        keep: str | None = None,
    ) -> RemoteTable:
        """Let fewer rows of a unit count: less noise, and more that is left out; `keep="first by time"` says which."""
        return replace(self, steps=self.steps.limit(Limits(rows, groups, per_group, keep)))

    def group_by(
        self, *columns: str, keys: Any = None, other: bool = False, edges: Sequence[Number] | None = None
    ) -> RemoteGrouped:
        """Groups by the values of columns: public `keys`, or intervals between `edges` of a number.

        For several columns, keys are tuples, or a dict of lists whose combinations are all meant. With `other`, rows of
        keys that are not listed make one more group. Without keys, those are shown that occur often enough, which costs
        a delta.
        """
        return RemoteGrouped(self, written_groups(self.schema, columns, keys=keys, other=other, edges=edges))

    def agg(self, **aggregates: Any) -> RemoteQuestion:
        """Aggregates of all rows."""
        return RemoteGrouped(self, {}).agg(**aggregates)

    def histogram(self, column: str, edges: Sequence[Number], *, other: bool = False) -> RemoteQuestion:
        """How many rows fall into each interval [e0, e1), [e1, e2), ... of a number; the last has both ends."""
        from viameter.transforms import count

        return self.group_by(column, edges=edges, other=other).agg(rows=count())

    def heavy_hitters(self, *columns: str) -> RemoteQuestion:
        """Which values of columns are frequent, of which nobody has a list, and how many units have them.

        It gives a question with `preview` and `release`; it costs a delta.
        """
        if not columns:
            raise ParameterError("heavy_hitters: name at least one column")
        for name in columns:
            if not isinstance(name, str):
                raise ParameterError(f"heavy_hitters: {plain(name)} is not the name of a column")
            self.schema.require(name)
        return RemoteQuestion(self, {"heavy_hitters": list(columns)}, f"heavy_hitters({', '.join(columns)})")

    def answer(self, key: str, *, by: str | None = None) -> RemoteAnswer | RemoteRanked:
        """The answer to what was asked under a key before, by you or by somebody whose answers you may read.

        It is waited for if the question still runs. Nothing is spent.
        """
        found = look(self.dataset.wire, self.name, read_key(key), by=by)
        with understood():
            return answer_of(found, self.dataset.schema, self.dataset.proofs)

    select = _cannot_be_sent("select", "a question reads the columns that it names, and no others; leave it out")
    join = _cannot_be_sent("join", "a custodian registers joined rows as a dataset of their own")
    sample = _cannot_be_sent("sample", "its salt would have to stay secret and the same for all questions")
    partition = _cannot_be_sent("partition", "custodians set budgets; group_by asks about parts")
    sub_budget = _cannot_be_sent("sub_budget", "custodians set budgets, also for single people")
    find_bounds = _cannot_be_sent("find_bounds", "ask for a histogram, or take the bounds that a custodian made public")
    dry_run = _cannot_be_sent("dry_run", "preview shows what a question would cost, and spends nothing")

    @property
    def written(self) -> str:
        """The steps so far, as they would be typed."""
        return "".join(f".{text}" for text in self.steps.texts)

    def _shown(self) -> ShownTable:
        # As it was last looked at: to show a table asks nothing of the service, which may be gone.
        dataset = self.dataset
        kept = ", ".join(f"{name}={value}" for name, value in self.steps.limits.given.items())
        counts = f"at most {kept}, and not more than the unit says" if kept else "as the unit says"
        limits = tuple(budget_words(dataset.budgets, binding(dataset.budgets))[1:])
        return ShownTable(
            f"private table {printable(self.name)} of {self.dataset.wire.address}",
            self.schema, (unit_words(dataset.unit),), counts, self.steps.texts,
            dataset.budgets[0].spent, dataset.budget, limits,
        )  # fmt: skip

    def __repr__(self) -> str:
        return table_text(self._shown())

    def _repr_html_(self) -> str:
        return table_html(self._shown())
