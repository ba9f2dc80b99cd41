"""Losses that are a bound at each of several points: Renyi divergences by order, and privacy profiles.

Both are monotone: a bound at one order holds at every lower order, and a delta at one epsilon holds at every higher
epsilon. So a curve that is known at a few points bounds the whole, points that say nothing new are dropped, and two
curves are equal when they bound the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import (
    INFINITY,
    ZERO,
    Extended,
    Number,
    add_settled_up,
    as_given,
    difference_down,
    extended,
    nonnegative,
    probability,
    read_written,
    show,
    write,
)
from viameter.core import Loss, Measure
from viameter.core.measure import refusing_as_format
from viameter.errors import FormatError, IncomparableLosses, NumberError, ParameterError, plain

Points = tuple[tuple[Extended, Extended], ...]


@dataclass(frozen=True, slots=True, repr=False)
class RenyiLoss(Loss):
    """Renyi differential privacy: the Renyi divergence, either way, is at most `at(order)` for each order > 1.

    The order may be infinite: that is the max divergence of pure differential privacy.
    """

    points: Points
    """(order, bound), orders rising and bounds rising: what is implied by a higher order is not listed."""

    @property
    def measure(self) -> RenyiMeasure:
        """`RenyiDP`."""
        return RenyiDP

    @property
    def is_finite(self) -> bool:
        """Whether some order has a finite bound."""
        return bool(self.points)

    @property
    def orders(self) -> tuple[Extended, ...]:
        """The orders that are listed."""
        return tuple(order for order, _ in self.points)

    def at(self, order: Number | float) -> Extended:
        """The bound at an order > 1: the least one listed for this order or a higher one, infinite if there is none."""
        wanted = _read_order(order)
        return next((bound for listed, bound in self.points if listed >= wanted), INFINITY)

    def _implies(self, other: RenyiLoss) -> bool:
        return all(self.at(order) <= bound for order, bound in other.points)

    def _plus(self, other: RenyiLoss) -> RenyiLoss:
        orders = {*self.orders, *other.orders}
        return RenyiLoss(_rising((order, add_settled_up(self.at(order), other.at(order))) for order in orders))

    def left_after(self, spent: Loss) -> Loss:
        """What is left of this budget, order by order."""
        self._same_measure(spent, "subtracted")
        assert isinstance(spent, RenyiLoss)
        # Not through `_rising`: what is left at one order says nothing of lower ones.
        return RenyiLoss(tuple((order, difference_down(bound, spent.at(order))) for order, bound in self.points))

    def to_json(self) -> dict[str, Any]:
        """The orders and their bounds, exactly, as text."""
        return {"measure": self.measure.slug, "orders": {write(order): write(bound) for order, bound in self.points}}

    def __repr__(self) -> str:
        return f"renyi({{{', '.join(f'{show(order)}: {show(bound)}' for order, bound in self.points)}}})"


@dataclass(frozen=True, slots=True, repr=False)
class RenyiMeasure(Measure):
    """Renyi divergence at every order."""

    slug = "renyi"

    @property
    def zero(self) -> RenyiLoss:
        """No loss at any order: none at the highest, which implies the others."""
        return RenyiLoss(((INFINITY, ZERO),))

    @property
    def infinite(self) -> RenyiLoss:
        """No bound at any order."""
        return RenyiLoss(())

    def from_json(self, record: Mapping[str, Any]) -> RenyiLoss:
        """Read a loss that was written by `to_json`."""
        points = _points_from_json(record, self.slug, "orders")
        with refusing_as_format():
            return renyi(points) if points else self.infinite

    def __repr__(self) -> str:
        return "RenyiDP"


@dataclass(frozen=True, slots=True, repr=False)
class ProfileLoss(Loss):
    """A privacy profile: (epsilon, `at(epsilon)`)-differential privacy for every epsilon >= 0.

    A profile given by points has an order and is stored; one given by a function has neither, and is equal to itself
    only. Profiles do not add: what composes them is a convolution.
    """

    points: Points
    """(epsilon, delta), epsilons rising and deltas falling; empty where a function is given."""
    function: Callable[[Fraction], Any] | None = None

    @property
    def measure(self) -> ProfileMeasure:
        """`Profile`."""
        return Profile

    @property
    def is_finite(self) -> bool:
        """Whether some epsilon has a delta below 1; a function is taken to have one."""
        return self.function is not None or any(delta < 1 for _, delta in self.points)

    def at(self, epsilon: Number) -> Fraction:
        """The delta at an epsilon: the least one known for this epsilon or a lower one, 1 if there is none."""
        wanted = nonnegative(epsilon, name="epsilon")
        if self.function is not None:
            return probability(self.function(wanted), name="delta")
        return min((Fraction(delta) for listed, delta in self.points if listed <= wanted), default=Fraction(1))

    def _implies(self, other: ProfileLoss) -> bool:
        if self == other:
            return True
        if self.function is not None or other.function is not None:
            raise IncomparableLosses("profiles given by a function cannot be compared: compare .at(epsilon) of each")
        return all(self.at(Fraction(epsilon)) <= delta for epsilon, delta in other.points)

    def _plus(self, other: ProfileLoss) -> ProfileLoss:
        raise IncomparableLosses(
            "profiles do not add: compose the mechanisms that they belong to, or add (epsilon, delta) pairs as ApproxDP"
        )

    def to_json(self) -> dict[str, Any]:
        """The points, exactly, as text; a function cannot be stored."""
        if self.function is not None:
            raise FormatError(
                "a profile given by a function cannot be stored: give it by points, as in profile({1: '1e-6'})"
            )
        return {"measure": self.measure.slug, "epsilons": {write(e): write(d) for e, d in self.points}}

    def __repr__(self) -> str:
        if self.function is not None:
            return f"profile({getattr(self.function, '__name__', 'function')})"
        return f"profile({{{', '.join(f'{show(e)}: {show(d)}' for e, d in self.points)}}})"


@dataclass(frozen=True, slots=True, repr=False)
class ProfileMeasure(Measure):
    """Hockey-stick divergence at every epsilon."""

    slug = "profile"

    @property
    def zero(self) -> ProfileLoss:
        """Delta 0 at every epsilon."""
        return ProfileLoss(((ZERO, ZERO),))

    @property
    def infinite(self) -> ProfileLoss:
        """Delta 1 at every epsilon."""
        return ProfileLoss(())

    def from_json(self, record: Mapping[str, Any]) -> ProfileLoss:
        """Read a loss that was written by `to_json`."""
        points = _points_from_json(record, self.slug, "epsilons")
        with refusing_as_format():
            return profile(points) if points else self.infinite

    def __repr__(self) -> str:
        return "Profile"


RenyiDP = RenyiMeasure()
"""Renyi divergence, order by order."""
Profile = ProfileMeasure()
"""Hockey-stick divergence, epsilon by epsilon."""


def renyi(bounds: Mapping[Any, Number | float]) -> RenyiLoss:
    """An amount of Renyi differential privacy: a bound at each of some orders > 1.

    >>> curve = renyi({2: "0.1", 4: "0.3"})
    >>> curve.at(3), curve + curve
    (Fraction(3, 10), renyi({2: 1/5, 4: 3/5}))
    """
    if not isinstance(bounds, Mapping) or not bounds:
        raise ParameterError(f'renyi takes bounds by order, as in renyi({{2: "0.1"}}), not {plain(bounds)}')
    return RenyiLoss(_rising((_read_order(order), extended(bound, name="bound")) for order, bound in bounds.items()))


def profile(deltas: Mapping[Any, Any] | Callable[[Fraction], Any]) -> ProfileLoss:
    """A privacy profile: deltas by epsilon, or a function from epsilon to delta that never rises.

    >>> known = profile({1: "1e-3", 2: "1e-6"})
    >>> known.at("3/2"), known.at("1/2")
    (Fraction(1, 1000), Fraction(1, 1))
    """
    if callable(deltas):
        return ProfileLoss((), deltas)
    if not isinstance(deltas, Mapping) or not deltas:
        raise ParameterError(
            f'profile takes deltas by epsilon, as in profile({{1: "1e-6"}}), or a function, not {plain(deltas)}'
        )
    points = sorted((nonnegative(e, name="epsilon"), probability(d, name="delta")) for e, d in deltas.items())
    kept: list[tuple[Extended, Extended]] = []
    for epsilon, delta in points:
        if delta < (kept[-1][1] if kept else 1):
            kept.append((epsilon, delta))
    return ProfileLoss(tuple(kept))


def _rising(points: Iterable[tuple[Extended, Extended]]) -> Points:
    """Keep the points that no higher order implies."""
    kept: list[tuple[Extended, Extended]] = []
    least: dict[Extended, Extended] = {}
    for order, bound in points:
        least[order] = min(bound, least.get(order, INFINITY))
    for order, bound in sorted(least.items(), reverse=True):
        if bound < (kept[-1][1] if kept else INFINITY):
            kept.append((order, bound))
    return tuple(reversed(kept))


def _read_order(order: Number | float) -> Extended:
    number = extended(order, name="order")
    if number <= 1:
        raise NumberError(f"order={as_given(order)} is not above 1: Renyi orders are")
    return number


def _points_from_json(record: Mapping[str, Any], slug: str, key: str) -> dict[Extended, Extended]:
    points = record.get(key)
    if set(record) != {"measure", key} or record["measure"] != slug or not isinstance(points, Mapping):
        raise FormatError(f"no loss of measure {slug!r}: expected the keys measure and {key}")
    return {read_written(point, name=key): read_written(bound, name=key) for point, bound in points.items()}
