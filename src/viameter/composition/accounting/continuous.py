"""Continuous noise: idealized loss distributions, to compare with the literature. Nothing that runs is counted so."""

from __future__ import annotations

from fractions import Fraction

from viameter.arith import ZERO, Extended, Number, floats, nonnegative, probability
from viameter.composition.accounting.distribution import LossDistribution, gaussian_factor, points
from viameter.composition.accounting.dots import half_exponential_cells
from viameter.composition.accounting.pairs import NOTHING
from viameter.composition.accounting.reading import read_positive
from viameter.composition.accounting.reals import DOWN, UP, Real, as_fraction, float_up, real_down, real_up
from viameter.theorem import Numbers, theorem

CELLS = 800


@theorem("dominating-continuous-laplace", cites="Dwork, McSherry, Nissim and Smith 2006", numbers=Numbers.IDEALIZED)
def continuous_laplace_pair(d_in: Fraction, *, scale: Fraction, cells: int = CELLS) -> LossDistribution:
    """Real-valued Laplace noise has the losses d/s and -d/s, and a density between.

    Theorem
        Let e = d/s. For centers at most d apart the mechanism is dominated by a loss of e with probability 1/2, of -e
        with probability e^-e/2, and of density e^((x - e)/2)/4 between.
    Requires
        Noise on the real line, which no computer draws: discrete noise, even of the same scale, costs *more*. NumPy's
        exp and tanh have a relative error below 2^-46.
    Ensures
        Points that dominate this, by connect-the-dots.
    Proof
        The density of the noise is log-concave, so that the largest distance is worst (dominating-discrete-laplace).
        The loss is (|z - d| - |z|)/s; below 0 and above d it is constant, between it is linear in z.
    Example
        >>> pair = continuous_laplace_pair(Fraction(1), scale=Fraction(20))
        >>> float(pair.losses[-1]), round(float(pair.weights[-1]), 3)
        (0.05, 0.5)
    """
    if d_in == 0:
        return NOTHING
    top = floats.from_fraction_up(d_in / scale)
    nodes, weights = half_exponential_cells(top, factor=0.25, cells=cells)
    weights[-1] = floats.add_up(float(weights[-1]), 0.5)
    weights[0] = floats.add_up(float(weights[0]), float_up(UP.exp(real_up(-top))) / 2)
    return points(nodes, weights)


def continuous_gaussian_pair(d_in: Fraction, *, scale: Fraction) -> LossDistribution:
    """Real-valued Gaussian noise: a normal loss of variance (d/s)^2 and half of that as its mean."""
    return gaussian_factor((d_in / scale) ** 2) if d_in else NOTHING


@theorem("gaussian-profile", cites="Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2019", numbers=Numbers.IDEALIZED)
def gaussian_delta(squares: Number, *, epsilon: Number) -> Fraction:
    """Continuous Gaussian noise has delta = Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu).

    Theorem
        N(mu, 1) against N(0, 1) has delta(e) = Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu).
    Requires
        Continuous Gaussian noise: no computer draws it. Discrete Gaussian noise of scale 1 has delta(1) = .14135, above
        the .12694 of this formula.
    Ensures
        The result is delta, rounded up.
    Proof
        The loss is normal with mean mu^2/2 and variance mu^2 under the one, mean -mu^2/2 under the other data, and
        delta is P(L > e) - e^e Q(L > e). It rises with mu, so that mu may be rounded up; the first term is rounded up,
        the second down.
    Example
        >>> float(gaussian_delta(1, epsilon=1))
        0.126936737506...
    """
    level, squared = nonnegative(epsilon, name="epsilon"), nonnegative(squares, name="squares")
    if squared == 0:
        return ZERO
    mu = UP.sqrt(real_up(squared))
    first = _upper_tail(DOWN.sub(DOWN.div(real_down(level), mu), UP.div(mu, 2)), UP)
    second = _upper_tail(UP.add(UP.div(real_up(level), mu), UP.div(mu, 2)), DOWN)
    bound = UP.sub(first, DOWN.mul(DOWN.exp(real_down(level)), second))
    return min(Fraction(1), max(ZERO, as_fraction(bound)))


def gaussian_epsilon(squares: Number, *, delta: Number) -> Extended:
    """An epsilon just above the least one of continuous Gaussian noise at a delta > 0."""
    target, squared = (
        probability(read_positive(delta, name="delta"), name="delta"),
        nonnegative(squares, name="squares"),
    )
    if gaussian_delta(squared, epsilon=0) <= target:
        return ZERO
    high = Fraction(1, 1024)
    while gaussian_delta(squared, epsilon=high) > target:
        high *= 2
    low = high / 2
    for _ in range(48):
        middle = (low + high) / 2
        if gaussian_delta(squared, epsilon=middle) <= target:
            high = middle
        else:
            low = middle
    return high


def _upper_tail(x: Real, context: Real) -> Real:
    """P(X > x) of a standard normal X, rounded as the context says, for the x that is given."""
    # erfc falls: its argument is rounded the other way.
    root = (UP if context is DOWN else DOWN).div(x, _ROOT_DOWN if (x > 0) == (context is DOWN) else _ROOT_UP)
    return context.div(context.erfc(root), 2)


_ROOT_UP, _ROOT_DOWN = UP.sqrt(real_up(2)), DOWN.sqrt(real_down(2))
