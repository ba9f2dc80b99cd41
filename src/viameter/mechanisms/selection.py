"""Choose one of many candidates by score: exponential mechanism, report-noisy-max, top-k, private quantile.

Scores are a vector with one number for each candidate; their space is measured by `LInfDistance`: a change of d moves
each score by at most d. Where all scores move in the same direction (`monotone=True`), half of the loss is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from viameter.arith import INFINITY, ZERO, Extended, Number, exact, times
from viameter.core import Bound, Loss, Measure, Measurement, Space, Transformation, by, constructor, postprocess
from viameter.core.conversion import To
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures import ZCDP, BoundedRange, PureDP, bounded_range, pure
from viameter.measures.amounts import BoundedRangeLoss, PureLoss
from viameter.measures.conversions.response import bounded_range_is_pure, bounded_range_to_zcdp
from viameter.sampling import exponential as draw_exponential
from viameter.sampling import noisy_max_laplace, permute_and_flip
from viameter.sampling import top_k as draw_top_k
from viameter.sampling.noise import read_scale
from viameter.spaces import Array, FloatDomain, IntDomain, LInfDistance, VectorDomain, read_list
from viameter.theorem import theorem, theorem_of
from viameter.transforms.requirements import row_metric, steps_per_change, vector_domain


@theorem("exponential-range", cites="Durfee and Rogers 2019; Dong, Durfee and Rogers 2020, Section 2")
def exponential_range(d_in: Extended, *, scale: Fraction, monotone: bool) -> BoundedRangeLoss:
    """The exponential mechanism has bounded range: losses of any two candidates are at most 2d/s apart.

    Theorem
        Let M choose candidate i with probability proportional to exp(q_i/s). If every score moves by at most d, the
        privacy losses of any two candidates differ by at most 2d/s; by at most d/s if all move in one direction.
    Requires
        Every score moves by at most d: the metric is LInfDistance. For `monotone`, that scores of neighboring data all
        move in one direction, which whoever says so vouches for.
    Ensures
        The loss is bounded_range(2 d_in/scale), or half of that if monotone.
    Proof
        The loss of candidate i is (q_i - q'_i)/s - ln(Z/Z'). The second term is the same for all; the first is in an
        interval of length 2d/s, or d/s.
    Example
        >>> exponential_range(Fraction(1), scale=Fraction(4), monotone=False)
        bounded_range(1/2)
    """
    return bounded_range(_range(d_in, scale, monotone))


@theorem("noisy-max-exponential", cites="McKenna and Sheldon 2020 (Permute-and-Flip), Theorem 1; Ding et al. 2021")
def noisy_max_exponential(d_in: Extended, *, scale: Fraction, monotone: bool) -> PureLoss:
    """The largest score after exponential noise of scale s, without its value, costs 2d/s.

    Theorem
        Let M report the candidate whose score plus independent exponential noise of scale s is largest. If every score
        moves by at most d, M is pure(2d/s); pure(d/s) if all move in one direction. Its range is not bounded by that.
    Requires
        The metric is LInfDistance; for `monotone`, as for the exponential mechanism. The noisy values are not released.
    Ensures
        The loss is pure(2 d_in/scale), or half of that if monotone.
    Proof
        M is permute-and-flip with exp(-(max q - q_i)/s). Given the noise of the others, candidate i wins when its own
        noise is above a threshold that moves by at most 2d (d if monotone), and the tail of exponential noise is
        exp(-t/s).
    Example
        >>> noisy_max_exponential(Fraction(1), scale=Fraction(4), monotone=False)
        pure(1/2)
    """
    return pure(_range(d_in, scale, monotone))


@theorem("noisy-max-laplace", cites="Dwork and Roth 2014, Claim 3.9; for discrete noise with ties, derived here")
def noisy_max_laplace_loss(d_in: Extended, *, scale: Fraction, monotone: bool) -> PureLoss:
    """The largest score after discrete Laplace noise of scale s, without its value, costs 2d/s.

    Theorem
        Let M report the candidate whose integer score plus independent discrete Laplace noise of scale s is largest,
        the first one of equals. If every score moves by at most d, M is pure(2d/s); pure(d/s) if all move in one
        direction.
    Requires
        Scores are integers, ties go by a fixed rule, the metric is LInfDistance, and the noisy values are not released.
    Ensures
        The loss is pure(2 d_in/scale), or half of that if monotone, for d_in rounded down to a whole number.
    Proof
        Fix the noise of all others. Candidate i wins when its own noise z_i is at least an integer k (one more where
        it must be strictly above). On the other data the threshold is at most k + 2d: every other score rises by at
        most d and its own falls by at most d, and strict comparisons stay strict. P(z_i >= k) <= exp(2d/s) P(z_i >= k
        + 2d) for integers.
    Example
        >>> noisy_max_laplace_loss(Fraction(1), scale=Fraction(4), monotone=False)
        pure(1/2)
    """
    # Integer scores that move by at most d move by at most d rounded down.
    whole = d_in if d_in == INFINITY else Fraction(Fraction(d_in) // 1)
    return pure(_range(whole, scale, monotone))


@theorem(
    "top-k-by-peeling",
    cites="Dwork and Roth 2014, Theorem 3.14 (adaptive sequential composition); Bun and Steinke 2016",
)
def top_k_by_peeling(d_in: Extended, *, step: Callable[..., Loss], k: int, scale: Fraction, monotone: bool) -> Loss:
    """The best k, picked one after the other, cost k times one pick.

    Theorem
        Let M pick a candidate, remove it, and pick again, k times. Each pick is a mechanism on the scores of those
        left, chosen by the picks before it. In pure differential privacy and in zCDP, M costs the sum of the picks.
    Requires
        The measure adds up adaptively: PureDP or ZCDP, and not BoundedRange, whose ranges do not add. `step` is the
        theorem of one pick, or the one that follows exponential-range.
    Ensures
        The loss is k times that of one pick.
    Proof
        Adaptive sequential composition: each pick has the same loss on whatever candidates are left, since removing
        scores brings score vectors no further apart.
    Example
        >>> top_k_by_peeling(Fraction(1), step=bounded_range_is_pure, k=3, scale=Fraction(4), monotone=False)
        pure(3/2)
    """
    if step in (bounded_range_is_pure, bounded_range_to_zcdp):
        loss: Loss = step(exponential_range(d_in, scale=scale, monotone=monotone))
    else:
        loss = step(d_in, scale=scale, monotone=monotone)
    return loss.measure.total([loss] * k)


@theorem("quantile-scores", cites="Smith 2011; scores as in OpenDP's private quantiles")
def quantile_scores_stability(
    d_in: Extended, *, numerator: int, denominator: int, steps_per_change: int | None
) -> Extended:
    """How far a candidate is from a quantile, in rows, moves by a bounded amount for each row.

    Theorem
        For alpha = p/q and a candidate c, let the score be -|(q - p) #{x < c} - p #{x > c}|. One row more or less moves
        every score by at most max(p, q - p); one row replaced by at most q.
    Requires
        The metric counts rows. Scores are added up exactly, and stop at the ends of 62 bits, which brings them no
        further apart.
    Ensures
        The bound is d_in max(p, q - p), or the number of rows replaced times q.
    Proof
        A row adds q - p, -p or 0 to the difference, depending on its side of c; a replaced row moves it from one side
        to the other at most, by q. The absolute value brings numbers no further apart.
    Example
        >>> quantile_scores_stability(Fraction(1), numerator=9, denominator=10, steps_per_change=None)
        Fraction(9, 1)
    """
    if steps_per_change is None:
        return times(Fraction(max(numerator, denominator - numerator)), d_in)
    replaced = INFINITY if d_in == INFINITY else Fraction(Fraction(d_in) // steps_per_change)
    return times(Fraction(denominator), replaced)


STEPS: dict[str, dict[str, Any]] = {
    "gumbel": {"BoundedRange": exponential_range, "PureDP": bounded_range_is_pure, "ZCDP": bounded_range_to_zcdp},
    "exponential": {"PureDP": noisy_max_exponential},
    "laplace": {"PureDP": noisy_max_laplace_loss},
}
DRAWS: dict[str, Callable[..., int]] = {
    "gumbel": draw_exponential,
    "exponential": permute_and_flip,
    "laplace": noisy_max_laplace,
}


@constructor
def exponential(space: Space, *, scale: Number, measure: Measure = BoundedRange, monotone: bool = False) -> Measurement:
    """The exponential mechanism: the index of a candidate, chosen with probability proportional to exp(score/scale).

    The same as report-noisy-max with Gumbel noise. Its loss is a bounded range; or what follows from it in PureDP or
    ZCDP.

    >>> import viameter as vm
    >>> scores = vm.Space(vm.vectors(int, size=3), vm.LInfDistance())
    >>> pick = vm.exponential(scores, scale=4, measure=vm.ZCDP)
    >>> pick([10, 1000, 20]), pick.map(1)
    (1, zcdp(1/32))
    """
    return _pick(space, "exponential", "gumbel", scale, measure, monotone)


@constructor
def noisy_max(
    space: Space, *, scale: Number, noise: str = "exponential", measure: Measure = PureDP, monotone: bool = False
) -> Measurement:
    """Report-noisy-max: the index of the largest score after noise of the scale: "exponential", "laplace" or "gumbel".

    Exponential noise is permute-and-flip, the most accurate of the three at the same loss.

    >>> import viameter as vm
    >>> scores = vm.Space(vm.vectors(int, size=3), vm.LInfDistance())
    >>> best = vm.noisy_max(scores, scale=4)
    >>> best([10, 1000, 20]), best.map(1)
    (1, pure(1/2))
    """
    if noise not in STEPS:
        raise ParameterError(f"noise={noise!r}: expected one of {', '.join(map(repr, STEPS))}")
    return _pick(space, "noisy_max", noise, scale, measure, monotone)


@constructor
def top_k(
    space: Space, *, k: int, scale: Number, noise: str = "gumbel", measure: Measure = ZCDP, monotone: bool = False
) -> Measurement:
    """The indices of the best k candidates, picked one after the other, each as in `noisy_max`.

    >>> import viameter as vm
    >>> scores = vm.Space(vm.vectors(int, size=3), vm.LInfDistance())
    >>> best = vm.top_k(scores, k=2, scale=4)
    >>> sorted(best([10, 1000, 2000])), best.map(1)
    ([1, 2], zcdp(1/16))
    """
    if noise not in STEPS:
        raise ParameterError(f"noise={noise!r}: expected one of {', '.join(map(repr, STEPS))}")
    domain = _scores(space, "top_k", noise)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError(f"k={plain(k)} is not a number of candidates: expected a whole number >= 1")
    if k > (domain.size or 0):
        raise ParameterError(f"k={k}: there are {domain.size} candidates")
    if repr(measure) not in ("PureDP", "ZCDP"):
        raise NoTheorem(f"top_k in {plain(measure)}: picks add up in PureDP and ZCDP")
    step = _step("top_k", noise, measure)
    number, pick = read_scale(scale), DRAWS[noise]
    return Measurement(
        input_space=space,
        measure=measure,
        function=lambda scores: draw_top_k(scores, number, k, pick=pick),
        bound=_trusting(by(top_k_by_peeling, step=step, k=k, scale=number, monotone=_flag(monotone)), monotone),
    )


@constructor
def quantile_scores(space: Space, *, alpha: Number, candidates: Sequence[Number]) -> Transformation:
    """How well each public candidate fits as the alpha-quantile of integers; `exponential` then chooses one.

    >>> import viameter as vm
    >>> ages = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> fit = vm.quantile_scores(ages, alpha="1/2", candidates=[10, 20, 30])
    >>> fit([5, 15, 25, 35]).tolist(), fit.map(1)
    ([-2, 0, -2], Fraction(1, 1))
    """
    element = vector_domain(space, "quantile_scores").element
    if not isinstance(element, IntDomain):
        raise ParameterError(
            f"quantile_scores takes vectors of integers, not {space.domain!r}; to_grid(...) makes them"
        )
    level = exact(alpha, name="alpha")
    if not 0 <= level <= 1 or level.denominator > 10**6:
        raise ParameterError(
            f"alpha={alpha!s} is not a quantile: expected 0 to 1, with a denominator of at most a million"
        )
    # Only a candidate's place among integers matters, and IntDomain refuses what does not fit into 64 bits.
    grid = np.array(IntGrid(read_list(candidates, "candidates")).values, dtype=np.int64)
    p, q = level.numerator, level.denominator

    def function(member: Array) -> Array:
        ordered = np.sort(member)
        less = np.searchsorted(ordered, grid, side="left")
        greater = len(ordered) - np.searchsorted(ordered, grid, side="right")
        # At most 2^40 rows times 10^6 fits into 62 bits; no machine holds more rows.
        scores: Array = -np.abs((q - p) * less - p * greater)
        return scores

    steps = steps_per_change(space, row_metric(space, "quantile_scores"))
    return Transformation(
        input_space=space,
        output_space=Space(VectorDomain(IntDomain(), len(grid)), LInfDistance()),
        function=function,
        bound=by(quantile_scores_stability, numerator=p, denominator=q, steps_per_change=steps),
    )


class IntGrid:
    """Rising integers of 64 bits."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        domain = IntDomain()
        if not values or not all(domain.contains(value) for value in values):
            raise ParameterError(f"candidates={list(values)!r}: expected one or more integers of 64 bits")
        self.values = tuple(domain.admit(value) for value in values)
        if any(left >= right for left, right in pairwise(self.values)):
            raise ParameterError(f"candidates={list(values)!r}: expected them in rising order")


@constructor
def private_quantile(
    space: Space, *, alpha: Number, candidates: Sequence[Number], scale: Number, measure: Measure = BoundedRange
) -> Measurement:
    """One of the public candidates, close to the alpha-quantile: the exponential mechanism on `quantile_scores`.

    >>> import viameter as vm
    >>> ages = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> median = vm.private_quantile(ages, alpha="1/2", candidates=range(0, 100), scale=2, measure=vm.PureDP)
    >>> 0 <= median([30] * 1000) < 100, median.map(1)
    (True, pure(1))
    """
    chosen = tuple(candidates)
    chain = quantile_scores(space, alpha=alpha, candidates=chosen) >> exponential(scale=scale, measure=measure)
    return chain >> postprocess(Lookup(chosen), name="candidate")


@dataclass(frozen=True, slots=True)
class Lookup:
    """The candidate of an index."""

    candidates: tuple[Any, ...]

    def __call__(self, index: int) -> Any:
        """The candidate."""
        return self.candidates[index]


def _pick(space: Space, name: str, noise: str, scale: Number, measure: Measure, monotone: bool) -> Measurement:
    _scores(space, name, noise)
    step = _step(name, noise, measure)
    number, draw = read_scale(scale), DRAWS[noise]
    # The exponential mechanism has a bounded range; its loss in another measure follows from that.
    ranged = noise == "gumbel"
    first = exponential_range if ranged else step
    made = Measurement(
        input_space=space,
        measure=BoundedRange if ranged else measure,
        function=lambda scores: draw(scores, number),
        bound=_trusting(by(first, scale=number, monotone=_flag(monotone)), monotone),
    )
    if first is step:
        return made
    follows = To(BoundedRange, measure, by=theorem_of(step).slug, implied=True)
    return replace(made, measure=measure, after=(follows,))


def _scores(space: Space, name: str, noise: str) -> VectorDomain:
    if not isinstance(space.metric, LInfDistance):
        raise NoTheorem(f"{name} takes scores that are measured by LInfDistance(), not by {space.metric!r}")
    domain = vector_domain(space, name)
    if not domain.size:
        raise ParameterError(
            f"{name} of {space.domain!r}: expected a public number of candidates, vectors(..., size=n), n >= 1"
        )
    if isinstance(domain.element, FloatDomain) and domain.element.bounds is None:
        raise ParameterError(f"{name} of {space.domain!r}: infinite scores have no place in it; clamp(bounds=...) them")
    if noise == "laplace" and not isinstance(domain.element, IntDomain):
        raise NoTheorem(f"{name} with Laplace noise takes integer scores, not {space.domain!r}")
    return domain


def _step(name: str, noise: str, measure: Measure) -> Any:
    steps = STEPS[noise]
    if repr(measure) not in steps:
        raise NoTheorem(f"{name} with {noise} noise is known in {', '.join(steps)}, not in {plain(measure)}")
    return steps[repr(measure)]


def _trusting(bound: Bound, monotone: bool) -> Bound:
    trust = "scores of neighboring data all move in one direction (monotone=True)"
    return replace(bound, assumes=(trust,)) if monotone else bound


def _flag(monotone: bool) -> bool:
    if not isinstance(monotone, bool):
        raise ParameterError(f"monotone={plain(monotone)}: expected True or False")
    return monotone


def _range(d_in: Extended, scale: Fraction, monotone: bool) -> Extended:
    if d_in == 0:
        return ZERO
    return times(Fraction(1 if monotone else 2) / scale, d_in)
