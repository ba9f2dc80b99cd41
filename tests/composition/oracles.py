"""Finite mechanisms on one bit with their laws, every way of choosing them by answers, and parts for tests.

Laws of views are products of conditional laws, written down outcome by outcome: nothing here calls what it checks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from tests.mechanisms.oracles import ORDERS, Law, exp, real, renyi, two_way
from tests.threads import in_threads

import viameter as vm
from viameter.core import Query, Queryable
from viameter.errors import PermissionGone

ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())
BIT = vm.Space(vm.finite([0, 1]), vm.DiscreteDistance())
DATA = [3, 1, 4, 1, 5]
PURE = vm.Odometer(ROWS, vm.PureDP)
SEQUENTIAL = vm.Odometer(ROWS, vm.ApproxZCDP)
OTHER_METRIC = vm.Space(vm.vectors(int), vm.InsertDeleteDistance())
Answers = tuple[Any, ...]


# Finite mechanisms


@dataclass(frozen=True)
class Toy:
    """A mechanism on one bit: the law of its answers for 0 and for 1, and its loss."""

    laws: tuple[Law, Law]
    loss: vm.Loss

    def __hash__(self) -> int:
        return id(self)


def response_laws(epsilon: Any, *, flipped: bool = False) -> tuple[Law, Law]:
    """Randomized response: the bit with probability e^epsilon/(1 + e^epsilon)."""
    truth = exp(epsilon) / (1 + exp(epsilon))
    laws = ({0: truth, 1: 1 - truth}, {0: 1 - truth, 1: truth})
    return (laws[1], laws[0]) if flipped else laws


def leaky_laws(epsilon: Any, delta: Any, *, flipped: bool = False) -> tuple[Law, Law]:
    """The bit itself with probability delta, marked as such; else randomized response."""
    kept = 1 - real(delta)
    first, second = response_laws(epsilon, flipped=flipped)
    return (
        {**{answer: kept * p for answer, p in first.items()}, "it is 0": real(delta)},
        {**{answer: kept * p for answer, p in second.items()}, "it is 1": real(delta)},
    )


def range_toy(eta: Any, low: Any) -> tuple[Law, Law]:
    """Two outcomes with privacy losses `low` and `low + eta`, for low between -eta and 0."""
    lower, upper = gmpy2.exp(real(low)), gmpy2.exp(real(low) + real(eta))
    # q lower + (1 - q) upper = 1 makes both of them laws.
    q = (upper - 1) / (upper - lower)
    return {0: q * lower, 1: (1 - q) * upper}, {0: q, 1: 1 - q}


LOWS = [Fraction(-n, 8) for n in range(1, 8)]
"""Lower ends of ranges of 1."""


def response_rho(epsilon: Any) -> Fraction:
    """The least rho of randomized response, from its divergences at many orders; rounded up."""
    laws = response_laws(epsilon)
    fine = [*ORDERS, *(Fraction(n, 100) for n in range(101, 140))]
    return above(max(two_way(renyi, *laws, order) / real(order) for order in fine))


def above(number: Any) -> Fraction:
    """A rational just above an MPFR number."""
    return Fraction(*map(int, gmpy2.f2q(number).as_integer_ratio())) + Fraction(1, 10**12)


Strategy = Callable[[Answers], Toy | None]
"""Which mechanism comes next after these answers; None to stop."""


def strategies(menu: Sequence[Toy], *, fixed: bool = False) -> Iterator[Strategy]:
    """Every strategy of two steps: a first mechanism, and for each of its answers a second one or none.

    If losses are fixed in advance, there is always a second mechanism, of the same loss whatever was answered.
    """
    for first in menu:
        answers = list(dict.fromkeys(itertools.chain(*first.laws)))
        seconds: list[Toy | None] = [*menu] if fixed else [*menu, None]
        for chosen in itertools.product(seconds, repeat=len(answers)):
            if fixed and len({repr(toy.loss) for toy in chosen if toy}) > 1:
                continue
            plan = dict(zip(answers, chosen, strict=True))
            yield lambda seen, first=first, plan=plan: (  # type: ignore[misc]
                first if not seen else plan[seen[0]] if len(seen) == 1 else None
            )


def views(strategy: Strategy, bit: int, seen: Answers = ()) -> Law:
    """The law of all answers under a strategy."""
    toy = strategy(seen)
    if toy is None:
        return {seen: real(1)}
    law: Law = {}
    for answer, chance in toy.laws[bit].items():
        for view, rest in views(strategy, bit, (*seen, answer)).items():
            law[view] = chance * rest
    return law


def both_views(strategy: Strategy) -> tuple[Law, Law]:
    return views(strategy, 0), views(strategy, 1)


def losses_on(strategy: Strategy, view: Answers) -> list[vm.Loss]:
    """The losses of the mechanisms that were run on the way to these answers."""
    asked = [strategy(view[:step]) for step in range(len(view))]
    return [toy.loss for toy in asked if toy is not None]


# Measurements


def measurement(
    loss: Any = None,
    *,
    function: Callable[[Any], Any] = lambda _: "answer",
    privacy: Callable[[Any], Any] | None = None,
    measure: vm.Measure = vm.PureDP,
    space: vm.Space = ROWS,
) -> vm.Measurement:
    """A measurement of this loss for any distance above 0, or of this privacy map."""
    constant = vm.pure("1/10") if loss is None else loss
    measure = constant.measure if privacy is None else measure
    return vm.measurement(
        space,
        function=function,
        measure=measure,
        privacy=privacy or (lambda d_in: constant if d_in else measure.zero),
        trust="a test",
    )


def tenth(**others: Any) -> vm.Measurement:
    """A measurement that costs pure(d_in/10)."""
    return measurement(privacy=lambda d_in: vm.pure(d_in * Fraction(1, 10)), **others)


def answering(toy: Toy, answer: Any) -> vm.Measurement:
    """A measurement of a bit with the loss of a finite mechanism, which gives this answer."""
    return measurement(toy.loss, space=BIT, function=lambda _: answer)


class Runs:
    """A function for measurements that counts how often it was run."""

    def __init__(self, answer: Any = "answer") -> None:
        self.count = 0
        self.answer = answer

    def __call__(self, _: Any) -> Any:
        self.count += 1
        return self.answer() if callable(self.answer) else self.answer


def echo() -> Queryable:
    """Answers every query by what it says."""
    return Queryable(lambda _, query: query.query, name="echo")


def maker() -> Queryable:
    """Answers every query by making what it says."""

    def transition(_: Queryable, query: Query) -> Any:
        return query.query()

    return Queryable(transition, name="maker")


def spawning(make: Callable[[], Any], loss: Any = None) -> vm.Measurement:
    """A measurement in approximate zCDP that releases what is made."""
    return measurement(loss or vm.approx_zcdp("1/10", "1/1000"), function=lambda _: make())


# Threads


def elsewhere(make: Callable[[], Any]) -> Any:
    """Make it in another thread, which does not know under which guards this one is."""
    made: list[Any] = []
    in_threads(lambda: made.append(make()))
    return made[0]


def assert_gone(child: Queryable) -> None:
    with pytest.raises(PermissionGone):
        child("hello")
    with pytest.raises(PermissionGone):
        child.ask("hello")
    with pytest.raises(PermissionGone), child.holding("hello"):
        raise AssertionError("not reached")


def capped(budget: Any = 1, *, d_in: Any = 1) -> Any:
    return PURE.filter(d_in=d_in, budget=vm.pure(budget))(DATA)
