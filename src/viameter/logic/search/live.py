"""Which variables matter at the head of each loop."""

from __future__ import annotations

from viameter.logic.exact.liveness import live_at_head, live_before_statement
from viameter.logic.lang.core import Block, If, While

Names = frozenset[str]


def heads_of(block: Block, after: Names) -> dict[int, Names]:
    """For each loop, by line: the variables whose values at its head may still be read."""
    found: dict[int, Names] = {}
    for statement in reversed(block.statements):
        if isinstance(statement, If):
            found.update(heads_of(statement.then, after))
            found.update(heads_of(statement.orelse, after))
        elif isinstance(statement, While):
            found[statement.at] = live_at_head(statement, after)
            found.update(heads_of(statement.body, found[statement.at]))
        after = live_before_statement(statement, after)
    return found
