"""What holds steps together: chains, post-processing, and maps that somebody vouches for."""

from __future__ import annotations

from viameter_check.document import Node
from viameter_check.intervals import point
from viameter_check.losses import Loss
from viameter_check.places import Place
from viameter_check.report import Refused
from viameter_check.rules.table import ASSUMED, Derived, distance, needs, rule

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


def same(value: object) -> Derived:
    """The bound that is a value of the certificate."""
    if isinstance(value, Loss):
        return Derived(value.measure, tuple((name, point(amount)) for name, amount in value.amounts))
    return distance(value)  # type: ignore[arg-type]  # a number


@rule("chain")
def chain(node: Node) -> Derived:
    """Each step starts where the one before it ended; the bound is that of the last."""
    needs(node.input.is_space, "a chain takes a distance", "given")
    needs(bool(node.premises), "a chain has steps", "premises")
    place, value = node.input, node.given
    for n, step in enumerate(node.premises):
        start = start_of(step)
        before = "the chain starts" if n == 0 else "the step before it ends"
        needs(start is not ANYWHERE and place.is_space, "a chain's steps take distances", f"premises[{n}]")
        needs(start == (place, start[1]), f"starts in another space than {before} in", f"premises[{n}].input")  # type: ignore[index]
        needs(start == (place, value), f"starts at another distance than {before} at", f"premises[{n}].given")
        place, value = step.output, step.bound
    needs(place == node.output, "is not where the last step ends", "output")
    return same(value)


@rule("post-processing")
def post_processing(node: Node) -> Derived:
    """A release costs no more whatever is made of it."""
    needs(len(node.premises) == 1, "post-processing has one premise", "premises")
    (premise,) = node.premises
    needs(isinstance(node.given, Loss), "post-processing takes a loss", "given")
    needs(premise.output == node.input, "the premise ends in another measure", "input")
    needs(premise.bound == node.given, "is not the bound of the premise", "given")
    needs(node.output == node.input, "post-processing stays in its measure", "output")
    return same(node.given)


@rule("trusted-map", numbers=ASSUMED)
def trusted_map(node: Node) -> Derived:
    """Nothing is derived: the bound is taken from the certificate, which says what it asks to be trusted."""
    needs(bool(node.assumes), "a map that nobody vouches for: expected what must be trusted", "assumes")
    needs(not node.premises, "a trusted map has no premises", "premises")
    return same(node.bound)
