"""Starting values: which variables a program may read before it has assigned them."""

from __future__ import annotations

from viameter.logic.lang.core import Assign, Block, If, Sample, While, terms_of
from viameter.logic.lang.terms import FALSE, ZERO, Var, variables


def unassigned(body: Block, inputs: frozenset[str], *, in_text: bool = False) -> tuple[Var, ...]:
    """The variables that may be read before they are assigned, in the order of the text; lists are not read.

    With `in_text`, those that are read before the text has assigned them anywhere, whichever way control goes.
    """
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
                    one = walk(then, known)
                    other = walk(orelse, one if in_text else known)
                    known = other if in_text else one & other
                case While(body=inner):
                    again = walk(inner, known)
                    known = again if in_text else known
        return known

    walk(body, inputs)
    return tuple(found.values())


def started(body: Block, inputs: frozenset[str], line: int) -> Block:
    """The body with variables set to their starting values where the printed form would read an unknown name."""
    unknown = unassigned(body, inputs, in_text=True)
    return Block((*(Assign(var, FALSE if var.sort == "bool" else ZERO, line) for var in unknown), *body.statements))
