"""Make sizes public: a fixed number of rows, or at most so many rows of each user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from viameter.arith import Extended, times
from viameter.core import Space, Transformation, by, constructor
from viameter.errors import ParameterError, plain
from viameter.spaces import Array, SymmetricDistance, TableDomain, UserMetric, VectorDomain, row_count
from viameter.theorem import theorem
from viameter.transforms.order import content_order
from viameter.transforms.requirements import row_metric, table_domain


@theorem(
    "resize-of-added-rows", cites="OpenDP, make_resize; Casacuberta et al. 2022, Section 5.3 (random permutations)"
)
def resize_of_added_rows(d_in: Extended) -> Extended:
    """A row that is added or removed moves at most one row out of what is kept, and one in.

    Theorem
        Let F keep the first n rows of a dataset in an order, and fill up with a constant row if there are fewer.
        Where the order is that of the rows' content, the symmetric distance of F(x) and F(x') is at most twice that
        of x and x'. Where it is the order of the dataset, the same holds for the insert-delete distance.
    Requires
        The order depends on the content of rows alone (then F is a function of the rows without their order), or the
        metric respects the order of the dataset. The constant row is public.
    Ensures
        The bound is 2 d_in.
    Proof
        Let x' be x with one row r inserted at its place in the order. If r comes after the n-th row, F(x') = F(x).
        Else r enters and the row that was n-th (or one constant row) leaves. Removal is the reverse. Add up over the
        steps of a shortest way; both metrics are shortest ways of single steps.
    Example
        >>> resize_of_added_rows(Fraction(3))
        Fraction(6, 1)
    """
    return times(Fraction(2), d_in)


@theorem("resize-of-replaced-rows", cites="derived here; see resize-of-added-rows")
def resize_of_replaced_rows(d_in: Extended) -> Extended:
    """A row that is replaced replaces at most one row of what is kept.

    Theorem
        Let F keep the first n rows in an order and fill up with a constant row. Where the order is that of the rows'
        content, the change-one distance of F(x) and F(x') is at most that of x and x'; where it is the order of the
        dataset, so is the Hamming distance.
    Requires
        As for rows that are added or removed.
    Ensures
        The bound is d_in.
    Proof
        By place: place by place, F keeps the first n. By content: remove r, then add r'. The removal lets at most one
        row s in (the next in the order, or a constant), for r; the addition of r' lets out the last row kept, which
        is s unless nothing entered, or leaves all as it is. In each case at most one row of F(x) is exchanged.
    Example
        >>> resize_of_replaced_rows(Fraction(3))
        Fraction(3, 1)
    """
    return d_in


@theorem("limit-of-added-users", cites="Wilson et al. 2020 (Differentially Private SQL with Bounded User Contribution)")
def limit_of_added_users(d_in: Extended, *, per_id: int) -> Extended:
    """A user who is added or removed brings or takes at most so many rows.

    Theorem
        Let F keep at most k rows of each user, chosen by the content of that user's rows. If x' is x with d_in users
        added or removed, F(x) and F(x') are at most k d_in apart in the symmetric distance.
    Requires
        Which rows of a user are kept depends on that user's rows alone.
    Ensures
        The bound is k d_in.
    Proof
        Rows of other users are kept as before. Each user added or removed has at most k rows in the image.
    Example
        >>> limit_of_added_users(Fraction(2), per_id=5)
        Fraction(10, 1)
    """
    return times(Fraction(per_id), d_in)


@theorem(
    "limit-of-replaced-users", cites="Wilson et al. 2020 (Differentially Private SQL with Bounded User Contribution)"
)
def limit_of_replaced_users(d_in: Extended, *, per_id: int) -> Extended:
    """A user whose rows are replaced takes away at most so many rows and brings as many.

    Theorem
        Let F keep at most k rows of each user, chosen by the content of that user's rows. If x' is x with the rows of
        d_in users replaced, F(x) and F(x') are at most 2 k d_in apart in the symmetric distance.
    Requires
        Which rows of a user are kept depends on that user's rows alone.
    Ensures
        The bound is 2 k d_in.
    Proof
        Of each such user, at most k rows leave the image and at most k enter it.
    Example
        >>> limit_of_replaced_users(Fraction(2), per_id=5)
        Fraction(20, 1)
    """
    return times(Fraction(2 * per_id), d_in)


@constructor
def resize(space: Space, *, size: int, fill: Any) -> Transformation:
    """Keep `size` rows, filling up with the public row `fill` if there are fewer: the number of rows is then public.

    Under metrics that ignore the order of rows, rows are kept by a hash of their content, else the first ones.

    >>> import viameter as vm
    >>> ages = vm.Space(vm.vectors(int, bounds=(0, 100)), vm.SymmetricDistance()) >> vm.resize(size=4, fill=0)
    >>> sorted(ages([33, 48]).tolist()), ages.map(1), ages.output_space.domain
    ([0, 0, 33, 48], Fraction(2, 1), vectors(int, bounds=(0, 100), size=4))
    """
    domain = space.domain
    if not isinstance(domain, VectorDomain | TableDomain):
        raise ParameterError(f"resize takes vectors and tables, not {plain(domain)}")
    metric = row_metric(space, "resize")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ParameterError(f"size={plain(size)} is not a size: expected a whole number >= 0")
    filler = _one_row(domain, fill)

    def function(member: Any) -> Any:
        kept = np.arange(row_count(member)) if metric.ordered else content_order(member)
        kept, missing = kept[:size], max(0, size - row_count(member))
        if isinstance(member, dict):
            return {name: _filled(column[kept], filler[name], missing) for name, column in member.items()}
        return _filled(member[kept], filler, missing)

    return Transformation(
        input_space=space,
        output_space=Space(replace(domain, size=size), metric),
        function=function,
        bound=by(resize_of_replaced_rows if metric.replaces else resize_of_added_rows),
    )


@constructor
def limit_rows(space: Space, *, per_id: int) -> Transformation:
    """Keep at most so many rows of each user, and count rows from here on.

    Which rows of a user are kept is decided by a hash of their content.

    >>> import viameter as vm
    >>> visits = vm.Space(vm.tables({"patient": str, "wait": int}), vm.SymmetricIdDistance("patient"))
    >>> bounded = visits >> vm.limit_rows(per_id=2) >> vm.count()
    >>> bounded({"patient": ["p", "p", "p", "q"], "wait": [3, 1, 4, 1]}), bounded.map(1)
    (3, Fraction(2, 1))
    """
    domain = table_domain(space, "limit_rows")
    metric = space.metric
    if not isinstance(metric, UserMetric):
        raise ParameterError(f"limit_rows takes metrics that count users, such as SymmetricIdDistance, not {metric!r}")
    if isinstance(per_id, bool) or not isinstance(per_id, int) or per_id < 1:
        raise ParameterError(f"per_id={plain(per_id)} is not a number of rows: expected a whole number >= 1")

    def function(member: Any) -> Any:
        users = member[metric.id]
        order = content_order(member, first=users)
        kept = order[_rank_among_equals(users[order]) < per_id]
        return {name: column[kept] for name, column in member.items()}

    return Transformation(
        input_space=space,
        output_space=Space(replace(domain, size=None), SymmetricDistance()),
        function=function,
        bound=by(limit_of_replaced_users if metric.replaces else limit_of_added_users, per_id=per_id),
    )


def _rank_among_equals(grouped: Array) -> Array:
    """0, 1, 2, ... within each run of equal values."""
    places = np.arange(len(grouped))
    starts = np.ones(len(grouped), dtype=bool)
    starts[1:] = grouped[1:] != grouped[:-1]
    return places - np.maximum.accumulate(np.where(starts, places, 0))


def _one_row(domain: VectorDomain | TableDomain, fill: Any) -> Any:
    if isinstance(domain, VectorDomain):
        if not domain.element.contains(fill):
            raise ParameterError(f"fill={plain(fill)} is not in {domain.element!r}")
        return domain.element.admit(fill)
    if not isinstance(fill, Mapping) or set(fill) != set(domain.names):
        raise ParameterError(
            f"fill={plain(fill)} is not a row: expected a dict of {', '.join(map(repr, domain.names))}"
        )
    for name in domain.names:
        if not domain.column(name).contains(fill[name]):
            raise ParameterError(f"fill[{name!r}]={fill[name]!r} is not in {domain.column(name)!r}")
    return {name: domain.column(name).admit(fill[name]) for name in domain.names}


def _filled(column: Array, constant: Any, missing: int) -> Array:
    padding = np.empty(missing, dtype=column.dtype)
    padding[:] = constant
    return np.concatenate([column, padding])
