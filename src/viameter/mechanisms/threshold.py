"""Counts of keys that nobody listed: noisy counts that are shown only where they reach a threshold."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended, Number, dyadic, exact, whole
from viameter.core import Measurement, Space, by, constructor
from viameter.errors import NoTheorem, NumberError, ParameterError, plain
from viameter.measures import ApproxDP, approx
from viameter.measures.amounts import ApproxLoss
from viameter.sampling import discrete_laplace
from viameter.sampling.noise import read_scale
from viameter.spaces import FloatDomain, InsertDeleteDistance, SymmetricDistance
from viameter.theorem import Numbers, theorem
from viameter.transforms.requirements import vector_domain

LEAST = Fraction(-(2**11))
"""Exponents below that are taken for it: chances below exp(-2048) are rounded up to that."""


@theorem(
    "thresholded-keys",
    cites="Korolova et al. 2009; Bun, Nissim and Stemmer 2016 (stability-based histograms); for d rows derived here",
    numbers=Numbers.OUTWARD,
)
def thresholded_keys(d_in: Extended, *, scale: Fraction, threshold: int) -> ApproxLoss:
    """Noisy counts shown from a threshold on cost (d/s, delta), delta being the chance that a new key is shown.

    Theorem
        Let M add discrete Laplace noise Z of scale s to the count of every key that occurs, and show the keys whose
        noisy count is at least t, with it. For datasets that differ by d rows added or removed, M is (d/s,
        delta)-private with delta = max(1 - (1 - p(1))^d, p(d)), p(m) = P(Z >= t - m). For d = 1 this is p(1), and it is
        attained.
    Requires
        A row has one key. The noise is drawn exactly, independently for each key. Keys that do not occur are never
        shown.
    Ensures
        The loss is approx(d_in/scale, delta), delta rounded up and at most 1.
    Proof
        Outputs for different keys are independent. Keys that occur in both datasets, with counts a <= d apart in sum,
        cost (a/s, 0): Laplace noise, then post-processing. A key that occurs in one only, with count m, is shown with
        probability p(m) there and never for the other; in total variation what is shown of such keys is 1 - min(u, v)
        apart, u and v being the products of 1 - p(m_j) over the keys of one dataset and of the other. With y for what
        is shown of the keys in both, P(S) is at most the sum over y of P(y) (P'(S | y) + delta) <= exp(a/s) P'(S) +
        delta: no factor stands before delta. On either side the sum of m_j is at most d. The distribution function of a
        log-concave law is log-concave, so f(m) = -ln(1 - p(m)) is convex for m >= 1 and f(m)/m is largest at m = 1 or m
        = d: the sum of f(m_j) is at most max(d f(1), f(d)).
    Example
        >>> loss = thresholded_keys(Fraction(1), scale=Fraction(1), threshold=21)
        >>> loss.epsilon, float(loss.delta)
        (Fraction(1, 1), 1.5068...e-09)
    """
    if d_in == 0:
        return approx(0, 0)
    if d_in == INFINITY:
        return approx(INFINITY, 1)
    d = int(d_in)
    delta = max(any_of(laplace_tail_up(threshold - 1, scale), d), laplace_tail_up(threshold - d, scale))
    return approx(Fraction(d) / scale, delta)


@constructor
def thresholded_counts(space: Space, *, scale: Number, threshold: int) -> Measurement:
    """The keys that occur often, with noisy counts, although no list of keys is public: a dict.

    >>> import viameter as vm
    >>> words = vm.Space(vm.vectors(str), vm.SymmetricDistance())
    >>> common = vm.thresholded_counts(words, scale=1, threshold=30)
    >>> shown = common(["the"] * 1000 + ["rare"])
    >>> list(shown), common.map(1).epsilon
    (['the'], Fraction(1, 1))
    """
    domain = vector_domain(space, "thresholded_counts")
    if isinstance(domain.element, FloatDomain):
        raise ParameterError(f"thresholded_counts counts strings, integers and categories, not {space.domain!r}")
    if not isinstance(space.metric, SymmetricDistance | InsertDeleteDistance):
        raise NoTheorem(
            f"thresholded_counts is known where a step adds or removes a row, not for {space.metric!r}; "
            "measured_by(SymmetricDistance()) changes the metric"
        )
    number = read_scale(scale)
    if isinstance(threshold, bool) or not isinstance(threshold, int) or not 1 <= threshold < 2**62:
        raise NumberError(f"threshold={plain(threshold)} is not a whole number >= 1")

    def function(member: Any) -> dict[Any, int]:
        counts = Counter(member.tolist())
        # In order of the keys: the order in which they occur would tell more.
        keys = sorted(counts)
        noise = discrete_laplace(len(keys), number).tolist()
        # Stopping at 2^62 - 1 makes what is shown a function of the true sum, also where noise stopped at 64 bits.
        noisy = {key: min(counts[key] + added, 2**62 - 1) for key, added in zip(keys, noise, strict=True)}
        return {key: count for key, count in noisy.items() if count >= threshold}

    return Measurement(
        input_space=space,
        measure=ApproxDP,
        function=function,
        bound=by(thresholded_keys, scale=number, threshold=threshold),
    )


def any_of(chance: Fraction, times: int) -> Fraction:
    """1 - (1 - p)^n, rounded up: the chance that any of n independent events of chance p occurs."""
    if chance >= 1 or times == 1:
        return chance
    exponent = times * dyadic.log1p_down(-chance)
    # Beyond that it is 1 in all digits, and numbers would get too small.
    if exponent < -1000:
        return Fraction(1)
    return min(Fraction(1), -dyadic.expm1_down(exponent))


def laplace_tail_up(least: int, scale: Fraction) -> Fraction:
    """P(Z >= least) for discrete Laplace noise, rounded up: exp(-k/s)/(1 + exp(-1/s)) for k >= 0."""
    if least >= 0:
        exponent = max(Fraction(-least) / scale, LEAST)
        return dyadic.div_up(dyadic.exp_up(exponent), 1 + dyadic.exp_down(max(-1 / scale, LEAST)))
    other = Fraction(least - 1) / scale
    if other < LEAST:
        return Fraction(1)
    return dyadic.sub_up(Fraction(1), dyadic.div_down(dyadic.exp_down(other), 1 + dyadic.exp_up(-1 / scale)))


def least_threshold(*, scale: Number, delta: Number, d_in: int = 1) -> int:
    """The least threshold for which data `d_in` rows apart cost at most this delta.

    >>> least_threshold(scale=1, delta="1e-9")
    22
    """
    number, target = read_scale(scale), exact(delta, name="delta")
    if not 0 < target < 1:
        raise NumberError(f"delta={delta!s} is not between 0 and 1")
    distance = whole(d_in, name="d_in")
    if distance == 0:
        return 1
    low, high = 0, 1
    while thresholded_keys(Fraction(distance), scale=number, threshold=high).delta > target:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = thresholded_keys(Fraction(distance), scale=number, threshold=middle).delta <= target
        low, high = (low, middle) if enough else (middle, high)
    return high
