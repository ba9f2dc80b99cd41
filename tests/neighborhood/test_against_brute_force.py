"""The engine against brute force, where parts are cut by what a record is."""

from random import Random

import pytest
from tests.neighborhood.families import MULTISETS, Family, Instance, check, of_records, on

from viameter import neighborhood as nb

INSTANCES = 25


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


FAMILIES = [
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


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: str(family.__name__))
def test_the_engine_is_never_below_brute_force_and_equal_where_it_says_so(family: Family) -> None:
    random = Random(2027)
    equal = sum(check(family(random)) for _ in range(INSTANCES))
    assert equal > INSTANCES // 2, "the engine is loose on most instances"
