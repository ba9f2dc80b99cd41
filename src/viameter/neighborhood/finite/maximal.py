"""The losses that no other loss dominates, and the least loss above all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from viameter.core import Loss
from viameter.errors import NoTheorem
from viameter.measures import renyi
from viameter.measures.amounts import AmountLoss
from viameter.measures.curves import RenyiLoss


class _HasLoss(Protocol):
    @property
    def loss(self) -> Loss: ...


Each = TypeVar("Each", bound=_HasLoss)


def maximal(found: Iterable[Each]) -> tuple[Each, ...]:
    """Those whose loss no other one dominates; of equal losses the first."""
    kept: list[Each] = []
    for each in found:
        if not any(each.loss <= other.loss for other in kept):
            kept = [other for other in kept if not other.loss <= each.loss]
            kept.append(each)
    return tuple(kept)


def join(losses: Sequence[Loss], zero: Loss) -> Loss:
    """The least loss above all of these, number by number; `zero` if there are none.

    >>> from viameter.measures import approx
    >>> join([approx(1, "1/8"), approx(2, "1/16")], approx(0, 0))
    approx(2, 1/8)
    """
    if len(losses) <= 1:
        return losses[0] if losses else zero
    first = losses[0]
    if isinstance(first, AmountLoss):
        return type(first)(**{name: max(getattr(loss, name) for loss in losses) for name in first.names})
    if all(isinstance(loss, RenyiLoss) for loss in losses):
        curves = [loss for loss in losses if isinstance(loss, RenyiLoss)]
        orders = {order for curve in curves for order in curve.orders}
        bounds = {order: max(curve.at(order) for curve in curves) for order in orders}
        return renyi(bounds) if bounds else zero.measure.infinite
    raise NoTheorem(f"losses of {zero.measure!r} have no least upper bound here: look at `maximal`")
