"""The derivation of a composition's loss, and the two neighbors that show it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from viameter.measures.groups import group_derivation
from viameter.neighborhood.arrangement import Arrangement, Chosen, Pattern, TouchedLeaf, touched_leaves
from viameter.neighborhood.conditions import seen, unused
from viameter.neighborhood.granularities import Granularity, OwnGranularity
from viameter.neighborhood.theorems import common_domain_composition, general_composition
from viameter.neighborhood.witness import Seen, Witness, count_steps
from viameter.theorem import Derivation, theorem_of

if TYPE_CHECKING:
    from viameter.neighborhood.composed import Composed


def derive(composed: Composed) -> Derivation:
    """The theorem over the laws of the leaves that the worst pattern touches; like ones counted once."""
    premises: dict[tuple[str, str, str], tuple[Derivation, int]] = {}
    common = True
    for touched in touched_leaves(composed.arrangement, composed.pattern):
        derivation, is_common = _derive_leaf(composed, touched)
        common = common and is_common
        key = (derivation.subject, derivation.given, derivation.bound)
        premises[key] = (derivation, premises.get(key, (derivation, 0))[1] + 1)
    touched_count = sum(count for _, count in premises.values())
    theorem = common_domain_composition if common and premises else general_composition
    counted = tuple(replace(derivation, times=count) for derivation, count in premises.values())
    # Where the law for groups was used, the arrangement is that of one step.
    arrangement = composed.arrangement
    one_step = composed.loss
    if composed.steps > 1:
        one_step = arrangement.scale.loss(arrangement.numbers(arrangement.target.edits))
    top = Derivation(
        f"the worst touch pattern of {composed.granularity!r}",
        theorem_of(theorem),
        f"{touched_count} {'leaf' if touched_count == 1 else 'leaves'} touched",
        repr(one_step),
        assumes=_trust(composed.granularity),
        premises=counted,
        given_value=tuple(derivation.bound_value for derivation in counted),
        bound_value=one_step,
    )
    return top if composed.steps == 1 else group_derivation(top, composed.steps)


def _derive_leaf(composed: Composed, touched: TouchedLeaf) -> tuple[Derivation, bool]:
    if touched.leaf.inner is not None:
        return _derive_within(composed, touched, touched.leaf.inner), False
    chosen = composed.arrangement.chosen_for(touched, composed.pattern)
    own = chosen.claim.in_granularity(composed.arrangement.target)
    found = chosen.claim.law.derivation(chosen.steps)
    label = touched.cut.label(touched.part)
    subject = f"{label}, {count_steps(chosen.steps, repr(own))} apart: {found.subject}"
    return replace(found, subject=subject, assumes=(*found.assumes, *_trust(own))), chosen.claim.mode == "common"


def _derive_within(composed: Composed, touched: TouchedLeaf, inner: Composed) -> Derivation:
    """What a composition on a part costs for the change that the part sees; at one step, with its own derivation."""
    arrangement = composed.arrangement
    outside = touched.cut.has_outside(touched.part)
    loss = arrangement.scale.loss(
        arrangement.cost(touched.leaf, touched.change, (composed.pattern.edit,), outside=outside)
    )
    subject = f"{touched.cut.label(touched.part)}: a composition within"
    if loss == inner.loss:
        found = derive(inner)
        return replace(found, subject=f"{subject}, {found.subject}")
    return Derivation(
        f"{subject}, {touched.change.words} in its data",
        theorem_of(general_composition),
        f"{len(inner.leaves)} leaves",
        repr(loss),
        given_value=(loss,),
        bound_value=loss,
    )


def _trust(granularity: Granularity) -> tuple[str, ...]:
    return (granularity.trust,) if isinstance(granularity, OwnGranularity) else ()


def show_pattern(arrangement: Arrangement, pattern: Pattern, *, attained: bool) -> Witness:
    """Two neighbors that have a touch pattern, and what each part with a leaf sees of them."""
    farthest: dict[tuple[int, int], Chosen | None] = {}
    for touched in touched_leaves(arrangement, pattern):
        place = (id(touched.cut), touched.part)
        chosen = None if touched.leaf.inner is not None else arrangement.chosen_for(touched, pattern)
        known = farthest.get(place)
        if known is None or (chosen is not None and chosen.steps > known.steps):
            farthest[place] = chosen
    parts: dict[str, Seen] = {}
    for gathered, one in zip(arrangement.cuts, pattern.touched, strict=True):
        for part in one.changes:
            if (id(gathered.cut), part) not in farthest:
                continue
            far = farthest[id(gathered.cut), part]
            own = None if far is None else far.claim.in_granularity(arrangement.target)
            name = unused(gathered.cut.label(part), parts)
            parts[name] = seen(one, part, 0 if far is None else far.steps, own)
    shown = next((one for one in pattern.touched if one.before is not None), None)
    if shown is None:
        return Witness(None, None, parts, attained)
    return Witness(shown.before, shown.after, parts, attained)
