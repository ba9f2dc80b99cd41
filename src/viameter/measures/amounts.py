"""Losses that are one or two exact numbers: pure, approximate, zCDP, approximate zCDP, Gaussian, bounded range.

Their order is number by number, and so is their sum, exact or rounded up (see `viameter.arith.sums`). A delta is a
probability: sums of deltas stop at 1, which promises nothing. Bounded ranges have an order but no sum.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

from viameter.arith import (
    INFINITY,
    ZERO,
    Extended,
    Number,
    add_settled_up,
    difference_down,
    dyadic,
    extended,
    probability,
    read_written,
    show,
    sum_settled_up,
    write,
)
from viameter.core import Loss, Measure
from viameter.core.measure import refusing_as_format
from viameter.errors import FormatError, IncomparableLosses

ONE = Fraction(1)


@dataclass(frozen=True, slots=True, repr=False)
class AmountLoss(Loss):
    """A loss whose fields are exact numbers; `is_finite`, order, sum, text and JSON go over the fields."""

    names: ClassVar[tuple[str, ...]]
    """The fields, in the order in which they are written."""

    def __post_init__(self) -> None:
        for name, value in self._amounts():
            read = probability if name == "delta" else extended
            object.__setattr__(self, name, read(value, name=name))

    @property
    @abstractmethod
    def measure(self) -> AmountMeasure[Any]:
        """The measure that this is an amount of."""

    @property
    def is_finite(self) -> bool:
        """Whether this is a guarantee: no field is infinite and no delta is 1."""
        for name in self.names:
            value = getattr(self, name)
            # The only float that an amount can be is infinity.
            if type(value) is float or (name == "delta" and value >= 1):
                return False
        return True

    def _amounts(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self.names]

    def _implies(self, other: AmountLoss) -> bool:
        return all(getattr(self, name) <= getattr(other, name) for name in self.names)

    def _plus(self, other: AmountLoss) -> AmountLoss:
        # Sums of amounts are amounts, so they need not be read again: this is what an odometer does at every query.
        added = object.__new__(type(self))
        for name in self.names:
            amount = add_settled_up(getattr(self, name), getattr(other, name))
            object.__setattr__(added, name, min(amount, ONE) if name == "delta" else amount)
        return added

    def left_after(self, spent: Loss) -> Loss:
        """What is left of this budget, number by number."""
        self._same_measure(spent, "subtracted")
        left = ((name, difference_down(mine, getattr(spent, name))) for name, mine in self._amounts())
        return type(self)(**dict(left))

    def to_json(self) -> dict[str, Any]:
        """The measure's slug and each field, exactly, as text."""
        return {"measure": self.measure.slug, **{name: write(value) for name, value in self._amounts()}}

    def __repr__(self) -> str:
        return f"{self.measure.maker}({', '.join(show(value) for _, value in self._amounts())})"


AnyLoss = TypeVar("AnyLoss", bound=AmountLoss)


@dataclass(frozen=True, slots=True, repr=False)
class AmountMeasure(Measure, Generic[AnyLoss]):
    """A measure whose losses are a few exact numbers."""

    name: str
    slug: str
    maker: str
    """The function that makes its losses, as it is shown in their text."""
    loss: type[AnyLoss]

    @property
    def zero(self) -> AnyLoss:
        """The loss of what does not look at the data."""
        return self.loss(**dict.fromkeys(self.loss.names, ZERO))

    @property
    def infinite(self) -> AnyLoss:
        """The loss of what gives no guarantee."""
        return self.loss(**{name: ONE if name == "delta" else INFINITY for name in self.loss.names})

    def total(self, losses: Iterable[Loss]) -> Loss:
        """Add many losses at once: a million take well under a second, and the result is never below the exact sum."""
        collected = list(losses)
        zero = self.zero
        for loss in collected:
            if type(loss) is not type(zero):
                zero + loss  # refuses, and says why
        if len(collected) > 1 and type(zero)._plus is not AmountLoss._plus:
            return Measure.total(self, collected)  # a measure with its own sum, or with none
        sums = {name: sum_settled_up([getattr(loss, name) for loss in collected]) for name in self.loss.names}
        return self.loss(**{name: min(amount, ONE) if name == "delta" else amount for name, amount in sums.items()})

    def from_json(self, record: Mapping[str, Any]) -> AnyLoss:
        """Read a loss that was written by `to_json`."""
        names = self.loss.names
        if set(record) != {"measure", *names} or record["measure"] != self.slug:
            raise FormatError(f"no loss of {self.name}: expected the keys measure={self.slug!r}, {', '.join(names)}")
        with refusing_as_format():
            return self.loss(**{name: read_written(record[name], name=name) for name in names})

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class PureLoss(AmountLoss):
    """Pure differential privacy: the max divergence, either way, is at most epsilon."""

    names = ("epsilon",)
    epsilon: Extended

    @property
    def measure(self) -> AmountMeasure[PureLoss]:
        """`PureDP`."""
        return PureDP


@dataclass(frozen=True, slots=True, repr=False)
class ApproxLoss(AmountLoss):
    """Approximate differential privacy: P(S) <= e^epsilon Q(S) + delta for every event S, either way."""

    names = ("epsilon", "delta")
    epsilon: Extended
    delta: Fraction

    @property
    def measure(self) -> AmountMeasure[ApproxLoss]:
        """`ApproxDP`."""
        return ApproxDP


@dataclass(frozen=True, slots=True, repr=False)
class ZCDPLoss(AmountLoss):
    """Zero-concentrated privacy: the Renyi divergence of every order a > 1, either way, is at most rho a."""

    names = ("rho",)
    rho: Extended

    @property
    def measure(self) -> AmountMeasure[ZCDPLoss]:
        """`ZCDP`."""
        return ZCDP


@dataclass(frozen=True, slots=True, repr=False)
class ApproxZCDPLoss(AmountLoss):
    """Approximate zCDP: outside of an event of probability delta, rho-zCDP."""

    names = ("rho", "delta")
    rho: Extended
    delta: Fraction

    @property
    def measure(self) -> AmountMeasure[ApproxZCDPLoss]:
        """`ApproxZCDP`."""
        return ApproxZCDP


@dataclass(frozen=True, slots=True, repr=False)
class GaussianLoss(AmountLoss):
    """Gaussian differential privacy: as hard to tell apart as N(0, 1) and N(mu, 1).

    The square of mu is what is kept, since squares are what adds: sums are exact although mu is seldom rational.
    """

    names = ("mu_squared",)
    mu_squared: Extended

    @property
    def measure(self) -> AmountMeasure[GaussianLoss]:
        """`GaussianDP`."""
        return GaussianDP

    @property
    def mu(self) -> Extended:
        """The parameter mu; rounded up, to 128 significant bits, where it is irrational."""
        if self.mu_squared == INFINITY:
            return INFINITY
        squared = Fraction(self.mu_squared)
        root = Fraction(math.isqrt(squared.numerator), math.isqrt(squared.denominator))
        return root if root * root == squared else dyadic.sqrt_up(squared, bits=128)

    def __repr__(self) -> str:
        exact = self.mu == INFINITY or Fraction(self.mu) ** 2 == self.mu_squared
        return f"gdp({show(self.mu)})" if exact else f"gdp(<={show(self.mu).removeprefix('<=')})"


@dataclass(frozen=True, slots=True, repr=False)
class BoundedRangeLoss(AmountLoss):
    """Bounded range: privacy losses of any two outcomes differ by at most eta, either way."""

    names = ("eta",)
    eta: Extended

    @property
    def measure(self) -> AmountMeasure[BoundedRangeLoss]:
        """`BoundedRange`."""
        return BoundedRange

    def _plus(self, other: AmountLoss) -> AmountLoss:
        raise IncomparableLosses(
            f"{self!r} + {other!r}: ranges do not add when a later mechanism is chosen by an earlier answer; "
            "count both in PureDP or ZCDP (exponential(..., measure=ZCDP)), and add those"
        )


PureDP = AmountMeasure("PureDP", "pure", "pure", PureLoss)
"""Max divergence: pure differential privacy."""
ApproxDP = AmountMeasure("ApproxDP", "approx", "approx", ApproxLoss)
"""Smoothed max divergence at one point: approximate differential privacy."""
ZCDP = AmountMeasure("ZCDP", "zcdp", "zcdp", ZCDPLoss)
"""Zero-concentrated divergence."""
ApproxZCDP = AmountMeasure("ApproxZCDP", "approx-zcdp", "approx_zcdp", ApproxZCDPLoss)
"""Approximate zero-concentrated divergence."""
GaussianDP = AmountMeasure("GaussianDP", "gdp", "gdp", GaussianLoss)
"""Trade-off curve of two Gaussians."""
BoundedRange = AmountMeasure("BoundedRange", "bounded-range", "bounded_range", BoundedRangeLoss)
"""Range divergence."""


def pure(epsilon: Number | float) -> PureLoss:
    """An amount of pure differential privacy.

    >>> sum([pure("1/10")] * 10, pure(0)) <= pure(1)
    True
    """
    return PureLoss(extended(epsilon, name="epsilon"))


def approx(epsilon: Number | float, delta: Number) -> ApproxLoss:
    """An amount of approximate differential privacy.

    >>> approx(1, "1e-6") + approx("1/2", "1e-6")
    approx(3/2, 1/500000)
    """
    return ApproxLoss(extended(epsilon, name="epsilon"), probability(delta, name="delta"))


def zcdp(rho: Number | float) -> ZCDPLoss:
    """An amount of zero-concentrated differential privacy.

    >>> zcdp("1/32") < zcdp("0.5")
    True
    """
    return ZCDPLoss(extended(rho, name="rho"))


def approx_zcdp(rho: Number | float, delta: Number) -> ApproxZCDPLoss:
    """An amount of approximate zero-concentrated differential privacy.

    >>> approx_zcdp("1/2", "1e-9").rho
    Fraction(1, 2)
    """
    return ApproxZCDPLoss(extended(rho, name="rho"), probability(delta, name="delta"))


def gdp(mu: Number | float) -> GaussianLoss:
    """An amount of Gaussian differential privacy; sums add the squares.

    >>> gdp(3) + gdp(4), gdp(1) + gdp(1)
    (gdp(5), gdp(<=1.41421356238))
    """
    number = extended(mu, name="mu")
    return GaussianLoss(number if number == INFINITY else Fraction(number) ** 2)


def bounded_range(eta: Number | float) -> BoundedRangeLoss:
    """An amount of bounded range.

    >>> bounded_range("0.3").eta
    Fraction(3, 10)
    """
    return BoundedRangeLoss(extended(eta, name="eta"))
