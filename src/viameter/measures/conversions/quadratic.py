"""Approximate losses as approximate concentrated ones, by half the square of epsilon: exact, and what filters count."""

from __future__ import annotations

from fractions import Fraction

from viameter.arith import INFINITY
from viameter.core.conversion import conversion
from viameter.measures.amounts import ApproxDP, ApproxLoss, ApproxZCDP, ApproxZCDPLoss
from viameter.theorem import theorem


@conversion(source=ApproxDP, target=ApproxZCDP, alternative=True)
@theorem("approx-to-approx-zcdp-quadratic", cites="Bun and Steinke 2016, Section 8 and Proposition 1.4")
def approx_to_approx_zcdp_quadratic(loss: ApproxLoss) -> ApproxZCDPLoss:
    """Outside of delta, an epsilon is epsilon^2/2 in zCDP.

    Theorem
        A mechanism that is approx(e, d) is approx_zcdp(e^2/2, d).
    Requires
        Nothing more than the loss; an infinite epsilon is an infinite rho.
    Ensures
        The loss is approx_zcdp(epsilon^2/2, delta), exactly.
    Proof
        Each of the two distributions is a mixture of weight 1 - d on one of two that are pure(e), and of weight d on
        another (Kairouz, Oh and Viswanath 2015). What is pure(e) is zcdp(e^2/2).
    Example
        >>> from viameter.measures import approx
        >>> approx_to_approx_zcdp_quadratic(approx("1/2", "1e-6"))
        approx_zcdp(1/8, 1/1000000)
    """
    rho = INFINITY if loss.epsilon == INFINITY else Fraction(loss.epsilon) ** 2 / 2
    return ApproxZCDPLoss(rho, loss.delta)
