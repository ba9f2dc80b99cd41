"""The same data under another metric."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import times
from viameter_check.document import Node
from viameter_check.intervals import point, root
from viameter_check.rules.rows import added_metric
from viameter_check.rules.table import OUTWARD, Derived, distance, floor, given_distance, needs, rule, whole

COARSER = {
    ("InsertDeleteDistance()", "SymmetricDistance()"),
    ("HammingDistance()", "ChangeOneDistance()"),
    ("L1Distance()", "L2Distance()"),
    ("L1Distance()", "LInfDistance()"),
    ("L2Distance()", "LInfDistance()"),
}
WIDER = {
    ("L2Distance()", "L1Distance()"): 2,
    ("LInfDistance()", "L2Distance()"): 2,
    ("LInfDistance()", "L1Distance()"): 1,
}
"""Norms that are larger by the square root of the size (2) or by the size (1)."""


@rule("coarser-metric")
def coarser_metric(node: Node) -> Derived:
    """A metric that overlooks more gives no larger distances."""
    given = given_distance(node)
    pair = (node.input.metric, node.output.metric)
    needs(pair[0] == pair[1] or pair in COARSER, f"{pair[1]} is not known to be at most {pair[0]}", "output.metric")
    return distance(given, node.input.domain, pair[1])


@rule("added-from-replaced")
def added_from_replaced(node: Node) -> Derived:
    """A replacement is a removal and an addition."""
    given = given_distance(node)
    known = (added_metric(node.input.metric), "SymmetricDistance()" if node.input.metric == "HammingDistance()" else "")
    needs(node.output.metric in known, "is not the metric of additions and removals", "output.metric")
    return distance(times(Fraction(2), given), node.input.domain, node.output.metric)


@rule("replaced-from-added")
def replaced_from_added(node: Node) -> Derived:
    """At a public size, two steps of which one removes and one adds are one replacement."""
    given = given_distance(node)
    needs(node.input.data.size is not None, "the number of rows is not public", "input.domain")
    needs(node.input.metric in ("SymmetricDistance()", "InsertDeleteDistance()"), "does not add", "input.metric")
    return distance(floor(times(Fraction(1, 2), given)), node.input.domain, "ChangeOneDistance()")


@rule("norm-of-a-sized-vector", numbers=OUTWARD, size=whole, root=whole)
def norm_of_a_sized_vector(node: Node, **parameters: int) -> Derived:
    """Larger norms of n numbers are larger by at most n, or its square root."""
    given = given_distance(node)
    size, degree = parameters["size"], parameters["root"]
    needs(node.input.data.size == size, "is not the size of the domain", "parameters.size")
    needs(WIDER.get((node.input.metric, node.output.metric)) == degree, "is not that of the norms", "parameters.root")
    factor = root(Fraction(size)) if degree == 2 else point(size)
    bound = point(0) if given == 0 or size == 0 else factor * point(given)
    return distance(bound, node.input.domain, node.output.metric)
