"""Rows of two columns as noisy moments, with draws of the noise, and what is true of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from viameter.sampling import Tape, discrete_gaussian, discrete_laplace
from viameter.tables.estimates import Axis, Moment, Noise, Pair
from viameter.tables.estimates.noise import Kind

F = Fraction
REACH = 100
"""Rows are integers within so much of 0."""

CASES: dict[str, Any] = {
    "a line": lambda n: _line(np.arange(n) * 181 // n - 90),
    "off the center": lambda n: _line(60 + np.arange(n) % 31 - 15),
    "nothing in common": lambda n: (np.arange(n) % 101 - 50, (np.arange(n) // 7) % 101 - 50),
    "one point apart": lambda n: (np.where(np.arange(n) == 0, 90, -10), np.where(np.arange(n) == 0, -90, 10)),
    "corners": lambda n: (np.where(np.arange(n) % 2, 100, -100), np.where(np.arange(n) % 2, -100, 100)),
}


def _line(x: Any) -> tuple[Any, Any]:
    return x, np.clip(7 * x // 10 + (np.arange(len(x)) * 37) % 31 - 15, -REACH, REACH)


def noisy_pair(x: Any, y: Any, scale: Fraction, kind: Kind, *, groups: int, seed: int = 1, quiet: Any = ()) -> Pair:
    """Moments of rows with drawn noise that is as large as equal shares of a loss would make it."""
    draw, entropy = (discrete_laplace if kind == "laplace" else discrete_gaussian), Tape.seeded(seed)

    def moment(name: str, exact: int, size: int) -> Moment:
        own = F(0) if name in quiet else scale * size
        drawn = draw(groups, own, entropy=entropy) if own else np.zeros(groups, dtype=np.int64)
        return Moment(int(exact) + drawn, Noise(kind, own))

    ends, square = (F(-REACH), F(REACH)), REACH**2
    first = Axis(moment("x", x.sum(), REACH), *ends, moment("xx", (x * x).sum(), square))
    second = Axis(moment("y", y.sum(), REACH), *ends, moment("yy", (y * y).sum(), square))
    return Pair(moment("count", len(x), 1), first, second, moment("xy", (x * y).sum(), square))


def truths(x: Any, y: Any, *, at: int = 0) -> dict[str, Fraction | float]:
    """Covariance, correlation, slope and height of the line by whole numbers and fractions."""
    n = len(x)
    mean_x, mean_y = F(int(x.sum()), n), F(int(y.sum()), n)
    covariance = F(int((x * y).sum()), n) - mean_x * mean_y
    of_x, of_y = F(int((x * x).sum()), n) - mean_x**2, F(int((y * y).sum()), n) - mean_y**2
    found: dict[str, Fraction | float] = {"covariance": covariance}
    if of_x:
        found |= {"slope": covariance / of_x, "intercept": mean_y + covariance / of_x * (at - mean_x)}
        if of_y:
            found["correlation"] = float(covariance) / float(of_x * of_y) ** 0.5
    return found
