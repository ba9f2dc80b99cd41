"""Conversions from pure, approximate and bounded-range losses."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import INFINITY, Number, times
from viameter_check.document import Node
from viameter_check.intervals import Interval, expm1, log, point, root, tanh
from viameter_check.rules.converting import (
    amount,
    combined,
    converted,
    infinite,
    is_finite,
    less_than_one,
    one_plus_exp,
    orders,
    probability,
    signed_log,
)
from viameter_check.rules.table import OUTWARD, Derived, in_measure, loss, needs, nonnegative, rule, same


@rule("same-measure")
def same_measure(node: Node) -> Derived:
    """A loss is itself."""
    return same(converted(node, node.input.measure, node.input.measure))


@rule("bounded-range-is-pure")
def bounded_range_is_pure(node: Node) -> Derived:
    """No loss exceeds the range."""
    return loss("pure", converted(node, "bounded-range", "pure")["eta"])


@rule("bounded-range-to-zcdp")
def bounded_range_to_zcdp(node: Node) -> Derived:
    """eta^2/8."""
    return loss("zcdp", _square(converted(node, "bounded-range", "zcdp")["eta"], 8))


@rule("bounded-range-to-zcdp-sharp", numbers=OUTWARD)
def bounded_range_to_zcdp_sharp(node: Node) -> Derived:
    """x - 1 - ln x with x = eta/(e^eta - 1), which falls as x rises."""
    eta = converted(node, "bounded-range", "zcdp")["eta"]
    if isinstance(eta, float) or eta == 0:
        return loss("zcdp", eta)
    simple = eta * eta / 8
    t = expm1(eta)
    if isinstance(t.high, float):
        # 1/x is at most e^eta/eta, and x itself, with such an eta, below 2^-1000.
        tiny = point(Fraction(1, 2**1000))
        one = Fraction(1)
        return loss("zcdp", amount((one, point(eta)), (-one, point(1)), (-one, log(eta)), (one, tiny)))
    # x <= 1 is the least where e^eta - 1 is the most, and then x - 1 - ln x is the most.
    ends = [_relative(eta / Fraction(end)) for end in (t.low, t.high)]
    return loss("zcdp", Interval(max(ends[0][0], Fraction(0)), ends[1][1]).at_most(simple))


def _relative(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of x - 1 - ln x for 0 < x <= 1."""
    return combined((Fraction(-1), point(1 - x)), signed_log(x, -1))


@rule("bounded-range-to-approx", numbers=OUTWARD, delta=probability)
def bounded_range_to_approx(node: Node, *, delta: Fraction) -> Derived:
    """eta - 2 ln(1/(1 - r)) with r the square root of delta (1 - e^-eta), which rises with r."""
    eta = converted(node, "bounded-range", "approx")["eta"]
    if isinstance(eta, float) or eta == 0:
        return loss("approx", eta, 0 if eta == 0 else 1)
    if delta in (0, 1):
        return loss("approx", eta if delta == 0 else 0, delta)
    inner = point(delta) * less_than_one(eta)
    ends = [Fraction(root(Fraction(inner.low)).low), Fraction(root(Fraction(inner.high)).high)]
    # 1 - r is above 0: the ends of the interval may not be.
    terms = [(Fraction(-2), log(1 / max(1 - end, Fraction(1, 2**4096)))) for end in ends]
    sums = [amount((Fraction(1), point(eta)), term) for term in terms]
    return loss("approx", Interval(sums[1].low, sums[0].high), delta)


@rule("bounded-range-to-approx-at-epsilon", numbers=OUTWARD, epsilon=nonnegative)
def bounded_range_to_approx_at_epsilon(node: Node, *, epsilon: Fraction) -> Derived:
    """(1 - e^((epsilon - eta)/2))^2/(1 - e^-eta) for epsilon below eta."""
    eta = converted(node, "bounded-range", "approx")["eta"]
    if isinstance(eta, float) or eta == 0:
        return loss("approx", eta, 0 if eta == 0 else 1)
    if epsilon >= eta:
        return loss("approx", epsilon, 0)
    part = less_than_one((eta - epsilon) / 2)
    return loss("approx", epsilon, (part * part).over(less_than_one(eta)).at_most(Fraction(1)))


@rule("pure-to-bounded-range")
def pure_to_bounded_range(node: Node) -> Derived:
    """2 eps."""
    return loss("bounded-range", times(Fraction(2), converted(node, "pure", "bounded-range")["epsilon"]))


@rule("pure-to-zcdp", numbers=OUTWARD)
def pure_to_zcdp(node: Node) -> Derived:
    """eps tanh(eps/2)."""
    return loss("zcdp", zcdp_of_pure(converted(node, "pure", "zcdp")["epsilon"]))


@rule("pure-to-zcdp-quadratic")
def pure_to_zcdp_quadratic(node: Node) -> Derived:
    """eps^2/2."""
    return loss("zcdp", _square(converted(node, "pure", "zcdp")["epsilon"], 2))


@rule("pure-to-approx-zcdp", numbers=OUTWARD)
def pure_to_approx_zcdp(node: Node) -> Derived:
    """As in zCDP, with delta 0."""
    given = converted(node, "pure", "approx-zcdp")
    return loss("approx-zcdp", zcdp_of_pure(given["epsilon"]), 0) if is_finite(given) else infinite("approx-zcdp")


@rule("pure-is-renyi")
def pure_is_renyi(node: Node) -> Derived:
    """The divergence of infinite order."""
    epsilon = converted(node, "pure", "renyi")["epsilon"]
    return infinite("renyi") if epsilon == INFINITY else in_measure("renyi", ((INFINITY, point(epsilon)),))


@rule("pure-to-renyi", numbers=OUTWARD, order=orders)
def pure_to_renyi(node: Node, *, order: tuple[Number, ...]) -> Derived:
    """What randomized response has at each order."""
    epsilon = converted(node, "pure", "renyi")["epsilon"]
    if isinstance(epsilon, float):
        return infinite("renyi")
    return in_measure("renyi", tuple((a, _renyi_of_pure(epsilon, a)) for a in order))


@rule("pure-is-approx")
def pure_is_approx(node: Node) -> Derived:
    """With delta 0."""
    given = converted(node, "pure", "approx")
    return loss("approx", given["epsilon"], 0) if is_finite(given) else infinite("approx")


@rule("pure-to-approx", numbers=OUTWARD, delta=probability)
def pure_to_approx(node: Node, *, delta: Fraction) -> Derived:
    """A smaller epsilon where a delta is allowed."""
    return _at_delta(converted(node, "pure", "approx")["epsilon"], Fraction(0), delta)


@rule("pure-to-approx-at-epsilon", numbers=OUTWARD, epsilon=nonnegative)
def pure_to_approx_at_epsilon(node: Node, *, epsilon: Fraction) -> Derived:
    """A delta at a smaller epsilon."""
    return _at_epsilon(converted(node, "pure", "approx")["epsilon"], Fraction(0), epsilon)


@rule("approx-is-pure")
def approx_is_pure(node: Node) -> Derived:
    """Where delta is 0."""
    given = converted(node, "approx", "pure")
    if not is_finite(given):
        return infinite("pure")
    needs(given["delta"] == 0, "has a delta above 0, from which no pure loss follows", "given")
    return loss("pure", given["epsilon"])


@rule("approx-at-larger-delta", numbers=OUTWARD, delta=probability)
def approx_at_larger_delta(node: Node, *, delta: Fraction) -> Derived:
    """A smaller epsilon at a larger delta."""
    given = converted(node, "approx", "approx")
    if not is_finite(given):
        return infinite("approx")
    needs(delta >= given["delta"], "is below that of the loss", "parameters.delta")
    return _at_delta(given["epsilon"], Fraction(given["delta"]), delta)


@rule("approx-at-other-epsilon", numbers=OUTWARD, epsilon=nonnegative)
def approx_at_other_epsilon(node: Node, *, epsilon: Fraction) -> Derived:
    """A larger delta at a smaller epsilon."""
    given = converted(node, "approx", "approx")
    if not is_finite(given):
        return infinite("approx")
    return _at_epsilon(given["epsilon"], Fraction(given["delta"]), epsilon)


@rule("approx-to-approx-zcdp", numbers=OUTWARD)
def approx_to_approx_zcdp(node: Node) -> Derived:
    """As pure-to-zcdp, outside of an event of probability delta."""
    given = converted(node, "approx", "approx-zcdp")
    if not is_finite(given):
        return infinite("approx-zcdp")
    return loss("approx-zcdp", zcdp_of_pure(given["epsilon"]), given["delta"])


@rule("approx-to-approx-zcdp-quadratic")
def approx_to_approx_zcdp_quadratic(node: Node) -> Derived:
    """As pure-to-zcdp-quadratic, outside of an event of probability delta."""
    given = converted(node, "approx", "approx-zcdp")
    return loss("approx-zcdp", _square(given["epsilon"], 2), given["delta"])


def zcdp_of_pure(epsilon: Number) -> Interval:
    """eps tanh(eps/2), which is at most eps^2/2."""
    if isinstance(epsilon, float) or epsilon == 0:
        return point(epsilon)
    return (point(epsilon) * tanh(epsilon / 2)).at_most(epsilon * epsilon / 2)


def response_epsilon(epsilon: Fraction, known: Fraction, delta: Fraction) -> Interval:
    """eps + ln(1 - c (1 + exp(-eps))) with c = (delta - known)/(1 - known), for delta >= known."""
    if known == 1 or delta == 1:
        return point(0)
    allowed = (delta - known) / (1 - known)
    taken = point(allowed) * one_plus_exp(epsilon)
    low, high = Fraction(taken.low), Fraction(taken.high)
    if low >= 1:
        return point(0)
    most = point(epsilon).minus(log(1 / (1 - low))).high
    least = point(epsilon).minus(log(1 / (1 - high))).low if high < 1 else Fraction(0)
    return Interval(least, most)


def response_delta(epsilon: Fraction, known: Fraction, wanted: Fraction) -> Interval:
    """known + (1 - known) (1 - exp(e - eps))/(1 + exp(-eps)) for e < eps, and known from there on."""
    if wanted >= epsilon:
        return point(known)
    new = less_than_one(epsilon - wanted).over(one_plus_exp(epsilon))
    return (point(known) + point(1 - known) * new).at_most(Fraction(1))


def _at_delta(epsilon: Number, known: Fraction, delta: Fraction) -> Derived:
    if isinstance(epsilon, float):
        return infinite("approx")
    if epsilon == known == 0:
        return loss("approx", 0, 0)
    return loss("approx", response_epsilon(epsilon, known, delta), delta)


def _at_epsilon(epsilon: Number, known: Fraction, wanted: Fraction) -> Derived:
    if isinstance(epsilon, float):
        return infinite("approx")
    if epsilon == known == 0:
        return loss("approx", 0, 0)
    return loss("approx", wanted, response_delta(epsilon, known, wanted))


def _renyi_of_pure(epsilon: Fraction, order: Number) -> Interval:
    """eps - [ln(1 + exp(-eps)) - ln(1 + exp(-(2a - 1) eps))]/(a - 1), at most eps and a times the zCDP loss."""
    if isinstance(order, float) or epsilon == 0:
        return point(epsilon)
    one, other = one_plus_exp((2 * order - 1) * epsilon), one_plus_exp(epsilon)
    part = 1 / (order - 1)
    curve = amount(
        (Fraction(1), point(epsilon)),
        (part, Interval(log(Fraction(one.low)).low, log(Fraction(one.high)).high)),
        (-part, Interval(log(Fraction(other.low)).low, log(Fraction(other.high)).high)),
    )
    straight = point(order) * zcdp_of_pure(epsilon)
    return Interval(min(curve.low, epsilon), min(curve.high, straight.high, epsilon))


def _square(value: Number, divisor: int) -> Number:
    return value if isinstance(value, float) else value * value / divisor
