"""How many rows fall into each of some public bins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from viameter.arith import INFINITY, ZERO, Extended, Number, dyadic, exact, floats, times
from viameter.core import Metric, Space, Transformation, by, constructor
from viameter.errors import ParameterError, plain
from viameter.spaces import (
    GREATEST_INT,
    Array,
    CategoryDomain,
    FloatDomain,
    IntDomain,
    L1Distance,
    L2Distance,
    LInfDistance,
    NormDistance,
    ScalarDomain,
    VectorDomain,
    read_list,
)
from viameter.theorem import Numbers, theorem
from viameter.transforms.aggregates import changes
from viameter.transforms.predicates import is_in
from viameter.transforms.requirements import row_metric, steps_per_change, vector_domain

NORMS: dict[type[Metric], str] = {L1Distance: "L1", L2Distance: "L2", LInfDistance: "Linf"}


@theorem("histogram-of-added-rows", cites="Dwork and Roth 2014, Section 3.3 (histogram queries)")
def histogram_of_added_rows(d_in: Extended) -> Extended:
    """A histogram changes by one, in one bin, for each row that is added or removed.

    Theorem
        For disjoint bins, h(x) - h(x') has L1 norm at most d(x, x'), and so the L2 and the Linf norm, d counting rows
        added or removed.
    Requires
        A row is in at most one bin, which depends on that row alone.
    Ensures
        The bound is d_in for each of the three norms; all three are attained by rows that fall into one bin.
    Proof
        Each step changes one coordinate by one. The L2 and the Linf norm are at most the L1 norm.
    Example
        >>> histogram_of_added_rows(Fraction(3))
        Fraction(3, 1)
    """
    return d_in


@theorem(
    "histogram-of-replaced-rows", cites="Dwork and Roth 2014, Section 3.3 (histogram queries)", numbers=Numbers.OUTWARD
)
def histogram_of_replaced_rows(
    d_in: Extended, *, norm: str, steps_per_change: int, bins: int | None = None
) -> Extended:
    """A histogram changes by one in each of two bins for each row that is replaced.

    Theorem
        For disjoint bins and c rows replaced, h(x) - h(x') has L1 norm at most 2c, L2 norm at most sqrt(2) c and Linf
        norm at most c; with one bin, c in every norm.
    Requires
        A row is in at most one bin. The number of rows is public, or a step replaces rows. There are at most `bins`
        bins, if that is given.
    Ensures
        The bound is that of the norm, with c = d_in where a step replaces rows and d_in/2 rounded down where two do;
        sqrt(2) c is rounded up.
    Proof
        One replaced row changes h by e_j - e_i or by one of the two, of norms 2, sqrt(2) and 1; with one bin, by e_1 or
        -e_1 or not at all, of norm 1. Add up.
    Example
        >>> histogram_of_replaced_rows(Fraction(3), norm="L1", steps_per_change=1)
        Fraction(6, 1)
        >>> float(histogram_of_replaced_rows(Fraction(1), norm="L2", steps_per_change=1))
        1.4142135623730951
    """
    replaced = changes(d_in, steps_per_change)
    if bins == 1:
        return replaced
    if norm == "L2":
        if replaced in (ZERO, INFINITY):
            return replaced
        return dyadic.sqrt_up(2 * Fraction(replaced) ** 2)
    return times(Fraction(2 if norm == "L1" else 1), replaced)


@constructor
def histogram(
    space: Space,
    *,
    keys: Sequence[Any] | None = None,
    edges: Sequence[Number] | None = None,
    other: bool = False,
    metric: NormDistance = L1Distance(),  # noqa: B008  # a frozen value
) -> Transformation:
    """How many rows fall into each public bin: the values `keys`, or the intervals [e0, e1), [e1, e2), ... of `edges`.

    Vectors of categories need neither. Rows in no bin are dropped, or counted in one more bin with `other=True`.

    >>> import viameter as vm
    >>> wards = vm.Space(vm.vectors(vm.categories(["A", "B", "C"])), vm.ChangeOneDistance()) >> vm.histogram()
    >>> wards(["A", "C", "A"]), wards.map(1)
    (array([2, 0, 1]), Fraction(2, 1))
    """
    element = vector_domain(space, "histogram").element
    if type(metric) not in NORMS:
        raise ParameterError(
            f"metric={plain(metric)}: a histogram is measured by L1Distance(), L2Distance() or LInfDistance()"
        )
    place, bins = _bins(element, keys, edges)
    total = bins + 1 if other else bins

    def function(member: Array) -> Array:
        # Rows in no bin have place `bins`: the other bin, or one that is cut off.
        return np.bincount(place(member), minlength=bins + 1)[:total].astype(np.int64)

    steps = steps_per_change(space, row_metric(space, "histogram"))
    stability = (
        by(histogram_of_added_rows)
        if steps is None
        else by(histogram_of_replaced_rows, norm=NORMS[type(metric)], steps_per_change=steps, bins=total)
    )
    return Transformation(
        input_space=space,
        output_space=Space(VectorDomain(IntDomain((0, GREATEST_INT)), total), metric),
        function=function,
        bound=stability,
    )


def _bins(
    element: ScalarDomain, keys: Sequence[Any] | None, edges: Sequence[Number] | None
) -> tuple[Callable[[Array], Array], int]:
    if keys is not None and edges is not None:
        raise ParameterError("histogram takes keys or edges, not both")
    if edges is not None:
        return _by_edges(element, edges)
    if keys is None:
        if not isinstance(element, CategoryDomain):
            raise ParameterError(f"histogram of {element!r} needs its bins: keys=[...] or edges=[...]")
        keys = element.values
    return _by_keys(element, keys)


def _by_keys(element: ScalarDomain, keys: Sequence[Any]) -> tuple[Callable[[Array], Array], int]:
    keys = read_list(keys, "histogram: keys")
    if not all(isinstance(key, str | int) for key in keys):
        raise ParameterError(f"keys={list(keys)!r}: expected strings or integers")
    is_in(keys).check(element)
    if not keys or len(set(keys)) != len(keys):
        raise ParameterError(f"keys={list(keys)!r}: expected one or more different values")
    places = {key: place for place, key in enumerate(keys)}
    nowhere = len(keys)

    def place(member: Array) -> Array:
        return np.fromiter((places.get(v, nowhere) for v in member.tolist()), dtype=np.int64, count=len(member))

    return place, nowhere


def _by_edges(element: ScalarDomain, edges: Sequence[Number]) -> tuple[Callable[[Array], Array], int]:
    if not isinstance(element, IntDomain | FloatDomain):
        raise ParameterError(f"edges={edges!r}: only numbers have edges, not {element!r}")
    exact_edges = [exact(edge, name="edge") for edge in read_list(edges, "histogram: edges")]
    if len(exact_edges) < 2 or any(left >= right for left, right in pairwise(exact_edges)):
        raise ParameterError(f"edges={list(edges)!r}: expected two or more rising numbers")
    bins = len(exact_edges) - 1
    # x >= edge holds for a float x exactly when x >= the least float that is not below the edge.
    whole = isinstance(element, IntDomain)
    cuts = np.array([_least_int(e) if whole else floats.from_fraction_up(e) for e in exact_edges])

    def place(member: Array) -> Array:
        found = np.searchsorted(cuts, member, side="right") - 1
        outside = (found < 0) | (found >= bins) | (member != member)  # noqa: PLR0124  # NaN
        return np.where(outside, bins, found)

    return place, bins


def _least_int(edge: Fraction) -> int:
    ceiling = -(-edge.numerator // edge.denominator)
    if not -(2**63) <= ceiling < 2**63:
        raise ParameterError(f"edge={edge!s} does not fit into 64 bits")
    return ceiling
