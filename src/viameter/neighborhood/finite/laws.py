"""Privacy laws of one leaf: its loss at a distance, and how the losses of several steps add up to that of their chain.

A law is a function from the distance to a loss (or to a number, which is an epsilon of pure privacy), or simply the
loss at distance 1, whose loss at other distances is the group law of its measure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeAlias

from viameter.arith import INFINITY, ZERO, Extended, dyadic, extended, times
from viameter.core import Loss
from viameter.errors import ParameterError
from viameter.measures import ZCDP, BoundedRange, GaussianDP, PureDP

Law: TypeAlias = Callable[[Extended], Any] | Loss

# The losses of steps along a chain add for these, or their square roots do: (measure, field, whether a root is taken).
_SCALAR = {
    PureDP: ("epsilon", False),
    BoundedRange: ("eta", False),
    ZCDP: ("rho", True),
    GaussianDP: ("mu_squared", True),
}

ROOT_BITS = 256


def loss_at(law: Law, distance: Extended) -> Loss:
    """The loss of a leaf between data at this distance.

    >>> from viameter.measures import pure, zcdp
    >>> loss_at(pure("1/5"), Fraction(3)), loss_at(zcdp("1/5"), Fraction(3)), loss_at(lambda d: min(d, 2), Fraction(3))
    (pure(3/5), zcdp(9/5), pure(2))
    """
    if isinstance(law, Loss):
        return _group(law, distance)
    value = law(distance)
    loss = value if isinstance(value, Loss) else PureDP.loss(extended(value, name="the law's loss"))
    if distance == 0 and loss != loss.measure.zero:
        raise ParameterError(
            f"the law gives {loss!r} at distance 0: expected no loss, data at distance 0 look the same"
        )
    return loss


def is_scalar(loss: Loss) -> bool:
    """Whether losses of the measure of this loss are one number, of which chains have a known law."""
    return loss.measure in _SCALAR


def weight(loss: Loss) -> Extended:
    """What adds along a chain: the loss, or its square root; a root that is irrational is rounded up.

    >>> from viameter.measures import zcdp
    >>> weight(zcdp("1/4"))
    Fraction(1, 2)
    """
    field, rooted = _SCALAR[loss.measure]
    amount: Extended = getattr(loss, field)
    if not rooted or amount == INFINITY:
        return amount
    square = Fraction(amount)
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return root if root * root == square else dyadic.sqrt_up(square, bits=ROOT_BITS)


def chain(steps: Iterable[Loss], zero: Loss) -> Loss:
    """The loss between the ends of a chain of steps, for one-number measures: exact, or rounded up where roots mix.

    >>> from viameter.measures import zcdp
    >>> chain([zcdp(2)] * 3, zcdp(0)), chain([zcdp(1), zcdp(4)], zcdp(0))
    (zcdp(18), zcdp(9))
    """
    counted = Counter(loss for loss in steps if loss != zero)
    if not counted:
        return zero
    field, rooted = _SCALAR[zero.measure]
    if len(counted) == 1:
        ((only, count),) = counted.items()
        factor = Fraction(count**2 if rooted else count)
        return type(zero)(**{field: times(getattr(only, field), factor)})
    if any(getattr(loss, field) == INFINITY for loss in counted):
        return zero.measure.infinite
    total = sum((Fraction(weight(loss)) * count for loss, count in counted.items()), ZERO)
    return type(zero)(**{field: total**2 if rooted else total})


def _group(loss: Loss, distance: Extended) -> Loss:
    measure = loss.measure
    if distance == 0:
        return measure.zero
    if distance == INFINITY:
        # Also where no step loses anything: where no steps lead, steps promise nothing (0-private for replacing a
        # record is also what tells the number of records).
        return measure.infinite
    if distance == 1:
        return loss
    if measure in _SCALAR:
        field, rooted = _SCALAR[measure]
        steps = Fraction(distance)
        return type(loss)(**{field: times(getattr(loss, field), steps**2 if rooted else steps)})
    if Fraction(distance).denominator != 1:
        raise ParameterError(
            f"{loss!r} at distance {distance} is not known: of {measure!r} only whole numbers of steps are; "
            "give the law as a function of the distance"
        )
    from viameter.measures.groups import group_loss

    return group_loss(loss, distance)
