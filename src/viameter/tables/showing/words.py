"""Sentences about costs, units and intervals; and names and values that anybody may have chosen, made safe to print."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from viameter.arith import show
from viameter.core import Loss
from viameter.measures.amounts import AmountLoss
from viameter.tables.showing.numbers import confidence, half_width

if TYPE_CHECKING:
    from viameter.tables.answer import Answer
    from viameter.tables.bounding import Limits
    from viameter.tables.expressions import Schema
    from viameter.tables.preview import Preview, PreviewRow, Standing
    from viameter.tables.relation import Relation
    from viameter.tables.session import Session
    from viameter.tables.units import Unit

MOST_ROWS = 40
"""Groups or columns that are shown; of the others it is said how many there are."""
LONGEST = 48
"""Characters of a name or a value that are shown."""
ENGINES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "pyspark": "Spark"}


@dataclass(frozen=True, slots=True)
class ShownTable:
    """What is shown of a private table, wherever its rows are."""

    where: str
    schema: Schema
    unit: tuple[str, ...]
    """Whose presence is hidden, in words."""
    counts: str
    """What counts of a unit, in words."""
    steps: tuple[str, ...]
    spent: Loss
    budget: Loss
    limits: tuple[str, ...] = ()
    """Other budgets that pay too, in words."""


def shown_session(session: Session, relation: Relation, limits: Limits) -> ShownTable:
    """What is shown of a table on an engine of this process."""
    neighbors = f"two tables are neighbors if {printable(session.unit.granularity.protects)}"
    return ShownTable(
        f"private table on {engine_name(session)}",
        relation.schema,
        (unit_words(session.unit), neighbors),
        limit_words(session.unit, limits),
        tuple(step.made_by for step in relation.steps),
        session.spent,
        session.budget,
    )


def printable(value: object) -> str:
    r"""Text in one line without anything that moves the cursor or turns the direction of writing.

    >>> printable("a\nb"), printable(None)
    ('a\\nb', 'NULL')
    """
    text = "NULL" if value is None else str(value)
    # A space of another kind than the usual one is printed as it is; surrogates and controls are not.
    kept = (
        c if c.isprintable() or unicodedata.category(c) == "Zs" else c.encode("unicode_escape").decode() for c in text
    )
    return "".join(kept)


def short(value: object) -> str:
    """The same, cut where it is long.

    >>> short("x" * 60)
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    text = printable(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def unit_words(unit: Unit) -> str:
    """One unit in words, and the granularity that this is."""
    from viameter.tables.units import Described, PerEntity, PerId

    if isinstance(unit, Described):
        return f"one unit, {printable(unit.text)}"

    name, granularity = printable(unit.name), printable(repr(unit.granularity)).removesuffix("()")
    if isinstance(unit, PerEntity):
        words = f"one row of {name} with all rows that refer to it"
    elif isinstance(unit, PerId):
        words = f"one {name} with all of its rows"
    else:
        words = f"one {name}"
    changed = ", which may turn into others" if unit.replaces and isinstance(unit, PerId) else ""
    return f"{words}{changed} ({granularity})"


def cost_words(answer: Answer) -> str:
    """What was spent, and for whom that is stated."""
    return f"{answer.loss!r} for {unit_words(answer.unit)}"


def interval_words(answer: Answer) -> list[str]:
    """How sure intervals are, and what they cover: sentences that are the same for several aggregates once."""
    together: dict[tuple[bool, str], list[str]] = {}
    for name, estimate in answer.estimates.items():
        if name in answer.covers:
            together.setdefault((estimate.has_intervals, answer.covers[name]), []).append(name)
    covers = (
        f"intervals of {_listed(names)} cover {printable(what)}" if has_intervals
        else f"{_listed(names)} without an interval: known is {printable(what)}"
        for (has_intervals, what), names in together.items()
    )  # fmt: skip
    return [f"confidence {confidence(answer.alpha)}, of each interval by itself", *covers]


def width_words(row: PreviewRow) -> str:
    """How far a number may be from the truth, by what that depends on."""
    return ", ".join(f"± {half_width(width)}{printable(when)}" for when, width in row.widths.items())


def kept_words(preview: Preview) -> str:
    """What counts of a unit."""
    kept = printable(preview.kept)
    return f"of one {printable(preview.unit.name)}, {f'at most {kept}' if kept else 'everything'}"


def fit_words(preview: Preview) -> str:
    """Whether it fits into what is left; how much is left then, or by how much it is over."""
    if preview.fits:
        return f"yes: {preview.left.left_after(preview.loss)!r} would be left"
    beyond = over(preview.loss, preview.left)
    return "no" if beyond is None else f"no: {beyond!r} over what is left"


def budget_words(budgets: Sequence[Standing], binds: Standing) -> list[str]:
    """The budgets that pay, one in a line: three numbers of one budget, and which of several limits.

    >>> import viameter as vm
    >>> from viameter.tables.preview import Standing
    >>> whole = Standing("visits", vm.pure(1), vm.pure("1/2"), vm.pure("1/2"))
    >>> own = Standing("visits@ann", vm.pure("1/4"), vm.pure(0), vm.pure("1/4"))
    >>> for line in budget_words([whole, own], own):
    ...     print(line)
    visits: pure(1/2) spent of pure(1), pure(1/2) left
    visits@ann: pure(0) spent of pure(1/4), pure(1/4) left; this one limits
    >>> budget_words([Standing("", vm.pure(1), vm.pure(0), vm.pure(1))], whole)
    ['pure(0) spent of pure(1), pure(1) left']
    """
    several = len(budgets) > 1
    return [
        f"{f'{printable(one.name)}: ' if several else ''}{one.spent!r} spent of {one.budget!r}, {one.left!r} left"
        f"{'; this one limits' if several and one == binds else ''}"
        for one in budgets
    ]


def over(asked: Loss, left: Loss) -> Loss | None:
    """By how much a loss is more than what is left, number by number; None if it is not, or they are curves."""
    if not isinstance(asked, AmountLoss) or type(left) is not type(asked):
        return None
    pairs = ((name, getattr(asked, name), getattr(left, name)) for name in asked.names)
    beyond = {name: amount if amount > have and amount == float("inf") else max(amount - have, Fraction(0))
              for name, amount, have in pairs}  # fmt: skip
    return type(asked)(**beyond) if any(beyond.values()) else None


def spent_share(spent: Loss, budget: Loss) -> Fraction | None:
    """Which part of a budget was spent, by the first of its numbers (epsilon or rho); None where that says nothing."""
    if not isinstance(spent, AmountLoss) or type(budget) is not type(spent) or not budget.is_finite:
        return None
    used, most = (Fraction(getattr(loss, loss.names[0])) for loss in (spent, budget))
    return min(used / most, Fraction(1)) if most else Fraction(1)


def spent_words(spent: Loss, budget: Loss) -> str:
    """How much of a budget was spent.

    >>> import viameter as vm
    >>> spent_words(vm.zcdp("1/100"), vm.zcdp("1/2")), spent_words(vm.approx("1/4", 0), vm.approx(1, "1/1000"))
    ('1/100 of 1/2 spent (rho, ZCDP)', '1/4 of 1 and 0 of 1/1000 spent (epsilon and delta, ApproxDP)')
    """
    if not isinstance(spent, AmountLoss) or type(budget) is not type(spent):
        return f"{spent!r} of {budget!r} spent"
    amounts = (f"{show(getattr(spent, name))} of {show(getattr(budget, name))}" for name in spent.names)
    return f"{' and '.join(amounts)} spent ({' and '.join(spent.names)}, {spent.measure!r})"


def limit_words(unit: Unit, asked: Limits) -> str:
    """What counts of a unit at most, in every question on a table."""
    limits = unit.limits.tightened(asked)
    if unit.rows_without_limit is not None:
        return "everything"
    return f"at most {limits.words}" if limits.words else "not limited yet: see .limit(rows=...)"


def engine_name(session: Session) -> str:
    """Where the rows are."""
    engine = session.engine_tables[0].engine
    return ENGINES.get(engine, printable(engine))


def _listed(names: list[str]) -> str:
    return ", ".join(map(short, names))
