"""Quantiles of the rows that are kept of units: in each group one bin, picked by its rank."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import Number, times
from viameter_check.document import Node
from viameter_check.rules.table import Derived, flag, given_distance, loss, needs, positive, rule, whole, word
from viameter_check.rules.tables import limit

PICKS = {"noisy-max-exponential": "pure", "bounded-range-to-zcdp": "zcdp"}
"""How a bin is picked, and the measure of that."""


@rule(
    "quantile-picks-of-units", step=word, numerator=whole, denominator=whole, scale=positive, rows=limit, groups=limit,
    per_group=limit, keys=whole, replaced=flag,
)  # fmt: skip
def quantile_picks_of_units(
    node: Node, *, step: str, numerator: int, denominator: int, scale: Fraction, keys: int, replaced: bool,
    **limits: Number,
) -> Derived:  # fmt: skip
    """What a unit adds to the rank of a bin, group by group: in pure the sum counts, in zcdp the sum of squares."""
    given = given_distance(node)
    units = node.input.units
    counts = units is not None and units.replaces is replaced
    needs(counts, "is not how the metric says that units differ", "parameters.replaced")
    needs(node.input.data.shape == "engine table", "takes a table on an engine", "input.domain")
    needs(step in PICKS, "is not a pick that this is stated for", "parameters.step")
    needs(node.output.measure == PICKS[step], f"is stated in {PICKS[step]}", "output.measure")
    needs(denominator >= 1, "is not the denominator of a quantile", "parameters.denominator")
    needs(numerator <= denominator, "is not a quantile", "parameters.numerator")
    needs(keys >= 1, "is not a number of groups", "parameters.keys")
    below, above = denominator - numerator, numerator
    most, squares = _kept(limits["rows"], min(limits["groups"], Fraction(keys)), limits["per_group"])
    if not replaced:
        one_way, square = max(below, above), max(below, above) ** 2
    elif keys == 1:
        one_way, square = denominator, denominator**2
    else:
        one_way, square = 2 * max(below, above), 2 * (below**2 + above**2)
    if step == "noisy-max-exponential":
        return loss("pure", times(2 * one_way / scale, times(most, given)))
    return loss("zcdp", times(square / (2 * scale**2), times(squares, times(given, given))))


def _kept(rows: Number, groups: Number, per_group: Number) -> tuple[Number, Number]:
    """The most rows that are kept of a unit, and the largest sum of squares of their numbers by group."""
    in_one, in_all = min(rows, per_group), min(rows, times(groups, per_group))
    if isinstance(in_one, float) or isinstance(in_all, float):
        return in_all, in_all
    # Squares are convex: as many groups as can be hold the most that one can, and one more what is left.
    full, left = divmod(in_all, in_one)
    return in_all, full * in_one**2 + left**2
