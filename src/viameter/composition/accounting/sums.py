"""The plain sum of (epsilon, delta) pairs, which needs no knowledge of the mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from viameter.arith import INFINITY, ZERO, Extended, add_settled_up, settle_up, times
from viameter.theorem import Numbers, theorem


@dataclass(slots=True)
class Sums:
    """Sums of epsilons and of deltas."""

    epsilon: Extended = ZERO
    delta: Fraction = ZERO

    def add(self, epsilon: Extended, delta: Fraction, count: int) -> None:
        """Add a pair, so many times."""
        self.epsilon = add_settled_up(self.epsilon, times(Fraction(count), epsilon))
        self.delta = min(Fraction(1), settle_up(self.delta + count * delta))


@theorem(
    "sums-of-epsilon-and-delta", cites="Dwork, Kenthapadi, McSherry, Mironov and Naor 2006", numbers=Numbers.OUTWARD
)
def sums_epsilon(losses: Sums, *, delta: Fraction) -> Extended:
    """Epsilons add up, and deltas add up.

    Theorem
        Mechanisms that are (e_i, d_i)-differentially private are together (sum of e_i, sum of d_i)-differentially
        private.
    Requires
        Each is (e_i, d_i)-differentially private whatever the answers before.
    Ensures
        The sum of the epsilons if the sum of the deltas is at most delta, infinity else; long sums are rounded up.
    Proof
        By induction over the answers; the theorem cited.
    Example
        >>> sums_epsilon(Sums(Fraction(3), Fraction(1, 20)), delta=Fraction(1, 10))
        Fraction(3, 1)
    """
    return losses.epsilon if losses.delta <= delta else INFINITY
