"""Widths of sums of independent weighted noises: bounds of P(|w1 Z1 + w2 Z2 + ...| > a), turned into a.

A width may be asked for weights that are only known to lie between `least` and `weights`: then it holds for each of
them. All bounds below grow with each |weight|, but for the factor c of the Laplace bound, which is a largest value of
exponentials in t w1, hence convex, and so at most the larger of its values at the two ends. The least of several bounds
is taken; which one, depends on public numbers only.

*Union.* |Zi| <= wi(alpha_i) for all i but for a chance of the sum of the alpha_i.

*Gaussian, small scales.* Discrete Gaussian noise is sub-Gaussian with proxy s^2 (Canonne, Kamath and Steinke 2020):
with V the sum of w^2 s^2, P(|X| > a) <= 2 exp(-a^2/2V).

*Gaussian, scales from 2 on (`COUPLED`).* Let f(x) = exp(-x^2/2s^2), theta s sqrt(2 pi) its sum over all integers, and G
normal of variance s^2. By Poisson's formula theta = 1 + 2 sum over k >= 1 of exp(-2 pi^2 s^2 k^2), so 0 <= theta - 1 <=
3 exp(-19 s^2). Let G' be G, or 0 with a chance of 1 - 1/theta. f falls on x >= 0, so a sum over the integers above
t + 1 is at most the integral from t on, and one over the integers above t at least the integral from t + 1 on: for
t >= 0, P(|Z| > t + 1) <= P(|G'| > t) and P(|G'| > t + 1) <= P(|Z| > t). Hence |Z| and |G'|, drawn as the same quantile,
differ by at most 1. Give both the same independent sign: Z = G' + E with E symmetric and |E| <= 1. So with Hoeffding's
inequality for the E (or, surely, b = sum of |w|), P(|X| > a + b) <= erfc(a/sqrt(2V)) + 2 exp(-b^2/(2 sum of w^2)) + n
max(theta - 1). Terms of smaller scales join the E: they are sub-Gaussian too, and add w^2 s^2 to the sum of w^2.

*Gaussian, one small scale among larger ones.* Of a few terms (a mean has two, a variance three), the one of the least
scale s, up to `MIXED`, is not compared with anything: with V of the others, k = w s/sqrt(V), and b their sum of |w|,
P(|X| > a sqrt(V) + b) is at most the sum over integers z of P(Z = z) P(|N + k z/s| > a), N standard normal, and the
n max(theta - 1) of the others. It grows with k, since a normal law moved off the middle is beyond a more often: a is
found for a fixed row of k, and taken for the next one of it.

*Laplace.* With p = exp(-1/s), E exp(tZ) = 1/(1 - r^2) with r = sinh(t/2)/sinh(1/(2s)) <= ts, for |t| < 1/s. The term of
the largest w s, say the first, need not be integrated: P(Z1 >= y) <= c exp(-ty) for every real y and t <= 1/s, with c
the largest of P(Z1 >= k) exp(tk) over integers k. For k >= 1 that is p^k exp(tk)/(1 + p), largest at k = 1; for
k = -j <= 0 it is (1 - A exp(-j/s)) exp(-tj), A = p/(1 + p), at most its largest value over real j >= 0, which is at
A exp(-j/s) = ts/(1 + ts) or at j = 0. So P(X >= a) <= c(t w1) exp(-ta) times the product of the other E exp(t wi Zi).
For one term and t = 1/s that is exact. Gaussian terms have E exp(tZ) <= exp(t^2 s^2/2). Every t gives a bound.

*Many terms.* Their law itself is found, but for a part in 40, from characteristic functions: see `inversion`.

Floats: the functions of NumPy and of the C library are taken to be right to 100 units in the last place, and arguments
and results are moved outward by far more (`_MORE`). Scales below `LEAST` are taken for that one: all but c grows with
the scale, and c changes by less than e^-60.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from viameter.arith import Number, exact, floats
from viameter.errors import NumberError, ParameterError
from viameter.tables.estimates.inversion import FAR, inverted_widths
from viameter.tables.estimates.noise import LEAST, Noise, read_alpha

Floats = npt.NDArray[np.float64]

_MORE = 1 + 1e-9
_STEPS = np.concatenate([np.geomspace(0.03, 0.8, 11), [0.9, 0.96, 0.99, 0.999, 1.0]])
_NEAR = (0.87, 1.15, 0.93, 1.07)
"""Steps are about a factor of 1.4 apart; around the best, finer ones are tried."""
COUPLED = 2
"""From this scale on Gaussian noise is compared with the normal law."""

MIXED = 20
"""Up to this scale the least of a few Gaussian noises is summed up over its values."""
_RATIOS = np.concatenate([[0.0], np.geomspace(1e-2, 1e2, 240)])

_FEW = 8
"""Up to so many terms, unequal shares of alpha are tried."""
_MANY = 4
"""From so many terms on the law is found as in `inversion`; means and variances have fewer, and many rows of them."""
SHARP = 40
"""From this scale on, a comparison with the normal law is as good as the law itself."""
LEAST_ALPHA = Fraction(1, 10**6)
"""Below, floats are not exact enough for that."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """Columns of weights >= 0 of noises of one law: row by row, a sum that is asked for; `least` as in this file."""

    weights: Floats
    noise: Noise
    least: Floats | None = None


def width_of_sum(terms: Sequence[tuple[Number, Noise, int]], alpha: Number) -> Fraction:
    """A w with P(|sum of weight * Z| > w) <= alpha: terms are (weight, noise, copies), all draws independent.

    For one draw of weight 1 it is the noise's own width.

    >>> one = Noise("laplace", Fraction(10))
    >>> width_of_sum([(1, one, 1)], "1/20"), float(round(width_of_sum([(1, one, 1), (-1, one, 1)], "1/20"), 1))
    (Fraction(30, 1), 50.9)
    """
    chance = read_alpha(alpha)
    kept: list[tuple[Fraction, Noise, int]] = []
    for weight, noise, copies in terms:
        if isinstance(copies, bool) or not isinstance(copies, int) or copies < 0:
            raise ParameterError(f"copies={copies!s} is not a number of draws: expected a whole number >= 0")
        size = abs(exact(weight, name="weight"))
        if size and copies and noise.scale:
            kept.append((size, noise, copies))
    if not kept:
        return Fraction(0)
    if len(kept) == 1 and kept[0][2] == 1:
        return kept[0][0] * kept[0][1].width(chance)
    blocks = [Weighted(np.full((1, n), floats.from_fraction_up(weight)), noise) for weight, noise, n in kept]
    return Fraction(float(widths_of_sums(blocks, chance)[0]))


def widths_of_sums(blocks: Sequence[Weighted], alpha: Fraction, *, quick: bool = False) -> Floats:
    """For each row of weights (>= 0, rounded up by the caller) a width as in `width_of_sum`, rounded up.

    A `quick` width is of simple bounds alone, and a little larger where there are many terms.
    """
    blocks = [block for block in blocks if block.noise.scale and block.weights.shape[1]]
    if not blocks:
        raise ParameterError("no noise is left in the sum: expected at least one term of a scale above 0")
    bounds = [_union(blocks, alpha)]
    if _all_gaussian(blocks):
        bounds += _gaussian(blocks, alpha)
    else:
        bounds.append(_chernoff(blocks, alpha))
    widths: Floats = np.min(bounds, axis=0)
    if not quick and _is_inverted(blocks, alpha):
        widths = np.minimum(widths, _inverted(blocks, alpha, widths))
    if not np.isfinite(widths).all():
        raise NumberError("the width of a sum of noises is beyond the range of floats: expected smaller weights")
    return widths


def _is_inverted(blocks: Sequence[Weighted], alpha: Fraction) -> bool:
    """Whether the law of the sum is to be found: of many terms, where no simpler bound is as good."""
    scales = [block.noise.scale for block in blocks if block.noise.kind == "gaussian"]
    if not alpha > LEAST_ALPHA or sum(block.weights.shape[1] for block in blocks) < _MANY:
        return False
    return min(scales, default=Fraction(1)) >= 1 and (not _all_gaussian(blocks) or min(scales) < SHARP)


def _inverted(blocks: Sequence[Weighted], alpha: Fraction, near: Floats) -> Floats:
    rare = alpha / FAR
    far = _gaussian(blocks, rare)[0] if _all_gaussian(blocks) else _chernoff(blocks, rare)
    terms = [
        (b.weights, b.weights * 2.0**-50 if b.least is None else b.weights - b.least, b.noise.kind, _scale(b.noise))
        for b in blocks
    ]
    return inverted_widths(terms, alpha, near, far)


def _all_gaussian(blocks: Sequence[Weighted]) -> bool:
    return all(block.noise.kind == "gaussian" for block in blocks)


def _union(blocks: Sequence[Weighted], alpha: Fraction) -> Floats:
    columns = sum(block.weights.shape[1] for block in blocks)
    sizes = np.concatenate([block.weights for block in blocks], axis=1)

    def widths(share: Fraction) -> Floats:
        each = [np.full(b.weights.shape[1], floats.from_fraction_up(b.noise.width(share))) for b in blocks]
        return np.concatenate(each)

    best = (sizes * widths(alpha / columns)).sum(axis=1)
    if 1 < columns <= _FEW:
        scaled = np.concatenate([block.weights * float(block.noise.scale) for block in blocks], axis=1)
        first = scaled.argmax(axis=1)[:, None] == np.arange(columns)
        for rest in (Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)):
            large, small = widths(alpha * (1 - rest)), widths(alpha * rest / (columns - 1))
            best = np.minimum(best, (sizes * np.where(first, large, small)).sum(axis=1))
    return np.asarray(best * _MORE, dtype=np.float64)


def _gaussian(blocks: Sequence[Weighted], alpha: Fraction) -> list[Floats]:
    large = [block for block in blocks if block.noise.scale >= COUPLED]
    small = [block for block in blocks if block.noise.scale < COUPLED]
    variances = [(block.weights * floats.from_fraction_up(block.noise.scale)) ** 2 for block in (*large, *small)]
    bounds = [np.sqrt(_total(variances)) * _tail(alpha) * _MORE]
    if not large:
        return bounds
    bounds += _mixed(blocks, alpha)
    least, columns = min(block.noise.scale for block in large), sum(block.weights.shape[1] for block in large)
    if _is_coupled(least, columns, alpha):
        share = alpha * Fraction(999, 1000)
        spread = np.sqrt(_total(variances[: len(large)]))
        beside = np.sqrt(_total([block.weights**2 for block in large] + variances[len(large) :]))
        if not small:
            surely = _total([block.weights for block in large])
            bounds.append((spread * normal_width(share) + surely) * _MORE)
        for part in (Fraction(3, 2), 3, 10, 30, 100, 1000):
            rest = share / part
            bounds.append((spread * normal_width(share - rest) + beside * _tail(rest)) * _MORE)
    return bounds


def _is_coupled(least: Fraction, columns: int, alpha: Fraction) -> bool:
    """Whether n max(theta - 1) is at most a thousandth of alpha."""
    # exp(-19 s^2) <= 2^(-27 s^2), for 19/ln 2 is above 27.4.
    return 3 * columns * Fraction(1, 2 ** math.floor(27 * min(least, Fraction(20)) ** 2)) <= alpha / 1000


def _mixed(blocks: Sequence[Weighted], alpha: Fraction) -> list[Floats]:
    """The bound for a few terms of which one has a small scale, if they are."""
    smallest = min(blocks, key=lambda block: block.noise.scale)
    others = [block for block in blocks if block is not smallest]
    columns = sum(block.weights.shape[1] for block in others)
    if not 1 <= columns <= _FEW or smallest.weights.shape[1] > 1 or smallest.noise.scale > MIXED:
        return []
    least = min(block.noise.scale for block in others)
    if least < COUPLED or not _is_coupled(least, columns, alpha):
        return []
    spread = np.sqrt(_total([(b.weights * floats.from_fraction_up(b.noise.scale)) ** 2 for b in others])) * _MORE
    surely = _total([block.weights for block in others])
    own = smallest.weights[:, 0] * _scale(smallest.noise) * _MORE
    place = np.searchsorted(_RATIOS, own / np.maximum(spread, 1e-300))
    reach = np.append(_reaches(max(smallest.noise.scale, LEAST), alpha * Fraction(999, 1000)), np.inf)
    with np.errstate(invalid="ignore"):
        found = (spread * reach[place] + surely) * _MORE
    return [np.where(np.isfinite(found), found, np.inf)]


@lru_cache(maxsize=256)
def _reaches(scale: Fraction, alpha: Fraction) -> Floats:
    """For each k of the row an a so that the sum over z of P(Z = z) P(|N + k z/s| > a) is at most alpha."""
    s = float(scale)
    z = np.arange(math.ceil(7 * s) + 2) / s
    weights = np.exp(-(z**2) / 2) * np.where(z > 0, 2.0, 1.0)
    chances = weights / weights.sum()
    # What is cut off is below 2 exp(-24.5), and floats are off by less than a millionth.
    target = floats.from_fraction_down(alpha) * (1 - 1e-6) - 1e-10
    if target <= 0:
        return np.full(len(_RATIOS), np.inf)
    low, high = np.zeros(len(_RATIOS)), _RATIOS * 8.0 + 10.0
    for _ in range(40):
        a = (low + high) / 2
        moved = _RATIOS[:, None] * z
        beyond = ((_erfc(a[:, None] - moved) + _erfc(a[:, None] + moved)) / 2) @ chances
        low, high = np.where(beyond <= target, low, a), np.where(beyond <= target, a, high)
    high.setflags(write=False)
    return np.asarray(high)


def _erfc(x: Floats) -> Floats:
    """A bound of erfc(x/sqrt 2) from above, off by less than 4e-7 of it.

    A Chebyshev approximation (Press et al. 1992, erfcc) whose relative error is below 1.2e-7, moved up by 2e-7.
    """
    y = np.abs(x) / math.sqrt(2)
    t = 1 / (1 + y / 2)
    series = np.zeros_like(t)
    for factor in _ERFC:
        series = series * t + factor
    found = t * np.exp(-(y**2) + series)
    return np.where(x >= 0, found * (1 + 2e-7), 2 - found * (1 - 2e-7))


_ERFC = (
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807,
    -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223,
)  # fmt: skip


def _total(parts: Sequence[Floats]) -> Floats:
    return np.asarray(sum(part.sum(axis=1) for part in parts))


def _tail(alpha: Fraction) -> float:
    """A bound of sqrt(2 ln(2/alpha)) from above."""
    return floats.sqrt_up(floats.mul_up(2.0, floats.log_up(floats.from_fraction_up(2 / alpha))))


@lru_cache(maxsize=1024)
def normal_width(alpha: Fraction) -> float:
    """A z with P(|N(0, 1)| > z) = erfc(z/sqrt 2) <= alpha, at most a billionth too large."""
    import gmpy2  # type: ignore[import-untyped]

    up = gmpy2.context(precision=80, round=gmpy2.RoundUp)
    down = gmpy2.context(precision=80, round=gmpy2.RoundDown)
    target = down.div(gmpy2.mpz(alpha.numerator), gmpy2.mpz(alpha.denominator))
    low, high = 0.0, _tail(alpha)
    while high - low > 1e-10:
        middle = (low + high) / 2
        enough = up.erfc(down.div(gmpy2.mpfr(middle), up.sqrt(2))) <= target
        low, high = (low, middle) if enough else (middle, high)
    return high


def _chernoff(blocks: Sequence[Weighted], alpha: Fraction) -> Floats:
    odds = floats.log_up(floats.from_fraction_up(1 / alpha))
    laplace = [block for block in blocks if block.noise.kind == "laplace"]
    gaussian = [block for block in blocks if block.noise.kind == "gaussian"]
    scales = np.concatenate([np.full(b.weights.shape[1], _scale(b.noise)) for b in laplace])
    sizes = np.concatenate([block.weights for block in laplace], axis=1)
    lowest = np.concatenate([b.weights if b.least is None else b.least for b in laplace], axis=1)
    rows = np.arange(len(sizes))
    first = (sizes * scales).argmax(axis=1)
    weight, low, scale = sizes[rows, first].copy(), lowest[rows, first], scales[first]
    sizes[rows, first] = 0.0
    largest = np.maximum(weight * scale, 1e-300)
    proxy = sum(((b.weights * _scale(b.noise)) ** 2).sum(axis=1) for b in gaussian) + np.zeros(len(sizes))
    best, place = np.full(len(sizes), np.inf), np.ones(len(sizes))

    def bound(step: Floats) -> Floats:
        # t w1 s1 is `step`; rounded down a little, so that it is not above 1.
        t = step * (1 - 1e-12) / largest
        logs = _log_moments(t[:, None] * sizes, scales).sum(axis=1) + t**2 * proxy / 2
        factor = np.maximum(_first(t * weight, scale), _first(t * low, scale))
        return np.asarray((odds + np.log(2 * factor) + 1e-9 + logs * _MORE) / t)

    for step in _STEPS:
        found = bound(np.full(len(sizes), step))
        place, best = np.where(found < best, step, place), np.minimum(best, found)
    for nearer in _NEAR:
        best = np.minimum(best, bound(np.minimum(place * nearer, 1.0)))
    return np.where(largest > 1e-300, np.maximum(best, 0.0) * _MORE, np.inf)


def _scale(noise: Noise) -> float:
    return floats.from_fraction_up(max(noise.scale, LEAST))


def _log_moments(t: Floats, scales: Floats) -> Floats:
    """Bounds of ln E exp(tZ) from above, infinite where t is too close to 1/s."""
    ratio = t * scales
    fine = scales < 8  # above, sinh is its argument but for a thousandth
    if fine.any():
        ratio[:, fine] = np.sinh(t[:, fine] / 2) / np.sinh(1 / (2 * scales[fine]))
    square = (ratio * (1 + 1e-12)) ** 2
    near = square > 1 - 1e-6
    square[near] = 0.0
    logs: Floats = -np.log1p(-square)
    logs[near] = np.inf
    return logs


def _first(t: Floats, scale: Floats) -> Floats:
    """The c of the first Laplace term, from above: P(Z >= y) <= c exp(-ty) for all y."""
    step, p = np.minimum(t * scale, 1.0), np.exp(-1 / scale)
    edge, share = p / (1 + p), step / (1 + step)
    at_zero = np.maximum(1 / (1 + p), np.exp(t - 1 / scale) / (1 + p))
    inside = np.where(share <= edge, (1 - share) * np.minimum(share / np.maximum(edge, 1e-300), 1.0) ** step, 0.0)
    return np.asarray(np.maximum(at_zero, inside) * _MORE, dtype=np.float64)
