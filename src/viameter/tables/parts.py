"""Parts of a budget: a share of it under a name, and parts of a table for different people, each with its own budget.

A part's session holds the part's rows and nothing else, so that whatever is asked of it runs on those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from viameter.composition import Odometer
from viameter.composition.filters import Filter
from viameter.core import Loss, Measure, Measurement, Space, Transformation, by
from viameter.core.composability import CONCURRENT, FULLY_ADAPTIVE, require_cell
from viameter.errors import MeasureMismatch, NoTheorem, ParameterError, plain
from viameter.tables.collecting import fresh_salt
from viameter.tables.durable import Share, open_shares, purse_of
from viameter.tables.expressions import Expression, case, to_ibis, with_columns
from viameter.tables.keys import OTHER, read_keys
from viameter.tables.purse import FilterPurse, LedgerPurse, Purse
from viameter.tables.relation import Relation
from viameter.tables.rows import RESERVED, Rows
from viameter.tables.spaces import space_of
from viameter.tables.table import Table
from viameter.tables.theorems import units_one_by_one
from viameter.tables.touching import FewOfParts, most_touched, released_over

NOWHERE = -1
"""The place of rows that are in no part."""


def sub_budget(table: Table, name: str, *, budget: Loss) -> Table:
    """The same table with a share of its budget, which is charged now as a whole, under a name.

    Questions of the table that this gives are counted against the share alone; what is left of it does not come back.

    >>> import viameter as vm
    >>> rows = vm.open({"x": [3, 1, 4]}, unit=vm.per_row(), budget=vm.zcdp(1))
    >>> for_maps = sub_budget(rows, "maps", budget=vm.zcdp("1/4"))
    >>> rows.left, for_maps.left
    (zcdp(3/4), zcdp(1/4))
    >>> rows.history
    (Charged(question="sub-budget 'maps'", loss=zcdp(1/4), outcome=None),)
    """
    if not isinstance(name, str) or not name:
        raise ParameterError(f"sub_budget: name={plain(name)} is no name: expected text")
    session = table.session
    _require_concurrent(session.measure, "sub_budget")
    share = _read_budget(budget, session.measure, "sub_budget: budget")
    what = f"sub-budget {name!r}"
    purse = session.purse
    if isinstance(purse, LedgerPurse):
        asked = Share(f"{purse.name}/{name}", share)
        # As the filter that it is: for whatever distance those who pay are stated for, or not at all.
        costs = purse.meter.costs(_filter(session.space, share))
        open_shares(purse, [asked], costs, what=what, settled={"share": name})
        return replace(table, backend=session.under(purse_of(purse, asked.name, session.space, session.source)))
    meter = session.charge(replace(_filter(session.space, share), made_by=what))
    return replace(table, backend=session.under(FilterPurse(meter)))


def partition(
    table: Table,
    column: str,
    *,
    keys: Any,
    budgets: Loss | Mapping[Any, Loss],
    parts_per_unit: int | None = None,
    other: bool = False,
) -> dict[Any, Table]:
    """A table for each key, of the rows that have it in a column, with a budget of its own.

    All budgets are charged at once, and not their sum if a unit cannot be in all parts: the largest if a row comes or
    goes, the two largest if it turns into another, the `parts_per_unit` largest if each unit is kept in so many parts
    at most (which ones is drawn now, and stays). `budgets` is one loss for every key, or a loss for each. With `other`,
    rows of keys that are not listed are one more part, "(other)".

    >>> import viameter as vm
    >>> rows = vm.open({"ward": ["A", "A", "B"]}, unit=vm.per_row(), budget=vm.pure(1))
    >>> wards = partition(rows, "ward", keys=["A", "B"], budgets={"A": vm.pure("1/2"), "B": vm.pure("1/4")})
    >>> rows.spent, wards["A"].left, wards["B"].left
    (pure(1/2), pure(1/2), pure(1/4))
    >>> number = wards["B"].agg(n=vm.count()).release(spend=vm.pure("1/5"))
    >>> rows.spent, wards["A"].left, wards["B"].left
    (pure(1/2), pure(1/2), pure(1/20))
    """
    session, relation, unit = table.session, table.relation, table.session.unit
    _require_concurrent(session.measure, "partition")
    found = read_keys(relation.schema, [column], keys, other=other)
    values = [group[0] for group in found.groups]
    if other and OTHER in values:
        raise ParameterError(f"partition: {OTHER!r} is how the part of other keys is called; leave it out of keys")
    labels = [*values, *([OTHER] if other else [])]
    losses = _read_budgets(budgets, labels, session.measure)
    _check_parts_per_unit(parts_per_unit, relation)
    place = _place(relation[column], values, other=other)

    purse = session.purse
    # What another process is to draw again must not depend on the engine, or on its version.
    order = "portable" if isinstance(purse, LedgerPurse) else session.order

    def parts_by(salt: str) -> list[Relation]:
        few = parts_per_unit
        kept = relation if few is None else _in_few_parts(relation, place, few, order, salt)
        return [kept.filter(place == number) for number in range(len(labels))]

    salt = fresh_salt()
    parts = parts_by(salt)
    cut = FewOfParts(
        tuple(f"{column} = {label!r}" for label in labels),
        most_touched(session.unit, fanout=relation.fanout, parts_per_unit=parts_per_unit, size=len(labels)),
    )
    members = [_filtered(part, loss) for part, loss in zip(parts, losses, strict=True)]
    whole = released_over(
        cut,
        members,
        unit=session.unit,
        space=session.space,
        measure=session.measure,
        made_by=f"partition by {column} into {len(labels)} parts",
    )
    if isinstance(purse, LedgerPurse):
        names = _names(column, labels)
        shares = [Share(f"{purse.name}/{name}", loss) for name, loss in zip(names, losses, strict=True)]
        # Whatever decides which rows, and which units, are in which part.
        settled = {
            "partition": column,
            "parts": sorted(map(repr, labels)),
            "of": repr((relation.source_space, relation.steps)),
            "unit": repr(session.unit),
            "few": parts_per_unit,
        }
        costs = purse.meter.costs(whole)
        made_with = open_shares(purse, shares, costs, what=whole.made_by, settled={**settled, "salt": salt})
        # Which parts a unit is kept in was drawn when they were made, and is the same for all who ask of them.
        parts = parts_by(made_with["salt"])
    else:
        meters = session.charge(whole)
    made = {}
    for number, (label, part) in enumerate(zip(labels, parts, strict=True)):
        rows = part.rows()
        space = space_of(rows.schema, session.unit)
        # On the part's own rows, and none on all of them: nothing that is asked of one sees other parts.
        own: Purse = (
            purse_of(purse, shares[number].name, space, rows)
            if isinstance(purse, LedgerPurse)
            else FilterPurse(meters[number])
        )
        relations, samples = {"": Relation(rows, unit, (), relation.fanout)}, table.source.samples
        below = session.under(own, source=rows, space=space, relations=relations, samples=samples)
        made[label] = Table(below, limits=table.limits)
    return made


def _names(column: str, labels: list[Any]) -> list[str]:
    """What parts are called in a ledger: by their values, told apart by type where that is needed."""
    plainly = [f"{column}={label}" for label in labels]
    return plainly if len(set(plainly)) == len(plainly) else [f"{column}={label!r}" for label in labels]


def _filter(space: Space, budget: Loss) -> Filter:
    return Odometer(space, budget.measure).filter(d_in=1, budget=budget)


def _filtered(part: Relation, budget: Loss) -> Measurement:
    """From what was opened to a meter on the rows of a part."""
    way: Transformation = reduce(lambda first, second: first >> second, part.steps)
    return way >> _filter(part.space, budget)


def _place(column: Expression, values: list[Any], *, other: bool) -> Expression:
    """The number of the part that a row is in: the first key that an engine takes its value for, so that it is one."""
    arms = [(column.is_null() if value is None else column == value, number) for number, value in enumerate(values)]
    return case(*arms, default=len(values) if other else NOWHERE)


def _in_few_parts(relation: Relation, place: Expression, most: int, order: str, salt: str) -> Relation:
    """The rows of each unit that are in the first so many of its parts, by a digest of unit and part."""

    def keep(rows: Rows) -> Rows:
        return rows.with_expression(lambda table: _kept(table, rows, place, most, order, salt))

    step = Transformation(
        input_space=relation.space,
        output_space=relation.space,
        function=keep,
        bound=by(units_one_by_one),
        made_by=f"each unit in {most} of the parts",
    )
    return replace(relation, steps=(*relation.steps, step))


def _kept(table: Any, rows: Rows, place: Expression, most: int, order: str, salt: str) -> Any:
    import ibis

    assert rows.unit is not None
    who, where, digest, rank = (f"{RESERVED}{name}" for name in ("who", "where", "digest", "rank"))
    # Units are told apart as they are elsewhere: an engine that took two for one would let each decide on the other.
    unit = rows.on.engine.comparable(table[rows.unit], name=rows.unit)
    placed = with_columns(table, {who: unit, where: to_ibis(place, table)})
    placed = placed.filter(placed[where] != NOWHERE)
    ordered = placed.mutate(**{digest: rows.on.engine.digest(order, [placed[who], placed[where]], salt)})
    window = ibis.window(group_by=who, order_by=[digest, where])
    ranked = ordered.mutate(**{rank: ibis.dense_rank().over(window)})
    return ranked.filter(ranked[rank] < most).select(*table.columns)


def _require_concurrent(measure: Measure, name: str) -> None:
    _, cell = require_cell(measure, FULLY_ADAPTIVE)
    if cell.composability is not CONCURRENT:
        raise NoTheorem(
            f"{name}: budgets that are used side by side need a measure in which answers may be interleaved, and of "
            f"{measure!r} that is not proved; open the table with a budget such as zcdp('1/2') or approx(1, '1e-6')"
        )


def _read_budget(given: Any, measure: Measure, name: str) -> Loss:
    if not isinstance(given, Loss):
        raise ParameterError(f"{name}={plain(given)} is not a loss: expected one in {measure!r}")
    if given.measure != measure:
        raise MeasureMismatch("the table's budget", measure, name, given.measure, f"give a loss in {measure!r}")
    if not given.is_finite or given <= measure.zero:
        raise ParameterError(f"{name}={plain(given)}: expected a finite loss above 0")
    return given


def _read_budgets(given: Any, labels: list[Any], measure: Measure) -> list[Loss]:
    if not isinstance(given, Mapping):
        return [_read_budget(given, measure, "partition: budgets")] * len(labels)
    unknown = [label for label in given if label not in labels]
    missing = [label for label in labels if label not in given]
    if unknown or missing:
        raise ParameterError(
            f"partition: budgets are needed for just the parts: {plain(unknown[0])} is none of them"
            if unknown
            else f"partition: budgets has no loss for the part {plain(missing[0])}"
        )
    return [_read_budget(given[label], measure, f"partition: budgets[{label!r}]") for label in labels]


def _check_parts_per_unit(given: Any, relation: Relation) -> None:
    if given is None:
        return
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ParameterError(f"partition: parts_per_unit={plain(given)} is not a number of parts: expected a whole one")
    if relation.unit.rows_without_limit is not None:
        raise ParameterError(
            f"partition: {relation.unit!r} hides single rows, each of which is in one part; leave parts_per_unit out"
        )
