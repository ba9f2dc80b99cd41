"""A composition's guarantee in another measure: the largest over touch patterns is taken last, where that is less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product
from typing import Any

from viameter.arith import nonnegative, probability
from viameter.composition.losses import given_loss
from viameter.core import Adaptivity, Loss, Measure
from viameter.core.composability import FULLY_ADAPTIVE, NON_ADAPTIVE
from viameter.core.conversion import ConversionStep, Converted, convert
from viameter.errors import ParameterError, plain
from viameter.measures import ApproxDP
from viameter.neighborhood.arrangement import Arrangement, CutLeaves, Numbers, sum_of
from viameter.neighborhood.changes import Change
from viameter.neighborhood.composed import Composed
from viameter.neighborhood.granularities import Personalised
from viameter.neighborhood.guarantee import Guarantee
from viameter.neighborhood.listing import Touches, list_patterns
from viameter.neighborhood.optimum import optimal_loss, pattern_optimum, touched_losses
from viameter.neighborhood.theorems import general_composition
from viameter.theorem import Derivation, theorem_of

MOST_PATTERNS = 20_000
"""How many different costs of patterns are converted one by one."""


def converted(
    composed: Composed, measure: Measure, *, adaptivity: Adaptivity = NON_ADAPTIVE, **numbers: Any
) -> Guarantee:
    """What a composition guarantees in another measure; `delta=`, `epsilon=` or `order=` as `Loss.to` takes them.

    Each touch pattern is converted on its own, if patterns can be listed; else the bound on all patterns is. Pure and
    approximate losses of a pattern are composed optimally, which holds where losses and maps are fixed in advance: with
    `adaptivity=FULLY_ADAPTIVE`, only sums are converted.

    >>> import viameter as vm
    >>> from viameter import neighborhood as nb
    >>> rooms = nb.leaves(nb.subsets(100, at_most=20), vm.pure("1/20"))
    >>> composed = nb.compose(nb.unbounded(), rooms)
    >>> composed.loss, nb.converted(composed, vm.ApproxDP, delta="1/1000").loss
    (pure(1), approx(<=0.497986408125, 1/1000))
    """
    if not isinstance(adaptivity, Adaptivity):
        raise ParameterError(f"adaptivity={plain(adaptivity)}: expected one of vm.Adaptivity")
    plainly = _converted_sum(composed, measure, numbers)
    if adaptivity is FULLY_ADAPTIVE or measure != ApproxDP or not _one_by_one(composed):
        return plainly
    best = _optimum(composed, numbers)
    return best if best is not None and best.loss < plainly.loss else plainly


def _one_by_one(composed: Composed) -> bool:
    # Of a personalised composition the patterns of one class are kept, and another's may convert to more.
    plain_steps = composed.steps == 1 and composed.through is None
    return plain_steps and not isinstance(composed.granularity, Personalised) and bool(composed.arrangement.cuts)


def _converted_sum(composed: Composed, measure: Measure, numbers: Mapping[str, Any]) -> Guarantee:
    """Sums of losses, converted: pattern by pattern where a loss is several numbers."""
    whole = convert(composed.loss, measure, **numbers)
    guarantee = Guarantee(whole.loss, composed.granularity, lambda: _over(whole.steps, composed.explain().derivation))
    one_by_one = composed.steps == 1 and not isinstance(composed.granularity, Personalised)
    if composed.arrangement.scale.size == 1 or not one_by_one or measure == composed.measure:
        return guarantee
    costs = _costs(composed) if composed.arrangement.cuts else None
    if costs is None:
        return guarantee
    found: list[Converted] = []
    for numbers_of_pattern in costs:
        made = convert(composed.arrangement.scale.loss(numbers_of_pattern), measure, **numbers)
        if any(made.loss <= other.loss for other in found):
            continue
        found = [other for other in found if not other.loss <= made.loss] + [made]
    if len(found) != 1:
        return guarantee
    (worst,) = found
    summed = _of_pattern(composed, general_composition, worst.given)
    return Guarantee(worst.loss, composed.granularity, lambda: _over(worst.steps, summed))


def _over(steps: tuple[ConversionStep, ...], derivation: Derivation) -> Derivation:
    for step in steps:
        derivation = step.over((derivation,))
    return derivation


def _optimum(composed: Composed, numbers: Mapping[str, Any]) -> Guarantee | None:
    """The largest over patterns of what their losses cost by optimal composition; None where that is not known."""
    if set(numbers) not in ({"delta"}, {"epsilon"}):
        return None
    delta = probability(numbers["delta"], name="delta") if "delta" in numbers else None
    epsilon = nonnegative(numbers["epsilon"], name="epsilon") if "epsilon" in numbers else None
    patterns = touched_losses(composed.arrangement, tuple(composed.granularity.edits))
    if not patterns:
        return None
    found = [(optimal_loss(touched, delta=delta, epsilon=epsilon), touched) for touched in patterns]
    loss, touched = max(found, key=lambda pair: (pair[0].epsilon, pair[0].delta))
    claims = tuple(
        Derivation(
            "a touched leaf",
            theorem_of(given_loss),
            repr(one),
            repr(one),
            given_value=one,
            bound_value=one,
            times=count,
        )
        for one, count in Counter(composed.arrangement.scale.loss(cost) for cost in touched).items()
    )
    return Guarantee(loss, composed.granularity, lambda: _of_pattern(composed, pattern_optimum, loss, claims))


def _of_pattern(
    composed: Composed, function: Callable[..., Any], loss: Loss, premises: tuple[Derivation, ...] = ()
) -> Derivation:
    return Derivation(
        f"the worst touch pattern of {composed.granularity!r}, after conversion",
        theorem_of(function),
        f"{sum(premise.times for premise in premises)} leaves touched" if premises else "the leaves that it touches",
        repr(loss),
        premises=premises,
        bound_value=loss,
    )


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
