"""Transformations that map rows one by one: clamp, impute, cast, to_grid, map_rows, select, column."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from viameter.arith import Extended, Number, exact
from viameter.core import Bound, Space, Transformation, attempt, by, constructor, require_trust
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.spaces import (
    GREATEST_INT,
    LEAST_INT,
    AbsoluteDistance,
    Array,
    DatasetMetric,
    FloatDomain,
    IntDomain,
    NormDistance,
    ScalarDomain,
    StringDomain,
    TableDomain,
    UserMetric,
    VectorDomain,
    float_bounds,
    read_list,
    row_count,
)
from viameter.theorem import theorem
from viameter.transforms.requirements import row_metric, table_domain, vector_domain


@theorem("rows-one-by-one", cites="McSherry 2009, Section 2.4 (stability of Select)")
def rows_one_by_one(d_in: Extended, *, row: tuple[str | Fraction, ...] = ("own",)) -> Extended:
    """Rows mapped one by one stay as near as they were.

    Theorem
        Let f be a function of rows, and let F map a dataset row by row with f. Then d(F(x), F(x')) <= d(x, x') for the
        symmetric, insert-delete, change-one and Hamming distance, and for the distances that count users if f leaves
        the column that names them as it is.
    Requires
        F(x) keeps one row for each row of x, which depends on that row alone: the library applies f row by row, or does
        the same to whole arrays. A user's function is deterministic; what it raises or returns outside of the output
        domain is replaced by a public default. `row` names the function and its parameters ("own" for a user's), from
        which the domain of the images follows.
    Ensures
        The bound is d_in.
    Proof
        A shortest way from x to x' changes d(x, x') rows (or users). Apply F to every dataset on the way: rows that
        were not changed have the same image, so each step is mapped to at most one step.
    Example
        >>> rows_one_by_one(Fraction(3), row=("clamp", Fraction(0), Fraction(9)))
        Fraction(3, 1)
    """
    return d_in


@theorem("clamp-numbers", cites="projection onto a convex set; Dwork and Roth 2014, Section 3.3")
def clamp_numbers(d_in: Extended) -> Extended:
    """Clamping numbers brings them no further apart.

    Theorem
        Let c clamp to [lower, upper]. Then |c(a) - c(b)| <= |a - b|, and so for the L1, L2 and Linf distance of vectors
        that are clamped number by number.
    Requires
        No number is NaN; the domain says so.
    Ensures
        The bound is d_in.
    Proof
        c is monotone and c(a + t) <= c(a) + t for t >= 0. Each of the three norms is monotone in the absolute value of
        each coordinate. Clamping is exact in machine arithmetic: it returns one of its three arguments.
    Example
        >>> clamp_numbers(Fraction(3))
        Fraction(3, 1)
    """
    return d_in


def rowwise_bound(space: Space, name: str, *parameters: str | Fraction) -> Bound:
    """The stability map of a transformation of the library that maps rows one by one."""
    if isinstance(space.metric, DatasetMetric | UserMetric):
        return by(rows_one_by_one, row=(name, *parameters))
    raise NoTheorem(f"{name} is known for metrics that count rows or users, not for {space.metric!r}")


@constructor
def clamp(space: Space, *, bounds: tuple[Number, Number]) -> Transformation:
    """Bring every number into [lower, upper].

    >>> import viameter as vm
    >>> ages = vm.Space(vm.vectors(int), vm.SymmetricDistance()) >> vm.clamp(bounds=(0, 100))
    >>> ages([-5, 30, 250]), ages.output_space.domain
    (array([  0,  30, 100]), vectors(int, bounds=(0, 100)))
    """
    scalar = isinstance(space.metric, AbsoluteDistance)
    element = space.domain if scalar else vector_domain(space, "clamp").element
    if not isinstance(element, IntDomain | FloatDomain):
        raise ParameterError(f"clamp takes numbers, not {space.domain!r}; cast(to=int, default=0) makes them")
    clamped = _clamped(element, bounds)
    lower, upper = clamped.bounds  # type: ignore[misc]  # _clamped sets them

    def function(member: Any) -> Any:
        if scalar:
            return min(max(member, lower), upper)
        return np.clip(member, lower, upper)

    numbers = isinstance(space.metric, AbsoluteDistance | NormDistance)
    return Transformation(
        input_space=space,
        output_space=Space(
            clamped if scalar else replace(vector_domain(space, "clamp"), element=clamped), space.metric
        ),
        function=function,
        bound=by(clamp_numbers) if numbers else rowwise_bound(space, "clamp", Fraction(lower), Fraction(upper)),
    )


@constructor
def impute(space: Space, *, value: Number) -> Transformation:
    """Replace NaN by a public value.

    >>> import viameter as vm
    >>> known = vm.Space(vm.vectors(float, nan=True), vm.SymmetricDistance()) >> vm.impute(value="0.5")
    >>> known([1.0, float("nan")]), known.output_space.domain
    (array([1. , 0.5]), vectors(float))
    """
    domain = vector_domain(space, "impute")
    if not isinstance(domain.element, FloatDomain):
        raise ParameterError(f"impute takes vectors of floats, not {space.domain!r}: nothing else has NaN")
    constant = _nearest_float(value, "value")
    bounds = domain.element.bounds
    if bounds is not None:
        bounds = (min(bounds[0], constant), max(bounds[1], constant))

    def function(member: Array) -> Array:
        return np.where(np.isnan(member), constant, member)

    return Transformation(
        input_space=space,
        output_space=Space(replace(domain, element=FloatDomain(bounds)), space.metric),
        function=function,
        bound=rowwise_bound(space, "impute", Fraction(constant)),
    )


@constructor
def cast(space: Space, *, to: type, default: Any = None) -> Transformation:
    """Turn every element into an int, a float or a str; what has no such value becomes the public default.

    Floats become integers by cutting off their fraction, and stop at the ends of 64 bits.

    >>> import viameter as vm
    >>> ages = vm.Space(vm.vectors(str), vm.SymmetricDistance()) >> vm.cast(to=int, default=0)
    >>> ages(["33", "unknown", "1e3"])
    array([33,  0,  0])
    """
    domain = vector_domain(space, "cast")
    element = domain.element
    kinds: dict[type, ScalarDomain] = {int: IntDomain(), float: FloatDomain(), str: StringDomain()}
    if not isinstance(to, type) or to not in kinds:
        raise ParameterError(f"cast: to={plain(to)} is not a type to cast to: expected int, float or str")
    target = kinds[to]
    always = to is str or isinstance(element, IntDomain)
    if default is None and not always:
        raise ParameterError(
            f"cast of {space.domain!r} to {to.__name__} may fail: give the value to use then, default=..."
        )
    if default is not None:
        if to is float and not isinstance(default, float):
            default = _nearest_float(default, "default")
        if not target.contains(default):
            raise ParameterError(f"cast: default={plain(default)} is not in {plain(target)}")
        default = target.admit(default)
    return Transformation(
        input_space=space,
        output_space=Space(replace(domain, element=_cast_domain(element, target)), space.metric),
        function=_cast_function(element, to, default),
        bound=rowwise_bound(space, "cast", to.__name__),
    )


@constructor
def to_grid(space: Space, *, step: Number) -> Transformation:
    """Round every float to a multiple of `step` and return which one: integers, whose sums are exact.

    A number within a rounding error of the middle of two multiples may go to either, always to the same.

    >>> import viameter as vm
    >>> cents = vm.Space(vm.vectors(float, bounds=(0, 10)), vm.SymmetricDistance()) >> vm.to_grid(step="0.01")
    >>> cents([1.234, 9.999]), cents.output_space.domain
    (array([ 123, 1000]), vectors(int, bounds=(0, 1000)))
    """
    domain = vector_domain(space, "to_grid")
    element = domain.element
    if not isinstance(element, FloatDomain) or element.nan or element.bounds is None:
        raise ParameterError(f"to_grid takes vectors of floats with bounds and without NaN, not {space.domain!r}")
    size = exact(step, name="step")
    if size <= 0:
        raise ParameterError(f"step={step!s} is not above 0")
    lower, upper = (math.floor(Fraction(bound) / size + Fraction(1, 2)) for bound in element.bounds)
    if lower < LEAST_INT or upper > GREATEST_INT:
        raise ParameterError(f"step={step!s} is too fine for {space.domain!r}: multiples would not fit into 64 bits")
    inverse = _nearest_float(1 / size, "1/step")

    def function(member: Array) -> Array:
        # Any function of one row is as stable as another; the clipping makes the bounds hold whatever was rounded.
        return clip_to_int64(np.floor(member * inverse + 0.5), lower, upper)

    return Transformation(
        input_space=space,
        output_space=Space(replace(domain, element=IntDomain((lower, upper))), space.metric),
        function=function,
        bound=rowwise_bound(space, "to_grid", size),
    )


@constructor
def map_rows(
    space: Space, *, function: Callable[[Any], Any], output: ScalarDomain, default: Any, trust: str
) -> Transformation:
    """Apply a function of your own to every element of a vector, or to every row of a table (a dict).

    What it raises, and what it returns outside of `output`, becomes the public `default`.

    >>> import viameter as vm
    >>> visits = vm.Space(vm.vectors(str), vm.SymmetricDistance())
    >>> lengths = visits >> vm.map_rows(
    ...     function=len, output=vm.scalars(int, bounds=(0, 80)), default=0, trust="len is a function of its argument"
    ... )
    >>> lengths(["short", "a bit longer"])
    array([ 5, 12])
    """
    metric = row_metric(space, "map_rows")
    if not isinstance(output, ScalarDomain):
        raise ParameterError(f"map_rows: output={plain(output)} is not a domain of scalars: expected e.g. scalars(int)")
    if not output.contains(default):
        raise ParameterError(f"map_rows: default={plain(default)} is not in {plain(output)}")

    if not callable(function):
        raise ParameterError(f"map_rows: function={plain(function)} is not a function of a row")
    instead = output.admit(default)

    def one(row: Any) -> Any:
        succeeded, value = attempt(lambda: output.admit(function(row)))
        return value if succeeded else instead

    def every(member: Any) -> Array:
        mapped = np.empty(row_count(member), dtype=output.dtype)
        for place, row in enumerate(iterate_rows(member)):
            mapped[place] = one(row)
        return mapped

    name = f"map_rows {getattr(function, '__name__', 'function')}"
    return Transformation(
        input_space=space,
        output_space=Space(VectorDomain(output, space.domain.size), metric),  # type: ignore[attr-defined]
        function=every,
        bound=replace(by(rows_one_by_one, row=("own",)), assumes=(require_trust(name, trust),)),
    )


@constructor
def select(space: Space, columns: Sequence[str]) -> Transformation:
    """Keep some columns of a table.

    >>> import viameter as vm
    >>> table = vm.Space(vm.tables({"age": int, "ward": str, "name": str}), vm.SymmetricDistance())
    >>> (table >> vm.select(["age", "ward"])).output_space.domain
    tables({'age': scalars(int), 'ward': scalars(str)})
    """
    domain = table_domain(space, "select")
    names = read_list([columns] if isinstance(columns, str) else columns, "select: columns")
    kept = TableDomain(tuple((name, domain.column(name)) for name in names), domain.size)
    return Transformation(
        input_space=space,
        output_space=Space(kept, space.metric),
        function=lambda member: {name: member[name] for name in names},
        bound=rowwise_bound(space, "select", *names),
    )


@constructor
def column(space: Space, name: str) -> Transformation:
    """Take one column of a table, as a vector.

    >>> import viameter as vm
    >>> table = vm.Space(vm.tables({"age": int, "ward": str}), vm.SymmetricDistance())
    >>> (table >> vm.column("age")).output_space.domain
    vectors(int)
    """
    domain = table_domain(space, "column")
    metric = row_metric(space, "column")
    return Transformation(
        input_space=space,
        output_space=Space(VectorDomain(domain.column(name), domain.size), metric),
        function=lambda member: member[name],
        bound=rowwise_bound(space, "column", name),
    )


def clip_to_int64(values: Array, lower: int, upper: int) -> Array:
    """Whole floats as int64 between bounds; 2**63 is a float but no int64, so the clipping comes twice."""
    inside = np.clip(values, -(2.0**63), np.nextafter(2.0**63, 0.0)).astype(np.int64)
    # What was cut off at the largest float below 2**63 belongs to the upper end.
    return np.clip(np.where(values >= 2.0**63, GREATEST_INT, inside), lower, upper)


def _nearest_float(value: Number, name: str) -> float:
    try:
        return float(exact(value, name=name))
    except OverflowError:
        raise ParameterError(f"{name} is beyond the largest float") from None


def _clamped(element: IntDomain | FloatDomain, bounds: tuple[Number, Number]) -> IntDomain | FloatDomain:
    """The element with the bounds that its numbers have once they are clamped."""
    if bounds is None:
        raise ParameterError("clamp: bounds=None; expected (lower, upper)")
    if isinstance(element, IntDomain):
        least, greatest = IntDomain(bounds).bounds  # type: ignore[arg-type,misc]  # checked when made
        known = element.bounds or (least, greatest)
        return IntDomain((min(max(known[0], least), greatest), min(max(known[1], least), greatest)))
    lower, upper = float_bounds(bounds)
    old = element.bounds or (lower, upper)
    return FloatDomain((min(max(old[0], lower), upper), min(max(old[1], lower), upper)), element.nan)


def _cast_domain(element: ScalarDomain, target: ScalarDomain) -> ScalarDomain:
    # Bounds survive where the cast is monotone and total: from integers to floats and to themselves.
    bounds = getattr(element, "bounds", None)
    if isinstance(element, IntDomain) and bounds is not None:
        if isinstance(target, FloatDomain):
            return FloatDomain((float(bounds[0]), float(bounds[1])))
        if isinstance(target, IntDomain):
            return element
    return target


_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,30}\s*", re.ASCII)


def _cast_function(element: ScalarDomain, to: type, default: Any) -> Callable[[Array], Array]:
    if isinstance(element, IntDomain) and to is not str:
        return lambda member: member.astype(np.int64 if to is int else np.float64)
    if isinstance(element, FloatDomain) and to is float:
        return lambda member: np.where(np.isfinite(member), member, default)
    if isinstance(element, FloatDomain) and to is int:
        return lambda member: np.where(
            np.isnan(member), default, clip_to_int64(np.trunc(np.nan_to_num(member, nan=0.0)), LEAST_INT, GREATEST_INT)
        )
    if to is str:
        return lambda member: _objects([str(value) for value in member.tolist()])
    one = _text_to_int if to is int else _text_to_float

    def every(member: Array) -> Array:
        values = [one(str(value)) for value in member.tolist()]
        return np.array(
            [default if value is None else value for value in values], dtype=np.int64 if to is int else np.float64
        )

    return every


def _text_to_int(text: str) -> int | None:
    value = int(text) if _WHOLE.fullmatch(text) else None
    return value if value is not None and LEAST_INT <= value <= GREATEST_INT else None


def _text_to_float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _objects(values: list[Any]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def iterate_rows(member: Any) -> Any:
    """The rows of a member, one by one: elements of a vector, dicts for a table."""
    if isinstance(member, Mapping):
        names = list(member)
        return (dict(zip(names, row, strict=True)) for row in zip(*(c.tolist() for c in member.values()), strict=True))
    return member.tolist()
