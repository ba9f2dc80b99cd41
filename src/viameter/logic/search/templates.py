"""Candidates for shifts, read off the program: what the drawn value is added to, compared with and released in.

A draw x that is added to e is kept equal in both runs by the shift e<1> - e<2>; one that is compared is kept on its
side of the comparison by a constant, or by the difference of what it is compared with. A shift may also depend on
which way the comparison goes, on the iteration (the index where inputs differ, the output that is asked about), and on
the program's other tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from viameter.logic.deadline import tick
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.context import RESULT, Context
from viameter.logic.lang.core import (
    Append,
    Assign,
    Block,
    Exponential,
    Flip,
    Gaussian,
    If,
    Laplace,
    Sample,
    Uniform,
    While,
    statements_of,
)
from viameter.logic.lang.terms import (
    FALSE,
    TRUE,
    ZERO,
    App,
    Num,
    Term,
    Var,
    add,
    eq,
    ite,
    mul,
    ne,
    neg,
    sort_of,
    sub,
    substitute,
    subterms,
    variables,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A choice at a sampling statement, and how complicated it is."""

    choice: Choice
    weight: int


@dataclass(slots=True)
class Uses:
    """Where a drawn value goes: expressions that it is part of, and tests that depend on it."""

    expressions: dict[Term, None] = field(default_factory=dict)
    tests: dict[Term, None] = field(default_factory=dict)


def linear(term: Term, var: Var) -> tuple[int, Term] | None:
    """(c, rest) with term = c * var + rest and var not in rest, if it is so by + and - and factors alone."""
    tick()
    if var not in variables(term):
        return 0, term
    match term:
        case Var():
            return 1, ZERO
        case App("+", (left, right)):
            one, other = linear(left, var), linear(right, var)
            return None if one is None or other is None else (one[0] + other[0], add(one[1], other[1]))
        case App("-", (left, right)):
            one, other = linear(left, var), linear(right, var)
            return None if one is None or other is None else (one[0] - other[0], sub(one[1], other[1]))
        case App("neg", (inner,)):
            one = linear(inner, var)
            return None if one is None else (-one[0], neg(one[1]))
        case App("*", (Num(factor), inner)) | App("*", (inner, Num(factor))):
            one = linear(inner, var)
            return None if one is None else (factor * one[0], mul(Num(factor), one[1]))
    return None


def uses_of(block: Block, sample: Sample) -> Uses:
    """Follow a drawn value through the statements after its draw."""
    found = Uses()
    _follow(block, sample, {}, found, started=False)
    return found


def _follow(block: Block, sample: Sample, known: dict[Var, Term], found: Uses, *, started: bool) -> bool:
    target = sample.target
    for statement in block:
        if statement is sample:
            started, known = True, {}
            continue
        match statement:
            case Assign(name, value):
                if started:
                    value = substitute(value, known)
                    _note(value, target, found)
                    known = {k: v for k, v in known.items() if k != name and name not in variables(v)}
                    if target in variables(value) and name not in variables(value) - {target}:
                        known[name] = value
            case Append(_, value):
                if started:
                    _note(substitute(value, known), target, found)
            case If(test, then, orelse):
                if started:
                    _test(substitute(test, known), target, found)
                one = _follow(then, sample, dict(known), found, started=started)
                other = _follow(orelse, sample, dict(known), found, started=started)
                started = started or one or other
            case While(test, body):
                if started:
                    _test(substitute(test, known), target, found)
                inner = _follow(body, sample, dict(known), found, started=started)
                if inner and not started:
                    # The value lives on into the next iteration.
                    _test(test, target, found)
                    _follow(body, sample, {}, found, started=True)
                started = started or inner
    return started


def _note(value: Term, target: Var, found: Uses) -> None:
    if target in variables(value):
        for part in subterms(value):
            # The largest parts that the value is simply added to, whatever is done with them.
            if sort_of(part) == "int" and target in variables(part) and linear(part, target) is not None:
                found.expressions[part] = None
        for part in subterms(value):
            # A conditional expression is a test as well.
            if isinstance(part, App) and part.op == "ite":
                _test(part.args[0], target, found)


def _test(test: Term, target: Var, found: Uses) -> None:
    if target not in variables(test):
        return
    found.tests[test] = None
    for part in subterms(test):
        if isinstance(part, App) and part.op in ("<=", "<", "==") and target in variables(part):
            found.expressions[sub(part.args[1], part.args[0])] = None
            if part != test:
                found.tests[part] = None


def candidates(context: Context, sample: Sample, *, pointwise: bool, steps: list[int]) -> list[Candidate]:
    """The candidates at one sampling statement, simplest first."""
    law = sample.law
    uses = uses_of(context.program.body, sample)
    if isinstance(law, Flip):
        return _flips(context, sample)
    if not isinstance(law, Laplace | Exponential | Gaussian | Uniform):
        return [Candidate(Choice(), 0)]
    plain = dict.fromkeys(_plain(context, sample, uses, steps))
    found = [Candidate(Choice(shift), 0 if shift == ZERO else 1) for shift in plain]
    if not isinstance(law, Uniform):
        sees_draw = not isinstance(law, Gaussian)
        for test, extra in _tests(context, sample, uses, pointwise=pointwise, sees_draw=sees_draw).items():
            for then in plain:
                tick()
                for orelse in plain:
                    if then != orelse:
                        weight = 1 + extra + (then != ZERO) + (orelse != ZERO) * 2
                        found.append(Candidate(Choice(ite(test, then, orelse)), weight))
    return sorted(found, key=lambda c: c.weight)


def _plain(context: Context, sample: Sample, uses: Uses, steps: list[int]) -> Iterator[Term]:
    yield ZERO
    center = sample.law.center if isinstance(sample.law, Laplace | Gaussian) else ZERO
    if center != ZERO:
        # The draw itself is released or compared: equal values, or equal noise.
        yield sub(context.run(center, 2), context.run(center, 1))
    for expression in uses.expressions:
        split = linear(expression, sample.target)
        if split is not None and split[0] in (1, -1):
            rest = split[1] if split[0] == 1 else neg(split[1])
            first, second = context.run(rest, 1), context.run(rest, 2)
            if first != second:
                yield difference(rest, context)
    for step in steps:
        if step:
            yield Num(step)
            yield Num(-step)
            yield Num(2 * step)
            yield Num(-2 * step)


def difference(term: Term, context: Context) -> Term:
    """term<1> - term<2>, summand by summand, so that what is public falls out."""
    tick()
    match term:
        case App("+", (left, right)):
            return add(difference(left, context), difference(right, context))
        case App("-", (left, right)):
            return sub(difference(left, context), difference(right, context))
        case App("neg", (inner,)):
            return neg(difference(inner, context))
    return sub(context.run(term, 1), context.run(term, 2))


def _tests(context: Context, sample: Sample, uses: Uses, *, pointwise: bool, sees_draw: bool) -> dict[Term, int]:
    """What a shift may depend on, with how far-fetched it is."""
    found: dict[Term, int] = {}
    if sees_draw:
        for test in uses.tests:
            found[context.run(test, 1)] = 1
    counters = _counters(context)
    for constant in context.neighbors.constants:
        for var in counters:
            found.setdefault(eq(Var(var.name, var.sort, 1), Var(constant)), 1)
    if pointwise:
        for var in counters:
            found.setdefault(eq(Var(var.name, var.sort, 1), RESULT), 1)
    for test in _other_tests(context, sample):
        found.setdefault(context.run(test, 1), 2)
    return found


def _counters(context: Context) -> list[Var]:
    """Variables that go up or down by a constant: the ones that count iterations."""
    found: dict[Var, None] = {}
    for statement in statements_of(context.program.body):
        if isinstance(statement, Assign):
            split = linear(statement.value, statement.target)
            if split is not None and split[0] == 1 and isinstance(split[1], Num) and split[1].value:
                found[statement.target] = None
    return list(found)


def followers(context: Context) -> list[Var]:
    """Variables that take over a counter's value, and those that the output takes over."""
    counters = set(_counters(context))
    found: dict[Var, None] = {}
    for statement in statements_of(context.program.body):
        if isinstance(statement, Assign) and isinstance(statement.value, Var):
            if statement.value in counters:
                found[statement.target] = None
            if statement.target == context.program.output and statement.value.sort == "int":
                found[statement.value] = None
    return [var for var in found if var not in counters]


def _other_tests(context: Context, sample: Sample) -> list[Term]:
    found: dict[Term, None] = {}
    for statement in statements_of(context.program.body):
        if isinstance(statement, If | While):
            for part in subterms(statement.test):
                compares = isinstance(part, App) and part.op in ("<=", "<", "==")
                reads = any(isinstance(p, App) and p.op == "read" for p in subterms(part))
                if compares and not reads and sample.target not in variables(part):
                    found[part] = None
    return list(found)


def _flips(context: Context, sample: Sample) -> list[Candidate]:
    if sample.law == Flip(sample.law.probability) and sample.law.probability in (0, 1):  # type: ignore[union-attr]
        return [Candidate(Choice(FALSE), 0)]
    found: dict[Term, None] = {FALSE: None, TRUE: None}
    terms: set[Term] = set()
    for statement in statements_of(context.program.body):
        for term in (getattr(statement, "value", None), getattr(statement, "test", None)):
            if term is not None:
                terms.update(subterms(term))
    for part in sorted(terms, key=str):
        if sort_of(part) in ("bool", "int") and sample.target not in variables(part):
            one, other = context.run(part, 1), context.run(part, 2)
            if one != other:
                found[ne(one, other)] = None
    return [Candidate(Choice(shift), 0 if shift == FALSE else 1) for shift in found]
