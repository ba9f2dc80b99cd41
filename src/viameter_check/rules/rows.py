"""Rows mapped, filtered, cut to a size or limited by user."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import times
from viameter_check.document import Node
from viameter_check.places import ADDING, NORMS, NUMBER, REPLACING, ROWS
from viameter_check.rules.table import Derived, distance, given_distance, needs, rule, whole

REPLACED_TO_ADDED = {"ChangeOneDistance()": "SymmetricDistance()", "HammingDistance()": "InsertDeleteDistance()"}


def added_metric(metric: str) -> str:
    """The metric that counts additions and removals where this one counts replacements."""
    if metric.startswith("ChangeOneIdDistance("):
        return metric.replace("ChangeOneIdDistance(", "SymmetricIdDistance(", 1)
    return REPLACED_TO_ADDED.get(metric, "")


@rule("rows-one-by-one")
def rows_one_by_one(node: Node) -> Derived:
    """Rows mapped one by one: the metric stays, and so does the number of rows."""
    given = given_distance(node)
    counts = node.input.metric in ROWS or node.input.counts_users
    needs(counts, f"is stated for metrics that count rows or users, not for {node.input.metric}", "input.metric")
    needs(node.output.metric == node.input.metric, "the metric stays the same", "output.metric")
    needs(node.output.data.size == node.input.data.size, "the number of rows stays the same", "output.domain")
    needs(_datasets(node), "maps vectors or tables to such", "output.domain")
    return distance(given)


@rule("clamp-numbers")
def clamp_numbers(node: Node) -> Derived:
    """Numbers clamped one by one come no further apart."""
    given = given_distance(node)
    needs(node.input.metric in (*NORMS, NUMBER), "is stated for distances of numbers", "input.metric")
    needs(node.output.metric == node.input.metric, "the metric stays the same", "output.metric")
    before, after = node.input.data, node.output.data
    needs(not before.nan and before.kind in ("int", "float"), "clamps numbers that are not NaN", "input.domain")
    same = (before.shape, before.kind, before.size) == (after.shape, after.kind, after.size)
    needs(same and not after.nan, "kind and size stay the same", "output.domain")
    return distance(given)


@rule("filter-of-added-rows")
def filter_of_added_rows(node: Node) -> Derived:
    """Where rows or users are added or removed, a filter brings datasets no further apart."""
    given = given_distance(node)
    adds = node.input.metric in ADDING or (node.input.counts_users and not node.input.replaces)
    needs(adds, "is stated for metrics that count additions and removals", "input.metric")
    needs(node.output.metric == node.input.metric, "the metric stays the same", "output.metric")
    _size_unknown(node)
    return distance(given)


@rule("filter-of-replaced-rows")
def filter_of_replaced_rows(node: Node) -> Derived:
    """A replacement may become a removal and an addition."""
    given = given_distance(node)
    needs(node.input.replaces, "is stated for metrics that count replacements", "input.metric")
    needs(node.output.metric == added_metric(node.input.metric), "counts additions and removals", "output.metric")
    _size_unknown(node)
    return distance(times(Fraction(2), given))


@rule("resize-of-added-rows")
def resize_of_added_rows(node: Node) -> Derived:
    """A row more moves one in and one out."""
    given = given_distance(node)
    needs(node.input.metric in ADDING, "is stated for metrics that count rows added or removed", "input.metric")
    _sized(node)
    return distance(times(Fraction(2), given))


@rule("resize-of-replaced-rows")
def resize_of_replaced_rows(node: Node) -> Derived:
    """A row replaced replaces at most one."""
    given = given_distance(node)
    needs(node.input.metric in REPLACING, "is stated for metrics that count rows replaced", "input.metric")
    _sized(node)
    return distance(given)


@rule("limit-of-added-users", per_id=whole)
def limit_of_added_users(node: Node, *, per_id: int) -> Derived:
    """A user brings at most so many rows."""
    return _limited(node, per_id, replaces=False)


@rule("limit-of-replaced-users", per_id=whole)
def limit_of_replaced_users(node: Node, *, per_id: int) -> Derived:
    """A user who is replaced takes away as many rows as they bring."""
    return _limited(node, 2 * per_id, replaces=True)


def _limited(node: Node, rows: int, *, replaces: bool) -> Derived:
    given = given_distance(node)
    step = "replaced" if replaces else "added or removed"
    counts = node.input.counts_users and node.input.replaces is replaces
    needs(counts, f"is stated for metrics that count users {step}", "input.metric")
    needs(node.output.metric == "SymmetricDistance()", "counts rows from here on", "output.metric")
    _size_unknown(node)
    return distance(times(Fraction(rows), given))


def _datasets(node: Node) -> bool:
    return {node.input.data.shape, node.output.data.shape} <= {"vectors", "tables"}


def _size_unknown(node: Node) -> None:
    needs(_datasets(node), "takes vectors or tables to such", "output.domain")
    needs(node.output.data.size is None, "the number of rows is no longer public", "output.domain")


def _sized(node: Node) -> None:
    needs(_datasets(node), "takes vectors or tables to such", "output.domain")
    needs(node.output.metric == node.input.metric, "the metric stays the same", "output.metric")
