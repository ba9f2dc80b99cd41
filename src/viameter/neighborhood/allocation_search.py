"""The search of an allocation, in floats: amounts of least weighted error under rows, and what no amounts can beat.

Amounts z > 0 are to have the least f(z) = sum of w_i / z_i^p with A z <= 1, A being rows of coefficients >= 0 of which
every column has a positive one. For shares m of the rows, which add to 1, every such z has c z <= 1 with c = A^T m;
under that one row the least f is in closed form, S^(p + 1) with S = sum of (w_i c_i^p)^(1/(p + 1)), and it bounds f
from below. The best shares make the two meet.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MARGIN = 2.0**-44
"""What a lower bound gives way for rounding, relatively, for each leaf and each row and 64 times more."""

_STEPS = 80
_DONE = 1e-13
_CENTERING = 0.1
_TO_THE_EDGE = 0.99
_SHORTEST = 1e-10


def best_under(rows: Floats, weights: Floats, power: int, start: Floats) -> tuple[Floats, Floats]:
    """Amounts of about the least error under the rows, and shares of the rows whose bound is about the largest.

    `start` has positive amounts, in any proportion, from which Newton steps go along the central path. Where they stop
    is a matter of quality: the amounts are under the rows but for rounding, and the shares add to 1.
    """
    with np.errstate(all="ignore"):  # what comes to nothing is seen below
        amounts, duals = _end_of_path(rows, weights, power, start)
        amounts = amounts / float((rows @ amounts).max())
        shares: Floats = duals / float(duals.sum())
    # Every leaf is in a row; where rounding lost its share, all rows alike are a poor answer and a sound one.
    if not (rows.T @ shares > 0).all():
        shares = np.full(len(rows), 1 / len(rows))
    return (amounts if (amounts > 0).all() else start), shares


def _end_of_path(rows: Floats, weights: Floats, power: int, start: Floats) -> tuple[Floats, Floats]:
    amounts = start / (2 * float((rows @ start).max()))
    scaled = weights / float((weights * amounts**-power).sum())
    slack = 1 - rows @ amounts
    duals = 1 / (len(rows) * slack)
    for _ in range(_STEPS):
        # Steps are relative to the amounts, so that large and small ones are alike to the linear solver.
        columns = rows * amounts
        pull = power * scaled * amounts**-power
        # Slacks must not vanish before forces are in balance: from there the path is too narrow to follow.
        unbalanced = float(np.abs(columns.T @ duals - pull).sum())
        goal = _CENTERING * max(float(slack @ duals), unbalanced) / len(rows)
        matrix = (columns.T * (duals / slack)) @ columns
        matrix[np.diag_indices_from(matrix)] += (power + 1) * pull
        step = _solved(matrix, pull - columns.T @ (goal / slack))
        if step is None:
            break
        filled = columns @ step
        raised = goal / slack - duals + duals / slack * filled
        reach = min(1.0, _reach(step), _reach(-filled / slack), _reach(raised / duals))
        off = _off_path(rows, scaled, power, amounts, duals, goal)
        while reach > _SHORTEST:
            next_amounts, next_duals = amounts * (1 + reach * step), duals + reach * raised
            if _off_path(rows, scaled, power, next_amounts, next_duals, goal) <= (1 - 0.01 * reach) * off:
                break
            reach /= 2
        else:
            break
        amounts, duals = next_amounts, next_duals
        slack = 1 - rows @ amounts
        if slack.min() <= 0 or _off_path(rows, scaled, power, amounts, duals, 0.0) < _DONE * float(pull.sum()):
            break
    return amounts, duals


def error_of(amounts: Floats, weights: Floats, power: int) -> float:
    """The weighted error of amounts."""
    return float((weights * amounts**-power).sum())


def bound_down(shares: Floats, rows: Floats, weights: Floats, power: int) -> float:
    """A number that the error of no amounts under the rows is below, if floats are below the weights and the rows.

    Every term is positive and each operation is right within a few units in the last place, so that the error is
    relative and in proportion to the longest sum: MARGIN covers it many times over.
    """
    mix = rows.T @ shares / float(shares.sum())
    root = float(((weights * mix**power) ** (1 / (power + 1))).sum())
    kept: float = 1 - MARGIN * (64 + len(shares) + len(mix))
    return max(0.0, math.pow(root, power + 1) * kept)


def _off_path(rows: Floats, weights: Floats, power: int, amounts: Floats, duals: Floats, goal: float) -> float:
    """How far from the point of the central path where each row times its dual is `goal`."""
    pulled = amounts * (rows.T @ duals) - power * weights * amounts**-power
    return float(np.linalg.norm(np.concatenate((pulled, (1 - rows @ amounts) * duals - goal))))


def _solved(matrix: Floats, right: Floats) -> Floats | None:
    scale = 1 / np.sqrt(np.diag(matrix))
    matrix = matrix * scale * scale[:, None]
    matrix[np.diag_indices_from(matrix)] += 1e-15
    try:
        found: Floats = np.linalg.solve(matrix, right * scale) * scale
    except np.linalg.LinAlgError:
        return None
    return found if np.isfinite(found).all() else None


def _reach(relative: Floats) -> float:
    """How far something positive can go along a relative step and stay positive, with some room."""
    lowest = float(relative.min())
    return 1.0 if lowest >= 0 else _TO_THE_EDGE / -lowest
