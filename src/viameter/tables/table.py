"""Table: private rows under a budget, as people see them: columns, filters, joins, groups, questions; never a row.

A table builds questions, step by step, and its backend answers them: an engine with an account in this process
(`vm.open`), or a service (`vm.connect`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from viameter.arith import Number
from viameter.core import Loss, Measurement
from viameter.errors import OverBudget, ParameterError, plain
from viameter.ledger import Ledger
from viameter.tables.answer import Answer, FoundBounds, Ranked
from viameter.tables.backend import Backend
from viameter.tables.bounding import Limits
from viameter.tables.contributing import require_limits, require_order, require_rows_of_units
from viameter.tables.cost import COST_KEYS, Cost
from viameter.tables.document import question_from_json, question_to_json
from viameter.tables.expressions import Column, Expression, Schema
from viameter.tables.formula import Formula
from viameter.tables.grouping import grouping, require_groups
from viameter.tables.plans import Plan
from viameter.tables.preview import Preview, Standing, binding
from viameter.tables.public_tables import PublicTable
from viameter.tables.purse import Charged
from viameter.tables.question import (
    Aggregates,
    All,
    Asked,
    Found,
    Groups,
    HeavyHitters,
    Question,
    read_aggregates,
    read_bounds_question,
    read_groups,
    read_top,
)
from viameter.tables.relation import Relation
from viameter.tables.selection import require_delta
from viameter.tables.session import Session
from viameter.tables.steps import Derive, Filter, Join, Select, Source, Step, read_names, read_sample
from viameter.tables.units import Unit

if TYPE_CHECKING:
    from viameter.tables.showing.words import ShownTable
    from viameter.tables.sql.asking import SqlQuery

A_co = TypeVar("A_co", bound=Answer | Ranked, covariant=True)


@dataclass(frozen=True, slots=True, repr=False)
class Query(Generic[A_co]):
    """A question of a table that is ready to be asked. It is public: it says nothing of the rows."""

    table: Table
    question: Question

    @property
    def plan(self) -> Plan[A_co]:
        """What it became for the columns of a table of this process."""
        return self.table.session.plan(self.question)

    def measurement(self, *, spend: Loss, weights: Mapping[str, Number] | None = None) -> Measurement:
        """The question as a Measurement of the table that was opened; it may be composed and metered like any other."""
        return self.plan.measurement(Cost.read(spend=spend, weights=weights))

    def preview(
        self,
        *,
        spend: Loss | None = None,
        within: Mapping[str, Number] | None = None,
        alpha: Number | None = None,
        weights: Mapping[str, Number] | None = None,
        selection_share: Number | None = None,
    ) -> Preview:
        """What it would cost, and how wide intervals would be; no row is read, and nothing is spent."""
        cost = Cost.read(spend=spend, within=within, alpha=alpha, weights=weights, selection_share=selection_share)
        return self.preview_for(cost)

    def preview_for(self, cost: Cost) -> Preview:
        """The same for a cost that was read elsewhere."""
        return self.table.backend.preview(self.question, cost)

    def release(
        self,
        *,
        spend: Loss | None = None,
        within: Mapping[str, Number] | None = None,
        alpha: Number | None = None,
        weights: Mapping[str, Number] | None = None,
        raw: bool = False,
        selection_share: Number | None = None,
        key: str | None = None,
    ) -> A_co:
        """Spend, run, and answer: `spend` is the loss; or `within` names widths, and the least loss that buys them.

        `weights` says how the loss is shared among aggregates: each has 1 if it is not named. Counts below 0 are set to
        0, and quantiles made to rise, unless `raw` ones are asked for. Of groups that are to be found, which is charged
        as a whole before anything runs, `selection_share` is the part that finds them. With a ledger, the same question
        under the same `key` has the same answer, and costs nothing more; a service gives every release a key.
        """
        cost = Cost.read(
            spend=spend, within=within, alpha=alpha, weights=weights, raw=raw, selection_share=selection_share
        )
        return self.release_for(cost, key=key)

    def release_for(self, cost: Cost, *, key: str | None = None) -> A_co:
        """The same for a cost that was read elsewhere."""
        return cast(A_co, self.table.backend.release(self.question, cost, key=key))

    def spend_for(
        self,
        within: Mapping[str, Number],
        *,
        alpha: Number | None = None,
        weights: Mapping[str, Number] | None = None,
    ) -> Loss:
        """The least loss for which the intervals of these aggregates reach no further than asked, to either side."""
        found = self.preview(within=within, alpha=alpha, weights=weights)
        # What does not fit is said in numbers before anything is charged.
        if not found.fits:
            over = found.binding
            raise OverBudget(
                spent=over.spent, asked=found.loss, left=over.left, budget=over.budget, scope=over.name or None
            )
        return found.loss

    def to_json(self) -> dict[str, Any]:
        """The question as a document, as query files and requests have it; `table.query` reads it back."""
        return question_to_json(self.question)

    def __repr__(self) -> str:
        return self.table.backend.name(self.question)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows by group, of which aggregates can be asked."""

    table: Table
    groups: Groups

    def agg(self, **aggregates: Any) -> Query[Answer]:
        """What is asked of each group, by the name that it has in the answer."""
        return self.table.ask(read_aggregates(aggregates, self.groups), self.groups)

    def top(self, k: int, *, by: Literal["rows", "units"] = "rows") -> Query[Ranked]:
        """Which k of the groups have the most rows, or the most units; in order, without their numbers."""
        keys = grouping(self.table.schema, self.groups).keys
        return self.table.ask(read_top(k, by, keys=None if keys is None else keys.size), self.groups)

    def __repr__(self) -> str:
        return str(Question(self.table.source, self.table.limits, self.groups, Aggregates(()))).removesuffix(".agg()")


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Private rows under a budget. Nothing is read before a question is released."""

    backend: Backend
    source: Source = field(default_factory=Source)
    """Which table, and what was done with its rows."""
    limits: Limits = field(default_factory=Limits)
    """What counts of a unit, where a question keeps less than the table allows."""

    @property
    def schema(self) -> Schema:
        """The columns, with their types."""
        return self.backend.schema(self.source)

    @property
    def unit(self) -> Unit:
        """Whose presence answers hide."""
        return self.backend.unit

    @property
    def budget(self) -> Loss:
        """What may be spent in all."""
        return self.backend.budgets[0].budget

    @property
    def spent(self) -> Loss:
        """What was spent so far, by everybody who asks."""
        return self.backend.budgets[0].spent

    @property
    def left(self) -> Loss:
        """What is left to be spent: of several budgets that pay, the least."""
        return binding(self.backend.budgets).left

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """All budgets that pay for its questions, each with what was spent of it and is left of it."""
        return self.backend.budgets

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order; at a service, your own charges, or everybody's if you may read them."""
        return self.backend.history

    @property
    def session(self) -> Session:
        """The session that answers here; ParameterError if that is a service."""
        return self._session("session", "its rows and its account are elsewhere")

    @property
    def is_here(self) -> bool:
        """Whether its rows are asked in this process, and not by a service."""
        return isinstance(self.backend, Session)

    @property
    def relation(self) -> Relation:
        """The rows after all steps, on the engine of this session."""
        return self.session.relation(self.source)

    @property
    def ledger(self) -> Ledger | None:
        """The ledger that keeps what is spent, if the table was opened with one here."""
        return self.backend.ledger if isinstance(self.backend, Session) else None

    def __getitem__(self, name: str) -> Expression:
        return Column(name, self.schema.require(name))

    def filter(self, predicate: Expression | str) -> Table:
        """The rows for which the predicate is true."""
        return self._after(Filter(_formula(predicate, "filter")))

    def select(self, *names: str) -> Table:
        """These columns alone."""
        return self._after(Select(read_names(names, "select", least=0)))

    def derive(self, **columns: Expression | str) -> Table:
        """One more column for each expression."""
        named = ((name, _formula(one, f"derive({name}=...)")) for name, one in columns.items())
        return self._after(Derive(tuple(named)))

    def join(self, other: PublicTable | Table, on: str | Sequence[str] = ()) -> Table:
        """Rows joined with those of a public table (`vm.public`), or of another private table on the unit."""
        names = (on,) if isinstance(on, str) else read_names(on, "join", least=0)
        if isinstance(other, PublicTable):
            return self._after(Join(other, names))
        if not isinstance(other, Table):
            raise ParameterError(f"join takes vm.public(...) or another table of this session, not {plain(other)}")
        own, theirs = (_opened(table.backend) for table in (self, other))
        if own is not theirs:
            raise ParameterError(
                "join: two private tables are joined if they were opened together, vm.open({'one': ..., 'other': ...}, "
                "...), so that one budget counts what is learned of both; a public one comes in by vm.public(...)"
            )
        return self._after(Join(other.source, names))

    def sample(self, fraction: Number) -> Table:
        """About this fraction of units with all of their rows: always the same ones, as long as the table is open.

        Which ones depends on a secret that is drawn when the table is opened, and never leaves the process. No
        amplification of privacy is claimed for it.
        """
        return self._after(read_sample(fraction))

    def limit(
        self,
        *,
        rows: int | None = None,
        groups: int | None = None,
        per_group: int | None = None,
        keep: str | None = None,
    ) -> Table:
        """Let fewer rows of a unit count: less noise, and more that is left out.

        Which rows is a uniform sample of the unit's rows, `keep="uniform"`, unless the table says otherwise; or, with
        `keep="first by time"`, those with the least values of a column.
        """
        asked = Limits(rows, groups, per_group, keep)
        require_rows_of_units(self.unit)
        require_limits(self.unit, asked)
        require_order(self.schema, asked)
        return replace(self, limits=self.limits.tightened(asked))

    def group_by(
        self,
        *columns: str,
        keys: Any = None,
        other: bool = False,
        edges: Sequence[Any] | None = None,
    ) -> Grouped:
        """Groups by the values of columns: public `keys`, or intervals between `edges` of a number.

        For several columns, keys are tuples, or a dict of lists whose combinations are all meant. With `other`, rows of
        keys that are not listed make one more group. Without keys, those are shown that occur often enough, which costs
        a delta.
        """
        keys, edges = (list(given) if isinstance(given, Iterator) else given for given in (keys, edges))
        names = read_names(columns, "group_by")
        # Keys and edges that make no sense are refused here, and keys to be found where nothing may be found.
        require_groups(self.schema, names, keys=keys, edges=edges, other=other)
        groups = read_groups(names, keys=keys, other=other, edges=edges)
        if isinstance(groups, Found) and grouping(self.schema, groups).keys is None:
            require_delta(self.backend.measure.zero)
        return Grouped(self, groups)

    def agg(self, **aggregates: Any) -> Query[Answer]:
        """Aggregates of all rows."""
        return Grouped(self, All()).agg(**aggregates)

    def histogram(self, column: str, edges: Sequence[Any], *, other: bool = False) -> Query[Answer]:
        """How many rows fall into each interval [e0, e1), [e1, e2), ... of a number; the last has both ends."""
        from viameter.transforms import count

        return self.group_by(column, edges=edges, other=other).agg(rows=count())

    def heavy_hitters(self, *columns: str) -> Query[Answer]:
        """Which values of columns are frequent, of which nobody has a list, and how many units have them.

        It gives a question with `preview` and `release`; it costs a delta.
        """
        return self.ask(HeavyHitters(read_names(columns, "heavy_hitters")))

    def bounds_question(
        self,
        column: str | Expression,
        *,
        within: tuple[Number | float, Number | float],
        q: tuple[Number | float, Number | float] = ("1/100", "99/100"),
        spacing: Literal["even", "logarithmic"] | None = None,
    ) -> Query[FoundBounds]:
        """Bounds between which most of a column lies, looked for within a public range: a question, to be previewed.

        Bins are even, or widen with the distance from 0 where the range is wide (from 10 000 on), unless `spacing` says
        "even" or "logarithmic".
        """
        return self.ask(read_bounds_question(column, within=within, q=q, spacing=spacing))

    def find_bounds(
        self,
        column: str | Expression,
        *,
        within: tuple[Number | float, Number | float],
        spend: Loss,
        q: tuple[Number | float, Number | float] = ("1/100", "99/100"),
        alpha: Number | None = None,
        spacing: Literal["even", "logarithmic"] | None = None,
        key: str | None = None,
    ) -> FoundBounds:
        """Bounds between which most of a column lies, looked for within a public range; a release that is charged."""
        question = self.bounds_question(column, within=within, q=q, spacing=spacing)
        return question.release(spend=spend, alpha=alpha, key=key)

    def ask(self, asked: Asked, groups: Groups | None = None) -> Query[Any]:
        """A question of these rows, refused here if it cannot be answered."""
        return self._query(Question(self.source, self.limits, All() if groups is None else groups, asked))

    def query(self, question: Question | Mapping[str, Any]) -> Query[Any]:
        """A question that was written elsewhere, as a value or a document: of the rows of this table.

        Its steps come after those of this table, and its limits tighten those of this table.
        """
        if isinstance(question, Mapping) and (cost := sorted(COST_KEYS.intersection(question))):
            raise ParameterError(f"{', '.join(cost)}: no part of a question: give it to preview or release")
        written = question if isinstance(question, Question) else question_from_json(question)
        if written.source.table not in ("", self.source.table):
            raise ParameterError(f"the question is of the table {written.source.table!r}, not {self.source.table!r}")
        source = Source(self.source.table, (*self.source.steps, *written.source.steps))
        return self._query(replace(written, source=source, limits=self.limits.tightened(written.limits)))

    def sql(self, text: str, *, tables: Mapping[str, Any] | None = None) -> SqlQuery:
        """A question in SQL of the rows of this table, whatever FROM calls it; `tables` has public ones to join with.

        It is read, and never executed as SQL. SqlError has the place of what cannot be asked.
        """
        from viameter.tables.sql.asking import query_of

        return query_of(text, {}, only=self, public=tables)

    def _query(self, question: Question) -> Query[Any]:
        require_limits(self.unit, question.limits)
        self.backend.check(question)
        return Query(self, question)

    def asked_by(
        self, person: str, *, scopes: Sequence[str] = (), unless: Sequence[str] = (), deadline: float | None = None
    ) -> Table:
        """The same table under the same ledger, asked by somebody else: keys are theirs, and `scopes` pay too.

        Nothing is charged any more once a scope named in `unless` is there: it would have to pay too.
        """
        from viameter.tables.durable import purse_for
        from viameter.tables.purse import LedgerPurse

        session = self._session("asked_by", "a token says who asks")
        if not isinstance(session.purse, LedgerPurse):
            raise ParameterError("asked_by: who asks is written into a ledger: open the table with ledger='budget.db'")
        made = purse_for(session.purse, session.source, by=person, scopes=scopes, unless=unless, deadline=deadline)
        return replace(self, backend=session.under(made))

    def replayed_for(self, person: str) -> Table:
        """The table whose questions are answered from the ledger alone, by what a person got under the same key.

        Nothing can be spent or run; KeyTaken if another question was asked under the key.
        """
        from viameter.tables.purse import LedgerPurse, ReplayPurse

        asked = self.asked_by(person)
        purse = asked.session.purse
        assert isinstance(purse, LedgerPurse)
        return replace(asked, backend=asked.session.under(ReplayPurse(purse.meter, purse.name)))

    def sub_budget(self, name: str, *, budget: Loss) -> Table:
        """The same table with a share of its budget, which is charged now as a whole, under a name."""
        from viameter.tables.parts import sub_budget

        self._session("sub_budget", "custodians set budgets, also for single people")
        return sub_budget(self, name, budget=budget)

    def partition(
        self,
        column: str,
        *,
        keys: Any,
        budgets: Loss | Mapping[Any, Loss],
        parts_per_unit: int | None = None,
        other: bool = False,
    ) -> dict[Any, Table]:
        """A table for each key, with a budget of its own; charged by how many parts a unit can be in.

        The largest budget is charged if a row comes or goes, the two largest if it turns into another, and the
        `parts_per_unit` largest if each unit is kept in so many parts at most; else the sum.
        """
        from viameter.tables.parts import partition

        self._session("partition", "custodians set budgets; group_by asks about parts")
        return partition(self, column, keys=keys, budgets=budgets, parts_per_unit=parts_per_unit, other=other)

    def dry_run(self, *, rows: int = 1000, values: Mapping[str, Any] | None = None) -> Table:
        """A table of made-up rows with the same columns, unit and budget: to write an analysis without spending.

        `values` gives what is public of a column: a list of its values, or the ends of its range as a pair.
        """
        from viameter.tables.practice import practice_table

        return practice_table(self, rows=rows, values=values)

    def answer(self, key: str, *, by: str | None = None) -> Answer | Ranked:
        """What a service released under a key before, to you or to somebody whose answers you may read.

        It is waited for if the question still runs. Nothing is spent. A table that was opened here is asked the same
        question under the same key.
        """
        find: Callable[..., Answer | Ranked] | None = getattr(self.backend, "answer", None)
        if find is None:
            raise ParameterError("answer: ask the same question under the same key, and the ledger gives it again")
        return find(key, by=by)

    def _after(self, step: Step) -> Table:
        source = replace(self.source, steps=(*self.source.steps, step))
        self.backend.schema(source)  # what makes no sense of these columns is refused here
        return replace(self, source=source)

    def _session(self, what: str, why: str) -> Session:
        if not isinstance(self.backend, Session):
            raise ParameterError(f"{what} cannot be sent to a service: {why}")
        return self.backend

    def _shown(self) -> ShownTable:
        return self.backend.shown(self.source, Question(self.source, self.limits))

    def __repr__(self) -> str:
        from viameter.tables.showing import table_text

        return table_text(self._shown())

    def _repr_html_(self) -> str:
        from viameter.tables.showing import table_html

        return table_html(self._shown())


class Tables(Mapping[str, Table]):
    """Several private tables under one budget, by name."""

    def __init__(self, session: Session, tables: Mapping[str, Table]) -> None:
        self.session = session
        self._tables = dict(tables)

    def __getitem__(self, name: str) -> Table:
        if name not in self._tables:
            raise ParameterError(f"there is no table {plain(name)}; there are {', '.join(self._tables)}")
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def spent(self) -> Loss:
        """What was spent so far, by all questions of this session."""
        return self.session.spent

    @property
    def left(self) -> Loss:
        """What is left to be spent."""
        return self.session.left

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order."""
        return self.session.history

    @property
    def ledger(self) -> Ledger | None:
        """The ledger that keeps what is spent, if the table was opened with one."""
        return self.session.ledger

    def sql(self, text: str, *, tables: Mapping[str, Any] | None = None) -> SqlQuery:
        """A question in SQL of these tables, joined on the unit; `tables` has public ones by name."""
        from viameter.tables.sql.asking import query_of

        return query_of(text, self, public=tables)

    def check_keys(self) -> dict[str, int]:
        """How many values of each key that tables refer to name more than one row: for the custodian's eyes.

        What is hidden of an entity rests on keys that name one row. This reads all rows, and is not private.
        """
        from viameter.tables.opening import ambiguous_keys

        return ambiguous_keys(self.session)

    def __repr__(self) -> str:
        least = binding(self.session.budgets)
        return f"<tables {', '.join(self)}: spent {least.spent!r}, left {least.left!r}>"


def _formula(given: Any, where: str) -> Formula:
    if isinstance(given, Expression):
        given.require_moderate(where)
    elif not isinstance(given, str):
        raise ParameterError(f'{where} takes an expression such as table["age"] > 40, not {plain(given)}')
    return Formula.of(given)


def _opened(backend: Backend) -> object:
    """What tables have in common that were opened together."""
    return backend.source if isinstance(backend, Session) else backend
