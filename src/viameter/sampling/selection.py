"""Selection: one candidate of many, by score, with precisely the stated probabilities.

Scores are exact numbers: an int64 array, or a float64 array, of which every element is the rational that it equals.
The scale is any positive rational. Which candidate comes out is a function of the scores and of the bits drawn: how
far the bits have to be read, and whether floats or integers decide, does not change it.

`exponential` compares one uniform number with the partial sums of the weights. Floats decide where it is further away
from them than twice what floats can be off (`_by_floats`); that fails about five times in a million calls with a
million candidates each. Then double-double decides (`_by_pairs`), which fails once in 2^47 such calls, and then
integers of more and more bits (`_by_integers`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, chain, repeat
from typing import Any, Protocol

import numpy as np

from viameter.arith import Number, exact
from viameter.arith.arrays import require_ieee
from viameter.core.deadlines import stop_if_given_up
from viameter.errors import NumberError, ParameterError, plain
from viameter.sampling.bernoulli import bernoulli_exp, geometric_exp, uniform_below
from viameter.sampling.engine import LARGEST
from viameter.sampling.entropy import SYSTEM, Entropy, Stream
from viameter.sampling.noise import LARGEST_SCALE, laplace_engine
from viameter.sampling.weights import FIXED_NEAR_ERROR_BITS, NEAR_DROPPED, NEAR_ERROR, Scores, Weights

_CHUNK = 1 << 14
_BLOCK = 1 << 10
"""Candidates whose weights are added up before anything else is; a chunk is a number of them."""
_FIRST_BITS = 64
_COIN_BITS = 32
_SMALLEST_SCALE = Fraction(1, 2**1000)
# Twice what a weight times 2^32 may be off, and the rounding of its difference from a word.
_COIN_MARGIN = 2.0**_COIN_BITS * (2 * NEAR_ERROR + 2 * NEAR_DROPPED)


class Pick(Protocol):
    """A function that picks one candidate."""

    def __call__(self, scores: Scores, scale: Number, *, entropy: Entropy = ...) -> int:
        """Its index."""


def exponential(scores: Scores, scale: Number, *, entropy: Entropy = SYSTEM) -> int:
    """The exponential mechanism: index i with probability exp(q_i/scale) / (sum over all j of exp(q_j/scale)).

    It is also the index of the largest q_i + Gumbel noise of that scale.

    >>> exponential(np.array([0, 100_000, 0]), 1)
    1
    """
    weights = Weights.of(_read_scores("exponential", scores), _read_scale(scale))
    stream = entropy.stream(_FIRST_BITS // 8)
    stages = chain(_STAGES, repeat(_by_integers))
    drawn, width = stream.bits(_FIRST_BITS), _FIRST_BITS
    while (index := next(stages)(weights, drawn, width)) is None:
        # As many bits again as there are: the number of stages stays small whatever they have to tell apart.
        drawn, width = drawn << width | stream.bits(width), 2 * width
    return index


def permute_and_flip(scores: Scores, scale: Number, *, entropy: Entropy = SYSTEM) -> int:
    """Permute-and-flip: the index of the largest q_i + exponential noise of that scale.

    Its definition (McKenna and Sheldon, 2020) is to go through the candidates in random order, to flip for each a coin
    with probability p_i = exp(-(max - q_i)/scale) of heads, and to return the first that shows heads. What is done here
    is to flip all coins and to return one of those that show heads, each with the same probability. These are the same.

    Proof. Coins and order are independent, and coins that are not looked at may be flipped as well. Let H be the set of
    those that show heads; it is not empty, since the largest score has p = 1. The first in the order that shows heads
    is the first of H in the order. Given the coins, and so H, the order is still uniform, and in a uniform order each
    element of H is first among H with probability 1/|H|.

    >>> permute_and_flip(np.array([0, 100_000, 0]), 1)
    1
    """
    weights = Weights.of(_read_scores("permute_and_flip", scores), _read_scale(scale))
    count = len(scores)
    stream = entropy.stream(count * _COIN_BITS // 8 + 8)
    heads = np.empty(count, dtype=np.bool_)
    with np.errstate(all="ignore"):
        for start in range(0, count, _CHUNK):
            stop_if_given_up()
            chances = weights.near(start, start + _CHUNK)
            words = stream.words(len(chances), _COIN_BITS)
            # The uniform number is in [word, word + 1) 2^-32: heads if all of that is below the chance.
            room = chances * 2.0**_COIN_BITS - words
            heads[start : start + _CHUNK] = room > 0.5
            open_ = (room > -_COIN_MARGIN) & (room < 1 + _COIN_MARGIN)
            for place in np.flatnonzero(open_).tolist():
                exponent = weights.exponent(start + place)
                heads[start + place] = bernoulli_exp(exponent, stream, drawn=int(words[place]), width=_COIN_BITS)
    shown = np.flatnonzero(heads)
    return int(shown[uniform_below(len(shown), stream)])


def noisy_max_laplace(scores: Scores, scale: Number, *, entropy: Entropy = SYSTEM) -> int:
    """Report noisy max: the index of the largest q_i + discrete Laplace noise of that scale, for integer scores.

    Of equal ones the first is taken. Sums are compared as integers without bounds. Where the scale is above 2^52 or
    below 2^-1000, noise is drawn one by one, which takes milliseconds for each candidate.

    >>> noisy_max_laplace(np.array([0, 100_000, 0]), 1)
    1
    """
    integers = _read_scores("noisy_max_laplace", scores)
    if integers.dtype != np.int64:
        raise ParameterError("noisy_max_laplace was given an array of float64: expected integer scores, as int64")
    number = _read_scale(scale)
    stream = entropy.stream(8 * len(integers))
    largest, index = 0, 0
    for start in range(0, len(integers), _CHUNK):
        total, place = _largest_sum(integers[start : start + _CHUNK], number, stream)
        if start == 0 or total > largest:
            largest, index = total, start + place
    return index


def top_k(scores: Scores, scale: Number, k: int, *, pick: Pick = exponential, entropy: Entropy = SYSTEM) -> list[int]:
    """Peeling: k picks, each among the candidates that are left, in the order in which they are picked.

    >>> top_k(np.array([0, 200_000, 100_000, -100_000]), 1, 3)
    [1, 2, 0]
    """
    left: Any = _read_scores("top_k", scores)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= len(left):
        raise ParameterError(f"k={plain(k)} is not a number of candidates to pick: expected 0 to {len(left)}")
    number = _read_scale(scale)
    indices = np.arange(len(left))
    picked: list[int] = []
    for _ in range(k):
        stop_if_given_up()
        place = pick(left, number, entropy=entropy)
        picked.append(int(indices[place]))
        left, indices = np.delete(left, place), np.delete(indices, place)
    return picked


def _read_scores(op: str, scores: Any) -> Scores:
    # Nothing here depends on a score. That floats are finite is for whoever makes them to see to; see `Weights.of`.
    require_ieee(op)
    if not isinstance(scores, np.ndarray) or scores.dtype not in (np.int64, np.float64):
        what = f"an array of {scores.dtype}" if isinstance(scores, np.ndarray) else type(scores).__name__
        raise ParameterError(f"{op} was given {what}: expected scores as a NumPy array of int64 or float64")
    if scores.ndim != 1 or not len(scores):
        raise ParameterError(f"{op} was given scores of shape {scores.shape}: expected a row of at least one")
    # A subclass may have its own idea of what a maximum is.
    return np.asarray(scores)


def _read_scale(scale: Number) -> Fraction:
    number = exact(scale, name="scale")
    if number <= 0:
        raise NumberError(f"scale={scale!s} is not above 0: a choice needs a positive scale")
    return number


# One uniform number u against partial sums: candidate i if sum(w_0 .. w_(i-1)) <= u sum(w) < sum(w_0 .. w_i).
# What is known of u is drawn <= u 2^width < drawn + 1. A stage returns None where that, or its accuracy, is not enough.


def _by_floats(weights: Weights, drawn: int, width: int) -> int | None:
    """Decide with float64.

    Adding up m numbers >= 0, in whatever order, is off by at most m 2^-53 of the sum, to first order. A partial sum
    here is one of at most M sums of blocks of B weights, and of at most B weights of one more block: it is off by at
    most (M + 2B) 2^-53 of the total, and by what the n weights are off. As the largest weight is exactly 1, the total
    is at least 1, and n NEAR_DROPPED is at most that part of it. That bounds both a partial sum and the total. To turn
    u into a float and to multiply it with the total adds less than 2^-51 of the total. So `error` bounds each of the
    two sides of a comparison, and twice the sum of the two is asked for.
    """
    count = len(weights.scores)
    blocks = -(-count // _BLOCK)
    sums = np.empty(blocks)
    starts = np.arange(0, _CHUNK, _BLOCK)
    with np.errstate(all="ignore"):
        for start in range(0, count, _CHUNK):
            stop_if_given_up()
            part = weights.near(start, start + _CHUNK)
            first = start // _BLOCK
            sums[first : first + len(starts)] = np.add.reduceat(part, starts[: -(-len(part) // _BLOCK)])
        ends = np.cumsum(sums)
        total = float(ends[-1])
        target = float(Fraction(drawn, 1 << width)) * total
        block = min(int(np.searchsorted(ends, target, side="right")), blocks - 1)
        before = float(ends[block - 1]) if block else 0.0
        inner = before + np.cumsum(weights.near(block * _BLOCK, (block + 1) * _BLOCK))
    place = min(int(np.searchsorted(inner, target, side="right")), len(inner) - 1)
    index = block * _BLOCK + place
    error = NEAR_ERROR + (blocks + 2 * _BLOCK) * 2.0**-53 + count * NEAR_DROPPED + 2.0**-51
    margin = 4 * error * total
    # The first candidate has no lower end that u could be below, and the last no upper one.
    above = index == 0 or (float(inner[place - 1]) if place else before) + margin <= target
    below = index == count - 1 or target + total * 2.0**-width + margin <= float(inner[place])
    return index if above and below else None


def _by_pairs(weights: Weights, drawn: int, width: int) -> int | None:
    """Decide with double-double; the relative error that is claimed is taken sixteen times."""
    fixed = weights.fixed_near()
    return _decided(fixed, 3 * len(fixed) + (sum(fixed) >> FIXED_NEAR_ERROR_BITS - 4), drawn, width)


def _by_integers(weights: Weights, drawn: int, width: int) -> int | None:
    """Decide with integers; with more bits it fails less often than any bound."""
    fixed = weights.fixed(width + len(weights.scores).bit_length() + 8)
    return _decided(fixed, 2 * len(fixed), drawn, width)


_STAGES: tuple[Callable[[Weights, int, int], int | None], ...] = (_by_floats, _by_pairs)


def _decided(fixed: list[int], error: int, drawn: int, width: int) -> int | None:
    """Decide with weights in some unit, of which every partial sum is off by at most `error` units."""
    ends = list(accumulate(fixed))
    total = ends[-1]
    index = min(bisect_right(ends, drawn * total >> width), len(ends) - 1)
    above = index == 0 or ends[index - 1] + error << width <= drawn * (total - error)
    below = index == len(ends) - 1 or (drawn + 1) * (total + error) <= ends[index] - error << width
    return index if above and below else None


class _Rest(Entropy):
    """A stream that has been started, where a source of streams is asked for."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def stream(self, size: int) -> Stream:
        return self._stream


def _largest_sum(scores: Scores, scale: Fraction, stream: Stream) -> tuple[int, int]:
    """Add noise; the largest sum, and the first place where it is."""
    if not _SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        noise = []
        for _ in range(len(scores)):
            stop_if_given_up()  # each of these may take milliseconds
            noise.append(_laplace(scale, stream))
    else:
        drawn = laplace_engine(scale).draw_many(len(scores), _Rest(stream))
        lowest, highest = int(drawn.min()), int(drawn.max())
        stopped = max(-lowest, highest) == LARGEST
        if not stopped and int(scores.min()) + lowest >= -LARGEST and int(scores.max()) + highest <= LARGEST:
            sums = scores + drawn
            place = int(sums.argmax())
            return int(sums[place]), place
        # Where noise was stopped at LARGEST, the rest of it is geometric: a geometric number has no memory.
        noise = [value + _rest(value, scale, stream) for value in drawn.tolist()]
    totals = [score + value for score, value in zip(scores.tolist(), noise, strict=True)]
    total = max(totals)
    return total, totals.index(total)


def _laplace(scale: Fraction, stream: Stream) -> int:
    """One draw of discrete Laplace noise of any scale: a geometric number and a sign, but 0 with one sign only."""
    while True:
        magnitude, negative = geometric_exp(1 / scale, stream), stream.bits(1)
        if magnitude or not negative:
            return -magnitude if negative else magnitude


def _rest(value: int, scale: Fraction, stream: Stream) -> int:
    """What is missing of noise that was stopped."""
    if abs(value) < LARGEST:
        return 0
    missing = geometric_exp(1 / scale, stream)
    return missing if value > 0 else -missing
