"""Connect the dots: many points, or a density, replaced by few points that dominate, with an error of second order."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from viameter.composition.accounting.distribution import SLACK, Floats, LossDistribution, points
from viameter.errors import ParameterError
from viameter.theorem import Numbers, theorem

DOROSHENKO = "Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022 (Connect the Dots)"

LEAST = 2.0**-1000
"""Added to weights whose relative error is unknown because they are too small for float64."""
FARTHEST = 38.0
"""Deviations beyond which a normal loss is counted as infinite: a probability below 10^-313."""
NORMAL_SLACK = 1 + 2.0**-34
"""Above the relative error of a weight of `normal_cells`."""

# Nodes and weights of Gauss and Legendre on [-1, 1].
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)


@theorem("connect-the-dots", cites=DOROSHENKO, numbers=Numbers.OUTWARD)
def spread(losses: LossDistribution, *, nodes: Floats) -> LossDistribution:
    """The mass between two nodes may be moved to them, keeping its probability under both data.

    Theorem
        Let a loss L between a and b have probability w. The distribution in which it is replaced by a with probability
        w (e^-L - e^-b)/(e^-a - e^-b) and by b with probability w (e^-a - e^-L)/(e^-a - e^-b) dominates it.
    Requires
        Nodes that rise, the first at or below the lowest loss and the last at or above the highest. NumPy's exp and
        expm1 have a relative error of at most 2^-46.
    Ensures
        A distribution with losses at the nodes that dominates the one given; weights are rounded up.
    Proof
        Both probabilities are >= 0, their sum is w, and the sum under the other data, w e^-L, is kept. The profile is
        the mean of (1 - s y)_+ over y = e^-L, convex in y, and the two ends have the same mean y as L: Jensen. The
        quotients are computed as expm1 of differences of floats, without cancellation; a few dozen relative errors of
        2^-46 are less than the factor 1 + 2^-38 that weights are multiplied by.
    Example
        >>> law = LossDistribution(np.array([0.0, 0.5, 1.0]), np.array([0.25, 0.5, 0.25]))
        >>> few = spread(law, nodes=np.array([0.0, 1.0]))
        >>> few.weights.round(3).tolist()
        [0.439, 0.561]
    """
    given, weights = losses.losses, losses.weights
    if len(nodes) < 2 or nodes[0] > given[0] or nodes[-1] < given[-1] or not (np.diff(nodes) > 0).all():
        raise ParameterError("nodes must rise, and reach from the lowest loss to the highest")
    cell = np.clip(np.searchsorted(nodes, given, side="right") - 1, 0, len(nodes) - 2)
    a, b = nodes[cell], nodes[cell + 1]
    upper, lower = _shares(given - a, b - given, b - a)
    total = np.zeros(len(nodes))
    np.add.at(total, cell, weights * lower)
    np.add.at(total, cell + 1, weights * upper)
    kept = np.zeros(len(nodes), dtype=np.bool_)
    kept[cell] = kept[cell + 1] = True
    moved = total * (SLACK * (1 + len(given) * 2.0**-51)) + LEAST
    return LossDistribution(nodes[kept], moved[kept], losses.infinity, losses.mu_squared)


@theorem("normal-loss-by-cells", cites=DOROSHENKO + "; quadrature derived here", numbers=Numbers.IDEALIZED)
def normal_cells(squares: Fraction, *, cells_per_deviation: int = 100) -> LossDistribution:
    """The loss of continuous Gaussian noise, normal of mean mu^2/2 and variance mu^2, by finitely many points.

    Theorem
        Let L be normal with mean mu^2/2 and variance mu^2. Replacing L within each cell by its ends as connect-the-dots
        does, L above the last cell by the next of few points further out, or by infinity beyond 38 deviations, and L
        below the first by its lower end dominates L.
    Requires
        Continuous Gaussian noise: no computer draws it, and discrete noise is *not* dominated by it. NumPy's exp and
        expm1 have a relative error of at most 2^-46.
    Ensures
        Points that dominate N(mu, 1) against N(0, 1), for 2^-40 <= mu <= 30.
    Proof
        Connect-the-dots, with the integrals over a cell by 8 nodes of Gauss and Legendre. The integrand is entire. In a
        Bernstein ellipse of parameter 16 around a cell of width w <= 1/50 deviations, points are at most 8.1 w/2 < 0.09
        from its middle x, |x| <= 45, so that the density is at most e^(0.09 45 + 0.01) times that at the middle, and
        the share at most 20 of its largest real value. The quadrature's error is at most (64/15) times that times
        16^-14/(1 - 16^-2) (Trefethen, Approximation Theory, Theorem 19.3), below 2^-42 of the integral. The place in
        the cell is off by 2^-52 |L|, less than 2^-37 of the cell. Together this is less than the factor 1 + 2^-34.
        Mills' ratio, P(X > x) <= e^(-x^2/2)/(x sqrt(2 pi)), bounds what is left on both sides.
    Example
        >>> law = normal_cells(Fraction(1))
        >>> round(float(law.weights @ law.losses), 3), law.infinity < 1e-300
        (0.5, True)
    """
    mu = math.sqrt(squares)
    if not 2.0**-40 <= mu <= 30 or cells_per_deviation < 50:
        raise ParameterError(
            f"mu={mu:.6g} and {cells_per_deviation} cells: expected mu in [2^-40, 30], 50 cells or more"
        )
    reach = 13.2
    size = math.ceil((2 * reach + mu) * cells_per_deviation)
    nodes = np.linspace(float(squares) / 2 - mu * (mu + reach), float(squares) / 2 + mu * reach, size + 1)
    a, b = nodes[:-1], nodes[1:]
    middle, half = (a + b) / 2, (b - a) / 2
    lower, upper = np.zeros(size), np.zeros(size)
    for node, node_weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
        loss = middle + half * node
        x = (loss - float(squares) / 2) / mu
        density = np.exp(-x * x / 2) * (node_weight * half / (mu * math.sqrt(2 * math.pi)))
        to_upper, to_lower = _shares(half * (1 + node), half * (1 - node), 2 * half)
        lower += density * to_lower
        upper += density * to_upper
    weights = np.zeros(size + 1)
    weights[:-1] += lower
    weights[1:] += upper
    weights = weights * NORMAL_SLACK + LEAST
    below = reach + mu - 2.0**-30
    weights[0] += math.exp(-below * below / 2) / below
    # Few points further out: what is beyond one is counted at the next.
    out = np.linspace(reach, FARTHEST, 51)
    rest = np.exp(-((out - 2.0**-30) ** 2) / 2) / out
    further = (float(squares) / 2 + mu * out[1:]) * (1 + 2.0**-50)
    return points(np.append(nodes, further), np.append(weights, rest[:-1]), float(rest[-1]))


def half_exponential_cells(top: float, *, factor: float, cells: int) -> tuple[Floats, Floats]:
    """Nodes from -top to top, and weights >= those of connect-the-dots for the density factor e^((x - top)/2).

    For a cell of width w both ends get 2 factor e^((x - top)/2) tanh(w/4), x being the end: the probability under one
    data is the integral of e^(x/2), under the other that of e^(-x/2), and what connect-the-dots makes of them is this.
    """
    nodes = np.linspace(-top, top, cells + 1)
    nodes[0], nodes[-1] = -top, top
    shares = np.tanh(np.diff(nodes) / 4)
    weights = np.zeros(cells + 1)
    weights[:-1] += shares
    weights[1:] += shares
    weights *= (2 * factor * SLACK) * np.exp((nodes - top) / 2)
    return nodes, weights + LEAST


def _shares(from_lower: Floats, to_upper: Floats, width: Floats) -> tuple[Floats, Floats]:
    """Which part of a mass goes to the upper and to the lower end of its cell, by its distance from both."""
    whole = -np.expm1(-width)
    return -np.expm1(-from_lower) / whole, np.exp(-from_lower) * -np.expm1(-to_upper) / whole
