"""How questions that are asked together are counted: over the touch patterns of a unit, or by the sum; and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from viameter import neighborhood as nb
from viameter.core import Transformation, by
from viameter.measures import pure
from viameter.tables.database import Database
from viameter.tables.expressions import Expression, Kind
from viameter.tables.overlapping import compares_text, touch_patterns
from viameter.tables.relation import Keep, Relation
from viameter.tables.rows import Rows
from viameter.tables.theorems import units_one_by_one
from viameter.tables.units import Unit

MOST_TOUCHES = 10**6
"""How large all touch patterns together may be for the worst of them to be looked for."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How relations are counted together."""

    why: str
    most: int
    """How many of them a change of one unit can reach."""
    cut: nb.Cut | None = None
    """The cut by which that was found; None if all are taken to be reached."""
    by_text: bool = False
    """Whether it was found from texts that differ, so that no engine may take them for the same."""


def count_together(relations: Sequence[Relation], unit: Unit) -> Counted:
    """How questions of these relations are counted, which have one source; for units that are not rows, by the sum."""
    size = len(relations)
    if unit.rows_without_limit != 1:
        return Counted(f"the sum: the rows of one {unit.name} may be part of every question", size)
    if any(relation.fanout != 1 for relation in relations):
        return Counted("the sum: a join gives several rows for one, which may be part of every question", size)
    filters = filters_of(relations)
    patterns = touch_patterns(filters)
    if patterns is None or sum(map(len, patterns)) > MOST_TOUCHES:
        return Counted("the sum: there are too many combinations of conditions to try", size)
    cut = nb.memberships(dict(enumerate(patterns)), parts=size, plural=True)
    leaves: list[nb.Leaf] = [nb.leaf(part, pure(1), mode="common") for part in cut]
    worst: Any = nb.compose(unit.granularity, leaves).loss
    if worst.epsilon >= size:
        return Counted(f"the sum: a change of one {unit.name} may reach every question", size)
    by_text = any(compares_text(predicate) for predicates in filters for predicate in predicates)
    most = max(int(worst.epsilon), 1)
    return Counted(f"the worst of {len(patterns)} touch patterns: {most} of {size} questions", most, cut, by_text)


def filters_of(relations: Sequence[Relation]) -> list[list[Expression]]:
    """For each relation, predicates that its rows satisfy, of columns that mean the same in all of them."""
    chains = [relation.steps for relation in relations]
    shared = 0
    while all(len(chain) > shared and chain[shared] is chains[0][shared] for chain in chains):
        shared += 1
    # Steps that all share may make columns; what was asked of columns before them is not looked at.
    start = max((place + 1 for place in range(shared) if predicate_of(chains[0][place]) is None), default=0)
    return [_leading_filters(chain[start:]) for chain in chains]


def _leading_filters(steps: Sequence[Transformation]) -> list[Expression]:
    found = []
    for step in steps:
        predicate = predicate_of(step)
        # Another step may make columns of its own: conditions after it are left out, as if they always held.
        if predicate is None:
            break
        found.append(predicate)
    return found


def predicate_of(step: Transformation) -> Expression | None:
    """The predicate by which a step of a relation filters rows; None if it does anything else."""
    return step.function.predicate if isinstance(step.function, Keep) else None


def as_written(relation: Relation) -> Transformation:
    """What was opened, with texts that are the same only if every character is, whatever an engine collates."""
    space = relation.source_space

    def change(source: Rows | Database) -> Rows | Database:
        if isinstance(source, Database):
            return Database({name: _texts_as_written(rows) for name, rows in source.items()})
        return _texts_as_written(source)

    return Transformation(
        input_space=space,
        output_space=space,
        function=change,
        bound=by(units_one_by_one),
        made_by="texts as they are written",
    )


def _texts_as_written(rows: Rows) -> Rows:
    texts = [name for name, found in rows.schema.items() if found.kind is Kind.TEXT]
    if not texts:
        return rows
    return rows.with_expression(
        lambda table: table.mutate(**{name: rows.on.engine.comparable(table[name], name=name) for name in texts})
    )
