"""`compose`: over a granularity, by touch patterns; over a finite class, by looking at every pair."""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

from viameter.core import Measure
from viameter.neighborhood.claims import Leaf
from viameter.neighborhood.composed import Composed
from viameter.neighborhood.composed import compose as compose_patterns
from viameter.neighborhood.finite import PrivacySpace
from viameter.neighborhood.functions import FiniteComposed, compose_over
from viameter.neighborhood.granularities import Granularity


@overload
def compose(target: Granularity, leaves: Iterable[Leaf], *, measure: Measure | None = None) -> Composed: ...
@overload
def compose(target: PrivacySpace, leaves: Iterable[Leaf], *, measure: Measure | None = None) -> FiniteComposed: ...
def compose(
    target: Granularity | PrivacySpace, leaves: Iterable[Leaf], *, measure: Measure | None = None
) -> Composed | FiniteComposed:
    """What leaves cost together for the neighbors of a granularity, or of a finite privacy space.

    The loss is the largest sum over touch patterns: over what two neighbors can do to the parts. Leaves of one cut are
    touched as the cut says; leaves of different cuts are taken to be touched independently. Losses of several measures
    are converted into the first that all have a theorem for, or into `measure`. Over a `PrivacySpace` the leaves are on
    `function(f)`, and every pair of neighbors is looked at.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> parts = nb.partition(3, by="value")
    >>> leaves = [nb.leaf(p, vm.pure(e), mode="common") for p, e in zip(parts, ("0.2", "0.5", "0.3"))]
    >>> nb.compose(nb.bounded(), leaves).loss, nb.compose(nb.unbounded(), leaves).loss
    (pure(4/5), pure(1/2))
    """
    if isinstance(target, PrivacySpace):
        given = list(leaves)
        return compose_over(target, given if measure is None else [leaf.to(measure) for leaf in given])
    return compose_patterns(target, leaves, measure=measure)
