"""Directed rounding of float64 arrays: element by element, bit for bit, what `floats` gives, and far faster.

Operands are float64 arrays, or anything else whose numbers float64 holds exactly; they broadcast as they do for NumPy;
the result is a new float64 array. Where `floats` refuses any element, for NaN or an undefined result, so does the
vector form, with the same error.

How it works. NumPy gives each result rounded to nearest, or nearly so; an error-free transformation or a value in
double-double then tells on which side of that float the exact result is; and if it is on the side that is asked for,
the float is replaced by its neighbor there. What cannot be told that way goes to the scalar form: values in
double-double that are too close to a float, and results of exp, expm1 and powi near the ends of the range.

For * / and sqrt the side is found on mantissas scaled by powers of two to around 1, where nothing overflows or
underflows, against NumPy's result scaled likewise. That result may be subnormal, infinite or zero, and so rounded on a
coarser grid than the mantissas: the side is still right, since it is that of the exact result against the float that
will be moved, not against an intermediate one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from viameter.arith import elementary, floats
from viameter.arith.arrays import Floats, float64_array, require_ieee
from viameter.arith.double_double import two_prod, two_sum
from viameter.arith.elementary import Near
from viameter.arith.exact_sum import exact_sum
from viameter.errors import NumberError

__all__ = [
    "add_down",
    "add_up",
    "div_down",
    "div_up",
    "exact_sum",
    "exp_down",
    "exp_up",
    "expm1_down",
    "expm1_up",
    "log1p_down",
    "log1p_up",
    "log_down",
    "log_up",
    "mul_down",
    "mul_up",
    "powi_down",
    "powi_up",
    "sqrt_down",
    "sqrt_up",
    "sub_down",
    "sub_up",
    "sum_down",
    "sum_up",
]

Kernel: TypeAlias = Callable[..., Near]

# Elements computed at once: so few that the intermediate arrays stay in the processor's cache.
_BLOCK = 8192

_INF = math.inf


def add_up(a: ArrayLike, b: ArrayLike) -> Floats:
    """The least floats that are at least a + b."""
    return _directed(_add, floats.add_up, _INF, a, b)


def add_down(a: ArrayLike, b: ArrayLike) -> Floats:
    """The greatest floats that are at most a + b."""
    return _directed(_add_mirrored, floats.add_down, -_INF, a, b)


def sub_up(a: ArrayLike, b: ArrayLike) -> Floats:
    """The least floats that are at least a - b."""
    return _directed(_sub, floats.sub_up, _INF, a, b)


def sub_down(a: ArrayLike, b: ArrayLike) -> Floats:
    """The greatest floats that are at most a - b."""
    return _directed(_sub_mirrored, floats.sub_down, -_INF, a, b)


def mul_up(a: ArrayLike, b: ArrayLike) -> Floats:
    """The least floats that are at least a * b."""
    return _directed(_mul, floats.mul_up, _INF, a, b)


def mul_down(a: ArrayLike, b: ArrayLike) -> Floats:
    """The greatest floats that are at most a * b."""
    return _directed(_mul, floats.mul_down, -_INF, a, b)


def div_up(a: ArrayLike, b: ArrayLike) -> Floats:
    """The least floats that are at least a / b."""
    return _directed(_div, floats.div_up, _INF, a, b)


def div_down(a: ArrayLike, b: ArrayLike) -> Floats:
    """The greatest floats that are at most a / b."""
    return _directed(_div, floats.div_down, -_INF, a, b)


def sqrt_up(x: ArrayLike) -> Floats:
    """The least floats that are at least the square roots of x."""
    return _directed(_sqrt, floats.sqrt_up, _INF, x)


def sqrt_down(x: ArrayLike) -> Floats:
    """The greatest floats that are at most the square roots of x."""
    return _directed(_sqrt, floats.sqrt_down, -_INF, x)


def exp_up(x: ArrayLike) -> Floats:
    """The least floats that are at least e**x."""
    return _directed(elementary.exp, floats.exp_up, _INF, x)


def exp_down(x: ArrayLike) -> Floats:
    """The greatest floats that are at most e**x."""
    return _directed(elementary.exp, floats.exp_down, -_INF, x)


def expm1_up(x: ArrayLike) -> Floats:
    """The least floats that are at least e**x - 1."""
    return _directed(elementary.expm1, floats.expm1_up, _INF, x)


def expm1_down(x: ArrayLike) -> Floats:
    """The greatest floats that are at most e**x - 1."""
    return _directed(elementary.expm1, floats.expm1_down, -_INF, x)


def log_up(x: ArrayLike) -> Floats:
    """The least floats that are at least the natural logarithms of x."""
    return _directed(elementary.log, floats.log_up, _INF, x)


def log_down(x: ArrayLike) -> Floats:
    """The greatest floats that are at most the natural logarithms of x."""
    return _directed(elementary.log, floats.log_down, -_INF, x)


def log1p_up(x: ArrayLike) -> Floats:
    """The least floats that are at least the natural logarithms of 1 + x."""
    return _directed(elementary.log1p, floats.log1p_up, _INF, x)


def log1p_down(x: ArrayLike) -> Floats:
    """The greatest floats that are at most the natural logarithms of 1 + x."""
    return _directed(elementary.log1p, floats.log1p_down, -_INF, x)


def powi_up(x: ArrayLike, n: int) -> Floats:
    """The least floats that are at least x**n, for one integer n of any size and sign."""
    n = floats.exact_exponent("powi_up", n)
    return _directed(partial(_powi, n=n), partial(floats.powi_up, n=n), _INF, x)


def powi_down(x: ArrayLike, n: int) -> Floats:
    """The greatest floats that are at most x**n, for one integer n of any size and sign."""
    n = floats.exact_exponent("powi_down", n)
    return _directed(partial(_powi, n=n), partial(floats.powi_down, n=n), -_INF, x)


def sum_up(a: ArrayLike) -> float:
    """The least float that is at least the exact sum of all elements; 0.0 for a sum of zero or of nothing."""
    infinite = _infinite_sum("sum_up", a)
    return floats.from_fraction_up(exact_sum(a)) if infinite is None else infinite


def sum_down(a: ArrayLike) -> float:
    """The greatest float that is at most the exact sum of all elements; 0.0 for a sum of zero or of nothing."""
    infinite = _infinite_sum("sum_down", a)
    return floats.from_fraction_down(exact_sum(a)) if infinite is None else infinite


def _infinite_sum(op: str, a: ArrayLike) -> float | None:
    """The sum if an element is infinite, or None if all are finite."""
    numbers = float64_array(op, a)
    if np.isnan(numbers).any():
        raise NumberError(f"{op} was given nan, which is not a number: find out where it comes from")
    positive, negative = bool((numbers == _INF).any()), bool((numbers == -_INF).any())
    if positive and negative:
        raise NumberError(f"{op} was given both inf and -inf, whose sum has no value: expected at most one of them")
    return _INF if positive else -_INF if negative else None


def _directed(kernel: Kernel, scalar: Callable[..., float], toward: float, *operands: ArrayLike) -> Floats:
    op = _name(scalar)
    require_ieee(op)
    arrays = [float64_array(op, operand) for operand in operands]
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise NumberError(f"{op} was given arrays of shapes {shapes}: expected shapes that broadcast") from None
    flat = [np.broadcast_to(array, shape).ravel() for array in arrays]
    result = np.empty(math.prod(shape))
    # Infinities, overflow and division by zero are part of the method; what is undefined is refused below.
    with np.errstate(all="ignore"):
        for start in range(0, result.size, _BLOCK):
            block = [array[start : start + _BLOCK] for array in flat]
            result[start : start + _BLOCK] = _directed_block(kernel, scalar, toward, block)
    return result.reshape(shape)


def _directed_block(kernel: Kernel, scalar: Callable[..., float], toward: float, operands: list[Floats]) -> Floats:
    near = kernel(*operands)
    beyond = near.error > 0.0 if toward > 0.0 else near.error < 0.0
    result = np.nextafter(near.value, toward, out=near.value.copy(), where=beyond)
    for index in np.flatnonzero(near.unsure | np.isnan(near.value)).tolist():
        result[index] = scalar(*(float(operand[index]) for operand in operands))
    return result


def _name(scalar: Callable[..., float]) -> str:
    function = scalar.func if isinstance(scalar, partial) else scalar
    return str(function.__name__)


def _add(a: Floats, b: Floats) -> Near:
    total, error = two_sum(a, b)
    return _settled(total, error, a, b)


def _add_mirrored(a: Floats, b: Floats) -> Near:
    # Downward is upward in a mirror, also for zeros: x - x is +0.0 to nearest and upward, and -0.0 downward.
    near = _add(-a, -b)
    return Near(-near.value, -near.error, near.unsure)


def _sub(a: Floats, b: Floats) -> Near:
    return _add(a, -b)


def _sub_mirrored(a: Floats, b: Floats) -> Near:
    return _add_mirrored(a, -b)


def _mul(a: Floats, b: Floats) -> Near:
    product = a * b
    (a_part, a_exponent), (b_part, b_exponent) = np.frexp(a), np.frexp(b)
    high, low = two_prod(a_part, b_part)
    # high - scaled is exact: it is 0 unless the product is subnormal, and then both are multiples of the last bit of
    # high and their difference is no larger than high.
    scaled = np.ldexp(product, -(a_exponent + b_exponent))
    return _settled(product, (high - scaled) + low, a, b)


def _div(a: Floats, b: Floats) -> Near:
    quotient = a / b
    (a_part, a_exponent), (b_part, b_exponent) = np.frexp(a), np.frexp(b)
    scaled = np.ldexp(quotient, b_exponent - a_exponent)
    high, low = two_prod(scaled, b_part)
    # a - quotient * b; a_part - high is exact, since high is 0 or between half and twice a_part (Sterbenz).
    residual = (a_part - high) - low
    near = _settled(quotient, np.copysign(1.0, b_part) * residual, a, b)
    near.settle(b == 0.0, math.nan, 0.0)
    return near


def _sqrt(x: Floats) -> Near:
    root = np.sqrt(x)
    part, exponent = np.frexp(x)
    half = exponent >> 1
    part = np.ldexp(part, exponent - 2 * half)
    scaled = np.ldexp(root, -half)
    high, low = two_prod(scaled, scaled)
    return _settled(root, (part - high) - low, x)


def _powi(x: Floats, n: int) -> Near:
    if n == 0:
        return _exact(np.where(np.isnan(x), x, 1.0))
    if n == 1:
        return _exact(x)
    if n == 2:
        return _mul(x, x)
    if n == -1:
        return _div(np.ones_like(x), x)
    if abs(n) > elementary.LARGEST_POWER:
        return Near(x, x, np.ones(x.shape, dtype=np.bool_))
    return elementary.powi(x, n)


def _exact(value: Floats) -> Near:
    return Near(value, np.zeros_like(value), np.zeros(value.shape, dtype=np.bool_))


def _settled(value: Floats, error: Floats, *operands: Floats) -> Near:
    """The error term of a transformation, mended where an infinity spoiled it."""
    spoiled = ~np.isfinite(error)
    near = Near(value, error, spoiled)
    if spoiled.any():
        # Overflow: the exact result is finite, so that it is on the near side of the infinity.
        near.settle(spoiled & np.isinf(value), value, -value)
        for operand in operands:
            near.settle(np.isinf(operand), value, 0.0)
    return near
