"""What showing keys costs: exact laws on all small tables against the theorems, and what breaks them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pytest
from tests.mechanisms.oracles import (
    INFINITY,
    ORDERS,
    a_little_above,
    at_most,
    close,
    exp,
    gaussian_tail,
    laplace_tail,
    real,
    renyi,
    two_way,
)
from tests.tables.selection.shown_keys import (
    Counts,
    counted,
    law_of_key,
    sets_of_keys,
    tables,
    tail,
    true_delta,
    with_others,
)

import viameter as vm
from viameter.tables.selection_theorems import gaussian_thresholded_keys_of_units, thresholded_keys_of_units

SCALES = [Fraction(1, 2), Fraction(2), Fraction(9, 2)]


def added(counts: Counts, more: Counts) -> Counts:
    return tuple(a + b for a, b in zip(counts, more, strict=True))


def bound(d: int, scale: Fraction, threshold: int, total: int, each: int = 1, replaced: bool = False) -> Any:
    return thresholded_keys_of_units(
        Fraction(d), scale=scale, threshold=threshold, total=total, each=each, replaced=replaced
    )


def gaussian_bound(d: int, scale: Fraction, threshold: int, total: int, each: int = 1, replaced: bool = False) -> Any:
    return gaussian_thresholded_keys_of_units(
        Fraction(d), scale=scale, threshold=threshold, total=total, each=each, replaced=replaced
    )


# --- thresholded-keys-of-units ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize(("keys", "most"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)])
def test_thresholded_keys_of_units_ensures_the_loss_of_a_unit_that_comes_or_goes(
    keys: int, most: int, scale: Fraction
) -> None:
    sets, seen = sets_of_keys(keys, most), set()
    for threshold, table in itertools.product((1, 2, 4), tables(keys, most, 2)):
        loss = bound(1, scale, threshold, most)
        assert loss.epsilon == most / scale
        for more in with_others(table, 1, sets):
            pair = (threshold, tuple(sorted(zip(counted(table, keys), counted(more, keys), strict=True))))
            if pair not in seen:
                seen.add(pair)
                true = true_delta(counted(table, keys), counted(more, keys), scale, threshold, loss.epsilon)
                assert at_most(true, loss.delta)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_thresholded_keys_of_units_ensures_the_loss_of_several_units(scale: Fraction) -> None:
    keys, most = 2, 2
    sets, seen = sets_of_keys(keys, most), set()
    for threshold, table, d in itertools.product((1, 3), tables(keys, most, 1), (2, 3)):
        loss = bound(d, scale, threshold, most)
        assert loss.epsilon == d * most / scale
        for removed in range(min(d, len(table)) + 1):
            kept = table[removed:]
            for more in with_others(kept, d - removed, sets):
                pair = (threshold, d, counted(table, keys), counted(more, keys))
                if pair not in seen:
                    seen.add(pair)
                    assert at_most(true_delta(pair[2], pair[3], scale, threshold, loss.epsilon), loss.delta)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_thresholded_keys_of_units_ensures_the_loss_of_a_unit_that_has_other_keys(scale: Fraction) -> None:
    keys, most = 3, 2
    sets = sets_of_keys(keys, most)
    for threshold, rest in itertools.product((1, 3), tables(keys, most, 1)):
        loss = bound(1, scale, threshold, most, replaced=True)
        assert loss.epsilon == 2 * most / scale
        assert loss.delta == bound(1, scale, threshold, most).delta
        for before, after in itertools.combinations(sets, 2):
            mine, theirs = counted((*rest, before), keys), counted((*rest, after), keys)
            assert at_most(true_delta(mine, theirs, scale, threshold, loss.epsilon), loss.delta)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_thresholded_keys_of_units_ensures_the_loss_of_rows_without_names(scale: Fraction) -> None:
    # Up to 3 rows of a unit, in any keys, also all in one.
    rows = [counts for counts in itertools.product(range(4), repeat=2) if sum(counts) <= 3]
    for threshold, rest in itertools.product((1, 2, 5), [(0, 0), (1, 0), (2, 1)]):
        loss = bound(1, scale, threshold, 3, 3)
        for added in rows:
            more = tuple(a + b for a, b in zip(rest, added, strict=True))
            assert at_most(true_delta(rest, more, scale, threshold, loss.epsilon), loss.delta)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_thresholded_keys_of_units_ensures_a_delta_that_is_attained(groups: int, scale: Fraction) -> None:
    for threshold in (1, 2, 5, 9):
        loss = bound(1, scale, threshold, groups)
        true = true_delta((0,) * groups, (1,) * groups, scale, threshold, loss.epsilon)
        assert a_little_above(true, loss.delta)
        assert close(true, 1 - (1 - laplace_tail(threshold - 1, scale)) ** groups)


def test_thresholded_keys_of_units_ensures_no_more_than_the_theorem_on_rows_says() -> None:
    from viameter.mechanisms.threshold import thresholded_keys

    for scale, groups, threshold, d in itertools.product(SCALES, (1, 2, 5), (30, 100), (1, 2)):
        mine = bound(d, scale, threshold, groups)
        rows = thresholded_keys(Fraction(d * groups), scale=scale, threshold=threshold)
        assert mine.epsilon == rows.epsilon
        if (groups, d) == (1, 1):
            assert close(mine.delta, rows.delta)
        else:
            assert mine.delta <= rows.delta


def test_thresholded_keys_of_units_ensures_its_formula_rounded_up() -> None:
    for scale, threshold, d, (total, each) in itertools.product(
        (Fraction(1, 3), Fraction(2), Fraction(50)), (1, 2, 40, 400), (1, 2, 5), ((1, 1), (3, 1), (4, 2), (5, 2))
    ):
        loss = bound(d, scale, threshold, total, each)
        ways = (
            1 - (1 - laplace_tail(threshold - 1, scale)) ** (d * total),
            1 - (1 - laplace_tail(threshold - d * each, scale)) ** -(-total // each),
        )
        assert a_little_above(max(ways), loss.delta, Fraction(1, 2**90)) or loss.delta == 1
        assert loss.delta <= 1


def test_thresholded_keys_of_units_ensures_a_loss_for_every_distance() -> None:
    assert bound(0, Fraction(1), 5, 3) == vm.approx(0, 0)
    assert thresholded_keys_of_units(
        INFINITY, scale=Fraction(1), threshold=5, total=3, each=1, replaced=False
    ) == vm.approx(INFINITY, 1)
    for d, scale in itertools.product((10**6, 2**62), (Fraction(1, 10**9), Fraction(1), Fraction(2**52))):
        for threshold in (1, 30, 2**61):
            assert 0 < bound(d, scale, threshold, 7).delta <= 1
    # Far from everything it is not 0, and no error.
    assert 0 < bound(1, Fraction(1, 10**9), 2**61, 1).delta < Fraction(1, 10**800)


def test_thresholded_keys_of_units_requires_that_a_unit_moves_no_more_than_is_said() -> None:
    scale, threshold = Fraction(2), 6
    # In one more key: the exponent is what it is for.
    for groups in (1, 2):
        loss = bound(1, scale, threshold, groups)
        assert true_delta((0,) * (groups + 1), (1,) * (groups + 1), scale, threshold, loss.epsilon) > real(loss.delta)
    # Twice in one key, though not more in all.
    loss = bound(1, scale, threshold, 2)
    assert true_delta((0,), (4,), scale, threshold, loss.epsilon) > real(loss.delta)
    assert at_most(true_delta((0,), (4,), scale, threshold, bound(1, scale, threshold, 4, 4).epsilon), 1)
    # Replaced, though counted as one that comes: epsilon is not enough for keys that others have too.
    once, twice = bound(1, scale, threshold, 1), bound(1, scale, threshold, 1, replaced=True)
    assert true_delta((8, 9), (9, 8), scale, threshold, once.epsilon) > real(once.delta)
    assert at_most(true_delta((8, 9), (9, 8), scale, threshold, twice.epsilon), twice.delta)


def test_thresholded_keys_of_units_requires_a_threshold_that_is_not_one_less() -> None:
    scale, threshold = Fraction(2), 9
    for groups in (1, 3):
        loss = bound(1, scale, threshold, groups)
        assert true_delta((0,) * groups, (1,) * groups, scale, threshold - 1, loss.epsilon) > real(loss.delta)


# --- gaussian-thresholded-keys-of-units ------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def divergence(count: int, other: int, scale: Fraction, threshold: int, order: Fraction) -> Any:
    """The Renyi divergence of what is shown of one key, in the worse direction; what is cut off is below 10^-100."""
    most = max(threshold, count, other) + math.ceil(22 * scale)
    laws = [law_of_key(number, scale, threshold, most, gaussian=True) for number in (count, other)]
    for law in laws:
        law["more"] = real(0)
    return two_way(renyi, *laws, order)


def concentrated_loss(mine: Counts, theirs: Counts, scale: Fraction, threshold: int) -> tuple[Any, Any]:
    """The least rho of keys on both sides, given that no other one is shown; and the chance that one is."""
    both = [(min(a, b), max(a, b)) for a, b in zip(mine, theirs, strict=True) if a and b and a != b]
    divergences = ((order, (divergence(*pair, scale, threshold, order) for pair in both)) for order in ORDERS[::3])
    rho = max(sum(found, real(0)) / real(order) for order, found in divergences)
    chances = []
    for here, there in ((mine, theirs), (theirs, mine)):
        hidden = real(1)
        for count, other in zip(here, there, strict=True):
            if count and not other:
                hidden *= 1 - tail(threshold - count, scale, gaussian=True)
        chances.append(1 - hidden)
    return rho, max(chances)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(2)], ids=str)
@pytest.mark.parametrize("d", [1, 2])
def test_gaussian_thresholded_keys_of_units_ensures_rho_and_delta_on_small_tables(d: int, scale: Fraction) -> None:
    keys, most = 2, 2
    sets, seen = sets_of_keys(keys, most), set()
    for threshold, table in itertools.product((1, 3, 6), tables(keys, most, 1)):
        loss = gaussian_bound(d, scale, threshold, most)
        assert loss.rho == Fraction(d**2 * most) / (2 * scale**2)
        for more in with_others(table, d, sets):
            pair = (threshold, counted(table, keys), counted(more, keys))
            if pair not in seen:
                seen.add(pair)
                rho, delta = concentrated_loss(pair[1], pair[2], scale, threshold)
                assert at_most(rho, loss.rho)
                assert at_most(delta, loss.delta)


def test_gaussian_thresholded_keys_of_units_ensures_the_loss_of_replaced_units_and_of_rows_without_names() -> None:
    scale, keys = Fraction(2), 3
    sets = sets_of_keys(keys, 2)
    for threshold, (before, after) in itertools.product((2, 5), itertools.combinations(sets, 2)):
        for rest in ((0, 0, 0), (1, 2, 0)):
            mine, theirs = (added(rest, counted((one,), keys)) for one in (before, after))
            rho, delta = concentrated_loss(mine, theirs, scale, threshold)
            loss = gaussian_bound(1, scale, threshold, 2, replaced=True)
            assert loss.delta == gaussian_bound(1, scale, threshold, 2).delta
            assert at_most(rho, loss.rho) and at_most(delta, loss.delta)
    starts: list[Counts] = [(0, 0), (1, 0), (2, 1)]
    for threshold, start in itertools.product((2, 5), starts):
        loss = gaussian_bound(1, scale, threshold, 3, 3)
        for rows in (counts for counts in itertools.product(range(4), repeat=2) if sum(counts) <= 3):
            rho, delta = concentrated_loss(start, added(start, rows), scale, threshold)
            assert at_most(rho, loss.rho) and at_most(delta, loss.delta)


def test_gaussian_thresholded_keys_of_units_ensures_a_rho_that_replaced_units_attain() -> None:
    # Two keys that others have too are left for two others: four counts move.
    scale = Fraction(2)
    rho, delta = concentrated_loss((99, 99, 98, 98), (98, 98, 99, 99), scale, 1)
    assert close(rho, gaussian_bound(1, scale, 1, 2, replaced=True).rho, Fraction(1, 10**6))
    assert rho > real(gaussian_bound(1, scale, 1, 2).rho)
    assert delta == 0


def test_gaussian_thresholded_keys_of_units_ensures_its_formula_for_large_noise() -> None:
    scale, threshold = Fraction(20), 81
    for d, (total, each) in itertools.product((1, 2, 3, 30), ((1, 1), (3, 1), (4, 2), (5, 2))):
        ways = (
            1 - (1 - gaussian_tail(threshold - 1, scale)) ** (d * total),
            1 - (1 - gaussian_tail(threshold - d * each, scale)) ** -(-total // each),
        )
        given = gaussian_bound(d, scale, threshold, total, each).delta
        assert at_most(max(ways), given)
        assert given < real(Fraction(6, 5)) * max(ways) or d == 30


@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(1), Fraction(5, 2), Fraction(20)], ids=str)
def test_gaussian_thresholded_keys_of_units_ensures_a_tail_that_is_little_above_the_true_one(scale: Fraction) -> None:
    for least in (1, 2, 3, 5, 10, 30, 60, 100):
        true, given = gaussian_tail(least, scale), gaussian_bound(1, scale, least + 1, 1).delta
        assert at_most(true, given)
        if least > 4 * scale and true > exp(-200):
            assert given < real(Fraction(6, 5)) * true
    assert gaussian_bound(1, scale, 1, 1).delta == 1


def test_gaussian_thresholded_keys_of_units_ensures_a_loss_for_every_distance() -> None:
    assert gaussian_bound(0, Fraction(1), 5, 3) == vm.approx_zcdp(0, 0)
    assert gaussian_thresholded_keys_of_units(
        INFINITY, scale=Fraction(1), threshold=5, total=3, each=1, replaced=False
    ) == vm.approx_zcdp(INFINITY, 1)
    for d, scale in itertools.product((1, 10**6, 2**62), (Fraction(1, 10**9), Fraction(1), Fraction(2**52))):
        for threshold in (1, 30, 2**61):
            assert 0 < gaussian_bound(d, scale, threshold, 7).delta <= 1


def test_gaussian_thresholded_keys_of_units_requires_that_a_unit_moves_no_more_than_is_said() -> None:
    scale, threshold = Fraction(2), 9
    loss = gaussian_bound(1, scale, threshold, 2)
    # One key more than is said, keys that others have or that nobody has; a threshold that is one less.
    assert concentrated_loss((9, 9, 9), (10, 10, 10), scale, 1)[0] > real(loss.rho)
    assert concentrated_loss((0, 0, 0), (1, 1, 1), scale, threshold)[1] > real(loss.delta)
    assert concentrated_loss((0, 0), (1, 1), scale, threshold - 1)[1] > real(loss.delta)
    # Twice in one key costs twice as much as once in two.
    assert concentrated_loss((9,), (11,), scale, 1)[0] > real(loss.rho)
    assert at_most(concentrated_loss((9,), (11,), scale, 1)[0], gaussian_bound(1, scale, threshold, 2, 2).rho)
