"""Slots: that a program whose rows are added or removed does nothing where a slot of its list is not taken.

A proof about rows is about lists of slots, marked in `q.in` as taken or not; a list of rows is run with all of them
taken. That it speaks of lists of different length follows if slots that are not taken change nothing: the list is used
in loops `while s < len(q.in) and ... do if q.in[s] == 1 then ... end; s := s + 1 end` alone, with `q[s]` inside of the
branch; `s` starts at 0 and is used for nothing else.
"""

from __future__ import annotations

from viameter_check.programs.syntax import (
    Assign,
    Block,
    Choose,
    If,
    Program,
    Sample,
    Statement,
    While,
    blocks_in,
    statements_in,
    terms_in,
    written_by,
)
from viameter_check.programs.terms import Term, length, make, number, variable
from viameter_check.programs.walking import parts
from viameter_check.programs.words import MARKS
from viameter_check.report import Refused


def require_rows_only(program: Program, name: str) -> None:
    """Refuse a program that may tell how many slots a list has, or which of them are taken."""
    loops = [statement for statement in statements_in(program.body) if isinstance(statement, While)]
    counters = {counter for loop in loops if (counter := _counter(loop, name))}
    if program.output in counters:
        raise Refused(f"the program returns {program.output}, which counts slots of {name}")
    _block(program.body, name, counters, frozenset())


def _counter(loop: While, name: str) -> str:
    """`s` of a loop whose test is s < len(q.in), among others."""
    for test in _conjuncts(loop.test):
        if test.op == "<" and test.args[0].op == "name" and test.args[1] is length(name + MARKS):
            return test.args[0].name
    return ""


def _conjuncts(test: Term) -> tuple[Term, ...]:
    return test.args if test.op == "and" else (test,)


def _block(block: Block, name: str, counters: set[str], taken: frozenset[str]) -> None:
    for statement in block:
        counter = _counter(statement, name) if isinstance(statement, While) else ""
        if counter and isinstance(statement, While):
            _loop(statement, name, counter, counters, taken)
            continue
        target = written_by(statement)
        starts = isinstance(statement, Assign) and statement.value is number(0) and target not in taken
        if (target in counters and not starts) or not _reads_rows(statement, name, counters, taken):
            raise _refused(statement, name)
        for inner in blocks_in(statement):
            _block(inner, name, counters, taken)


def _loop(loop: While, name: str, counter: str, counters: set[str], taken: frozenset[str]) -> None:
    at = variable(counter)
    marked = make("==", make("read", variable(name + MARKS, "list"), at), number(1))
    others = [test for test in _conjuncts(loop.test) if test is not make("<", at, length(name + MARKS))]
    if len(loop.body) != 2 or counter in taken or not all(_is_clean(test, name, counters, taken) for test in others):
        raise _refused(loop, name)
    branch, step = loop.body
    if not isinstance(branch, If) or branch.test is not marked or branch.orelse:
        raise _refused(loop, name)
    if not isinstance(step, Assign) or (step.target, step.value) != (counter, make("+", at, number(1))):
        raise _refused(loop, name)
    _block(branch.then, name, counters, taken | {counter})


def _reads_rows(statement: Statement, name: str, counters: set[str], taken: frozenset[str]) -> bool:
    law = statement.law if isinstance(statement, Sample) else None
    if isinstance(law, Choose) and law.scores in (name, name + MARKS):
        return False
    return all(_is_clean(term, name, counters, taken) for term in terms_in(statement))


def _is_clean(term: Term, name: str, counters: set[str], taken: frozenset[str]) -> bool:
    """Whether the list is read at counters of taken slots alone, its length is not, and counters are not otherwise."""
    rows = {part for part in parts([term]) if part.op == "read" and part.args[0].name == name}
    if any(part.args[1].op != "name" or part.args[1].name not in taken for part in rows):
        return False
    # A counter, or the list, that stands outside of such a read.
    waiting = [term]
    while waiting:
        part = waiting.pop()
        if part in rows:
            continue
        if part.op == "name" and part.name in {name, name + MARKS, *counters}:
            return False
        waiting.extend(part.args)
    return True


def _refused(statement: Statement, name: str) -> Refused:
    return Refused(
        f"line {statement.line}: the program uses {name} otherwise than row by row, and its proof is about slots"
    )
