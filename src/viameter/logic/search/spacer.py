"""Loop invariants from z3's engine for Horn clauses (Spacer), for shifts that are already chosen.

Each loop gets an unknown relation between the two runs' variables, the ghosts and the shared inputs; each stretch of
the program between loop heads is a clause. A solution is a set of invariants. Nothing here is trusted: lists and
products are replaced by unknown integers, and the kernel checks what comes out.

Spacer runs in a process of its own, which is ended when the time is up: it may crash, overrun its limit, or print
complaints when it is interrupted, and none of that should reach whoever asked.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from viameter.errors import ViameterError
from viameter.logic.kernel.assertion import Clause
from viameter.logic.kernel.context import RESULT, Context, cost, same
from viameter.logic.kernel.derive import goal, start
from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules.loops import remembered
from viameter.logic.lang.core import Block, If, Sample, Statement, While, assigned, statements_of
from viameter.logic.lang.scales import Amount
from viameter.logic.lang.terms import (
    ONE,
    TRUE,
    ZERO,
    App,
    Num,
    Term,
    Truth,
    Var,
    add,
    and_,
    apply,
    eq,
    implies,
    le,
    length,
    lt,
    mul,
    neg,
    not_,
    sort_of,
    sub,
    substitute,
    variables,
)
from viameter.logic.search.forward import Forward, Segment, State
from viameter.logic.search.live import heads_of
from viameter.logic.solving.z3bridge import Translator, instances, load

_GUIDED: Mapping[str, Any] = {"spacer.global": True}
_EQUAL: Mapping[str, Any] = {"spacer.global": True, "spacer.use_euf_gen": True}
CONFIGURATIONS: tuple[tuple[float, Mapping[str, Any]], ...] = (
    (0.2, _EQUAL),
    (0.25, {}),
    (0.5, _GUIDED),
    (1.0, {**_EQUAL, "spacer.random_seed": 1}),
)
"""What Spacer is tried with, one after another, each for a share of the time that is left.

A cost that grows with a counter needs `global`: without it, value after value is excluded and there is no end. Where
all bounds are numbers it is the other way round. Beyond that it is luck, and starting again beats waiting.
"""

GRACE = 2.0
"""How many seconds the process has for starting and stopping, beyond what Spacer has."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A way through the program without a loop head on it: what is known, what must hold, and where it leads."""

    source: int | None
    hypotheses: tuple[Term, ...]
    goals: tuple[Term, ...]
    target: int | None = None
    values: tuple[Term, ...] = ()


Finish = Callable[[int | None, Segment, State], None]


class Clauses(Forward):
    """The stretches of a program under a proof whose invariants are unknown.

    As in the kernel, all that is known after a loop is its invariant: a stretch starts anew at every loop head.
    """

    def __init__(self, context: Context, claim: Amount, proof: Proof) -> None:
        self.context, self.proof, self.atoms = context, proof, {}
        self.stretches: list[Stretch] = []
        self.heads = {line: arguments(context, proof, line) for line in enclosing(context.program.body)}
        self._done: set[int] = set()
        wanted = goal(context, claim, pointwise=proof.pointwise)

        def finish(source: int | None, segment: Segment, state: State) -> None:
            for entry in wanted:
                self._want(segment, TRUE, state, entry)
            self._close(source, segment)

        begin = Segment([(entry.term, None) for entry in start(context)])
        self._walk(None, begin, {}, context.program.body.statements, finish)

    def _walk(
        self, source: int | None, segment: Segment, state: State, todo: tuple[Statement, ...], finish: Finish
    ) -> None:
        for number, statement in enumerate(todo):
            rest = todo[number + 1 :]
            if isinstance(statement, While):
                self._close(source, segment, statement.at, state)
                self._around(statement, rest, finish)
                return
            if isinstance(statement, If) and _loops(statement):
                first, second = (substitute(self.context.run(statement.test, side), state) for side in (1, 2))
                agree = Clause(eq(first, second), "both runs take the same branch", statement.at)
                self._want(segment, TRUE, {}, agree)
                for taken, block in ((first, statement.then), (not_(first), statement.orelse)):
                    branch = Segment([*segment.hypotheses, (taken, None)], list(segment.goals))
                    self._walk(source, branch, dict(state), (*block, *rest), finish)
                return
            state = self._statement(statement, state, TRUE, segment)
        finish(source, segment, state)

    def _around(self, loop: While, rest: tuple[Statement, ...], finish: Finish) -> None:
        line, context = loop.at, self.context
        if line in self._done:
            return
        self._done.add(line)
        tests = tuple(context.run(loop.test, side) for side in (1, 2))
        self.stretches.append(Stretch(line, (), (eq(*tests),)))
        inside = Segment([(test, None) for test in tests])
        ranks: State = {}
        if line in self.proof.variants:
            for held, side in zip(remembered(line), (1, 2), strict=True):
                ranks[held] = context.run(self.proof.variants[line], side)
                self._want(inside, TRUE, {}, Clause(le(ONE, ranks[held]), "the loop's variant is positive", line))

        def back(source: int | None, segment: Segment, state: State) -> None:
            for held, rank in ranks.items():
                self._want(segment, TRUE, state, Clause(lt(rank, held), "the loop's variant decreases", line))
            self._close(source, segment, line, state)

        self._walk(line, inside, dict(ranks), loop.body.statements, back)
        self._walk(line, Segment([(not_(test), None) for test in tests]), {}, rest, finish)

    def _sample(self, statement: Sample, state: State, path: Term, segment: Segment) -> State:
        before = len(segment.hypotheses)
        state = super()._sample(statement, state, path, segment)
        # What is known of a drawn value is known where it is drawn: a range may be empty on the other branch.
        segment.hypotheses[before:] = [(implies(path, term), owner) for term, owner in segment.hypotheses[before:]]
        return state

    def _close(
        self, source: int | None, segment: Segment, target: int | None = None, state: State | None = None
    ) -> None:
        values = tuple(substitute(arg, state or {}) for arg in self.heads[target]) if target is not None else ()
        known = tuple(term for term, _ in segment.hypotheses)
        self.stretches.append(Stretch(source, known, tuple(g.term for g in segment.goals), target, values))


def _loops(statement: Statement) -> bool:
    return any(isinstance(inner, While) for inner in statements_of(Block((statement,))))


def enclosing(block: Block, outer: tuple[int, ...] = ()) -> dict[int, tuple[int, ...]]:
    """The loops of a block, each with the lines of the loops around it."""
    found: dict[int, tuple[int, ...]] = {}
    for statement in block:
        if isinstance(statement, While):
            found[statement.at] = outer
            found.update(enclosing(statement.body, (*outer, statement.at)))
        elif isinstance(statement, If):
            found.update({**enclosing(statement.then, outer), **enclosing(statement.orelse, outer)})
    return found


def arguments(context: Context, proof: Proof, line: int) -> tuple[Term, ...]:
    """What a loop's invariant may speak of: live variables of both runs, ghosts, and what never changes."""
    program = context.program
    live = heads_of(program.body, frozenset({program.output.name}))[line]
    for sample in statements_of(program.body):
        if isinstance(sample, Sample):
            # A shift may look at what the program itself has forgotten; of its own draw it sees the new value.
            live |= {var.name for var in variables(proof.choice(sample).shift)} - {sample.target.name}
    found: list[Term] = []
    for var in sorted(assigned(program.body), key=lambda v: v.name):
        if var.sort == "list":
            found.append(same(var))
        elif var.name in live:
            found += [Var(var.name, var.sort, side) for side in (1, 2)]
    for entry in program.inputs:
        if entry.sort == "list":
            found.append(length(entry.var))
        else:
            sides = (1, 2) if entry.name in context.neighbors.private else (0,)
            found += [Var(entry.name, entry.sort, side) for side in sides]
    found += [cost(base) for base in context.units]
    found += [Var(name) for name in context.neighbors.constants]
    found += [RESULT] if proof.pointwise else []
    found += [held for outer in enclosing(program.body)[line] if outer in proof.variants for held in remembered(outer)]
    return tuple(found)


@dataclass(slots=True)
class Linear:
    """Terms with unknown integers for what is read from lists, and for products and quotients of unknowns.

    The same operation on equal arguments gives the same integer: `facts` says so, and what is known of a remainder.
    """

    unknown: dict[App, Var] = field(default_factory=dict)
    made: dict[Term, Term] = field(default_factory=dict)

    def __call__(self, term: Term) -> Term:
        """The term with unknowns in it."""
        if not isinstance(term, App) or term.op == "len":
            return term
        found = self.made.get(term)
        if found is None:
            rebuilt = apply(term.op, tuple(self(arg) for arg in term.args))
            found = self.made[term] = self._named(rebuilt) if isinstance(rebuilt, App) else rebuilt
        return found

    def _named(self, term: App) -> Term:
        odd = (
            term.op == "read"
            or (term.op == "*" and not any(isinstance(arg, Num) for arg in term.args))
            or (term.op in ("//", "%") and not isinstance(term.args[1], Num))
        )
        return self.unknown.setdefault(term, Var(f"unknown.{len(self.unknown)}")) if odd else term

    def facts(self) -> Iterator[Term]:
        """What is known of the unknowns."""
        for (one, first), (other, second) in combinations(self.unknown.items(), 2):
            if one.op == other.op and (one.op != "read" or one.args[0] == other.args[0]):
                pairs = [(a, b) for a, b in zip(one.args, other.args, strict=True) if sort_of(a) != "list"]
                yield implies(and_(*(eq(a, b) for a, b in pairs)), eq(first, second))
        for term, rest in self.unknown.items():
            if term.op == "%":
                top, below = term.args
                yield implies(lt(ZERO, below), and_(le(ZERO, rest), lt(rest, below)))
                yield implies(eq(below, ZERO), eq(rest, top))


def spacer_invariants(
    context: Context, claim: Amount, proof: Proof, *, seconds: float
) -> Mapping[int, tuple[Term, ...]] | None:
    """Invariants under which the kernel should accept a proof's shifts, by line of the loop; None if none is found.

    The proof's shifts, split branches and mode are taken as they are. If it has variants, the invariants also say that
    these count down, and those of inner loops speak of the outer variants' remembered values.
    """
    until = time.monotonic() + seconds
    z3 = load()
    try:
        clauses = Clauses(context, claim, proof)
        text, relations = _stated(z3, clauses)
        for share, options in CONFIGURATIONS:
            left = (until - time.monotonic()) * share
            verdict, answer = _asked(text, options, left) if left > 0 else ("unknown", "")
            if verdict == "sat":
                return None  # the goal fails in the abstraction: no invariant that this file can state helps
            if verdict == "unsat":
                return _read_back(z3, answer, relations, clauses.heads)
    except (ViameterError, ValueError, _Foreign, z3.Z3Exception):
        return None
    return None


def _stated(z3: Any, clauses: Clauses) -> tuple[str, dict[int, Any]]:
    """All clauses as text, with the question whether something wrong can be reached; and the relations by line."""
    sorts = {"int": z3.IntSort(), "bool": z3.BoolSort()}
    relations = {
        line: z3.Function(f"invariant.{line}", *(sorts[sort_of(arg)] for arg in head), sorts["bool"])
        for line, head in clauses.heads.items()
    }
    wrong = z3.Function("wrong", sorts["bool"])
    engine = z3.Fixedpoint()
    engine.register_relation(wrong, *relations.values())
    for stretch in clauses.stretches:
        known, goals, values = _linear(clauses.context, stretch)
        made = Translator(z3, exact=True)
        body = [made(term) for term in known]
        if stretch.source is not None:
            body.insert(0, relations[stretch.source](*(made(arg) for arg in clauses.heads[stretch.source])))
        rules = [(wrong(), [*body, made(not_(and_(*goals)))])] if goals else []
        if stretch.target is not None:
            rules.append((relations[stretch.target](*(made(value) for value in values)), body))
        free = [
            made(part) for part in made.made if isinstance(part, Var) or (isinstance(part, App) and part.op == "len")
        ]
        if free:
            engine.declare_var(*free)
        for head, premises in rules:
            engine.rule(head, premises)
    return engine.to_string([wrong()]), relations


def _linear(context: Context, stretch: Stretch) -> tuple[list[Term], list[Term], list[Term]]:
    """What is known, wanted and passed on along a stretch, without lists and products."""
    linear = Linear()
    known: list[Term] = [*context.facts(), *context.positive(), *stretch.hypotheses]
    known += instances(context, [*known, *stretch.goals, *stretch.values])
    known, goals, values = ([linear(term) for term in terms] for terms in (known, stretch.goals, stretch.values))
    return [*known, *linear.facts()], goals, values


_CHILD = """
import json, sys, z3
options = json.loads(sys.stdin.readline())
engine = z3.Fixedpoint()
engine.set(engine="spacer", **options)
(question,) = engine.parse_string(sys.stdin.read())
verdict = engine.query(question)
print(verdict)
if verdict == z3.unsat:
    print(engine.get_answer().sexpr())
"""


def _asked(text: str, options: Mapping[str, Any], seconds: float) -> tuple[str, str]:
    """Spacer's verdict (`unsat`: nothing wrong can be reached) and the relations that show it."""
    # Relations that were inlined or lost arguments would come back in another form.
    plain = {"xform.inline_eager": False, "xform.inline_linear": False, "xform.slice": False}
    settings = json.dumps({**plain, **options, "timeout": max(1, int(1000 * seconds))})
    command = [sys.executable, "-P", "-c", _CHILD]
    try:
        done = subprocess.run(
            command, input=f"{settings}\n{text}", capture_output=True, text=True, timeout=seconds + GRACE, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown", ""
    verdict, _, answer = done.stdout.partition("\n")
    return verdict, answer


class _Foreign(Exception):
    """The engine answered in words that the language of terms does not have."""


def _read_back(
    z3: Any, answer: str, relations: Mapping[int, Any], heads: Mapping[int, tuple[Term, ...]]
) -> Mapping[int, tuple[Term, ...]]:
    names = {"wrong": z3.Function("wrong", z3.BoolSort()), **{entry.name(): entry for entry in relations.values()}}
    lines = {relation.name(): line for line, relation in relations.items()}
    found: dict[int, tuple[Term, ...]] = dict.fromkeys(heads, ())
    for part in _conjuncts(z3, list(z3.parse_smt2_string(f"(assert {answer})", decls=names))):
        body = part.body() if z3.is_quantifier(part) else part
        defined = body.arg(0).decl().name() if z3.is_eq(body) else ""
        if defined == "wrong":
            continue
        if defined not in lines:
            raise _Foreign(str(part))
        line = lines[defined]
        places = {z3.get_var_index(var): arg for var, arg in zip(body.arg(0).children(), heads[line], strict=True)}
        term = _term(z3, body.arg(1), places)
        found[line] = _tidy(term.args if isinstance(term, App) and term.op == "and" else (term,))
    return found


def _conjuncts(z3: Any, parts: list[Any]) -> Iterator[Any]:
    for part in parts:
        if z3.is_and(part):
            yield from _conjuncts(z3, part.children())
        elif not z3.is_true(part):
            yield part


def _term(z3: Any, expression: Any, places: Mapping[int, Term]) -> Term:
    if z3.is_var(expression):
        return places[z3.get_var_index(expression)]
    if z3.is_int_value(expression):
        return Num(expression.as_long())
    if not z3.is_app(expression):
        raise _Foreign(str(expression))
    args = tuple(_term(z3, arg, places) for arg in expression.children())
    match expression.decl().name(), args:
        case "+", _:
            return _sum(args)
        case "-", (only,):
            return neg(only)
        case "-", (first, *others):
            return _sum((first, *(neg(other) for other in others)))
        case "*", (Num(), _) | (_, Num()):
            return mul(*args)
        case "<=", (left, right):
            return _at_most(left, right)
        case ">=", (left, right):
            return _at_most(right, left)
        case "<", (left, right):
            return _negated(_at_most(right, left))
        case ">", (left, right):
            return _negated(_at_most(left, right))
        case "not", (only,):
            return _negated(only)
        case (("true" | "false"), ()):
            return Truth(expression.decl().name() == "true")
        case ("and" | "or" | "=>" | "=" | "if") as name, _:
            return apply({"=": "==", "if": "ite"}.get(name, name), args)
    raise _Foreign(str(expression))


def _sum(terms: tuple[Term, ...]) -> Term:
    """The sum, with what is subtracted after what is added."""
    whole: Term = ZERO
    less: list[Term] = []
    for term in terms:
        match term:
            case App("*", (Num(factor), rest)) if factor < 0:
                less.append(mul(Num(-factor), rest))
            case App("neg", (rest,)):
                less.append(rest)
            case _:
                whole = add(whole, term)
    for term in less:
        whole = sub(whole, term)
    return whole


def _at_most(left: Term, right: Term) -> Term:
    match left, right:
        case App("-", (more, less)), Num(0):
            return le(more, less)
        case Num(0), App("-", (more, less)):
            return le(less, more)
    return le(left, right)


def _negated(term: Term) -> Term:
    match term:
        case App("<=", (Num(low), right)):
            return _at_most(right, Num(low - 1))
        case App("<=", (left, Num(high))):
            return _at_most(Num(high + 1), left)
        case App("<=", (left, right)):
            return lt(right, left)
    return not_(term)


def _tidy(clauses: tuple[Term, ...]) -> tuple[Term, ...]:
    """Without what is trivial, and with an equation for two inequalities."""
    kept = dict.fromkeys(clause for clause in clauses if clause != TRUE)
    for clause in list(kept):
        match clause:
            case App("<=", (left, right)) if clause in kept and le(right, left) in kept:
                del kept[clause], kept[le(right, left)]
                kept[eq(left, right)] = None
    return tuple(kept)


__all__ = ["Clauses", "Linear", "Stretch", "arguments", "enclosing", "spacer_invariants"]
