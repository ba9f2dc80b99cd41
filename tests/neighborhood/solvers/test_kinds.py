"""Kinds of records and pairs of them, against all kinds and all pairs."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from tests.neighborhood.solvers.instances import INFINITY, gains, plus, seeds

from viameter.errors import NumberError, ParameterError
from viameter.neighborhood.solvers import pairs as pairs_module
from viameter.neighborhood.solvers import worst_kind, worst_pair

Gains = list[Fraction | float]


def _kinds(rng: random.Random, leaves: int) -> list[frozenset[int]]:
    heavy = {i for i in range(leaves) if rng.random() < 0.2}
    drawn = [{i for i in range(leaves) if rng.random() < 0.4} for _ in range(rng.randrange(9))]
    return [frozenset(kind | heavy if rng.random() < 0.7 else kind) for kind in drawn]


def _cost(s: frozenset[int], t: frozenset[int], cross: Gains, both: Gains) -> Fraction | float:
    return plus([*(cross[i] for i in s ^ t), *(both[i] for i in s & t)])


def _both(rng: random.Random, cross: Gains) -> Gains:
    finite = [g if g != INFINITY else Fraction(3) for g in cross]
    return rng.choice(
        [
            [Fraction(0)] * len(cross),
            [2 * g for g in finite],
            [g / 2 for g in finite],
            list(cross),
            [3 * g for g in finite],
            gains(rng, len(cross), infinite=0.1),
        ]
    )


def test_kind_is_the_largest_of_all() -> None:
    for rng in seeds("kind", 300):
        leaves = rng.randrange(7)
        given = gains(rng, leaves, infinite=0.1)
        kinds = _kinds(rng, leaves)
        worst = worst_kind(kinds, given)
        totals = [plus(given[i] for i in kind) for kind in kinds]
        assert worst.exact and worst.value == max(totals, default=0)
        assert worst.chosen == (totals.index(worst.value) if kinds else None)


def test_kinds_of_gains_beyond_int64_do_not_wrap() -> None:
    given: Gains = [Fraction(2**62), Fraction(2**62), Fraction(2**62), Fraction(1)]
    assert worst_kind([frozenset({0, 1, 2, 3}), frozenset({3}), frozenset({0, 1})], given).value == 3 * 2**62 + 1


def _check_pair(rng: random.Random) -> None:
    leaves = rng.randrange(1, 8)
    cross = gains(rng, leaves, infinite=0.05)
    both = _both(rng, cross)
    kinds = _kinds(rng, leaves)
    plural = [rng.random() < 0.5 for _ in kinds]
    allowed = [(s, t) for s, t in combinations_with_replacement(range(len(kinds)), 2) if s != t or plural[s]]
    worst = worst_pair(kinds, cross=cross, both=both, plural=plural)
    assert worst.exact
    assert worst.value == max((_cost(kinds[s], kinds[t], cross, both) for s, t in allowed), default=0)
    if allowed:
        assert worst.chosen in allowed
        s, t = worst.chosen
        assert _cost(kinds[s], kinds[t], cross, both) == worst.value
    else:
        assert worst.chosen is None
    some = [pair for pair in combinations_with_replacement(range(len(kinds)), 2) if rng.random() < 0.4]
    among = worst_pair(kinds, cross=cross, both=both, plural=plural, pairs=iter(some))
    costs = {(s, t): _cost(kinds[s], kinds[t], cross, both) for s, t in some if s != t or plural[s]}
    assert among.exact and among.value == max(costs.values(), default=0)
    assert among.chosen is None if not costs else costs[among.chosen] == among.value


def test_pair_is_the_largest_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "MOST_SCANNED", 0)
    for rng in seeds("pair", 800):
        _check_pair(rng)


def test_trying_all_pairs_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "MOST_STEPS", 0)
    for rng in seeds("scan", 300):
        _check_pair(rng)


def test_a_search_that_ends_early_gives_a_bound_from_above(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "MOST_SCANNED", 0)
    above = 0
    for rng in seeds("early", 200):
        monkeypatch.setattr(pairs_module, "MOST_STEPS", rng.randrange(6))
        leaves = rng.randrange(2, 8)
        cross = gains(rng, leaves)
        both = _both(rng, cross)
        kinds = [*_kinds(rng, leaves), frozenset({0}), frozenset({1})]
        worst = worst_pair(kinds, cross=cross, both=both, plural=[True] * len(kinds))
        truth = max(_cost(s, t, cross, both) for s, t in combinations_with_replacement(kinds, 2))
        if worst.exact:
            assert worst.value == truth
        else:
            assert worst.value >= truth
            assert worst.chosen is None
            above += 1
    assert above > 50


def test_many_kinds_that_share_the_heaviest_leaf_agree_with_all_pairs() -> None:
    for rng in seeds("share", 6):
        leaves = 40
        cross: Gains = [Fraction(100), *(Fraction(rng.randrange(1, 50), 10) for _ in range(leaves - 1))]
        both: Gains = [Fraction(0)] * leaves
        kinds = [frozenset({0, *rng.sample(range(leaves), 3)}) for _ in range(150)]
        truth = max(_cost(s, t, cross, both) for s, t in combinations_with_replacement(kinds, 2))
        assert worst_pair(kinds, cross=cross, both=both, plural=[False] * 150).value == truth


def test_gains_beyond_int64_do_not_wrap_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    for steps in (pairs_module.MOST_STEPS, 0):
        monkeypatch.setattr(pairs_module, "MOST_STEPS", steps)
        for rng in seeds("wide pairs", 30):
            cross: Gains = [Fraction(rng.randrange(2**64), 3) for _ in range(5)]
            both: Gains = [Fraction(rng.randrange(2**66)) for _ in range(5)]
            kinds = [*_kinds(rng, 5), frozenset({0}), frozenset({1, 2})]
            worst = worst_pair(kinds, cross=cross, both=both, plural=[True] * len(kinds))
            assert worst.value == max(_cost(s, t, cross, both) for s, t in combinations_with_replacement(kinds, 2))


def test_kinds_that_make_no_sense_are_refused() -> None:
    one, half = frozenset({0}), [Fraction(1, 2)]
    with pytest.raises(ParameterError, match="touches leaf 1"):
        worst_kind([one, frozenset({1})], half)
    with pytest.raises(ParameterError, match="touches leaf -1"):
        worst_kind([frozenset({-1})], half)
    with pytest.raises(ParameterError, match=r"kinds\[0\] is of type list"):
        worst_kind([[0]], half)  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="no index of a leaf"):
        worst_kind([frozenset({"a"})], half)  # type: ignore[arg-type]
    with pytest.raises(NumberError):
        worst_kind([one], [Fraction(-1)])
    with pytest.raises(ParameterError, match="both"):
        worst_pair([one], cross=half, both=[], plural=[True])
    with pytest.raises(ParameterError, match="plural"):
        worst_pair([one], cross=half, both=half, plural=[])
    with pytest.raises(ParameterError, match="pairs names kind 1"):
        worst_pair([one], cross=half, both=half, plural=[True], pairs=[(0, 1)])
    with pytest.raises(ParameterError, match="an end of a pair"):
        worst_pair([one], cross=half, both=half, plural=[True], pairs=[(0, -1)])
