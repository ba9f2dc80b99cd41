"""What it costs to show keys that nobody listed: those that enough units have, with noise on how many they are."""

from __future__ import annotations

from fractions import Fraction

from viameter.arith import INFINITY, Extended, dyadic
from viameter.measures import approx, approx_zcdp
from viameter.measures.amounts import ApproxLoss, ApproxZCDPLoss
from viameter.mechanisms.threshold import LEAST, any_of, laplace_tail_up
from viameter.theorem import Numbers, theorem

HISTOGRAMS = "Korolova et al. 2009; Bun, Nissim and Stemmer 2016 (stability-based histograms); Desfontaines et al. 2022"
ROOT = Fraction(12533, 5000)
"""Just below the square root of 2 pi."""


@theorem("thresholded-keys-of-units", cites=f"{HISTOGRAMS}; for units derived here", numbers=Numbers.OUTWARD)
def thresholded_keys_of_units(
    d_in: Extended, *, scale: Fraction, threshold: int, total: int, each: int, replaced: bool
) -> ApproxLoss:
    """Keys are shown from a noisy count on at a cost of (d T/s, delta), delta being the chance that a new one is shown.

    Theorem
        Let a unit have counts in keys, at most T in sum and at most E in each (T = G and E = 1 where it counts once in
        each of at most G keys). Let M add discrete Laplace noise Z of scale s to the count of every key that occurs,
        and show the keys whose noisy count is at least t, with it. For data that differ in d units that come or go, M
        is (d T/s, delta)-private with delta = max(1 - (1 - p(1))^(d T), 1 - (1 - p(d E))^(T/E)), where p(m) = P(Z >= t
        - m); for d units that have other rows (`replaced`), it is (2 d T/s, delta)-private. For d = E = 1 delta is 1 -
        (1 - p(1))^T, and that is attained.
    Requires
        Which keys a unit counts in depends on its own rows (and a salt that is independent of the data) alone. The
        noise is drawn exactly, independently for each key. Keys that do not occur are never shown. 1 <= E <= T.
    Ensures
        The loss is approx(d_in total/scale, delta), or twice that epsilon if replaced; delta is rounded up and at most
        1, T/E is rounded up.
    Proof
        Given the salt. Outputs for different keys are independent. Keys that occur in both data, with counts a apart in
        sum, cost (a/s, 0): Laplace noise, then post-processing. A key that occurs in one only, with count m, is shown
        with probability p(m) there and never in the other. Of such keys, both sides show the same only if they show
        none: in total variation they are 1 - min(u, v) apart, u and v being the product of 1 - p(m_j) over the keys of
        one side and of the other. With y for what is shown of the keys in both, P(S) = sum over y of P(y) P(S | y) <=
        sum over y of P(y) (P'(S | y) + delta) <= exp(a/s) P'(S) + delta, and no factor stands before delta. Counts move
        by at most d E in each key, by at most d T in sum where units come or go, and by at most 2 d T where one leaves
        and another enters; the keys of one side have m_j <= d E and sum of m_j <= d T. Let f(m) = -ln(1 - p(m)) = -ln
        P(Z <= t - 1 - m). The distribution function of a log-concave law is log-concave, so f is convex in m >= 1 and
        f(m)/m is largest at m = 1 or m = d E: sum of f(m_j) = sum of m_j f(m_j)/m_j <= d T max(f(1), f(d E)/(d E)). It
        is attained for d = E = 1 by T keys that only one unit has: that any is shown has probability 1 - (1 - p(1))^T
        with it, and 0 without.
    Example
        >>> unit = {"total": 3, "each": 1, "replaced": False}
        >>> loss = thresholded_keys_of_units(Fraction(1), scale=Fraction(3), threshold=60, **unit)
        >>> loss.epsilon, float(loss.delta)
        (Fraction(1, 1), 5.027...e-09)
    """
    if d_in == 0:
        return approx(0, 0)
    if d_in == INFINITY:
        return approx(INFINITY, 1)
    d = int(d_in)
    single = any_of(laplace_tail_up(threshold - 1, scale), d * total)
    full = any_of(laplace_tail_up(threshold - d * each, scale), -(-total // each))
    return approx(Fraction((2 if replaced else 1) * d * total) / scale, max(single, full))


@theorem(
    "gaussian-thresholded-keys-of-units",
    cites=f"Bun and Steinke 2016, Definition 8.1; Canonne, Kamath and Steinke 2020; {HISTOGRAMS}; derived here",
    numbers=Numbers.OUTWARD,
)
def gaussian_thresholded_keys_of_units(
    d_in: Extended, *, scale: Fraction, threshold: int, total: int, each: int, replaced: bool
) -> ApproxZCDPLoss:
    """With Gaussian noise, keys are shown at a cost of d^2 T E/2s^2 in zCDP, but for the chance of a new one.

    Theorem
        Let T, E and M be as for thresholded-keys-of-units, with discrete Gaussian noise Z of scale s. For data that
        differ in d units that come or go, M is delta-approximately (d^2 T E/2s^2)-zCDP, and (2 d^2 T E/2s^2)-zCDP for
        units that have other rows (`replaced`), with delta = max(1 - (1 - p(1))^(d T), 1 - (1 - p(d E))^(T/E)), where
        p(m) is P(Z >= k) for k = t - m, or more: exp(-k^2/2s^2) / ((1 - exp(-k/s^2)) max(1, 2.5066 s)), at most 1, and
        1 for k <= 0.
    Requires
        What thresholded-keys-of-units requires.
    Ensures
        The loss is approx_zcdp(d_in^2 total each/(2 scale^2), delta), or twice that rho if replaced; delta is rounded
        up, T/E is rounded up.
    Proof
        Given the salt. Let the event on either side be that no key is shown that occurs there and not on the other
        side. Keys are independent, so that it is missed with probability 1 - product (1 - P(Z >= t - m_j)) over the
        counts m_j of these keys; the bound of that by delta is the one of thresholded-keys-of-units, discrete Gaussian
        noise being log-concave too. Given the events, what is shown are the keys that occur on both sides, with the law
        that they have without the events: Gaussian noise on counts whose squared distance is at most sum of a_j^2 <= d
        E sum of a_j, which is at most d^2 T E, or twice that if replaced; and post-processing. The tail: for j = k + i,
        j^2 >= k^2 + 2ki, so that the weights exp(-j^2/2s^2) from k on add up to at most exp(-k^2/2s^2) / (1 -
        exp(-k/s^2)); all of them add up to at least 1, and to at least s sqrt(2 pi) by Poisson's formula.
    Example
        >>> unit = {"total": 4, "each": 1, "replaced": False}
        >>> loss = gaussian_thresholded_keys_of_units(Fraction(1), scale=Fraction(10), threshold=62, **unit)
        >>> loss.rho, float(loss.delta)
        (Fraction(1, 50), 2.906...e-09)
    """
    if d_in == 0:
        return approx_zcdp(0, 0)
    if d_in == INFINITY:
        return approx_zcdp(INFINITY, 1)
    d = int(d_in)
    single = any_of(_gaussian_tail_up(threshold - 1, scale), d * total)
    full = any_of(_gaussian_tail_up(threshold - d * each, scale), -(-total // each))
    return approx_zcdp(Fraction((2 if replaced else 1) * d**2 * total * each) / (2 * scale**2), max(single, full))


def _gaussian_tail_up(least: int, scale: Fraction) -> Fraction:
    """A bound of P(Z >= least) for discrete Gaussian noise, rounded up; 1 for least <= 0."""
    if least <= 0:
        return Fraction(1)
    square = scale**2
    first = dyadic.exp_up(max(-(Fraction(least) ** 2) / (2 * square), LEAST))
    ratio = max(Fraction(-least) / square, LEAST)
    below = -dyadic.expm1_up(ratio) * max(Fraction(1), ROOT * scale)
    return min(Fraction(1), dyadic.div_up(first, below))
