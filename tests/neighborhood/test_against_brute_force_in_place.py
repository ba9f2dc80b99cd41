"""The engine against brute force, where rows have places and columns, or are of people and of tables."""

from random import Random
from typing import Any

import pytest
from tests.cases import for_each
from tests.neighborhood.families import MULTISETS, Family, Instance, check, losses, on

import viameter as vm
from viameter import neighborhood as nb
from viameter.neighborhood.finite import FiniteLeaf, PrivacySpace, entity, exact_worst, foreign_keys
from viameter.neighborhood.granularities import Granularity

INSTANCES = 25


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


FAMILIES = [by_id, by_column, projections, contributions, groups_in_place]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: str(family.__name__))
def test_the_engine_is_never_below_brute_force_and_equal_where_it_says_so(family: Family) -> None:
    random = Random(2028)
    equal = sum(check(family(random)) for _ in range(INSTANCES))
    assert equal > INSTANCES // 2, "the engine is loose on most instances"


def table(place: int) -> Any:
    """The map to a table."""
    return lambda data: data[place]


def one_row(before: Any, after: Any) -> bool:
    """Tables that differ by one row in all of them."""
    return sum(len(one ^ other) for one, other in zip(before, after, strict=True)) == 1


@for_each("seed", range(20))
def test_foreign_keys_are_never_below_brute_force_and_equal_to_it(seed: int) -> None:
    random = Random(seed)
    fans = [random.randint(1, 2) for _ in range(random.randint(1, 2))]
    names = ["patient", "visit", "drug"][: len(fans) + 1]
    members = foreign_keys(1, fans)
    space = PrivacySpace(members, relation=entity([None, *range(len(fans))]))
    clinic = nb.foreign_keys(
        {name: {names[place - 1]: fans[place - 1]} if place else {} for place, name in enumerate(names)}
    )
    given = losses(random, len(names))
    modes: list[Any] = [random.choice(["separate", "common"]) for _ in names]
    leaves = [
        nb.leaf(table, loss, granularity=nb.unbounded(), mode=mode)
        for table, loss, mode in zip(clinic, given, modes, strict=True)
    ]
    finite = [
        FiniteLeaf(
            table(place),
            loss,
            mode=mode,
            relation=one_row if mode == "common" else lambda one, other: len(one ^ other) == 1,
        )
        for place, (loss, mode) in enumerate(zip(given, modes, strict=True))
    ]
    composed = nb.compose(nb.entity("patient"), leaves)
    assert composed.loss == exact_worst(space, finite).loss
    assert composed.tight


def test_rows_that_refer_to_two_tables_go_with_either() -> None:
    shop = nb.foreign_keys({"user": {}, "item": {"user": 2}, "order": {"user": 3, "item": 4}})
    leaves = nb.leaves(shop, vm.pure("0.01"), granularity=nb.unbounded())
    assert nb.compose(nb.entity("user"), leaves).loss == vm.pure("0.14")  # 1 + 2 + (3 + 2 * 4) rows
    assert nb.compose(nb.entity("item"), leaves).loss == vm.pure("0.05")
    assert nb.compose(nb.entity("order"), leaves).loss == vm.pure("0.01")
