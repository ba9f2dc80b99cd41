"""The most frequent of public keys, and the frequent ones among keys that nobody listed: laws, costs, answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.mechanisms.oracles import (
    INFINITY,
    ORDERS,
    PRECISION,
    at_most,
    exponential_law,
    peeling_law,
    permute_and_flip_law,
    pure_loss,
    real,
    renyi,
    two_way,
)
from tests.tables.held import held

import viameter as vm
from viameter.errors import NoTheorem, OverBudget, ParameterError
from viameter.measures.conversions.response import bounded_range_is_pure, bounded_range_to_zcdp
from viameter.mechanisms.selection import noisy_max_exponential
from viameter.tables.numbers import Grouped
from viameter.tables.public_tables import public
from viameter.tables.ranking import top_keys_of_added_units
from viameter.tables.rankings import HeavyHitters, Ranking, heavy_hitters, top

loose: Any = vm
UNIT_OF_ROWS: dict[str, Any] = {"rows": Fraction(1), "per_group": INFINITY}


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    with gmpy2.context(precision=PRECISION):
        yield


def rows() -> dict[str, Any]:
    """Of 60 units, a and b have all, c has 20; b has three rows of each unit."""
    units = list(range(60))
    return {"u": [*units, *units * 3, *units[:20]], "k": ["a"] * 60 + ["b"] * 180 + ["c"] * 20}


def grouped(budget: Any, unit: Any = None, keys: str = "abcz", **options: Any) -> Grouped:
    table = vm.open(held(rows()), unit=unit or vm.per("u", rows=9), budget=budget)
    found: Grouped = table.group_by("k", keys=list(keys), **options)
    return found


# --- top-keys-of-added-units -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(5, 2)], ids=str)
@pytest.mark.parametrize("k", [1, 2])
def test_top_keys_of_added_units_ensures_the_loss_of_units_that_come_or_go(k: int, scale: Fraction) -> None:
    for base, d in itertools.product([(0, 0, 0), (1, 0, 2), (3, 3, 0)], (1, 2)):
        for added, removed in itertools.product(itertools.product(range(2), repeat=3), repeat=2):
            # Each unit has at most one row in each key; the second one is added too, or removed.
            mine = tuple(a + (b if d == 2 else 0) for a, b in zip(base, removed, strict=True))
            theirs = tuple(a + b for a, b in zip(base, added, strict=True))
            pick: Any
            for pick, step in ((exponential_law, bounded_range_is_pure), (permute_and_flip_law, noisy_max_exponential)):
                laws = [peeling_law(counts, scale, k, pick) for counts in (mine, theirs)]
                bound: Any = top_keys_of_added_units(
                    Fraction(d), step=step, k=k, scale=scale, rows=Fraction(3), per_group=Fraction(1)
                )
                assert at_most(pure_loss(*laws), bound.epsilon)
                if pick is exponential_law:
                    rho: Any = top_keys_of_added_units(
                        Fraction(d),
                        step=bounded_range_to_zcdp,
                        k=k,
                        scale=scale,
                        rows=Fraction(3),
                        per_group=Fraction(1),
                    )
                    assert all(at_most(two_way(renyi, *laws, order) / real(order), rho.rho) for order in ORDERS[::4])


def test_top_keys_of_added_units_ensures_its_formula() -> None:
    for d, k, limit in itertools.product((0, 1, 3), (1, 4), (1, 5)):
        limits = {"rows": Fraction(limit), "per_group": Fraction(7)}
        away = Fraction(d * limit, 2)
        for step, expected in (
            (noisy_max_exponential, vm.pure(k * away)), (bounded_range_is_pure, vm.pure(k * away)),
            (bounded_range_to_zcdp, vm.zcdp(k * away**2 / 8)),
        ):  # fmt: skip
            assert top_keys_of_added_units(Fraction(d), step=step, k=k, scale=Fraction(2), **limits) == expected
    assert top_keys_of_added_units(
        INFINITY, step=noisy_max_exponential, k=1, scale=Fraction(1), **UNIT_OF_ROWS
    ) == vm.pure(INFINITY)


def test_top_keys_of_added_units_requires_units_that_are_there_or_not() -> None:
    # One that has other rows moves counts in two directions, and costs more than is said here.
    scale = Fraction(1)
    bound: Any = top_keys_of_added_units(
        Fraction(1), step=noisy_max_exponential, k=1, scale=scale, rows=Fraction(1), per_group=Fraction(1)
    )
    laws = [permute_and_flip_law(counts, scale) for counts in ((9, 8), (8, 9))]
    assert pure_loss(*laws) > real(bound.epsilon)
    # So they are ranked by the theorem on scores that move anyhow, with twice the noise.
    for unit in (vm.per("u", rows=9, replace=True), vm.per_row(replace=True)):
        made = Ranking(grouped(vm.zcdp(1), unit), 2).measurement(spend=vm.zcdp("1/2"))
        slugs = [node.theorem.slug for node in made.explain(1).derivation.nodes()]
        assert "top-k-by-peeling" in slugs and "top-keys-of-added-units" not in slugs
    noises = [
        Ranking(grouped(vm.pure(1), vm.per("u", rows=9, replace=replace)), 2)
        .preview(spend=vm.pure("1/2"))
        .rows[0]
        .noise
        for replace in (False, True)
    ]
    assert noises == ["exponential 36", "exponential 72"]


def test_top_keys_of_added_units_requires_no_trust() -> None:
    assert Ranking(grouped(vm.zcdp(1)), 2).measurement(spend=vm.zcdp("1/2")).explain(1).assumptions == ()


# --- top -------------------------------------------------------------------------------------------------------------

LOUD = [vm.pure(10**6), vm.zcdp(10**6), vm.approx(10**6, "1e-6"), vm.approx_zcdp(10**6, "1e-6")]


@pytest.mark.parametrize("budget", LOUD, ids=repr)
@pytest.mark.parametrize("replace", [False, True])
def test_the_most_frequent_keys_come_in_order(budget: Any, replace: bool) -> None:
    keys = grouped(budget, vm.per("u", rows=9, replace=replace))
    answer = top(keys, k=3, spend=budget)
    assert answer.groups == (("b",), ("a",), ("c",)) == tuple(answer)
    assert answer.to_columns() == {"k": ["b", "a", "c"]}
    assert answer.loss <= budget and keys.table.spent == answer.loss
    assert answer.guarantee.loss == answer.loss
    assert answer.certificate().to_json()["claim"]["loss"]["measure"] == budget.measure.slug
    assert repr(answer).splitlines()[:2] == ["top 3 by rows: k", "  1  'b'"]


def test_keys_may_be_ranked_by_units_and_others_may_be_one_group() -> None:
    one = Ranking(grouped(vm.pure(10**6), vm.per("u", rows=9), "abc"), 3, "units")
    for _ in range(3):
        answer = one.release(spend=vm.pure(10**5))
        # a and b have as many units, and c fewer.
        assert set(answer.groups[:2]) == {("a",), ("b",)} and answer.groups[2] == ("c",)
    others = grouped(vm.pure(10**6), keys="ac", other=True)
    assert top(others, k=2, spend=vm.pure(10**5)).groups == (("(other)",), ("a",))
    table = vm.open(held(rows()), unit=vm.per("u", rows=9), budget=vm.pure(10**6))
    bins = table.derive(n=table["u"]).group_by("n", edges=[0, 10, 60])
    assert top(bins, k=1, spend=vm.pure(10**5)).groups[0][0].startswith("[10, 60")


@pytest.mark.parametrize("replace", [False, True])
def test_a_ranking_spends_what_it_is_given(replace: bool) -> None:
    for spend in (vm.pure("1/3"), vm.zcdp("1/7"), vm.approx("1/3", "1e-6"), vm.approx_zcdp("1/7", "1e-6")):
        keys = grouped(spend, vm.per("u", rows=9, replace=replace))
        loss: Any = Ranking(keys, 3).measurement(spend=spend).map(1)
        asked: Any = spend
        amount, given = (loss.epsilon, asked.epsilon) if hasattr(loss, "epsilon") else (loss.rho, asked.rho)
        assert given * Fraction(999, 1000) < amount <= given
        assert getattr(loss, "delta", 0) == 0


def test_a_unit_counts_for_as_much_as_it_can_move_a_count() -> None:
    spend = vm.pure(1)
    for unit, by, scale in (
        (vm.per("u", rows=9), "rows", 9), (vm.per("u", rows=9), "units", 1), (vm.per_row(), "units", 1),
        (vm.per("u", groups=4, per_group=2), "rows", 2), (vm.per("u", rows=9, replace=True), "units", 2),
    ):  # fmt: skip
        preview = Ranking(grouped(vm.pure(10), unit), 1, loose_by(by)).preview(spend=spend)
        assert preview.rows[0].noise == f"exponential {scale}"
        assert preview.loss == spend
    # Where rows have no names they are what is counted, also if there are several of each.
    table = vm.open(held(rows()), unit=vm.per_row(), budget=vm.pure(10))
    joined = table.join(public({"k": ["a", "a", "a", "b"], "c": ["x", "x", "x", "y"]}), on="k")
    keys = joined.group_by("c", keys=["x", "y"])
    for by in ("rows", "units"):
        assert Ranking(keys, 1, loose_by(by)).preview(spend=spend).rows[0].noise == "exponential 3"


def loose_by(by: object) -> Any:
    return by


def test_a_preview_says_how_far_behind_a_key_may_be_and_that_holds() -> None:
    ranking = Ranking(grouped(vm.pure(100), vm.per("u", rows=9)), 2, "units")
    spend = vm.pure("1/5")
    preview = ranking.preview(spend=spend, alpha="1/4")
    (behind,) = preview.rows[0].widths.values()
    # Scale 10, four keys, two picks: 10 ln(4 * 2 * 4).
    assert behind == pytest.approx(10 * np.log(32))
    assert preview.fits and preview.loss == spend and not ranking.preview(spend=vm.pure(101)).fits
    for counts in ([0, 20, 30, 35], [5, 5, 5, 40]):
        law = peeling_law(counts, Fraction(10), 2, permute_and_flip_law)
        bad = real(0)
        for picked, chance in law.items():
            left = [max(count for i, count in enumerate(counts) if i not in picked[:n]) for n in range(2)]
            bad += chance if any(best - counts[i] > behind for best, i in zip(left, picked, strict=True)) else 0
        assert bad <= real("1/4")


def test_what_cannot_be_ranked_is_refused() -> None:
    keys = grouped(vm.pure(1))
    for k in (0, -1, 5, True, 1.5, "2", None):
        with pytest.raises(ParameterError, match="from 1 to 4"):
            Ranking(keys, loose_by(k))
    with pytest.raises(ParameterError, match="expected 'rows' or 'units'"):
        Ranking(keys, 1, loose_by("size"))
    with pytest.raises(OverBudget):
        top(keys, k=1, spend=vm.pure(2))
    with pytest.raises(NoTheorem, match="nothing limits"):
        top(grouped(vm.pure(1), vm.per("u")), k=1, spend=vm.pure(1))
    assert keys.table.history == ()


# --- heavy hitters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", LOUD[2:], ids=repr)
def test_heavy_hitters_are_shown_with_their_counts_the_largest_first(budget: Any) -> None:
    table = vm.open(held(rows()), unit=vm.per("u", rows=9), budget=budget)
    spend = half(budget)
    assert heavy_hitters(table.filter(table["u"] > 99), ["k"], spend=spend).to_dicts() == []
    spent = table.spent
    answer = heavy_hitters(table, "k", spend=spend)
    assert answer.keys == ("k",)
    assert answer.groups == (("a",), ("b",), ("c",))
    found = answer["units"]
    assert (found.value.tolist(), found.lower.tolist(), found.upper.tolist()) == ([60, 60, 20],) * 3
    assert answer.loss <= spend and spent <= spend and table.spent == spent + answer.loss


def half(budget: Any) -> Any:
    amount = Fraction(budget.epsilon if hasattr(budget, "epsilon") else budget.rho)
    return type(budget)(amount / 2, budget.delta / 2)


def test_an_interval_of_what_is_shown_misses_as_rarely_as_it_says() -> None:
    units = list(range(3000))
    data = {"u": units, "k": [f"k{unit % 10}" for unit in units]}
    table = vm.open(held(data), unit=vm.per("u", rows=1), budget=vm.approx(10**6, "1/2"))
    misses = total = 0
    for _ in range(12):
        answer = heavy_hitters(table, "k", spend=vm.approx("1/10", "1e-3"), alpha="1/5")
        found = answer["units"]
        total += len(answer)
        misses += int(((found.lower > 300) | (found.upper < 300)).sum())
        assert (np.diff(found.value) <= 0).all() and (found.lower >= 1).all()
    # 120 keys, each with a chance of 1/5 at most: more than 50 of them has one below 10^-8.
    assert total > 100 and misses <= 50


def test_what_is_shown_occurs_so_that_its_count_is_at_least_1() -> None:
    data = {"u": list(range(200)), "k": [f"k{unit % 40}" for unit in range(200)]}
    table = vm.open(held(data), unit=vm.per("u", rows=1), budget=vm.approx(1, "3/5"))
    found = heavy_hitters(table, "k", spend=vm.approx("1/10", "1/2"), alpha="1/1000")["units"]
    # Noise of scale 10, a threshold of about 2, and intervals that reach 69 to either side.
    assert len(found.value) > 0 and (found.lower == 1).any() and (found.lower >= 1).all()
    assert (found.lower <= found.value).all() and (found.value <= found.upper).all()


def test_a_preview_of_heavy_hitters_tells_threshold_and_width() -> None:
    table = vm.open(held(rows()), unit=vm.per("u", rows=3), budget=vm.approx(1, "1e-6"))
    preview = HeavyHitters(table, ("k",)).preview(spend=vm.approx("1/4", "1e-7"))
    assert preview.rows[0].noise == "laplace 12" and preview.rows[0].widths == {"": 36.0}
    assert preview.notes[0].startswith("keys with fewer than about 200 units are not shown")
    assert preview.fits and not HeavyHitters(table, ("k",)).preview(spend=vm.approx(2, "1e-7")).fits
    assert table.history == ()


def test_heavy_hitters_need_a_delta_and_columns_that_are_keys() -> None:
    data = {**rows(), "units": [0.5] * 260}
    with pytest.raises(NoTheorem, match=r"vm\.approx"):
        heavy_hitters(vm.open(held(data), unit=vm.per("u", rows=1), budget=vm.zcdp(1)), "k", spend=vm.zcdp(1))
    table = vm.open(held(data), unit=vm.per("u", rows=1), budget=vm.approx(1, "1e-6"))
    with pytest.raises(ParameterError, match="is real"):
        heavy_hitters(table, "units", spend=vm.approx(1, "1e-6"))
    with pytest.raises(ParameterError, match="at least one column"):
        heavy_hitters(table, [], spend=vm.approx(1, "1e-6"))
    assert HeavyHitters(table, ("k", "u")).name == "units"
    whole = vm.open(held({"u": [1], "units": ["a"]}), unit=vm.per("u", rows=1), budget=vm.approx(1, "1e-6"))
    assert HeavyHitters(whole, ("units",)).name == "count"
