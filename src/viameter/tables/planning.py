"""Planning: from a loss to spend to the noise of each statistic, and to the one Measurement that releases them all."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from viameter.composition import compose
from viameter.core import Loss, Measure, Measurement, Transformation
from viameter.errors import MeasureMismatch, NoTheorem, ParameterError, plain
from viameter.measures import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP, approx, approx_zcdp, pure, zcdp
from viameter.measures.amounts import GaussianLoss
from viameter.measures.conversions.concentrated import greatest_rho
from viameter.measures.conversions.gaussian import greatest_mu_squared
from viameter.mechanisms import calibrate, gaussian, laplace
from viameter.mechanisms.smoothed import smoothed_gaussian
from viameter.spaces import Array, L1Distance, L2Distance
from viameter.tables.collecting import Collecting
from viameter.tables.contributing import contributing
from viameter.tables.estimates import Noise
from viameter.tables.estimates.noise import Kind
from viameter.tables.estimates.picks import Choice
from viameter.tables.quantile_picks import PICKS, QuantilePick, picking
from viameter.tables.relation import Relation
from viameter.tables.rows import Rows
from viameter.tables.statistics import Statistic

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
class NoisePlan:
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


def noise_plan(
    relation: Relation,
    weights: Mapping[Statistic, Fraction],
    collecting: Collecting,
    spend: Loss,
    *,
    kind: Kind,
    name: str,
) -> NoisePlan:
    """The plan that spends a loss on noise of one kind: each statistic gets its weight's share of it."""
    total = sum(weights.values(), Fraction(0))
    shares = {statistic: weight / total for statistic, weight in weights.items()}
    ways = [_parts(relation, shares, collecting, kind, loss) for loss in noise_losses(spend)[kind]]
    parts = min((found for found in ways if found), key=lambda found: math.prod(part.noise.scale for part in found))
    return NoisePlan(parts, _together(relation, parts, collecting, spend, name), kind)


def noise_kinds(measure: Measure) -> tuple[Kind, ...]:
    """Which noise may be drawn for a budget in this measure; the first one needs no delta."""
    if measure not in KINDS:
        known = ", ".join(map(repr, KINDS))
        raise NoTheorem(f"questions over tables are answered for budgets in {known}, not in {plain(measure)}")
    return KINDS[measure]


def noise_losses(spend: Loss) -> dict[Kind, tuple[Loss, ...]]:
    """By kind of noise that may be drawn for a loss, all that it may cost: in each measure that it can be counted in.

    Gaussian noise is within an epsilon only at a delta above 0. What all of it costs is added up, in zCDP or (if it is
    not very small) as if it were real, and converted once, so that delta is not shared. Both bound the whole vector of
    noise: the profile of one coordinate that moves as far as all of them together is no bound for discrete noise.

    >>> noise_losses(approx(1, 0)), list(noise_losses(approx(1, "1e-6")))
    ({'laplace': (pure(1),)}, ['laplace', 'gaussian'])
    """
    if not spend.is_finite:
        raise ParameterError(f"spend={plain(spend)} is not finite")
    found = {kind: _noise_losses(spend, kind) for kind in noise_kinds(spend.measure)}
    return {kind: losses for kind, losses in found.items() if losses}


@lru_cache(maxsize=1024)
def _noise_losses(spend: Any, kind: Kind) -> tuple[Loss, ...]:
    losses: tuple[Loss, ...]
    if kind == "laplace":
        losses = (pure(Fraction(spend.epsilon)),)
    elif spend.measure != ApproxDP:
        losses = (zcdp(Fraction(spend.rho)),)
    elif not spend.delta:
        losses = ()
    else:
        epsilon = Fraction(spend.epsilon)
        losses = (zcdp(greatest_rho(epsilon, spend.delta)), GaussianLoss(greatest_mu_squared(epsilon, spend.delta)))
    return tuple(loss for loss in losses if loss > loss.measure.zero)


def counted(measurement: Measurement, spend: Loss) -> Measurement:
    """What is counted in another measure, counted as what it is spent of: at its delta if it has one."""
    if measurement.measure in (ZCDP, GaussianDP) and spend.measure == ApproxDP:
        return measurement.to(ApproxDP, delta=spend.delta)  # type: ignore[attr-defined]
    return measurement.to(spend.measure)


def part_of(loss: Loss, share: Fraction) -> Loss:
    """A share of a loss to spend, in its measure: of each of its numbers."""
    amount: Any = loss
    numbers = (Fraction(getattr(amount, name)) * share for name in amount.names)
    found: Loss = type(amount)(*numbers)
    return found


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
    written = repr(examples.get(measure, approx_zcdp("1/100", 0)))
    # As it would be typed: fractions are text, so that they are exact.
    return "vm." + re.sub(r"\d+/\d+", lambda found: f"'{found[0]}'", written)


def _parts(
    relation: Relation, shares: Mapping[Statistic, Fraction], collecting: Collecting, kind: Kind, loss: Loss
) -> tuple[Part, ...]:
    """Each statistic with the noise that its share of a loss buys; none where that measure has no bound for one."""
    found = []
    for statistic, share in shares.items():
        part = _part(relation, statistic, collecting, kind, share, part_of(loss, share))
        if part is None:
            return ()
        found.append(part)
    return tuple(found)


def _part(
    relation: Relation, statistic: Statistic, collecting: Collecting, kind: Kind, share: Fraction, loss: Loss
) -> Part | None:
    if isinstance(statistic, QuantilePick):
        if loss.measure not in PICKS:
            return None
        picks = picking(relation, statistic, collecting, loss)
        return Part(statistic, share, picks.measurement, picks.choice, picks.draw)
    norm = L1Distance() if kind == "laplace" else L2Distance()
    made = _noisy(contributing(relation, statistic, collecting, norm), loss)
    if made is None:
        return None
    noise = made.steps[-1]
    return Part(statistic, share, made, Noise(kind, dict(noise.bound.parameters)["scale"]), noise.function)


def _noisy(integers: Transformation, loss: Any) -> Measurement | None:
    if loss.measure != GaussianDP:
        return calibrate(laplace if loss.measure == PureDP else gaussian, integers, d_in=1, loss=loss)
    distance = Fraction(integers.map(1))
    added = smoothed_gaussian(integers.output_space, distance=distance, mu_squared=Fraction(loss.mu_squared))
    made = None if added is None else integers >> added
    return made if made is not None and made.check(1, loss) else None


def _together(relation: Relation, parts: Sequence[Part], collecting: Collecting, spend: Loss, name: str) -> Measurement:
    """The composition of all parts, whose rows are read once for all of them."""
    steps = [step.function for step in relation.steps]
    statistics = [part.statistic for part in parts]

    def release(source: Rows) -> tuple[Array, ...]:
        rows = reduce(lambda member, step: step(member), steps, source)
        exact = collecting(rows, statistics)
        return tuple(part.draw(integers) for part, integers in zip(parts, exact, strict=True))

    members = [part.measurement for part in parts]
    # What is converted at a delta is added up before; pure losses are converted one by one.
    late = members[0].measure != PureDP and spend.measure == ApproxDP
    together = compose(relation.source_space, members, measure=members[0].measure if late else spend.measure)
    # Each member would read the rows by itself; what they release is the same if all are handed what one pass found.
    return counted(replace(together, function=release, made_by=name, identity=()), spend)
