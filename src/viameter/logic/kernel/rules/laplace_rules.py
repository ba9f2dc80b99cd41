"""Rules for Laplace noise with a fixed budget, in the form of the slides; other facts are kept by the frame rule."""

from __future__ import annotations

from fractions import Fraction

from viameter.errors import NoTheorem, ParameterError
from viameter.logic.kernel.assertion import Assertion, clause
from viameter.logic.kernel.before import times
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.judgment import Judgment, made
from viameter.logic.kernel.rules.amounts import logarithmic_budget, rate_of, ratio_of_steps
from viameter.logic.kernel.rules.fixed import Budget, check_fixed, check_relational
from viameter.logic.lang.core import Block, Laplace, Sample
from viameter.logic.lang.terms import (
    ONE,
    TRUE,
    ZERO,
    Num,
    Term,
    Var,
    add,
    and_,
    eq,
    le,
    magnitude,
    show,
    sort_of,
    sub,
    variables,
)

Interval = tuple[int | None, int | None]
"""The integers from the first to the second, both included; None where there is no end."""


def laplace_simple(context: Context, left: Sample, right: Sample | None = None) -> Judgment:
    """|-_{1/scale} x :=$ lap(scale, y) ~ x' :=$ lap(scale, y') : |y<1> - y'<2>| <= 1 => x<1> == x'<2>.

    Sound: `laplace_general` for a distance of 1.
    """
    return laplace_general(context, left, right, distance=ONE)


def laplace_general(context: Context, left: Sample, right: Sample | None = None, *, distance: Term) -> Judgment:
    """|-_{k/scale} x :=$ lap(scale, y) ~ x' :=$ lap(scale, y') : |y<1> - y'<2>| <= k => x<1> == x'<2>.

    Sound: `laplace_shifted` without a shift. k is fixed: a term over public inputs, lengths and logical constants.
    """
    return laplace_shifted(context, left, right, shift=ZERO, distance=distance)


def laplace_shifted(
    context: Context, left: Sample, right: Sample | None = None, *, shift: Term, distance: Term
) -> Judgment:
    """|-_{k/scale} x :=$ lap(scale, y) ~ x' :=$ lap(scale, y') : |y<1> + s - y'<2>| <= k => x<1> + s == x'<2>.

    Sound: both witnesses live on the pairs (v, v + s). mu_L gives a pair the first run's probability of v, mu_R the
    second run's of v + s; s does not depend on the draw, so that v -> v + s is a bijection of the integers and the
    marginals are right. The ratio is exp((|v + s - y'| - |v - y|)/scale) <= exp(|y + s - y'|/scale).
    Side conditions: the same public scale; s is an integer that speaks neither of x<1> nor of x'<2> nor of ghosts, so
    that it is the same before and after; k is fixed.
    """
    right = left if right is None else right
    first, second = _centers(context, left, right)
    check_fixed(context, distance, "the distance")
    _check_shift(context, shift, left, right)
    amount = times(rate_of(context, _law(left).scale, left.at), distance)
    near = le(magnitude(sub(add(first, shift), second)), distance)
    budget = {} if amount == ZERO else {_law(left).scale.base: amount}
    pre = clause(near, f"the centers are at most {show(distance)} apart", left.at)
    return _coupled(context, left, right, pre, eq(add(_drawn(left, 1), shift), _drawn(right, 2)), budget, "lap-shifted")


def laplace_null(context: Context, left: Sample, right: Sample | None = None) -> Judgment:
    """|-_0 x :=$ lap(scale, y) ~ x' :=$ lap(scale, y') : true => x<1> - y<1> == x'<2> - y'<2>.

    Sound: the noise itself is the same in both runs; both witnesses are the law of (v, v + y'<2> - y<1>).
    Side conditions: the same public scale; y does not speak of x nor y' of x', which would be another value afterwards.
    """
    right = left if right is None else right
    first, second = _centers(context, left, right)
    rate_of(context, _law(left).scale, left.at)
    _keeps_center(left, right)
    equal = eq(sub(_drawn(left, 1), first), sub(_drawn(right, 2), second))
    return _coupled(context, left, right, (), equal, {}, "lap-null")


def laplace_interval(
    context: Context,
    left: Sample,
    right: Sample | None = None,
    *,
    mine: Interval,
    theirs: Interval,
    apart: tuple[int, int] | None = None,
) -> Judgment:
    """|-_{ln r} x ~ x' : lo <= y'<2> - y<1> <= hi => (x<1> - y<1> in I) == (x'<2> - y<1> in J), r as below.

    Without `apart` J is relative to the second run's own center, y'<2>, and nothing is asked of the centers.
    Sound: let p be the first run's probability of I, and q the second's of J given the centers. On I x J take
    mu_L(v, w) = P1(v) P2(w) / q and mu_R(v, w) = P1(v) P2(w) / p, and the same on the complements. mu_L has the first
    run's marginal, mu_R the second's (nothing where p is 0), the ratio is p/q or (1 - p)/(1 - q). r is the larger of
    these for the worst distance of the centers, and no smaller r will do (Strassen: the events I and its complement).
    Side conditions: exp(-1/scale) is rational, so that p and q are; the intervals are constant; y does not speak of x.
    If q is 0 and p is not, there is no such coupling, at any cost.
    """
    right = left if right is None else right
    first, second = _centers(context, left, right)
    _keeps_center(left, right)
    scale = _law(left).scale
    rate_of(context, scale, left.at)
    step = ratio_of_steps(scale)
    if step is None:
        raise NoTheorem(f"line {left.at}: exp(-1/scale) is not known to be rational for {scale.as_scale()}")
    worst = max(_worst_ratio(step, mine, _moved(theirs, -gap)) for gap in _gaps(apart, left.at))
    pre: Assertion = ()
    if apart is not None:
        gap = sub(second, first)
        within = and_(le(Num(apart[0]), gap), le(gap, Num(apart[1])))
        pre = clause(within, "the centers are as far apart as was said", left.at)
    origin = second if apart is None else first
    agree = eq(_inside(sub(_drawn(left, 1), first), mine), _inside(sub(_drawn(right, 2), origin), theirs))
    return _coupled(context, left, right, pre, agree, logarithmic_budget(context, worst), "lap-interval")


def _coupled(
    context: Context, left: Sample, right: Sample, pre: Assertion, post: Term, budget: Budget, rule: str
) -> Judgment:
    return made(
        context=context, left=Block((left,)), right=Block((right,)), pre=pre,
        post=clause(post, "the draws are coupled", left.at), rule=rule, line=left.at, budget=budget,
    )  # fmt: skip


def _law(statement: Sample) -> Laplace:
    if not isinstance(statement.law, Laplace) or statement.target.sort != "int":
        raise ParameterError(f"line {statement.at}: the rule is for x :=$ lap(scale, center)")
    return statement.law


def _centers(context: Context, left: Sample, right: Sample) -> tuple[Term, Term]:
    if _law(left).scale != _law(right).scale:
        raise ParameterError(
            f"line {left.at}: the scales are {_law(left).scale.as_scale()} and {_law(right).scale.as_scale()}: "
            "expected the same in both runs"
        )
    return context.run(_law(left).center, 1), context.run(_law(right).center, 2)


def _drawn(statement: Sample, side: int) -> Var:
    return Var(statement.target.name, statement.target.sort, side)


def _check_shift(context: Context, shift: Term, left: Sample, right: Sample) -> None:
    check_relational(context, shift, "the shift")
    if sort_of(shift) != "int":
        raise ParameterError(f"line {left.at}: the shift {show(shift)} must be an integer")
    if {_drawn(left, 1), _drawn(right, 2)} & variables(shift):
        raise ParameterError(f"line {left.at}: the shift {show(shift)} speaks of what is drawn")


def _keeps_center(left: Sample, right: Sample) -> None:
    for statement in (left, right):
        if statement.target in variables(_law(statement).center):
            raise ParameterError(
                f"line {statement.at}: the center speaks of {statement.target}, which the draw changes"
            )


def _gaps(apart: tuple[int, int] | None, line: int) -> range:
    if apart is None:
        return range(1)
    if not apart[0] <= apart[1]:
        raise ParameterError(f"line {line}: apart={apart}: expected the least and the greatest distance of the centers")
    return range(apart[0], apart[1] + 1)


def _moved(interval: Interval, by: int) -> Interval:
    low, high = interval
    return (None if low is None else low + by, None if high is None else high + by)


def _inside(term: Term, interval: Interval) -> Term:
    low, high = interval
    return and_(
        TRUE if low is None else le(Num(low), term),
        TRUE if high is None else le(term, Num(high)),
    )


def _worst_ratio(step: Fraction, mine: Interval, theirs: Interval) -> Fraction:
    p, q = probability_of(step, mine), probability_of(step, theirs)
    if (p > 0 and q == 0) or (p < 1 and q == 1):
        raise NoTheorem(f"what has probability {p} in one run and {1 - p} outside has {q} and {1 - q} in the other")
    return max(p / q if p else Fraction(0), (1 - p) / (1 - q) if p < 1 else Fraction(0))


def probability_of(step: Fraction, interval: Interval) -> Fraction:
    """The probability of an interval under P(k) proportional to step^|k|.

    >>> probability_of(Fraction(1, 2), (0, 0)), probability_of(Fraction(1, 2), (1, None))
    (Fraction(1, 3), Fraction(1, 3))
    """
    low, high = interval
    if low is not None and high is not None and low > high:
        return Fraction(0)
    above = Fraction(1) if high is None else _up_to(step, high)
    return above - (Fraction(0) if low is None else _up_to(step, low - 1))


def _up_to(step: Fraction, k: int) -> Fraction:
    return step**-k / (1 + step) if k < 0 else 1 - step ** (k + 1) / (1 + step)
