"""The optimal composition of different (epsilon, delta) pairs: #P-hard exactly, here from above and within 0.05 %."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from viameter.arith import Extended, Number, nonnegative, probability
from viameter.composition.accounting.pairs import pure_pair
from viameter.composition.accounting.sums import Sums, sums_epsilon
from viameter.composition.accounting.tight import TightAccount
from viameter.theorem import Numbers, theorem

MURTAGH = "Murtagh and Vadhan 2016 (The Complexity of Computing the Optimal Composition), Theorem 1.5"


@theorem("heterogeneous-optimum-epsilon", cites=MURTAGH, numbers=Numbers.OUTWARD)
def heterogeneous_epsilon(losses: Iterable[tuple[Number, Number]], *, delta: Number) -> Extended:
    """The least epsilon that mechanisms of different (e_i, d_i)-differential privacy together have, from above.

    Theorem
        The least epsilon of mechanisms of (e_i, d_i)-differential privacy at D is the least for which
        prod (1 + e^(e_i))^-1 times the sum over sets S of [e^(sum over S) - e^(epsilon + sum over others)]_+ is at most
        1 - (1 - D)/prod (1 - d_i).
    Requires
        All pairs are fixed in advance; the mechanisms may be chosen adaptively. Not for filters and odometers.
    Ensures
        The result is at least that epsilon; infinity where D is below 1 - prod (1 - d_i).
    Proof
        By dominating-pure each is dominated by a pair with two losses and a mass at infinity, by
        dominating-pairs-compose all are by the product, which the theorem states; its delta is bounded by
        loss-distribution-delta where few losses are written out, and by contour-sum else. The sum of the epsilons is
        enough as well.
    Example
        >>> mixed = [("0.05", 0)] * 15 + [("0.1", "1e-9")] * 5
        >>> round(float(heterogeneous_epsilon(mixed, delta="1e-3")), 4)
        0.6985
    """
    target = probability(delta, name="delta")
    account, sums = TightAccount(), Sums()
    counts: dict[tuple[Fraction, Fraction], int] = {}
    for epsilon, d in losses:
        pair = nonnegative(epsilon, name="epsilon"), probability(d, name="delta")
        counts[pair] = counts.get(pair, 0) + 1
    for (e, d), count in counts.items():
        account.add(pure_pair(e, delta=d), count)
        sums.add(e, d, count)
    return min(account.epsilon(target), sums_epsilon(sums, delta=target))
