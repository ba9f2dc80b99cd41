"""Slots: that a program over a list of which rows may be added or removed does nothing where a slot is not taken.

A proof of such a program is about lists of slots of one length, some of which are taken. Data have no slots: a list of
rows is run with all its slots taken. So a list and the same list with a row more are run with different numbers of
slots, and the proof speaks of them only if a slot that is not taken changes nothing. That is so for programs that use
the list in loops of this form alone, where other tests of the loop, and the body, use neither `s` nor the list but for
`q[s]`:

    while s < len(q.in) and ... do
      if q.in[s] == 1 then ... end
      s := s + 1
    end

Proof. Insert a slot that is not taken. A loop over slots has one round more, in which its test has the value that it
has in the round after it, and in which nothing is done but s := s + 1. All else reads of the list only q[s] within a
round where q.in[s] == 1: the row that it is without the slot that was inserted.
"""

from __future__ import annotations

from viameter.errors import NoTheorem
from viameter.logic.front.inputs import PRESENT
from viameter.logic.lang.core import Assign, Block, If, Program, Statement, While, statements_of, terms_of
from viameter.logic.lang.terms import ONE, ZERO, App, Term, Var, add, eq, length, read


def require_slotwise(program: Program, name: str) -> None:
    """Refuse a program in which slots that are not taken may change something."""
    _Slots(program, name).check(program.body, frozenset())


class _Slots:
    def __init__(self, program: Program, name: str) -> None:
        self.program = program
        self.items, self.marks = Var(name, "list"), Var(name + PRESENT, "list")
        loops = [s for s in statements_of(program.body) if isinstance(s, While)]
        self.counters = frozenset(counter for loop in loops if (counter := self._counter(loop)) is not None)
        if program.output in {self.items, self.marks, *self.counters}:
            raise self._refused(0)

    def check(self, block: Block, taken: frozenset[Var]) -> None:
        """Look at every statement; `taken` are the counters of the loops around, at slots that are taken."""
        for statement in block:
            counter = self._counter(statement)
            if counter is not None and isinstance(statement, While):
                self._check_loop(statement, counter, taken)
                continue
            start = isinstance(statement, Assign) and statement.value == ZERO and statement.target not in taken
            target = getattr(statement, "target", None)
            if target in self.counters and not start:
                raise self._refused(statement.at)
            if not all(self._clean(term, taken) for term in terms_of(statement)):
                raise self._refused(statement.at)
            if isinstance(statement, If):
                self.check(statement.then, taken)
                self.check(statement.orelse, taken)
            elif isinstance(statement, While):
                self.check(statement.body, taken)

    def _counter(self, statement: Statement) -> Var | None:
        """s of a loop with the test s < len(q.in) and ..."""
        if not isinstance(statement, While):
            return None
        for part in _conjuncts(statement.test):
            match part:
                case App("<", (Var() as counter, bound)) if bound == length(self.marks):
                    return counter
        return None

    def _check_loop(self, loop: While, counter: Var, taken: frozenset[Var]) -> None:
        others = [part for part in _conjuncts(loop.test) if part != App("<", (counter, length(self.marks)))]
        match loop.body.statements:
            case (If(test, then, Block(statements=())), Assign(target, value)) if (
                counter not in taken
                and test == eq(read(self.marks, counter), ONE)
                and (target, value) == (counter, add(counter, ONE))
                and all(self._clean(part, taken) for part in others)
            ):
                self.check(then, taken | {counter})
            case _:
                raise self._refused(loop.at)

    def _clean(self, term: Term, taken: frozenset[Var]) -> bool:
        """Whether a term uses the list and the counters for nothing but rows in slots that are taken."""
        match term:
            case Var():
                return term not in {self.items, self.marks} | self.counters
            case App("read", (items, index)) if items == self.items:
                return index in taken
            case App(args=args):
                return all(self._clean(arg, taken) for arg in args)
        return True

    def _refused(self, line: int) -> NoTheorem:
        name = self.items.name
        where = f" at line {line}" if line else ""
        return NoTheorem(
            f"program {self.program.name}{where} uses {name} otherwise than row by row: its proof is about slots for "
            f"rows and says nothing of lists of different length; write for x in {name}, sum({name}) and len({name})"
        )


def _conjuncts(term: Term) -> tuple[Term, ...]:
    return term.args if isinstance(term, App) and term.op == "and" else (term,)
