"""What the tests of sampling compare with: laws and tables computed by MPFR from their definitions, and chi-square.

Nothing here uses the sampling room's own computations: weights are exponentials of exact rationals, each on its own
(no recurrence), and thresholds are solved for from these.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt

from viameter.sampling import Tape
from viameter.sampling.families import Family, Gaussian, Laplace

PRECISION = 400

LAPLACE, GAUSSIAN = "laplace", "gaussian"
KINDS = (LAPLACE, GAUSSIAN)
FAMILIES: dict[str, type[Family]] = {LAPLACE: Laplace, GAUSSIAN: Gaussian}

SCALES = [
    Fraction(1, 100),
    Fraction(1, 3),
    Fraction(1),
    Fraction(5, 2),
    Fraction(10),
    Fraction(20),
    # 511 rows reach 25 scales up to here, and beyond it rows are wider.
    Fraction(511, 25),
    Fraction(2045, 100),
    Fraction(34),
    Fraction(53),
    # The same for Gaussian noise, at 9.5 scales.
    Fraction(1022, 19),
    Fraction(54),
    Fraction(100),
    Fraction(1000),
    Fraction(12345, 7),
    Fraction(10**6),
    Fraction(2**40),
    Fraction(2**52),
]
"""Scales around every change of how noise is cut: single values or intervals, words of 32 or 64 bits."""


def kind_of(family: Family) -> str:
    return LAPLACE if isinstance(family, Laplace) else GAUSSIAN


def real(number: Fraction | int) -> Any:
    """An MPFR number at the precision of the context."""
    exact = Fraction(number)
    return gmpy2.mpfr(gmpy2.mpq(exact.numerator, exact.denominator))


def exp_minus(exponent: Fraction | int) -> Any:
    return gmpy2.exp(-real(exponent))


def as_fraction(number: Any) -> Fraction:
    """The exact value of an MPFR number."""
    numerator, denominator = number.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


@lru_cache(maxsize=4096)
def exp_fraction(exponent: Fraction | int, precision: int = PRECISION) -> Fraction:
    """exp(-x) to so many bits, as a Fraction."""
    with gmpy2.context(precision=precision):
        return as_fraction(exp_minus(exponent))


def energy(kind: str, scale: Fraction, x: int) -> Fraction:
    """Minus the logarithm of the unnormalized pmf."""
    return abs(x) / scale if kind == LAPLACE else Fraction(x * x) / (2 * scale**2)


def precision_for(family: Family) -> int:
    """Enough bits that even the smallest weight has `PRECISION` of them, as a part of all."""
    smallest = energy(kind_of(family), family.scale, family.start + 1)
    return PRECISION + 64 + math.ceil(smallest * 3 / 2) + family.shift


# Cells


def cell_of(family: Family, x: int) -> tuple[int, int]:
    """The cell that x is in, and its L."""
    magnitude, sign = (x, 0) if x >= 0 else (-x - 1, 1)
    row, low = divmod(magnitude, 1 << family.shift)
    return 2 * min(row, family.rows) + sign, low if row < family.rows else 0


def value_of(family: Family, cell: int, low: int) -> int:
    """The value of a cell that is not a tail, and an L."""
    magnitude = (cell // 2) * (1 << family.shift) + low
    return magnitude if cell % 2 == 0 else -magnitude - 1


def true_weights(family: Family) -> list[Any]:
    """Weights of cells and tails, where that of the cell of 0 is 1."""
    kind, scale, width = kind_of(family), family.scale, 1 << family.shift
    weights = [exp_minus(energy(kind, scale, (cell // 2) * width + cell % 2)) for cell in range(2 * family.rows)]
    for sign in (0, 1):
        corner = family.rows * width + sign
        top = exp_minus(energy(kind, scale, corner))
        if kind == LAPLACE:
            # Every row from the start on, each of them a cell.
            weights.append(top / -gmpy2.expm1(-real(width / scale)))
        else:
            # An envelope over single values, which are not spread over the values of a row as those of a cell are.
            weights.append(top / -gmpy2.expm1(-real(corner / scale**2)) / width)
    return weights


def true_thresholds(weights: Sequence[Any], alias: Sequence[int], columns: int) -> tuple[list[Any], int]:
    """The thresholds that these aliases must have, by the equations, and the column that is its own alias."""
    # A column is solved for when all whose alias it is have been: an order of our own.
    waiting = [0] * columns
    for column, other in enumerate(alias):
        if other != column:
            waiting[other] += 1
    content = [columns * weight for weight in weights] + [gmpy2.mpfr(0)] * (columns - len(weights))
    total = sum(weights)
    ready = [column for column in range(columns) if not waiting[column]]
    last, solved = -1, 0
    while ready:
        column = ready.pop()
        solved += 1
        other = alias[column]
        if other == column:
            assert last == -1, "two columns are their own alias"
            last = column
            continue
        content[other] -= total - content[column]
        waiting[other] -= 1
        if not waiting[other]:
            ready.append(other)
    assert solved == columns, "the aliases go in a circle"
    return [part / total for part in content], last


# Laws


def normalizer(kind: str, scale: Fraction) -> Any:
    """The sum of exp(-energy) over all integers."""
    if kind == LAPLACE:
        return (1 + exp_minus(1 / scale)) / -gmpy2.expm1(-real(1 / scale))
    if scale < 1:
        return 1 + 2 * sum(exp_minus(energy(kind, scale, x)) for x in range(1, 60))
    # Poisson summation.
    root = gmpy2.sqrt(2 * gmpy2.const_pi()) * real(scale)
    return root * (1 + 2 * sum(gmpy2.exp(-2 * (gmpy2.const_pi() * k * real(scale)) ** 2) for k in range(1, 20)))


def pmf(kind: str, scale: Fraction, x: int) -> Any:
    return exp_minus(energy(kind, scale, x)) / normalizer(kind, scale)


def upper(kind: str, scale: Fraction, start: int) -> Any:
    """P(X >= start)."""
    if start <= 0:
        return 1 - upper(kind, scale, 1 - start)
    total = normalizer(kind, scale)
    if kind == LAPLACE:
        return exp_minus(start / scale) / -gmpy2.expm1(-real(1 / scale)) / total
    if scale < 200:
        sums = _gaussian_sums(scale)
        return sums[start] / total if start < len(sums) else gmpy2.mpfr(0)
    # Euler and Maclaurin; the next term is below scale^-5.
    s, a = real(scale), real(start)
    f = exp_minus(energy(kind, scale, start))
    integral = s * gmpy2.sqrt(gmpy2.const_pi() / 2) * gmpy2.erfc(a / s / gmpy2.sqrt(gmpy2.mpfr(2)))
    return (integral + f / 2 + a / s**2 * f / 12 + (3 * a / s**4 - a**3 / s**6) * f / 720) / total


@lru_cache
def _gaussian_sums(scale: Fraction) -> list[Any]:
    """Sums of exp(-energy) over x >= k, for k = 0, 1, ..."""
    with gmpy2.context(precision=200):
        sums = [gmpy2.mpfr(0)]
        for x in range(math.ceil(30 * scale) + 2, -1, -1):
            sums.append(sums[-1] + exp_minus(energy(GAUSSIAN, scale, x)))
        return sums[::-1]


def edges_for(kind: str, scale: Fraction, parts: int = 24) -> list[int]:
    """Edges of bins: single values where they are few, else about so many a scale, on and beside edges of cells."""
    reach = {LAPLACE: 9, GAUSSIAN: 4}[kind]
    stop = max(2, math.ceil(reach * scale))
    step = max(1, stop // (parts * reach))
    shift = max(0, step.bit_length() - 1)
    near = [((k * step >> shift) << shift) + k % 3 for k in range(stop // step + 1)]
    positive = sorted({1, *near} - {0})
    return sorted({0, *positive, *(-edge + 1 for edge in positive)})


def bin_probabilities(kind: str, scale: Fraction, edges: Sequence[int]) -> npt.NDArray[np.float64]:
    """Of (-inf, e_0), [e_0, e_1), ..., [e_k, inf)."""
    with gmpy2.context(precision=200):
        above = [gmpy2.mpfr(1), *(upper(kind, scale, edge) for edge in edges), gmpy2.mpfr(0)]
        return np.array([float(left - right) for left, right in itertools.pairwise(above)])


def merged(counts: npt.NDArray[Any], expected: npt.NDArray[Any], least: float) -> tuple[Any, Any]:
    """Join neighboring bins until each is expected to hold at least so many."""
    tops, joined, rest_counts, rest_expected = [], [], 0.0, 0.0
    for count, expectation in zip(counts.tolist(), expected.tolist(), strict=True):
        rest_counts, rest_expected = rest_counts + count, rest_expected + expectation
        if rest_expected >= least:
            tops.append(rest_counts)
            joined.append(rest_expected)
            rest_counts, rest_expected = 0.0, 0.0
    if tops:
        tops[-1] += rest_counts
        joined[-1] += rest_expected
    return np.array(tops), np.array(joined)


# Chi-square

FALSE_ALARM = 1e-9


def chi_square_sides(statistic: float, freedom: int) -> tuple[float, float]:
    """The probabilities of a statistic so small, and so large."""
    with gmpy2.context(precision=200):
        half = gmpy2.mpfr(freedom) / 2
        above = gmpy2.gamma_inc(half, gmpy2.mpfr(statistic) / 2) / gmpy2.gamma(half)
        return float(1 - above), float(above)


@dataclass(frozen=True)
class Fit:
    """How well counts fit: alarms on both sides, each in half of `FALSE_ALARM`."""

    statistic: float
    freedom: int

    @property
    def too_bad(self) -> bool:
        return chi_square_sides(self.statistic, self.freedom)[1] < FALSE_ALARM / 2

    @property
    def too_good(self) -> bool:
        return chi_square_sides(self.statistic, self.freedom)[0] < FALSE_ALARM / 2

    @property
    def good(self) -> bool:
        return not self.too_bad and not self.too_good


def fit(counts: npt.NDArray[Any], probabilities: npt.NDArray[Any], least: float = 50) -> Fit:
    """Counts against a law."""
    total = counts.sum()
    tops, expected = merged(counts, probabilities * total, least)
    assert len(tops) > 1, "one bin tells nothing"
    return Fit(float(((tops - expected) ** 2 / expected).sum()), len(tops) - 1)


def fit_two(left: npt.NDArray[Any], right: npt.NDArray[Any], probabilities: npt.NDArray[Any], least: float = 50) -> Fit:
    """Two samples against each other, of one size; bins are joined by the law, not by the counts."""
    assert left.sum() == right.sum()
    tops_left, _ = merged(left, probabilities * left.sum(), least)
    tops_right, _ = merged(right, probabilities * right.sum(), least)
    assert len(tops_left) > 1, "one bin tells nothing"
    return Fit(float(((tops_left - tops_right) ** 2 / (tops_left + tops_right)).sum()), len(tops_left) - 1)


def binned(values: npt.NDArray[Any], edges: Sequence[int]) -> npt.NDArray[Any]:
    """How many values are in each bin of `bin_probabilities`."""
    return np.bincount(np.searchsorted(np.array(edges, dtype=np.int64), values, side="right"), minlength=len(edges) + 1)


# Samplers that share nothing with the library's


def digit_laplace(count: int, scale: Fraction, seed: int) -> npt.NDArray[np.int64]:
    """Digit by digit: bit i of G is 1 with probability 1/(1 + exp(2^i/s)); bits and sign are independent."""
    random = np.random.default_rng(seed)
    places = next(place for place in itertools.count() if 2**place / scale > 60)
    chances = [float(1 / (1 + gmpy2.exp(real(2**place / scale)))) for place in range(places)]
    negative = float(1 / (1 + gmpy2.exp(real(1 / scale))))
    drawn = np.zeros(count, dtype=np.int64)
    for block in np.split(drawn, range(1 << 16, count, 1 << 16)):
        for place, chance in enumerate(chances):
            np.bitwise_or(block, (random.random(len(block)) < chance).astype(np.int64) << place, out=block)
        np.invert(block, out=block, where=random.random(len(block)) < negative)
    return drawn


def rejected_gaussian(count: int, scale: Fraction, seed: int) -> npt.NDArray[np.int64]:
    """From digit-by-digit Laplace noise Y of scale t near s: accepted with exp(-(|Y| - s^2/t)^2/2s^2)."""
    random = np.random.default_rng(seed)
    width = Fraction(math.floor(scale) + 1)
    kept: list[npt.NDArray[np.int64]] = []
    missing = count
    while missing > 0:
        proposed = digit_laplace(min(2 * missing + 100, 1 << 20), width, int(random.integers(2**62)))
        away = np.abs(proposed) - float(scale**2 / width)
        accepted = random.random(len(proposed)) < np.exp(-(away**2) / (2 * float(scale) ** 2))
        kept.append(proposed[accepted][:missing])
        missing -= len(kept[-1])
    return np.concatenate(kept)


OTHER_SAMPLERS: dict[str, Callable[[int, Fraction, int], npt.NDArray[np.int64]]] = {
    LAPLACE: digit_laplace,
    GAUSSIAN: rejected_gaussian,
}


def stratified(count: int, kind: str, scale: Fraction, edges: Sequence[int]) -> npt.NDArray[np.int64]:
    """Fake draws that fit the bins better than chance would."""
    below = np.cumsum(bin_probabilities(kind, scale, edges))
    inside = [edges[0] - 1, *edges]
    return np.array([inside[min(bisect.bisect(below, (k + 0.5) / count), len(edges))] for k in range(count)])


# Selection

BITS = 3000


def exp_to_bits(x: Fraction, bits: int = BITS) -> Fraction:
    """exp(-x) to so many bits; 0 where it is below 2^-100000."""
    if x > 100_000:
        return Fraction(0)
    context = gmpy2.context(precision=bits)
    value = context.exp(gmpy2.mpfr(gmpy2.mpq(-x.numerator, x.denominator), 0, context))
    return Fraction(*map(int, value.as_integer_ratio()))


def exponents(scores: Sequence[Any], scale: Fraction) -> list[Fraction]:
    top = max(Fraction(score) for score in scores)
    return [(top - Fraction(score)) / scale for score in scores]


def boundaries(scores: Sequence[Any], scale: Fraction) -> list[Fraction]:
    """Where u passes from one candidate to the next: partial sums over the total, and 1 at the end."""
    weights = [exp_to_bits(x) for x in exponents(scores, scale)]
    total = sum(weights)
    return [sum(weights[: i + 1], Fraction(0)) / total for i in range(len(weights))]


def located(ends: Sequence[Fraction], u: Fraction) -> int:
    """The candidate of a uniform number; the ends must be known well enough to tell."""
    for index, end in enumerate(ends):
        assert index == len(ends) - 1 or abs(u - end) > Fraction(2) ** (64 - BITS), "the oracle has too few bits"
        if u < end:
            return index
    raise AssertionError("u is not below 1")


def tape(u: Fraction, length: int = 1024) -> Tape:
    """The bits of a number in [0, 1), up to so many bytes."""
    return Tape(math.floor(u * 2 ** (8 * length)).to_bytes(length, "big"))


def chance_of_more(statistic: float, degrees: int) -> float:
    """P(chi-square > statistic), for an even number of degrees of freedom."""
    assert degrees % 2 == 0
    half = statistic / 2
    return math.exp(-half) * sum(half**j / math.factorial(j) for j in range(degrees // 2))


def p_value(counts: Sequence[int], chances: Sequence[float]) -> float:
    """How probable it is that counts of cells with these chances are as far off as these are, or more."""
    total = sum(counts)
    assert abs(sum(chances) - 1) < 1e-9 and min(chances) * total > 50
    statistic = sum(
        (count - total * chance) ** 2 / (total * chance) for count, chance in zip(counts, chances, strict=True)
    )
    return chance_of_more(statistic, len(counts) - 1)


def laplace_cdf(x: int, scale: float) -> float:
    a = math.exp(-1 / scale)
    return 1 - a ** (x + 1) / (1 + a) if x >= 0 else a**-x / (1 + a)


def chances_laplace(scores: Sequence[int], scale: float) -> list[float]:
    """Each candidate's chance to have the largest sum, and to be the first of those: by adding up over that sum."""
    low, high = min(scores) - int(45 * scale), max(scores) + int(45 * scale)
    chances = [0.0] * len(scores)
    for total in range(low, high):
        at_most = [laplace_cdf(total - score, scale) for score in scores]
        less = [laplace_cdf(total - score - 1, scale) for score in scores]
        after = [1.0]
        for chance in reversed(at_most):
            after.append(after[-1] * chance)
        before = 1.0
        for index in range(len(scores)):
            chances[index] += before * (at_most[index] - less[index]) * after[len(scores) - 1 - index]
            before *= less[index]
    return chances
