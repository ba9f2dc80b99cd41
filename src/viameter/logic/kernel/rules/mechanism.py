"""Mechanisms of the library as parts of programs: what a call costs, and the rule for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import Number, probability, show, whole
from viameter.core import Measurement
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.logic.kernel.assertion import clause
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.judgment import Judgment, made
from viameter.logic.kernel.rules.amounts import plain_budget
from viameter.logic.lang.core import Block, Call, Sample
from viameter.logic.lang.terms import Num, Var, eq, le, magnitude, sub
from viameter.measures import ApproxDP, PureDP
from viameter.spaces import GREATEST_INT, LEAST_INT, AbsoluteDistance, IntDomain


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A measurement on one integer, with what it costs on integers that are `distance` apart.

    It is what a program's table of mechanisms has for a name. Called, it runs the measurement; arguments outside of
    the bounds of its domain stop there, which brings no two of them further apart.
    """

    measurement: Measurement
    distance: int
    epsilon: Fraction
    delta: Fraction
    says: str

    def __post_init__(self) -> None:
        found = _read(self.measurement, self.distance)
        if (self.epsilon, self.delta) != found:
            raise ParameterError(
                f"epsilon={self.epsilon}, delta={self.delta}: the measurement has {found[0]} and {found[1]} at a "
                f"distance of {self.distance}; use mechanism(measurement, distance=...)"
            )

    def __call__(self, argument: int) -> Any:
        """What the measurement releases."""
        low, high = self.measurement.input_space.domain.bounds or (LEAST_INT, GREATEST_INT)  # type: ignore[attr-defined]
        return self.measurement(min(max(argument, low), high))


def mechanism(measurement: Measurement, *, distance: Number = 1) -> Mechanism:
    """A measurement as a program may call it, with the loss that its own map has at a distance.

    >>> import viameter as vm
    >>> noisy = mechanism(vm.laplace(vm.Space(vm.scalars(int), vm.AbsoluteDistance()), scale=4), distance=2)
    >>> noisy.epsilon, noisy.delta, noisy.says
    (Fraction(1, 2), Fraction(0, 1), 'epsilon = 1/2, delta = 0 for integers that are at most 2 apart')
    """
    steps = whole(distance, name="distance")
    epsilon, delta = _read(measurement, steps)
    says = f"epsilon = {show(epsilon)}, delta = {show(delta)} for integers that are at most {steps} apart"
    return Mechanism(measurement, steps, epsilon, delta, says)


def _read(measurement: Measurement, distance: int) -> tuple[Fraction, Fraction]:
    if not isinstance(measurement, Measurement):
        raise ParameterError(f"{plain(measurement)} is no Measurement")
    if isinstance(distance, bool) or not isinstance(distance, int) or distance < 0:
        raise ParameterError(f"distance={distance!r}: expected an integer of at least 0")
    space = measurement.input_space
    if not isinstance(space.domain, IntDomain) or not isinstance(space.metric, AbsoluteDistance):
        raise NoTheorem(
            f"a program calls a mechanism on one integer, with AbsoluteDistance(): {space!r} is another space"
        )
    if measurement.measure not in (PureDP, ApproxDP):
        raise NoTheorem(
            f"the mechanism is measured in {measurement.measure!r}: expected PureDP or ApproxDP; "
            "measurement.to(ApproxDP, delta=...) converts it, at a delta of your choice"
        )
    loss: Any = measurement.map(distance)
    epsilon, delta = loss.epsilon, loss.delta if measurement.measure is ApproxDP else Fraction(0)
    if not isinstance(epsilon, Fraction | int):
        raise NoTheorem(f"the mechanism has no finite epsilon at a distance of {distance}")
    return Fraction(epsilon), probability(delta, name="delta")


def call(context: Context, left: Sample, right: Sample | None = None) -> Judgment:
    """|-_{e, d} x :=$ call m(a) ~ x' :=$ call m(a') : |a<1> - a'<2>| <= k => x<1> == x'<2>.

    Sound: (e, d) is the measurement's own guarantee for inputs k apart; both witnesses are on pairs of equal outputs,
    with the two laws as marginals. A smaller distance has no larger loss, and outputs are countable.
    Side conditions: the same mechanism in both runs, with the loss that its map gives.
    """
    right = left if right is None else right
    one, other = left.law, right.law
    if not isinstance(one, Call) or not isinstance(other, Call) or one.name != other.name:
        raise ParameterError(f"line {left.at}: the rule is for x :=$ call m(a), with the same m in both runs")
    entry = context.program.mechanisms.get(one.name)
    if not isinstance(entry, Mechanism):
        raise ParameterError(f"line {left.at}: {one.name!r} is no Mechanism; make one with mechanism(measurement)")
    near = le(magnitude(sub(context.run(one.argument, 1), context.run(other.argument, 2))), Num(entry.distance))
    equal = eq(Var(left.target.name, left.target.sort, 1), Var(right.target.name, right.target.sort, 2))
    return made(
        context=context, left=Block((left,)), right=Block((right,)),
        pre=clause(near, f"the arguments of {one.name} are close enough", left.at),
        post=clause(equal, "the draws are coupled", left.at), rule="call-fixed", line=left.at,
        budget={**plain_budget(context, "1", entry.epsilon), **plain_budget(context, "delta", entry.delta)},
        notes={"mechanism": entry.says},
    )  # fmt: skip
