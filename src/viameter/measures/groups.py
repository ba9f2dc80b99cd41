"""Group privacy: from the loss between data one step apart to the loss between data several steps apart.

| measure | at m steps | theorem |
|---|---|---|
| PureDP | m epsilon | group-pure |
| ApproxDP | m epsilon, delta (e^(m epsilon) - 1)/(e^epsilon - 1) | group-approx |
| ZCDP | m^2 rho | group-zcdp |
| GaussianDP | m mu | group-gdp |
| RenyiDP | the best listed order for each step | group-renyi |
| BoundedRange | m eta | group-bounded-range |
| all others | known at 0 and 1 steps and at infinity only | group-ends |

At infinite distance nothing is promised, not even where the loss of a step is zero: there may be no way of steps at
all. The size of a dataset does not change when a row is replaced, and tells datasets of different size apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from viameter.arith import INFINITY, Extended, Number, dyadic, extended, settle_up, show, times
from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures.amounts import (
    ApproxLoss,
    BoundedRangeLoss,
    GaussianLoss,
    PureLoss,
    ZCDPLoss,
)
from viameter.measures.conversions.directed import DOWN, UP, chance_up, real
from viameter.measures.curves import RenyiDP, RenyiLoss, renyi
from viameter.theorem import Derivation, Numbers, theorem, theorem_of

AnyLoss = TypeVar("AnyLoss", bound=Loss)
Floats = npt.NDArray[np.float64]
Chosen = tuple[tuple[Extended, int], ...]
"""For how many of the steps each listed order is used, in rising order."""

ONE = Fraction(1)


def group_loss(loss: Loss, distance: Number | float) -> Loss:
    """The loss at a distance, counted in steps, of what has this loss at one step; a part of a step counts as one.

    >>> from viameter.measures import pure, zcdp
    >>> group_loss(pure("1/10"), 3), group_loss(zcdp("1/10"), 3), group_loss(pure("1/10"), "5/2")
    (pure(3/10), zcdp(9/10), pure(3/10))
    """
    if not isinstance(loss, Loss):
        raise ParameterError(f"{plain(loss)} is not a loss: expected e.g. zcdp(1)")
    found: Loss = _LAWS.get(type(loss), group_ends)(loss, distance=extended(distance, name="distance"))
    return found


def group_derivation(premise: Derivation, distance: Number | float) -> Derivation:
    """The group theorem over what shows the loss at one step; it speaks of the same space, at this distance.

    Whoever asks for it vouches that data at this distance in the space are joined by so many steps between members of
    its domain; where the library knows that they are not, there is NoTheorem.
    """
    loss = premise.bound_value
    if not isinstance(loss, Loss):
        raise ParameterError(f"the premise ends in {plain(loss)}: expected the derivation of a loss")
    given = extended(distance, name="distance")
    start = _start(premise)
    if start is not None and start.given_value != 1:
        raise ParameterError(
            f"the premise is of data {show(start.given_value)} apart: expected the derivation at distance 1"
        )
    space = None if start is None else start.space
    if space is not None:
        _require_steps(space, _steps(given))
    law = _LAWS.get(type(loss), group_ends)
    bound = law(loss, distance=given)
    return Derivation(
        f"steps of {loss!r} each",
        theorem_of(law),
        show(given),
        repr(bound),
        assumes=() if loss.measure.assumption is None else (loss.measure.assumption,),
        premises=(premise,),
        given_value=given,
        bound_value=bound,
        parameters=(("chosen", _chosen(loss, given, bound.orders)),) if isinstance(bound, RenyiLoss) else (),
        space=space,
    )


@theorem("group-pure", cites="Dwork, McSherry, Nissim and Smith 2006; Dwork and Roth 2014, Theorem 2.2")
def group_pure(loss: PureLoss, *, distance: Extended) -> PureLoss:
    """Pure losses are multiplied by the number of steps.

    Theorem
        What is pure(eps) for data one step apart is pure(m eps) for data m steps apart.
    Requires
        A pure loss, which holds for every step between data of the domain, and a distance >= 0 that counts such steps.
    Ensures
        The loss is pure(m eps), exactly, m being the distance rounded up; infinite at infinite distance.
    Proof
        The likelihood ratio between the ends is the product of those of the m steps, each at most exp(eps).
    Example
        >>> from viameter.measures import pure
        >>> group_pure(pure("1/10"), distance=Fraction(3))
        pure(3/10)
    """
    return PureLoss(_multiplied(_of(loss, PureLoss).epsilon, _steps(distance)))


@theorem("group-approx", cites="Vadhan 2017, Lemma 2.2; Dwork and Roth 2014, Section 2.3", numbers=Numbers.OUTWARD)
def group_approx(loss: ApproxLoss, *, distance: Extended) -> ApproxLoss:
    """Epsilons are multiplied by the number of steps, and deltas grow by e^epsilon with each.

    Theorem
        What is approx(eps, delta) for data one step apart is, for data m steps apart, approx(m eps, d) with
        d = delta (1 + e^eps + ... + e^((m - 1) eps)).
    Requires
        An approximate loss, which holds for every step between data of the domain, and a distance >= 0 that counts such
        steps.
    Ensures
        Epsilon is m eps, exactly, m being the distance rounded up; delta is d, rounded up, and at most 1; exact where
        eps or delta is 0 or m at most 1. Infinite at infinite distance.
    Proof
        With P_0, ..., P_m along the steps, P_0(S) <= e^eps P_1(S) + delta, and so on: by induction P_0(S) is at most
        e^(m eps) P_m(S) + delta (1 + e^eps + ... + e^((m - 1) eps)).
    Example
        >>> from viameter.measures import approx
        >>> group_approx(approx(0, "1e-6"), distance=Fraction(3))
        approx(0, 3/1000000)
        >>> float(group_approx(approx(1, "1e-6"), distance=Fraction(3)).delta)
        1.1107337927389695e-05
    """
    steps, (epsilon, delta) = _steps(distance), (_of(loss, ApproxLoss).epsilon, loss.delta)
    if steps == INFINITY:
        return loss.measure.infinite
    if steps == 0:
        return loss.measure.zero
    if steps == 1:
        return loss
    several = times(Fraction(steps), epsilon)
    if epsilon == 0 or delta == 0:
        return ApproxLoss(several, min(delta * int(steps), ONE))
    if several == INFINITY:
        return loss.measure.infinite
    growth = UP.div(UP.expm1(real(Fraction(several), UP)), DOWN.expm1(real(Fraction(epsilon), DOWN)))
    return ApproxLoss(several, chance_up(UP.mul(real(delta, UP), growth)))


@theorem("group-zcdp", cites="Bun and Steinke 2016, Proposition 1.9")
def group_zcdp(loss: ZCDPLoss, *, distance: Extended) -> ZCDPLoss:
    """Concentrated losses are multiplied by the square of the number of steps.

    Theorem
        What is zcdp(rho) for data one step apart is zcdp(m^2 rho) for data m steps apart.
    Requires
        A concentrated loss, which holds for every step between data of the domain, and a distance >= 0 that counts such
        steps. The loss at one order alone does not do: see group-renyi.
    Ensures
        The loss is zcdp(m^2 rho), exactly, m being the distance rounded up; infinite at infinite distance.
    Proof
        Let P and Q be x^2-zCDP, and Q and R be y^2-zCDP. As for group-renyi, with u = a - 1 and v = (p - 1) a the order
        a between P and R is at most a (u + v)(x^2/u + y^2/v), which is a (x + y)^2 where v/u = y/x. So square roots of
        rho satisfy the triangle inequality. Two Gaussians attain it.
    Example
        >>> from viameter.measures import zcdp
        >>> group_zcdp(zcdp("1/10"), distance=Fraction(3))
        zcdp(9/10)
    """
    return ZCDPLoss(_multiplied(_of(loss, ZCDPLoss).rho, _steps(distance), power=2))


@theorem("group-gdp", cites="Dong, Roth and Su 2019, Theorem 2.14 and Section 2.4")
def group_gdp(loss: GaussianLoss, *, distance: Extended) -> GaussianLoss:
    """Gaussian losses mu are multiplied by the number of steps, so that their squares are by its square.

    Theorem
        What is gdp(mu) for data one step apart is gdp(m mu) for data m steps apart.
    Requires
        A Gaussian loss, which holds for every step between data of the domain, and a distance >= 0 that counts such
        steps.
    Ensures
        The loss has the square m^2 mu^2, exactly, m being the distance rounded up; infinite at infinite distance.
    Proof
        A test with P(S) = Phi(z) has Q(S) <= Phi(z + mu) after one step. By induction it has at most Phi(z + m mu)
        after m of them, since Phi rises. Two Gaussians attain it.
    Example
        >>> from viameter.measures import gdp
        >>> group_gdp(gdp("1/2"), distance=Fraction(3))
        gdp(3/2)
    """
    return GaussianLoss(_multiplied(_of(loss, GaussianLoss).mu_squared, _steps(distance), power=2))


@theorem("group-bounded-range", cites="derived here, from Durfee and Rogers 2019, Definition 3.1")
def group_bounded_range(loss: BoundedRangeLoss, *, distance: Extended) -> BoundedRangeLoss:
    """Ranges are multiplied by the number of steps.

    Theorem
        What is bounded_range(eta) for data one step apart is bounded_range(m eta) for data m steps apart.
    Requires
        A bounded range, which holds for every step between data of the domain, and a distance >= 0 that counts such
        steps.
    Ensures
        The range is m eta, exactly, m being the distance rounded up; infinite at infinite distance.
    Proof
        The privacy loss of an outcome between the ends is the sum of those of the m steps, each of which moves in an
        interval of length eta.
    Example
        >>> from viameter.measures import bounded_range
        >>> group_bounded_range(bounded_range("1/10"), distance=Fraction(3))
        bounded_range(3/10)
    """
    return BoundedRangeLoss(_multiplied(_of(loss, BoundedRangeLoss).eta, _steps(distance)))


@theorem(
    "group-renyi",
    cites="Mironov 2017, Propositions 2 and 11; the product form is derived here",
    numbers=Numbers.OUTWARD,
)
def group_renyi(loss: RenyiLoss, *, distance: Extended) -> RenyiLoss:
    """Renyi losses of several steps: one listed order for each step, which together bound a lower order.

    Theorem
        Let the Renyi divergence of one step be at most r(c) at order c. Choose an order c_k for each of m steps. Then
        the divergence of m steps is at most the sum over k of r(c_k)/(t_(k+1) ... t_m) at the order a with
        1 - 1/a = t_1 ... t_m, where t_k = 1 - 1/c_k.
    Requires
        A Renyi loss, which holds for every step between data of the domain, and a distance >= 0 that counts such steps.
    Ensures
        The loss lists the best bounds among those that a search finds, up to some hundred orders, each with its order
        exact or rounded down and its bound exact or rounded up; m r at infinite order, where that is listed. Orders
        below 1 + 2^-60 are not listed, so that nothing may be left after very many steps. Infinite at infinite
        distance.
    Proof
        Hoelder's inequality with 1/p + 1/q = 1 bounds the order a between P and R by (a - 1/p)/(a - 1) times the order
        c = p a between P and Q, plus the order b = q (a - 1/p) between Q and R. Here (a - 1/p)/(a - 1) = b/(b - 1), and
        1 - 1/a = (1 - 1/b)(1 - 1/c); infinite orders are limits. Induction gives the sum. Every choice is sound; at
        equal orders the sum is least where the orders rise with k, and a bound at one order holds at all lower ones.
    Example
        >>> from viameter.measures import renyi
        >>> group_renyi(renyi({4: "1/10"}), distance=Fraction(2))
        renyi({16/7: 7/30})
    """
    steps = _steps(distance)
    _of(loss, RenyiLoss)
    if steps == 0:
        return RenyiDP.zero
    if steps == 1:
        return loss
    found = _listed(loss, steps)
    return renyi({order: bound for order, (bound, _) in found.items()}) if found else RenyiDP.infinite


@theorem("group-ends", cites="the definition of a loss")
def group_ends(loss: AnyLoss, *, distance: Extended) -> AnyLoss:
    """In every measure no step costs nothing, one step costs the loss, and at infinite distance nothing is promised.

    Theorem
        Between equal data there is no loss, and between data one step apart there is the loss that is given.
    Requires
        A distance of at most 1, or an infinite one: for two steps or more it takes a theorem on the measure.
    Ensures
        The zero of the measure at distance 0, the loss up to 1, and the infinite loss at infinity.
    Proof
        Equal data have equal outputs; an infinite loss promises nothing.
    Example
        >>> from viameter.measures import approx_zcdp
        >>> group_ends(approx_zcdp("1/10", "1e-6"), distance=Fraction(1))
        approx_zcdp(1/10, 1/1000000)
    """
    steps = _steps(distance)
    ends: dict[Extended, Loss] = {0: loss.measure.zero, 1: loss, INFINITY: loss.measure.infinite}
    if steps not in ends:
        raise NoTheorem(
            f"no theorem gives the loss at distance {show(extended(distance))} of what has {loss!r} at distance 1: "
            f"{loss.measure!r} has no group law, so that the leaf must give its own map, or be counted in "
            f"PureDP, ApproxDP, ZCDP, RenyiDP or GaussianDP"
        )
    return ends[steps]  # type: ignore[return-value]  # all are of the measure


_LAWS: Mapping[type[Loss], Callable[..., Any]] = {
    PureLoss: group_pure,
    ApproxLoss: group_approx,
    ZCDPLoss: group_zcdp,
    GaussianLoss: group_gdp,
    BoundedRangeLoss: group_bounded_range,
    RenyiLoss: group_renyi,
}


def _steps(distance: Any) -> int | float:
    number = extended(distance, name="distance")
    return INFINITY if number == INFINITY else math.ceil(number)


def _of(loss: Any, kind: type[AnyLoss]) -> AnyLoss:
    if not isinstance(loss, kind):
        raise ParameterError(f"{plain(loss)} is not a {kind.__name__}: group_loss finds the law of every measure")
    return loss


def _multiplied(amount: Extended, steps: int | float, power: int = 1) -> Extended:
    # Infinite distance costs everything, also where a step costs nothing: there may be no way of steps.
    return INFINITY if isinstance(steps, float) else times(Fraction(steps**power), amount)


def _start(node: Derivation) -> Derivation | None:
    """The node below at which a distance went in, if there is one and it is of the data that the node speaks of."""
    while isinstance(node.given_value, Loss | list | tuple):
        if not node.premises or (not isinstance(node.given_value, Loss) and not _is_of_the_same_data(node)):
            return None
        node = node.premises[0]
    return node if node.space is not None else None


def _is_of_the_same_data(node: Derivation) -> bool:
    """Whether the node is a rule of its measure; other compositions may be of parts of the data, each at its own."""
    rules = node.bound_value.measure.rules if isinstance(node.bound_value, Loss) else ()
    return any(rule.theorem is node.theorem.function for rule in rules)


_UNORDERED = ("SymmetricDistance", "ChangeOneDistance", "SymmetricIdDistance", "ChangeOneIdDistance")
_RESIZING = ("SymmetricDistance", "InsertDeleteDistance", "SymmetricIdDistance", "ChangeOneIdDistance")
_NORMS = ("AbsoluteDistance", "L1Distance", "L2Distance", "LInfDistance")


def _require_steps(space: Any, steps: int | float) -> None:
    """Refuse spaces of the library in which a distance is not a number of steps between members of the domain."""
    # By name: metrics are not of this room.
    metric = type(space.metric).__name__
    sized = getattr(space.domain, "size", None) is not None
    floats = type(getattr(space.domain, "element", space.domain)).__name__ == "FloatDomain"
    why = ""
    if steps == 0 and metric in _UNORDERED:
        why = "the same rows in another order are at distance 0, and no step was asked about them"
    elif steps == 0 and metric in _NORMS and floats:
        why = "0.0 and -0.0 are at distance 0"
    elif 1 < steps < INFINITY and metric in _RESIZING and sized:
        why = "a step changes the size, which is fixed"
    elif 1 < steps < INFINITY and metric == "L2Distance":
        why = "steps along the axes are longer together than the straight way"
    elif 1 < steps < INFINITY and metric in _NORMS and floats:
        why = "floats may lie further apart than a step"
    if why:
        raise NoTheorem(
            f"data at distance {steps} in {space!r} are not always joined by {steps} steps: {why}; ask the measurement "
            "itself for its loss at that distance"
        )


# Renyi: which order for which step. Floats search, and what they find is then computed exactly or outward.

_POINTS = 64
"""How many multisets of orders the search keeps after each doubling, besides those at the orders that are listed."""
_DEEPEST = 60 * math.log(2)
"""Orders nearer to 1 than e to minus this are not looked for."""
_MOST_STEPS = 2**50
"""More steps than this are looked at for infinite order only; so counts of steps are exact as floats."""
_WIDTH = 512
"""Powers of so many bits are exact."""
_BITS = 256
"""Bits of those that are not."""


def _listed(loss: RenyiLoss, steps: int | float) -> dict[Extended, tuple[Extended, Chosen]]:
    """Orders of several steps, each with its bound and with the orders that were chosen for the steps."""
    found: dict[Extended, tuple[Extended, Chosen]] = {}
    if isinstance(steps, float):
        return found
    last = loss.at(INFINITY)
    choices: list[Chosen] = [((INFINITY, steps),)] if last != INFINITY else []
    choices += _search(loss, steps) if loss.points and steps <= _MOST_STEPS else []
    for chosen in choices:
        order, bound = _bounded(loss, chosen)
        if order not in found or bound < found[order][0]:
            found[order] = bound, chosen
    return found


def _chosen(loss: Any, distance: Extended, orders: tuple[Extended, ...]) -> tuple[Chosen, ...]:
    """What shows the bound at each order: a choice of an order for every step."""
    steps = _steps(distance)
    if steps in (0, 1, INFINITY):
        return ()
    found = _listed(loss, steps)
    return tuple(found[order][1] for order in orders)


def _bounded(loss: RenyiLoss, chosen: Chosen) -> tuple[Extended, Extended]:
    """The order that a choice bounds, rounded down if it is wide, and the bound there, rounded up if it is."""
    kept, bound = ONE, Fraction(0)
    for order, count in chosen:
        here = Fraction(loss.at(order))
        if order == INFINITY:
            bound = settle_up(bound + count * here)
            continue
        c = Fraction(order)
        grown = _power(c / (c - 1), count, up=True)
        # The sum of here/t^i over i below count, and what earlier steps cost, over t^count.
        bound = settle_up(bound * grown + settle_up(here * (c - 1) * (grown - 1)))
        kept *= _power((c - 1) / c, count, up=False)
        kept = kept if kept.denominator.bit_length() <= _WIDTH else dyadic.round_down(kept, _BITS)
    if kept == 1:
        return INFINITY, bound
    order = 1 / (1 - kept)
    return (order if order.denominator.bit_length() <= _WIDTH else dyadic.round_down(order, _BITS)), bound


def _power(x: Fraction, count: int, *, up: bool) -> Fraction:
    if count * max(x.numerator.bit_length(), x.denominator.bit_length()) <= _WIDTH:
        return x**count
    return (dyadic.powi_up if up else dyadic.powi_down)(x, count, bits=_BITS)


def _search(loss: RenyiLoss, steps: int) -> list[Chosen]:
    """Choices whose bounds are about the least, at many orders: the multisets of 2k steps are sums of those of k."""
    points = [(order, bound) for order, bound in loss.points if bound < _LARGEST]
    depths = np.array([0.0 if order == INFINITY else -math.log1p(-_share(order)) for order, _ in points])
    near = depths <= _DEEPEST
    points, depths = [point for point, fits in zip(points, near, strict=True) if fits], depths[near]
    if not points:
        return []
    bounds = np.array([float(bound) for _, bound in points])
    one = np.eye(len(points))
    result: Floats = one
    for bit in bin(steps)[3:]:  # after the first, which is a one
        result = _best(_sums(result, result), depths, bounds)
        if bit == "1":
            result = _best(_sums(result, one), depths, bounds)
    counts = [[(order, int(n)) for (order, _), n in zip(points, row, strict=True) if n] for row in result]
    return [tuple(row) for row in counts]


_LARGEST = Fraction(10) ** 300


def _share(order: Extended) -> float:
    return min(float(1 / Fraction(order)), 1 - 2.0**-53)


def _sums(left: Floats, right: Floats) -> Floats:
    sums: Floats = (left[:, None, :] + right[None, :, :]).reshape(-1, left.shape[1])
    return sums


def _best(counts: Floats, depths: Floats, bounds: Floats) -> Floats:
    """The multisets that no other one beats at a higher order, thinned out where there are many."""
    depth = counts @ depths
    counts, depth = counts[depth <= _DEEPEST], depth[depth <= _DEEPEST]
    value = np.zeros(len(counts))
    with np.errstate(over="ignore", invalid="ignore"):
        for place, (each, bound) in enumerate(zip(depths, bounds, strict=True)):
            deep = counts[:, place] * each
            # bound/t^i summed over i below the count; 1/t - 1 is expm1(each), and the sum is count bound where t is 1.
            here = np.expm1(deep) / np.expm1(each) if each > 0 else counts[:, place]
            value = value * np.exp(deep) + bound * here
    order = np.lexsort((value, depth))
    counts, depth, value = counts[order], depth[order], value[order]
    least = np.minimum.accumulate(np.concatenate(([np.inf], value[:-1])))
    better = (value < least * (1 - 1e-12)) & np.isfinite(value)
    counts, depth = counts[better], depth[better]
    if len(counts) <= _POINTS:
        return counts
    positive = depth[depth > 0]
    wanted = np.concatenate((np.geomspace(positive[0], positive[-1], _POINTS), depths))
    places = np.searchsorted(depth, wanted * (1 + 1e-12), side="right") - 1
    kept: Floats = counts[np.unique(np.concatenate(([0, len(counts) - 1], places[places >= 0])))]
    return kept
