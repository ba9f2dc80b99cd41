"""Contributions: from rows on an engine to the integers of a statistic, as a Transformation with its stability."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.core import Space, Transformation, by
from viameter.errors import NoTheorem, ParameterError
from viameter.spaces import L1Distance, L2Distance, LInfDistance, NormDistance, vectors
from viameter.tables.bounding import Limits
from viameter.tables.collecting import Collecting
from viameter.tables.expressions import Kind, Schema
from viameter.tables.keys import Keys
from viameter.tables.relation import Relation
from viameter.tables.statistics import Statistic, Total
from viameter.tables.theorems import contributions_of_added_units, contributions_of_replaced_units
from viameter.tables.units import Unit

NORMS: dict[type[NormDistance], str] = {L1Distance: "L1", L2Distance: "L2", LInfDistance: "Linf"}


def limits_of(
    relation: Relation, asked: Limits, *, statistics: Sequence[Statistic] = (Total(),), groups: int | None = None
) -> Limits:
    """What is kept of a unit: what the table allows, tightened by what a question asks; or what a unit has anyway.

    It must limit what a unit adds to each of the statistics; units that are counted count once in each of the groups.
    """
    unit = relation.unit
    require_order(relation.schema, unit.limits.tightened(asked))
    if unit.rows_without_limit is not None:
        return Limits(rows=unit.rows_without_limit * relation.fanout)
    limits = unit.limits.tightened(asked)
    require_enough(unit, limits, statistics, groups)
    return limits


def require_enough(unit: Unit, limits: Limits, statistics: Sequence[Statistic], groups: int | None) -> None:
    """Refuse limits that leave open what a unit adds to one of the statistics."""
    if not all(one.limits(limits).tightened(Limits(groups=groups)).is_enough for one in statistics):
        raise NoTheorem(
            f"nothing limits how many rows of a {unit.name} count, so that no noise would hide one: "
            f"keep so many, as in .limit(rows=20), or open the table with unit=per({unit.name!r}, rows=20)"
        )


def require_limits(unit: Unit, asked: Limits) -> None:
    """Refuse limits that a unit does not have, or that let more count than the table allows."""
    if not asked.given:
        return
    require_rows_of_units(unit)
    allowed = unit.limits
    for name in ("rows", "groups", "per_group"):
        most, wanted = getattr(allowed, name), getattr(asked, name)
        if most is not None and wanted is not None and wanted > most:
            raise ParameterError(f"limit: {name}={wanted} is more than the table allows, {name}={most}")


def require_rows_of_units(unit: Unit) -> None:
    """Refuse to limit the rows of what is one row itself."""
    if unit.rows_without_limit is not None:
        raise ParameterError(f"limit: {unit!r} hides single rows, and has no others to leave out")


def require_order(schema: Schema, limits: Limits) -> None:
    """Refuse to keep rows by a column that is not there, or whose order depends on the settings of an engine."""
    column = limits.first_by
    if column is not None and schema.require(column).kind is Kind.TEXT:
        raise ParameterError(
            f"keep={limits.keep!r}: {column!r} is TEXT, which engines order by their settings; expected a column of "
            "numbers, dates, times or truth values: derive one first"
        )


def contributing(
    relation: Relation, statistic: Statistic, collecting: Collecting, norm: NormDistance
) -> Transformation:
    """The integers of one statistic, by group, from rows; its stability is what a unit contributes at most."""
    # Rows without names are counted one by one, also where units are asked for: a unit may be several of them.
    named = relation.unit.rows_without_limit is None
    keys, limits = collecting.keys, statistic.limits(collecting.limits) if named else collecting.limits
    lower, upper = statistic.ends
    size = keys.size * statistic.cells
    # Where rows are replaced, few coordinates bound what changes in all of them; where units come or go, rows do.
    stability, few = (
        (contributions_of_replaced_units, {"cells": size})
        if relation.unit.replaces
        else (contributions_of_added_units, {})
    )
    step = Transformation(
        input_space=relation.space,
        output_space=Space(vectors(int, size=size), norm),
        function=lambda rows: collecting(rows, [statistic])[0],
        bound=by(
            stability,
            lower=Fraction(lower),
            upper=Fraction(upper),
            rows=_number(limits.rows),
            groups=min(_number(limits.groups), Fraction(keys.size)),
            per_group=_number(limits.per_group),
            norm=NORMS[type(norm)],
            **few,
        ),
        made_by=f"contributions({statistic!r}{_by(keys)}; {_kept(relation, limits)})",
    )
    made: Transformation = step
    for earlier in reversed(relation.steps):
        made = earlier >> made
    return made


def _number(limit: int | None) -> Extended:
    return INFINITY if limit is None else Fraction(limit)


def _by(keys: Keys) -> str:
    return f" by {', '.join(keys.columns)}" if keys.columns else ""


def _kept(relation: Relation, limits: Limits) -> str:
    unit: Any = relation.unit
    parts = [
        f"{limits.rows} rows" if limits.rows is not None else "",
        f"{limits.groups} groups" if limits.groups is not None else "",
        f"{limits.per_group} in each" if limits.per_group is not None else "",
        limits.keep if limits.first_by is not None else "",
    ]
    return f"of a {unit.name} at most {', '.join(part for part in parts if part)}"
