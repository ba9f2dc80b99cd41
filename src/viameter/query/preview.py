"""Preview: what a question would cost and how wide its intervals would be; made from public parameters alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from viameter.core import Loss
from viameter.query.units import Unit


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


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """What a question would cost, aggregate by aggregate; nothing was read or spent."""

    rows: tuple[PreviewRow, ...]
    loss: Loss
    spent: Loss
    left: Loss
    fits: bool
    alpha: Fraction
    unit: Unit | str
    """Whose presence an answer would hide; in words if it is asked elsewhere."""
    kept: str
    """What counts of a unit."""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        from viameter.query.showing import preview_text

        return preview_text(self)

    def _repr_html_(self) -> str:
        from viameter.query.showing import preview_html

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
