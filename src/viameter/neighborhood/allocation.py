"""Allocation: the losses of leaves that make the least weighted error within a budget for all of them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import Number, exact
from viameter.arith.floats import from_fraction_down, from_fraction_up
from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures import PureDP
from viameter.measures.amounts import AmountMeasure
from viameter.neighborhood.allocation_rounds import Search, Teller
from viameter.neighborhood.allocation_rows import LINEAR, Leaves, amount_of
from viameter.neighborhood.claims import Leaf, Mode
from viameter.neighborhood.composed import Composed
from viameter.neighborhood.cuts import Part
from viameter.neighborhood.granularities import Granularity

_TRIES = 64


@dataclass(frozen=True, slots=True)
class Allocation:
    """Losses that leaves may have within a budget, what error that makes, and what no others can beat.

    The error is the sum of weight/epsilon^2 for pure losses, weight/rho for zCDP and weight/mu^2 for Gaussian ones,
    over the leaves that some pattern touches. Up to a constant it is the weighted variance of noise for these losses.
    """

    leaves: tuple[Leaf, ...]
    losses: tuple[Loss, ...]
    error: float
    """The weighted error of these losses, rounded up."""
    bound: float
    """No losses whose composition is within the budget have a smaller error."""
    composed: Composed
    """What the leaves cost together, which is within the budget."""
    rounds: int
    """How many times the worst pattern was looked for, after those that touch each leaf."""

    def __post_init__(self) -> None:
        if not self.leaves or len(self.leaves) != len(self.losses):
            raise ParameterError(f"{len(self.leaves)} leaves and {len(self.losses)} losses: expected one for each leaf")
        if not 0 <= self.bound <= self.error:
            raise ParameterError(f"bound={self.bound} and error={self.error}: expected 0 <= bound <= error")


def allocate(
    target: Granularity,
    maps: Sequence[Part],
    *,
    budget: Loss,
    weights: Sequence[Number] | None = None,
    mode: Mode = "separate",
    granularity: Granularity | None = None,
    gap: Number = "1/1000",
    rounds: int = 200,
    progress: Callable[[str], None] | None = None,
) -> Allocation:
    """Share a budget among mechanisms on parts of the data, so that the weighted error of all is about the least.

    Each map gets one leaf, with `mode` and `granularity` as `leaf` takes them. The losses are exact, and `compose` of
    the leaves is within the budget, exactly. A map that no neighbors differ in gets the budget itself. The search ends
    when the error is within `gap` of the least (relatively), or after so many `rounds`; `error` and `bound` say how
    near it is. `progress` is told of a long search about once in a second.

    >>> from viameter import neighborhood as nb
    >>> from viameter.neighborhood.allocation import allocate
    >>> import viameter as vm
    >>> hospitals = nb.subsets(10, at_most=3)
    >>> allocate(nb.unbounded(), hospitals, budget=vm.pure(1)).losses[0]
    pure(1/3)
    >>> days = nb.partition(4, by="time")
    >>> shared = allocate(nb.w_event(2), days, budget=vm.zcdp("1/2"), weights=[4, 1, 1, 4])
    >>> shared.losses
    (zcdp(1/3), zcdp(1/6), zcdp(1/6), zcdp(1/3))
    >>> shared.composed.loss
    zcdp(1/2)
    """
    listed = _read_maps(target, maps)
    amount = _read_budget(budget)
    weighed = _read_weights(weights, len(listed))
    wanted = exact(gap, name="gap")
    if wanted <= 0:
        raise ParameterError(f"gap={plain(gap)}: expected a number > 0, as '1/1000'")
    if type(rounds) is not int or rounds < 1:
        raise ParameterError(f"rounds={plain(rounds)}: expected a whole number >= 1")
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress={plain(progress)}: expected a function of a text, as print")
    measure = budget.measure
    assert isinstance(measure, AmountMeasure)
    leaves = Leaves(target, listed, measure, mode, granularity)
    search = Search(leaves, weighed, power=2 if measure == PureDP else 1, tell=Teller(progress))
    search.run(gap=from_fraction_down(wanted), rounds=rounds)
    filling = search.filling()
    composed = _within(leaves, [amount * filling.get(place, 1) for place in range(len(listed))], budget)
    losses = tuple(leaf.losses[0] for leaf in composed.leaves)
    error = sum((weighed[n] / Fraction(amount_of(losses[n])) ** search.power for n in search.touched), Fraction(0))
    bound = from_fraction_down(search.bound / amount**search.power)
    return Allocation(tuple(composed.leaves), losses, from_fraction_up(error), bound, composed, search.rounds)


def _within(leaves: Leaves, amounts: Sequence[Fraction], budget: Loss) -> Composed:
    """The leaves of these losses, or of somewhat smaller ones if those are not within the budget."""
    less = Fraction(0)
    for _ in range(_TRIES):
        composed = leaves.compose({place: amount * (1 - less) for place, amount in enumerate(amounts)})
        if composed.loss <= budget:
            return composed
        over = 1 - Fraction(amount_of(budget)) / Fraction(amount_of(composed.loss))
        less = max(2 * less, Fraction(math.ceil(over * 2**40), 2**40))
        if less >= 1:
            break
    raise NoTheorem("no losses were found that are within the budget: give a larger one, or a solver more time")


def _read_maps(target: Granularity, maps: Sequence[Part]) -> tuple[Part, ...]:
    if not isinstance(target, Granularity):
        raise ParameterError(f"target={plain(target)} is not a granularity: expected e.g. bounded()")
    if isinstance(maps, Part) or not isinstance(maps, Iterable):
        raise ParameterError(f"maps={plain(maps)}: expected maps, as partition(3, by='value') or a list of parts")
    listed = tuple(maps)
    if not listed:
        raise ParameterError("maps=[] has nothing to share a budget among: expected at least one map")
    for place, part in enumerate(listed):
        if not isinstance(part, Part):
            raise ParameterError(f"maps[{place}]={plain(part)} is not a map")
    return listed


def _read_budget(budget: Loss) -> Fraction:
    if not isinstance(budget, Loss):
        raise ParameterError(f"budget={plain(budget)} is not a loss: expected e.g. pure('1/2')")
    if budget.measure not in LINEAR:
        known = ", ".join(map(repr, LINEAR))
        raise NoTheorem(f"budgets are shared in {known}, not in {budget.measure!r}: give one in one of those")
    amount = amount_of(budget)
    if amount == 0 or not budget.is_finite:
        raise ParameterError(f"budget={budget!r} cannot be shared: expected a loss that is finite and not zero")
    return Fraction(amount)


def _read_weights(weights: Sequence[Number] | None, size: int) -> list[Fraction]:
    if weights is None:
        return [Fraction(1)] * size
    if isinstance(weights, str) or not isinstance(weights, Iterable):
        raise ParameterError(f"weights={plain(weights)}: expected a number > 0 for each map")
    read = [exact(weight, name=f"weights[{place}]") for place, weight in enumerate(weights)]
    if len(read) != size:
        raise ParameterError(f"{len(read)} weights for {size} maps: expected one for each map")
    for place, weight in enumerate(read):
        if weight <= 0:
            raise ParameterError(f"weights[{place}]={plain(weight)}: expected a number > 0; leave out maps of no use")
    return read
