"""Starting values: which variables a program may read before it has assigned them."""

from __future__ import annotations

from viameter.logic.lang.core import Assign, Block, If, Sample, While, terms_of
from viameter.logic.lang.terms import FALSE, ZERO, Var, variables


def unassigned(body: Block, inputs: frozenset[str]) -> tuple[Var, ...]:
    """The variables that may be read before they are assigned, in the order of the text; lists are not read."""
    found: dict[str, Var] = {}

    def walk(block: Block, known: frozenset[str]) -> frozenset[str]:
        for statement in block:
            for term in terms_of(statement):
                for var in sorted(variables(term), key=str):
                    if var.name not in known:
                        found.setdefault(var.name, var)
            match statement:
                case Assign(target=target) | Sample(target=target):
                    known |= {target.name}
                case If(then=then, orelse=orelse):
                    known |= walk(then, known) & walk(orelse, known)
                case While(body=inner):
                    walk(inner, known)
        return known

    walk(body, inputs)
    return tuple(found.values())


def started(body: Block, inputs: frozenset[str], line: int) -> Block:
    """The body with such variables set to their starting values first, as the printed form needs it."""
    starts = [Assign(var, FALSE if var.sort == "bool" else ZERO, line) for var in unassigned(body, inputs)]
    return Block((*starts, *body.statements))
