"""Tightness: mechanisms attain what the engine calls tight, and no random private mechanisms exceed it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.arith import INFINITY
from viameter.neighborhood.finite import (
    FiniteLeaf,
    PrivacySpace,
    add_remove_or_replace,
    attain,
    bounded,
    bounded_ordered,
    compose_tables,
    edge,
    graphs,
    incident,
    induced,
    insert_delete,
    least_loss,
    multisets,
    ordered,
    random_private_table,
    streams,
    unbounded,
    w_event,
)
from viameter.neighborhood.finite import event as one_event
from viameter.neighborhood.finite.exact import LeafCosts
from viameter.neighborhood.granularities import Granularity

THREE = ("1/5", "1/2", "3/10")


def values(*held: str) -> list[Callable[[Any], Any]]:
    """Maps that keep the records with these values."""

    def keep(kept: str) -> Callable[[Any], Any]:
        return lambda data: tuple(x for x in data if x in kept)

    return [keep(kept) for kept in held]


def cells(place: int) -> Callable[[Any], Any]:
    """The map that keeps a column."""
    return lambda data: tuple(row[place] for row in data)


def moment(time: int) -> Callable[[Any], Any]:
    """The map that keeps a time of a stream."""
    return lambda data: data[time : time + 1]


@dataclass(frozen=True, slots=True)
class Model:
    """A composition, and the same by hand on a small class."""

    target: Granularity
    cut: nb.Cut
    space: PrivacySpace
    maps: Sequence[Callable[[Any], Any]]
    mode: Any = "common"
    own: Granularity | None = None
    relation: Any = None

    @property
    def composed(self) -> nb.Composed:
        """By the engine."""
        return nb.compose(
            self.target,
            [
                nb.leaf(part, vm.pure(e), mode=self.mode, granularity=self.own)
                for part, e in zip(self.cut, THREE, strict=False)
            ],
        )

    @property
    def leaves(self) -> list[FiniteLeaf]:
        """By hand."""
        given = zip(self.maps, THREE, strict=False)
        return [FiniteLeaf(f, vm.pure(e), mode=self.mode, relation=self.relation) for f, e in given]


ABC, ABAB = values("a", "b", "c"), values("ab", "cd")
TIMES = [moment(time) for time in range(3)]
PAIRS = [nb.partition(2), nb.partition(2)]
GRAPHS = graphs(3, fixed_nodes=True)

MODELS = {
    "parallel": Model(
        nb.unbounded(), nb.partition(3, values=1), PrivacySpace(multisets("abc", 2), relation=unbounded), ABC
    ),
    "parallel, separate": Model(
        nb.unbounded(),
        nb.partition(3, values=1),
        PrivacySpace(multisets("abc", 2), relation=unbounded),
        ABC,
        "separate",
    ),
    "bounded": Model(nb.bounded(), nb.partition(3, values=1), PrivacySpace(multisets("abc", 2), relation=bounded), ABC),
    "bounded from unbounded": Model(
        nb.bounded(),
        nb.partition(2),
        PrivacySpace(multisets("abcd", 2), relation=bounded),
        ABAB,
        own=nb.unbounded(),
        relation=unbounded,
    ),
    "add, remove or replace": Model(
        nb.add_remove_or_replace(),
        nb.partition(2),
        PrivacySpace(multisets("abcd", 2), relation=add_remove_or_replace),
        ABAB,
        "separate",
    ),
    "insert-delete": Model(
        nb.insert_delete(), nb.partition(2, values=1), PrivacySpace(ordered("ab", 3), relation=insert_delete), ABC[:2]
    ),
    "by column": Model(
        nb.bounded_ordered(),
        nb.partition(2, by="column"),
        PrivacySpace(ordered([(x, y) for x in (0, 1) for y in (0, 1)], 2, least=2), relation=bounded_ordered),
        [cells(0), cells(1)],
        "separate",
    ),
    "windows": Model(
        nb.w_event(2), nb.partition(3, by="time"), PrivacySpace(streams(3, [("ann", 0)]), relation=w_event(2)), TIMES
    ),
    "events from a window": Model(
        nb.w_event(2),
        nb.intervals([(0, 2), (1, 1)]),
        PrivacySpace(streams(3, [("ann", 0)]), relation=w_event(2)),
        [lambda data: data, lambda data: data[1:2]],
        "separate",
        nb.event(),
        one_event,
    ),
    "induced": Model(
        nb.edge(),
        nb.induced(2),
        PrivacySpace(graphs(4, fixed_nodes=True), relation=edge),
        [induced([0, 1]), induced([2, 3])],
    ),
    "incident": Model(
        nb.edge(),
        nb.incident(3),
        PrivacySpace(GRAPHS, relation=edge),
        [incident([node], all_nodes=True) for node in range(3)],
        "separate",
    ),
}


@for_each("name", MODELS)
def test_mechanisms_attain_the_composed_loss(name: str) -> None:
    model = MODELS[name]
    composed: Any = model.composed
    found = attain(model.space, model.leaves)
    assert composed.tight
    assert found.tight
    assert all(found.private)
    assert found.log_ratio == composed.loss.epsilon
    assert found.promised == composed.loss


@pytest.mark.parametrize("name", MODELS)
def test_random_private_mechanisms_never_exceed_the_composed_loss(name: str) -> None:
    model = MODELS[name]
    random = Random(31)
    for _ in range(3):
        tables = []
        for leaf in model.leaves:
            costs = LeafCosts(model.space, leaf)
            images = list(dict.fromkeys(map(leaf.map, model.space.members)))

            def far(one: Any, other: Any, costs: LeafCosts = costs) -> Any:
                return getattr(costs.between(one, other)[1], "epsilon", INFINITY)

            tables.append((leaf.map, random_private_table(images, far, random=random)))
        table = compose_tables(model.space.members, tables)
        assert model.space.is_private(table, model.composed.loss)
        low, _ = model.space.exact_epsilon(table)
        assert low > 0, "a mechanism that releases nothing shows nothing"


def test_a_mechanism_that_tells_sizes_apart_is_bounded_private_on_its_part_and_loses_everything() -> None:
    space = PrivacySpace(multisets("abc", 2), relation=bounded)
    leaves = [FiniteLeaf(f, vm.pure(e), mode="separate") for f, e in zip(ABC, THREE, strict=True)]
    found = attain(space, leaves)
    assert found.tight
    assert found.log_ratio == INFINITY
    apart = nb.compose(nb.bounded(), [nb.leaf(p, vm.pure(1)) for p in nb.partition(3, values=1)])
    assert apart.tight
    assert not apart.loss.is_finite


def test_the_quotient_of_a_line_is_attained() -> None:
    line = nb.PrivacySpace(range(5), relation=lambda a, b: abs(a - b) == 1)
    letters = "abebc".__getitem__
    composed = nb.compose(line, [nb.leaf(nb.function(letters), vm.pure(1), mode="common")])
    assert composed.loss == vm.pure(1)
    assert composed.tight
    assert least_loss(line, letters, vm.pure(1)).between("a", "c") == vm.pure(2)
    assert attain(line, [FiniteLeaf(letters, vm.pure(1), mode="common")]).tight


@for_each(
    "composed",
    [
        nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.approx(1, "1e-6"))]),
        nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.renyi({2: 1}))]),
        nb.compose(nb.unbounded(), [nb.leaf(nb.opaque(stability=2), vm.pure(1))]),
        nb.compose(nb.unbounded(), [nb.leaf(nb.whole(), vm.pure(1)).also(vm.pure(2), granularity=nb.bounded())]),
        nb.compose(nb.unbounded(), [nb.leaf(nb.whole().then(stability=2), vm.pure(1))]),
        nb.compose(nb.group(nb.event(), 2), [nb.leaf(nb.partition(2, by="time")[0], vm.pure(1))]),
        nb.compose(nb.unbounded(), [nb.leaf(part, vm.pure(1)) for cut in PAIRS for part in cut]),
        nb.compose(nb.bounded(), [nb.leaf(nb.whole(), {1: vm.pure(1), 2: vm.pure(1)}, granularity=nb.unbounded())]),
    ],
)
def test_what_is_not_known_to_be_tight_says_why(composed: nb.Composed) -> None:
    assert not composed.tight
    assert composed.why_not_tight
    assert composed.why_not_tight in str(composed.explain())
