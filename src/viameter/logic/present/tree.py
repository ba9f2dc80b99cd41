"""The proof as a tree of rules, made from the judgments of the kernel: one node for a statement."""

from __future__ import annotations

from viameter.logic.kernel.derive import goal
from viameter.logic.kernel.judgment import Judgment
from viameter.logic.lang.core import Block, If, Sample, Statement, While
from viameter.logic.lang.terms import App, show
from viameter.logic.lang.text import lines_of
from viameter.logic.present.draws import coupling
from viameter.logic.present.parts import Node, Note
from viameter.logic.search.prover import Proved

FOLDED = ("consequence", "reorder")
"""Rules that say nothing of a statement of their own: their premise stands for them."""


def tree_of(proved: Proved) -> Node:
    """The tree of one proof; its root is what the whole program ends in."""
    pointwise = proved.proof.pointwise
    ends = [entry.term for entry in goal(proved.context, proved.claim, pointwise=pointwise)]
    if pointwise:
        ends = [term.args[1] if isinstance(term, App) and term.op == "=>" else term for term in ends]
    asked = "when the first of two adjacent runs returns out.R" if pointwise else "two adjacent runs end with"
    head = f"{asked}{',' if pointwise else ''} {' and '.join(show(term) for term in ends)}"
    rule = "pointwise" if pointwise else "equality"
    return Node(head, rule, children=_nodes(proved, proved.judgment))


def steps_of(judgment: Judgment) -> list[Judgment]:
    """The judgments about single statements, in order: sequences flattened, weakenings left out."""
    found: list[Judgment] = []
    waiting = [judgment]
    while waiting:
        top = waiting.pop()
        if top.rule in FOLDED:
            waiting.append(top.premises[0])
        elif top.rule == "seq":
            waiting.extend(reversed(top.premises))
        elif top.rule != "skip":
            found.append(top)
    return found


def _nodes(proved: Proved, judgment: Judgment) -> tuple[Node, ...]:
    found: list[Node] = []
    steps = steps_of(judgment)
    place = 0
    while place < len(steps):
        apart = place + 1 < len(steps) and _is_split(steps[place], steps[place + 1])
        found.append(_split(proved, steps[place]) if apart else _node(proved, steps[place]))
        place += 2 if apart else 1
    return tuple(found)


def _is_split(first: Judgment, second: Judgment) -> bool:
    """Whether two judgments are about one conditional, which each run goes through by itself."""
    return (
        first.rule == second.rule == "cond-one"
        and first.line == second.line
        and not first.right.statements
        and not second.left.statements
    )


def _node(proved: Proved, judgment: Judgment) -> Node:
    statement = next(iter((*judgment.left, *judgment.right)), None)
    rule, line = judgment.rule, judgment.line
    match statement:
        case Sample() if "shift" in judgment.notes:
            drawn = coupling(judgment.context, statement, proved.proof.choice(statement))
            return Node(_text(statement), rule, line, (Note("", drawn),))
        case While() if rule == "while":
            held = Note("invariant", tuple(map(str, judgment.pre)) or ("none is needed",))
            falls = Note("variant", (judgment.notes["variant"],))
            return Node(_text(statement), rule, line, (held, falls), _nodes(proved, judgment.premises[0]))
        case If() if rule in ("cond", "cond-one"):
            together = (Note("", ("both runs take the same branch",)),) if rule == "cond" else ()
            return Node(_text(statement), rule, line, together, _branches(proved, judgment))
    below = tuple(node for premise in judgment.premises for node in _nodes(proved, premise))
    return Node("" if statement is None else _text(statement), rule, line, (), below)


def _split(proved: Proved, first: Judgment) -> Node:
    statement = first.left.statements[0]
    note = Note("", ("the runs may take different branches: each goes through by itself",))
    return Node(_text(statement), "cond-split", first.line, (note,), _branches(proved, first))


def _branches(proved: Proved, judgment: Judgment) -> tuple[Node, ...]:
    then, orelse = (_nodes(proved, premise) for premise in judgment.premises)
    return (
        *((Node("then", children=then),) if then else ()),
        *((Node("else", children=orelse),) if orelse else ()),
    )


def _text(statement: Statement) -> str:
    return lines_of(Block((statement,)), 0)[0]
