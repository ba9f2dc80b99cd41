"""Table: a private table under a budget, as people see it: columns, filters, joins, groups; never a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from viameter.arith import Number
from viameter.core import Loss
from viameter.errors import ParameterError, plain
from viameter.ledger import Ledger
from viameter.tables.bounding import Limits
from viameter.tables.budget import Charged, Session
from viameter.tables.collecting import fresh_salt
from viameter.tables.contributing import require_order
from viameter.tables.expressions import Expression, Schema
from viameter.tables.keys import Keys, read_keys
from viameter.tables.preview import Standing, binding
from viameter.tables.public_tables import PublicTable
from viameter.tables.relation import LONGEST_NAME, Relation
from viameter.tables.units import Unit

if TYPE_CHECKING:
    from viameter.tables.finding_bounds import FoundBounds
    from viameter.tables.rankings import HeavyHitters


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Private rows under a budget. Nothing is read before a question is released."""

    session: Session
    relation: Relation
    limits: Limits = field(default_factory=Limits)
    """What counts of a unit, where a question keeps less than the table allows."""

    @property
    def schema(self) -> Schema:
        """The columns, with their types."""
        return self.relation.schema

    @property
    def unit(self) -> Unit:
        """Whose presence answers hide."""
        return self.session.unit

    @property
    def budget(self) -> Loss:
        """What may be spent in all."""
        return self.session.budget

    @property
    def spent(self) -> Loss:
        """What was spent so far, by all questions of this session."""
        return self.session.spent

    @property
    def left(self) -> Loss:
        """What is left to be spent: of several budgets that pay, the least."""
        return self.session.left

    @property
    def budgets(self) -> tuple[Standing, ...]:
        """All budgets that pay for its questions, each with what was spent of it and is left of it."""
        return self.session.budgets

    @property
    def history(self) -> tuple[Charged, ...]:
        """What was charged, in order."""
        return self.session.history

    @property
    def ledger(self) -> Ledger | None:
        """The ledger that keeps what is spent, if the table was opened with one."""
        return self.session.ledger

    def __getitem__(self, name: str) -> Expression:
        return self.relation[name]

    def filter(self, predicate: Expression) -> Table:
        """The rows for which the predicate is true."""
        return replace(self, relation=self.relation.filter(predicate))

    def select(self, *names: str) -> Table:
        """These columns alone."""
        return replace(self, relation=self.relation.select(names))

    def derive(self, **columns: Expression) -> Table:
        """One more column for each expression."""
        return replace(self, relation=self.relation.derive(columns))

    def join(self, other: PublicTable | Table, on: str | Sequence[str] = ()) -> Table:
        """Rows joined with those of a public table (`vm.public`), or of another private table on the unit."""
        if isinstance(other, PublicTable):
            return replace(self, relation=self.relation.join_public(other, [on] if isinstance(on, str) else on))
        if isinstance(other, Table):
            return replace(self, relation=self.relation.join(other.relation, [on] if isinstance(on, str) else on))
        raise ParameterError(f"join takes vm.public(...) or another table of this session, not {plain(other)}")

    def sample(self, fraction: Number) -> Table:
        """About this fraction of units with all of their rows, chosen by a secret salt; always the same ones."""
        return replace(self, relation=self.relation.sample(fraction, salt=fresh_salt()))

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
        if self.unit.rows_without_limit is not None:
            raise ParameterError(f"limit: {self.unit!r} hides single rows, and has no others to leave out")
        asked, allowed = Limits(rows, groups, per_group, keep), self.unit.limits
        for name in ("rows", "groups", "per_group"):
            most, wanted = getattr(allowed, name), getattr(asked, name)
            if most is not None and wanted is not None and wanted > most:
                raise ParameterError(f"limit: {name}={wanted} is more than the table allows, {name}={most}")
        require_order(self.schema, asked)
        return replace(self, limits=self.limits.tightened(asked))

    def group_by(
        self,
        *columns: str,
        keys: Any = None,
        other: bool = False,
        edges: Sequence[Number] | None = None,
    ) -> Any:
        """Groups by the values of columns: public `keys`, or intervals between `edges` of a number.

        For several columns, keys are tuples, or a dict of lists whose combinations are all meant. With `other`, rows of
        keys that are not listed make one more group. Without keys, those are shown that occur often enough, which costs
        a delta.
        """
        from viameter.tables.numbers import Grouped

        if not columns:
            raise ParameterError("group_by: name at least one column")
        if edges is not None:
            return self._by_edges(columns, keys, edges, other)
        if keys is None and all(self.schema.require(name).kind.value == "BOOLEAN" for name in columns):
            keys = {name: [False, True] for name in columns}
        if keys is None:
            from viameter.tables.found_groups import selecting

            return selecting(self, columns, other=other)
        return Grouped(self, read_keys(self.schema, columns, keys, other=other))

    def agg(self, **aggregates: Any) -> Any:
        """Aggregates of all rows."""
        from viameter.tables.numbers import Grouped

        return Grouped(self, Keys((), ((),))).agg(**aggregates)

    def histogram(self, column: str, edges: Sequence[Number], *, other: bool = False) -> Any:
        """How many rows fall into each interval [e0, e1), [e1, e2), ... of a number; the last has both ends."""
        from viameter.transforms import count

        return self.group_by(column, edges=edges, other=other).agg(rows=count())

    def heavy_hitters(self, *columns: str) -> HeavyHitters:
        """Which values of columns are frequent, of which nobody has a list, and how many units have them.

        It gives a question with `preview` and `release`; it costs a delta.
        """
        from viameter.tables.rankings import HeavyHitters

        if not columns:
            raise ParameterError("heavy_hitters: name at least one column")
        return HeavyHitters(self, columns)

    def find_bounds(
        self,
        column: str | Expression,
        *,
        within: tuple[Number | float, Number | float],
        spend: Loss,
        q: tuple[Number | float, Number | float] = ("1/100", "99/100"),
    ) -> FoundBounds:
        """Bounds between which most of a column lies, looked for within a public range; a release that is charged."""
        from viameter.tables.finding_bounds import find_bounds

        return find_bounds(self, column, within=within, spend=spend, q=q)

    def asked_by(
        self, person: str, *, scopes: Sequence[str] = (), unless: Sequence[str] = (), deadline: float | None = None
    ) -> Table:
        """The same table under the same ledger, asked by somebody else: keys are theirs, and `scopes` pay too.

        Nothing is charged any more once a scope named in `unless` is there: it would have to pay too.
        """
        from viameter.tables.durable import purse_for
        from viameter.tables.purse import LedgerPurse

        purse = self.session.purse
        if not isinstance(purse, LedgerPurse):
            raise ParameterError("asked_by: who asks is written into a ledger: open the table with ledger='budget.db'")
        made = purse_for(purse, self.session.source, by=person, scopes=scopes, unless=unless, deadline=deadline)
        return replace(self, session=self.session.under(made))

    def replayed_for(self, person: str) -> Table:
        """The table whose questions are answered from the ledger alone, by what a person got under the same key.

        Nothing can be spent or run; KeyTaken if another question was asked under the key.
        """
        from viameter.tables.purse import LedgerPurse, ReplayPurse

        asked = self.asked_by(person)
        purse = asked.session.purse
        assert isinstance(purse, LedgerPurse)
        return replace(asked, session=asked.session.under(ReplayPurse(purse.meter, purse.name)))

    def sub_budget(self, name: str, *, budget: Loss) -> Table:
        """The same table with a share of its budget, which is charged now as a whole, under a name."""
        from viameter.tables.parts import sub_budget

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

        return partition(self, column, keys=keys, budgets=budgets, parts_per_unit=parts_per_unit, other=other)

    def dry_run(self, *, rows: int = 1000, values: Mapping[str, Any] | None = None) -> Table:
        """A table of made-up rows with the same columns, unit and budget: to write an analysis without spending.

        `values` gives what is public of a column: a list of its values, or the ends of its range as a pair.
        """
        from viameter.tables.practice import practice_table

        return practice_table(self, rows=rows, values=values)

    def _by_edges(self, columns: tuple[str, ...], keys: Any, edges: Sequence[Number], other: bool) -> Any:
        from viameter.tables.numbers import Grouped

        if len(columns) != 1 or keys is not None:
            raise ParameterError("group_by: edges=... cuts one column into intervals, and leaves no keys to be given")
        column = columns[0]
        ends = list(edges)
        binned = self[column].bin(ends)
        taken = {known.casefold() for known in (*self.schema, *self.schema.unusable)}
        named = itertools.chain([f"{column}_bin"], (f"bin_{number}" for number in itertools.count()))
        name = next(one for one in named if one.casefold() not in taken and len(one.encode()) <= LONGEST_NAME)
        made = replace(self, relation=self.relation.derive({name: binned}))
        found = read_keys(made.schema, [name], list(range(len(ends) - 1)), other=other)
        pairs = list(itertools.pairwise(ends))
        # The last interval has its upper end too.
        labels = tuple((f"[{left}, {right}{']' if right is ends[-1] else ')'}",) for left, right in pairs)
        return Grouped(made, found, (column,), labels)

    def __repr__(self) -> str:
        from viameter.tables.showing import table_text

        return table_text(self)

    def _repr_html_(self) -> str:
        from viameter.tables.showing import table_html

        return table_html(self)


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

    def check_keys(self) -> dict[str, int]:
        """How many values of each key that tables refer to name more than one row: for the custodian's eyes.

        What is hidden of an entity rests on keys that name one row. This reads all rows, and is not private.
        """
        from viameter.tables.opening import ambiguous_keys

        return ambiguous_keys(self.session)

    def __repr__(self) -> str:
        least = binding(self.session.budgets)
        return f"<tables {', '.join(self)}: spent {least.spent!r}, left {least.left!r}>"
