"""Preview: what a question would cost and how wide its intervals would be; made from public parameters alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from viameter.core import Loss
from viameter.tables.units import Unit


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One aggregate: its share of the cost, its noise, and how far it may be from the truth."""

    name: str
    loss: Loss
    """What the statistics cost that it uses; several aggregates may share one."""
    noise: str
    widths: dict[str, float]
    """Half the width of the interval, by what it depends on: nothing, or the size of a group."""
    covers: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A budget that pays for questions, as it stands: three numbers that belong together."""

    name: str
    """What it is called; empty where there is but one."""
    budget: Loss
    spent: Loss
    left: Loss

    def has_room_for(self, loss: Loss) -> bool:
        """Whether a loss fits into what is left; one that is counted in another measure is not judged here."""
        return loss.measure != self.left.measure or loss <= self.left


def binding(budgets: Sequence[Standing], loss: Loss | None = None) -> Standing:
    """Which of the budgets that pay limits what may be spent: one that has no room for a loss, else the least left.

    >>> import viameter as vm
    >>> whole = Standing("visits", vm.pure(1), vm.pure("1/2"), vm.pure("1/2"))
    >>> own = Standing("visits@ann", vm.pure("1/4"), vm.pure(0), vm.pure("1/4"))
    >>> binding([whole, own]).name
    'visits@ann'
    """
    too_small = next((one for one in budgets if loss is not None and not one.has_room_for(loss)), None)
    if too_small is not None:
        return too_small
    least = budgets[0]
    for one in budgets[1:]:
        if one.left.measure == least.left.measure and one.left <= least.left:
            least = one
    return least


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """What a question would cost, aggregate by aggregate; nothing was read or spent."""

    rows: tuple[PreviewRow, ...]
    loss: Loss
    budgets: tuple[Standing, ...]
    """Those that would pay, each as it stands."""
    fits: bool
    """Whether all of them have room for it."""
    alpha: Fraction
    unit: Unit
    """Whose presence an answer would hide."""
    kept: str
    """What counts of a unit."""
    notes: tuple[str, ...] = ()
    question: str = field(default="", kw_only=True)
    """The question, as it was read."""

    @property
    def binding(self) -> Standing:
        """Which of the budgets limits it: one that has no room for it, else the one of which least is left."""
        return binding(self.budgets, self.loss)

    @property
    def spent(self) -> Loss:
        """What was spent before of the budget that limits it."""
        return self.binding.spent

    @property
    def left(self) -> Loss:
        """What is left of the same budget."""
        return self.binding.left

    def __repr__(self) -> str:
        from viameter.tables.showing import preview_text

        return preview_text(self)

    def _repr_html_(self) -> str:
        from viameter.tables.showing import preview_html

        return preview_html(self)


def costs_note(rows: Sequence[PreviewRow], total: Loss, *, shared: bool) -> str:
    """Why the costs of aggregates do not add up to the total, in a sentence; empty if they do.

    >>> import viameter as vm
    >>> costs_note([PreviewRow("n", vm.pure("1/2"), "", {}, "")], vm.approx("1/2", 0), shared=False)
    'the cost of an aggregate is in pure, as its noise is counted, and the total in approx'
    """
    used, budgeted = (repr(loss).partition("(")[0] for loss in (rows[0].loss, total))
    said = []
    if used != budgeted:
        said.append(f"the cost of an aggregate is in {used}, as its noise is counted, and the total in {budgeted}")
    if shared:
        said.append("statistics that aggregates share are in the cost of each, and are paid for once")
    return "; ".join(said)
