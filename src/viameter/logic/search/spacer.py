"""Loop invariants from z3's engine for Horn clauses (Spacer), for shifts that are already chosen.

Each loop gets an unknown relation between the two runs' variables, the ghosts and the shared inputs; each stretch of
the program between loop heads is a clause. A solution is a set of invariants. Nothing here is trusted: lists and
products are replaced by unknown integers, and the kernel checks what comes out.
"""

from __future__ import annotations

import threading
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
    FALSE,
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
    substitute,
    variables,
)
from viameter.logic.search.forward import Forward, Segment, State
from viameter.logic.search.live import heads_of
from viameter.logic.solving.z3bridge import Translator, instances, load

CONFIGURATIONS: tuple[Mapping[str, Any], ...] = ({}, {"spacer.global": True})
"""What Spacer is tried with, one after another, each for a share of the time."""


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
    """Invariants under which the kernel should accept the shifts of a proof, by line of the loop; None if none is found.

    The proof's shifts, split branches and mode are taken as they are. If it has variants, the invariants also say that
    these count down; where loops are nested, the inner ones need that.
    """
    try:
        clauses = Clauses(context, claim, proof)
    except (ViameterError, ValueError):
        return None
    until = time.monotonic() + seconds
    for number, options in enumerate(CONFIGURATIONS):
        share = (until - time.monotonic()) / (len(CONFIGURATIONS) - number)
        if share <= 0:
            return None
        found = _solve(clauses, options, share)
        if found is not None:
            return found
    return None


def _solve(clauses: Clauses, options: Mapping[str, Any], seconds: float) -> Mapping[int, tuple[Term, ...]] | None:
    z3 = load()
    # A context of its own, so that an interruption that comes too late meets no one else's question.
    private = z3.Context()
    engine = z3.Fixedpoint(ctx=private)
    watch = threading.Timer(seconds + 0.5, private.interrupt)
    watch.daemon = True
    try:
        settings = {"xform.inline_eager": False, "xform.inline_linear": False, "xform.slice": False, **options}
        engine.set(engine="spacer", timeout=max(1, int(1000 * seconds)), **settings)
        relations, wrong = _state(z3, private, engine, clauses)
        watch.start()
        if engine.query(wrong) != z3.unsat:
            return None
        return _read_back(z3, engine.get_answer(), relations, clauses.heads)
    except z3.Z3Exception:
        return None
    finally:
        watch.cancel()


def _state(z3: Any, private: Any, engine: Any, clauses: Clauses) -> tuple[dict[str, int], Any]:
    """Tell the engine all clauses; the names of the relations by line, and what must not be reachable."""
    sorts = {"int": z3.IntSort(private), "bool": z3.BoolSort(private)}
    relations = {
        line: z3.Function(f"invariant.{line}", *(sorts[sort_of(arg)] for arg in head), sorts["bool"])
        for line, head in clauses.heads.items()
    }
    wrong = z3.Function("wrong", sorts["bool"])
    engine.register_relation(wrong, *relations.values())
    context = clauses.context
    declared: dict[str, Any] = {}
    for stretch in clauses.stretches:
        linear, translate = Linear(), Translator(z3, exact=True)
        known: list[Term] = [*context.facts(), *context.positive(), *stretch.hypotheses]
        known += instances(context, [*known, *stretch.goals, *stretch.values])
        known = [linear(term) for term in known]
        goals, values = [linear(term) for term in stretch.goals], [linear(term) for term in stretch.values]
        known += linear.facts()

        def made(term: Term, translate: Translator = translate) -> Any:
            return translate(term).translate(private)

        body = [made(term) for term in known]
        if stretch.source is not None:
            body.insert(0, relations[stretch.source](*(made(arg) for arg in clauses.heads[stretch.source])))
        rules = [(wrong(), [*body, made(not_(and_(*goals)))])] if goals else []
        if stretch.target is not None:
            rules.append((relations[stretch.target](*(made(value) for value in values)), body))
        for head, premises in rules:
            for expression in (head, *premises):
                declared.update(_constants(z3, expression))
            engine.declare_var(*declared.values())
            engine.rule(head, premises)
    return {f"invariant.{line}": line for line in relations}, wrong()


def _constants(z3: Any, expression: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    seen: set[int] = set()
    stack = [expression]
    while stack:
        top = stack.pop()
        if top.get_id() in seen:
            continue
        seen.add(top.get_id())
        if z3.is_const(top) and top.decl().kind() == z3.Z3_OP_UNINTERPRETED and top.decl().name() != "wrong":
            found[top.decl().name()] = top
        stack.extend(top.children())
    return found


class _Foreign(Exception):
    """The engine answered in words that the language of terms does not have."""


def _read_back(
    z3: Any, answer: Any, relations: Mapping[str, int], heads: Mapping[int, tuple[Term, ...]]
) -> Mapping[int, tuple[Term, ...]] | None:
    found: dict[int, tuple[Term, ...]] = {}
    for part in answer.children() if z3.is_and(answer) else [answer]:
        body = part.body() if z3.is_quantifier(part) else part
        if not z3.is_eq(body) or body.arg(0).decl().name() not in relations:
            continue
        head = body.arg(0)
        line = relations[head.decl().name()]
        places = {z3.get_var_index(head.arg(n)): arg for n, arg in enumerate(heads[line])}
        try:
            term = _term(z3, body.arg(1), places)
        except _Foreign:
            return None
        clauses = term.args if isinstance(term, App) and term.op == "and" else (term,)
        found[line] = tuple(clause for clause in clauses if clause != TRUE)
    return {line: found.get(line, ()) for line in heads}


def _term(z3: Any, expression: Any, places: Mapping[int, Term]) -> Term:
    if z3.is_var(expression):
        return places[z3.get_var_index(expression)]
    if z3.is_int_value(expression):
        return Num(expression.as_long())
    if not z3.is_app(expression):
        raise _Foreign(str(expression))
    args = [_term(z3, arg, places) for arg in expression.children()]
    match expression.decl().kind():
        case z3.Z3_OP_TRUE:
            return TRUE
        case z3.Z3_OP_FALSE:
            return FALSE
        case z3.Z3_OP_ADD:
            return _sum(args)
        case z3.Z3_OP_SUB:
            return _sum([args[0], *(neg(arg) for arg in args[1:])])
        case z3.Z3_OP_UMINUS:
            return neg(args[0])
        case z3.Z3_OP_MUL if len(args) == 2 and any(isinstance(arg, Num) for arg in args):
            return mul(args[0], args[1])
        case z3.Z3_OP_ITE | z3.Z3_OP_NOT | z3.Z3_OP_AND | z3.Z3_OP_OR | z3.Z3_OP_IMPLIES | z3.Z3_OP_LE:
            return apply(_NAMES[expression.decl().name()], tuple(args))
        case z3.Z3_OP_GE | z3.Z3_OP_LT | z3.Z3_OP_GT | z3.Z3_OP_EQ:
            return apply(_NAMES[expression.decl().name()], tuple(args))
    raise _Foreign(str(expression))


_NAMES = {
    "if": "ite", "not": "not", "and": "and", "or": "or", "=>": "=>", "<=": "<=", ">=": ">=", "<": "<", ">": ">", "=": "==",
}  # fmt: skip


def _sum(terms: list[Term]) -> Term:
    whole: Term = ZERO
    for term in terms:
        whole = add(whole, term)
    return whole


__all__ = ["Clauses", "Linear", "Stretch", "Truth", "arguments", "enclosing", "spacer_invariants"]
