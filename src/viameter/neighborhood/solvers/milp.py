"""Mixed integer programs by way of HiGHS, of which only the dual bound is believed, with a margin for its rounding."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viameter.arith.floats import from_fraction_up
from viameter.errors import ParameterError, plain
from viameter.neighborhood.solvers.worst import Unit, Worst

RELATIVE_MARGIN = Fraction(1, 2**30)
ABSOLUTE_MARGIN = Fraction(1, 2**20)
"""A dual bound is raised by (16 + n) max(ABSOLUTE_MARGIN, RELATIVE_MARGIN g), g being the largest gain in the program.

HiGHS stops within 1e-6 of the optimum, takes a solution that violates a row or integrality by 1e-6, and reduced costs
of a wrong sign up to 1e-7; n is the largest sum of variables that have a gain, each of which is at most 1, so that
wrong reduced costs add up to at most n 1e-7. Floats of size g add errors relative to g, far below 2^-30 each.
"""

LARGEST_GAIN = 2**20
"""Gains are scaled to whole numbers up to this if they allow for it, else so that the largest is about as large."""

LARGEST_COEFFICIENT = 2**10
_SMALLEST_COEFFICIENT = 2.0**-20

PATIENCE = 1.0
"""After so many seconds, and again after as many, progress is reported."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What HiGHS found: values of the variables, a bound on the objective, both perhaps unknown."""

    point: NDArray[np.float64] | None
    bound: float | None
    infeasible: bool


class Program:
    """Maximize a sum of gains over variables from 0 to 1 under linear rows; coefficients are rounded outward."""

    def __init__(self) -> None:
        self.gains: list[Fraction] = []
        self.is_whole: list[bool] = []
        self._places: list[tuple[int, int]] = []
        self._coefficients: list[float] = []
        self._lowers: list[float] = []
        self._bounds: list[float] = []

    def variable(self, gain: Fraction = Fraction(0), *, whole: bool = True) -> int:
        """Add a variable between 0 and 1 and return its index."""
        self.gains.append(gain)
        self.is_whole.append(whole)
        return len(self.gains) - 1

    def at_most(self, row: Sequence[tuple[int, Fraction | int]], bound: Fraction | int) -> None:
        """Add a row: a sum of coefficient times variable is at most `bound`. What fits exactly fits as rounded, too."""
        largest = max((abs(Fraction(coefficient)) for _, coefficient in row), default=Fraction(0))
        common = math.lcm(Fraction(bound).denominator, *(Fraction(c).denominator for _, c in row))
        scale = Fraction(common)
        if largest * common > LARGEST_COEFFICIENT:
            scale = LARGEST_COEFFICIENT / largest
        at = len(self._bounds)
        for variable, coefficient in row:
            self._places.append((at, variable))
            self._coefficients.append(_coefficient_down(coefficient * scale))
        self._lowers.append(-math.inf)
        self._bounds.append(from_fraction_up(Fraction(bound * scale)))

    def exactly_one(self, variables: Sequence[int]) -> None:
        """Add the row that just one of the variables is 1."""
        self.at_most([(variable, 1) for variable in variables], 1)
        self._lowers[-1] = 1.0

    def solve(self, *, time_limit: float | None, progress: Callable[[str], None] | None) -> tuple[Answer, Fraction]:
        """Return the answer of HiGHS, its bound in units of the gains divided by the second: their scale."""
        scale = _scale(self.gains)
        objective = np.array([-from_fraction_up(gain * scale) for gain in self.gains])
        if not self.gains:
            return Answer(objective, 0.0, infeasible=min(self._bounds, default=0.0) < 0.0), scale
        if not self._bounds:
            self.at_most([], 0)
        return _watched(lambda: self._run(objective, time_limit), progress), scale

    def _run(self, objective: NDArray[np.float64], time_limit: float | None) -> Answer:
        try:
            from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]
            from scipy.sparse import csc_array  # type: ignore[import-untyped]
        except ImportError:
            raise ParameterError("this touch model needs scipy: pip install 'viameter[neighborhood]'") from None
        where = np.array(self._places, dtype=np.int64).reshape(-1, 2).T
        shape = (len(self._bounds), len(self.gains))
        matrix = csc_array((np.array(self._coefficients, dtype=np.float64), (where[0], where[1])), shape=shape)
        options: dict[str, Any] = {"mip_rel_gap": 0.0}
        if time_limit is not None:
            options["time_limit"] = time_limit
        found = milp(
            objective,
            integrality=np.array(self.is_whole, dtype=np.int64),
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(matrix, np.array(self._lowers), np.array(self._bounds)),
            options=options,
        )
        bound = found.get("mip_dual_bound")
        known = bound is not None and math.isfinite(bound) and found.status in (0, 1)
        return Answer(found.x, -float(bound) if known else None, infeasible=found.status == 2)


def bound_up(answer: Answer, scale: Fraction, gains: Sequence[Fraction], most_ones: int) -> Fraction | None:
    """Return the dual bound with its margin, which no feasible point exceeds; None if there is none."""
    if answer.bound is None:
        return None
    largest = max(gains, default=Fraction(0)) * scale
    margin = (16 + most_ones) * max(ABSOLUTE_MARGIN, RELATIVE_MARGIN * largest)
    return (Fraction(answer.bound) + margin) / scale


def settled(bound: Fraction | None, ceiling: Fraction, reached: Fraction, chosen: object, unit: Unit) -> Worst:
    """Return what is known for sure: `reached` exactly if no larger multiple of the unit is below the safe bound.

    A bound that is below what was reached shows that the solver erred: then it says nothing at all.
    """
    if bound is None or bound < reached or bound > ceiling:
        bound = ceiling
    if chosen is not None and (bound == reached or (unit.exact and bound < reached + unit.value(1))):
        return Worst(reached, chosen)
    rounded = Fraction(from_fraction_up(bound)) if bound < ceiling and bound < 2**1000 else bound
    return Worst(min(rounded, ceiling), chosen, exact=False)


def _scale(gains: Sequence[Fraction]) -> Fraction:
    largest = max(gains, default=Fraction(0))
    if largest == 0:
        return Fraction(1)
    common = 1
    for denominator in {gain.denominator for gain in gains}:
        common = math.lcm(common, denominator)
        if largest * common > LARGEST_GAIN:
            return LARGEST_GAIN / largest
    return Fraction(common)


def _coefficient_down(coefficient: Fraction) -> float:
    # Variables are >= 0: a smaller coefficient lets more through. HiGHS drops tiny ones, so none is left.
    if 0 <= coefficient < _SMALLEST_COEFFICIENT:
        return 0.0
    if -_SMALLEST_COEFFICIENT < coefficient < 0:
        return -_SMALLEST_COEFFICIENT
    return -from_fraction_up(-coefficient)


def _watched(run: Callable[[], Answer], progress: Callable[[str], None] | None) -> Answer:
    if progress is None:
        return run()
    outcome: list[Answer | BaseException] = []

    def work() -> None:
        try:
            outcome.append(run())
        except BaseException as error:  # handed to the caller's thread
            outcome.append(error)

    begun = time.monotonic()
    thread = threading.Thread(target=work, daemon=True, name="viameter-milp")
    thread.start()
    thread.join(PATIENCE)
    while thread.is_alive():
        progress(f"searching for the worst touch pattern, {time.monotonic() - begun:.0f} s")
        thread.join(PATIENCE)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def read_time_limit(time_limit: float | None) -> float | None:
    """Take a time limit in seconds, or None for no limit."""
    if time_limit is None:
        return None
    if (
        isinstance(time_limit, bool)
        or not isinstance(time_limit, int | float | Fraction)
        or not 0 < time_limit < math.inf
    ):
        raise ParameterError(f"time_limit={plain(time_limit)}: expected a number of seconds > 0, or None")
    return float(time_limit)
