"""What holds steps together: chains, post-processing, and maps that somebody vouches for."""

from __future__ import annotations

from viameter_check.amounts import Number
from viameter_check.document import Node
from viameter_check.losses import Loss
from viameter_check.places import Place
from viameter_check.report import Refused
from viameter_check.rules.table import ASSUMED, Derived, distance, needs, rule, same

ANYWHERE = None
"""Where a node starts that looks at no data: the composition of nothing."""

Start = tuple[Place, object]


def start_of(node: Node) -> Start | None:
    """The space and the distance of the data that a node speaks of, found at the bottom where losses were given."""
    if node.input.is_space:
        return node.input, node.given
    starts = {start for premise in node.premises if (start := start_of(premise)) is not ANYWHERE}
    if len(starts) > 1:
        raise Refused(f"premises of {node.theorem} speak of different data or distances", "premises")
    return starts.pop() if starts else ANYWHERE


def _taken(value: Number | Loss, place: Place) -> Derived:
    """A bound of the certificate, where it was measured there."""
    return same(value) if isinstance(value, Loss) else distance(value, place.domain, place.metric)


@rule("chain")
def chain(node: Node) -> Derived:
    """Each step starts where the one before it ended; the bound is that of the last."""
    needs(node.input.is_space, "a chain takes a distance", "given")
    needs(bool(node.premises), "a chain has steps", "premises")
    place: Place = node.input
    value: object = node.given
    for n, step in enumerate(node.premises):
        start = start_of(step)
        before = "the chain starts" if n == 0 else "the step before it ends"
        needs(start is not ANYWHERE and place.is_space, "a chain's steps take distances", f"premises[{n}]")
        needs(start == (place, start[1]), f"starts in another space than {before} in", f"premises[{n}].input")  # type: ignore[index]
        needs(start == (place, value), f"starts at another distance than {before} at", f"premises[{n}].given")
        place, value = step.output, step.bound
    return _taken(node.premises[-1].bound, place)


@rule("post-processing")
def post_processing(node: Node) -> Derived:
    """A release costs no more whatever is made of it."""
    needs(len(node.premises) == 1, "post-processing has one premise", "premises")
    (premise,) = node.premises
    if not isinstance(node.given, Loss):
        raise Refused("post-processing takes a loss", "given")
    needs(premise.output == node.input, "the premise ends in another measure", "input")
    needs(premise.bound == node.given, "is not the bound of the premise", "given")
    return same(node.given)


@rule("trusted-map", numbers=ASSUMED)
def trusted_map(node: Node) -> Derived:
    """Nothing is derived: the bound is taken from the certificate, which says what it asks to be trusted."""
    needs(bool(node.assumes), "a map that nobody vouches for: expected what must be trusted", "assumes")
    needs(not node.premises, "a trusted map has no premises", "premises")
    return _taken(node.bound, node.output)
