"""Up to bad: what holds unless noise is unusually large holds after all, with that probability as delta."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from viameter.errors import NoTheorem, ParameterError
from viameter.logic.kernel.assertion import Assertion, under
from viameter.logic.kernel.context import Context, same
from viameter.logic.kernel.judgment import Judgment, made
from viameter.logic.kernel.rules.amounts import plain_budget, rate_of, ratio_of_steps_up
from viameter.logic.kernel.rules.structure import added
from viameter.logic.lang.core import Block, Exponential, Laplace, Sample, Uniform, assigned, statements_of
from viameter.logic.lang.terms import ZERO, App, Num, Term, Var, lt, magnitude, not_, show, sub, variables


@dataclass(frozen=True, slots=True)
class Bad:
    """An event of the first run: that what a statement draws is further than `beyond` above its center.

    With `either` it may be further below as well: abs(x - center) > beyond. The center of exponential and of uniform
    noise is 0.
    """

    statement: Sample
    beyond: int
    either: bool = False

    def event(self, context: Context) -> Term:
        """The event as a term over the first run's memory at the end."""
        drawn = Var(self.statement.target.name, "int", 1)
        noise = sub(drawn, context.run(self.center, 1))
        return lt(Num(self.beyond), magnitude(noise) if self.either else noise)

    @property
    def center(self) -> Term:
        """Around what the noise is drawn."""
        return self.statement.law.center if isinstance(self.statement.law, Laplace) else ZERO

    def probability(self, context: Context) -> Fraction:
        """The probability of the event, exactly or rounded up, whatever came before the draw.

        Laplace: P(noise > t) = r^(t+1)/(1 + r) for r = exp(-1/scale), which grows with r; exponential: r^(t+1).
        """
        line = self.statement.at
        if isinstance(self.beyond, bool) or not isinstance(self.beyond, int) or self.beyond < 0:
            raise ParameterError(f"line {line}: beyond={self.beyond!r}: expected an integer of at least 0")
        match self.statement.law:
            case Laplace(scale=scale):
                rate_of(context, scale, line)
                ratio = ratio_of_steps_up(scale, line)
                return (2 if self.either else 1) * ratio ** (self.beyond + 1) / (1 + ratio)
            case Exponential(scale=scale):
                rate_of(context, scale, line)
                return ratio_of_steps_up(scale, line) ** (self.beyond + 1)
            case Uniform(low=Num(low), high=Num(high)) if low <= high:
                values = range(low, high + 1)
                size = [abs(value) if self.either else value for value in values]
                return Fraction(sum(value > self.beyond for value in size), len(values))
        raise NoTheorem(f"line {line}: no tail is known for this law: expected lap, expo or uniform(a, b)")

    def check_decided(self, block: Block) -> None:
        """The statement is run exactly once and always, and what the event speaks of does not change afterwards."""
        places = [at for at, statement in enumerate(block.statements) if statement is self.statement]
        if len(places) != 1:
            raise ParameterError(f"line {self.statement.at}: the draw is no statement of the block itself, made once")
        writes = [s.target for s in statements_of(block) if hasattr(s, "target")]
        if writes.count(self.statement.target) != 1:
            raise ParameterError(f"line {self.statement.at}: {self.statement.target} is assigned elsewhere too")
        later = {var.name for var in assigned(Block(block.statements[places[0] :]))}
        lost = {var.name for var in variables(self.center)} & later
        if lost:
            raise ParameterError(
                f"line {self.statement.at}: the center speaks of {', '.join(sorted(lost))}, which change"
            )


def up_to_bad(judgment: Judgment, bad: Bad, post: Assertion) -> Judgment:
    """From |-_{b, d} c1 ~ c2 : P => (not bad<1> => Q) and Pr[bad in run 1] <= d': |-_{b, d + d'} c1 ~ c2 : P => Q.

    Sound: keep the witnesses where bad does not hold: there Q does. The rest of mu_L has a mass of at most d'; move
    each of its pairs (m, m') to a pair (m, m'') of Q, and leave it out of mu_R, whose second marginal gets smaller.
    All that was moved is excess, and adds d'. So Q need not hold where bad does, but every m must have *some* partner:
    Q is made of equations x<1> == x<2>, and of ghosts that say that lists are equal, for variables that c2 assigns;
    m'' takes their values from m. (For Q = false the premise may be true if bad is certain, and the conclusion is not.)
    Side conditions: bad is decided by one draw of c1 that is made exactly once, outside of loops and branches; neither
    the drawn variable nor what its center speaks of is assigned afterwards; the draw's law has a known tail.
    """
    context = judgment.context
    event = bad.event(context)
    if judgment.post != under(not_(event), post):
        raise ParameterError(f"the judgment must end in 'not bad => Q' for bad = {show(event)}; use consequence")
    if "rho" in context.units:
        raise ParameterError("concentrated cost (rho) has no delta")
    _check_partners(judgment.right, post)
    bad.check_decided(judgment.left)
    extra = plain_budget(context, "delta", bad.probability(context))
    return made(
        context=context, left=judgment.left, right=judgment.right, pre=judgment.pre, post=post, rule="bad",
        line=bad.statement.at, premises=(judgment,), budget=added(judgment.budget, extra),
        notes={"bad": show(event), "probability": str(bad.probability(context))},
    )  # fmt: skip


def _check_partners(right: Block, post: Assertion) -> None:
    changed = assigned(right)
    for entry in post:
        match entry.term:
            case App("==", (Var(name=one, sort=sort, side=1), Var(name=other, side=2))) if one == other:
                fine = Var(one, sort) in changed
            case Var() as ghost:
                fine = any(ghost == same(var) for var in changed if var.sort == "list")
            case _:
                fine = False
        if not fine:
            raise ParameterError(
                f"{entry} may have no partner where bad holds: expected x<1> == x<2> for an assigned x, or same.out"
            )
