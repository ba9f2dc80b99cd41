"""Paths in forests, against all paths and all pairs of paths."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from tests.cases import for_each
from tests.neighborhood.solvers.instances import INFINITY, gains, plus, seeds

from viameter.errors import ParameterError
from viameter.neighborhood.solvers import worst_path, worst_path_pair


def _forest(rng: random.Random) -> list[int | None]:
    size = rng.randrange(9)
    names = list(range(size))
    rng.shuffle(names)
    parents: list[int | None] = [None] * size
    for n in range(1, size):
        if rng.random() < 0.8:
            parents[names[n]] = names[rng.randrange(n)]
    return parents


def _path(parents: list[int | None], node: int | None) -> set[int]:
    return set() if node is None else {node} | _path(parents, parents[node])


def _ends(parents: list[int | None]) -> list[int]:
    return [node for node in range(len(parents)) if node not in parents]


def test_path_is_the_largest_of_all() -> None:
    for rng in seeds("path", 400):
        parents = _forest(rng)
        given = gains(rng, len(parents), infinite=0.1)
        worst = worst_path(parents, given)
        totals = {node: plus(given[i] for i in _path(parents, node)) for node in _ends(parents)}
        assert worst.exact and worst.value == max(totals.values(), default=0)
        assert worst.chosen is None if not parents else totals[worst.chosen] == worst.value


def test_pair_of_paths_is_the_largest_of_all() -> None:
    for rng in seeds("path pair", 800):
        parents = _forest(rng)
        cross, both = (gains(rng, len(parents), infinite=0.1) for _ in range(2))
        plural = rng.random() < 0.5
        worst = worst_path_pair(parents, cross=cross, both=both, plural=plural)
        totals = {}
        for s, t in combinations_with_replacement(_ends(parents), 2):
            if s != t or plural:
                one, other = _path(parents, s), _path(parents, t)
                totals[s, t] = plus([*(cross[i] for i in one ^ other), *(both[i] for i in one & other)])
        assert worst.exact and worst.value == max(totals.values(), default=0)
        assert worst.chosen is None if not totals else totals[worst.chosen] == worst.value


def test_deep_trees_do_not_exhaust_the_stack() -> None:
    deep: list[int | None] = [None, *range(20000)]
    assert worst_path(deep, [Fraction(1, 10)] * 20001).value == Fraction(20001, 10)
    pair = worst_path_pair([*deep, 0], cross=[Fraction(1)] * 20002, both=[Fraction(0)] * 20002, plural=False)
    assert (pair.value, pair.chosen) == (20001, (20000, 20001))


def test_an_infinite_root_that_both_records_share_costs_what_both_cost() -> None:
    cross: list[Fraction | float] = [INFINITY, Fraction(1), Fraction(2)]
    both = [Fraction(1, 2), Fraction(0), Fraction(0)]
    assert worst_path_pair([None, 0, 0], cross=cross, both=both).value == Fraction(7, 2)


@for_each(
    ("parents", "text"),
    [
        ([1, 0], "circle"),
        ([0], "circle"),
        ([None, 2], r"parents\["),
        ([-1], r"parents\["),
        ([None, 0.0], r"parents\["),
        (["0"], r"parents\["),
    ],
)
def test_parents_that_are_no_forest_are_refused(parents: list[int | None], text: str) -> None:
    ones = [Fraction(1)] * len(parents)
    with pytest.raises(ParameterError, match=text):
        worst_path(parents, ones)
    with pytest.raises(ParameterError, match=text):
        worst_path_pair(parents, cross=ones, both=ones)


def test_paths_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="gains"):
        worst_path([None], [])
    with pytest.raises(ParameterError, match="cross"):
        worst_path_pair([None], cross=[], both=[])
    with pytest.raises(ParameterError, match="both"):
        worst_path_pair([None], cross=[Fraction(1)], both=[])
    with pytest.raises(ParameterError, match="plural"):
        worst_path_pair([None], cross=[Fraction(1)], both=[Fraction(1)], plural=1)  # type: ignore[arg-type]
