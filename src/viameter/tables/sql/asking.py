"""SqlQuery: a question in SQL that is ready to be asked of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from viameter.arith import Number
from viameter.core import Loss, Measure
from viameter.errors import NoTheorem, ParameterError
from viameter.measures import ApproxDP, ApproxZCDP, approx, approx_zcdp
from viameter.tables.answer import Answer
from viameter.tables.preview import Preview
from viameter.tables.question import Found
from viameter.tables.sql.clause import Options
from viameter.tables.sql.reading import read_sql
from viameter.tables.sql.shaping import SqlAnswer, SqlQuestion

if TYPE_CHECKING:
    from viameter.tables.table import Query, Table


@dataclass(frozen=True, slots=True, repr=False)
class SqlQuery:
    """A question in SQL of a table. It is public: it says nothing of the rows."""

    asked: SqlQuestion
    query: Query[Answer]

    def preview(
        self,
        *,
        spend: Loss | None = None,
        within: Mapping[str, Number] | None = None,
        alpha: Number | None = None,
        weights: Mapping[str, Number] | None = None,
        selection_share: Number | None = None,
    ) -> Preview:
        """What it would cost, and how wide intervals would be; `spend` is what OPTIONS say, if they say it."""
        return self.query.preview(
            spend=self._spend(spend, within),
            within=within,
            alpha=alpha,
            weights=weights,
            selection_share=selection_share,
        )

    def release(
        self,
        *,
        spend: Loss | None = None,
        within: Mapping[str, Number] | None = None,
        alpha: Number | None = None,
        weights: Mapping[str, Number] | None = None,
        selection_share: Number | None = None,
        key: str | None = None,
    ) -> SqlAnswer:
        """Spend, run, and show what the SELECT asks for; `spend` is what OPTIONS say, if they say it."""
        answer = self.query.release(
            spend=self._spend(spend, within),
            within=within,
            alpha=alpha,
            weights=weights,
            selection_share=selection_share,
            key=key,
        )
        return self.asked.shape(answer)

    def _spend(self, spend: Loss | None, within: Any) -> Loss | None:
        written = self.asked.loss
        if written is not None and (spend is not None or within is not None):
            raise ParameterError(
                f"the OPTIONS of the question say what it may cost, {written!r}: leave spend and within out"
            )
        if written is None and spend is None and within is None:
            raise ParameterError(
                "give spend=... (a loss), or write OPTIONS(epsilon = 1, delta = 1e-6) or OPTIONS(rho = 0.1)"
            )
        return spend if written is None else _with_delta(written, self.asked.options, self.query.table.budget.measure)

    def __repr__(self) -> str:
        return repr(self.query)


def _with_delta(loss: Loss, options: Options, measure: Measure) -> Loss:
    """What OPTIONS say, with a delta of 0 where they name none and the budget is of losses that have one."""
    if options.delta is None and options.epsilon is not None and measure == ApproxDP:
        return approx(options.epsilon, 0)
    if options.delta is None and options.rho is not None and measure == ApproxZCDP:
        return approx_zcdp(options.rho, 0)
    return loss


def query_of(
    text: str, tables: Mapping[str, Table], *, only: Table | None = None, public: Mapping[str, Any] | None = None
) -> SqlQuery:
    """The question of a text, of one table, whatever FROM calls it, or of several that were opened together."""
    first = only if only is not None else next(iter(tables.values()))
    schema = only.schema if only is not None else {name: one.schema for name, one in tables.items()}
    asked = read_sql(text, schema, tables=public, unit=first.unit)
    table = only if only is not None else tables[asked.question.source.table]
    try:
        return SqlQuery(asked, table.query(asked.question))
    except NoTheorem:
        if not isinstance(asked.question.groups, Found):
            raise
        named = ", ".join(asked.question.groups.columns)
        raise NoTheorem(
            f"GROUP BY {named}: groups that nobody listed are shown at the cost of a delta, which a budget in "
            f"{table.budget.measure!r} does not have: list them, OPTIONS(groups = ['A', 'B']), or ask under a budget "
            "such as vm.approx(1, '1e-6')"
        ) from None
