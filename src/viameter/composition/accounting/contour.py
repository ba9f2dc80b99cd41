"""The certified contour sum: an upper bound on the delta of a product of loss distributions.

What is added is ln of each transform on the line c + i t at t = h, 2 h, ..., size h; a delta is read by one weighted
sum of cosines. The theorem `contour-sum` says why that is an upper bound, and which library accuracy is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from viameter.arith import floats, vectors
from viameter.composition.accounting.distribution import Floats, LossDistribution
from viameter.composition.accounting.plan import Plan
from viameter.composition.accounting.product import Product
from viameter.composition.accounting.reals import UP, Real, float_up, real_up
from viameter.theorem import Numbers, theorem

UNIT = 2.0**-53
LIBRARY = 2.0**-46
"""What is assumed of NumPy's sin, cos, exp, log, arctan2, hypot: an error of at most 2^-46, absolute or relative."""
LARGEST_PHASE = 2.0**30
"""The assumption about sin and cos is for arguments up to this."""
DROPPED = 2.0**-44
"""A point where the transform is smaller than this part of its largest value is only bounded."""
_CHUNK = 64
MOST_BYTES = 2**26
"""What an accountant may keep of transforms; beyond that they are computed again."""


class Unfit(ArithmeticError):
    """This contour cannot carry this distribution: nothing is said, and other representations have to answer."""


@dataclass(frozen=True, slots=True)
class Logarithms:
    """ln N(c + i t) at every point of the line, N = M/mass: its parts, and what each may be off by."""

    real: Floats
    imaginary: Floats
    error: Floats
    """The error of the logarithm, where it is known; `unknown` lists where it is not."""
    unknown: NDArray[np.bool_]
    bound: float
    """What |N| is at most where the logarithm is not known."""


Factors = tuple[LossDistribution, ...]


class Transforms:
    """A cache of ln N and ln of the mass, by line and by factors: of nothing that depends on what was read before."""

    __slots__ = ("_bytes", "_known")

    def __init__(self) -> None:
        self._known: dict[tuple[float, float, int, Factors], tuple[Logarithms, Real]] = {}
        self._bytes = 0

    def get(
        self, plan: Plan, factors: Factors, compute: Callable[[], tuple[Logarithms, Real]]
    ) -> tuple[Logarithms, Real]:
        """What `compute` gives, which is a function of the points of the plan and of the factors."""
        key = (plan.c, plan.h, plan.size, factors)
        known = self._known.get(key)
        if known is None:
            known = compute()
            if self._bytes > MOST_BYTES:
                self._known, self._bytes = {}, 0
            self._known[key] = known
            self._bytes += 32 * plan.size
        return known


class Contour:
    """The transform of a product on the points of a plan, and the sum that bounds delta from above."""

    __slots__ = (
        "_cut", "_dropped", "_error", "_floor", "_imaginary", "_log_mass", "_modulus", "_mu_squared",
        "_phases", "_places", "_real", "_steps", "_sum_error", "_sum_error_slope", "_transforms", "_weights", "plan",
    )  # fmt: skip

    def __init__(self, plan: Plan, transforms: Transforms | None = None) -> None:
        self.plan = plan
        self._transforms = Transforms() if transforms is None else transforms
        self._steps: Floats = np.arange(1.0, plan.size + 1) * plan.h  # exact: h is short
        c, t = plan.c, self._steps
        self._modulus = np.hypot(c, t) * np.hypot(c + 1, t)
        self._places: NDArray[np.intp] = np.arange(plan.size)
        self._real, self._imaginary, self._error = np.zeros(plan.size), np.zeros(plan.size), np.zeros(plan.size)
        self._floor = DROPPED
        self._dropped = 0.0
        self._log_mass: Real = real_up(0)
        self._mu_squared = 0.0
        self._weights: Floats | None = None
        self._phases: Floats = np.zeros(0)
        self._sum_error = self._sum_error_slope = self._cut = 0.0

    # --- adding ------------------------------------------------------------------------------------------------------

    def include(self, added: Iterable[tuple[LossDistribution, int]]) -> None:
        """Multiply by distributions, each so many times."""
        self._weights = None
        single: list[LossDistribution] = []
        for distribution, count in added:
            if distribution.is_pair and count == 1:
                single.append(distribution)
            else:
                self._include((distribution,), count)
        # In the order in which they were added: one more pair makes one more transform, of the last chunk.
        for start in range(0, len(single), _CHUNK):
            self._include(tuple(single[start : start + _CHUNK]), 1)

    def _include(self, factors: Factors, count: int) -> None:
        compute = self._transform if len(factors) == 1 else self._transform_of_pairs
        logarithms, log_mass = self._transforms.get(self.plan, factors, lambda: compute(factors))
        self._multiply(logarithms, count)
        self._log_mass = UP.add(self._log_mass, UP.mul(log_mass, count))

    def _multiply(self, logarithms: Logarithms, count: int) -> None:
        """Add count ln N to the total; what becomes negligible is dropped and bounded from then on."""
        part = slice(None) if len(self._places) == self.plan.size else self._places
        real, imaginary = count * logarithms.real[part], count * logarithms.imaginary[part]
        self._real = self._real + real
        self._imaginary = self._imaginary + imaginary
        magnitude = np.abs(self._real) + np.abs(self._imaginary) + np.abs(real) + np.abs(imaginary)
        self._error = self._error + (count * logarithms.error[part] + 2 * UNIT * magnitude)
        unknown = logarithms.unknown[part]
        # |N| <= 1 for every factor, so that what is small stays small whatever is multiplied later.
        gone = unknown | (self._real + self._error < math.log(DROPPED))
        if unknown.any():
            self._floor = max(self._floor, logarithms.bound)
        if gone.any():
            self._drop(gone)

    def _drop(self, gone: NDArray[np.bool_]) -> None:
        places = self._places[gone]
        self._dropped += float((1 / self._modulus[places]).sum()) * (1 + len(places) * 2 * UNIT + LIBRARY * 8)
        kept = ~gone
        self._places, self._real = self._places[kept], self._real[kept]
        self._imaginary, self._error = self._imaginary[kept], self._error[kept]

    def _transform(self, factors: Factors) -> tuple[Logarithms, Real]:
        """ln N on the whole line, for N = sum m_l e^(i t L_l)/mass with m_l >= w_l e^(c L_l), and ln of the mass."""
        (distribution,) = factors
        c, size, h = self.plan.c, self.plan.size, self.plan.h
        losses = distribution.losses
        top = float(losses[-1])
        # Weights that are rounded up make another measure, which is nowhere smaller: no error to keep track of.
        tilted = vectors.mul_up(distribution.weights, vectors.exp_up(vectors.mul_up(c, vectors.sub_up(losses, top))))
        mass = float(vectors.sum_up(tilted))
        if not 0 < mass < math.inf:
            raise Unfit
        block = max(8, math.isqrt(size))
        rows = size // block + 1
        reach = float(np.abs(losses).max())
        if reach * h * (size + 1) > LARGEST_PHASE:
            raise Unfit
        # e^(i (a block + b) h L) = e^(i a block h L) e^(i b h L): the sum over l is a product of two matrices.
        coarse = np.multiply.outer(np.arange(rows) * (block * h), losses)
        fine = np.multiply.outer(losses, np.arange(block) * h)
        share = tilted / mass
        left = np.concatenate([np.cos(coarse), np.sin(coarse)]) * share
        right = np.concatenate([np.cos(fine), np.sin(fine)], axis=1)
        sums = left @ right
        real = (sums[:rows, :block] - sums[rows:, block:]).ravel()[1 : size + 1]
        imaginary = (sums[rows:, :block] + sums[:rows, block:]).ravel()[1 : size + 1]
        off = _matrix_error(len(losses), reach * h * (size + 1))
        log_mass = UP.add(UP.mul(real_up(c), real_up(top)), UP.log(real_up(mass)))
        return _logarithms(real, imaginary, off), log_mass

    def _transform_of_pairs(self, pairs: Factors) -> tuple[Logarithms, Real]:
        """Of pairs of points -L, L: each is N = (cos(t L) + i r sin(t L)) with r = (m_1 - m_2)/(m_1 + m_2)."""
        c, t = self.plan.c, self._steps
        losses = np.array([pair.losses[1] for pair in pairs])
        high = np.array([pair.weights[1] for pair in pairs])
        low = np.array([pair.weights[0] for pair in pairs])
        # Relative to e^(c L): m_1 is the upper weight itself, m_2 the lower one times e^(-2 c L), rounded up.
        small = vectors.mul_up(low, vectors.exp_up(vectors.mul_up(-2 * c, losses)))
        mass = vectors.add_up(high, small)
        reach = float(losses.max()) * self.plan.h * (self.plan.size + 1)
        if reach > LARGEST_PHASE:
            raise Unfit
        log_mass = real_up(0)
        for loss, one in zip(losses.tolist(), mass.tolist(), strict=True):
            log_mass = UP.add(log_mass, UP.add(UP.mul(real_up(c), real_up(loss)), UP.log(real_up(one))))
        angles = np.multiply.outer(losses, t)
        factors = np.empty(angles.shape, dtype=np.complex128)
        np.cos(angles, out=factors.real)
        np.multiply(((high - small) / mass)[:, None], np.sin(angles), out=factors.imag)
        product = np.multiply.reduce(factors, axis=0)
        # Each factor is at most 1 and off by at most so much, and so is each product of what came before.
        off = len(pairs) * (4 * (LIBRARY + reach * UNIT) + 32 * UNIT)
        return _logarithms(product.real, product.imag, off), log_mass

    # --- reading -----------------------------------------------------------------------------------------------------

    def prepare(self, mu_squared: Fraction) -> None:
        """Make the weights and phases of the sum, for this much continuous Gaussian noise and the extra noise."""
        noise = floats.add_up(self.plan.extra, float_up(real_up(mu_squared)))
        if self._weights is not None and noise == self._mu_squared:
            return
        self._mu_squared = noise
        c, h, size = self.plan.c, self.plan.h, self.plan.size
        t = self._steps[self._places]
        decay = (noise / 2) * t * t
        turn = (noise * (c + 0.5)) * t
        exponent = self._real - decay
        weights = (h / math.pi) * np.exp(exponent) / self._modulus[self._places]
        angle = np.arctan2(t, c) + np.arctan2(t, c + 1)
        phases = self._imaginary + turn - angle
        off = self._error + 8 * UNIT * (np.abs(self._real) + decay + np.abs(self._imaginary) + np.abs(turn) + 8)
        off += 16 * LIBRARY
        self._weights, self._phases = weights, phases
        total = float(weights.sum()) * (1 + 2 * UNIT * (len(t) + 1))
        with np.errstate(over="ignore", invalid="ignore"):  # then it is not finite, and unfit
            changed = float(weights @ np.expm1(off))
        self._sum_error = changed * (1 + 2.0**-30) + total * (len(t) + 64) * 4 * UNIT
        self._sum_error_slope = float(weights @ t) * 8 * UNIT
        if not math.isfinite(self._sum_error + self._sum_error_slope):
            raise Unfit
        # Beyond the last point, by the integral of e^(-noise t^2/2)/t^2, and where points were dropped.
        last = size * h
        cut = math.exp(-noise * last * last / 2) / (math.pi * last) * min(1.0, 1 / (noise * last * last))
        self._cut = (cut + self._floor * self._dropped * h / math.pi) * (1 + 2.0**-30) + 2.0**-1000

    def evaluate(self, epsilon: float) -> tuple[float, float]:
        """The sum relative to M(c) e^(-c epsilon), with all that bounds what it leaves out, and its derivative."""
        c, h = self.plan.c, self.plan.h
        weights = self._weights
        if weights is None:
            raise Unfit
        t = self._steps[self._places]
        if abs(epsilon) * self.plan.size * h > LARGEST_PHASE or (len(t) and np.abs(self._phases).max() > LARGEST_PHASE):
            raise Unfit
        angles = self._phases - t * epsilon
        first = h / (2 * math.pi * c * (c + 1))
        middle = float(weights @ np.cos(angles))
        slope = float((weights * t) @ np.sin(angles))
        errors = self._sum_error + self._sum_error_slope * abs(epsilon) + self._cut
        # `first` is off by at most six roundings, and so is the sum of the three.
        return first + middle + (errors * (1 + 2.0**-40) + 16 * UNIT * (first + abs(middle))), slope

    def log_scale(self, epsilon: float) -> Real:
        """ln of M(c) e^(-c epsilon), the Gaussian factors included, rounded up."""
        c = real_up(self.plan.c)
        noise = UP.mul(UP.mul(real_up(self._mu_squared), UP.mul(c, UP.add(c, 1))), real_up(0.5))
        # 53 bits times 53 bits fit into 192: the product is exact.
        return UP.sub(UP.add(self._log_mass, noise), UP.mul(c, real_up(epsilon)))


@theorem(
    "contour-sum",
    cites="Laplace inversion and Poisson summation; derived here. Compare Zhu, Dong and Wang 2022, Section 4",
    numbers=Numbers.OUTWARD,
)
def contour_delta(losses: Product, *, contour: Contour, epsilon: float) -> Real:
    """Delta of a product of loss distributions is at most a finite sum of values of its transform.

    Theorem
        Let M(z) = E[e^(z L)] be the transform of the finite part of a product of loss distributions (a product over
        them), and I the probability that some loss is infinite. For every c > 0, h > 0, mu > 0 and whole n,
        delta(epsilon) <= I + (h/2 pi) sum over |k| <= n of F(c + i k h) + R, with F(z) = M(z) e^(mu^2 z (z + 1)/2)
        e^(-z epsilon)/(z (z + 1)), T = n h and R = M(c) e^(mu^2 (c (c + 1) - T^2)/2 - c epsilon) min(1, (mu T)^-2)/(pi
        T).
    Requires
        Losses and weights of the points are at least the true ones, and parameters are fixed in advance: not for
        filters and odometers. NumPy's sin, cos (of arguments up to 2^30), exp, log, arctan2 and hypot on float64 have
        an error of at most 2^-46, relative or absolute for values up to 1 (128 units in the last place; the libraries
        claim 4 or less), and its + - * / and matrix products round each operation to nearest, in whatever order.
    Ensures
        The result is at least delta(epsilon).
    Proof
        (1) (1 - e^-x)_+ e^-cx has the Fourier transform 1/((c + i t)(c + i t + 1)), which is summable, and is itself
        continuous and summable over any lattice. By Poisson summation with W = 2 pi/h, (h/2 pi) times the sum over all
        k of e^((c + i k h) x)/((c + i k h)(c + i k h + 1)) is the sum over all n of (1 - e^-(x + n W))_+ e^(-c n W).
        All terms of that are >= 0 and the one of n = 0 is (1 - e^-x)_+. Take the mean over x = L - epsilon: the
        infinite sum of F is at least delta, for every c and h. (2) The factor e^(mu^2 z (z + 1)/2) is the transform of
        one more mechanism, Gaussian noise. With its loss G, E e^-G = 1, and s -> E(1 - s e^-L)_+ is convex, so that by
        Jensen's inequality its presence only raises delta. (3) |M(c + i t)| <= M(c), |e^(mu^2 z (z + 1)/2)| = e^(mu^2
        (c (c + 1) - t^2)/2) and |z (z + 1)| >= t^2. The terms beyond T are below an integral of a falling function, and
        the integral of e^(-a t^2/2)/t^2 from T on is at most e^(-a T^2/2)/T and at most e^(-a T^2/2)/(a T^3). This
        gives R. Where |M(z)| is known to be below a small part of M(c), the term is not summed: that part over |z (z +
        1)| is added instead. (4) Rounding. Weights m_l >= w_l e^(c L_l) are floats that were rounded up: they are the
        weights of a measure that is nowhere smaller, whose delta is nowhere smaller, and ln of their sum is rounded up
        in 192 bits. With N = M/M(c), |N| <= 1, what is computed is off by at most: a phase x = t L is off by |x| 2^-53,
        its cosine and sine by 2^-46 more; a product of two such numbers by the sum; a dot product of n terms by (n + 8)
        2^-53 times the sum of the moduli, in any order. An error e of N is one of at most 2 e/|N| of ln N if e <=
        |N|/2. Errors of logarithms add up with multiplicity, with 2^-52 of all magnitudes for the additions. The sum is
        of q_k cos(phase_k), where an error d of exponent and phase changes a term by at most q_k (e^d - 1). All of
        these are added up, after the fact and with room to spare, and added to the sum.
    Example
        >>> from viameter.composition.accounting.pairs import pure_pair
        >>> from viameter.composition.accounting.plan import line_for_epsilon, plan_at
        >>> product = Product()
        >>> product.add(pure_pair(Fraction(1, 20)), 1000)
        >>> contour = Contour(plan_at(product, line_for_epsilon(product, 8.283573)))
        >>> contour.include(product.counts.items())
        >>> f"{float(contour_delta(product, contour=contour, epsilon=8.283573346016258)):.3e}"
        '1.000e-06'
    """
    contour.prepare(losses.mu_squared)
    relative, _ = contour.evaluate(epsilon)
    finite = UP.mul(UP.exp(contour.log_scale(epsilon)), real_up(max(relative, 2.0**-1000)))
    return UP.add(losses.infinity, finite)


def _logarithms(real: Floats, imaginary: Floats, off: float) -> Logarithms:
    """ln of numbers of modulus at most 1 that are off by at most `off`."""
    modulus = np.hypot(real, imaginary)
    relative = off / np.maximum(modulus, off)
    unknown = relative > 0.5
    safe = np.where(unknown, 1.0, modulus)
    log_modulus = np.log(safe)
    # |N| <= 1 in truth; the logarithm of what was computed may be just above 0.
    error = 2.01 * relative + LIBRARY * (8 + 2 * np.abs(log_modulus))
    return Logarithms(log_modulus, np.arctan2(imaginary, real), error, unknown, min(1.0, 4 * off))


def _matrix_error(size: int, reach: float) -> float:
    """What N may be off by, computed as a product of matrices with `size` summands and phases up to `reach`."""
    trigonometric = LIBRARY + reach * UNIT
    return 6 * trigonometric + 8 * (size + 8) * UNIT
