"""Aggregates of rows to one number: count, sum, mean, with the sensitivity that holds in machine arithmetic.

Sums of integers are exact. Sums of floats depend on the order of additions when they are made one after the other, and
then no bound in terms of rows holds (Casacuberta et al. 2022). Here the *exact* sum is taken, whatever the order, and
rounded once; what that one rounding adds is part of the bound.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, ZERO, Extended, floats, times
from viameter.arith.exact_sum import exact_sum
from viameter.core import Space, Transformation, by, constructor
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.spaces import (
    GREATEST_INT,
    LEAST_INT,
    AbsoluteDistance,
    Array,
    FloatDomain,
    IntDomain,
    TableDomain,
    VectorDomain,
    row_count,
)
from viameter.theorem import Numbers, theorem
from viameter.transforms.requirements import number_element, row_metric, steps_per_change, vector_domain
from viameter.transforms.rows import clamp
from viameter.transforms.rows import column as column_of

LARGEST_FLOAT = Fraction(sys.float_info.max)
CASACUBERTA = "Casacuberta, Shoemate, Vadhan and Wagaman 2022 (Widespread Underestimation of Sensitivity), Section 3"


@theorem("count-of-rows", cites="Dwork and Roth 2014, Section 3.3 (counting queries)")
def count_of_rows(d_in: Extended, *, size_is_public: bool) -> Extended:
    """A count changes by one for each row that is added or removed.

    Theorem
        | |x| - |x'| | <= d(x, x') for distances that count rows added or removed. Where the number of rows is public,
        or a step replaces rows, |x| = |x'|.
    Requires
        Fewer than 2^63 rows, which no machine holds.
    Ensures
        The bound is d_in, or 0 where the number of rows is public or the metric replaces.
    Proof
        Each step changes the number of rows by one. Datasets of different size are not in one domain of a public size,
        and are infinitely far apart where a step replaces rows.
    Example
        >>> count_of_rows(Fraction(3), size_is_public=False), count_of_rows(Fraction(3), size_is_public=True)
        (Fraction(3, 1), Fraction(0, 1))
    """
    if size_is_public:
        # An infinite d_in says nothing of the two, not even that they have the same size.
        return INFINITY if d_in == INFINITY else ZERO
    return d_in


@theorem("sum-of-added-rows", cites=CASACUBERTA)
def sum_of_added_rows(d_in: Extended, *, lower: Fraction, upper: Fraction) -> Extended:
    """A sum changes by at most the largest row for each row that is added or removed.

    Theorem
        For rows in [lower, upper], |sum x - sum x'| <= d(x, x') max(|lower|, |upper|), d counting rows added or
        removed.
    Requires
        The sum is that of the integers: it neither wraps around nor depends on the order. It is added up in parts that
        cannot overflow, and stops at the ends of 64 bits, which brings two sums no further apart.
    Ensures
        The bound is d_in max(|lower|, |upper|).
    Proof
        Each step adds or removes one summand.
    Example
        >>> sum_of_added_rows(Fraction(2), lower=Fraction(-5), upper=Fraction(3))
        Fraction(10, 1)
    """
    return times(max(abs(lower), abs(upper)), d_in)


@theorem("sum-of-replaced-rows", cites=CASACUBERTA)
def sum_of_replaced_rows(d_in: Extended, *, lower: Fraction, upper: Fraction, steps_per_change: int) -> Extended:
    """A sum changes by at most the width of the bounds for each row that is replaced.

    Theorem
        For rows in [lower, upper], |sum x - sum x'| <= c (upper - lower), c being the number of rows replaced.
    Requires
        The number of rows is public, or a step replaces rows. As for sums of added rows, the sum is that of the
        integers.
    Ensures
        The bound is c (upper - lower) with c = d_in where a step replaces rows, and c = d_in/2 rounded down where two
        steps (one removes, one adds) do.
    Proof
        x and x' have the same size, so they agree but for c rows each; pair those up. Where d counts additions and
        removals, d(x, x') = 2c, so c <= d_in/2, and c is whole.
    Example
        >>> sum_of_replaced_rows(Fraction(3), lower=Fraction(-5), upper=Fraction(3), steps_per_change=2)
        Fraction(8, 1)
    """
    return _replaced(d_in, upper - lower, steps_per_change)


@theorem("sum-of-floats", cites=CASACUBERTA, numbers=Numbers.OUTWARD)
def sum_of_floats(d_in: Extended, *, lower: Fraction, upper: Fraction, size: int, steps_per_change: int) -> Extended:
    """A sum of floats changes by what a sum of numbers does, and by two roundings.

    Theorem
        Let s(x) be the exact sum of x rounded to a nearest float. For rows in [lower, upper] and `size` rows,
        |s(x) - s(x')| <= c (upper - lower) + ulp(size max(|lower|, |upper|)), c being the number of rows replaced.
    Requires
        The number of rows is public, and size max(|lower|, |upper|) is at most the largest float. The sum is exact
        before it is rounded, so that it does not depend on the order.
    Ensures
        The bound is that sum; it is 0 for d_in = 0, since s is a function of the rows without their order.
    Proof
        |sum x| <= size max(|lower|, |upper|) =: m, so each of the two roundings moves by at most ulp(m)/2, the ulp of a
        float that is at least m being at least that of any float below. The exact sums are c (upper - lower) apart.
    Example
        >>> sum_of_floats(Fraction(1), lower=Fraction(0), upper=Fraction(1), size=10, steps_per_change=1)
        Fraction(562949953421313, 562949953421312)
    """
    replaced = _replaced(d_in, upper - lower, steps_per_change)
    if replaced in (ZERO, INFINITY):
        return replaced
    return replaced + _ulp_at(size * max(abs(lower), abs(upper)))


@theorem("mean-of-replaced-rows", cites=CASACUBERTA, numbers=Numbers.OUTWARD)
def mean_of_replaced_rows(
    d_in: Extended, *, lower: Fraction, upper: Fraction, size: int, steps_per_change: int
) -> Extended:
    """A mean changes by the width of the bounds over the size for each row that is replaced, and by two roundings.

    Theorem
        Let m(x) be the exact mean of x rounded to a nearest float. For rows in [lower, upper] and `size` > 0 rows,
        |m(x) - m(x')| <= c (upper - lower)/size + ulp(max(|lower|, |upper|)), c being the number of rows replaced.
    Requires
        The number of rows is public and not 0. The mean is exact before it is rounded.
    Ensures
        The bound is that sum; it is 0 for d_in = 0.
    Proof
        As for sums of floats, with |mean| <= max(|lower|, |upper|).
    Example
        >>> mean_of_replaced_rows(Fraction(1), lower=Fraction(0), upper=Fraction(100), size=50, steps_per_change=1)
        Fraction(140737488355329, 70368744177664)
    """
    replaced = _replaced(d_in, (upper - lower) / size, steps_per_change)
    if replaced in (ZERO, INFINITY):
        return replaced
    return replaced + _ulp_at(max(abs(lower), abs(upper)))


def changes(d_in: Extended, steps_per_change: int) -> Extended:
    """How many rows may have been replaced in that many steps."""
    return INFINITY if d_in == INFINITY else Fraction(Fraction(d_in) // steps_per_change)


def _replaced(d_in: Extended, width: Fraction, steps_per_change: int) -> Extended:
    # Infinitely far apart, datasets may differ in size: not even a width of 0 bounds the difference then.
    return INFINITY if d_in == INFINITY else times(width, changes(d_in, steps_per_change))


@constructor
def count(space: Space) -> Transformation:
    """How many rows there are.

    >>> import viameter as vm
    >>> visits = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> vm.count(visits)([5, 8, 13]), vm.count(visits).map(2)
    (3, Fraction(2, 1))
    """
    if not isinstance(space.domain, VectorDomain | TableDomain):
        raise ParameterError(f"count takes vectors and tables, not {space.domain!r}")
    metric = row_metric(space, "count")
    public = steps_per_change(space, metric) is not None
    return Transformation(
        input_space=space,
        output_space=Space(IntDomain((0, GREATEST_INT)), AbsoluteDistance()),
        function=row_count,
        bound=by(count_of_rows, size_is_public=public),
    )


@constructor
def sum(space: Space, column: Any = None, *, bounds: Any = None) -> Transformation:
    """The sum of bounded rows: exact for integers, rounded once for floats.

    Of a table, the sum of a column; with bounds, rows are clamped first. Of a table on an engine it takes both.

    >>> import viameter as vm
    >>> waits = vm.Space(vm.vectors(int), vm.SymmetricDistance()) >> vm.clamp(bounds=(0, 240)) >> vm.sum()
    >>> waits([10, 20, 500]), waits.map(1)
    (270, Fraction(240, 1))
    >>> visits = vm.Space(vm.tables({"wait": int}), vm.SymmetricDistance()) >> vm.sum("wait", bounds=(0, 240))
    >>> visits({"wait": [10, 20, 500]}), visits.map(1)
    (270, Fraction(240, 1))
    """
    if column is not None or bounds is not None:
        return _of_column(space, column, bounds) >> sum()
    element, lower, upper = _bounded(space, "sum")
    metric = row_metric(space, "sum")
    steps = steps_per_change(space, metric)
    if isinstance(element, IntDomain):
        stability = (
            by(sum_of_added_rows, lower=lower, upper=upper)
            if steps is None
            else by(sum_of_replaced_rows, lower=lower, upper=upper, steps_per_change=steps)
        )
        return Transformation(
            input_space=space,
            output_space=Space(IntDomain(), AbsoluteDistance()),
            function=lambda member: saturated(sum_int64(member, max(abs(int(lower)), abs(int(upper))))),
            bound=stability,
        )
    size = vector_domain(space, "sum").size
    if steps is None or size is None:
        raise NoTheorem(
            f"sum of {space.domain!r}: what one rounding adds depends on the number of rows, which is not public; "
            "make it so with resize(size=...), or sum integers after to_grid(step=...)"
        )
    if size * max(abs(lower), abs(upper)) > LARGEST_FLOAT:
        raise NoTheorem(f"sum of {space.domain!r} may be beyond the largest float; clamp to narrower bounds")
    return Transformation(
        input_space=space,
        output_space=Space(FloatDomain(), AbsoluteDistance()),
        function=lambda member: float(exact_sum(member)),
        bound=by(sum_of_floats, lower=lower, upper=upper, size=size, steps_per_change=steps),
    )


@constructor
def mean(space: Space, column: Any = None, *, bounds: Any = None) -> Transformation:
    """The mean of bounded rows, where the number of rows is public; rounded once.

    Of a table, the mean of a column; with bounds, rows are clamped first. A question over a table on an engine takes
    both, and needs no public number of rows.

    >>> import viameter as vm
    >>> ages = vm.Space(vm.vectors(int, bounds=(0, 100), size=4), vm.ChangeOneDistance())
    >>> vm.mean(ages)([20, 30, 40, 55]), float(vm.mean(ages).map(1))
    (36.25, 25.000000000000014)
    """
    if column is not None or bounds is not None:
        return _of_column(space, column, bounds) >> mean()
    element, lower, upper = _bounded(space, "mean")
    metric = row_metric(space, "mean")
    steps, size = steps_per_change(space, metric), vector_domain(space, "mean").size
    if steps is None or size is None:
        raise NoTheorem(
            f"mean of {space.domain!r}: the number of rows is not public; make it so with resize(size=...), "
            "or release a sum and a count and divide"
        )
    if size == 0:
        raise ParameterError(f"mean of {space.domain!r}: there are no rows to take the mean of")
    whole = isinstance(element, IntDomain)
    largest = max(abs(int(lower)), abs(int(upper)))

    def function(member: Array) -> float:
        total = Fraction(sum_int64(member, largest)) if whole else exact_sum(member)
        return float(total / size)

    return Transformation(
        input_space=space,
        output_space=Space(FloatDomain(), AbsoluteDistance()),
        function=function,
        bound=by(mean_of_replaced_rows, lower=lower, upper=upper, size=size, steps_per_change=steps),
    )


def _of_column(space: Space, name: Any, bounds: Any) -> Transformation:
    """A column of a table, clamped if bounds are given."""
    if name is None:
        return clamp(space, bounds=bounds)
    if not isinstance(name, str):
        raise ParameterError(
            f"column={plain(name)}: expected the name of a column; expressions are for tables on an engine"
        )
    taken = column_of(space, name)
    return taken if bounds is None else taken >> clamp(bounds=bounds)


def sum_int64(values: Array, largest: int) -> int:
    """The sum of an int64 array as a Python int; exact, whatever its size. `largest` bounds the absolute values."""
    if len(values) * largest <= GREATEST_INT:
        return int(values.sum())
    # Halves of 32 bits cannot overflow 64 in fewer than 2^31 additions; longer arrays go in pieces.
    total = 0
    for start in range(0, len(values), 2**30):
        piece = values[start : start + 2**30]
        total += (int((piece >> 32).sum()) << 32) + int((piece & 0xFFFFFFFF).sum())
    return total


def saturated(number: int) -> int:
    """The nearest integer of 64 bits; it is no further from another saturated one than the number was."""
    return min(max(number, LEAST_INT), GREATEST_INT)


def _bounded(space: Space, name: str) -> tuple[IntDomain | FloatDomain, Fraction, Fraction]:
    element = number_element(space, name)
    if element.bounds is None:
        raise NoTheorem(f"{name} of {space.domain!r}: one row could be of any size; clamp(bounds=...) bounds it first")
    lower, upper = element.bounds
    return element, Fraction(lower), Fraction(upper)


def _ulp_at(magnitude: Fraction) -> Fraction:
    """The ulp of the least float that is at least the magnitude."""
    return Fraction(math.ulp(floats.from_fraction_up(magnitude)))
