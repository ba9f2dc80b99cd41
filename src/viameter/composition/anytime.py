"""Bounds on the privacy loss that hold at all times at once: what an odometer may show as "epsilon so far".

A bound for a fixed number of steps, read after every step, is exceeded at some time with a probability far above its
delta. These are not. Each says: with probability 1 - delta, the privacy loss after every step is at most a function of
V = sum of eps_i^2 so far. So one may stop whenever the bound, the answers or anything else says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended, Number, dyadic, exact, extended, probability, read_written, show, write
from viameter.errors import FormatError, ParameterError, plain
from viameter.measures import ApproxDP
from viameter.measures.amounts import ApproxLoss
from viameter.theorem import Numbers, Theorem, theorem, theorem_of

BITS = 128


@theorem("anytime-line", cites="Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 4; Ville 1939", numbers=Numbers.OUTWARD)
def anytime_line(squares: Fraction, *, delta: Fraction, tuning: Fraction) -> Fraction:
    """At all times at once, the privacy loss is below V/2 + (V/sqrt(y) + sqrt(y)) sqrt(ln(1/delta)/2).

    Theorem
        Let measurements pure(e_i), and when to stop, be chosen by all answers so far, and V be the sum of e_i^2 up to a
        time. With probability at least 1 - delta, the privacy loss of the answers up to every time is at most V/2 +
        (V/sqrt(y) + sqrt(y)) sqrt(ln(1/delta)/2). It is tight near V = y.
    Requires
        delta and y > 0 are fixed before the first answer. Each step is pure: its privacy loss, given the answers so
        far, is in [-e_i, e_i] with certainty. Steps follow one another; an interactive one ends where the next begins.
    Ensures
        The bound is rounded up.
    Proof
        Given the answers so far, E[exp(a Z_i)] <= exp(a (a + 1) e_i^2/2) for a > 0, since pure(e) is zcdp(e^2/2). So
        exp(a L - a (a + 1) V/2) is a supermartingale that starts at 1, and by Ville's inequality it stays below 1/delta
        at all times with probability 1 - delta: L < V/2 + a V/2 + ln(1/delta)/a. Take a = sqrt(2 ln(1/delta)/y).
    Example
        >>> float(anytime_line(Fraction(1), delta=Fraction(1, 10**6), tuning=Fraction(1)))
        5.756...
    """
    spread = dyadic.sqrt_up(dyadic.log_up(1 / delta, bits=BITS) / 2, bits=BITS)
    slope = dyadic.div_up(squares, dyadic.sqrt_down(tuning, bits=BITS), bits=BITS) + dyadic.sqrt_up(tuning, bits=BITS)
    return dyadic.add_up(squares / 2, slope * spread, bits=BITS)


@theorem(
    "anytime-mixture",
    cites="Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 5; Robbins 1970; Howard et al. 2021",
    numbers=Numbers.OUTWARD,
)
def anytime_mixture(squares: Fraction, *, delta: Fraction, tuning: Fraction) -> Fraction:
    """At all times at once, the privacy loss is below V/2 + sqrt(2 (V + g) ln(sqrt((V + g)/g)/delta)).

    Theorem
        Let measurements pure(e_i), and when to stop, be chosen by all answers so far, and V be the sum of e_i^2 up to a
        time. With probability at least 1 - delta, the privacy loss of the answers up to every time is at most V/2 +
        sqrt(2 (V + g) ln(sqrt((V + g)/g)/delta)).
    Requires
        delta and g > 0 are fixed before the first answer. Each step is pure: its privacy loss, given the answers so
        far, is in [-e_i, e_i] with certainty. Steps follow one another; an interactive one ends where the next begins.
    Ensures
        The bound is rounded up.
    Proof
        Given the answers so far, Z_i is in an interval of length 2 e_i and has mean m_i <= e_i^2/2. By Hoeffding's
        lemma exp(a S - a^2 V/2), S = sum of Z_i - m_i, is a supermartingale for every real a that starts at 1; so is
        its mean over a normal with variance 1/g, sqrt(g/(V + g)) exp(S^2/2(V + g)). By Ville's inequality it stays
        below 1/delta at all times with probability 1 - delta; and L <= S + V/2.
    Example
        >>> float(anytime_mixture(Fraction(1), delta=Fraction(1, 10**6), tuning=Fraction(1, 10)))
        6.247...
    """
    total = squares + tuning
    logarithm = dyadic.log_up(total / tuning, bits=BITS) / 2 + dyadic.log_up(1 / delta, bits=BITS)
    return dyadic.add_up(squares / 2, dyadic.sqrt_up(2 * total * logarithm, bits=BITS), bits=BITS)


@theorem(
    "anytime-stitched",
    cites="Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 6; Howard, Ramdas, McAuliffe and Sekhon 2021, Theorem 1",
    numbers=Numbers.OUTWARD,
)
def anytime_stitched(squares: Fraction, *, delta: Fraction, tuning: Fraction) -> Fraction:
    """At all times at once, the loss is below V/2 + 1.7 sqrt(W (ln ln(2W/v) + 0.72 ln(5.2/delta))), W = max(V, v).

    Theorem
        Let measurements pure(e_i), and when to stop, be chosen by all answers so far, and V be the sum of e_i^2 up to a
        time. With probability at least 1 - delta, the privacy loss of the answers up to every time is at most V/2 + 1.7
        sqrt(W (ln ln(2W/v) + 0.72 ln(5.2/delta))), where W is the larger of V and v.
    Requires
        delta and v > 0 are fixed before the first answer. Each step is pure: its privacy loss, given the answers so
        far, is in [-e_i, e_i] with certainty. Steps follow one another; an interactive one ends where the next begins.
    Ensures
        The bound is rounded up.
    Proof
        S of anytime-mixture is sub-Gaussian with variance V. Theorem 1 of Howard et al. with epochs [v 2^k, v 2^(k +
        1)) and deltas proportional to (k + 1)^-1.4 bounds it by k_1 sqrt(W l), k_1 = (2^(1/4) + 2^(-1/4))/sqrt(2) <
        1.4356 and l = 1.4 ln(log2(2W/v)) + ln(zeta(1.4)/delta). With zeta(1.4) < 3.1056, l is below 1.4 (ln ln(2W/v) +
        0.7143 ln(5.2/delta)), and 1.4356 sqrt(1.4) < 1.7; for W = v the iterated logarithm is -0.37, which the larger
        constants make up for. The line of the first epoch holds for smaller V as well, where it is lower.
    Example
        >>> float(anytime_stitched(Fraction(1), delta=Fraction(1, 10**6), tuning=Fraction(1, 10)))
        6.445...
    """
    reached = max(squares, tuning)
    # 2W/v >= 2, whose logarithm is positive; its own logarithm may be negative, and the other term is larger.
    iterated = dyadic.log_up(dyadic.log_up(2 * reached / tuning, bits=BITS), bits=BITS)
    inside = iterated + Fraction(72, 100) * dyadic.log_up(Fraction(52, 10) / delta, bits=BITS)
    root = dyadic.sqrt_up(reached * inside, bits=BITS)
    return dyadic.add_up(squares / 2, Fraction(17, 10) * root, bits=BITS)


SHAPES = {"line": anytime_line, "mixture": anytime_mixture, "stitched": anytime_stitched}


@dataclass(frozen=True, slots=True, repr=False)
class AnytimeBound:
    """A bound that is fixed before the first answer: for data this far apart, with this delta, of this shape."""

    d_in: Extended
    delta: Fraction
    shape: str
    tuning: Fraction

    def __repr__(self) -> str:
        return (
            f"anytime(d_in={show(self.d_in)}, delta={show(self.delta)}, shape={self.shape!r}, "
            f"tuning={show(self.tuning)})"
        )

    @property
    def theorem(self) -> Theorem:
        """The theorem behind it."""
        return theorem_of(SHAPES[self.shape])

    def to_json(self) -> dict[str, str]:
        """The bound as plain JSON values."""
        numbers = {"d_in": self.d_in, "delta": self.delta, "tuning": self.tuning}
        return {"shape": self.shape, **{name: write(number) for name, number in numbers.items()}}

    @classmethod
    def from_json(cls, record: Any) -> AnytimeBound:
        """Read a bound that `to_json` wrote."""
        if not isinstance(record, Mapping) or set(record) != {"shape", "d_in", "delta", "tuning"}:
            raise FormatError("no bound for all times: expected the keys shape, d_in, delta and tuning")
        if record["shape"] not in SHAPES:
            raise FormatError("no bound for all times: its shape is not known")
        d_in, delta, tuning = (read_written(record[name], name=name) for name in ("d_in", "delta", "tuning"))
        if not (0 < delta < 1 and 0 < tuning < INFINITY):
            raise FormatError("no bound for all times: expected delta between 0 and 1, and tuning above 0")
        return cls(d_in, Fraction(delta), record["shape"], Fraction(tuning))

    def __call__(self, squares: Extended) -> ApproxLoss:
        """What the answers so far cost, for V = the sum of the squares of their epsilons."""
        if squares == INFINITY:
            return ApproxDP.infinite
        if squares == 0:
            return ApproxDP.zero
        return ApproxLoss(SHAPES[self.shape](Fraction(squares), delta=self.delta, tuning=self.tuning), self.delta)


def anytime(*, d_in: Any, delta: Number, shape: str = "mixture", tuning: Number = "1/10") -> AnytimeBound:
    """What `Odometer(space, PureDP, anytime=...)` shows at all times: "line", "mixture" or "stitched".

    `tuning` is the V = sum of eps_i^2 near which the bound is to be tight; any number above 0 is valid.

    >>> anytime(d_in=1, delta="1e-6")
    anytime(d_in=1, delta=1/1000000, shape='mixture', tuning=1/10)
    """
    if not isinstance(shape, str) or shape not in SHAPES:
        raise ParameterError(f"shape={plain(shape)}: expected one of {', '.join(map(repr, SHAPES))}")
    chance, number = probability(delta, name="delta"), exact(tuning, name="tuning")
    if not 0 < chance < 1:
        raise ParameterError(f"delta={show(chance)}: a bound for all times needs one between 0 and 1")
    if number <= 0:
        raise ParameterError(f"tuning={show(number)} is not above 0")
    distance = extended(d_in, name="d_in")
    return AnytimeBound(distance, chance, shape, number)
