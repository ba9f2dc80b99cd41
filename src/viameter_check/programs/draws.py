"""The rules of sampling: what a draw of both runs does to the state, what it costs, and what must hold before it.

Run 1 draws v, which may be anything the law allows. Run 2 draws what the shift says. Each rule gives values for the
variables and costs after the draw in terms of the state before it, the range of v, and clauses that must hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count

from viameter_check.programs.annotations import Annotations, cost
from viameter_check.programs.relations import Runs
from viameter_check.programs.syntax import (
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    Laplace,
    Sample,
    Uniform,
)
from viameter_check.programs.terms import BOOL, INT, Term, length, make, number, truth, variable, within
from viameter_check.programs.units import DELTA, ONE, RHO, Mechanism, Unit, mechanism_of, odds_of
from viameter_check.programs.walking import substitute, variables
from viameter_check.report import Refused

ZERO = number(0)


@dataclass(frozen=True, slots=True)
class Draw:
    """The values after a draw, the range of what was drawn, and what must hold before: (where, what, term)."""

    values: Mapping[Term, Term]
    range: Term = field(default_factory=lambda: truth(True))
    needs: tuple[tuple[str, str, Term], ...] = ()


@dataclass(frozen=True, slots=True)
class Draws:
    """The rules, for one proof."""

    runs: Runs
    annotations: Annotations
    units: Mapping[str, Unit]
    mechanisms: Mapping[str, Mechanism]
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def fresh(self, sort: str = INT, *, what: str = "any value") -> Term:
        """A variable that stands nowhere else; no text can name it."""
        return variable(f"({what} {next(self._numbers)})", sort)

    def of(self, draw: Sample) -> Draw:
        """What a draw does."""
        try:
            return self._of(draw)
        except Refused as problem:
            raise Refused(f"line {draw.line}: {problem}", problem.where or "units") from None

    def _of(self, draw: Sample) -> Draw:
        match draw.law:
            case Laplace(scale, center):
                return self._shifted(draw, self._rate(scale.base, 1 / scale.coefficient, scale.factors), center)
            case Exponential(scale):
                return self._shifted(draw, self._rate(scale.base, 1 / scale.coefficient, scale.factors), None)
            case Gaussian():
                return self._gaussian(draw, draw.law)
            case Flip():
                return self._flip(draw, draw.law)
            case Uniform():
                return self._uniform(draw, draw.law)
            case Choose():
                return self._choose(draw, draw.law)
            case Call():
                return self._call(draw, draw.law)

    def _rate(self, base: str, amount: Fraction, over: tuple[Term, ...] = ()) -> Term:
        """amount / over of the base, in whole units."""
        return self.units.get(base, Unit()).whole(amount, over)

    def _targets(self, draw: Sample) -> tuple[Term, Term]:
        return variable(draw.target, draw.sort, 1), variable(draw.target, draw.sort, 2)

    def _shifted(self, draw: Sample, rate: Term, center: Term | None) -> Draw:
        """Laplace noise, and the one-sided noise that has no center."""
        (first, second), shift, v = self._targets(draw), self.annotations.shift(draw), self.fresh()
        base = draw.law.scale.base if isinstance(draw.law, Laplace | Exponential) else ONE
        (moved,) = substitute([shift], {first: v})
        image, needs = make("+", v, moved), []
        if center is None:
            allowed, steps = make("<=", ZERO, v), moved
            possible = make("=>", allowed, make("<=", ZERO, image))
            needs.append(("shifts", "what the second run draws is possible", possible))
        else:
            one, two = (self.runs.in_run(side, center)[0] for side in (1, 2))
            allowed, steps = truth(True), make("abs", make("+", moved, make("-", one, two)))
        if first in variables(shift):
            w = self.fresh()
            other, other_allowed = substitute([image, allowed], {v: w})
            apart = make("or", make("==", v, w), make("!=", image, other))
            injective = make("=>", make("and", allowed, other_allowed), apart)
            needs.append(("shifts", "the shift takes no two values to one", injective))
        paid = make("+", cost(base), make("*", rate, steps))
        return Draw({first: v, second: image, cost(base): paid}, allowed, tuple(needs))

    def _gaussian(self, draw: Sample, law: Gaussian) -> Draw:
        (first, second), shift, v = self._targets(draw), self.annotations.shift(draw), self.fresh()
        (bound,) = self.annotations.bounds[draw.line]
        sigma = law.scale
        rate = self._rate(RHO, 1 / (2 * sigma.coefficient**2), (*sigma.factors, *sigma.factors))
        one, two = (self.runs.in_run(side, law.center)[0] for side in (1, 2))
        steps = make("abs", make("+", shift, make("-", one, two)))
        paid = make("+", cost(RHO), make("*", rate, make("*", bound, bound)))
        needs = (("bounds", "the bound is that of the distance", make("<=", steps, bound)),)
        return Draw({first: v, second: make("+", v, shift), cost(RHO): paid}, needs=needs)

    def _flip(self, draw: Sample, law: Flip) -> Draw:
        (first, second), shift, v = self._targets(draw), self.annotations.shift(draw), self.fresh(BOOL)
        values = {first: v, second: make("!=", v, shift)}
        odds = odds_of(law)
        if odds not in (None, 1):
            base = f"ln({odds})"
            paid = make("ite", shift, self._rate(base, Fraction(1)), ZERO)
            values[cost(base)] = make("+", cost(base), paid)
        return Draw(values)

    def _uniform(self, draw: Sample, law: Uniform) -> Draw:
        (first, second), shift, v = self._targets(draw), self.annotations.shift(draw), self.fresh()
        (low, high), (other_low, other_high) = (self.runs.in_run(side, law.low, law.high) for side in (1, 2))
        moved = v
        if shift is not ZERO:
            many = make("+", make("-", high, low), number(1))
            moved = make("+", low, make("%", make("+", make("-", v, low), shift), many))
        needs = (
            ("text", "both runs draw from one range", make("==", low, other_low)),
            ("text", "both runs draw from one range", make("==", high, other_high)),
            ("text", "the range is not empty", make("<=", low, high)),
        )
        allowed = make("and", make("<=", low, v), make("<=", v, high))
        return Draw({first: v, second: moved}, allowed, needs)

    def _choose(self, draw: Sample, law: Choose) -> Draw:
        (first, second), v, k = self._targets(draw), self.fresh(), self.fresh()
        low, high = self.annotations.bounds[draw.line]
        one, two = (make("read", self.runs.name(law.scores, side), k) for side in (1, 2))
        change = make("-", two, one)
        near = make("and", make("<=", low, change), make("<=", change, high))
        needs = (
            ("bounds", "the bounds are in order", make("<=", low, high)),
            ("bounds", "the scores change by no more", make("=>", within(k, law.scores), near)),
        )
        many = length(law.scores)
        last = make("ite", make("<", ZERO, many), make("<", v, many), make("==", v, ZERO))
        base = law.scale.base
        rate = self._rate(base, 1 / law.scale.coefficient, law.scale.factors)
        paid = make("+", cost(base), make("*", rate, make("-", high, low)))
        return Draw({first: v, second: v, cost(base): paid}, make("and", make("<=", ZERO, v), last), needs)

    def _call(self, draw: Sample, law: Call) -> Draw:
        (first, second), v = self._targets(draw), self.fresh()
        entry = mechanism_of(law, self.mechanisms)
        one, two = (self.runs.in_run(side, law.argument)[0] for side in (1, 2))
        near = make("<=", make("abs", make("-", one, two)), number(entry.distance))
        values = {first: v, second: v}
        for base, amount in ((ONE, entry.epsilon), (DELTA, entry.delta)):
            if amount:
                values[cost(base)] = make("+", cost(base), self._rate(base, amount))
        return Draw(values, needs=(("mechanisms", "the arguments are as near as the mechanism asks", near),))
