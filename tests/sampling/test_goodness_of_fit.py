"""Draws at full width fit the exact law and an independent sampler; a scale that is a little off does not."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest

from viameter.sampling import Tape, discrete_gaussian, discrete_laplace, geometric
from viameter.sampling.entropy import Entropy

SHORT, LONG = 1_000_000, 10_000_000
# A standard normal number is beyond 6.2 with probability 5.6e-10, either way together 1e-9 at most (with the cube root
# of chi-square over its degrees of freedom, which is normal to well within that for 50 bins and more).
FAR = 6.2
SCALES = ["1/3", "1", "5/2", "10", "21", "40", "1000", "12345/7", "1000000", "1099511627776", "4503599627370496"]
Draw = Callable[..., Any]
DRAWS: dict[str, Draw] = {"laplace": discrete_laplace, "gaussian": discrete_gaussian}


def pmf_sum(kind: str, scale: Fraction, low: int, high: int) -> Any:
    """The sum of the unnormalized pmf over low..high, 0 <= low <= high, at 200 bits."""
    with gmpy2.context(precision=200):
        s = gmpy2.mpfr(gmpy2.mpq(scale.numerator, scale.denominator))
        if kind == "laplace":
            ratio = gmpy2.exp(-1 / s)
            return (gmpy2.exp(-low / s) - gmpy2.exp(-(high + 1) / s)) / (1 - ratio)
        if high - low < 3000:
            return sum((gmpy2.exp(-(gmpy2.mpfr(x) ** 2) / (2 * s * s)) for x in range(low, high + 1)), gmpy2.mpfr(0))
        # Euler-Maclaurin: integral, half of the ends, and slopes; what is left out is below 1e-12 for such wide bins.
        area = s * gmpy2.sqrt(gmpy2.const_pi() / 2)
        root = s * gmpy2.sqrt(gmpy2.mpfr(2))
        ends = [gmpy2.exp(-(gmpy2.mpfr(x) ** 2) / (2 * s * s)) for x in (low, high)]
        slopes = [-gmpy2.mpfr(x) / (s * s) * end for x, end in zip((low, high), ends, strict=True)]
        return area * (gmpy2.erf(high / root) - gmpy2.erf(low / root)) + sum(ends) / 2 + (slopes[1] - slopes[0]) / 12


def bins(kind: str, scale: Fraction) -> list[int]:
    """The first magnitudes of bins: single values at small scales, a 16th of a scale at large ones, and the rest."""
    reach = 8 if kind == "laplace" else 4
    step = max(1, int(scale / 16))
    return [0, 1, *range(1 + step, max(3, int(reach * scale)), step)]


def expected(kind: str, scale: Fraction, edges: list[int]) -> list[float]:
    """The chance of each bin of magnitudes, the last one open, signs together."""
    far = int(scale * (200 if kind == "laplace" else 40)) + 40
    sums = [pmf_sum(kind, scale, low, high - 1) for low, high in zip(edges, [*edges[1:], far], strict=True)]
    weights = [sums[0], *(2 * total for total in sums[1:])]
    whole = sum(weights)
    return [float(weight / whole) for weight in weights]


def normal_score(counts: Any, chances: list[float], draws: int) -> float:
    """Wilson and Hilferty's normal number of the chi-square; bins of few expected draws are joined to the last."""
    keep = [n for n, chance in enumerate(chances) if chance * draws >= 50]
    observed = [*(counts[n] for n in keep), draws - sum(counts[n] for n in keep)]
    hoped = [*(chances[n] * draws for n in keep), draws - sum(chances[n] * draws for n in keep)]
    if hoped[-1] < 50:
        observed[-2:], hoped[-2:] = [sum(observed[-2:])], [sum(hoped[-2:])]
    square = sum((o - h) ** 2 / h for o, h in zip(observed, hoped, strict=True))
    freedom = len(hoped) - 1
    return float(((square / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / (2 / (9 * freedom)) ** 0.5)


def score(kind: str, scale: Fraction, magnitudes: Any) -> float:
    edges = bins(kind, scale)
    counts = np.bincount(np.searchsorted(edges, magnitudes, side="right") - 1, minlength=len(edges))
    return normal_score(counts.tolist(), expected(kind, scale, edges), len(magnitudes))


def check_fit(kind: str, text: str, draws: int, off: Fraction) -> None:
    scale, entropy = Fraction(text), Tape.seeded(hash_of(kind, text))
    drawn = DRAWS[kind](draws, scale, entropy=entropy)
    assert abs(score(kind, scale, np.abs(drawn))) < FAR
    # Signs are even, but for 0.
    positive, negative = int((drawn > 0).sum()), int((drawn < 0).sum())
    assert abs(positive - negative) < FAR * (positive + negative) ** 0.5 + 1
    # A scale that is a little off is seen.
    wrong = DRAWS[kind](draws, scale * off if scale * off <= 2**52 else scale / off, entropy=entropy)
    assert score(kind, scale, np.abs(wrong)) > FAR


def hash_of(*words: str) -> int:
    return int.from_bytes("".join(words).encode(), "big") % 2**64


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("scale", ["1", "10", "1000", "1000000"])
def test_a_million_draws_fit_the_exact_law_and_a_scale_3_percent_off_does_not(kind: str, scale: str) -> None:
    check_fit(kind, scale, SHORT, Fraction(103, 100))


@pytest.mark.long
@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("scale", SCALES)
def test_ten_million_draws_fit_the_exact_law_and_a_scale_1_percent_off_does_not(kind: str, scale: str) -> None:
    check_fit(kind, scale, LONG, Fraction(101, 100))


def test_a_fit_that_is_too_good_is_seen() -> None:
    scale = Fraction(10)
    edges = bins("laplace", scale)
    chances = expected("laplace", scale, edges)
    counts = [round(chance * SHORT) for chance in chances]
    assert normal_score(counts, chances, SHORT) < -FAR


def digits(count: int, scale: Fraction, entropy: Entropy) -> Any:
    """An independent sampler: bit i of G is 1 with chance 1/(1 + exp(2^i/s)); so is the sign, with i = 0."""
    stream = entropy.stream(8 * count)
    total = np.zeros(count, dtype=np.int64)

    def coins(exponent: Fraction) -> Any:
        chance = 1 / (1 + np.exp(float(exponent)))
        return stream.words(count, 64) < np.uint64(min(chance * 2.0**64, 2.0**64 - 2048))

    for place in range(int(scale * 64).bit_length()):
        total |= coins(Fraction(1 << place) / scale).astype(np.int64) << place
    return total ^ -coins(1 / scale).astype(np.int64)


@pytest.mark.parametrize("text", ["1", "10", "777/2", "100000"])
def test_draws_fit_an_independent_sampler_by_digits(text: str) -> None:
    scale = Fraction(text)
    ours = discrete_laplace(SHORT, scale, entropy=Tape.seeded(11))
    theirs = digits(SHORT, scale, Tape.seeded(12))
    edges = np.unique(np.quantile(theirs, np.linspace(0.005, 0.995, 100)).astype(np.int64))
    counts = [np.bincount(np.searchsorted(edges, x, side="right"), minlength=len(edges) + 1) for x in (ours, theirs)]
    square = float((((counts[0] - counts[1]) ** 2) / (counts[0] + counts[1])).sum())
    freedom = len(edges)
    normal = ((square / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / (2 / (9 * freedom)) ** 0.5
    assert abs(normal) < FAR


def test_geometric_draws_fit_their_law() -> None:
    scale = Fraction(10)
    drawn = geometric(SHORT, scale, entropy=Tape.seeded(13))
    ratio = float(gmpy2.exp(gmpy2.mpfr(-1) / 10))
    chances = [(1 - ratio) * ratio**g for g in range(60)]
    counts = np.bincount(np.minimum(drawn, 60), minlength=61)[:60]
    assert abs(normal_score(counts.tolist(), chances, SHORT)) < FAR
