"""Keep the rows for which a predicate holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from viameter.arith import Extended, times
from viameter.core import Metric, Space, Transformation, attempt, by, constructor, require_trust
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.spaces import (
    Array,
    ChangeOneDistance,
    ChangeOneIdDistance,
    HammingDistance,
    InsertDeleteDistance,
    SymmetricDistance,
    SymmetricIdDistance,
    TableDomain,
    VectorDomain,
    row_count,
)
from viameter.theorem import theorem
from viameter.transforms.predicates import Predicate, is_of_the_library
from viameter.transforms.rows import iterate_rows


@theorem("filter-of-added-rows", cites="McSherry 2009, Section 2.4 (stability of Where)")
def filter_of_added_rows(d_in: Extended) -> Extended:
    """A filter keeps datasets as near as they were, where a step adds or removes rows.

    Theorem
        Let p be a predicate on rows and F keep the rows for which it holds. Then d(F(x), F(x')) <= d(x, x') for the
        symmetric and the insert-delete distance, and for the distance that counts users added or removed.
    Requires
        Whether a row is kept depends on that row alone. A user's predicate is deterministic; where it raises, the row
        is not kept.
    Ensures
        The bound is d_in.
    Proof
        Along a shortest way from x to x', a row that is added is added to F's image or not seen in it; so for removals,
        and for all the rows of a user.
    Example
        >>> filter_of_added_rows(Fraction(3))
        Fraction(3, 1)
    """
    return d_in


@theorem("filter-of-replaced-rows", cites="Kifer and Machanavajjhala 2011, Section 2 (bounded and unbounded neighbors)")
def filter_of_replaced_rows(d_in: Extended) -> Extended:
    """A filter may turn one replaced row into one removed and one added.

    Theorem
        Let F keep the rows for which a predicate holds. If x' is x with d_in rows replaced (or d_in users' rows), then
        F(x) and F(x') are at most 2 d_in apart in the corresponding distance that counts additions and removals.
    Requires
        Whether a row is kept depends on that row alone.
    Ensures
        The bound is 2 d_in. The images may differ in size, so the output metric no longer replaces.
    Proof
        To replace a row (or a user's rows) is to remove it and to add another: two steps, each of which F maps to at
        most one.
    Example
        >>> filter_of_replaced_rows(Fraction(3))
        Fraction(6, 1)
    """
    return times(Fraction(2), d_in)


@constructor
def filter(
    space: Space,
    predicate: Predicate | Callable[[Any], bool],
    *,
    column: str | None = None,
    trust: str | None = None,
) -> Transformation:
    """Keep the rows for which a predicate holds: on the elements of a vector, or on a column of a table.

    A function of your own (of an element, or of a row as a dict) needs `trust`; where it raises, the row is not kept.

    >>> import viameter as vm
    >>> visits = vm.Space(vm.tables({"age": int, "ward": str}), vm.SymmetricDistance())
    >>> adults = visits >> vm.filter(vm.between(18, None), column="age") >> vm.count()
    >>> adults({"age": [11, 33, 48], "ward": ["A", "A", "B"]}), adults.map(1)
    (2, Fraction(1, 1))
    """
    domain = space.domain
    if not isinstance(domain, VectorDomain | TableDomain):
        raise ParameterError(f"filter takes vectors and tables, not {plain(domain)}")
    assumes: tuple[str, ...] = ()
    if isinstance(predicate, Predicate):
        if not is_of_the_library(predicate):
            assumes = (require_trust(f"filter {type(predicate).__name__}", trust or ""),)
        mask = _predicate_mask(domain, predicate, column)
    elif callable(predicate):
        name = f"filter {getattr(predicate, '__name__', 'predicate')}"
        assumes = (require_trust(name, trust or ""),)
        mask = _function_mask(predicate, column)
    else:
        raise ParameterError(
            f"predicate={plain(predicate)} is no predicate: expected e.g. between(18, 65), or a function"
        )

    def function(member: Any) -> Any:
        keep = mask(member)
        if isinstance(member, dict):
            return {name: values[keep] for name, values in member.items()}
        return member[keep]

    metric, stability = _filtered_metric(space.metric)
    return Transformation(
        input_space=space,
        output_space=Space(replace(domain, size=None), metric),
        function=function,
        bound=replace(by(stability), assumes=assumes),
    )


def _filtered_metric(metric: Metric) -> tuple[Metric, Callable[[Extended], Extended]]:
    if isinstance(metric, SymmetricDistance | InsertDeleteDistance | SymmetricIdDistance):
        return metric, filter_of_added_rows
    if isinstance(metric, ChangeOneDistance):
        return SymmetricDistance(), filter_of_replaced_rows
    if isinstance(metric, HammingDistance):
        return InsertDeleteDistance(), filter_of_replaced_rows
    if isinstance(metric, ChangeOneIdDistance):
        return SymmetricIdDistance(metric.id), filter_of_replaced_rows
    raise NoTheorem(f"filter is known for metrics that count rows or users, not for {plain(metric)}")


def _predicate_mask(
    domain: VectorDomain | TableDomain, predicate: Predicate, column: str | None
) -> Callable[[Any], Array]:
    if isinstance(domain, VectorDomain):
        if column is not None:
            raise ParameterError(f"column={column!r}: a vector has no columns")
        predicate.check(domain.element)
        return predicate.mask
    if column is None:
        raise ParameterError(f"{predicate!r} on a table needs column=..., one of {', '.join(map(repr, domain.names))}")
    predicate.check(domain.column(column))
    return lambda member: predicate.mask(member[column])


def _function_mask(predicate: Callable[[Any], bool], column: str | None) -> Callable[[Any], Array]:
    if column is not None:
        raise ParameterError(f"column={column!r}: a function of your own is given the whole row")

    def one(row: Any) -> bool:
        succeeded, keep = attempt(lambda: bool(predicate(row)))
        return succeeded and keep

    def mask(member: Any) -> Array:
        return np.fromiter((one(row) for row in iterate_rows(member)), dtype=bool, count=row_count(member))

    return mask
