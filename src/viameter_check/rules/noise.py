"""Noise that is added to numbers, and randomized response."""

from __future__ import annotations

import math
from fractions import Fraction

from viameter_check.amounts import INFINITY, Number
from viameter_check.document import Node
from viameter_check.intervals import Interval, exp, log, outward, point, root
from viameter_check.places import DISCRETE, NUMBER, domain_text
from viameter_check.rules.table import (
    OUTWARD,
    Derived,
    distance,
    given_distance,
    loss,
    needs,
    nonnegative,
    positive,
    rule,
    whole,
)


@rule("laplace-on-integers", scale=nonnegative)
def laplace_on_integers(node: Node, *, scale: Fraction) -> Derived:
    """d/s."""
    given = given_distance(node)
    _numbers(node, "int", "L1Distance()")
    return loss("pure", _over(point(given), scale))


@rule("gaussian-on-integers", scale=nonnegative)
def gaussian_on_integers(node: Node, *, scale: Fraction) -> Derived:
    """d^2/2s^2."""
    given = given_distance(node)
    _numbers(node, "int", "L2Distance()")
    return loss("zcdp", _half_square(_over(point(given), scale)))


@rule("smoothed-gaussian-on-integers", numbers=OUTWARD, scale=positive, size=whole, smoothing=positive)
def smoothed_gaussian_on_integers(node: Node, *, scale: Fraction, size: int, smoothing: Fraction) -> Derived:
    """Real noise of what smoothing leaves of the variance, and what rounding it to n integers may tell."""
    given = given_distance(node)
    _numbers(node, "int", "L2Distance()", size)
    if given == 0:
        return loss("gdp", 0)
    left, q = scale**2 - smoothing, exp(-smoothing * Fraction(1973, 100))
    if isinstance(given, float) or left <= 0 or 25 * q.high > 1 or 6 * size * q.high > 1:
        return loss("gdp", INFINITY)
    mu = point(given) * outward(1 / root(left).high, 1 / root(left).low) + point(18 * size) * q
    return loss("gdp", mu * mu)


@rule("rounding-to-a-grid", numbers=OUTWARD, step=positive, size=whole, norm=whole)
def rounding_to_a_grid(node: Node, *, step: Fraction, size: int, norm: int) -> Derived:
    """Each of n numbers moves by less than a step, either way."""
    given = given_distance(node)
    needs(norm in (1, 2), "is 1 or 2", "parameters.norm")
    _numbers(node, "float", f"L{norm}Distance()", size)
    _power_of_two(step)
    data = node.input.data
    return distance(_steps(given, step, size, norm), domain_text(data.shape, "int", data.size), node.input.metric)


@rule("laplace-on-a-grid", numbers=OUTWARD, scale=nonnegative, step=positive, size=whole)
def laplace_on_a_grid(node: Node, *, scale: Fraction, step: Fraction, size: int) -> Derived:
    """The distance in steps, over the scale in steps."""
    given = given_distance(node)
    _numbers(node, "float", "L1Distance()", size)
    _power_of_two(step)
    return loss("pure", _over(_steps(given, step, size, 1), scale / step))


@rule("gaussian-on-a-grid", numbers=OUTWARD, scale=nonnegative, step=positive, size=whole)
def gaussian_on_a_grid(node: Node, *, scale: Fraction, step: Fraction, size: int) -> Derived:
    """Half the square of the distance in steps over the scale in steps."""
    given = given_distance(node)
    _numbers(node, "float", "L2Distance()", size)
    _power_of_two(step)
    return loss("zcdp", _half_square(_over(_steps(given, step, size, 2), scale / step)))


@rule("randomized-response", numbers=OUTWARD, probability=nonnegative, answers=whole)
def randomized_response(node: Node, *, probability: Fraction, answers: int) -> Derived:
    """|ln(p (k - 1)/(1 - p))| for each answer that changes."""
    given = given_distance(node)
    data = node.input.data
    needs(data.kind == "categories" and answers >= 2, "takes two or more categories", "input.domain")
    needs(data.answers == answers, "is not the number of categories", "parameters.answers")
    metric = "HammingDistance()" if data.shape == "vectors" else DISCRETE
    needs(node.input.metric == metric, f"is stated for {metric}", "input.metric")
    needs(probability <= 1, "is not a probability", "parameters.probability")
    if given == 0:
        return loss("pure", 0)
    if probability in (0, 1) or given == INFINITY:
        return loss("pure", INFINITY)
    odds = probability * (answers - 1) / (1 - probability)
    return loss("pure", log(max(odds, 1 / odds)) * point(given))


def _numbers(node: Node, kind: str, norm: str, size: int | None = None) -> None:
    """A number, or a vector under the norm; on a grid, of the size that is given."""
    data = node.input.data
    needs(data.kind == kind and not data.nan, f"takes numbers: {kind}", "input.domain")
    needs(data.shape in ("scalars", "vectors"), "takes numbers or vectors", "input.domain")
    metric = NUMBER if data.shape == "scalars" else norm
    needs(node.input.metric == metric, f"is stated for {metric}", "input.metric")
    if size is not None:
        needs(size == (1 if data.shape == "scalars" else data.size), "is not the size of the domain", "parameters.size")


def _power_of_two(step: Fraction) -> None:
    bits = step.numerator.bit_count() + step.denominator.bit_count()
    near = Fraction(1, 2**1000) <= step <= 2**961
    needs(bits == 2 and near, "is not a power of two to which floats round exactly", "parameters.step")


def _steps(given: Number, step: Fraction, size: int, norm: int) -> Interval:
    """The distance after rounding to multiples of the step, in steps."""
    if isinstance(given, float) or given == 0:
        return point(given)
    steps = given / step
    if size == 1:
        return point(math.ceil(steps))
    if norm == 1:
        return point(math.floor(steps + size))
    return point(steps) + root(Fraction(size))


def _over(given: Interval, scale: Fraction) -> Interval:
    """The distance over the scale; without noise only what is not apart is hidden."""
    if given.high == 0:
        return given
    return point(INFINITY) if scale == 0 else given * point(1 / scale)


def _half_square(ratio: Interval) -> Interval:
    return ratio * ratio * point(Fraction(1, 2))
