"""Pictures of touch patterns: which parts the worst step of each granularity touches, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viameter.errors import ParameterError
from viameter.neighborhood.composed import Composed
from viameter.viz import draw_touches

MOST_PARTS = 40


def plot_touches(
    composed: Mapping[str, Composed], *, title: str = "What one step touches", parts: list[str] | None = None
) -> Any:
    """The worst touch pattern of each composition, a row for each name; needs matplotlib.

    All must be of leaves on the same maps, in the same order; `parts` names those under the picture.

    >>> import viameter as vm
    >>> from viameter import neighborhood as nb
    >>> days = nb.partition(5, by="time")
    >>> leaves = [nb.leaf(day, vm.pure(e)) for day, e in zip(days, ("0.1", "0.2", "0.3", "0.1", "0.4"))]
    >>> figure = nb.plot_touches({str(g): nb.compose(g, leaves) for g in (nb.event(), nb.w_event(3), nb.user())})
    """
    if not isinstance(composed, Mapping) or not composed:
        raise ParameterError("plot_touches takes {name: composition}, at least one")
    sizes = {len(one.leaves) for one in composed.values()}
    if len(sizes) != 1 or max(sizes) > MOST_PARTS:
        raise ParameterError(
            f"compositions must have the same leaves, {MOST_PARTS} at most; these have {sorted(sizes)}"
        )
    rows = {name: costs_by_leaf(one) for name, one in composed.items()}
    totals = {name: repr(one.loss) for name, one in composed.items()}
    names = parts or [str(place) for place in range(sizes.pop())]
    return draw_touches(rows, totals, parts=names, title=title)


def costs_by_leaf(composed: Composed) -> list[float]:
    """What each leaf's part costs on the worst pattern, as a float to look at: the first number of the loss."""
    arrangement, pattern = composed.arrangement, composed.pattern
    costs: dict[tuple[int, int], float] = {}
    for gathered, one in zip(arrangement.cuts, pattern.touched, strict=True):
        for part, change in one.changes.items():
            outside = gathered.cut.has_outside(part)
            for leaf in gathered.leaves_of(part):
                numbers = arrangement.cost(leaf, change, (pattern.edit,), outside=outside)
                place = (id(gathered.cut), part)
                costs[place] = costs.get(place, 0.0) + float(numbers[0])
    return [costs.get((id(leaf.part.cut), leaf.part.place), 0.0) for leaf in composed.leaves]
