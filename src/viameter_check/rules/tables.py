"""Tables on an engine: what is done unit by unit, and what the kept rows of a unit add to sums by group."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from viameter_check.amounts import INFINITY, Number, read_number, shortened, times
from viameter_check.document import Node
from viameter_check.intervals import Interval, point, root
from viameter_check.places import domain_text
from viameter_check.report import Refused
from viameter_check.rules.aggregates import NORMS
from viameter_check.rules.table import OUTWARD, AddedLater, Derived, distance, finite, given_distance, needs, rule, word


def integer(text: Any) -> int:
    """A whole number of any sign."""
    value = finite(text)
    if value.denominator != 1:
        raise Refused(f"{shortened(text)} is not whole")
    return value.numerator


def limit(text: Any) -> Number:
    """A whole number >= 1, or infinity where nothing is limited."""
    value = read_number(text)
    if value < 1 or (isinstance(value, Fraction) and value.denominator != 1):
        raise Refused(f"{shortened(text)} is no limit: expected a whole number >= 1, or inf")
    return value


LIMITS = {"lower": integer, "upper": integer, "rows": limit, "groups": limit, "per_group": limit, "norm": word}


@rule("units-one-by-one")
def units_one_by_one(node: Node) -> Derived:
    """What is done with each unit's rows alone moves no more units than differed before."""
    given = given_distance(node)
    needs(node.input.units is not None, "is stated for metrics that count units", "input.metric")
    made = node.output.domain
    needs(node.output.data.shape == "engine table", "gives a table on an engine", "output.domain")
    # Which columns there are then is up to the steps, and no theorem on what follows reads it.
    made_of = f"rows of {made} are made of the same unit's rows, by steps that are not described"
    return distance(given, made, node.input.metric, made_of)


@rule("contributions-of-added-units", numbers=OUTWARD, **LIMITS)
def contributions_of_added_units(node: Node, *, lower: int, upper: int, norm: str, **limits: Number) -> Derived:
    """Each unit that comes or goes brings or takes the rows that are kept of it."""
    given = _given_units(node, lower, upper, norm, replaces=False)
    largest = point(max(abs(lower), abs(upper)))
    return _sums(node, norm, largest * _kept(norm, limits) * point(given))


@rule("contributions-of-replaced-units", numbers=OUTWARD, **LIMITS, cells=AddedLater(limit))
def contributions_of_replaced_units(
    node: Node, *, lower: int, upper: int, norm: str, cells: Number = INFINITY, **limits: Number
) -> Derived:
    """Each unit whose rows are others takes those that were kept of it, and brings as many.

    A coordinate moves from one end of what a unit can add to the other; 0 is between them, for rows that do not count.
    """
    given = _given_units(node, lower, upper, norm, replaces=True)
    if cells != INFINITY:
        needs(node.output.data.size == cells, "is not the number of coordinates of the output", "parameters.cells")
    least, most = min(lower, 0), max(upper, 0)
    in_one = times(Fraction(most - least), min(limits["rows"], limits["per_group"]))
    if norm == "Linf":
        moved = point(in_one)
    elif norm == "L1":
        rows = min(limits["rows"], times(limits["groups"], limits["per_group"]))
        moved = point(min(times(Fraction(2 * max(most, -least)), rows), times(cells, in_one)))
    else:
        squares = times(Fraction(2 * (most**2 + least**2)), _squares(limits))
        square = min(squares, times(cells, times(in_one, in_one)))
        moved = point(square) if isinstance(square, float) else root(square)
    return _sums(node, norm, moved * point(given))


def _sums(node: Node, norm: str, bound: Interval) -> Derived:
    """The distance of vectors of sums, one for each group and cell; how many there are is public."""
    return distance(bound, domain_text("vectors", "int", node.output.data.size), NORMS[norm])


def _given_units(node: Node, lower: int, upper: int, norm: str, *, replaces: bool) -> Number:
    """How many units differ, where the theorem applies."""
    given = given_distance(node)
    units = node.input.units
    step = "replaced" if replaces else "added or removed"
    counts = units is not None and units.replaces is replaces
    needs(counts, f"is stated for metrics that count units whose rows are {step}", "input.metric")
    needs(node.input.data.shape == "engine table", "takes a table on an engine", "input.domain")
    needs(norm in NORMS, "is not a norm", "parameters.norm")
    needs(lower <= upper, "lower is above upper", "parameters")
    return given


def _kept(norm: str, limits: dict[str, Number]) -> Interval:
    """The largest norm of the numbers of rows that are kept of a unit, by group."""
    if norm == "Linf":
        return point(min(limits["rows"], limits["per_group"]))
    if norm == "L1":
        return point(min(limits["rows"], times(limits["groups"], limits["per_group"])))
    square = _squares(limits)
    return point(square) if isinstance(square, float) else root(square)


def _squares(limits: dict[str, Number]) -> Number:
    """The largest sum of squares of the numbers of rows that are kept of a unit, by group."""
    rows, groups, per_group = (limits[name] for name in ("rows", "groups", "per_group"))
    in_one, in_all = min(rows, per_group), min(rows, times(groups, per_group))
    if isinstance(in_all, float) or isinstance(in_one, float):
        return INFINITY
    # Squares are convex: as many groups as can be hold the most that one can, and one more what is left.
    full, left = divmod(in_all, in_one)
    return full * in_one**2 + left**2
