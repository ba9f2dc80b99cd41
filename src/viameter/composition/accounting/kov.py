"""The exact cost of k mechanisms that are (epsilon, delta)-private each: the optimal homogeneous composition."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import gmpy2  # type: ignore[import-untyped]

from viameter.arith import INFINITY, ZERO, Extended, Number, nonnegative, probability
from viameter.composition.accounting.reading import read_count
from viameter.composition.accounting.reals import DOWN, UP, Real, as_fraction, real_down, real_up
from viameter.theorem import Numbers, theorem

MOST = 1_000_000
"""The cost of the sum grows with the count; an Accountant answers for more."""

KAIROUZ = "Kairouz, Oh and Viswanath 2015 (The Composition Theorem for Differential Privacy), Theorem 3.3"


@theorem("homogeneous-optimum-delta", cites=KAIROUZ, numbers=Numbers.OUTWARD)
def optimal_delta(loss: Number, *, count: int, epsilon: Number, each_delta: Number = 0) -> Fraction:
    """The least delta that k mechanisms of (e, d)-differential privacy together have at an epsilon.

    Theorem
        k mechanisms, each (e, d)-differentially private, are together (epsilon, D)-differentially private with
        D = 1 - (1 - d)^k (1 - S), S = (1 + e^e)^-k sum over l of C(k, l) [e^((k - l) e) - e^(epsilon + l e)]_+,
        and for some mechanisms this is attained.
    Requires
        e, d and k are fixed in advance; the mechanisms may be chosen adaptively. Not for filters and odometers, where
        the parameters depend on answers.
    Ensures
        The result is D, rounded up to 192 bits.
    Proof
        Every (e, d)-private pair is post-processing of "reveal all with probability d, else randomized response of e",
        and so is every adaptive composition of such pairs of the product of k of them (the theorem cited). The losses
        of the product are (k - 2 l) e with probability C(k, l) e^((k - l) e)/(1 + e^e)^k where nothing was revealed,
        and its delta is the mean of (1 - e^(epsilon - loss))_+. Each summand is a product of positive numbers, and each
        factor is rounded up; the last one as -expm1 of the exact exponent, without cancellation.
    Example
        >>> float(optimal_delta("0.05", count=20, epsilon="0.5"))
        0.00094779872428...
    """
    total = nonnegative(epsilon, name="epsilon")
    e, d, k = nonnegative(loss, name="loss"), probability(each_delta, name="each_delta"), read_count(count, most=MOST)
    return _delta(total, e, d, k)


@theorem("homogeneous-optimum-epsilon", cites=KAIROUZ, numbers=Numbers.OUTWARD)
def optimal_epsilon(loss: Number, *, count: int, delta: Number, each_delta: Number = 0) -> Extended:
    """The least epsilon that k mechanisms of (e, d)-differential privacy together have at a delta.

    Theorem
        The least epsilon of k mechanisms of (e, d)-differential privacy at D is the largest of 0 and the logarithms
        ln((A_l - T)/B_l) over l = 0, ..., k, with T = 1 - (1 - D)/(1 - d)^k, A_l the probability of the l + 1 largest
        losses of k randomized responses of e, and B_l that of the same answers under the other data. It is infinite
        if T < 0.
    Requires
        e, d and k are fixed in advance; the mechanisms may be chosen adaptively. Not for filters and odometers.
    Ensures
        The result is that epsilon, rounded up; infinity where there is none.
    Proof
        By homogeneous-optimum-delta, epsilon is enough if and only if S(epsilon) <= T. S is a sum of positive parts of
        terms that fall with l, so S is the largest of 0 and A_l - e^epsilon B_l over l, and S(epsilon) <= T if and only
        if e^epsilon >= (A_l - T)/B_l for every l. A is rounded up, B and T down.
    Example
        >>> float(optimal_epsilon("0.05", count=20, delta="1e-3"))
        0.497986408124...
    """
    target = probability(delta, name="delta")
    e, d, k = nonnegative(loss, name="loss"), probability(each_delta, name="each_delta"), read_count(count, most=MOST)
    if target == 1:
        return ZERO
    if d == 1:
        return INFINITY
    if d > 0:
        # T, rounded down.
        kept = DOWN.pow(real_down(1 - d), gmpy2.mpz(k))
        if kept == 0:
            return INFINITY
        lowest = DOWN.sub(real_down(1), UP.div(real_up(1 - target), kept))
        if lowest < 0:
            return INFINITY
    else:
        lowest = real_down(target)
    if lowest == 0:
        return k * e
    best = real_up(0)
    above, below = real_up(0), real_down(0)
    for mine, theirs in zip(_weights(e, k, UP), _weights(-e, k, DOWN), strict=True):
        above, below = UP.add(above, mine), DOWN.add(below, theirs)
        if above > lowest and below > 0:
            best = max(best, UP.div(UP.sub(above, lowest), below))
        elif above > lowest:
            return k * e
    if best <= 1:
        return ZERO
    return min(k * e, as_fraction(UP.log(best)))


def _delta(total: Fraction, e: Fraction, d: Fraction, k: int) -> Fraction:
    mean = real_up(0)
    for number, weight in enumerate(_weights(e, k, UP)):
        exponent = total - (k - 2 * number) * e
        if exponent >= 0:
            break
        part = UP.minus(DOWN.expm1(real_down(exponent)))
        mean = UP.add(mean, UP.mul(weight, part))
    if d == 0:
        return min(Fraction(1), as_fraction(mean))
    kept = DOWN.pow(real_down(1 - d), gmpy2.mpz(k)) if d < 1 else real_down(0)
    kept_up = UP.pow(real_up(1 - d), gmpy2.mpz(k)) if d < 1 else real_up(0)
    revealed = UP.sub(real_up(1), kept)
    return min(Fraction(1), as_fraction(UP.add(revealed, UP.mul(kept_up, mean))))


def _weights(e: Fraction, k: int, context: Real) -> Iterator[Real]:
    """C(k, l) e^((k - l) e)/(1 + e^e)^k for l = 0, 1, ..., all rounded in the direction of the context.

    The probability of a loss of (k - 2 l) e; with -e in place of e, that of the same answers under the other data.
    """
    up = context is UP
    # p = 1/(1 + e^-e), rounded as asked for: what 1 is divided by is rounded the other way.
    other = DOWN if up else UP
    as_real, as_other = (real_up, real_down) if up else (real_down, real_up)
    one = as_real(1)
    high = context.div(one, other.add(one, other.exp(as_other(-e))))
    # From C(k, l) p^(k - l) (1 - p)^l to the next: times (k - l)/(l + 1) (1 - p)/p.
    odds = context.exp(as_real(-e))
    weight = context.pow(high, gmpy2.mpz(k))
    yield weight
    for n in range(k):
        weight = context.div(context.mul(context.mul(weight, odds), k - n), n + 1)
        yield weight
