"""The engine against brute force, for graphs and for streams of events."""

from random import Random

import pytest
from tests.neighborhood.families import Family, Instance, check, on

from viameter import neighborhood as nb

INSTANCES = 25


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


FAMILIES = [induced, incident, incident_nodes, by_source, spans, windows, users]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: str(family.__name__))
def test_the_engine_is_never_below_brute_force_and_equal_where_it_says_so(family: Family) -> None:
    random = Random(2029)
    equal = sum(check(family(random)) for _ in range(INSTANCES))
    assert equal > INSTANCES // 3, "the engine is loose on most instances"
