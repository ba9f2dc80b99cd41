"""Arithmetic that rounds up: viameter's scalars against arb and mpmath.iv, its vectors against plain numpy."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from bench.model import Benchmark, Case, Variant

OPERATIONS = {"add": 2, "mul": 2, "exp": 1, "log": 1}
"""The operations, with the number of their arguments."""

PRECISION = 53
"""The bits of a float64, so that the peers work on numbers as wide as ours."""

SCALARS = 1_000
"""How many scalars one call goes through: enough that the call itself does not count."""


def arguments(operation: str, size: int) -> list[list[float]]:
    """The same numbers in every environment: positive for the logarithm, and far from overflow."""
    source = random.Random(20)
    return [[source.uniform(0.1, 10.0) for _ in range(size)] for _ in range(OPERATIONS[operation])]


def each(function: Callable[..., Any], columns: Sequence[Sequence[Any]]) -> Callable[[], list[Any]]:
    """Apply a scalar function to every element, with as little around it as Python can do."""
    return lambda: list(map(function, *columns))


def viameter_scalar(operation: str, size: int) -> Callable[[], object]:
    """`viameter.arith.floats`, one number at a time."""
    from viameter.arith import floats

    return each(getattr(floats, f"{operation}_up"), arguments(operation, size))


def viameter_vector(operation: str, size: int) -> Callable[[], object]:
    """`viameter.arith.vectors`."""
    import numpy as np

    from viameter.arith import vectors

    function: Callable[..., object] = getattr(vectors, f"{operation}_up")
    columns = [np.array(column) for column in arguments(operation, size)]
    return lambda: function(*columns)


def plain_numpy(operation: str, size: int) -> Callable[[], object]:
    """Numpy's own operation: rounded to nearest, or less exactly than that."""
    import numpy as np

    function: Callable[..., object] = {"add": np.add, "mul": np.multiply, "exp": np.exp, "log": np.log}[operation]
    columns = [np.array(column) for column in arguments(operation, size)]
    return lambda: function(*columns)


def flint_ball(operation: str, size: int) -> Callable[[], object]:
    """Balls of `flint.arb`: midpoint and radius, hence both bounds, in one call."""
    flint = import_module("flint")
    flint.ctx.prec = PRECISION
    arb = flint.arb
    function = {"add": operator.add, "mul": operator.mul, "exp": arb.exp, "log": arb.log}[operation]
    return each(function, [list(map(arb, column)) for column in arguments(operation, size)])


def mpmath_interval(operation: str, size: int) -> Callable[[], object]:
    """Intervals of `mpmath.iv`: both bounds in one call."""
    iv = import_module("mpmath").iv
    iv.prec = PRECISION
    function = {"add": operator.add, "mul": operator.mul, "exp": iv.exp, "log": iv.log}[operation]
    return each(function, [list(map(iv.mpf, column)) for column in arguments(operation, size)])


def upper_ends_of_balls(balls: list[Any]) -> list[float]:
    """The upper bounds that arb found."""
    return [float(ball.upper()) for ball in balls]


def upper_ends_of_intervals(intervals: list[Any]) -> list[float]:
    """The upper bounds that mpmath found."""
    return [float(interval.b) for interval in intervals]


def on(operation: str, prepare: Callable[[str, int], Callable[[], object]]) -> Callable[..., Callable[[], object]]:
    """The set-up of a variant for one operation."""
    return lambda size: prepare(operation, size)


def scalar_case(operation: str) -> Case:
    """One number at a time."""
    return Case(
        name=f"{operation} up, scalars",
        parameters={"size": SCALARS},
        variants=[
            Variant("viameter", on(operation, viameter_scalar)),
            Variant("flint.arb", on(operation, flint_ball), environment="flint", read=upper_ends_of_balls),
            Variant("mpmath.iv", on(operation, mpmath_interval), environment="mpmath", read=upper_ends_of_intervals),
        ],
        units=SCALARS,
        unit="operation",
        tolerance=1e-14,
    )


def vector_case(operation: str, size: int) -> Case:
    """Whole arrays, and for the small one a loop over its elements."""
    return Case(
        name=f"{operation} up, vectors",
        parameters={"size": size},
        variants=[
            Variant("viameter", on(operation, viameter_vector)),
            Variant("plain numpy", on(operation, plain_numpy)),
            *([Variant("viameter, a loop over scalars", on(operation, viameter_scalar))] if size == SCALARS else []),
        ],
        units=size,
        unit="element",
        tolerance=1e-14,
    )


BENCHMARK = Benchmark(
    title="Directed arithmetic",
    about=(
        "Operations that round up. The peers return an enclosure, hence both bounds, where viameter's functions return "
        "the one that was asked for; turning floats into the numbers of the peers and back is not timed. Plain numpy "
        "rounds to nearest and promises nothing about `exp` and `log`: it is the floor, not a competitor."
    ),
    cases=[
        *(scalar_case(operation) for operation in OPERATIONS),
        *(vector_case(operation, size) for size in (SCALARS, 1_000_000) for operation in OPERATIONS),
    ],
)
