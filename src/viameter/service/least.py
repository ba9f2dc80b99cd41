"""The least that may be spent at once: a part of a dataset's budget."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from viameter.core import Loss


def least_spend(cap: Loss, share: Fraction) -> Loss:
    """The loss whose first number (epsilon, rho) is this part of the budget's; the others, such as delta, are 0.

    Every measure that a dataset can have a budget in has such a number. A Renyi curve has one for each order, and no
    dataset has a budget of those: for one, this would have to be asked at each order, and the largest part decides.

    >>> import viameter as vm
    >>> least_spend(vm.approx(2, "1e-6"), Fraction(1, 1000)), least_spend(vm.zcdp("1/2"), Fraction(0))
    (approx(1/500, 0), zcdp(0))
    """
    amount: Any = cap
    first, *others = amount.names
    found: Loss = type(amount)(Fraction(getattr(amount, first)) * share, *(Fraction(0) for _ in others))
    return found


def is_less(spend: Loss, least: Loss) -> bool:
    """Whether the first number of a loss is below that of another one, of the same measure.

    >>> import viameter as vm
    >>> is_less(vm.approx("1/1000", "1e-9"), vm.approx("1/500", 0)), is_less(vm.pure("1/500"), vm.pure("1/500"))
    (True, False)
    """
    name = least.names[0]  # type: ignore[attr-defined]
    return bool(getattr(spend, name) < getattr(least, name))
