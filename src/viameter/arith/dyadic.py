"""Directed rounding of exact rationals to dyadic ones of `bits` bits, on the side named.

A dyadic rational is m * 2**e with integers m and e; here m has at most `bits` bits and the number is zero or has a
magnitude between 2**-EXPONENT_LIMIT and 2**EXPONENT_LIMIT. A number that is one already is not changed by rounding.

- Too large: beyond 2**EXPONENT_LIMIT there is no such number above, and `NumberError` is raised in both directions.
- Too small: a result strictly between 0 and 2**-EXPONENT_LIMIT becomes 2**-EXPONENT_LIMIT upward and 0 downward;
  a negative one is the mirror image, 0 upward and -2**-EXPONENT_LIMIT downward.

add, sub, mul, div, sqrt and the two roundings give the dyadic number next to the exact result. exp, expm1, log, log1p
and, where the exact power would be wide, powi give one that is on the side named and whose relative distance from the
exact result is at most 2 * 2**(1 - bits), that is two units in the last of `bits` places. They are computed by MPFR in
`bits` + more bits with every step rounded toward that side, and rounded once more to `bits` bits.

Why the working precision w is enough. The operand is rounded to w bits, relative error below 2**(1 - w), which moves
the result by at most `condition` * 2**(1 - w) relatively; MPFR's own rounding adds 2**(1 - w); the last rounding adds
2**(1 - bits). Each function below takes w so large that the first two are below 2**(1 - bits) together:

    exp, expm1    condition <= |x| + 1
    log           condition <= 1 / ln 2 outside [1/2, 2]; inside, log(q) = log1p(q - 1) with the exact q - 1,
                  whose condition is at most 1 / ln 2 as well, so that accuracy is kept where the logarithm is 0
    log1p         log of the exact 1 + x
    powi          condition = n
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, SupportsIndex

import gmpy2  # type: ignore[import-untyped]

from viameter.arith.floats import exact_exponent
from viameter.arith.text import show
from viameter.errors import NotExact, NumberError

__all__ = [
    "EXPONENT_LIMIT",
    "add_down",
    "add_up",
    "div_down",
    "div_up",
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
    "round_down",
    "round_up",
    "sqrt_down",
    "sqrt_up",
    "sub_down",
    "sub_up",
]

EXPONENT_LIMIT = 2**20
"""Magnitudes stay between 2**-EXPONENT_LIMIT and 2**EXPONENT_LIMIT."""

BITS = 128

# Extra bits of MPFR's work; the analysis above needs three.
_GUARD = 10

# Up to this many bits a power is computed exactly.
_EXACT_POWER_BITS = 2**15

# Longer operands than this, in bits, are described in errors instead of shown.
_LONGEST_SHOWN = 4096

_HALF, _TWO = Fraction(1, 2), Fraction(2)


class _Call(NamedTuple):
    """What was asked for, so that an error can say it."""

    op: str
    operands: tuple[Fraction, ...]

    def __str__(self) -> str:
        return f"{self.op}({', '.join(map(_shown, self.operands))})"


def round_up(q: Fraction, bits: int = BITS) -> Fraction:
    """The least dyadic number of at most `bits` bits that is at least q."""
    q = _exact("q", q)
    return _rounded(_Call("round_up", (q,)), q, bits, up=True)


def round_down(q: Fraction, bits: int = BITS) -> Fraction:
    """The greatest dyadic number of at most `bits` bits that is at most q."""
    q = _exact("q", q)
    return _rounded(_Call("round_down", (q,)), q, bits, up=False)


def add_up(a: Fraction, b: Fraction, *, bits: int = BITS) -> Fraction:
    """The least dyadic number of at most `bits` bits that is at least a + b."""
    return _arithmetic("add_up", operator.add, a, b, bits, up=True)


def add_down(a: Fraction, b: Fraction, *, bits: int = BITS) -> Fraction:
    """The greatest dyadic number of at most `bits` bits that is at most a + b."""
    return _arithmetic("add_down", operator.add, a, b, bits, up=False)


def sub_up(a: Fraction, b: Fraction, *, bits: int = BITS) -> Fraction:
    """The least dyadic number of at most `bits` bits that is at least a - b."""
    return _arithmetic("sub_up", operator.sub, a, b, bits, up=True)


def sub_down(a: Fraction, b: Fraction, *, bits: int = BITS) -> Fraction:
    """The greatest dyadic number of at most `bits` bits that is at most a - b."""
    return _arithmetic("sub_down", operator.sub, a, b, bits, up=False)


def mul_up(a: Fraction, b: Fraction, *, bits: int = BITS) -> Fraction:
    """The least dyadic number of at most `bits` bits that is at least a * b."""
    return _arithmetic("mul_up", operator.mul, a, b, bits, up=True)


def mul_down(a: Fraction, b: Fraction, *, bits: int = BITS) -> Fraction:
    """The greatest dyadic number of at most `bits` bits that is at most a * b."""
    return _arithmetic("mul_down", operator.mul, a, b, bits, up=False)


def div_up(a: Fraction, b: Fraction, *, bits: int = BITS) -> Fraction:
    """The least dyadic number of at most `bits` bits that is at least a / b."""
    return _arithmetic("div_up", operator.truediv, a, b, bits, up=True)


def div_down(a: Fraction, b: Fraction, *, bits: int = BITS) -> Fraction:
    """The greatest dyadic number of at most `bits` bits that is at most a / b."""
    return _arithmetic("div_down", operator.truediv, a, b, bits, up=False)


def sqrt_up(x: Fraction, *, bits: int = BITS) -> Fraction:
    """The least dyadic number of at most `bits` bits that is at least the square root of x."""
    return _root("sqrt_up", x, bits, up=True)


def sqrt_down(x: Fraction, *, bits: int = BITS) -> Fraction:
    """The greatest dyadic number of at most `bits` bits that is at most the square root of x."""
    return _root("sqrt_down", x, bits, up=False)


def exp_up(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just above e**x."""
    return _exponential("exp_up", "exp", x, bits, up=True)


def exp_down(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just below e**x."""
    return _exponential("exp_down", "exp", x, bits, up=False)


def expm1_up(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just above e**x - 1."""
    return _exponential("expm1_up", "expm1", x, bits, up=True)


def expm1_down(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just below e**x - 1."""
    return _exponential("expm1_down", "expm1", x, bits, up=False)


def log_up(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just above the natural logarithm of x."""
    return _logarithm("log_up", x, 0, bits, up=True)


def log_down(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just below the natural logarithm of x."""
    return _logarithm("log_down", x, 0, bits, up=False)


def log1p_up(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just above the natural logarithm of 1 + x."""
    return _logarithm("log1p_up", x, 1, bits, up=True)


def log1p_down(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just below the natural logarithm of 1 + x."""
    return _logarithm("log1p_down", x, 1, bits, up=False)


def powi_up(x: Fraction, n: int, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just above x**n, for an integer n of any size and sign."""
    return _power("powi_up", x, n, bits, up=True)


def powi_down(x: Fraction, n: int, *, bits: int = BITS) -> Fraction:
    """A dyadic number at or just below x**n, for an integer n of any size and sign."""
    return _power("powi_down", x, n, bits, up=False)


def _arithmetic(
    op: str, function: Callable[[Fraction, Fraction], Fraction], a: Fraction, b: Fraction, bits: int, *, up: bool
) -> Fraction:
    call = _Call(op, (_exact("a", a), _exact("b", b)))
    if function is operator.truediv and b == 0:
        raise NumberError(f"{call} divides by zero: expected a divisor other than 0")
    return _rounded(call, function(*call.operands), bits, up=up)


def _root(op: str, x: Fraction, bits: int, *, up: bool) -> Fraction:
    x, bits = _exact("x", x), _checked_bits(op, bits)
    call = _Call(op, (x,))
    if x < 0:
        raise NumberError(f"{call} has no value: expected an operand >= 0")
    if x == 0:
        return x
    # floor(sqrt(x) * 2**shift) has more than `bits` bits, so rounding it, or the integer above it, is rounding sqrt(x).
    shift = bits + 1 - _floor_log2(x) // 2
    scaled = x * _TWO ** (2 * shift)
    root = math.isqrt(scaled.numerator // scaled.denominator)
    if up and root * root != scaled:
        root += 1
    return _rounded(call, root / _TWO**shift, bits, up=up)


def _exponential(op: str, function: str, x: Fraction, bits: int, *, up: bool) -> Fraction:
    x, bits = _exact("x", x), _checked_bits(op, bits)
    call = _Call(op, (x,))
    if x > EXPONENT_LIMIT:
        raise _too_large(call)
    # Below -EXPONENT_LIMIT e**x is too small to matter, and so is how well it is known.
    condition = math.ceil(min(abs(x), Fraction(EXPONENT_LIMIT))) + 1
    context = _context(bits + condition.bit_length() + _GUARD, up=up)
    return _outward(call, getattr(context, function), context, x, bits, up=up)


def _logarithm(op: str, x: Fraction, plus: int, bits: int, *, up: bool) -> Fraction:
    x, bits = _exact("x", x), _checked_bits(op, bits)
    call = _Call(op, (x,))
    x += plus
    if x <= 0:
        raise NumberError(f"{call} has no value: expected an operand above {-plus}")
    context = _context(bits + _GUARD, up=up)
    if _HALF <= x <= _TWO:
        return _outward(call, context.log1p, context, x - 1, bits, up=up)
    return _outward(call, context.log, context, x, bits, up=up)


def _power(op: str, x: Fraction, n: SupportsIndex, bits: int, *, up: bool) -> Fraction:
    x, n, bits = _exact("x", x), exact_exponent(op, n), _checked_bits(op, bits)
    call = _Call(op, (x, Fraction(n)))
    if n < 0:
        if x == 0:
            raise NumberError(f"{call} divides by zero: expected a base other than 0")
        x, n = 1 / x, -n
    if x in {-1, 0, 1}:
        return x ** min(n, 2 + n % 2)
    if n * max(x.numerator.bit_length(), x.denominator.bit_length()) <= _EXACT_POWER_BITS:
        return _rounded(call, x**n, bits, up=up)
    # |x|**n increases with |x|, as `_outward` needs; a negative power is the mirror image of a positive one.
    negative = x < 0 and n % 2 == 1
    up_in_magnitude = up != negative
    context = _context(bits + n.bit_length() + _GUARD, up=up_in_magnitude)
    magnitude = _outward(call, lambda y: context.pow(y, gmpy2.mpz(n)), context, abs(x), bits, up=up_in_magnitude)
    return -magnitude if negative else magnitude


def _outward(
    call: _Call, function: Callable[[Any], Any], context: Any, x: Fraction, bits: int, *, up: bool
) -> Fraction:
    """An increasing function of x: the operand, the function and the result are all rounded the same way."""
    operand = gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator), 0, context)
    result = function(operand)
    if result.is_infinite():
        raise _too_large(call)
    mantissa, exponent = map(int, result.as_mantissa_exp())
    # MPFR's exponents reach far beyond ours: such a number is never written out, it would fill the memory.
    if mantissa and mantissa.bit_length() + exponent > EXPONENT_LIMIT + 1:
        raise _too_large(call)
    if mantissa and mantissa.bit_length() + exponent < -EXPONENT_LIMIT:
        mantissa, exponent = (1 if mantissa > 0 else -1), -EXPONENT_LIMIT - 1
    return _rounded(call, mantissa * _TWO**exponent, bits, up=up)


def _rounded(call: _Call, q: Fraction, bits: int, *, up: bool) -> Fraction:
    bits = _checked_bits(call.op, bits)
    if q > 0:
        return _rounded_positive(call, q, bits, up=up)
    if q < 0:
        return -_rounded_positive(call, -q, bits, up=not up)
    return q


def _rounded_positive(call: _Call, q: Fraction, bits: int, *, up: bool) -> Fraction:
    exponent = _floor_log2(q)
    if exponent >= EXPONENT_LIMIT and q != _TWO**EXPONENT_LIMIT:
        raise _too_large(call)
    if exponent < -EXPONENT_LIMIT:
        return _TWO**-EXPONENT_LIMIT if up else Fraction(0)
    # q * 2**shift is at least 2**(bits - 1) and below 2**bits.
    shift = bits - 1 - exponent
    mantissa, rest = divmod(q.numerator << max(shift, 0), q.denominator << max(-shift, 0))
    if up and rest:
        mantissa += 1
    return Fraction(mantissa << max(-shift, 0), 1 << max(shift, 0))


def _floor_log2(q: Fraction) -> int:
    """The integer e with 2**e <= |q| < 2**(e + 1)."""
    numerator, denominator = abs(q.numerator), q.denominator
    exponent = numerator.bit_length() - denominator.bit_length()
    if numerator << max(-exponent, 0) < denominator << max(exponent, 0):
        return exponent - 1
    return exponent


def _context(precision: int, *, up: bool) -> Any:
    return gmpy2.context(
        precision=precision,
        round=gmpy2.RoundUp if up else gmpy2.RoundDown,
        emin=gmpy2.get_emin_min(),
        emax=gmpy2.get_emax_max(),
    )


def _exact(name: str, value: object) -> Fraction:
    if isinstance(value, float):
        raise NotExact(name, float(value))
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        return Fraction(value)
    raise NumberError(f"{name}={value!r} is of type {type(value).__name__}: expected a Fraction")


def _checked_bits(op: str, bits: int) -> int:
    if isinstance(bits, bool) or not isinstance(bits, int) or bits < 2:
        raise NumberError(f"{op} was given bits={bits!r}: expected an integer of at least 2")
    return bits


def _shown(q: Fraction) -> str:
    # Digits of a number of a million bits take a second, and nobody reads them.
    if max(q.numerator.bit_length(), q.denominator.bit_length()) <= _LONGEST_SHOWN:
        return show(q)
    return f"about {'-' if q < 0 else ''}2**{_floor_log2(q)}"


def _too_large(call: _Call) -> NumberError:
    return NumberError(
        f"{call} has a magnitude above 2**{EXPONENT_LIMIT}, the largest this library holds: expected smaller operands"
    )
