"""Noise that is added to numbers: discrete Laplace and discrete Gaussian, on integers or on a grid of reals.

Integers get integer noise. Reals are rounded to multiples of a grid step g first and get noise in multiples of g, so
that no value off the grid ever leaves: a float's low bits would tell where it came from (Mironov 2012). Rounding
brings two reals further apart by less than a step, which is part of the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from viameter.arith import INFINITY, ZERO, Extended, Number, dyadic, exact, times
from viameter.core import Measurement, Space, by, constructor
from viameter.core.deadlines import stop_if_given_up
from viameter.errors import NoTheorem, ParameterError
from viameter.measures import ZCDP, PureDP, pure, zcdp
from viameter.measures.amounts import PureLoss, ZCDPLoss
from viameter.sampling import discrete_gaussian, discrete_laplace
from viameter.sampling.noise import read_scale
from viameter.spaces import (
    AbsoluteDistance,
    Array,
    FloatDomain,
    IntDomain,
    L1Distance,
    L2Distance,
    VectorDomain,
)
from viameter.theorem import Numbers, theorem


@theorem("laplace-on-integers", cites="Ghosh, Roughgarden and Sundararajan 2009 (the geometric mechanism)")
def laplace_on_integers(d_in: Extended, *, scale: Fraction) -> PureLoss:
    """Discrete Laplace noise of scale s hides a change of d at a cost of d/s.

    Theorem
        Let M(x) = x + Z for a vector x of integers, with the coordinates of Z independent and P(Z_i = z) proportional
        to exp(-|z|/s). For x and x' at most d apart in L1 norm, the max divergence of M(x) and M(x') is at most d/s.
        It is attained for every whole d.
    Requires
        The data are integers, and the noise is drawn exactly. Data beyond 2^62 stop there, which brings two of them no
        further apart; sums stop at 2^62 - 1, which is post-processing, also of noise that does not fit into 64 bits.
    Ensures
        The loss is pure(d_in/scale); infinite for scale = 0, which adds nothing, unless d_in = 0.
    Proof
        P(M(x) = y)/P(M(x') = y) = exp((|y - x'|_1 - |y - x|_1)/s) <= exp(|x - x'|_1/s). Equality at y = x. The output
        is an integer vector on both sides, so that the ratio is between positive numbers.
    Example
        >>> laplace_on_integers(Fraction(3), scale=Fraction(10))
        pure(3/10)
    """
    return pure(_over(d_in, scale))


@theorem("gaussian-on-integers", cites="Canonne, Kamath and Steinke 2020 (The Discrete Gaussian), Theorem 4")
def gaussian_on_integers(d_in: Extended, *, scale: Fraction) -> ZCDPLoss:
    """Discrete Gaussian noise of scale s hides a change of d at a cost of d^2/2s^2 in zCDP.

    Theorem
        Let M(x) = x + Z for a vector x of integers, with the coordinates of Z independent and P(Z_i = z) proportional
        to exp(-z^2/2s^2). For x and x' at most d apart in L2 norm, M is (d^2/2s^2)-zCDP between x and x'.
    Requires
        The data are integers, and the noise is drawn exactly.
    Ensures
        The loss is zcdp(d_in^2/(2 scale^2)); infinite for scale = 0, unless d_in = 0. The sharper formulas of
        *continuous* Gaussian noise do not hold for the discrete one and are not used.
    Proof
        For one coordinate and centers k apart, exp((a - 1) D_a) is exp(a (a - 1) k^2/2s^2) times the ratio of two sums
        over the integers of exp(-(z - c)^2/2s^2), the one above with some real c, the one below with c = 0. By Poisson
        summation c = 0 gives the largest sum, so that the ratio is at most 1 and D_a <= a k^2/2s^2. Renyi divergences
        of independent coordinates add up, and so do squares.
    Example
        >>> gaussian_on_integers(Fraction(2), scale=Fraction(10))
        zcdp(1/50)
    """
    ratio = _over(d_in, scale)
    return zcdp(INFINITY if ratio == INFINITY else Fraction(ratio) ** 2 / 2)


@theorem("rounding-to-a-grid", cites="Mironov 2012; derived here", numbers=Numbers.OUTWARD)
def rounding_to_a_grid(d_in: Extended, *, step: Fraction, size: int, norm: int) -> Extended:
    """Rounding n reals to multiples of a step makes two vectors further apart by less than a step each.

    Theorem
        Let r(x) = floor(x/g + 1/2), number by number. If x and x' are d apart, r(x) and r(x') are at most d/g + n apart
        in L1 norm, rounded down, and at most d/g + sqrt(n) apart in L2 norm; for one number, at most d/g rounded up.
    Requires
        The rounding is exact: the step is a power of two, by which floats are divided without error, unless they leave
        the range of floats, where they stop at its ends.
    Ensures
        The bound is that distance, in steps; 0 for d_in = 0.
    Proof
        |floor(a + t) - floor(a)| <= ceil(t) <= t + 1 for t >= 0. Add up over coordinates (L1), or use the triangle
        inequality with a vector of ones (L2). L1 distances of integers are whole, so that they may be rounded down.
    Example
        >>> rounding_to_a_grid(Fraction(3, 10), step=Fraction(1, 4), size=1, norm=1)
        Fraction(2, 1)
    """
    if d_in in (ZERO, INFINITY):
        return d_in
    steps = Fraction(d_in) / step
    if size == 1:
        return Fraction(math.ceil(steps))
    if norm == 1:
        return Fraction(math.floor(steps + size))
    return steps + dyadic.sqrt_up(Fraction(size))


@theorem("laplace-on-a-grid", cites="laplace-on-integers after rounding-to-a-grid", numbers=Numbers.OUTWARD)
def laplace_on_a_grid(d_in: Extended, *, scale: Fraction, step: Fraction, size: int) -> PureLoss:
    """Discrete Laplace noise in multiples of a step hides a change of reals that are rounded to it.

    Theorem
        Let M(x) = g (r(x) + Z) with r the rounding to multiples of g and Z discrete Laplace noise of scale s/g. For
        reals d apart in L1 norm the loss is D g/s, with D the distance in steps after rounding.
    Requires
        What rounding-to-a-grid and laplace-on-integers require.
    Ensures
        The loss is pure(D step/scale).
    Proof
        Chain the two; multiplying by g is post-processing.
    Example
        >>> laplace_on_a_grid(Fraction(1), scale=Fraction(10), step=Fraction(1, 4), size=1)
        pure(1/10)
    """
    steps = rounding_to_a_grid(d_in, step=step, size=size, norm=1)
    return laplace_on_integers(steps, scale=scale / step)


@theorem("gaussian-on-a-grid", cites="gaussian-on-integers after rounding-to-a-grid", numbers=Numbers.OUTWARD)
def gaussian_on_a_grid(d_in: Extended, *, scale: Fraction, step: Fraction, size: int) -> ZCDPLoss:
    """Discrete Gaussian noise in multiples of a step hides a change of reals that are rounded to it.

    Theorem
        Let M(x) = g (r(x) + Z) with r the rounding to multiples of g and Z discrete Gaussian noise of scale s/g. For
        reals d apart in L2 norm the loss is D^2 g^2/2s^2 in zCDP, with D the distance in steps after rounding.
    Requires
        What rounding-to-a-grid and gaussian-on-integers require.
    Ensures
        The loss is zcdp((D step/scale)^2/2).
    Proof
        Chain the two; multiplying by g is post-processing.
    Example
        >>> gaussian_on_a_grid(Fraction(1), scale=Fraction(10), step=Fraction(1, 4), size=1)
        zcdp(1/200)
    """
    steps = rounding_to_a_grid(d_in, step=step, size=size, norm=2)
    return gaussian_on_integers(steps, scale=scale / step)


@constructor
def laplace(space: Space, *, scale: Number, grid: Number | None = None) -> Measurement:
    """Add discrete Laplace noise: to an integer or a vector of integers; to floats on a `grid`, a power of two.

    >>> import viameter as vm
    >>> visits = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> noisy_count = visits >> vm.count() >> vm.laplace(scale=10)
    >>> isinstance(noisy_count([1, 2, 3]), int), noisy_count.map(1)
    (True, pure(1/10))
    """
    return _additive(space, "laplace", scale, grid, L1Distance, PureDP, discrete_laplace)


@constructor
def gaussian(space: Space, *, scale: Number, grid: Number | None = None) -> Measurement:
    """Add discrete Gaussian noise: to an integer or a vector of integers; to floats on a `grid`, a power of two.

    >>> import viameter as vm
    >>> visits = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> noisy_count = visits >> vm.count() >> vm.gaussian(scale=10)
    >>> isinstance(noisy_count([1, 2, 3]), int), noisy_count.map(1)
    (True, zcdp(1/200))
    """
    return _additive(space, "gaussian", scale, grid, L2Distance, ZCDP, discrete_gaussian)


@constructor
def geometric(space: Space, *, scale: Number) -> Measurement:
    """The geometric mechanism: another name for discrete Laplace noise on integers.

    >>> import viameter as vm
    >>> number = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    >>> vm.geometric(number, scale=2).map(1)
    pure(1/2)
    """
    return _additive(space, "geometric", scale, None, L1Distance, PureDP, discrete_laplace)


def _additive(
    space: Space,
    name: str,
    scale: Number,
    grid: Number | None,
    norm: type[L1Distance] | type[L2Distance],
    measure: Any,
    draw: Callable[..., Any],
) -> Measurement:
    sized = isinstance(space.domain, VectorDomain)
    if not isinstance(space.metric, norm if sized else AbsoluteDistance):
        wanted = f"{norm.__name__}() on vectors and AbsoluteDistance() on numbers"
        raise NoTheorem(f"{name} noise is known for {wanted}, not for {space!r}; measured_by(...) changes the metric")
    element = space.domain.element if isinstance(space.domain, VectorDomain) else space.domain
    number = exact(scale, name="scale")
    if number < 0:
        read_scale(number)
    laplace_noise = measure is PureDP
    if isinstance(element, IntDomain):
        if grid is not None:
            raise ParameterError(f"grid={grid!s}: integers are their own grid; leave it out")
        if number != 0:
            read_scale(number)
        on_integers: Any = laplace_on_integers if laplace_noise else gaussian_on_integers
        return Measurement(
            input_space=space,
            measure=measure,
            function=_adder(number, draw),
            bound=by(on_integers, scale=number),
        )
    if not isinstance(element, FloatDomain):
        raise ParameterError(f"{name} noise is added to numbers, not to {space.domain!r}")
    step = _read_grid(grid, name)
    size = space.domain.size if isinstance(space.domain, VectorDomain) else 1
    if size is None:
        raise NoTheorem(
            f"{name} noise on {space.domain!r}: what rounding adds depends on the size, which is not public"
        )
    # What is drawn is noise in steps: its scale has to fit, not the one before the division.
    steps_scale = number / step
    if steps_scale != 0:
        read_scale(steps_scale)
    add = _adder(steps_scale, draw)
    on_a_grid: Any = laplace_on_a_grid if laplace_noise else gaussian_on_a_grid
    return Measurement(
        input_space=space,
        measure=measure,
        function=lambda member: _from_grid(add(_to_grid(member, step)), step),
        bound=by(on_a_grid, scale=number, step=step, size=size),
    )


_HALF = 2**62
_CHUNK = 1 << 15


def _over(d_in: Extended, scale: Fraction) -> Extended:
    """d/s, where no noise is no guarantee unless there is nothing to hide."""
    if scale == 0:
        return ZERO if d_in == 0 else INFINITY
    return times(1 / scale, d_in)


def _adder(scale: Fraction, draw: Callable[..., Any]) -> Callable[[Any], Any]:
    """Add noise to data that stop at 2^62, and let the sum stop at 2^62 - 1.

    Noise beyond 64 bits stops at 2^63 - 1. Whatever it is added to, the sum is then at least 2^62 - 1, as it would have
    been with the noise itself: so the result is a function of the true sum, and stopping is post-processing.
    """

    def add(member: Any) -> Any:
        if scale == 0:
            return member
        if isinstance(member, int):
            return min(max(min(max(member, -_HALF), _HALF) + draw(scale=scale), 1 - _HALF), _HALF - 1)
        noise = draw(len(member), scale)
        far = noise.max(initial=0) >= _HALF or noise.min(initial=0) <= -_HALF
        for start in range(0, len(noise), _CHUNK):
            stop_if_given_up()
            _add_saturating(member[start : start + _CHUNK], noise[start : start + _CHUNK], far)
        return noise

    return add


def _add_saturating(member: Array, noise: Array, far: bool) -> None:
    """Add data to noise, in place."""
    inside = np.minimum(member, _HALF)
    np.maximum(inside, -_HALF, out=inside)
    if far:
        # The sum of two numbers below 2^62 fits. Larger noise hardly ever occurs, and is added in Python's integers.
        noise[:] = [min(max(int(x) + int(z), 1 - _HALF), _HALF - 1) for x, z in zip(inside, noise, strict=True)]
        return
    noise += inside
    np.minimum(noise, _HALF - 1, out=noise)
    np.maximum(noise, 1 - _HALF, out=noise)


def _read_grid(grid: Number | None, name: str) -> Fraction:
    if grid is None:
        raise ParameterError(f'{name} noise on floats needs a grid, a power of two such as grid="1/1024"')
    step = exact(grid, name="grid")
    power = step > 0 and (step.numerator & (step.numerator - 1) | step.denominator & (step.denominator - 1)) == 0
    if not power or not Fraction(1, 2**1000) <= step <= 2**961:
        raise ParameterError(
            f"grid={grid!s} is not a power of two between 2^-1000 and 2^961: floats round to those exactly"
        )
    return step


# What is further out stops here; as floats, both ends are whole, and so is everything beyond 2^52.
_FURTHEST = 2.0**62


def _to_grid(member: Any, step: Fraction) -> Any:
    """floor(x/g + 1/2), exactly, as integers of 64 bits."""
    exponent = step.denominator.bit_length() - step.numerator.bit_length()
    scaled = np.clip(np.ldexp(np.asarray(member), exponent), -_FURTHEST, _FURTHEST)
    below = np.floor(scaled)
    # x - floor(x) is exact; adding 1/2 to x would round.
    steps = below.astype(np.int64) + (scaled - below >= 0.5)
    return int(steps) if np.ndim(member) == 0 else steps


def _from_grid(steps: int | Array, step: Fraction) -> Any:
    """Multiples of the step as floats; beyond 2^53 steps the nearest float, which is a multiple too."""
    exponent = step.numerator.bit_length() - step.denominator.bit_length()
    if isinstance(steps, int):
        return math.ldexp(float(steps), exponent)
    return np.ldexp(steps.astype(np.float64), exponent)
