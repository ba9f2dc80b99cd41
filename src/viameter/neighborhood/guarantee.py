"""Guarantee: a loss together with the granularity that it is stated for; and the way from one to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from viameter.arith import INFINITY
from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures.groups import group_loss
from viameter.neighborhood.arrangement import steps_of
from viameter.neighborhood.changes import Steps
from viameter.neighborhood.granularities import Geo, Granularity, Group
from viameter.neighborhood.granularities.classes import speaks_of_data_of
from viameter.theorem import Derivation, Explanation


@dataclass(frozen=True, slots=True, repr=False)
class Guarantee:
    """A loss and the granularity that it is for: what two datasets are that cannot be told apart by more."""

    loss: Loss
    granularity: Granularity
    why: Callable[[], Derivation] | None = field(default=None, compare=False)
    """The theorems behind it, where it was converted from a composition."""

    def explain(self) -> Explanation:
        """The claim, and the theorems behind it."""
        if self.why is None:
            raise ParameterError("this guarantee was not converted from a composition: ask that one to explain()")
        return Explanation(f"On neighbors in {self.granularity!r} the loss is {self.loss!r}.", self.why())

    def to(self, granularity: Granularity) -> Guarantee:
        """What this implies for another granularity.

        >>> from viameter import neighborhood as nb
        >>> import viameter as vm
        >>> Guarantee(vm.pure("1/10"), nb.event()).to(nb.w_event(7)).loss
        pure(7/10)
        """
        return Guarantee(translate(self.loss, frm=self.granularity, to=granularity), granularity)

    def __repr__(self) -> str:
        return f"{self.loss!r} for {self.granularity!r}: two datasets are neighbors if {self.granularity.protects}"


def stability(frm: Granularity, to: Granularity) -> Steps:
    """How many steps of one granularity a step of another is at most; infinite if no number is known.

    >>> from viameter import neighborhood as nb
    >>> stability(nb.unbounded(), nb.bounded()), stability(nb.event(), nb.w_event(3))
    (2, 3)
    >>> stability(nb.bounded(), nb.unbounded())
    inf
    """
    for name, given in (("frm", frm), ("to", to)):
        if not isinstance(given, Granularity):
            raise ParameterError(f"{name}={plain(given)} is not a granularity: expected e.g. bounded()")
    if frm == to:
        return 1
    if not speaks_of_data_of(frm, to):
        return INFINITY
    if isinstance(frm, Geo) and isinstance(to, Geo):
        if to.radius <= frm.radius:
            return 1
        raise NoTheorem(
            f"from {frm!r} to {to!r} it takes places in between, which there need not be: state the larger radius"
        )
    try:
        return max(steps_of(frm, edit) for edit in to.edits)
    except NoTheorem:
        if not isinstance(to, Group):
            raise
    # So many steps of the base, each of which is so many steps of this.
    each = stability(frm, to.base)
    return INFINITY if each == INFINITY else each * to.most


def translate(loss: Loss, *, frm: Granularity, to: Granularity) -> Loss:
    """What a loss for the neighbors of one granularity implies for those of another.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> nb.translate(vm.zcdp("0.1"), frm=nb.unbounded(), to=nb.bounded())
    zcdp(2/5)
    """
    if not isinstance(loss, Loss):
        raise ParameterError(f"loss={plain(loss)} is not a loss: expected e.g. pure('1/10')")
    return group_loss(loss, stability(frm, to))
