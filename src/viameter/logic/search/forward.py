"""Forward symbolic execution of two runs: what must hold where, with candidates for invariants left open.

The kernel works backward from the goal; the search works forward, so that each candidate is substituted once, and so
that an error in one of the two shows up as a disagreement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from viameter.logic.deadline import tick
from viameter.logic.kernel.assertion import Clause
from viameter.logic.kernel.before import before_sample, fresh
from viameter.logic.kernel.context import Context, cost, same
from viameter.logic.kernel.derive import goal, start
from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules.loops import remembered
from viameter.logic.lang.core import Append, Assign, Block, If, Sample, Statement, While, assigned
from viameter.logic.lang.scales import Amount
from viameter.logic.lang.terms import (
    FALSE,
    ONE,
    TRUE,
    Term,
    Var,
    and_,
    eq,
    implies,
    ite,
    le,
    lt,
    not_,
    substitute,
)

State = dict[Var, Term]
Owner = tuple[int, int]
"""A candidate: the line of its loop, and its number there."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What must follow; a candidate's own goal is dropped together with the candidate."""

    term: Term
    owner: Owner | None
    what: str
    line: int


@dataclass(slots=True)
class Segment:
    """A stretch of the program without loop boundaries: hypotheses (some of them candidates) and goals."""

    hypotheses: list[tuple[Term, Owner | None]] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)


class Forward:
    """The segments of a program under a proof whose invariants are sets of candidates."""

    def __init__(
        self,
        context: Context,
        claim: Amount,
        proof: Proof,
        atoms: Mapping[int, list[Term]],
    ) -> None:
        self.context, self.proof, self.atoms = context, proof, atoms
        self.segments: list[Segment] = []
        self.loops: dict[int, Segment] = {}
        program = context.program
        segment = self._segment()
        initial: State = {}
        for entry in start(context):
            segment.hypotheses.append((entry.term, None))
        state = self._block(program.body, initial, TRUE, segment)
        for wanted in goal(context, claim, pointwise=proof.pointwise):
            self._want(segment, TRUE, state, wanted)

    def _segment(self) -> Segment:
        segment = Segment()
        self.segments.append(segment)
        return segment

    def _want(self, segment: Segment, path: Term, state: State, wanted: Clause, owner: Owner | None = None) -> None:
        tick()
        term = implies(path, substitute(wanted.term, state))
        if term != TRUE:
            segment.goals.append(Goal(term, owner, wanted.what, wanted.line))

    def _block(self, block: Block, state: State, path: Term, segment: Segment) -> State:
        for statement in block:
            state = self._statement(statement, state, path, segment)
        return state

    def _statement(self, statement: Statement, state: State, path: Term, segment: Segment) -> State:
        tick()
        context = self.context
        match statement:
            case Assign():
                return self._assign(statement, state, (1, 2))
            case Append(target, value, at):
                ghost = same(target)
                first, second = (substitute(context.run(value, side), state) for side in (1, 2))
                return {**state, ghost: and_(state.get(ghost, ghost), eq(first, second))}
            case Sample():
                return self._sample(statement, state, path, segment)
            case If(test, then, orelse, at):
                first, second = (substitute(context.run(test, side), state) for side in (1, 2))
                if at in self.proof.split:
                    return self._one_sided(statement, self._one_sided(statement, state, 1), 2)
                self._want(segment, path, {}, Clause(eq(first, second), "both runs take the same branch", at))
                one = self._block(then, dict(state), and_(path, first), segment)
                other = self._block(orelse, dict(state), and_(path, not_(first)), segment)
                return _merge(first, one, other)
            case While():
                return self._loop(statement, state, path, segment)
        return state

    def _assign(self, statement: Assign, state: State, sides: tuple[int, ...]) -> State:
        target = statement.target
        values = {
            Var(target.name, target.sort, side): substitute(self.context.run(statement.value, side), state)
            for side in sides
        }
        return {**state, **values}

    def _sample(self, statement: Sample, state: State, path: Term, segment: Segment) -> State:
        """Through the kernel's own transformer: what it does to a marker for each variable is the new state."""
        context, target = self.context, statement.target
        first, second = Var(target.name, target.sort, 1), Var(target.name, target.sort, 2)
        touched = [first, second, *(cost(base) for base in context.units)]
        markers = {var: Var(f"{var}.mark", var.sort) for var in touched}
        post = tuple(Clause(_tied(var, mark), "", -1) for var, mark in markers.items())
        new: State = dict(state)
        for entry in before_sample(context, statement, self.proof.choice(statement), post):
            term = entry.term
            if entry.line == -1:
                guard, term = _guarded(term)
                var, value = _untied(term, markers)
                new[var] = substitute(value, state)
                if guard != TRUE:
                    segment.hypotheses.append((implies(path, substitute(guard, state)), None))
            else:
                self._want(segment, path, state, entry)
        return new

    def _one_sided(self, statement: Statement, state: State, side: int) -> State:
        match statement:
            case Assign():
                return self._assign(statement, state, (side,))
            case Append(target, _, _):
                return {**state, same(target): FALSE}
            case If(test, then, orelse, _):
                taken = substitute(self.context.run(test, side), state)
                one, other = dict(state), dict(state)
                for inner in then:
                    one = self._one_sided(inner, one, side)
                for inner in orelse:
                    other = self._one_sided(inner, other, side)
                return _merge(taken, one, other)
        return state

    def _loop(self, loop: While, state: State, path: Term, segment: Segment) -> State:
        context, line = self.context, loop.at
        atoms = self.atoms.get(line, [])
        for number, atom in enumerate(atoms):
            wanted = Clause(atom, f"the invariant {atom} holds at the start", line)
            self._want(segment, path, state, wanted, (line, number))
        tests = tuple(context.run(loop.test, side) for side in (1, 2))
        head = self._segment()
        inside = self._segment()
        self.loops[line] = inside
        for number, atom in enumerate(atoms):
            head.hypotheses.append((atom, (line, number)))
            inside.hypotheses.append((atom, (line, number)))
        head.goals.append(Goal(eq(*tests), None, "both runs go round the loop together", line))
        inside.hypotheses += [(test, None) for test in tests]
        after = self._block(loop.body, {}, TRUE, inside)
        for number, atom in enumerate(atoms):
            self._want(inside, TRUE, after, Clause(atom, f"the invariant {atom} is kept", line), (line, number))
        if line in self.proof.variants:
            for test, side, held in zip(tests, (1, 2), remembered(line), strict=True):
                rank = context.run(self.proof.variants[line], side)
                inside.hypotheses.append((eq(rank, held), None))
                inside.goals.append(Goal(le(ONE, rank), None, "the loop's variant is positive", line))
                decreases = Clause(lt(rank, held), "the loop's variant decreases", line)
                self._want(inside, TRUE, {**after, held: held}, decreases)
                del test
        later = dict(state)
        # The kernel keeps nothing but the invariant over a loop, not even what the loop does not change.
        for var in self._changed(context.program.body):
            later[var] = fresh(var)
        for number, atom in enumerate(atoms):
            segment.hypotheses.append((implies(path, substitute(atom, later)), (line, number)))
        segment.hypotheses += [(implies(path, not_(substitute(test, later))), None) for test in tests]
        return later

    def _changed(self, block: Block) -> list[Var]:
        found: list[Var] = [cost(base) for base in self.context.units]
        for var in sorted(assigned(block), key=lambda v: v.name):
            if var.sort == "list":
                found.append(same(var))
            else:
                found += [Var(var.name, var.sort, side) for side in (1, 2)]
        return found


def _merge(test: Term, one: State, other: State) -> State:
    merged: State = {}
    for var in {**one, **other}:
        merged[var] = ite(test, one.get(var, var), other.get(var, var))
    return merged


def _tied(var: Var, mark: Var) -> Term:
    from viameter.logic.lang.terms import App

    return App("==", (mark, var))


def _guarded(term: Term) -> tuple[Term, Term]:
    from viameter.logic.lang.terms import App

    if isinstance(term, App) and term.op == "=>":
        return term.args[0], term.args[1]
    return TRUE, term


def _untied(term: Term, markers: Mapping[Var, Var]) -> tuple[Var, Term]:
    from viameter.logic.lang.terms import App

    if isinstance(term, App) and term.op == "==" and term.args[0] in markers.values():
        var = next(v for v, mark in markers.items() if mark == term.args[0])
        return var, term.args[1]
    raise AssertionError(term)
