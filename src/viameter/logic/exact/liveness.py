"""Which variables a program may still read: states that agree on these are one state.

The noise on a query is dead once it was compared with the threshold, so that an enumeration need not keep it apart.
"""

from __future__ import annotations

from viameter.logic.lang.core import Append, Assign, Block, If, Sample, Statement, While, terms_of
from viameter.logic.lang.terms import variables

Names = frozenset[str]


def read_by(statement: Statement) -> Names:
    """The variables that a statement itself reads, without those of the statements in it."""
    names = {var.name for term in terms_of(statement) for var in variables(term)}
    # What an output list holds so far is part of what it will hold.
    return frozenset(names | {statement.target.name} if isinstance(statement, Append) else names)


def live_before(block: Block, after: Names) -> Names:
    """The variables whose values before a block matter, when those of `after` matter after it.

    >>> from viameter.logic.lang.parsing import read_program
    >>> text = "program p\\nbegin\\nx := y + z\\ny := x\\nend\\nreturn y\\n".replace("y + z", "0")
    >>> sorted(live_before(read_program(text).body, frozenset({"y"})))
    []
    """
    for statement in reversed(block.statements):
        after = live_before_statement(statement, after)
    return after


def live_before_statement(statement: Statement, after: Names) -> Names:
    """The variables whose values before a statement matter."""
    match statement:
        case Assign(target=target) | Sample(target=target):
            return (after - {target.name}) | read_by(statement)
        case Append():
            return after | read_by(statement)
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
