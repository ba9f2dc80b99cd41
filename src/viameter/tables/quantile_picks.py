"""Quantiles by selection: in each group one bin of a column, picked by how many rows lie between it and the quantile.

Which is better, a pick for each quantile or one tree of noisy counts for all of a column, depends on public numbers
alone: `picks_are_better` says how.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from viameter.arith import INFINITY, Extended, dyadic, times
from viameter.core import Loss, Measure, Measurement, by
from viameter.core.deadlines import while_awaited
from viameter.errors import NoTheorem, plain
from viameter.measures import ZCDP, PureDP, pure, zcdp
from viameter.measures.conversions.response import bounded_range_to_zcdp
from viameter.mechanisms.selection import noisy_max_exponential
from viameter.sampling import exponential as draw_exponential
from viameter.sampling import permute_and_flip
from viameter.sampling.noise import read_scale
from viameter.spaces import Array
from viameter.tables.collecting import MOST, Collecting
from viameter.tables.estimates import Noise, TreeShape
from viameter.tables.estimates.noise import Kind
from viameter.tables.estimates.picks import Choice, Drawn
from viameter.tables.estimates.trees import coefficients
from viameter.tables.relation import Relation
from viameter.tables.statistics import Bins
from viameter.tables.theorems import WILSON, largest_square, most_rows
from viameter.theorem import theorem

BITS = 64
FINEST_QUANTILE = 10**6
"""The largest denominator of a quantile that is picked: scores are whole numbers of 64 bits."""
PICKS: dict[Measure, tuple[Drawn, Callable[..., int], Any]] = {
    PureDP: ("exponential", permute_and_flip, noisy_max_exponential),
    ZCDP: ("gumbel", draw_exponential, bounded_range_to_zcdp),
}
"""By measure, the pick that is best in it: its noise, how it is drawn, and the theorem of one pick."""


@theorem(
    "quantile-picks-of-units",
    cites=f"Smith 2011 (scores by rank); Dong, Durfee and Rogers 2020 (bounded range); {WILSON}; groups, and replaced "
    "units, derived here",
)
def quantile_picks_of_units(
    d_in: Extended,
    *,
    step: Callable[..., Loss],
    numerator: int,
    denominator: int,
    scale: Fraction,
    rows: Extended,
    groups: Extended,
    per_group: Extended,
    keys: int,
    replaced: bool,
) -> Loss:
    """A unit moves the scores of a group's bins by as many rows as it has there, and the scores of other groups not.

    Theorem
        Let F keep rows of each unit, at most R of them in at most G of K groups with at most P in each, and count those
        that have a value by group and bin. For the quantile a/b, t(e) = (b - a) times the rows below edge e minus a
        times those above it, and the score of the bin from e to e' is -max(0, t(e), -t(e')). Let M pick a bin in each
        group, with probability proportional to exp(score/s), or as the largest score with exponential noise of scale
        s, independently by group. Let L = min(R, G P), S the largest sum of squares of at most G whole numbers up to P
        that add up to at most R, and m = max(a, b - a). If x' is x with d_in units added or removed, M is
        pure(2 d_in m L/s), and with the first kind of pick zcdp(d_in^2 m^2 S/2s^2). If the rows of d_in units are
        replaced by others (or by none), M is pure(4 d_in m L/s) and zcdp(d_in^2 (a^2 + (b - a)^2) S/s^2); with one
        group only (K = 1), pure(2 d_in b L/s) and zcdp(d_in^2 b^2 S/2s^2).
    Requires
        Which rows of a unit are kept depends on that unit's rows (and a salt that is independent of the data) alone. A
        kept row counts in one group, where the limits hold, and in one bin of it, or in none. Scores are whole numbers,
        computed exactly; counts of bins may stop at a public number. Of a pick only the bin is released. `step` is
        noisy-max-exponential, or for picks by probabilities bounded-range-to-zcdp.
    Ensures
        The loss is that of the case: numerator a, denominator b, 0 <= a <= b.
    Proof
        Given the salt. A row that comes or goes moves every t(e) by b - a or a, in either direction, and one that moves
        from bin to bin by b or not at all; a score moves no further than the larger of its two t. So if n rows of a
        unit leave a group and n' enter it, its scores move by at most c = m |n - n'| + b min(n, n') = m max(n, n') +
        (b - m) min(n, n'). Units after each other add up. A pick from scores that move by c costs pure(2c/s), or has
        a range of 2c/s and thus costs zcdp(c^2/2s^2); groups are picked from independently and add up, so that sums of
        c and of c^2 over groups are to be bounded. Added or removed: c = m n, the sums are at most m L and m^2 S.
        Replaced: c <= m (n + n'), as b <= 2m, with the sum 2 m L; and c^2 <= (m^2 + (b - m)^2)(n^2 + n'^2) by the
        inequality of Cauchy and Schwarz, with the sum 2 (a^2 + (b - a)^2) S. In one group alone c <= b max(n, n') <=
        b L. For several units, sums of c add up, and roots of sums of c^2, by Minkowski. Stopping a count makes a row
        move nothing.
    Example
        >>> limits = {"rows": Fraction(3), "groups": Fraction(1), "per_group": INFINITY, "keys": 1, "replaced": False}
        >>> median = {"numerator": 1, "denominator": 2, "scale": Fraction(12)}
        >>> quantile_picks_of_units(Fraction(1), step=noisy_max_exponential, **median, **limits)
        pure(1/2)
    """
    move = moves(numerator, denominator, rows, min(groups, Fraction(keys)), per_group, one=keys == 1, replaced=replaced)
    if step is noisy_max_exponential:
        return pure(times(2 / scale, times(move.total, d_in)))
    return zcdp(times(1 / (2 * scale**2), times(move.squares, times(d_in, d_in))))


@dataclass(frozen=True, slots=True)
class Moves:
    """How far one unit moves scores at most: the sum over groups, and the sum of squares."""

    total: Extended
    squares: Extended


def moves(a: int, b: int, rows: Extended, groups: Extended, per_group: Extended, *, one: bool, replaced: bool) -> Moves:
    """How far a unit moves the scores of the quantile a/b."""
    m, most, squares = max(a, b - a), most_rows(rows, groups, per_group), largest_square(rows, groups, per_group)
    if not replaced:
        return Moves(times(Fraction(m), most), times(Fraction(m**2), squares))
    if one:
        return Moves(times(Fraction(b), most), times(Fraction(b**2), squares))
    return Moves(times(Fraction(2 * m), most), times(Fraction(2 * (a**2 + (b - a) ** 2)), squares))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class QuantilePick(Bins):
    """By group, the bin that is picked for a quantile; what is collected for it are rows by bin."""

    q: Fraction = Fraction(1, 2)

    @property
    def key(self) -> tuple[Any, ...]:
        """What two statistics agree in that are the same."""
        return ("pick", self.value.key, self.edges, self.q)

    @property
    def cells(self) -> int:
        """One bin is told by group."""
        return 1

    def scores(self, counts: Array) -> Array:
        """The scores of the bins, in rows times the denominator of q, from rows by group and bin."""
        a, b = self.q.numerator, self.q.denominator
        below = np.zeros((len(counts) // self.leaves, self.leaves + 1), dtype=np.int64)
        # Leaves stop early enough for scores to stay within 62 bits.
        stopped = np.minimum(counts, MOST // (b * self.leaves)).reshape(-1, self.leaves)
        np.cumsum(stopped, axis=1, out=below[:, 1:])
        t = b * below - a * below[:, -1:]
        found: Array = -np.maximum(np.maximum(t[:, :-1], -t[:, 1:]), 0)
        return found

    def __repr__(self) -> str:
        return f"the bin, of {self.leaves}, of the {self.q} quantile of {self.value!r}"


@dataclass(frozen=True, slots=True)
class Picking:
    """A pick in each group: the measurement, the noise, and how picks are drawn once rows are counted by bin."""

    measurement: Measurement
    choice: Choice
    draw: Callable[[Array], Array]


def picking(relation: Relation, statistic: QuantilePick, collecting: Collecting, loss: Any) -> Picking:
    """The picks that cost this loss, in PureDP or ZCDP, for one unit."""
    if loss.measure not in PICKS:
        raise NoTheorem(f"quantiles are picked for losses in {', '.join(map(repr, PICKS))}, not in {plain(loss)}")
    kind, pick, step = PICKS[loss.measure]
    a, b = statistic.q.numerator, statistic.q.denominator
    keys, replaced = collecting.keys.size, relation.unit.replaces
    rows, groups, per_group = (
        INFINITY if limit is None else Fraction(limit)
        for limit in (collecting.limits.rows, collecting.limits.groups, collecting.limits.per_group)
    )
    move = moves(a, b, rows, min(groups, Fraction(keys)), per_group, one=keys == 1, replaced=replaced)
    if loss.measure == PureDP:
        scale = read_scale(2 * Fraction(move.total) / Fraction(loss.epsilon))
    else:
        scale = read_scale(dyadic.sqrt_up(Fraction(move.squares) / (2 * Fraction(loss.rho)), bits=BITS))

    def draw(counts: Array) -> Array:
        return np.array([pick(scores, scale) for scores in while_awaited(statistic.scores(counts))], dtype=np.int64)

    made = Measurement(
        input_space=relation.space,
        measure=loss.measure,
        function=lambda member: draw(collecting(member, [statistic])[0]),
        bound=by(
            quantile_picks_of_units, step=step, numerator=a, denominator=b, scale=scale,
            rows=rows, groups=groups, per_group=per_group, keys=keys, replaced=replaced,
        ),
        made_by=f"picks({statistic!r}; {keys} group{'' if keys == 1 else 's'})",
    )  # fmt: skip
    whole = reduce(lambda later, earlier: earlier >> later, reversed(relation.steps), made)
    assert whole.check(1, loss)
    return Picking(whole, Choice(kind, scale / b), draw)


def picks_are_better(q: Fraction, *, bins: int, quantiles: int, kind: Kind, keys: int, replaced: bool) -> bool:
    """Whether picks for so many quantiles of a column are expected to be off by fewer rows of rank than a tree.

    Both are compared for what one unit's rows move and one loss to spend on all of these quantiles; limits of units
    scale both alike. A pick is off by its scale, about (its rank has nearly the two-sided exponential law of that
    scale where bins are fine). A tree is off by the mean of a normal law's absolute value, 0.8 times the standard
    deviation of rows below an edge, in the mean over edges; all quantiles share it.

    >>> asked = {"bins": 256, "kind": "laplace", "keys": 1, "replaced": False}
    >>> [picks_are_better(Fraction(1, 2), quantiles=k, **asked) for k in (1, 5, 6)]
    [True, True, False]
    """
    if q.denominator > FINEST_QUANTILE:
        return False
    a, b, one = q.numerator, q.denominator, Fraction(1)
    move = moves(a, b, one, one, one, one=keys == 1, replaced=replaced)
    shape = TreeShape.of(bins, kind=kind)
    levels = len(shape.sizes)
    of_edges = coefficients(shape, (Noise(kind, one),) * levels)
    spread = math.sqrt(float(((of_edges[1:-1] - float(q) * of_edges[-1:]) ** 2).sum(axis=1).mean()))
    if kind == "laplace":
        # Scales for epsilon 1; a level's noise has the deviation sqrt(2) s.
        pick = 2 * float(move.total) / b * quantiles
        tree = math.sqrt(2) * spread * levels * (2 if replaced else 1)
    else:
        # Scales for rho 1/2.
        pick = math.sqrt(float(move.squares) * quantiles) / b
        tree = spread * math.sqrt(levels * (2 if replaced else 1))
    return pick < 0.8 * tree
