"""A composition's guarantee in another measure: the largest over touch patterns is taken last, where that is less."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from viameter.core import Loss, Measure
from viameter.core.conversion import convert
from viameter.neighborhood.arrangement import Arrangement, CutLeaves, Numbers, sum_of
from viameter.neighborhood.changes import Change
from viameter.neighborhood.composed import Composed
from viameter.neighborhood.granularities import Personalised
from viameter.neighborhood.guarantee import Guarantee
from viameter.neighborhood.listing import Touches, list_patterns

MOST_PATTERNS = 20_000
"""How many different costs of patterns are converted one by one."""


def converted(composed: Composed, measure: Measure, **numbers: Any) -> Guarantee:
    """What a composition guarantees in another measure; `delta=`, `epsilon=` or `order=` as `Loss.to` takes them.

    Losses of several numbers (Renyi) are converted for each touch pattern on its own, if those can be listed; else the
    bound on all patterns is.

    >>> import viameter as vm
    >>> from viameter import neighborhood as nb
    >>> curves = (vm.renyi({2: "0.1", 32: 20}), vm.renyi({32: 1}))
    >>> composed = nb.compose(nb.unbounded(), [nb.leaf(part, c) for part, c in zip(nb.partition(2), curves)])
    >>> composed.loss
    renyi({2: 1, 32: 20})
    >>> guarantee = nb.converted(composed, vm.ApproxDP, delta="1e-6")
    >>> guarantee.loss < composed.loss.to(vm.ApproxDP, delta="1e-6")
    True
    """
    whole = convert(composed.loss, measure, **numbers).loss
    # Of a personalised composition the patterns of one class are kept, and another's may convert to more.
    one_by_one = composed.steps == 1 and not isinstance(composed.granularity, Personalised)
    if composed.arrangement.scale.size == 1 or not one_by_one or measure == composed.measure:
        return Guarantee(whole, composed.granularity)
    costs = _costs(composed) if composed.arrangement.cuts else None
    if costs is None:
        return Guarantee(whole, composed.granularity)
    found: list[Loss] = []
    for numbers_of_pattern in costs:
        loss = convert(composed.arrangement.scale.loss(numbers_of_pattern), measure, **numbers).loss
        if any(loss <= other for other in found):
            continue
        found = [other for other in found if not other <= loss] + [loss]
    return Guarantee(found[0] if len(found) == 1 else whole, composed.granularity)


def _costs(composed: Composed) -> set[Numbers] | None:
    """The different costs of all touch patterns; None if those are not listed, or are too many."""
    arrangement, edits = composed.arrangement, tuple(composed.granularity.edits)
    found: set[Numbers] = set()
    for edit in edits:
        by_cut = []
        for gathered in arrangement.cuts:
            listed = list_patterns(gathered.cut, edit)
            if listed is None:
                return None
            patterns = list(islice(listed, MOST_PATTERNS + 1))
            if len(patterns) > MOST_PATTERNS:
                return None  # a list that is cut short would leave patterns out
            by_cut.append({_pattern_cost(arrangement, gathered, pattern, edits) for pattern in patterns})
        for combined in _combined(by_cut):
            found.add(combined)
            if len(found) > MOST_PATTERNS:
                return None
    return found


def _pattern_cost(
    arrangement: Arrangement, gathered: CutLeaves, pattern: Touches, edits: tuple[Change, ...]
) -> Numbers:
    size = arrangement.scale.size
    costs = [
        arrangement.cost(leaf, change, edits, outside=gathered.cut.has_outside(part))
        for part, change in pattern.items()
        for leaf in gathered.leaves_of(part)
    ]
    return tuple(sum_of(cost[number] for cost in costs) for number in range(size))


def _combined(by_cut: list[set[Numbers]]) -> Iterator[Numbers]:
    for chosen in product(*by_cut):
        yield tuple(sum_of(costs) for costs in zip(*chosen, strict=True))
