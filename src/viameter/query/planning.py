"""Planning: from a loss to spend to the noise of each statistic, and to the one Measurement that releases them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from viameter.composition import compose
from viameter.composition.batch import Composition
from viameter.core import Loss, Measure, Measurement
from viameter.errors import MeasureMismatch, NoTheorem, ParameterError, plain
from viameter.measures import ZCDP, ApproxDP, ApproxZCDP, PureDP, approx, approx_zcdp, pure, zcdp
from viameter.mechanisms import calibrate, gaussian, laplace
from viameter.query.collecting import Collecting
from viameter.query.contributing import contributing
from viameter.query.estimates import Noise
from viameter.query.estimates.noise import Kind
from viameter.query.estimates.picks import Choice
from viameter.query.quantile_picks import QuantilePick, picking
from viameter.query.relation import Relation
from viameter.query.rows import Rows
from viameter.query.statistics import Statistic
from viameter.spaces import Array, L1Distance, L2Distance

NOISE_OF: dict[Measure, Kind] = {PureDP: "laplace", ApproxDP: "laplace", ZCDP: "gaussian", ApproxZCDP: "gaussian"}
"""The noise that hides units best, by the measure that a budget is in."""


@dataclass(frozen=True, slots=True)
class Part:
    """One statistic: which share of the loss it gets, and the measurement with the noise that this buys."""

    statistic: Statistic
    share: Fraction
    measurement: Measurement
    noise: Noise | Choice
    draw: Callable[[Array], Array]
    """What makes the release of the exact integers."""

    @property
    def loss(self) -> Loss:
        """What it costs for one unit."""
        found: Loss = self.measurement.map(1)
        return found


@dataclass(frozen=True, slots=True)
class Noisy:
    """The integers of a statistic with their noise: what was released, and its distribution."""

    values: Array
    noise: Any
    """A `Noise` for integers; for picks a `Choice`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All statistics of a question with their noise, as one measurement that reads the rows once."""

    parts: tuple[Part, ...]
    measurement: Composition

    @property
    def loss(self) -> Loss:
        """What the release costs for one unit."""
        found: Loss = self.measurement.map(1)
        return found

    def noisy(self, released: Sequence[Array]) -> dict[Statistic, Noisy]:
        """What was released, by statistic."""
        pairs = zip(self.parts, released, strict=True)
        return {part.statistic: Noisy(values, part.noise) for part, values in pairs}


def plan(
    relation: Relation, weights: Mapping[Statistic, Fraction], collecting: Collecting, spend: Loss, *, name: str
) -> Plan:
    """The plan that spends a loss: each statistic gets its weight's share of it."""
    kind = noise_kind(spend.measure)
    total = sum(weights.values(), Fraction(0))
    parts = []
    for statistic, weight in weights.items():
        share = weight / total
        parts.append(_part(relation, statistic, collecting, kind, share, scaled(spend, share)))
    return Plan(tuple(parts), _together(relation, parts, collecting, spend.measure, name))


def noise_kind(measure: Measure) -> Kind:
    """Which noise is drawn for a budget in this measure."""
    if measure not in NOISE_OF:
        known = ", ".join(map(repr, NOISE_OF))
        raise NoTheorem(f"questions over tables are answered for budgets in {known}, not in {plain(measure)}")
    return NOISE_OF[measure]


def scaled(loss: Loss, share: Fraction) -> Loss:
    """A share of a loss, in the measure that its noise is counted in: pure, or zero-concentrated."""
    amount: Any = loss
    if not loss.is_finite:
        raise ParameterError(f"spend={plain(loss)} is not finite")
    if noise_kind(loss.measure) == "laplace":
        return pure(Fraction(amount.epsilon) * share)
    return zcdp(Fraction(amount.rho) * share)


def read_spend(spend: Any, measure: Measure) -> Loss:
    """A loss to spend, in the measure of the budget and above 0."""
    if not isinstance(spend, Loss):
        raise ParameterError(f"spend={plain(spend)} is not a loss: expected e.g. {_example(measure)}")
    if spend.measure != measure:
        raise MeasureMismatch("the budget", measure, "spend", spend.measure, f"give {_example(measure)}")
    if not spend.is_finite or scaled(spend, Fraction(1)) <= scaled(spend, Fraction(1)).measure.zero:
        raise ParameterError(f"spend={plain(spend)}: expected a finite loss above 0, such as {_example(measure)}")
    return spend


def _example(measure: Measure) -> str:
    examples = {PureDP: pure("1/10"), ZCDP: zcdp("1/100"), ApproxDP: approx("1/10", 0)}
    return repr(examples.get(measure, approx_zcdp("1/100", 0)))


def _part(
    relation: Relation, statistic: Statistic, collecting: Collecting, kind: Kind, share: Fraction, loss: Loss
) -> Part:
    if isinstance(statistic, QuantilePick):
        picks = picking(relation, statistic, collecting, loss)
        return Part(statistic, share, picks.measurement, picks.choice, picks.draw)
    norm = L1Distance() if kind == "laplace" else L2Distance()
    integers = contributing(relation, statistic, collecting, norm)
    mechanism: Any = laplace if kind == "laplace" else gaussian
    made = calibrate(mechanism, integers, d_in=1, loss=loss)
    scale = dict(made.steps[-1].bound.parameters)["scale"]
    return Part(statistic, share, made, Noise(kind, scale), made.steps[-1].function)


def _together(
    relation: Relation, parts: Sequence[Part], collecting: Collecting, measure: Measure, name: str
) -> Composition:
    """The composition of all parts, whose rows are read once for all of them."""
    steps = [step.function for step in relation.steps]
    statistics = [part.statistic for part in parts]

    def release(source: Rows) -> tuple[Array, ...]:
        rows = reduce(lambda member, step: step(member), steps, source)
        exact = collecting(rows, statistics)
        return tuple(part.draw(integers) for part, integers in zip(parts, exact, strict=True))

    members = [part.measurement for part in parts]
    together = compose(relation.source_space, members, measure=measure)
    # Each member would read the rows by itself; what they release is the same if all are handed what one pass found.
    return replace(together, function=release, made_by=name, identity=())
