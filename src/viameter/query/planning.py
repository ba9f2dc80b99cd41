"""Planning: from a loss to spend to the noise of each statistic, and to the one Measurement that releases them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from viameter.composition import compose
from viameter.core import Loss, Measure, Measurement
from viameter.errors import MeasureMismatch, NoTheorem, ParameterError, plain
from viameter.measures import ZCDP, ApproxDP, ApproxZCDP, PureDP, approx, approx_zcdp, pure, zcdp
from viameter.measures.conversions.concentrated import greatest_rho
from viameter.mechanisms import calibrate, gaussian, laplace
from viameter.query.collecting import Collecting
from viameter.query.contributing import contributing
from viameter.query.estimates import Noise
from viameter.query.estimates.noise import Kind
from viameter.query.relation import Relation
from viameter.query.rows import Rows
from viameter.query.statistics import Statistic
from viameter.spaces import Array, L1Distance, L2Distance

KINDS: dict[Measure, tuple[Kind, ...]] = {
    PureDP: ("laplace",),
    ApproxDP: ("laplace", "gaussian"),
    ZCDP: ("gaussian",),
    ApproxZCDP: ("gaussian",),
}
"""The noise that may be drawn, by the measure that a budget is in; the first one needs no delta."""


@dataclass(frozen=True, slots=True)
class Part:
    """One statistic: which share of the loss it gets, and the measurement with the noise that this buys."""

    statistic: Statistic
    share: Fraction
    measurement: Measurement
    noise: Noise

    @property
    def loss(self) -> Loss:
        """What it costs for one unit."""
        found: Loss = self.measurement.map(1)
        return found


@dataclass(frozen=True, slots=True)
class Noisy:
    """The integers of a statistic with their noise: what was released, and its distribution."""

    values: Array
    noise: Noise


@dataclass(frozen=True, slots=True)
class Plan:
    """All statistics of a question with their noise, as one measurement that reads the rows once."""

    parts: tuple[Part, ...]
    measurement: Measurement
    kind: Kind
    why: str = ""
    """Why noise of this kind is drawn, in a sentence, where there was a choice."""

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
    relation: Relation,
    weights: Mapping[Statistic, Fraction],
    collecting: Collecting,
    spend: Loss,
    *,
    kind: Kind,
    name: str,
) -> Plan:
    """The plan that spends a loss on noise of one kind: each statistic gets its weight's share of it."""
    loss = noise_losses(spend)[kind]
    total = sum(weights.values(), Fraction(0))
    parts = []
    for statistic, weight in weights.items():
        share = weight / total
        parts.append(_part(relation, statistic, collecting, kind, share, _share(loss, share)))
    return Plan(tuple(parts), _together(relation, parts, collecting, spend, name), kind)


def noise_kinds(measure: Measure) -> tuple[Kind, ...]:
    """Which noise may be drawn for a budget in this measure; the first one needs no delta."""
    if measure not in KINDS:
        known = ", ".join(map(repr, KINDS))
        raise NoTheorem(f"questions over tables are answered for budgets in {known}, not in {plain(measure)}")
    return KINDS[measure]


def noise_losses(spend: Loss) -> dict[Kind, Loss]:
    """By kind of noise that may be drawn for a loss, all that it may cost: in pure privacy, or in zCDP.

    Gaussian noise is within an epsilon only at a delta above 0. What all of it costs is added up in zCDP and converted
    once, so that delta is not shared; and it is the rho of the whole vector that is converted, since the profile of one
    coordinate that moves as far as all of them together is no bound for discrete noise.

    >>> noise_losses(approx(1, 0)), list(noise_losses(approx(1, "1e-6")))
    ({'laplace': pure(1)}, ['laplace', 'gaussian'])
    """
    if not spend.is_finite:
        raise ParameterError(f"spend={plain(spend)} is not finite")
    found = ((kind, _noise_loss(spend, kind)) for kind in noise_kinds(spend.measure))
    return {kind: loss for kind, loss in found if loss > loss.measure.zero}


@lru_cache(maxsize=1024)
def _noise_loss(spend: Any, kind: Kind) -> Loss:
    if kind == "laplace":
        return pure(Fraction(spend.epsilon))
    if spend.measure != ApproxDP:
        return zcdp(Fraction(spend.rho))
    return zcdp(greatest_rho(Fraction(spend.epsilon), spend.delta) if spend.delta else 0)


def counted(measurement: Measurement, spend: Loss) -> Measurement:
    """What is counted in pure privacy or in zCDP, counted as what it is spent of: at its delta if it has one."""
    if measurement.measure == ZCDP and spend.measure == ApproxDP:
        return measurement.to(ApproxDP, delta=spend.delta)  # type: ignore[attr-defined]
    return measurement.to(spend.measure)


def part_of(loss: Loss, share: Fraction) -> Loss:
    """A share of a loss to spend, in its measure: of each of its numbers."""
    amount: Any = loss
    numbers = (Fraction(getattr(amount, name)) * share for name in amount.names)
    found: Loss = type(amount)(*numbers)
    return found


def _share(loss: Any, share: Fraction) -> Loss:
    return pure(Fraction(loss.epsilon) * share) if loss.measure == PureDP else zcdp(Fraction(loss.rho) * share)


def read_spend(spend: Any, measure: Measure) -> Loss:
    """A loss to spend, in the measure of the budget and above 0."""
    if not isinstance(spend, Loss):
        raise ParameterError(f"spend={plain(spend)} is not a loss: expected e.g. {_example(measure)}")
    if spend.measure != measure:
        raise MeasureMismatch("the budget", measure, "spend", spend.measure, f"give {_example(measure)}")
    if not spend.is_finite or not noise_losses(spend):
        raise ParameterError(f"spend={plain(spend)}: expected a finite loss above 0, such as {_example(measure)}")
    return spend


def _example(measure: Measure) -> str:
    examples = {PureDP: pure("1/10"), ZCDP: zcdp("1/100"), ApproxDP: approx("1/10", 0)}
    return repr(examples.get(measure, approx_zcdp("1/100", 0)))


def _part(
    relation: Relation, statistic: Statistic, collecting: Collecting, kind: Kind, share: Fraction, loss: Loss
) -> Part:
    norm = L1Distance() if kind == "laplace" else L2Distance()
    integers = contributing(relation, statistic, collecting, norm)
    mechanism: Any = laplace if kind == "laplace" else gaussian
    made = calibrate(mechanism, integers, d_in=1, loss=loss)
    scale = dict(made.steps[-1].bound.parameters)["scale"]
    return Part(statistic, share, made, Noise(kind, scale))


def _together(relation: Relation, parts: Sequence[Part], collecting: Collecting, spend: Loss, name: str) -> Measurement:
    """The composition of all parts, whose rows are read once for all of them."""
    steps = [step.function for step in relation.steps]
    statistics = [part.statistic for part in parts]
    noises = [part.measurement.steps[-1].function for part in parts]

    def release(source: Rows) -> tuple[Array, ...]:
        rows = reduce(lambda member, step: step(member), steps, source)
        exact = collecting(rows, statistics)
        return tuple(noise(integers) for noise, integers in zip(noises, exact, strict=True))

    members = [part.measurement for part in parts]
    # Losses in zCDP are added up before they are converted at the delta; others may be converted one by one.
    late = members[0].measure == ZCDP and spend.measure == ApproxDP
    together = compose(relation.source_space, members, measure=ZCDP if late else spend.measure)
    # Each member would read the rows by itself; what they release is the same if all are handed what one pass found.
    return counted(replace(together, function=release, made_by=name, identity=()), spend)
