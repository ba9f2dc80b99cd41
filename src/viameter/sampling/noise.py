"""Discrete noise of any rational scale: the functions that others call, and the tables that they keep.

Tables are kept for the `KEPT` scales used last. One takes at most 200 kB, so that all take at most 13 MB. They hold
nothing that was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import overload

import numpy as np
import numpy.typing as npt

from viameter.arith import Number, as_given, exact
from viameter.errors import NumberError, ParameterError, plain
from viameter.sampling import bernoulli as _one
from viameter.sampling.engine import Engine
from viameter.sampling.entropy import SYSTEM, Entropy
from viameter.sampling.families import Family, Gaussian, Laplace

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

KEPT = 64
LARGEST_SCALE = 2**52
MOST_DRAWS = 2**48
ROWS = 511
"""Rows of cells for each sign: with the two tails they fill 1024 columns."""

# How far the cells reach, in scales; beyond are the tails, which are drawn exactly too, but one by one.
_LAPLACE_REACH = Fraction(16)
_GAUSSIAN_REACH = Fraction(6)


def read_scale(scale: Number) -> Fraction:
    """Take a scale: a positive rational up to 2^52."""
    number = exact(scale, name="scale")
    if number <= 0:
        raise NumberError(f"scale={as_given(scale)} is not above 0: noise needs a positive scale")
    if number > LARGEST_SCALE:
        raise NumberError(
            f"scale={as_given(scale)} is above 2^52: noise of that scale does not fit into 64 bits safely"
        )
    return number


def _cut(kind: type[Family], scale: Fraction, reach: Fraction, rows: int = ROWS) -> Family:
    """Cells that reach so far: single values where they suffice, else the narrowest intervals that do."""
    shift = 0
    while (rows << shift) < reach * scale:
        shift += 1
    needed = -(-reach * scale // (1 << shift))
    return kind(scale, max(1, min(rows, int(needed))), shift)


@lru_cache(maxsize=KEPT)
def laplace_engine(scale: Fraction) -> Engine:
    """The engine for discrete Laplace noise of a scale."""
    return Engine(_cut(Laplace, scale, _LAPLACE_REACH))


@lru_cache(maxsize=KEPT)
def gaussian_engine(scale: Fraction) -> Engine:
    """The engine for discrete Gaussian noise of a scale."""
    return Engine(_cut(Gaussian, scale, _GAUSSIAN_REACH))


@lru_cache(maxsize=KEPT, typed=True)
def _as_written(make: Callable[[Fraction], Engine], scale: Number) -> Engine:
    # By what was written: to read a number again, and to hash a Fraction, would take longer than a draw.
    return make(read_scale(scale))


def _engine(make: Callable[[Fraction], Engine], scale: Number | None) -> Engine:
    if scale is None:
        raise ParameterError("scale is missing: draw(1000, 20) draws a thousand of scale 20, draw(scale=20) one")
    try:
        return _as_written(make, scale)
    except TypeError:  # what has no hash is read by itself, and refused with an error of this library
        return make(read_scale(scale))


@overload
def discrete_laplace(n: None = None, *, scale: Number, entropy: Entropy = ...) -> int: ...
@overload
def discrete_laplace(n: int, scale: Number, *, entropy: Entropy = ...) -> Ints: ...
def discrete_laplace(n: int | None = None, scale: Number | None = None, *, entropy: Entropy = SYSTEM) -> int | Ints:
    """Draws X with P(X = x) proportional to exp(-|x|/scale): `n` of them as int64, or one int.

    >>> noise = discrete_laplace(1000, "2.5")
    >>> noise.shape, noise.dtype, isinstance(discrete_laplace(scale=10), int)
    ((1000,), dtype('int64'), True)
    """
    return _draw(_engine(laplace_engine, scale), n, entropy)


@overload
def discrete_gaussian(n: None = None, *, scale: Number, entropy: Entropy = ...) -> int: ...
@overload
def discrete_gaussian(n: int, scale: Number, *, entropy: Entropy = ...) -> Ints: ...
def discrete_gaussian(n: int | None = None, scale: Number | None = None, *, entropy: Entropy = SYSTEM) -> int | Ints:
    """Draws X with P(X = x) proportional to exp(-x^2/(2 scale^2)): `n` of them as int64, or one int.

    >>> noise = discrete_gaussian(1000, "2.5")
    >>> noise.shape, noise.dtype, isinstance(discrete_gaussian(scale=10), int)
    ((1000,), dtype('int64'), True)
    """
    return _draw(_engine(gaussian_engine, scale), n, entropy)


@overload
def geometric(n: None = None, *, scale: Number, entropy: Entropy = ...) -> int: ...
@overload
def geometric(n: int, scale: Number, *, entropy: Entropy = ...) -> Ints: ...
def geometric(n: int | None = None, scale: Number | None = None, *, entropy: Entropy = SYSTEM) -> int | Ints:
    """Draws G >= 0 with P(G = g) proportional to exp(-g/scale): `n` of them as int64, or one int.

    >>> bool((geometric(1000, 3) >= 0).all())
    True
    """
    # Discrete Laplace noise is G or -(G + 1), and which of the two does not depend on G.
    drawn = _draw(_engine(laplace_engine, scale), n, entropy)
    return (
        drawn if isinstance(drawn, int) and drawn >= 0 else ~drawn if isinstance(drawn, int) else drawn ^ (drawn >> 63)
    )


@overload
def bernoulli(n: None = None, *, probability: Number, entropy: Entropy = ...) -> bool: ...
@overload
def bernoulli(n: int, probability: Number, *, entropy: Entropy = ...) -> Bools: ...
def bernoulli(n: int | None = None, probability: Number = "1/2", *, entropy: Entropy = SYSTEM) -> bool | Bools:
    """True with exactly this rational probability: `n` times as an array, or once.

    >>> bernoulli(probability=1), bernoulli(3, 0).tolist()
    (True, [False, False, False])
    """
    chance = exact(probability, name="probability")
    if not 0 <= chance <= 1:
        raise NumberError(f"probability={as_given(probability)} is not between 0 and 1")
    if n is None:
        return _one.bernoulli(chance, entropy.stream(8))
    n = read_count(n)
    stream = entropy.stream(4 * n)
    words = stream.words(n, 32)
    # Words whose 32 bits are the first of the probability do not decide.
    first = (chance.numerator << 32) // chance.denominator
    drawn: Bools = words < first
    for place in np.flatnonzero(words == first).tolist():
        rest = chance * (1 << 32) - first
        drawn[place] = _one.bernoulli(rest, stream)
    return drawn


def bernoulli_exp(exponent: Number, *, entropy: Entropy = SYSTEM) -> bool:
    """True with probability exactly exp(-exponent).

    >>> bernoulli_exp(0)
    True
    """
    number = exact(exponent, name="exponent")
    if number < 0:
        raise NumberError(f"exponent={as_given(exponent)} is negative: exp(-exponent) would be above 1")
    return _one.bernoulli_exp(number, entropy.stream(8))


def uniform_below(bound: int, *, entropy: Entropy = SYSTEM) -> int:
    """An integer from 0 to bound - 1, each with the same probability.

    >>> uniform_below(1)
    0
    """
    if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
        raise NumberError(f"bound={_written(bound)} is not a whole number >= 1")
    return _one.uniform_below(bound, entropy.stream((bound.bit_length() + 7) // 8))


def read_count(n: int) -> int:
    """Take a number of draws."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise ParameterError(f"n={_written(n)} is not a number of draws: expected a whole number >= 0")
    if n > MOST_DRAWS:
        raise ParameterError(f"n={as_given(n)} is more draws than any memory holds: draw them in parts")
    return int(n)


def _written(value: object) -> str:
    """A value as Python writes it, unless it is a number of more digits than Python writes."""
    text = as_given(value)
    return text if text.startswith("(a number") else plain(value)


def _draw(engine: Engine, n: int | None, entropy: Entropy) -> int | Ints:
    return engine.draw(entropy) if n is None else engine.draw_many(read_count(n), entropy)
