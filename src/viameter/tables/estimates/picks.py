"""Quantiles that were picked: from the bin that was chosen in each group to a value, and how far its rank may be off.

*The scores.* Edges e_0 < ... < e_K, B(e) the number of rows in bins below edge e, n all of them, and T(e) = B(e) - qn
as in `quantiles`. Bin i holds a q-quantile if T(e_i) <= 0 <= T(e_i+1); else max(T(e_i), -T(e_i+1)) rows lie between it
and one. That number is how far off the bin is in rank, and minus it is the score. T rises from -qn to (1 - q)n, so that
some bin is off by 0.

*How far a pick is off.* Of K bins, K - 1 or fewer are off by more than t rows. The exponential mechanism of scale s
picks any such one with a chance of at most exp(-t/s), since a bin that is off by 0 has weight 1: P(off by more than t)
<= (K - 1) exp(-t/s). With exponential noise (permute-and-flip) one of those whose coin shows heads is taken, each with
the same chance; the best bin's coin always does. If b of the bad ones do, one of them is taken with a chance of at most
b/(b + 1) <= b/2, and E b <= (K - 1) exp(-t/s): half of that. Nothing of it depends on rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np

from viameter.arith import dyadic
from viameter.tables.estimates.basic import Estimate
from viameter.tables.estimates.outward import read_integers

Drawn = Literal["gumbel", "exponential"]


@dataclass(frozen=True, slots=True)
class Choice:
    """The noise that a choice among bins was made with; its scale is in rows of rank."""

    kind: Drawn
    scale: Fraction

    def rank_error(self, bins: int, alpha: Fraction) -> Fraction:
        """How many rows of rank a pick among so many bins is off at most, but for a chance of alpha.

        >>> float(round(Choice("gumbel", Fraction(5)).rank_error(256, Fraction(1, 20)), 1))
        42.7
        """
        bad = Fraction(bins - 1) / (alpha if self.kind == "gumbel" else 2 * alpha)
        return self.scale * dyadic.log_up(bad) if bad > 1 else Fraction(0)


def picked_quantiles(picked: object, edges: Sequence[Fraction], alpha: Fraction) -> Estimate:
    """The middles of the bins that were picked. No interval of values follows from a pick: its ends are infinite.

    >>> picked_quantiles([1, 0], [Fraction(0), Fraction(10), Fraction(30)], Fraction(1, 20)).value.tolist()
    [20.0, 5.0]
    """
    middles = np.array([float((left + right) / 2) for left, right in pairwise(edges)])
    value = middles[read_integers(picked, name="picked")]
    nothing = np.full(value.shape, np.inf)
    return Estimate(value, -nothing, nothing, alpha, "no interval of values: a pick tells a rank, not how values lie")
