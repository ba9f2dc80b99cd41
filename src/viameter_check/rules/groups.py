"""Group privacy: the loss at a distance, from the loss at distance 1, in spaces where so many steps lead there."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number, times
from viameter_check.document import Node
from viameter_check.intervals import Interval, expm1, outward, point
from viameter_check.losses import FIELDS, Loss
from viameter_check.places import ADDING, DISCRETE, NORMS, NUMBER, REPLACING, Place
from viameter_check.report import Refused
from viameter_check.rules.chains import start_of
from viameter_check.rules.converting import infinite
from viameter_check.rules.table import OUTWARD, Derived, in_measure, loss, needs, number, rule, same, whole

Choice = list[tuple[Number, int]]
"""Renyi orders, each with the number of steps that it is used for."""

MULTIPLIED = {"group-pure": ("pure", 1), "group-zcdp": ("zcdp", 2), "group-gdp": ("gdp", 2)} | {
    "group-bounded-range": ("bounded-range", 1)
}
"""Laws that multiply a number by a power of the number of steps: the measure and the power."""

WITHOUT_LAW = ("approx-zcdp", "profile")
_MOST_CHOICES = 50_000
_MOST_STEPS = 2**64
_DEEPEST = 4096
"""Powers up to about e to this are computed; the library stops far below."""
_EXACT_BITS = 2048


def multiplied(node: Node) -> Derived:
    """The number of steps, or its square, times the loss of one."""
    measure, power = MULTIPLIED[node.theorem]
    given, steps = _taken(node, measure)
    if isinstance(steps, float):
        return infinite(measure)
    return loss(measure, times(Fraction(steps**power), given[FIELDS[measure][0]]))


for slug in MULTIPLIED:
    rule(slug)(multiplied)


@rule("group-approx", numbers=OUTWARD)
def group_approx(node: Node) -> Derived:
    """m eps, and delta (1 + e^eps + ... + e^((m - 1) eps)), which is a quotient of expm1."""
    given, steps = _taken(node, "approx")
    epsilon, delta = given["epsilon"], Fraction(given["delta"])
    if isinstance(steps, float):
        return infinite("approx")
    several = times(Fraction(steps), epsilon)
    if epsilon == 0 or delta == 0 or steps <= 1:
        return loss("approx", several, min(delta * steps, Fraction(1)))
    if isinstance(several, float) or isinstance(epsilon, float):
        return infinite("approx")
    # Shortened, so that exp is quick; it rises, so that each end is that of its own argument.
    top, bottom = _short(several), _short(epsilon)
    grown = Interval(expm1(Fraction(top.low)).low, expm1(Fraction(top.high)).high)
    one = Interval(expm1(Fraction(bottom.low)).low, expm1(Fraction(bottom.high)).high)
    return loss("approx", several, (point(delta) * grown.over(one)).at_most(Fraction(1)))


def choices(records: Any) -> list[Choice]:
    """For each bound, the orders that were chosen for the steps."""
    if not isinstance(records, list) or not all(isinstance(record, list) for record in records):
        raise Refused("expected a list of choices")
    if sum(map(len, records)) > _MOST_CHOICES:
        raise Refused(f"has more than {_MOST_CHOICES} orders: this checker reads up to that")
    if not all(isinstance(pair, list) and len(pair) == 2 for record in records for pair in record):
        raise Refused("expected orders with numbers of steps")
    return [[(number(order), whole(count)) for order, count in record] for record in records]


@rule("group-renyi", numbers=OUTWARD, chosen=choices)
def group_renyi(node: Node, *, chosen: list[Choice]) -> Derived:
    """One order c for each step, t = 1 - 1/c: sums of bounds over the t of later steps, at 1 - 1/a = product of t."""
    given, steps = _taken(node, "renyi")
    if steps in (0, 1) or isinstance(steps, float):
        needs(not chosen, "there is nothing to choose", "parameters.chosen")
        if steps == 1:
            return same(given)
        return infinite("renyi") if steps else in_measure("renyi", ((INFINITY, point(0)),))
    found = []
    for n, choice in enumerate(chosen):
        where = f"parameters.chosen[{n}]"
        needs(steps < _MOST_STEPS or choice == [(INFINITY, steps)], "has too many steps for this checker", where)
        needs(sum(count for _, count in choice) == steps, f"is not for {steps} steps", where)
        needs(all(given.at(order) != INFINITY and order > 1 for order, _ in choice), "has no bound", where)
        found.append(_bounded(given, choice, where))
    return in_measure("renyi", tuple(found))


@rule("group-ends")
def group_ends(node: Node) -> Derived:
    """Measures without a law: no step, one step, and no guarantee."""
    measure = node.output.measure
    owned = measure.startswith("user:")
    needs(measure in WITHOUT_LAW or owned, "has a law of its own", "output.measure")
    needs(not owned or bool(node.assumes), "a measure that nobody vouches for", "assumes")
    given, steps = _taken(node, measure)
    needs(steps in (0, 1, INFINITY), "has no law for two steps or more", "given")
    if steps == 1:
        return same(given)
    if measure == "profile":
        return in_measure(measure, () if steps else ((Fraction(0), point(0)),))
    if owned:
        return in_measure(measure, (("amount", point(steps)),))
    return infinite(measure) if steps else loss(measure, 0, 0)


def _taken(node: Node, measure: str) -> tuple[Loss, int | float]:
    """The loss of one step, and the number of steps that lead as far as the distance that was given."""
    needs(len(node.premises) == 1, "has one premise, the loss at distance 1", "premises")
    (premise,) = node.premises
    if not isinstance(premise.bound, Loss) or premise.bound.measure != measure:
        raise Refused(f"is not a loss of {measure}", "premises[0].bound")
    if not node.input.is_space or not isinstance(node.given, Fraction | float):
        raise Refused(f"{node.theorem} takes a distance", "given")
    needs(start_of(premise) == (node.input, 1), "is not of the same data at distance 1", "premises[0]")
    if isinstance(node.given, float):
        return premise.bound, INFINITY
    steps = math.ceil(node.given)
    if steps > 1:
        needs(joined_by_steps(node.input), "data are not known to be joined by steps of length 1", "input")
    if steps == 0:
        needs(tells_all_apart(node.input), "different data may be at distance 0", "input")
    return premise.bound, steps


def joined_by_steps(place: Place) -> bool:
    """Whether data at distance m, where that is finite, are joined by m steps rounded up, each within the domain."""
    if place.metric == DISCRETE or place.metric in REPLACING:
        return True
    if place.metric in ADDING or place.counts_users:
        # Where the number of rows is fixed, a step leaves the domain.
        return place.data.size is None and place.is_fitting
    # Whole numbers move by one along each axis; along several at once the Euclidean step would be too long.
    return place.metric in (NUMBER, "L1Distance()", "LInfDistance()") and place.data.kind == "int"


def tells_all_apart(place: Place) -> bool:
    """Whether data at distance 0 are equal; most metrics of datasets do not see the order of rows."""
    # A float 0 has two signs.
    if place.metric in (NUMBER, *NORMS):
        return place.data.kind == "int"
    return place.metric in (DISCRETE, "InsertDeleteDistance()", "HammingDistance()")


def _bounded(given: Loss, choice: Choice, where: str) -> tuple[Number, Interval]:
    """The order that a choice bounds, at least, and the bound there."""
    depth = sum(count * _depth(order) for order, count in choice if not isinstance(order, float))
    needs(depth <= _DEEPEST, "bounds no order that is apart from 1", where)
    kept, bound = point(1), point(0)
    for order, count in choice:
        here = point(given.at(order))
        if isinstance(order, float):
            bound += here * point(count)
            continue
        grown = _power(_short(order / (order - 1)), count)
        bound = bound * grown + here * point(order - 1) * grown.minus(point(1))
        kept *= _power(_short((order - 1) / order), count)
    rest = 1 - Fraction(kept.low)
    return (1 / rest if rest else INFINITY), bound


def _depth(order: Fraction) -> Fraction:
    """At least the logarithm of order/(order - 1): that of 1 + x is at most x, and at most the bits of 1 + x."""
    x = 1 / (order - 1)
    return x if x < 1 else Fraction(math.ceil(1 + x).bit_length())


def _power(base: Interval, count: int) -> Interval:
    """The base to a whole power, exactly while that is short."""
    bits = max(Fraction(base.high).numerator.bit_length(), Fraction(base.high).denominator.bit_length())
    if base.is_point and bits * count <= _EXACT_BITS:
        return point(Fraction(base.low) ** count)
    result = point(1)
    for bit in bin(count)[2:]:
        result = result * result
        result = result * base if bit == "1" else result
    return result


def _short(x: Fraction) -> Interval:
    """A number as it is where it is short, else an interval around it."""
    long = max(x.numerator.bit_length(), x.denominator.bit_length()) > _EXACT_BITS
    return outward(x, x + x / 2**400) if long else point(x)
