"""Filters in approximate differential privacy that let more fit into a budget than sums do.

Both count in approximate zCDP, up to a cap that follows from the budget. Part of the budget's delta, the *slack*, is
what the rule itself uses; the rest is for the deltas of mechanisms.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from viameter.arith import Extended, Number, dyadic, probability
from viameter.composition.counting import Counting
from viameter.core import Loss, Measurement, by
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures import ApproxDP, ApproxZCDP, PureDP
from viameter.measures.amounts import ApproxLoss, ApproxZCDPLoss
from viameter.measures.conversions.concentrated import greatest_rho
from viameter.theorem import Numbers, theorem


@theorem(
    "concentrated-filter",
    cites="Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 1; Canonne, Kamath and Steinke 2020; Harrison and "
    "Manurangsi 2025",
    numbers=Numbers.OUTWARD,
)
def concentrated_filter(d_in: Extended, *, at: Extended, budget: ApproxLoss, slack: Fraction) -> ApproxLoss:
    """Approximate losses, counted in approximate zCDP up to a cap, cost no more than a budget.

    Theorem
        Let measurements approx(e_i, d_i), chosen one after the other by all answers so far, be refused before they run
        where the sum of e_i tanh(e_i/2) would exceed r, or that of d_i would exceed D. Then all answers are approx(e,
        D + (1 - D) s), where (e, s) is what r-zCDP is in approximate privacy.
    Requires
        Budget and slack are fixed before the first answer, with 0 < slack <= delta of the budget. Interactive
        measurements answer until the next one is asked for.
    Ensures
        The loss is the budget for every distance up to that of the filter, and infinite beyond: the cap on r is rounded
        down, so that r-zCDP is within (epsilon, slack), and D + (1 - D) slack is the budget's delta.
    Proof
        Each measurement is approx_zcdp(e_i tanh(e_i/2), d_i) given the answers so far (approx-to-approx-zcdp). By
        Theorem 1 of Whitehouse et al., all answers are approx_zcdp(r, D). The rest is approx-zcdp-to-approx. A
        measurement that is approx_zcdp(r_i, d_i) itself may be counted as that.
    Example
        >>> from viameter.measures import approx
        >>> concentrated_filter(1, at=1, budget=approx(1, "1e-6"), slack=Fraction(1, 2 * 10**6))
        approx(1, 1/1000000)
    """
    return budget if d_in <= at else ApproxDP.infinite


@theorem("advanced-filter", cites="Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 2", numbers=Numbers.OUTWARD)
def advanced_filter(d_in: Extended, *, at: Extended, budget: ApproxLoss, slack: Fraction) -> ApproxLoss:
    """Approximate losses, counted by the squares of their epsilons up to a cap, cost no more than a budget.

    Theorem
        Let measurements approx(e_i, d_i), chosen one after the other by all answers so far, be refused before they run
        where V = sum of e_i^2 would make sqrt(2 ln(1/s) V) + V/2 exceed e, or the sum of d_i would exceed D. Then all
        answers are approx(e, s + D).
    Requires
        Budget and slack are fixed before the first answer, with 0 < slack <= delta of the budget. Interactive
        measurements answer until the next one is asked for.
    Ensures
        The loss is the budget for every distance up to that of the filter, and infinite beyond. The cap on V is rounded
        down; V/2 is counted as the rho of approximate zCDP.
    Proof
        Theorem 2 of Whitehouse et al. With the privacy loss L of all answers, outside of the deltas, exp(a L - a (a +
        1) V/2) is a supermartingale for a > 0, so that L is above V/2 + a V/2 + ln(1/s)/a with probability at most s;
        the best a for the largest V allowed gives the bound. A measurement that is approx_zcdp(r_i, d_i) itself has
        these moments with 2 r_i for e_i^2.
    Example
        >>> from viameter.measures import approx
        >>> advanced_filter(2, at=1, budget=approx(1, "1e-6"), slack=Fraction(1, 2 * 10**6))
        approx(inf, 1)
    """
    return budget if d_in <= at else ApproxDP.infinite


def count_concentrated(distance: Extended, budget: Loss, slack: Number | None) -> Counting:
    """Count e tanh(e/2) and delta, up to a cap that conversion to approximate privacy allows."""
    limit, used = _read("concentrated", budget, slack)
    # D + (1 - D) slack = delta.
    cap = ApproxZCDPLoss(greatest_rho(Fraction(limit.epsilon), used), (limit.delta - used) / (1 - used))
    return Counting(cap, by(concentrated_filter, at=distance, budget=limit, slack=used), used, _to_approx_zcdp)


def count_advanced(distance: Extended, budget: Loss, slack: Number | None) -> Counting:
    """Count e^2/2 and delta, up to a cap by Theorem 2 of Whitehouse et al."""
    limit, used = _read("advanced", budget, slack)
    cap = ApproxZCDPLoss(greatest_square(Fraction(limit.epsilon), used) / 2, limit.delta - used)
    return Counting(cap, by(advanced_filter, at=distance, budget=limit, slack=used), used, _to_half_squares)


def greatest_square(epsilon: Fraction, delta: Fraction, *, bits: int = 128) -> Fraction:
    """A number at or just below the greatest V with sqrt(2 ln(1/delta) V) + V/2 <= epsilon.

    >>> float(greatest_square(Fraction(1), Fraction(1, 10**6)))
    0.0349...
    """
    twice = 2 * dyadic.log_up(1 / delta, bits=bits)
    # sqrt(V) = 2 epsilon / (a + sqrt(a^2 + 2 epsilon)) for a^2 = 2 ln(1/delta): it falls with a, which is rounded up.
    below = dyadic.sqrt_up(twice, bits=bits) + dyadic.sqrt_up(twice + 2 * epsilon, bits=bits)
    return dyadic.powi_down(dyadic.div_down(2 * epsilon, below, bits=bits), 2, bits=bits)


def _to_approx_zcdp(measurement: Measurement) -> Measurement:
    return measurement.to(ApproxZCDP)


def _to_half_squares(measurement: Measurement) -> Measurement:
    if measurement.measure not in (PureDP, ApproxDP):
        return measurement.to(ApproxZCDP)  # what is r-zCDP has the moments of an epsilon with epsilon^2/2 = r
    return measurement.to(ApproxDP).to(ApproxZCDP, by="approx-to-approx-zcdp-quadratic")


def _read(rule: str, budget: Any, slack: Number | None) -> tuple[ApproxLoss, Fraction]:
    if not isinstance(budget, ApproxLoss):
        raise NoTheorem(f"rule={rule!r} is for budgets in ApproxDP: {plain(budget)} is one in {budget.measure!r}")
    used = budget.delta / 2 if slack is None else probability(slack, name="slack")
    if not 0 < used < 1 or not used <= budget.delta:
        raise ParameterError(
            f"slack={slack}: the rule {rule!r} needs a part of the budget's delta, {budget.delta}: "
            "expected a number above 0 and up to that"
        )
    return budget, used
