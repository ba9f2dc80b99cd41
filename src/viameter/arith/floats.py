"""Directed rounding of Python floats: each operation gives the float next to the exact real result, on the side named.

`add_up(a, b)` is the least float that is at least a + b; `add_down(a, b)` is the greatest float that is at most a + b;
so for every operation here. That float is unique, subnormals and overflow included: upward, a result above the largest
float is inf and one below the lowest float is that lowest float; downward is the mirror image. Zeros carry the sign
that IEEE-754 gives them (x - x is -0.0 downward).

An infinity may be an operand where the limit exists (inf + 1, 1 / inf, exp(-inf), log(0) = log(-0.0) = -inf,
log1p(-1) = -inf). Where it does not (inf - inf, 0 * inf, inf / inf, x / 0, the root or logarithm of a negative number,
0 to a negative power), and for NaN, `NumberError` is raised. x**0 is 1 for every x, as in IEEE-754.

MPFR does the work, with the precision and the exponent range of binary64. It rounds the exact result to 53 bits and
then, if that is subnormal, once more to the subnormal grid. Rounding twice is harmless when both roundings go the same
way: the subnormal grid is part of the 53-bit grid, and the least coarse point above x is also the least coarse point
above the least fine point above x.

The two contexts are shared by all threads and are only used through their methods, which read precision, range and
direction from the context itself, never from the thread's current context. The only thing they write are the context's
flags, which nobody reads.

MPFR computes with integers, but a float goes in and out of it through the floating-point unit, and there a thread in
which some library has switched on flush-to-zero loses subnormals, and with them the bound. Every call looks for that
and refuses. The direction in which the unit rounds does not matter here: all it does is exact.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, SupportsIndex

import gmpy2  # type: ignore[import-untyped]

from viameter.arith.text import show
from viameter.errors import NotExact, NumberError

__all__ = [
    "add_down",
    "add_up",
    "div_down",
    "div_up",
    "exp_down",
    "exp_up",
    "expm1_down",
    "expm1_up",
    "from_fraction_down",
    "from_fraction_up",
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
]

# MPFR writes numbers as 0.1xxx * 2**e, so its exponents are one above those of IEEE-754: the smallest subnormal,
# 2**-1074, has e = -1073, and the largest float, just below 2**1024, has e = 1024.
_UP = gmpy2.context(precision=53, emin=-1073, emax=1024, subnormalize=True, round=gmpy2.RoundUp)
_DOWN = gmpy2.context(precision=53, emin=-1073, emax=1024, subnormalize=True, round=gmpy2.RoundDown)

# Every float other than 0, ±1 and ±inf satisfies |log2|x|| > 2**-53, so that from this exponent on |x**n| is above
# 2**2048 or below 2**-2048, and which float it rounds to depends only on the sign and the parity of n.
_EXPONENT_ENOUGH = 2**64

_INF = math.inf

# Names, so that the product is computed when it is asked for and not when this file is compiled.
_LEAST_NORMAL, _HALF = 2.0**-1022, 0.5


def add_up(a: float, b: float) -> float:
    """The least float that is at least a + b."""
    return _binary("add_up", _UP.add, a, b)


def add_down(a: float, b: float) -> float:
    """The greatest float that is at most a + b."""
    return _binary("add_down", _DOWN.add, a, b)


def sub_up(a: float, b: float) -> float:
    """The least float that is at least a - b."""
    return _binary("sub_up", _UP.sub, a, b)


def sub_down(a: float, b: float) -> float:
    """The greatest float that is at most a - b."""
    return _binary("sub_down", _DOWN.sub, a, b)


def mul_up(a: float, b: float) -> float:
    """The least float that is at least a * b."""
    return _binary("mul_up", _UP.mul, a, b)


def mul_down(a: float, b: float) -> float:
    """The greatest float that is at most a * b."""
    return _binary("mul_down", _DOWN.mul, a, b)


def div_up(a: float, b: float) -> float:
    """The least float that is at least a / b."""
    return _divide("div_up", _UP.div, a, b)


def div_down(a: float, b: float) -> float:
    """The greatest float that is at most a / b."""
    return _divide("div_down", _DOWN.div, a, b)


def sqrt_up(x: float) -> float:
    """The least float that is at least the square root of x."""
    return _unary("sqrt_up", _UP.sqrt, x)


def sqrt_down(x: float) -> float:
    """The greatest float that is at most the square root of x."""
    return _unary("sqrt_down", _DOWN.sqrt, x)


def exp_up(x: float) -> float:
    """The least float that is at least e**x."""
    return _unary("exp_up", _UP.exp, x)


def exp_down(x: float) -> float:
    """The greatest float that is at most e**x."""
    return _unary("exp_down", _DOWN.exp, x)


def expm1_up(x: float) -> float:
    """The least float that is at least e**x - 1."""
    return _unary("expm1_up", _UP.expm1, x)


def expm1_down(x: float) -> float:
    """The greatest float that is at most e**x - 1."""
    return _unary("expm1_down", _DOWN.expm1, x)


def log_up(x: float) -> float:
    """The least float that is at least the natural logarithm of x."""
    return _unary("log_up", _UP.log, x)


def log_down(x: float) -> float:
    """The greatest float that is at most the natural logarithm of x."""
    return _unary("log_down", _DOWN.log, x)


def log1p_up(x: float) -> float:
    """The least float that is at least the natural logarithm of 1 + x."""
    return _unary("log1p_up", _UP.log1p, x)


def log1p_down(x: float) -> float:
    """The greatest float that is at most the natural logarithm of 1 + x."""
    return _unary("log1p_down", _DOWN.log1p, x)


def powi_up(x: float, n: int) -> float:
    """The least float that is at least x**n, for an integer n of any size and sign."""
    return _power("powi_up", _UP.pow, x, n)


def powi_down(x: float, n: int) -> float:
    """The greatest float that is at most x**n, for an integer n of any size and sign."""
    return _power("powi_down", _DOWN.pow, x, n)


def from_fraction_up(q: Fraction) -> float:
    """The least float that is at least q; zero gives 0.0."""
    exact = _fraction("from_fraction_up", q)
    near = _nearest(exact)
    return math.nextafter(near, _INF) if near < exact else near


def from_fraction_down(q: Fraction) -> float:
    """The greatest float that is at most q; zero gives 0.0."""
    exact = _fraction("from_fraction_down", q)
    near = _nearest(exact)
    return math.nextafter(near, -_INF) if near > exact else near


def exact_float(op: str, x: object) -> float:
    """The operand as a float, if it is a number and a float can hold it exactly."""
    _require_subnormals(op)
    if isinstance(x, float):
        if math.isnan(x):
            raise NumberError(f"{op} was given nan, which is not a number: find out where it comes from")
        return float(x)
    if isinstance(x, int) and not isinstance(x, bool):
        near = _nearest(Fraction(x))
        if near != x:
            raise NumberError(
                f"{op} was given the integer {show(Fraction(x))}, which no float equals: choose a side with "
                "from_fraction_up or from_fraction_down first"
            )
        return near
    raise NumberError(f"{op} was given {x!r} of type {type(x).__name__}: expected a float")


def exact_exponent(op: str, n: SupportsIndex) -> int:
    """The exponent as a Python integer, if it is an integer."""
    if not isinstance(n, bool):
        with contextlib.suppress(TypeError):
            return operator.index(n)
    raise NumberError(f"{op} was given the exponent {n!r} of type {type(n).__name__}: expected an integer")


def _require_subnormals(op: str) -> None:
    # True if subnormal results become zero, and also if subnormal operands, here of the comparison, are taken for zero.
    if _LEAST_NORMAL * _HALF == 0.0:
        raise NumberError(
            f"{op} cannot bound its result: in this thread the floating-point unit flushes subnormals to zero; "
            "expected IEEE-754 defaults, so call from a thread where no library changed them"
        )


def _unary(op: str, function: Callable[[float], Any], x: float) -> float:
    x = exact_float(op, x)
    return _defined(float(function(x)), op, x)


def _binary(op: str, function: Callable[[float, float], Any], a: float, b: float) -> float:
    a, b = exact_float(op, a), exact_float(op, b)
    return _defined(float(function(a, b)), op, a, b)


def _divide(op: str, function: Callable[[float, float], Any], a: float, b: float) -> float:
    a, b = exact_float(op, a), exact_float(op, b)
    if b == 0:
        raise _undefined(op, a, b)
    return _defined(float(function(a, b)), op, a, b)


def _power(op: str, function: Callable[[float, Any], Any], x: float, n: int) -> float:
    x, n = exact_float(op, x), exact_exponent(op, n)
    if x == 0:
        # Not left to MPFR: through gmpy2, (-0.0)**3 may come back as +0.0.
        if n < 0:
            raise _undefined(op, x, n)
        return 1.0 if n == 0 else x if n % 2 else 0.0
    if abs(n) > _EXPONENT_ENOUGH:
        enough = _EXPONENT_ENOUGH + n % 2
        n = enough if n > 0 else -enough
    return _defined(float(function(x, gmpy2.mpz(n))), op, x, n)


def _defined(result: float, op: str, *operands: float | int) -> float:
    if math.isnan(result):
        raise _undefined(op, *operands)
    return result


def _undefined(op: str, *operands: float | int) -> NumberError:
    shown = ", ".join(repr(x) if isinstance(x, float) else show(Fraction(x)) for x in operands)
    return NumberError(f"{op}({shown}) has no value: expected operands for which it is defined; check them first")


def _fraction(op: str, q: object) -> Fraction:
    _require_subnormals(op)
    if isinstance(q, float):
        raise NotExact("q", float(q))
    if isinstance(q, Fraction | int) and not isinstance(q, bool):
        return Fraction(q)
    raise NumberError(f"{op} was given {q!r} of type {type(q).__name__}: expected a Fraction")


def _nearest(q: Fraction) -> float:
    """The float nearest to q, or the infinity of its sign. Python divides integers with one correct rounding."""
    try:
        return q.numerator / q.denominator
    except OverflowError:
        return _INF if q > 0 else -_INF
