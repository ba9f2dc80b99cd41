"""Pictures of losses: privacy profiles side by side, and what was spent over the life of an odometer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from viameter.arith import exact, show
from viameter.composition.entries import Charge
from viameter.composition.meter import FilterMeter, Meter
from viameter.core import Loss
from viameter.errors import ParameterError, plain
from viameter.measures import ApproxDP
from viameter.measures.amounts import AmountLoss, ApproxLoss
from viameter.viz import draw_profiles, draw_spending

POINTS = 80


def plot_profiles(losses: Mapping[str, Loss] | Sequence[Loss] | Loss, *, most: Any = None) -> Any:
    """The delta of each loss at every epsilon up to `most`, as a figure of matplotlib.

    >>> import viameter as vm
    >>> figure = plot_profiles([vm.zcdp("1/10"), vm.gdp("1/2"), vm.pure(1)])
    """
    if isinstance(losses, Loss):
        losses = [losses]
    given = list(losses.values() if isinstance(losses, Mapping) else losses)
    if not given or not all(isinstance(loss, Loss) for loss in given):
        raise ParameterError("plot_profiles takes losses: a list of them, or a dict with their names")
    named = dict(losses) if isinstance(losses, Mapping) else {repr(loss): loss for loss in given}
    end = _reach(list(named.values())) if most is None else exact(most, name="most")
    if end <= 0:
        raise ParameterError(f"most={show(end)} is not above 0")
    epsilons = [end * place / POINTS for place in range(POINTS + 1)]
    curves = {name: [(float(e), _delta(loss, e)) for e in epsilons] for name, loss in named.items()}
    return draw_profiles(curves, title="Privacy profiles: delta at every epsilon")


def plot_spending(meter: Meter, *, d_in: Any = None) -> Any:
    """What was spent after each query, for data `d_in` apart (a filter knows its own), as a figure of matplotlib."""
    if d_in is None and not isinstance(meter, FilterMeter):
        raise ParameterError("d_in is missing: an odometer has a loss for every distance")
    budget = meter.budget if isinstance(meter, FilterMeter) else None
    losses: list[Loss] = [line.loss if isinstance(line, Charge) else line.loss(d_in) for line in meter.history]
    measure = meter.loss(d_in).measure if budget is None else budget.measure
    totals, total = [], measure.zero
    for loss in losses:
        total = total + loss
        totals.append(_first(total))
    name = _first_name(total)
    return draw_spending(
        totals,
        unit=f"{name} in {measure!r}",
        budget=None if budget is None else _first(budget),
        title=f"Spent over {len(losses)} queries",
    )


def _delta(loss: Loss, epsilon: Fraction) -> float:
    found = loss.to(ApproxDP, epsilon=epsilon)
    assert isinstance(found, ApproxLoss)
    return float(found.delta)


def _reach(losses: list[Loss]) -> Fraction:
    """An epsilon at which the deltas of all losses are small, or fall no further."""
    end = Fraction(1)
    while end < 64 and any(_delta(loss, end) > max(1e-9, 1.001 * _delta(loss, 2 * end)) for loss in losses):
        end *= 2
    return end


def _first_name(loss: Loss) -> str:
    if not isinstance(loss, AmountLoss):
        raise ParameterError(f"{plain(loss)} is a curve, and has no single number to draw")
    return loss.names[0]


def _first(loss: Loss) -> float:
    return float(getattr(loss, _first_name(loss)))
