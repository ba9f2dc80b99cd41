"""Rows mapped, filtered, cut to a size or limited by user."""

from __future__ import annotations

from fractions import Fraction

from viameter_check.amounts import times
from viameter_check.document import Node
from viameter_check.places import ADDING, NORMS, NUMBER, REPLACING, ROWS, domain_text, numbers, resized
from viameter_check.rules.row_functions import KEEP_COLUMNS, OWN, image, row_function
from viameter_check.rules.table import AddedLater, Derived, distance, given_distance, needs, rule, whole

REPLACED_TO_ADDED = {"ChangeOneDistance()": "SymmetricDistance()", "HammingDistance()": "InsertDeleteDistance()"}


def added_metric(metric: str) -> str:
    """The metric that counts additions and removals where this one counts replacements."""
    if metric.startswith("ChangeOneIdDistance("):
        return metric.replace("ChangeOneIdDistance(", "SymmetricIdDistance(", 1)
    return REPLACED_TO_ADDED.get(metric, "")


@rule("rows-one-by-one", row=AddedLater(row_function))
def rows_one_by_one(node: Node, *, row: tuple[str, ...] | None = None) -> Derived:
    """Rows mapped one by one: the metric stays, the number of rows, and the column that names users."""
    given = given_distance(node)
    before, after = node.input, node.output
    counts = before.metric in ROWS or before.counts_users
    needs(counts, f"is stated for metrics that count rows or users, not for {before.metric}", "input.metric")
    _takes_rows(node)
    if row is not None and row[0] != OWN:
        keeps = not before.counts_users or row[0] in KEEP_COLUMNS
        needs(keeps, f"{row[0]} may change the column that names users", "parameters.row")
        return distance(given, image(before.domain, row), before.metric)
    # What a function makes of a row is up to it. Older versions did not describe those of the library.
    vouched = row is None or bool(node.assumes)
    needs(vouched, "a function that nobody vouches for: expected what must be trusted", "assumes")
    needs(after.data.shape in ("vectors", "tables"), "maps vectors or tables to such", "output.domain")
    if before.counts_users and before.metric == after.metric:
        needs(before.users == after.users, "the column that names users stays as it is", "output.domain")
    made = resized(after.domain, before.data.size)
    function, trusts = "a function of single rows, which is not described,", []
    if before.domain != made:
        trusts.append(f"{function} maps {before.domain} to {made}")
    if before.counts_users:
        trusts.append(f"{function} keeps the values of the column that names users in {before.metric}")
    return distance(given, made, before.metric, *trusts)


@rule("clamp-numbers")
def clamp_numbers(node: Node) -> Derived:
    """Numbers clamped one by one come no further apart."""
    given = given_distance(node)
    needs(node.input.metric in (*NORMS, NUMBER), "is stated for distances of numbers", "input.metric")
    data, bounds = node.input.data, node.output.data.bounds
    needs(not data.nan and data.kind in ("int", "float"), "clamps numbers that are not NaN", "input.domain")
    # To clamp to any bounds is an example of the theorem.
    return distance(given, domain_text(data.shape, numbers(data.kind, bounds), data.size), node.input.metric)


@rule("filter-of-added-rows")
def filter_of_added_rows(node: Node) -> Derived:
    """Where rows or users are added or removed, a filter brings datasets no further apart."""
    given = given_distance(node)
    adds = node.input.metric in ADDING or (node.input.counts_users and not node.input.replaces)
    needs(adds, "is stated for metrics that count additions and removals", "input.metric")
    _takes_rows(node)
    return distance(given, resized(node.input.domain, None), node.input.metric)


@rule("filter-of-replaced-rows")
def filter_of_replaced_rows(node: Node) -> Derived:
    """A replacement may become a removal and an addition."""
    given = given_distance(node)
    needs(node.input.replaces, "is stated for metrics that count replacements", "input.metric")
    _takes_rows(node)
    return distance(times(Fraction(2), given), resized(node.input.domain, None), added_metric(node.input.metric))


@rule("resize-of-added-rows")
def resize_of_added_rows(node: Node) -> Derived:
    """A row more moves one in and one out."""
    given = given_distance(node)
    needs(node.input.metric in ADDING, "is stated for metrics that count rows added or removed", "input.metric")
    return distance(times(Fraction(2), given), _resized(node), node.input.metric)


@rule("resize-of-replaced-rows")
def resize_of_replaced_rows(node: Node) -> Derived:
    """A row replaced replaces at most one."""
    given = given_distance(node)
    needs(node.input.metric in REPLACING, "is stated for metrics that count rows replaced", "input.metric")
    return distance(given, _resized(node), node.input.metric)


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
    return distance(times(Fraction(rows), given), resized(node.input.domain, None), "SymmetricDistance()")


def _takes_rows(node: Node) -> None:
    needs(node.input.data.shape in ("vectors", "tables"), "takes vectors or tables", "input.domain")


def _resized(node: Node) -> str:
    """The same rows, as many as were asked for: the size that the output has."""
    _takes_rows(node)
    size = node.output.data.size
    needs(size is not None, "the number of rows is public from here on", "output.domain")
    return resized(node.input.domain, size)
