"""From a target loss to the noise that it needs: in closed form, never below what is needed.

Scales are exact where the formula is rational. Where it has a root or a logarithm, the scale is rounded up to a dyadic
rational of `BITS` bits; the loss of the result is at most the target, and is checked to be.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended, dyadic, exact, nonnegative
from viameter.core import Constructor, Loss, Measurement, Space, Transformation
from viameter.errors import MeasureMismatch, NoTheorem, ParameterError, plain
from viameter.measures import ApproxDP
from viameter.measures.amounts import ApproxLoss, ZCDPLoss
from viameter.measures.conversions.concentrated import greatest_rho
from viameter.mechanisms.additive import gaussian, geometric, laplace, rounding_to_a_grid
from viameter.mechanisms.response import randomized_response
from viameter.mechanisms.selection import exponential, noisy_max, top_k
from viameter.mechanisms.sparse import sparse_vector
from viameter.spaces import CategoryDomain, VectorDomain

BITS = 64

Formula = Callable[[Fraction, Loss, Space, dict[str, Any]], dict[str, Any]]


def calibrate(
    mechanism: Constructor[..., Measurement], data: Space | Transformation, *, d_in: Any, loss: Loss, **parameters: Any
) -> Measurement:
    """The mechanism with as little noise as the loss allows, for data `d_in` apart; after a transformation if given.

    >>> import viameter as vm
    >>> visits = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> waits = visits >> vm.clamp(bounds=(0, 240)) >> vm.sum()
    >>> release = vm.calibrate(vm.laplace, waits, d_in=1, loss=vm.pure("1/2"))
    >>> release.steps[-1], release.map(1)
    (Space(domain=scalars(int), metric=AbsoluteDistance()) >> laplace(scale=480), pure(1/2))

    Gaussian noise, which is counted in zCDP, may be given an epsilon and a delta:

    >>> vm.calibrate(vm.gaussian, visits >> vm.count(), d_in=1, loss=vm.approx(1, "1e-6")).map(1)
    approx(<=1, 1/1000000)
    """
    formula = FORMULAS.get(getattr(mechanism, "name", ""))
    if formula is None:
        raise NoTheorem(f"no formula calibrates {plain(mechanism)}: expected one of {', '.join(FORMULAS)}")
    space = data.output_space if isinstance(data, Transformation) else data
    if not isinstance(space, Space):
        raise ParameterError(f"calibrate takes a Space or a Transformation, not {type(data).__name__}")
    if not isinstance(loss, Loss):
        raise ParameterError(f"loss={plain(loss)} is not a loss: expected e.g. pure(1)")
    if not loss.is_finite or loss <= loss.measure.zero:
        raise ParameterError(f"loss={plain(loss)}: expected a finite loss above 0")
    distance: Extended = data.map(d_in) if isinstance(data, Transformation) else space.metric.read_distance(d_in)
    if distance in (0, INFINITY):
        raise ParameterError(f"data {d_in} apart are {distance} apart here: no noise is needed, or none is enough")
    if mechanism.name == gaussian.name and isinstance(loss, ApproxLoss):
        # Gaussian noise is counted in zCDP: as much of that as is within epsilon at delta.
        if loss.delta == 0:
            raise NoTheorem(f"{loss!r}: Gaussian noise is never within an epsilon at delta 0; give a delta above 0")
        rho = ZCDPLoss(greatest_rho(Fraction(loss.epsilon), loss.delta))
        return calibrate(mechanism, data, d_in=d_in, loss=rho, **parameters).to(ApproxDP, delta=loss.delta)
    found = formula(Fraction(distance), loss, space, parameters)
    given = [name for name in parameters if name in found]
    if given:
        raise ParameterError(f"{given[0]} is what is calibrated: leave it out")
    made = mechanism(space, **parameters, **found)
    if made.measure != loss.measure:
        raise MeasureMismatch("the loss", loss.measure, mechanism.name, made.measure)
    whole = data >> made if isinstance(data, Transformation) else made
    if not whole.check(d_in, loss):
        raise NoTheorem(f"{mechanism.name} cannot be calibrated to {plain(loss)} with these parameters")
    return whole


def _laplace(distance: Fraction, loss: Loss, space: Space, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"scale": _steps(distance, space, parameters, norm=1) / _amount(loss, "epsilon")}


def _gaussian(distance: Fraction, loss: Loss, space: Space, parameters: dict[str, Any]) -> dict[str, Any]:
    steps = _steps(distance, space, parameters, norm=2)
    return {"scale": dyadic.sqrt_up(steps**2 / (2 * _amount(loss, "rho")), bits=BITS)}


def _steps(distance: Fraction, space: Space, parameters: dict[str, Any], *, norm: int) -> Fraction:
    """The distance that noise has to hide, in the data's own unit: after rounding, where there is a grid."""
    if parameters.get("grid") is None:
        return distance
    step = exact(parameters["grid"], name="grid")
    if step <= 0:
        raise ParameterError(f"grid={parameters['grid']!s} is not above 0")
    size = (space.domain.size or 1) if isinstance(space.domain, VectorDomain) else 1
    return Fraction(rounding_to_a_grid(distance, step=step, size=size, norm=norm)) * step


def _selection(distance: Fraction, loss: Loss, _: Space, parameters: dict[str, Any]) -> dict[str, Any]:
    if parameters.get("noise") == "laplace":
        distance = Fraction(distance // 1)  # integer scores
    reach = distance * (1 if parameters.get("monotone") else 2)
    picks = _whole(parameters, "k")
    measure = repr(loss.measure)
    if measure == "ZCDP":
        # Picks cost (reach/s)^2/8 each.
        scale = dyadic.sqrt_up(reach**2 * picks / (8 * _amount(loss, "rho")), bits=BITS)
    elif measure == "BoundedRange":
        scale = reach * picks / _amount(loss, "eta")
    else:
        scale = reach * picks / _amount(loss, "epsilon")
    return {"scale": scale, **({} if "measure" in parameters else {"measure": loss.measure})}


def _response(distance: Fraction, loss: Loss, space: Space, _: dict[str, Any]) -> dict[str, Any]:
    element = space.domain.element if isinstance(space.domain, VectorDomain) else space.domain
    others = len(element.values) - 1 if isinstance(element, CategoryDomain) else 1
    # p = 1/(1 + (k - 1) exp(-eps)), rounded down.
    weight = others * dyadic.exp_up(-_amount(loss, "epsilon") / distance, bits=BITS)
    return {"probability": dyadic.div_down(Fraction(1), 1 + weight, bits=BITS)}


def _sparse(distance: Fraction, loss: Loss, space: Space, parameters: dict[str, Any]) -> dict[str, Any]:
    # With half of that for the threshold: D/(s/2) + 2cD/s = 2 (1 + c) D/s.
    if "threshold_scale" in parameters:
        raise ParameterError("sparse_vector is calibrated with threshold_scale at half of scale: leave it out")
    sensitivity = nonnegative(parameters.get("sensitivity", 1), name="sensitivity") // 1
    scale = 2 * (1 + _whole(parameters, "limit")) * sensitivity / _amount(loss, "epsilon")
    return {"scale": scale, "d_in": distance}


def _amount(loss: Loss, name: str) -> Fraction:
    if not hasattr(loss, name):
        raise NoTheorem(f"{plain(loss)} has no {name}, which this mechanism's loss is counted in")
    return Fraction(getattr(loss, name))


def _whole(parameters: dict[str, Any], name: str) -> int:
    value = parameters.get(name, 1)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name}={value!r}: expected a whole number >= 1")
    return value


FORMULAS: dict[str, Formula] = {
    laplace.name: _laplace,
    geometric.name: _laplace,
    gaussian.name: _gaussian,
    exponential.name: _selection,
    noisy_max.name: _selection,
    top_k.name: _selection,
    randomized_response.name: _response,
    sparse_vector.name: _sparse,
}
