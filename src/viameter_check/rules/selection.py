"""One of many candidates by score: the exponential mechanism, noisy maxima, and the best k."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import Number, times
from viameter_check.document import Node
from viameter_check.rules.table import Derived, flag, floor, given_distance, loss, needs, positive, rule, whole, word

STEPS = {
    "bounded-range-is-pure": "pure",
    "noisy-max-exponential": "pure",
    "noisy-max-laplace": "pure",
    "bounded-range-to-zcdp": "zcdp",
}
"""Single picks whose losses add, and their measures."""
ONE_DIRECTION = "scores of neighboring data all move in one direction (monotone=True)"
"""What nobody can derive from a space: a certificate that uses it lists it in these words, among its assumptions."""


@rule("exponential-range", scale=positive, monotone=flag)
def exponential_range(node: Node, *, scale: Fraction, monotone: bool) -> Derived:
    """2d/s, half of it if all scores move in one direction."""
    return loss("bounded-range", _range(node, scale, monotone))


@rule("noisy-max-exponential", scale=positive, monotone=flag)
def noisy_max_exponential(node: Node, *, scale: Fraction, monotone: bool) -> Derived:
    """As the exponential mechanism, in pure."""
    return loss("pure", _range(node, scale, monotone))


@rule("noisy-max-laplace", scale=positive, monotone=flag)
def noisy_max_laplace(node: Node, *, scale: Fraction, monotone: bool) -> Derived:
    """Integer scores move by whole numbers."""
    return loss("pure", _range(node, scale, monotone, integers=True))


@rule("top-k-by-peeling", step=word, k=whole, scale=positive, monotone=flag)
def top_k_by_peeling(node: Node, *, step: str, k: int, scale: Fraction, monotone: bool) -> Derived:
    """k times one pick."""
    needs(step in STEPS, "is not a pick whose losses add", "parameters.step")
    measure = STEPS[step]
    one = _range(node, scale, monotone, integers=step == "noisy-max-laplace")
    needs(1 <= k <= (node.input.data.size or 0), "is not a number of candidates", "parameters.k")
    return loss(measure, times(Fraction(k), one if measure == "pure" else _eighth_square(one)))


def _range(node: Node, scale: Fraction, monotone: bool, *, integers: bool = False) -> Number:
    given = given_distance(node)
    needs(node.input.metric == "LInfDistance()", "takes scores measured by LInfDistance()", "input.metric")
    data = node.input.data
    kinds = ("int",) if integers else ("int", "float")
    scores = data.shape == "vectors" and data.kind in kinds and bool(data.size) and not data.nan
    needs(scores and (data.kind == "int" or data.bounds is not None), "takes a public number of scores", "input.domain")
    if monotone:
        needs(ONE_DIRECTION in node.assumes, f"lacks the assumption that it rests on: {ONE_DIRECTION}", "assumes")
    return times((1 if monotone else 2) / scale, floor(given) if integers else given)


def _eighth_square(eta: Number) -> Number:
    return eta if isinstance(eta, float) else eta * eta / 8
