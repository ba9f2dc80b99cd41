"""Conversions from zCDP, approximate zCDP, Renyi, Gaussian losses and profiles.

Bounds from zCDP hold at every order a = 1 + b. The best one is looked for here anew; whichever is found, what is
derived is the bound at exactly that order, so that nothing rests on how good it is.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from viameter_check.amounts import INFINITY, Number, times
from viameter_check.document import Node
from viameter_check.intervals import Interval, log, outward, point
from viameter_check.losses import Loss
from viameter_check.normal import gaussian_delta_up
from viameter_check.report import Refused
from viameter_check.rules.converting import (
    amount,
    chance,
    converted,
    infinite,
    is_finite,
    orders,
    probability,
    signed_log,
)
from viameter_check.rules.response import response_delta, response_epsilon
from viameter_check.rules.table import OUTWARD, Derived, in_measure, loss, needs, nonnegative, rule

Function = Callable[[Fraction], Fraction]


@rule("zcdp-to-approx", numbers=OUTWARD, delta=probability)
def zcdp_to_approx(node: Node, *, delta: Fraction) -> Derived:
    """The least epsilon over all orders."""
    rho = converted(node, "zcdp", "approx")["rho"]
    if isinstance(rho, float):
        return infinite("approx")
    return loss("approx", epsilon_of_zcdp(rho, delta), delta) if rho else loss("approx", 0, 0)


@rule("zcdp-to-approx-at-epsilon", numbers=OUTWARD, epsilon=nonnegative)
def zcdp_to_approx_at_epsilon(node: Node, *, epsilon: Fraction) -> Derived:
    """The least delta over all orders."""
    rho = converted(node, "zcdp", "approx")["rho"]
    if isinstance(rho, float):
        return infinite("approx")
    return loss("approx", epsilon, delta_of_zcdp(rho, epsilon)) if rho else loss("approx", 0, 0)


@rule("zcdp-is-approx-zcdp")
def zcdp_is_approx_zcdp(node: Node) -> Derived:
    """With delta 0."""
    given = converted(node, "zcdp", "approx-zcdp")
    return loss("approx-zcdp", given["rho"], 0) if is_finite(given) else infinite("approx-zcdp")


@rule("zcdp-to-renyi", order=orders)
def zcdp_to_renyi(node: Node, *, order: tuple[Number, ...]) -> Derived:
    """rho a at order a."""
    return _straight(converted(node, "zcdp", "renyi")["rho"], order)


@rule("approx-zcdp-is-zcdp")
def approx_zcdp_is_zcdp(node: Node) -> Derived:
    """Where delta is 0."""
    given = converted(node, "approx-zcdp", "zcdp")
    if not is_finite(given):
        return infinite("zcdp")
    needs(given["delta"] == 0, "has a delta above 0, from which no loss in zCDP follows", "given")
    return loss("zcdp", given["rho"])


@rule("approx-zcdp-to-approx", numbers=OUTWARD, delta=probability)
def approx_zcdp_to_approx(node: Node, *, delta: Fraction) -> Derived:
    """As from zCDP, with what is left of delta."""
    given = converted(node, "approx-zcdp", "approx")
    if not is_finite(given):
        return infinite("approx")
    rho, known = Fraction(given["rho"]), Fraction(given["delta"])
    if rho == known == 0:
        return loss("approx", 0, 0)
    needs(delta >= known, "is below that of the loss", "parameters.delta")
    return loss("approx", epsilon_of_zcdp(rho, (delta - known) / (1 - known)) if rho else 0, delta)


@rule("approx-zcdp-to-approx-at-epsilon", numbers=OUTWARD, epsilon=nonnegative)
def approx_zcdp_to_approx_at_epsilon(node: Node, *, epsilon: Fraction) -> Derived:
    """As from zCDP, and the loss's own delta."""
    given = converted(node, "approx-zcdp", "approx")
    if not is_finite(given):
        return infinite("approx")
    rho, known = Fraction(given["rho"]), Fraction(given["delta"])
    if rho == known == 0:
        return loss("approx", 0, 0)
    more = delta_of_zcdp(rho, epsilon) if rho else point(0)
    # Exactly, since the second term may be far below the last of the bits that are kept of the first.
    low, high = (known + (1 - known) * Fraction(end) for end in (more.low, more.high))
    return loss("approx", epsilon, Interval(low, high))


@rule("renyi-is-pure")
def renyi_is_pure(node: Node) -> Derived:
    """The bound at infinite order."""
    given = converted(node, "renyi", "pure")
    bound = given.at(INFINITY)
    needs(not given.amounts or bound != INFINITY, "has no bound at infinite order", "given")
    return loss("pure", bound)


@rule("renyi-to-approx", numbers=OUTWARD, delta=probability)
def renyi_to_approx(node: Node, *, delta: Fraction) -> Derived:
    """The least epsilon over the orders that are listed."""
    points = _points(converted(node, "renyi", "approx"))
    if not points:
        return infinite("approx")
    if points == [(INFINITY, Fraction(0))]:
        return loss("approx", 0, 0)
    return loss("approx", _least([_epsilon_at_order(a, bound, delta) for a, bound in points]), delta)


@rule("renyi-to-approx-at-epsilon", numbers=OUTWARD, epsilon=nonnegative)
def renyi_to_approx_at_epsilon(node: Node, *, epsilon: Fraction) -> Derived:
    """The least delta over the orders that are listed."""
    points = _points(converted(node, "renyi", "approx"))
    if not points:
        return infinite("approx")
    if points == [(INFINITY, Fraction(0))]:
        return loss("approx", 0, 0)
    return loss("approx", epsilon, _least([_delta_at_order(a, bound, epsilon) for a, bound in points]))


@rule("gdp-to-approx", numbers=OUTWARD, delta=probability)
def gdp_to_approx(node: Node, *, delta: Fraction) -> Derived:
    """Whichever epsilon is written: at it, two Gaussians have no more than this delta."""
    squared = converted(node, "gdp", "approx")["mu_squared"]
    if isinstance(squared, float):
        return infinite("approx")
    if squared == 0:
        return loss("approx", 0, 0)
    epsilon = node.bound["epsilon"] if isinstance(node.bound, Loss) else INFINITY
    enough = isinstance(epsilon, float) or delta == 1 or gaussian_delta_up(squared, epsilon) <= delta
    needs(enough, "is too small: at it, two Gaussians have a larger delta", "bound.epsilon")
    return loss("approx", epsilon, delta)


@rule("gdp-to-approx-at-epsilon", numbers=OUTWARD, epsilon=nonnegative)
def gdp_to_approx_at_epsilon(node: Node, *, epsilon: Fraction) -> Derived:
    """The delta of two Gaussians."""
    squared = converted(node, "gdp", "approx")["mu_squared"]
    if isinstance(squared, float):
        return infinite("approx")
    return loss("approx", epsilon, gaussian_delta_up(squared, epsilon)) if squared else loss("approx", 0, 0)


@rule("gdp-to-zcdp")
def gdp_to_zcdp(node: Node) -> Derived:
    """mu^2/2."""
    return loss("zcdp", times(Fraction(1, 2), converted(node, "gdp", "zcdp")["mu_squared"]))


@rule("gdp-to-renyi", order=orders)
def gdp_to_renyi(node: Node, *, order: tuple[Number, ...]) -> Derived:
    """a mu^2/2 at order a."""
    return _straight(times(Fraction(1, 2), converted(node, "gdp", "renyi")["mu_squared"]), order)


@rule("profile-to-approx", numbers=OUTWARD, delta=probability)
def profile_to_approx(node: Node, *, delta: Fraction) -> Derived:
    """The least epsilon that is listed with a delta as small."""
    given = converted(node, "profile", "approx")
    if not any(known < 1 for _, known in given.amounts):
        return infinite("approx")
    if given.amounts[0] == (0, 0):
        return loss("approx", 0, 0)
    found = [at for at, known in given.amounts if known <= delta]
    needs(bool(found) or delta == 1, "is below all that the profile lists", "parameters.delta")
    return loss("approx", Fraction(0) if delta == 1 else min(found), delta)


@rule("profile-to-approx-at-epsilon", epsilon=nonnegative)
def profile_to_approx_at_epsilon(node: Node, *, epsilon: Fraction) -> Derived:
    """The delta that is listed for this epsilon or a lower one."""
    given = converted(node, "profile", "approx")
    if not any(known < 1 for _, known in given.amounts):
        return infinite("approx")
    if given.amounts[0] == (0, 0):
        return loss("approx", 0, 0)
    found = [Fraction(known) for at, known in given.amounts if at <= epsilon]
    return loss("approx", epsilon, min(found, default=Fraction(1)))


def epsilon_of_zcdp(rho: Fraction, delta: Fraction) -> Interval:
    """rho (1 + b) + ln b - (1 + 1/b) ln(1 + b) + l/b at about the best b: rho b^2 + ln(1 + b) = l = ln(1/delta)."""
    if delta in (0, 1):
        return point(0 if delta else INFINITY)
    _require_short(rho=rho)
    length = log(1 / delta)
    target = Fraction(length.low)
    b = _solved(
        lambda b: rho * b * b + Fraction(log(1 + b).low) - target,
        lambda b: 2 * rho * b + 1 / (1 + b),
    )
    return amount((Fraction(1), point(rho * (1 + b))), signed_log(b), (-(1 + 1 / b), log(1 + b)), (1 / b, length))


def delta_of_zcdp(rho: Fraction, epsilon: Fraction) -> Interval:
    """exp(b (rho (1 + b) - e) + b ln b - (1 + b) ln(1 + b)) at about the best b: 2 rho b - ln(1 + 1/b) = e - rho."""
    _require_short(rho=rho, epsilon=epsilon)
    b = _solved(
        lambda b: 2 * rho * b - Fraction(log(1 + 1 / b).low) - (epsilon - rho),
        lambda b: 2 * rho + 1 / (b * (1 + b)),
    )
    drift = b * (rho * (1 + b) - epsilon)
    sign = Fraction(1 if drift >= 0 else -1)
    return chance((sign, point(abs(drift))), signed_log(b, b), (-(1 + b), log(1 + b)))


_MOST_BITS = 2048
"""The library's losses are shorter, and a number of a million bits would take minutes."""


def _require_short(**numbers: Fraction) -> None:
    for name, number in numbers.items():
        if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
            raise Refused(f"{name} has more than {_MOST_BITS} bits: this checker does not convert it")


def _solved(function: Function, slope: Function) -> Fraction:
    """About where an increasing function of b > 0 is 0: between powers of two, by halving, then by Newton's steps."""
    low, high = Fraction(1), Fraction(2)
    for _ in range(_MOST_DOUBLINGS):
        if function(low) <= 0:
            break
        low, high = low / 2, low
    for _ in range(_MOST_DOUBLINGS):
        if function(high) >= 0:
            break
        low, high = high, 2 * high
    for _ in range(24):
        middle = _short((low + high) / 2)
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    b = (low + high) / 2
    for _ in range(5):
        moved = _short(b - function(b) / slope(b))
        b = moved if low <= moved <= high else b
    return b


_MOST_DOUBLINGS = 4000


def _short(x: Fraction) -> Fraction:
    """About x, in few bits."""
    return Fraction(outward(x, x + x / 2**300).low) if x > 0 else x


def _epsilon_at_order(order: Number, bound: Number, delta: Fraction) -> Interval:
    if isinstance(order, float):
        return response_epsilon(Fraction(bound), Fraction(0), delta)
    if delta in (0, 1):
        return point(0 if delta else INFINITY)
    part = 1 / (order - 1)
    return amount((Fraction(1), point(bound)), signed_log(1 - 1 / order), signed_log(order * delta, -part))


def _delta_at_order(order: Number, bound: Number, epsilon: Fraction) -> Interval:
    if isinstance(order, float):
        return response_delta(Fraction(bound), Fraction(0), epsilon)
    drift = (order - 1) * (Fraction(bound) - epsilon)
    sign = Fraction(1 if drift >= 0 else -1)
    return chance((sign, point(abs(drift))), signed_log(1 - 1 / order, order), signed_log(order - 1, -1))


def _points(given: Loss) -> list[tuple[Number, Number]]:
    """The orders that have a finite bound."""
    return [(order, bound) for order, bound in given.amounts if bound != INFINITY]


def _least(intervals: list[Interval]) -> Interval:
    return min(intervals, key=lambda interval: interval.high)


def _straight(rho: Number, order: tuple[Number, ...]) -> Derived:
    """rho a at each order; without loss, none at any."""
    if rho == 0:
        return in_measure("renyi", ((INFINITY, point(0)),))
    bounds = [(a, times(rho, a)) for a in order]
    return in_measure("renyi", tuple((a, point(bound)) for a, bound in bounds if bound != INFINITY))
