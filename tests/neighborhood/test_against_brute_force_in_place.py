"""The engine against brute force, where rows have places and columns, or are of people and of tables."""

from random import Random
from typing import Any

import pytest
from tests.cases import for_each
from tests.neighborhood.families import IN_PLACE, Family, check, losses

import viameter as vm
from viameter import neighborhood as nb
from viameter.neighborhood.finite import FiniteLeaf, PrivacySpace, entity, exact_worst, foreign_keys

INSTANCES = 25


@pytest.mark.parametrize("family", IN_PLACE, ids=lambda family: str(family.__name__))
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
