"""From a Measurement to its description: what an accountant may count it as, for data this far apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended
from viameter.composition.accounting.descriptions import (
    Mechanism,
    approximate,
    bounded_range,
    discrete_gaussian,
    discrete_laplace,
    pure,
    renyi,
    zcdp,
)
from viameter.core import Loss, Measurement
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures.amounts import ApproxLoss, BoundedRangeLoss, PureLoss, ZCDPLoss
from viameter.measures.curves import RenyiLoss
from viameter.mechanisms.additive import gaussian_on_integers, laplace_on_integers
from viameter.spaces import AbsoluteDistance, IntDomain
from viameter.theorem import theorem_of

_NOISE: dict[str, Callable[[Fraction, int], Mechanism]] = {
    theorem_of(laplace_on_integers).slug: discrete_laplace,
    theorem_of(gaussian_on_integers).slug: discrete_gaussian,
}


def describe(measurement: Measurement, d_in: Any) -> Mechanism:
    """What an accountant counts a measurement as, on data `d_in` apart.

    Discrete noise on one integer is described as such, with the distance that reaches it as the sensitivity; everything
    else by its loss, as any mechanism of that loss.

    >>> import viameter as vm
    >>> space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> describe(vm.count(space) >> vm.laplace(scale=20), d_in=1)
    DiscreteLaplace(scale=Fraction(20, 1), sensitivity=1)
    """
    if not isinstance(measurement, Measurement):
        raise ParameterError(f"{plain(measurement)} is no Measurement: describe takes one and a distance")
    distance: Extended = measurement.input_space.metric.read_distance(d_in)
    *before, last = measurement.steps
    for step in before:
        distance = step.map(distance)
    noise = _NOISE.get(last.bound.theorem.slug)
    one = isinstance(last.input_space.domain, IntDomain) and isinstance(last.input_space.metric, AbsoluteDistance)
    if noise is not None and one and distance != INFINITY:
        # Integers at most d apart are at most d rounded down apart.
        return noise(Fraction(dict(last.bound.parameters)["scale"]), math.floor(distance))
    return _by_loss(measurement.map(d_in))


def _by_loss(loss: Loss) -> Mechanism:
    if not loss.is_finite:
        raise NoTheorem(f"{plain(loss)} is no guarantee: there is nothing to count")
    match loss:
        case PureLoss(epsilon=epsilon):
            return pure(Fraction(epsilon))
        case ApproxLoss(epsilon=epsilon, delta=delta):
            return approximate(Fraction(epsilon), delta)
        case ZCDPLoss(rho=rho):
            return zcdp(Fraction(rho))
        case BoundedRangeLoss(eta=eta):
            return bounded_range(Fraction(eta))
        case RenyiLoss():
            return renyi(loss)
    raise NoTheorem(
        f"an accountant does not count losses of {loss.measure!r}: convert it, measurement.to(ApproxDP, ...)"
    )
