"""Whether a bound is the least: what keeps mechanisms with the leaves' losses from being known to attain it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viameter.arith import INFINITY
from viameter.neighborhood.arrangement import Arrangement, Pattern, TouchedLeaf, touched_leaves
from viameter.neighborhood.changes import Records
from viameter.neighborhood.cuts.given import Whole
from viameter.neighborhood.laws import OfLoss
from viameter.neighborhood.scales import TIGHT

if TYPE_CHECKING:
    from viameter.neighborhood.composed import Composed


def why_not_tight(composed: Composed) -> str | None:
    """What keeps the bound from being known to be the least; None if it is."""
    arrangement, pattern = composed.arrangement, composed.pattern
    if composed.through is not None:
        return composed.through
    if composed.steps > 1:
        return "the bound goes through the law for groups, one step at a time"
    if not pattern_is_exact(arrangement, pattern):
        return "the touch patterns that were searched may be more than there are"
    if composed.measure not in TIGHT:
        return f"losses of {composed.measure!r} add up to a bound that need not be attained"
    if not composed.loss.is_finite:
        return _why_infinite_is_not_tight(composed)
    if arrangement.scale.numbers(composed.loss)[0] != pattern.value:
        return "the sum was rounded up"
    reasons = (_why_leaf_is_not_tight(composed, touched) for touched in touched_leaves(arrangement, pattern))
    return next((reason for reason in reasons if reason is not None), None)


def pattern_is_exact(arrangement: Arrangement, pattern: Pattern) -> bool:
    """Whether two neighbors touch the parts like that: as each cut knows, and if cuts need not be touched at once."""
    if not all(touched.exact for touched in pattern.touched):
        return False
    touched = [gathered.cut for gathered, one in zip(arrangement.cuts, pattern.touched, strict=True) if one.changes]
    if sum(not isinstance(cut, Whole) for cut in touched) > 1:
        return False
    # All data see the change as it may be at most, a part as it is.
    edit = pattern.edit
    varies = isinstance(edit, Records) and not edit.balanced and edit.both > 1
    return len(touched) <= 1 or not varies


def _why_infinite_is_not_tight(composed: Composed) -> str | None:
    """An infinite loss is the least if there is no way of steps, and not merely none that is known."""
    for touched in touched_leaves(composed.arrangement, composed.pattern):
        if touched.leaf.inner is not None or _why_leaf_is_not_tight(composed, touched) is not None:
            continue
        if composed.arrangement.chosen_for(touched, composed.pattern).steps == INFINITY:
            return None
    return "no bound is known, which does not say that there is none"


def _why_leaf_is_not_tight(composed: Composed, touched: TouchedLeaf) -> str | None:
    leaf = touched.leaf
    if leaf.inner is not None:
        return "a leaf is a composition of its own"
    if len(leaf.claims) > 1:
        return "a leaf has several claims, which no one mechanism need meet exactly"
    if leaf.part.stability != 1:
        return "a map is known by its stability only"
    claim = leaf.claims[0]
    if isinstance(claim.law, OfLoss) and claim.law.claimed is not None:
        return f"declared losses were converted into {composed.measure!r}, which may be more than they cost"
    if not claim.law.is_attained:
        return "a leaf's law at several steps need not be attained"
    own = claim.in_granularity(composed.granularity)
    if not own.is_exact(touched.change):
        return "the distance of a leaf's granularity is bounded from above only"
    if claim.mode == "separate":
        return None
    chosen = composed.arrangement.chosen_for(touched, composed.pattern)
    by_whole_data = chosen.steps < own.quotient(touched.change)
    several = isinstance(touched.change, Records) and touched.change.both > 1 and own.ordered
    if several or (by_whole_data and own != composed.granularity):
        return "the distance of a leaf's granularity is bounded from above only"
    if own.quotient(touched.change) < chosen.steps and not isinstance(touched.cut, Whole):
        return "it is not known what can be outside of a part"
    return None
