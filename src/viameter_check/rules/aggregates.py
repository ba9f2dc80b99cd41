"""Rows added up: counts, sums, means, histograms, and scores of quantiles."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from viameter_check.amounts import INFINITY, Number, times
from viameter_check.document import Node
from viameter_check.intervals import point, root
from viameter_check.places import COUNTS, NUMBER, ROWS, domain_text
from viameter_check.report import Refused
from viameter_check.rules.table import (
    OUTWARD,
    AddedLater,
    Derived,
    distance,
    finite,
    flag,
    floor,
    given_distance,
    needs,
    rule,
    whole,
    whole_or_none,
    word,
)

NORMS = {"L1": "L1Distance()", "L2": "L2Distance()", "Linf": "LInfDistance()"}
LARGEST_FLOAT = Fraction(sys.float_info.max)


@rule("count-of-rows", size_is_public=flag)
def count_of_rows(node: Node, *, size_is_public: bool) -> Derived:
    """A count moves by one a row, and not at all where the number of rows is public."""
    given = _given_rows(node)
    public = node.input.steps_per_change is not None
    needs(size_is_public is public, "is not what the domain and the metric say", "parameters.size_is_public")
    needs(node.input.data.shape in ("vectors", "tables"), "counts rows", "input.domain")
    # At an infinite distance not even the sizes are equal.
    return distance(given if not public or given == INFINITY else 0, f"scalars({COUNTS})", NUMBER)


@rule("sum-of-added-rows", lower=finite, upper=finite)
def sum_of_added_rows(node: Node, *, lower: Fraction, upper: Fraction) -> Derived:
    """A sum moves by at most the largest row."""
    given = _given_rows(node)
    _bounded(node, lower, upper, ("int",))
    needs(not node.input.replaces, "is stated for metrics that count rows added or removed", "input.metric")
    return distance(times(max(abs(lower), abs(upper)), given), "scalars(int)", NUMBER)


@rule("sum-of-replaced-rows", lower=finite, upper=finite, steps_per_change=whole)
def sum_of_replaced_rows(node: Node, *, lower: Fraction, upper: Fraction, steps_per_change: int) -> Derived:
    """A sum moves by at most the width of the bounds."""
    given = _given_rows(node)
    _bounded(node, lower, upper, ("int",))
    return distance(_replaced(node, given, steps_per_change, upper - lower), "scalars(int)", NUMBER)


@rule("sum-of-floats", numbers=OUTWARD, lower=finite, upper=finite, size=whole, steps_per_change=whole)
def sum_of_floats(node: Node, *, lower: Fraction, upper: Fraction, size: int, steps_per_change: int) -> Derived:
    """As for integers, and two roundings of at most half an ulp of the largest sum."""
    given = _given_rows(node)
    _bounded(node, lower, upper, ("float",))
    needs(node.input.data.size == size, "is not the size of the domain", "parameters.size")
    largest = size * max(abs(lower), abs(upper))
    needs(largest <= LARGEST_FLOAT, "sums may be beyond the largest float", "parameters")
    moved = _replaced(node, given, steps_per_change, upper - lower)
    return distance(_rounded_twice(moved, largest), "scalars(float)", NUMBER)


@rule("mean-of-replaced-rows", numbers=OUTWARD, lower=finite, upper=finite, size=whole, steps_per_change=whole)
def mean_of_replaced_rows(node: Node, *, lower: Fraction, upper: Fraction, size: int, steps_per_change: int) -> Derived:
    """The width over the size, and two roundings of at most half an ulp of the largest row."""
    given = _given_rows(node)
    _bounded(node, lower, upper, ("int", "float"))
    needs(node.input.data.size == size, "is not the size of the domain", "parameters.size")
    needs(size > 0, "there are no rows to take the mean of", "parameters.size")
    moved = _replaced(node, given, steps_per_change, (upper - lower) / size)
    return distance(_rounded_twice(moved, max(abs(lower), abs(upper))), "scalars(float)", NUMBER)


@rule("histogram-of-added-rows")
def histogram_of_added_rows(node: Node) -> Derived:
    """One bin moves by one, in every norm."""
    given = _given_rows(node)
    needs(node.input.steps_per_change is None, "the number of rows is public, or rows are replaced", "input")
    needs(node.output.metric in NORMS.values(), "a histogram is measured by a norm", "output.metric")
    return distance(given, _counts_of_bins(node), node.output.metric)


@rule("histogram-of-replaced-rows", numbers=OUTWARD, norm=word, steps_per_change=whole, bins=AddedLater(whole))
def histogram_of_replaced_rows(node: Node, *, norm: str, steps_per_change: int, bins: int = 2) -> Derived:
    """Two bins move by one: 2 in L1, the square root of 2 in L2, 1 in Linf; where there is one bin, it moves by one."""
    given = _given_rows(node)
    needs(norm in NORMS, "is not a norm", "parameters.norm")
    if "bins" in node.parameters:
        needs(node.output.data.size == bins, "is not the number of bins of the output", "parameters.bins")
    rows = _replaced(node, given, steps_per_change, Fraction(1))
    if bins == 1:
        return distance(rows, _counts_of_bins(node), NORMS[norm])
    factor = {"L1": point(2), "L2": root(Fraction(2)), "Linf": point(1)}[norm]
    bound = point(rows) if rows in (0, INFINITY) else factor * point(rows)
    return distance(bound, _counts_of_bins(node), NORMS[norm])


@rule("quantile-scores", numerator=whole, denominator=whole, steps_per_change=whole_or_none)
def quantile_scores(node: Node, *, numerator: int, denominator: int, steps_per_change: int | None) -> Derived:
    """A row moves every score by at most max(p, q - p), and by at most q where it is replaced."""
    given = _given_rows(node)
    needs(0 <= numerator <= denominator != 0, "is not a quantile", "parameters")
    needs(node.input.data.kind == "int" and node.input.data.shape == "vectors", "takes integers", "input.domain")
    if steps_per_change is None:
        needs(node.input.steps_per_change is None, "is not what the space says", "parameters.steps_per_change")
        moved = times(Fraction(max(numerator, denominator - numerator)), given)
    else:
        moved = _replaced(node, given, steps_per_change, Fraction(denominator))
    return distance(moved, domain_text("vectors", "int", _listed(node)), "LInfDistance()")


def _given_rows(node: Node) -> Number:
    given = given_distance(node)
    needs(
        node.input.metric in ROWS, f"is stated for metrics that count rows, not for {node.input.metric}", "input.metric"
    )
    return given


def _bounded(node: Node, lower: Fraction, upper: Fraction, kinds: tuple[str, ...]) -> None:
    data = node.input.data
    needs(data.shape == "vectors" and data.kind in kinds, f"takes vectors of {' or '.join(kinds)}", "input.domain")
    needs(not data.nan, "NaN has no place in it", "input.domain")
    needs(data.bounds == (lower, upper), "are not the bounds of the domain", "parameters")


def _counts_of_bins(node: Node) -> str:
    needs(node.input.data.shape == "vectors", "takes vectors", "input.domain")
    return domain_text("vectors", COUNTS, _listed(node))


def _listed(node: Node) -> int:
    """How many bins or candidates were listed, which is public, and the size of the output."""
    size = node.output.data.size
    if size is None:
        raise Refused("has no public size", "output.domain")
    return size


def _replaced(node: Node, given: Number, steps: int, width: Fraction) -> Number:
    """How many rows may have been replaced, times the width of each."""
    needs(node.input.steps_per_change == steps, "is not what the space says", "parameters.steps_per_change")
    if isinstance(given, float):
        return INFINITY  # not even the sizes are equal then
    return width * floor(given / steps)


def _rounded_twice(moved: Number, largest: Fraction) -> Number:
    """Two roundings to a nearest float add one ulp of the largest; to no move they add nothing."""
    return moved if moved in (0, INFINITY) else moved + _ulp(largest)


def _ulp(magnitude: Fraction) -> Fraction:
    """The ulp of the least float that is at least the magnitude, which is at most the largest float."""
    above = float(magnitude)
    if Fraction(above) < magnitude:
        above = math.nextafter(above, math.inf)
    return Fraction(math.ulp(above))
