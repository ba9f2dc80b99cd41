"""Weakest preconditions of single statements in two runs: the mathematics of the rules for assignment and sampling.

Each function says what must hold before a statement for an assertion to hold after it. A drawn value is a *fresh*
variable that is substituted for the sampled one, so that no fact about its old value survives the draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from viameter.errors import ParameterError
from viameter.logic.kernel.assertion import Assertion, clause, conjunction, under, with_values
from viameter.logic.kernel.context import Context, charge_of, check_speaks, cost, same
from viameter.logic.lang.core import (
    Append,
    Assign,
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    Laplace,
    Sample,
    Uniform,
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
    or_,
    read,
    show,
    sort_of,
    sub,
    substitute,
    variables,
)

_NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a proof chooses at a sampling statement: the shift, and for some laws bounds.

    The second run draws the first run's value plus the shift (a truth value: whether they differ, for `flip`). Bounds
    are (k,) for `gauss`: the shift is at most k; and (low, high) for `choose`: scores change by that much.
    """

    shift: Term = ZERO
    bounds: tuple[Term, ...] = ()


def fresh(var: Var) -> Var:
    """A variable that occurs nowhere else."""
    return Var(f"{var.name}.v{next(_NUMBERS)}", var.sort)


def before_assign(context: Context, statement: Assign, post: Assertion, sides: tuple[int, ...] = (1, 2)) -> Assertion:
    """post[target := value], in the runs that execute the assignment."""
    target = statement.target
    return with_values(
        post, {Var(target.name, target.sort, side): context.run(statement.value, side) for side in sides}
    )


def before_append(context: Context, statement: Append, post: Assertion, sides: tuple[int, ...] = (1, 2)) -> Assertion:
    """The lists stay the same if the values are; if only one run appends, nothing is known any more."""
    ghost = same(statement.target)
    values = [context.run(statement.value, side) for side in (1, 2)]
    return with_values(post, {ghost: and_(ghost, eq(*values)) if sides == (1, 2) else FALSE})


def before_sample(context: Context, statement: Sample, choice: Choice, post: Assertion) -> Assertion:
    """What must hold before both runs draw, coupled by the choice."""
    match statement.law:
        case Laplace() | Exponential() | Gaussian():
            return _before_shifted(context, statement, choice, post)
        case Flip():
            return _before_flip(context, statement, choice, post)
        case Uniform():
            return _before_uniform(context, statement, choice, post)
        case Choose():
            return _before_choose(context, statement, choice, post)
        case Call():
            return _before_call(context, statement, choice, post)


def check_choice(context: Context, statement: Sample, choice: Choice, *, sees_draw: bool) -> None:
    """A shift speaks of memories before the draw, and of the first run's drawn value where the law allows it."""
    target, at = statement.target, statement.at
    wanted = "bool" if isinstance(statement.law, Flip) else "int"
    if sort_of(choice.shift) != wanted:
        raise ParameterError(f"line {at}: the shift {show(choice.shift)} must be {wanted}")
    used = variables(choice.shift)
    if Var(target.name, target.sort, 2) in used:
        raise ParameterError(f"line {at}: the shift {show(choice.shift)} uses {target.name}<2>, which it defines")
    if not sees_draw and Var(target.name, target.sort, 1) in used:
        raise ParameterError(f"line {at}: under this law the shift must not depend on the drawn value {target.name}<1>")
    loose = {v for bound in choice.bounds for v in variables(bound)}
    if any(v.side or v.name not in context.shared for v in loose):
        raise ParameterError(f"line {at}: bounds must be public, the same in both runs")
    for term in (choice.shift, *choice.bounds):
        check_speaks(context, term, ghosts=False, where=f"line {at}")
    wants = {Gaussian: 1, Choose: 2}.get(type(statement.law), 0)
    if len(choice.bounds) != wants:
        raise ParameterError(f"line {at}: this law takes {wants} bounds, not {len(choice.bounds)}")


def _spend(context: Context, post_values: dict[Var, Term], base: str, amount: Term) -> None:
    post_values[cost(base)] = add(cost(base), amount)


def _before_shifted(context: Context, statement: Sample, choice: Choice, post: Assertion) -> Assertion:
    law, target, at = statement.law, statement.target, statement.at
    check_choice(context, statement, choice, sees_draw=not isinstance(law, Gaussian))
    first, second = Var(target.name, target.sort, 1), Var(target.name, target.sort, 2)
    drawn = fresh(target)
    shift = substitute(choice.shift, {first: drawn})
    center = law.center if isinstance(law, Laplace | Gaussian) else ZERO
    moved = sub(add(shift, context.run(center, 1)), context.run(center, 2))
    (scale,) = charge_of(law, context.program)
    rate = context.units[scale.base].rate(scale)
    values: dict[Var, Term] = {first: drawn, second: add(drawn, shift)}
    extra: Assertion = ()
    if isinstance(law, Laplace):
        _spend(context, values, scale.base, times(rate, magnitude(moved)))
    elif isinstance(law, Exponential):
        _spend(context, values, scale.base, times(rate, shift))
        extra = clause(le(ZERO, add(drawn, shift)), "the second run's draw is not negative", at)
    else:
        (most,) = choice.bounds
        _spend(context, values, scale.base, mul(rate, mul(most, most)))
        extra = clause(le(magnitude(moved), most), "the shift is within its bound", at)
    after = conjunction((*with_values(post, values), *extra))
    if isinstance(law, Exponential):
        after = under(le(ZERO, drawn), after)
    return conjunction((*after, *_injective(choice.shift, target, at, nonnegative=isinstance(law, Exponential))))


def _injective(shift: Term, target: Var, at: int, *, nonnegative: bool) -> Assertion:
    first = Var(target.name, target.sort, 1)
    if first not in variables(shift):
        return ()
    one, other = fresh(target), fresh(target)
    apart = ne(add(one, substitute(shift, {first: one})), add(other, substitute(shift, {first: other})))
    claim = or_(eq(one, other), apart)
    if nonnegative:
        claim = implies(and_(le(ZERO, one), le(ZERO, other)), claim)
    return clause(claim, "the shift maps different draws to different draws", at)


def _before_flip(context: Context, statement: Sample, choice: Choice, post: Assertion) -> Assertion:
    check_choice(context, statement, choice, sees_draw=False)
    target = statement.target
    charges = charge_of(statement.law, context.program)
    drawn = fresh(target)
    values: dict[Var, Term] = {
        Var(target.name, "bool", 1): drawn,
        Var(target.name, "bool", 2): ne(drawn, choice.shift),
    }
    if charges:
        unit = context.units[charges[0].base]
        _spend(context, values, charges[0].base, ite(choice.shift, unit.rate(charges[0]), ZERO))
    elif isinstance(statement.law, Flip) and statement.law.probability in (0, 1) and choice.shift != FALSE:
        raise ParameterError(f"line {statement.at}: a coin that always falls the same way cannot be flipped")
    return with_values(post, values)


def _before_uniform(context: Context, statement: Sample, choice: Choice, post: Assertion) -> Assertion:
    check_choice(context, statement, choice, sees_draw=False)
    law, target, at = statement.law, statement.target, statement.at
    assert isinstance(law, Uniform)
    low, high = context.run(law.low, 1), context.run(law.high, 1)
    drawn = fresh(target)
    width = add(sub(high, low), ONE)
    turned = add(low, App("%", (add(sub(drawn, low), choice.shift), width)))
    values: dict[Var, Term] = {
        Var(target.name, "int", 1): drawn,
        Var(target.name, "int", 2): drawn if choice.shift == ZERO else turned,
    }
    within = and_(le(low, drawn), le(drawn, high))
    ends = conjunction((
        *clause(eq(low, context.run(law.low, 2)), "both runs draw from the same range", at),
        *clause(eq(high, context.run(law.high, 2)), "both runs draw from the same range", at),
        *clause(le(low, high), "the range is not empty", at),
    ))  # fmt: skip
    return conjunction((*ends, *under(within, with_values(post, values))))


def _before_choose(context: Context, statement: Sample, choice: Choice, post: Assertion) -> Assertion:
    check_choice(context, statement, choice, sees_draw=False)
    law, target, at = statement.law, statement.target, statement.at
    assert isinstance(law, Choose)
    low, high = choice.bounds
    index, drawn = fresh(Var("index")), fresh(target)
    first, second = (read(context.run(law.scores, side), index) for side in (1, 2))
    moved = sub(second, first)
    inside = and_(le(ZERO, index), lt(index, length(law.scores)))
    rate = context.units[law.scale.base].rate(law.scale)
    values: dict[Var, Term] = {Var(target.name, "int", 1): drawn, Var(target.name, "int", 2): drawn}
    _spend(context, values, law.scale.base, times(rate, sub(high, low)))
    many = lt(ZERO, length(law.scores))
    possible = and_(le(ZERO, drawn), implies(many, lt(drawn, length(law.scores))), or_(many, eq(drawn, ZERO)))
    return conjunction((
        *clause(le(low, high), "the bounds on scores are in order", at),
        *clause(implies(inside, and_(le(low, moved), le(moved, high))), "scores change within the bounds", at),
        *under(possible, with_values(post, values)),
    ))  # fmt: skip


def _before_call(context: Context, statement: Sample, choice: Choice, post: Assertion) -> Assertion:
    check_choice(context, statement, choice, sees_draw=False)
    law, target, at = statement.law, statement.target, statement.at
    assert isinstance(law, Call)
    entry = context.program.mechanisms[law.name]
    drawn = fresh(target)
    values: dict[Var, Term] = {Var(target.name, "int", 1): drawn, Var(target.name, "int", 2): drawn}
    for charge in charge_of(law, context.program):
        _spend(context, values, charge.base, context.units[charge.base].rate(charge))
    moved = sub(context.run(law.argument, 1), context.run(law.argument, 2))
    near = clause(le(magnitude(moved), Num(entry.distance)), f"the arguments of {law.name} are close enough", at)
    return conjunction((*near, *with_values(post, values)))


def times(rate: Term, amount: Term) -> Term:
    """rate * amount, with cases and constants drawn out, so that the product stays linear where it can."""
    match amount:
        case Num(value):
            return mul(rate, Num(value))
        case App("abs", (App("ite", (test, then, orelse)),)):
            return ite(test, times(rate, magnitude(then)), times(rate, magnitude(orelse)))
        case App("ite", (test, then, orelse)):
            return ite(test, times(rate, then), times(rate, orelse))
    return mul(rate, amount)


__all__ = ["TRUE", "Choice", "before_append", "before_assign", "before_sample", "fresh", "times"]
