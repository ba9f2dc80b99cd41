"""Which variables still matter for a program's output: states that agree on these are one state.

The noise on a query is dead once it was compared with the threshold, so that an enumeration need not keep it apart.
What is read only to compute something dead is dead too, such as a counter that nobody asks.
"""

from __future__ import annotations

from dataclasses import replace

from viameter.logic.lang.core import Append, Assign, Block, If, Sample, Statement, While, terms_of
from viameter.logic.lang.terms import variables

Names = frozenset[str]


def read_by(statement: Statement) -> Names:
    """The variables that a statement itself reads, without those of the statements in it."""
    return frozenset(var.name for term in terms_of(statement) for var in variables(term))


def live_before(block: Block, after: Names) -> Names:
    r"""The variables whose values before a block matter, when those of `after` matter after it.

    >>> from viameter.logic.lang.parsing import read_program
    >>> text = "program p\nbegin\nx := 1\ny := x + y\nx := x + 1\nend\nreturn y\n"
    >>> sorted(live_before(read_program(text.replace("y := x + y", "y := x\ny := x + y")).body, frozenset({"y"})))
    []
    """
    for statement in reversed(block.statements):
        after = live_before_statement(statement, after)
    return after


def live_before_statement(statement: Statement, after: Names) -> Names:
    """The variables whose values before a statement matter."""
    match statement:
        case Assign(target=target) | Sample(target=target):
            return (after - {target.name}) | read_by(statement) if target.name in after else after
        case Append(target=target):
            return after | read_by(statement) if target.name in after else after
        case If(then=then, orelse=orelse):
            return live_before(then, after) | live_before(orelse, after) | read_by(statement)
        case While():
            return live_at_head(statement, after)
    return after


def live_at_head(loop: While, after: Names) -> Names:
    """The variables that matter whenever a loop's test is made: the least set that a round of the loop keeps."""
    head = after | read_by(loop)
    while True:
        more = head | live_before(loop.body, head)
        if more == head:
            return head
        head = more


def without_dead(block: Block, after: Names) -> Block:
    """The block without statements whose only effect is on a dead variable."""
    kept: list[Statement] = []
    for statement in reversed(block.statements):
        match statement:
            case Assign(target=target) | Sample(target=target) | Append(target=target) if target.name not in after:
                continue
            case If(then=then, orelse=orelse):
                kept.append(replace(statement, then=without_dead(then, after), orelse=without_dead(orelse, after)))
            case While(body=body):
                kept.append(replace(statement, body=without_dead(body, live_at_head(statement, after))))
            case _:
                kept.append(statement)
        after = live_before_statement(statement, after)
    return Block(tuple(reversed(kept)))
