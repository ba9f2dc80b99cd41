"""The tree of rules: which rule is used for which line follows from the text, and the certificate must say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from viameter_check.amounts import shortened
from viameter_check.document import require_fields
from viameter_check.programs.frame import inside, read_list
from viameter_check.programs.syntax import RULE_OF, Assign, Block, If, Sample, Statement, While
from viameter_check.report import Refused


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, the line that it is used for (0 for none), and what it rests on."""

    name: str
    line: int
    premises: tuple[Rule, ...] = ()
    either: str = ""
    """Another name that the rule may go by: within a branch where the runs part, every branch is such a one."""


def tree_of(body: Block, split: frozenset[int], *, pointwise: bool) -> Rule:
    """The rules by which a program is proved."""
    return Rule("pointwise" if pointwise else "equality", 0, (_block(body, split, parted=False),))


def _block(block: Block, split: frozenset[int], *, parted: bool) -> Rule:
    rules = tuple(_statement(statement, split, parted=parted) for statement in block)
    if len(rules) == 1:
        return rules[0]
    return Rule("seq", rules[0].line, rules) if rules else Rule("skip", 0)


def _statement(statement: Statement, split: frozenset[int], *, parted: bool) -> Rule:
    if isinstance(statement, If):
        apart = parted or statement.line in split
        branches = (_block(block, split, parted=apart) for block in (statement.then, statement.orelse))
        either = "cond" if parted and statement.line not in split else ""
        return Rule("cond-split" if apart else "cond", statement.line, tuple(branches), either)
    if isinstance(statement, While):
        return Rule("while", statement.line, (_block(statement.body, split, parted=parted),))
    if isinstance(statement, Sample):
        return Rule(RULE_OF[type(statement.law)], statement.line)
    return Rule("assign" if isinstance(statement, Assign) else "append", statement.line)


def require_tree(record: Any, rule: Rule) -> None:
    """Refuse a tree that is not the one that follows from the text, at the first difference."""
    require_fields(record, ("rule", "line", "premises"))
    if record["rule"] != rule.name and (not rule.either or record["rule"] != rule.either):
        raise Refused(f"is {shortened(record['rule'])}: the text asks for {rule.name}", "rule")
    if record["line"] != rule.line or isinstance(record["line"], bool):
        raise Refused(f"is not the line of this rule: the text has {rule.line}", "line")
    premises = inside("premises", read_list, record["premises"])
    if len(premises) != len(rule.premises):
        raise Refused(f"{rule.name} has {len(rule.premises)} premises here, not {len(premises)}", "premises")
    for n, (premise, wanted) in enumerate(zip(premises, rule.premises, strict=True)):
        inside(f"premises[{n}]", require_tree, premise, wanted)


def rules_in(rule: Rule) -> set[str]:
    """The names of all rules in a tree."""
    return {rule.name}.union(*(rules_in(premise) for premise in rule.premises))
