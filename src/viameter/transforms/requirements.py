"""What constructors of transformations ask of a space, with one wording for what is missing."""

from __future__ import annotations

from viameter.core import Space
from viameter.errors import NoTheorem, ParameterError
from viameter.spaces import DatasetMetric, FloatDomain, IntDomain, TableDomain, UserMetric, VectorDomain


def vector_domain(space: Space, name: str) -> VectorDomain:
    """The domain of a space of vectors."""
    if isinstance(space.domain, VectorDomain):
        return space.domain
    cure = "; take one of its columns with column(...) first" if isinstance(space.domain, TableDomain) else ""
    raise ParameterError(f"{name} takes vectors, not {space.domain!r}{cure}")


def table_domain(space: Space, name: str) -> TableDomain:
    """The domain of a space of tables."""
    if isinstance(space.domain, TableDomain):
        return space.domain
    raise ParameterError(f"{name} takes tables, not {space.domain!r}")


def number_element(space: Space, name: str) -> IntDomain | FloatDomain:
    """The element of a space of vectors of numbers that are not NaN."""
    element = vector_domain(space, name).element
    if not isinstance(element, IntDomain | FloatDomain):
        raise ParameterError(
            f"{name} takes vectors of numbers, not {space.domain!r}; cast(to=int, default=0) makes them"
        )
    if isinstance(element, FloatDomain) and element.nan:
        raise NoTheorem(f"{name} of {space.domain!r}: NaN has no place in it; impute(value=0) replaces NaN first")
    return element


def row_metric(space: Space, name: str) -> DatasetMetric:
    """The metric of a space whose distance counts rows."""
    if isinstance(space.metric, DatasetMetric):
        return space.metric
    if isinstance(space.metric, UserMetric):
        raise NoTheorem(
            f"{name} under {space.metric!r}: a user may have any number of rows; limit_rows(per_id=...) bounds it first"
        )
    raise NoTheorem(f"{name} is known for metrics that count rows, not for {space.metric!r}")


def steps_per_change(space: Space, metric: DatasetMetric) -> int | None:
    """How many steps of the metric replace one row, where the number of rows is public; None where it is not.

    A metric that replaces takes 1; with a public size, one that adds and removes takes 2.
    """
    if metric.replaces:
        return 1
    return 2 if getattr(space.domain, "size", None) is not None else None
