"""What a program is written with: the types of its parameters, and the noise that it draws.

These names are read in the text of a function under `@vm.program`, never run: calling one elsewhere is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from viameter.arith import Number, exact
from viameter.errors import ParameterError


def _outside(name: str) -> NoReturn:
    raise ParameterError(f"vm.{name} is part of a program: write it in a function under @vm.program")


class Eps:
    """The type of a budget: a positive number that scales are divided by, as in `vm.lap(2 / eps)`.

    The operations are there for type checkers: a budget is a name in a program's text, and has no value there.
    """

    def __init__(self) -> None:
        _outside("Eps")

    def __truediv__(self, other: Any) -> Eps:
        _outside("Eps")

    def __rtruediv__(self, other: Any) -> Eps:
        _outside("Eps")

    def __mul__(self, other: Any) -> Eps:
        _outside("Eps")

    def __rmul__(self, other: Any) -> Eps:
        _outside("Eps")

    def __add__(self, other: Any) -> Eps:
        _outside("Eps")

    def __sub__(self, other: Any) -> Eps:
        _outside("Eps")


@dataclass(frozen=True, slots=True, repr=False)
class Grid:
    """The type of a real number on a grid: a multiple of `step`, such as `vm.Grid("1/100")`.

    >>> Grid("1/100")
    Grid('1/100')
    """

    step: Fraction

    def __init__(self, step: Number) -> None:
        taken = exact(step, name="step")
        if taken <= 0:
            raise ParameterError(f"Grid({taken}): expected a positive step")
        object.__setattr__(self, "step", taken)

    def __repr__(self) -> str:
        return f"Grid({str(self.step)!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Between:
    """The type of an input that is an integer, or a real on a grid, from `low` to `high`.

    >>> Between(0, 1), Between("-1/2", 3, grid="1/10")
    (Between('0', '1'), Between('-1/2', '3', grid='1/10'))
    """

    low: Fraction
    high: Fraction
    grid: Fraction

    def __init__(self, low: Number, high: Number, *, grid: Number = 1) -> None:
        lowest, highest = exact(low, name="low"), exact(high, name="high")
        step = Grid(grid).step
        if lowest > highest:
            raise ParameterError(f"Between({lowest}, {highest}): expected low <= high")
        for end in (lowest, highest):
            if (end / step).denominator != 1:
                raise ParameterError(
                    f"Between({lowest}, {highest}, grid={step}): {end} is not on the grid; "
                    "give grid= a step of which both ends are multiples"
                )
        for name, value in (("low", lowest), ("high", highest), ("grid", step)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        grid = "" if self.grid == 1 else f", grid={str(self.grid)!r}"
        return f"Between({str(self.low)!r}, {str(self.high)!r}{grid})"


def lap(scale: Any, *, grid: Any = None, center: Any = None, shift: str | None = None) -> int:
    """Laplace noise: center + k grid with probability proportional to exp(-|k| grid / scale), for every integer k.

    The grid is the integers unless `grid=` is given, or unless the private inputs, and the returned type where it is
    not on the integers, all stand on one grid: then it is that grid. `shift` is a hint for the proof: by how much the
    second run's draw is moved, in grid steps, such as "1" or "q<1>[i] - q<2>[i]".
    """
    _outside("lap")


def expo(scale: Any, *, grid: Any = None, shift: str | None = None) -> int:
    """One-sided noise: k grid, k = 0, 1, 2, ..., proportional to exp(-k grid / scale); the grid is found as in lap."""
    _outside("expo")


def geom(p: Any, *, shift: str | None = None) -> int:
    """The failures before a first success of probability p: `expo(1/ln(1/(1 - p)))` on the integers."""
    _outside("geom")


def gauss(sigma: Any, *, grid: Any = None, center: Any = None, shift: str | None = None) -> int:
    """Gaussian noise on a grid, which is found as in lap; sigma is a number times public factors, with no budget."""
    _outside("gauss")


def flip(p: Any, *, shift: str | None = None) -> bool:
    """True with probability p, a fixed rational such as "3/4"."""
    _outside("flip")


def uniform(low: Any, high: Any, *, shift: str | None = None) -> int:
    """One of the integers low, ..., high, each as likely as another; the ends must be public."""
    _outside("uniform")


def choose(scores: Any, scale: Any) -> int:
    """The exponential mechanism: an index i of an input list, proportional to exp(scores[i] / scale)."""
    _outside("choose")


def invariant(text: str) -> None:
    """A hint for the proof, at the top of a loop's body: a fact of the loop such as "i<1> == i<2>"."""
    _outside("invariant")


NOISE: Mapping[str, Callable[..., Any]] = {
    "lap": lap, "expo": expo, "geom": geom, "gauss": gauss, "flip": flip, "uniform": uniform, "choose": choose,
}  # fmt: skip
"""The functions that draw, by name."""

MARKERS: Mapping[str, Any] = {**NOISE, "invariant": invariant, "Eps": Eps, "Grid": Grid, "Between": Between}
"""Every name of this file that a program's text may use."""
