"""Families of small random instances, one for each kind of touch pattern, and how engine and brute force must agree."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import viameter as vm
from viameter import neighborhood as nb
from viameter.neighborhood.granularities import Granularity

Family = Callable[[Random], "Instance"]


@dataclass(frozen=True, slots=True)
class Instance:
    """A granularity, leaves of one cut, and how large the databases are that brute force looks at."""

    target: Granularity
    leaves: list[nb.Leaf]
    size: int
    complete: bool = True
    """Whether such databases have every touch pattern, so that a tight bound is attained among them."""


def losses(random: Random, count: int) -> list[Any]:
    """Random losses, all of one measure."""
    make = random.choice([vm.pure, vm.pure, vm.zcdp, vm.gdp])
    return [make(f"{random.randint(1, 9)}/10") for _ in range(count)]


def on(
    random: Random, cut: Iterable[nb.Part], granularities: Sequence[Granularity | None] = (None,), *, keep: float = 0.85
) -> list[nb.Leaf]:
    """Leaves on some of the parts, sometimes two on one, with random losses, modes and granularities."""
    parts = [part for part in cut if random.random() < keep] or [next(iter(cut))]
    if random.random() < 0.2:
        parts.append(random.choice(parts))
    return [
        nb.leaf(part, loss, granularity=random.choice(granularities), mode=random.choice(["separate", "common"]))
        for part, loss in zip(parts, losses(random, len(parts)), strict=True)
    ]


MULTISETS: list[Granularity] = [nb.unbounded(), nb.bounded(), nb.add_remove_or_replace()]
LISTS: list[Granularity] = [nb.bounded_ordered(), nb.insert_delete()]


def of_records(random: Random, cut: nb.Cut, universe: int, *, among: Sequence[Granularity] = ()) -> Instance:
    """Leaves on a cut by what a record is, for a granularity of multisets, of groups of steps, or of lists."""
    targets = [*MULTISETS, *MULTISETS, *among]
    if universe <= 5:
        targets += [nb.group(base, 2) for base in MULTISETS]
    if universe <= 4:
        targets += [*LISTS, nb.zero_out(), nb.local(), nb.free_lunch()]
    target = random.choice(targets)
    own: list[Granularity | None] = [None]
    if target in MULTISETS or isinstance(target, nb.group):
        own += MULTISETS
    elif target in LISTS:
        own += [*LISTS, *MULTISETS]
    group = isinstance(target, nb.group)
    size = 1 if target == nb.local() else 3 if group or universe <= 4 else 2
    # A group's step and one beside it need not fit, nor in a list all that a metric's detours take.
    return Instance(target, on(random, cut, own), size, complete=not group and target != nb.free_lunch())


def check(instance: Instance) -> bool:
    """Compare; the engine is never below brute force, and equal where it says that it is tight. True if equal."""
    composed = nb.compose(instance.target, instance.leaves)
    found = nb.brute_force(instance.target, instance.leaves, size=instance.size)
    story = f"{instance} engine {composed.loss!r}, tight={composed.tight}; brute force {found.loss!r}: {found.witness}"
    assert found.loss <= composed.loss, f"too small: {story}"
    if composed.tight and (found.is_proof or instance.complete):
        assert found.loss == composed.loss, f"not tight: {story}"
    return found.loss == composed.loss
