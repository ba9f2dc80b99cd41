"""Counterexamples to shifts: both runs with their loops unrolled a few times, and z3 asked where they fall apart.

Random trials miss what happens for one value in many; this finds it, as inputs and draws that `Product` can replay.
It says what the product says: a pair that the product would accept is never returned. What the product does not look
at (whether a range is empty, whether scores and arguments of calls stay close) is left to the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.deadline import milliseconds as left
from viameter.logic.deadline import tick
from viameter.logic.kernel.assertion import Clause
from viameter.logic.kernel.before import Choice, fresh, times
from viameter.logic.kernel.context import RESULT, Context, charge_of, cost, same
from viameter.logic.kernel.proof import Proof
from viameter.logic.lang.core import (
    ANY,
    Append,
    Block,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    If,
    Laplace,
    Sample,
    Statement,
    Uniform,
    While,
    assigned,
    statements_of,
)
from viameter.logic.lang.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    App,
    Num,
    Term,
    Var,
    add,
    and_,
    eq,
    implies,
    ite,
    le,
    length,
    lt,
    magnitude,
    mul,
    ne,
    not_,
    or_,
    read,
    sub,
    substitute,
    variables,
)
from viameter.logic.search.choosing import shift_of
from viameter.logic.search.compiled import Environment, compiled
from viameter.logic.search.forward import Forward, Segment, State, _merge
from viameter.logic.search.product import NEARBY, Pair, Product, accepts
from viameter.logic.solving.z3bridge import Translator, instances, load

LONGEST = 4
"""Lists in counterexamples have at most this many elements."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw of the first run: on which path it is made, and the number that stands for it in a `Pair`."""

    path: Term
    raw: Term


class Unrolled(Forward):
    """Both runs with every loop gone round at most `rounds` times; longer runs are assumed away.

    Branches without noise may be taken apart, as in the product; others must agree.
    """

    def __init__(self, context: Context, bounds: Mapping[str, Term], proof: Proof, rounds: int) -> None:
        self.context, self.proof, self.atoms = context, replace(proof, split=frozenset()), {}
        self.rounds, self.draws = rounds, []  # type: int, list[Draw]
        self.segment = Segment()
        state: State = {cost(base): ZERO for base in context.units}
        for var in assigned(context.program.body):
            if var.sort == "list":
                state[same(var)] = TRUE
            else:
                state.update({Var(var.name, var.sort, side): FALSE if var.sort == "bool" else ZERO for side in (1, 2)})
        state = self._block(context.program.body, state, TRUE, self.segment)
        output = context.program.output
        first, second = (Var(output.name, output.sort, side) for side in (1, 2))
        equal = same(output) if output.sort == "list" else eq(second, RESULT if proof.pointwise else first)
        asked = eq(first, RESULT) if proof.pointwise else TRUE
        for wanted in (equal, *(le(cost(base), most) for base, most in bounds.items())):
            self._want(self.segment, TRUE, state, Clause(implies(asked, wanted)))

    def _statement(self, statement: Statement, state: State, path: Term, segment: Segment) -> State:
        if not isinstance(statement, If) or _has(statement, Sample, While):
            return super()._statement(statement, state, path, segment)
        apart = self._one_sided(statement, self._one_sided(statement, state, 1), 2)
        if not _has(statement, Append):
            return apart
        first, second = (substitute(self.context.run(statement.test, side), state) for side in (1, 2))
        one, other = (self._block(block, dict(state), path, segment) for block in (statement.then, statement.orelse))
        return _merge(eq(first, second), _merge(first, one, other), apart)

    def _loop(self, loop: While, state: State, path: Term, segment: Segment) -> State:
        return self._round(loop, state, path, segment, self.rounds)

    def _round(self, loop: While, state: State, path: Term, segment: Segment, left: int) -> State:
        first, second = (substitute(self.context.run(loop.test, side), state) for side in (1, 2))
        self._want(segment, path, {}, Clause(eq(first, second)))
        going = and_(path, first)
        if left == 0:
            segment.hypotheses.append((not_(going), None))
        if left == 0 or going == FALSE:
            return state
        # The rounds that follow see this round's own state, not a merged one: counters stay numbers.
        after = self._block(loop.body, dict(state), going, segment)
        return _merge(first, self._round(loop, after, going, segment, left - 1), state)

    def _sample(self, statement: Sample, state: State, path: Term, segment: Segment) -> State:
        context, law, target = self.context, statement.law, statement.target
        choice = self.proof.choice(statement)
        first, second = (Var(target.name, target.sort, side) for side in (1, 2))
        drawn: Term = fresh(target)
        shift = substitute(choice.shift, {**state, first: drawn})
        raw, partner = drawn, drawn
        spent: Term = ONE
        known: Term = TRUE
        match law:
            case Laplace(center=center) | Gaussian(center=center):
                one, other = (substitute(context.run(center, side), state) for side in (1, 2))
                moved = sub(add(shift, one), other)
                raw, partner = sub(drawn, one), add(drawn, shift)
                spent = magnitude(moved) if isinstance(law, Laplace) else mul(moved, moved)
            case Exponential():
                partner, spent, known = add(drawn, shift), shift, le(ZERO, drawn)
                self._want(segment, and_(path, known), {}, Clause(le(ZERO, partner)))
            case Flip():
                raw, partner, spent = ite(drawn, ZERO, ONE), ne(drawn, shift), ite(shift, ONE, ZERO)
            case Uniform():
                low, high = (substitute(context.run(end, 1), state) for end in (law.low, law.high))
                raw, known = sub(drawn, low), and_(le(low, drawn), le(drawn, high))
                turned = App("%", (add(raw, shift), add(sub(high, low), ONE)))
                partner = drawn if shift == ZERO else add(low, turned)
            case Choose(scores=scores):
                if len(choice.bounds) != 2:
                    raise ParameterError(f"line {statement.at}: choose needs bounds (low, high) on how scores change")
                many = lt(ZERO, length(scores))
                spent = sub(choice.bounds[1], choice.bounds[0])
                known = and_(le(ZERO, drawn), or_(lt(drawn, length(scores)), and_(not_(many), eq(drawn, ZERO))))
        segment.hypotheses.append((implies(path, known), None))
        if first in variables(choice.shift):
            self._injective(choice, state, path, segment, (first, drawn, shift), whole=not isinstance(law, Exponential))
        self.draws.append(Draw(path, raw))
        new = {**state, first: drawn, second: partner}
        for charge in charge_of(law, context.program):
            ghost = cost(charge.base)
            new[ghost] = add(state[ghost], times(context.units[charge.base].rate(charge), spent))
        return new

    def _injective(
        self, choice: Choice, state: State, path: Term, segment: Segment, draw: tuple[Var, Term, Term], *, whole: bool
    ) -> None:
        first, drawn, shift = draw
        for step in NEARBY:
            near = add(drawn, Num(step))
            clash = eq(add(Num(step), substitute(choice.shift, {**state, first: near})), shift)
            possible = TRUE if whole else and_(le(ZERO, drawn), le(ZERO, near))
            self._want(segment, and_(path, possible), {}, Clause(not_(clash)))


def _has(statement: If, *kinds: type) -> bool:
    return any(isinstance(inner, kinds) for inner in statements_of(Block((statement,))))


def counterexample(
    context: Context, claim_bounds: Mapping[str, Term], proof: Proof, *, rounds: int = 3, milliseconds: int = 2000
) -> Pair | None:
    """Adjacent inputs and draws for which the proof's shifts fail; None if there are none within the bounds.

    `claim_bounds` are what may be spent, in units, by base. Runs go round each loop at most `rounds` times, on lists of
    at most `LONGEST` elements. None is no proof: longer runs were not looked at, or z3 ran out of time.
    """
    if rounds < 0:
        raise ParameterError(f"rounds = {rounds}: expected how often to go round a loop, 0 or more")
    unrolled = Unrolled(context, claim_bounds, proof, rounds)
    goals = [entry.term for entry in unrolled.segment.goals]
    if not goals:
        return None
    found = _violation(context, unrolled, goals, milliseconds)
    return found if found is not None and _fails(context, claim_bounds, proof, found) else None


def _violation(context: Context, unrolled: Unrolled, goals: list[Term], milliseconds: int) -> Pair | None:
    lists = [entry.var for entry in context.program.inputs if entry.sort == "list"]
    terms = [*context.facts(), *context.positive(), *(term for term, _ in unrolled.segment.hypotheses)]
    terms += [le(length(items), Num(LONGEST)) for items in lists]
    terms.append(not_(and_(*goals)))
    # Elements that no run reads are part of a counterexample too, and must be adjacent.
    elements = [read(side, Num(k)) for items in lists for side in _sides(context, items) for k in range(LONGEST)]
    terms += instances(context, [*terms, *elements])
    tick()
    z3 = load()
    translate = Translator(z3, exact=True)
    solver = z3.Solver()
    solver.set("timeout", left(milliseconds))
    try:
        solver.add(*(translate(term) for term in terms), *translate.facts)
        if solver.check() != z3.sat:
            return None
        model = solver.model()
    except z3.Z3Exception:
        return None

    def value(term: Term) -> Any:
        found = model.eval(translate(term), model_completion=True)
        return found.as_long() if z3.is_int_value(found) else z3.is_true(found)

    draws = tuple(value(draw.raw) for draw in unrolled.draws if value(draw.path))
    return Pair(_inputs(context, lists, value), draws or (0,))


def _sides(context: Context, var: Var) -> list[Var]:
    sides = (1, 2) if var.name in context.neighbors.private else (0,)
    return [Var(var.name, var.sort, side) for side in sides]


def _inputs(context: Context, lists: list[Var], value: Any) -> Environment:
    found: Environment = {name: value(Var(name)) for name in (*context.neighbors.constants, RESULT.name)}
    for entry in context.program.inputs:
        if entry.var not in lists:
            found.update({str(var): value(var) for var in _sides(context, entry.var)})
    for items in lists:
        count = found[f"len({items})"] = value(length(items))
        for var in _sides(context, items):
            found[str(var)] = tuple(value(read(var, Num(k))) for k in range(count))
    return found


def _fails(context: Context, bounds: Mapping[str, Term], proof: Proof, pair: Pair) -> bool:
    """Whether the pair is adjacent, and the product of the runs rejects it."""
    environment = dict(pair.inputs)
    if not all(compiled(fact)(environment) for fact in context.facts()):
        return False
    for name, fact in context.elements():
        if not all(compiled(fact)({**environment, ANY.name: k}) for k in range(environment[f"len({name})"])):
            return False
    samples = [s for s in statements_of(context.program.body) if isinstance(s, Sample)]
    shifts = {sample.at: shift_of(proof.choice(sample), sample) for sample in samples}
    good, _ = Product(context).attempt(pair, shifts, accepts(context, bounds, pointwise=proof.pointwise))
    return not good
