"""Whether a matrix of exact distances is an extended pseudometric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from viameter.arith import INFINITY, Extended
from viameter.errors import ParameterError

# Sums of two distances below this one, or of it and itself, are exact in 64 bits.
_FAR = 2**61


def refuse_what_is_no_pseudometric(members: Sequence[Any], rows: Sequence[Sequence[Extended]]) -> None:
    """Refuse distances that are not 0 from a member to itself, are not symmetric, or are longer than a detour."""
    count = range(len(members))
    for i in count:
        if rows[i][i] != 0:
            raise ParameterError(f"the distance of {members[i]!r} from itself is {rows[i][i]}: expected 0")
        for j in range(i):
            if rows[i][j] != rows[j][i]:
                raise ParameterError(
                    f"the metric is not symmetric: {rows[i][j]} from {members[i]!r} to {members[j]!r}, "
                    f"but {rows[j][i]} back; expected a symmetric one"
                )
    found = _shorter_detour(rows)
    if found is not None:
        i, via, j = found
        raise ParameterError(
            f"the triangle inequality fails: {rows[i][j]} from {members[i]!r} to {members[j]!r}, but "
            f"{rows[i][via]} + {rows[via][j]} by way of {members[via]!r}; expected no detour to be shorter"
        )


def plus(one: Extended, other: Extended) -> Extended:
    """The sum of two distances, also where one is infinite and the other one too large for a float."""
    return INFINITY if INFINITY in (one, other) else Fraction(one) + Fraction(other)


def _shorter_detour(rows: Sequence[Sequence[Extended]]) -> tuple[int, int, int] | None:
    scale = math.lcm(*(Fraction(far).denominator for row in rows for far in row if far != INFINITY))
    if max((far * scale for row in rows for far in row if far != INFINITY), default=0) < _FAR // 4:
        whole = [[_FAR if far == INFINITY else int(far * scale) for far in row] for row in rows]
        matrix = np.array(whole, dtype=np.int64).reshape(len(rows), len(rows))
        for via in range(len(rows)):
            wrong = np.argwhere(matrix[:, via, None] + matrix[None, via, :] < matrix)
            if wrong.size:
                i, j = wrong[0]
                return int(i), via, int(j)
        return None
    every = range(len(rows))
    triples = product(every, every, every)
    return next(((i, v, j) for i, v, j in triples if plus(rows[i][v], rows[v][j]) < rows[i][j]), None)
