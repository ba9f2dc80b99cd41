"""Exact draws of one bit or one small integer: Bernoulli(p), Bernoulli(exp(-x)), uniform below n, geometric.

Each compares a uniform number, of which as many bits are drawn as the comparison needs, with a number that is known to
as many bits as it needs.
"""

from __future__ import annotations

from fractions import Fraction

from viameter.arith import dyadic
from viameter.sampling.entropy import Stream

FIRST_BITS = 64


def bernoulli(probability: Fraction, stream: Stream) -> bool:
    """True with exactly this probability, a rational number between 0 and 1."""
    numerator, denominator = probability.numerator, probability.denominator
    drawn, width = 0, 0
    while True:
        drawn, width = drawn << FIRST_BITS | stream.bits(FIRST_BITS), width + FIRST_BITS
        # The uniform number is in [drawn, drawn + 1) 2^-width, and below p when all of that is.
        if (drawn + 1) * denominator <= numerator << width:
            return True
        if drawn * denominator >= numerator << width:
            return False


def bernoulli_exp(exponent: Fraction, stream: Stream, *, drawn: int = 0, width: int = 0) -> bool:
    """True with probability exactly exp(-x), x >= 0; the first `width` bits of the uniform number may be given."""
    if exponent == 0:
        return True
    while True:
        if width:
            bits = width + 16
            # Both bounds are dyadic, so that the comparisons are of integers.
            if Fraction(drawn + 1, 1 << width) <= dyadic.exp_down(-exponent, bits=bits):
                return True
            if Fraction(drawn, 1 << width) >= dyadic.exp_up(-exponent, bits=bits):
                return False
        drawn, width = drawn << FIRST_BITS | stream.bits(FIRST_BITS), width + FIRST_BITS


def uniform_below(bound: int, stream: Stream) -> int:
    """An integer in 0..bound-1, each with the same probability."""
    width = (bound - 1).bit_length()
    while True:
        drawn = stream.bits(width) if width else 0
        if drawn < bound:
            return drawn


def geometric_exp(rate: Fraction, stream: Stream) -> int:
    """G >= 0 with P(G >= g) = exp(-rate g), rate > 0.

    The bits of G are independent: bit i is 1 with probability 1/(1 + exp(2^i rate)). Bits are drawn upwards in blocks
    of length such that exp(-2^k rate) is small: G = (number of failures of Bernoulli(1 - exp(-2^k rate))) 2^k + lower
    bits.
    """
    # 2^k rate is at least 1, so that the number of failures is small; lower bits one by one.
    size = 0
    while rate * (1 << size) < 1:
        size += 1
    high = 0
    while bernoulli_exp(rate * (1 << size), stream):
        high += 1
    low = 0
    for place in range(size):
        low |= _logistic(rate * (1 << place), stream) << place
    return high << size | low


def _logistic(x: Fraction, stream: Stream) -> bool:
    """True with probability 1/(1 + exp(x)) = e/(1 + e) with e = exp(-x): the second of a pair of weights 1 and e."""
    while True:
        # Choose a side by a fair bit; the second side is taken only with probability e, else all starts again.
        if not stream.bits(1):
            return False
        if bernoulli_exp(x, stream):
            return True
