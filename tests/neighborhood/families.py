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


# Parts are cut by what a record is.


def by_value(random: Random) -> Instance:
    """A partition with one value a part, or with more."""
    values, parts = random.choice([(1, 2), (1, 3), (2, 1), (2, 2)])
    return of_records(random, nb.partition(parts, by="value", values=values), values * parts)


def listed(random: Random) -> Instance:
    """A partition by lists of values, of which one may be in no part."""
    held = [["a", "b"], ["c"]] if random.random() < 0.5 else [["a"], ["b"], ["c"]]
    if random.random() < 0.5:
        return of_records(random, nb.partition(held), 3)
    parts_of = {value: [part] for part, values in enumerate(held) for value in values}
    return of_records(random, nb.memberships({**parts_of, "~": []}), 4)


def subsets(random: Random) -> Instance:
    """Overlapping parts, each record in a few of them."""
    size, most = random.choice([(1, 1), (2, 1), (2, 2), (3, 1)])
    sets = {(1, 1): 2, (2, 1): 3, (2, 2): 4, (3, 1): 4}[size, most]
    return of_records(random, nb.subsets(size, at_most=most), 2 * sets)


def memberships(random: Random) -> Instance:
    """Values with the parts that each is in; sometimes each stands for several values."""
    parts, count, plural = random.randint(1, 3), random.randint(1, 5), random.random() < 0.3
    parts_of = {chr(97 + i): [p for p in range(parts) if random.random() < 0.5] for i in range(count)}
    return of_records(random, nb.memberships(parts_of, parts=parts, plural=plural), count * (2 if plural else 1))


def tree(random: Random) -> Instance:
    """Regions within regions."""
    cut = nb.tree({0: None, 1: 0, 2: random.choice([0, 1]), 3: random.choice([0, 1, 2, None])})
    return of_records(random, cut, 6)


def spans_of_values(random: Random) -> Instance:
    """Intervals of a number that each record has."""
    starts = [random.randint(0, 2) for _ in range(random.randint(1, 3))]
    cut = nb.intervals([(start, start + random.randint(0, 1)) for start in starts])
    return of_records(random, cut, 10)


def predicates(random: Random) -> Instance:
    """Conditions on two attributes."""
    conjunctions = [
        {name: random.sample(range(2), random.randint(1, 2)) for name in random.sample("xy", random.randint(0, 2))}
        for _ in range(random.randint(1, 3))
    ]
    cut = nb.predicates(conjunctions, domains={"x": [0, 1], "y": [0, 1]})
    own = [None, *MULTISETS]
    return Instance(random.choice(MULTISETS), on(random, cut, own), 3)


def policy(random: Random) -> Instance:
    """Values that a graph of secrets joins, in parts; every value is in some pair of the policy."""
    values = "abcd"[: random.randint(2, 4)]
    joined = [(values[random.randrange(place)], values[place]) for place in range(1, len(values))]
    cut = nb.memberships({value: [random.randrange(2)] for value in values}, parts=2)
    return Instance(nb.policy(joined), on(random, cut, [None, nb.bounded(), nb.unbounded()]), 3)


def one_attribute(random: Random) -> Instance:
    """Tuples of cells, of which one changes, cut by what the tuple is."""
    rows = random.sample([(x, y) for x in range(2) for y in range(3)], random.randint(2, 4))
    cut = nb.memberships({row: [p for p in range(2) if random.random() < 0.6] for row in rows}, parts=2)
    return Instance(nb.attribute(), on(random, cut, [None, nb.bounded(), nb.bounded_ordered()]), 2, complete=False)


def zero_out(random: Random) -> Instance:
    """A row turns blank in its place; the others are cut out of a part, or made blank in it."""
    cut = nb.partition(random.randint(1, 2), values=random.choice([1, 2]), blanks=random.random() < 0.6)
    return Instance(nb.zero_out(), on(random, cut), 2)


OF_RECORDS = [
    by_value,
    listed,
    subsets,
    memberships,
    tree,
    spans_of_values,
    predicates,
    policy,
    one_attribute,
    zero_out,
]


# Rows have places and columns, or are of people and of tables.


def by_id(random: Random) -> Instance:
    """Rows in their places, which belong to parts."""
    target = random.choice([nb.bounded_ordered(), nb.group(nb.bounded_ordered(), 2)])
    cut = nb.partition(random.randint(1, 3), by="id")
    own: list[Granularity | None] = [None, random.choice([nb.bounded_ordered(), nb.bounded()])]
    # With two values to a place, two rows that change are hardly two other records.
    return Instance(target, on(random, cut, own), 2, complete=nb.bounded() not in own)


def by_column(random: Random) -> Instance:
    """Parts that keep a column of every row."""
    target = random.choice([*MULTISETS, nb.bounded_ordered(), nb.attribute(), nb.local()])
    return Instance(target, on(random, nb.partition(random.randint(1, 3), by="column")), 2)


def projections(random: Random) -> Instance:
    """Parts that keep some columns, which overlap."""
    columns = [random.sample("xyz", random.randint(1, 3)) for _ in range(random.randint(1, 3))]
    target = random.choice([*MULTISETS, nb.bounded_ordered(), nb.attribute(), nb.local()])
    own = [None, *MULTISETS] if target in MULTISETS else [None]
    return Instance(target, on(random, nb.projections(columns), own), 2)


def contributions(random: Random) -> Instance:
    """What a person adds to groups of rows, within bounds."""
    cut = nb.contributions(
        random.randint(1, 3), l0=random.randint(1, 2), l1=random.randint(1, 4), linf=random.randint(1, 2)
    )
    return Instance(nb.user(), on(random, cut, [None, nb.unbounded()]), 2)


def groups_in_place(random: Random) -> Instance:
    """Several rows, cells or blanks at once."""
    target = nb.group(random.choice([nb.bounded_ordered(), nb.attribute()]), random.randint(2, 3))
    cut = nb.partition(2, by=random.choice(["id", "column"]) if target.base == nb.bounded_ordered() else "column")
    return Instance(target, on(random, cut, [None, target.base]), 2, complete=False)


IN_PLACE = [by_id, by_column, projections, contributions, groups_in_place]


# Graphs, and streams of events.


def induced(random: Random) -> Instance:
    """Subgraphs induced by parts of the nodes."""
    target = random.choice([nb.edge(), nb.k_edge(2), nb.node_rewire(), nb.node()])
    own = [None, nb.edge(), nb.node_rewire()] if target in (nb.edge(), nb.node_rewire()) else [None]
    return Instance(target, on(random, nb.induced(random.randint(1, 2)), own), 2, complete=target != nb.node_rewire())


def incident(random: Random) -> Instance:
    """The edges that touch parts of the nodes."""
    target = random.choice([nb.edge(), nb.k_edge(2), nb.node_rewire()])
    return Instance(target, on(random, nb.incident(random.randint(1, 2))), 2)


def incident_nodes(random: Random) -> Instance:
    """The same, where a node comes or goes with its edges."""
    target = random.choice([nb.node(), nb.node(degree=1), nb.node(degree=2)])
    return Instance(target, on(random, nb.incident(2)), random.choice([1, 2]), complete=False)


def by_source(random: Random) -> Instance:
    """Links by the node that they leave."""
    return Instance(nb.out_link(), on(random, nb.by_source(random.randint(2, 3))), 1)


def spans(random: Random) -> Instance:
    """Spans of a stream's times."""
    starts = [random.randint(0, 2) for _ in range(random.randint(1, 3))]
    cut = nb.intervals([(start, start + random.randint(0, 2)) for start in starts])
    return _stream(random, cut)


def windows(random: Random) -> Instance:
    """Windows that slide."""
    length = random.randint(1, 3)
    return _stream(random, nb.windows(length=length, horizon=random.randint(length, 4), step=random.randint(1, 2)))


def _stream(random: Random, cut: nb.Cut) -> Instance:
    spans: list[tuple[int, int]] = cut.spans  # type: ignore[attr-defined]
    times = max(end for _, end in spans) - min(start for start, _ in spans) + 1
    target = random.choice([nb.event(), nb.w_event(2), nb.w_event(3), nb.user(alters=True, times=times)])
    return Instance(target, on(random, cut, [None, nb.event(), nb.w_event(2)]), 2, complete=times >= 3)


def users(random: Random) -> Instance:
    """Streams by user."""
    target = random.choice([nb.event(), nb.w_event(2), nb.user(alters=True, times=2)])
    return Instance(target, on(random, nb.partition(random.randint(1, 2), by="id"), [None, nb.event()]), 2)


OF_GRAPHS = [induced, incident, incident_nodes, by_source, spans, windows, users]
