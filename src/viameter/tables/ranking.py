"""Ranking: the keys with the largest counts, in order and without numbers; a Measurement of a relation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from viameter.arith import INFINITY, Extended, dyadic, times
from viameter.core import Loss, Measurement, by
from viameter.errors import ParameterError, plain
from viameter.measures import PureDP, bounded_range, pure
from viameter.mechanisms import calibrate, top_k
from viameter.mechanisms.selection import noisy_max_exponential
from viameter.sampling import top_k as draw_top_k
from viameter.sampling.noise import read_scale
from viameter.spaces import LInfDistance
from viameter.tables.collecting import Collecting
from viameter.tables.contributing import contributing
from viameter.tables.planning import counted, noise_losses
from viameter.tables.quantile_picks import PICKS
from viameter.tables.relation import Relation
from viameter.tables.statistics import Statistic, Total, Units
from viameter.theorem import theorem

BITS = 64


@theorem(
    "top-keys-of-added-units",
    cites="Durfee and Rogers 2019; Dong, Durfee and Rogers 2020 (monotone scores); for distances above 1 derived here",
)
def top_keys_of_added_units(
    d_in: Extended, *, step: Callable[..., Loss], k: int, scale: Fraction, rows: Extended, per_group: Extended
) -> Loss:
    """A unit that comes or goes moves all counts in one direction, so that the k largest cost k times half of a pick.

    Theorem
        Let F count rows by key, of each unit at most R and at most P in each key, and let M pick a key, remove it, and
        pick again, k times, each with probability proportional to exp(count/s), or as the largest count with
        exponential noise of scale s. For tables that differ in d units added or removed, a pick has the range d min(R,
        P)/s, or is pure(d min(R, P)/s), and M costs k times that in pure differential privacy and in zCDP.
    Requires
        Which rows of a unit are kept depends on that unit's rows (and a salt that is independent of the data) alone. No
        unit has other rows in both tables: it is there or it is not. Counts are not released.
    Ensures
        The loss is k times that of a pick with scores that all move in one direction, d_in min(rows, per_group) away.
    Proof
        Given the salt. Take one unit after the other: a unit that is added adds to every count a number between 0 and
        min(R, P), and one that is removed takes it away, so that all counts move in one direction, and the loss of a
        pick is as for monotone scores: a range, the largest privacy loss less the least, of min(R, P)/s, or an epsilon
        of min(R, P)/s. From table to table along the way, ranges add, since privacy losses do and neither the largest
        of a sum exceeds the sum of the largest nor the least of it is below the sum of the least; epsilons add as well.
        Picks add up as in top-k-by-peeling: removing keys leaves counts that move in one direction.
    Example
        >>> limits = {"rows": Fraction(3), "per_group": INFINITY}
        >>> top_keys_of_added_units(Fraction(1), step=noisy_max_exponential, k=2, scale=Fraction(12), **limits)
        pure(1/2)
    """
    away = times(Fraction(1) / scale, times(min(rows, per_group), d_in))
    one: Loss = pure(away) if step is noisy_max_exponential else step(bounded_range(away))
    return one.measure.total([one] * k)


@dataclass(frozen=True, slots=True)
class TopKeys:
    """The measurement that gives the indices of the keys with the k largest counts, and the scale of its noise."""

    measurement: Measurement
    scale: Fraction
    noise: str
    """Which noise a pick is drawn with: "exponential" or "gumbel"."""
    statistic: Statistic


def top_keys(relation: Relation, collecting: Collecting, *, k: int, by_units: bool, spend: Loss, name: str) -> TopKeys:
    """The indices of the k largest counts of rows or units, by key, for this loss: with the pick of less noise."""
    size = collecting.keys.size
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= size:
        raise ParameterError(f"top: k={plain(k)} is not a number of keys: expected a whole number from 1 to {size}")
    # Rows without names are units by themselves, and counted as such.
    statistic = Units() if by_units and relation.unit.rows_without_limit is None else Total()
    made = _replaced if relation.unit.replaces else _added
    # A key that is picked is behind the best by the scale times one and the same number, whichever the pick.
    losses = [loss for losses in noise_losses(spend).values() for loss in losses if loss.measure in PICKS]
    each = [made(relation, statistic, collecting, k, loss, name) for loss in losses]
    found = min(each, key=lambda top: top.scale)
    return replace(found, measurement=counted(found.measurement, spend))


def _replaced(
    relation: Relation, statistic: Statistic, collecting: Collecting, k: int, loss: Loss, name: str
) -> TopKeys:
    """Counts that move in both directions."""
    counts = contributing(relation, statistic, collecting, LInfDistance())
    found = calibrate(top_k, counts, d_in=1, loss=loss, k=k, noise=PICKS[loss.measure][0])
    return TopKeys(found, dict(found.steps[-1].bound.parameters)["scale"], PICKS[loss.measure][0], statistic)


def _added(relation: Relation, statistic: Statistic, collecting: Collecting, k: int, loss: Any, name: str) -> TopKeys:
    """Counts that move in one direction: half of the noise is enough."""
    limits = statistic.limits(collecting.limits)
    rows, per_group = (INFINITY if limit is None else Fraction(limit) for limit in (limits.rows, limits.per_group))
    most, (noise, pick, step) = Fraction(min(rows, per_group)), PICKS[loss.measure]
    if loss.measure == PureDP:
        scale = read_scale(most * k / Fraction(loss.epsilon))
    else:
        # Picks cost (most/s)^2/8 each.
        scale = read_scale(dyadic.sqrt_up(most**2 * k / (8 * Fraction(loss.rho)), bits=BITS))

    def release(rows: Any) -> Any:
        return draw_top_k(collecting(rows, [statistic])[0], scale, k, pick=pick)

    made = Measurement(
        input_space=relation.space,
        measure=loss.measure,
        function=release,
        bound=by(top_keys_of_added_units, step=step, k=k, scale=scale, rows=rows, per_group=per_group),
        made_by=name,
    )
    whole = reduce(lambda later, earlier: earlier >> later, reversed(relation.steps), made)
    return TopKeys(whole, scale, noise, statistic)
