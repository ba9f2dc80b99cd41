"""Laws: what a leaf costs at a number of steps; given by its loss, by a measurement's map, or number by number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from viameter.arith import INFINITY, exact
from viameter.composition.losses import given_loss
from viameter.core import Loss, Measure, Measurement
from viameter.core.conversion import convert
from viameter.errors import ParameterError, plain
from viameter.measures import ZCDP, GaussianDP, PureDP
from viameter.measures.amounts import GaussianLoss, PureLoss, ZCDPLoss
from viameter.measures.groups import group_derivation, group_loss
from viameter.neighborhood.changes import Steps
from viameter.theorem import Derivation, theorem_of


@dataclass(frozen=True, slots=True)
class Law(ABC):
    """What a mechanism costs on data that are so many steps apart."""

    @property
    @abstractmethod
    def measure(self) -> Measure:
        """What its losses are amounts of."""

    @property
    @abstractmethod
    def first(self) -> Loss:
        """The loss at one step."""

    @abstractmethod
    def at(self, steps: Steps) -> Loss:
        """The loss at so many steps."""

    @abstractmethod
    def derivation(self, steps: Steps) -> Derivation:
        """Why."""

    @abstractmethod
    def to(self, measure: Measure) -> Law:
        """The same in another measure."""

    is_attained = False
    """Whether some mechanism that satisfies the law has just this loss at every number of steps."""


@dataclass(frozen=True, slots=True)
class OfLoss(Law):
    """A loss at one step; at more, by the law for groups of its measure.

    If it is `per_unit`, the steps are a metric's, and the loss is that of d-privacy: at the distance d, d times it.
    """

    loss: Loss
    per_unit: bool = False
    claimed: Loss | None = None
    """The loss that this was converted from, if it was."""

    @property
    def measure(self) -> Measure:
        """That of the loss."""
        return self.loss.measure

    @property
    def first(self) -> Loss:
        """The loss itself."""
        return self.loss

    @property
    def is_attained(self) -> bool:  # type: ignore[override]  # known of some measures only
        """Where the law for groups is linear: then distances can be built into a mechanism."""
        return self.claimed is None and self.measure in (PureDP, ZCDP, GaussianDP)

    def at(self, steps: Steps) -> Loss:
        """By the law for groups, or in proportion."""
        if not self.per_unit or steps in (0, 1, INFINITY):
            return group_loss(self.loss, steps)
        factor = Fraction(steps)
        match self.loss:
            case PureLoss(epsilon=epsilon) if epsilon != INFINITY:
                return PureLoss(Fraction(epsilon) * factor)
            case ZCDPLoss(rho=rho) if rho != INFINITY:
                return ZCDPLoss(Fraction(rho) * factor**2)
            case GaussianLoss(mu_squared=squared) if squared != INFINITY:
                return GaussianLoss(Fraction(squared) * factor**2)
        if self.loss.is_finite:
            raise ParameterError(f"losses per unit of a metric are pure, zcdp or gdp, not {self.loss!r}")
        return self.loss

    def derivation(self, steps: Steps) -> Derivation:
        """The claim, and the law for groups."""
        claim = _claimed(self.loss if self.claimed is None else self.claimed)
        if self.claimed is not None:
            for step in convert(self.claimed, self.measure).steps:
                claim = step.over((claim,))
        if self.per_unit and steps not in (0, 1, INFINITY):
            return _claimed(self.at(steps))
        return claim if steps == 1 else group_derivation(claim, steps)

    def to(self, measure: Measure) -> Law:
        """The loss at one step, converted."""
        if self.measure == measure:
            return self
        claimed = self.loss if self.claimed is None else self.claimed
        return OfLoss(convert(claimed, measure).loss, self.per_unit, claimed)


@dataclass(frozen=True, slots=True)
class OfMeasurement(Law):
    """A measurement: its privacy map is its law."""

    measurement: Measurement

    @property
    def measure(self) -> Measure:
        """The measurement's."""
        return self.measurement.measure

    @property
    def first(self) -> Loss:
        """Its map at 1."""
        return self.at(1)

    def at(self, steps: Steps) -> Loss:
        """Its map."""
        if steps == INFINITY:
            return self.measure.infinite
        loss: Loss = self.measurement.map(steps)
        return loss

    def derivation(self, steps: Steps) -> Derivation:
        """What the measurement explains."""
        if steps == INFINITY:
            return _claimed(self.measure.infinite)
        return self.measurement.explain(steps).derivation

    def to(self, measure: Measure) -> Law:
        """The measurement, converted."""
        return self if self.measure == measure else OfMeasurement(self.measurement.to(measure))


@dataclass(frozen=True, slots=True)
class OfTable(Law):
    """Losses at some numbers of steps; between those, that of the next larger one, and beyond them none."""

    losses: tuple[tuple[int, Loss], ...]

    @property
    def measure(self) -> Measure:
        """That of the losses."""
        return self.losses[0][1].measure

    @property
    def first(self) -> Loss:
        """The loss at one step."""
        return self.at(1)

    def at(self, steps: Steps) -> Loss:
        """The loss at the least number listed that is not below."""
        if steps == 0:
            return self.measure.zero
        return next((loss for listed, loss in self.losses if listed >= steps), self.measure.infinite)

    def derivation(self, steps: Steps) -> Derivation:
        """The claim."""
        return _claimed(self.at(steps))

    def to(self, measure: Measure) -> Law:
        """Each loss, converted."""
        if self.measure == measure:
            return self
        return OfTable(tuple((steps, convert(loss, measure).loss) for steps, loss in self.losses))


def _claimed(loss: Loss) -> Derivation:
    return Derivation("claimed", theorem_of(given_loss), repr(loss), repr(loss), given_value=loss, bound_value=loss)


def read_law(given: Any, *, per_unit: bool) -> Law:
    """The law that somebody gave as a loss, a measurement, or losses by number of steps."""
    if isinstance(given, Law):
        return given
    if isinstance(given, Loss):
        return OfLoss(given, per_unit)
    if isinstance(given, Measurement):
        return OfMeasurement(given)
    if isinstance(given, Mapping) and given and all(isinstance(loss, Loss) for loss in given.values()):
        return _table(given)
    raise ParameterError(
        f"{plain(given)} does not say what the leaf costs: expected a loss, as pure('1/10'), a Measurement, or losses "
        "by number of steps, as {1: approx_zcdp('0.1', '1e-9'), 2: approx_zcdp('0.4', '2e-9')}"
    )


def _table(given: Mapping[Any, Loss]) -> OfTable:
    listed = sorted((exact(steps, name="steps"), loss) for steps, loss in given.items())
    if any(steps.denominator != 1 or steps < 1 for steps, _ in listed):
        raise ParameterError("losses by number of steps are given at whole numbers >= 1")
    for (fewer, less), (more, loss) in pairwise(listed):
        if not less <= loss:
            raise ParameterError(
                f"contradictory guarantees: {loss!r} at {more} steps does not imply {less!r} at {fewer}, and must, "
                "since fewer steps cannot cost more"
            )
    return OfTable(tuple((int(steps), loss) for steps, loss in listed))
