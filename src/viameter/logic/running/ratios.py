"""Exact draws of noise whose scale is a rational over the logarithm of a rational, such as 1/ln(3).

Noise of scale C/ln(r) has weights that fall by r^(-1/C) from one integer to the next. With 1/C = p/q in lowest terms
this is the q-th root of the rational r^-p, and a coin that shows heads with this probability is tossed exactly: a
uniform number u is below the q-th root of x when u^q < x, of which as many bits of u are drawn as it takes to tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from viameter.errors import NumberError
from viameter.sampling.bernoulli import FIRST_BITS, uniform_below
from viameter.sampling.entropy import Entropy, Stream

LARGEST_ROOT = 4096
"""Powers of as many bits as that are compared in milliseconds."""
LARGEST_SCALE = 2**20
"""About so many coins are tossed for one draw of that scale."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio power^(1/root) of the weights of neighboring integers, between 0 and 1."""

    power: Fraction
    root: int

    @classmethod
    def of(cls, amount: Fraction, base: Fraction) -> Ratio:
        """That of the scale amount/ln(base).

        >>> Ratio.of(Fraction(1, 2), Fraction(3)), Ratio.of(Fraction(3), Fraction(4))
        (Ratio(power=Fraction(1, 9), root=1), Ratio(power=Fraction(1, 4), root=3))
        """
        if base <= 1:
            raise NumberError(f"ln({base}) is not above 0: expected the logarithm of a number above 1")
        if amount <= 0:
            raise NumberError(f"{amount} is not above 0: noise needs a positive scale")
        # 1/ln(b) is at most b/(b - 1).
        if amount * base / (base - 1) > LARGEST_SCALE:
            raise NumberError(
                f"{amount}/ln({base}) may be above 2^20: noise that wide is drawn for rational scales only"
            )
        inverse = 1 / amount
        if max(inverse.numerator, inverse.denominator) > LARGEST_ROOT:
            raise NumberError(
                f"{amount}/ln({base}): its number has parts above {LARGEST_ROOT}, too large for exact coins"
            )
        return cls(base**-inverse.numerator, inverse.denominator)

    def coin(self, stream: Stream) -> bool:
        """True with exactly this probability."""
        numerator, denominator, root = self.power.numerator, self.power.denominator, self.root
        drawn, width = 0, 0
        while True:
            drawn, width = drawn << FIRST_BITS | stream.bits(FIRST_BITS), width + FIRST_BITS
            # u is in [drawn, drawn + 1) 2^-width.
            if (drawn + 1) ** root * denominator <= numerator << (width * root):
                return True
            if drawn**root * denominator >= numerator << (width * root):
                return False

    def geometric(self, entropy: Entropy) -> int:
        """G >= 0 with P(G >= g) = ratio^g: heads before the first tails."""
        stream = entropy.stream(FIRST_BITS)
        heads = 0
        while self.coin(stream):
            heads += 1
        return heads

    def laplace(self, entropy: Entropy) -> int:
        """X with P(X = x) proportional to ratio^|x|: a geometric number and a sign, but 0 with one sign only."""
        while True:
            magnitude, negative = self.geometric(entropy), entropy.stream(1).bits(1)
            if magnitude or not negative:
                return -magnitude if negative else magnitude

    def choose(self, scores: list[int], entropy: Entropy) -> int:
        """An index i with probability proportional to ratio^-scores[i]; 0 for no scores.

        A candidate, each as likely as another, is kept if as many coins as it is behind the best all show heads.
        """
        if not scores:
            return 0
        best, stream = max(scores), entropy.stream(FIRST_BITS)
        while True:
            index = uniform_below(len(scores), stream)
            if all(self.coin(stream) for _ in range(best - scores[index])):
                return index
