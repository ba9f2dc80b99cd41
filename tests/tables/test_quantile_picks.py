"""Quantiles that are picked: their loss against all small tables, their scores word by word, and questions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
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
    max_divergence,
    permute_and_flip_law,
    pure_loss,
    real,
    renyi,
    two_way,
)
from tests.tables.held import held

import viameter as vm
from viameter.errors import ParameterError
from viameter.measures.conversions.response import bounded_range_to_zcdp
from viameter.mechanisms.selection import noisy_max_exponential
from viameter.tables.aggregates.quantiles import PickedQuantile, Quantile, with_methods
from viameter.tables.collecting import MOST
from viameter.tables.estimates.picks import Choice, picked_quantiles
from viameter.tables.expressions import Column
from viameter.tables.expressions.types import INTEGER
from viameter.tables.quantile_picks import FINEST_QUANTILE, QuantilePick, picks_are_better, quantile_picks_of_units

F = Fraction
Counts = tuple[int, ...]
"""Rows of a group by bin."""
BINS, MOST_IN_BIN, MOST_MOVED = 3, 3, 4
QUANTILES = [F(1, 2), F(9, 10), F(1, 3), F(0), F(1)]
LIMITS: list[tuple[Any, Any, Any]] = [
    (F(1), INFINITY, INFINITY), (F(2), INFINITY, INFINITY), (F(2), INFINITY, F(1)), (INFINITY, F(1), F(2)),
    (INFINITY, F(2), F(1)),
]  # fmt: skip
loose: Any = vm


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    with gmpy2.context(precision=PRECISION):
        yield


@cache
def scores_of(counts: Counts, q: Fraction) -> list[int]:
    """Scores row by row: minus the rows, times the denominator, between a bin and a quantile."""
    rows = [bin for bin, count in enumerate(counts) for _ in range(count)]
    found = []
    for bin in range(len(counts)):
        at_lower_edge = sum(row < bin for row in rows) - q * len(rows)
        at_upper_edge = sum(row <= bin for row in rows) - q * len(rows)
        off = max(F(0), at_lower_edge, -at_upper_edge) * q.denominator
        assert off.denominator == 1
        found.append(-int(off))
    return found


def floored_scores(counts: Counts, q: Fraction) -> list[int]:
    """What a careless rank would give: that of a row, rounded down."""
    rank, below = math.floor(q * sum(counts)), list(itertools.accumulate(counts, initial=0))
    return [-max(0, below[bin] - rank, rank - below[bin + 1]) * q.denominator for bin in range(len(counts))]


Scores = Callable[[Counts, Fraction], list[int]]


@cache
def worst(q: Fraction, scale: Fraction, zcdp: bool, scores: Scores = scores_of) -> dict[tuple[int, int], Any]:
    """The largest loss of one group by the numbers of rows that leave and enter it, over all small groups."""
    laws = {}
    for counts in itertools.product(range(MOST_IN_BIN + 1), repeat=BINS):
        law = exponential_law if zcdp else permute_and_flip_law
        laws[counts] = law(scores(counts, q), scale)
    found: dict[tuple[int, int], Any] = {}
    for (left, mine), (right, theirs) in itertools.combinations(laws.items(), 2):
        leave = sum(max(a - b, 0) for a, b in zip(left, right, strict=True))
        enter = sum(max(b - a, 0) for a, b in zip(left, right, strict=True))
        if max(leave, enter) > MOST_MOVED:
            continue
        if zcdp:
            loss = max(two_way(renyi, mine, theirs, order) / real(order) for order in ORDERS[::8])
        else:
            loss = max(pure_loss(mine, theirs), pure_loss(theirs, mine))
        for key in {(leave, enter), (enter, leave)}:
            found[key] = max(found.get(key, real(0)), loss)
    # What is allowed to move more may move less.
    return {
        (n, m): max((x for (a, b), x in found.items() if a <= n and b <= m), default=real(0))
        for n, m in itertools.product(range(MOST_MOVED + 1), repeat=2)
    }


def patterns(limits: tuple[Any, Any, Any], keys: int) -> list[Counts]:
    """All numbers of rows of a unit, by group."""
    rows, groups, per_group = limits
    return [
        n for n in itertools.product(range(3), repeat=keys)
        if sum(n) <= rows and max(n) <= per_group and sum(map(bool, n)) <= groups
    ]  # fmt: skip


def largest(
    q: Fraction, scale: Fraction, zcdp: bool, limits: tuple[Any, Any, Any], keys: int, replaced: bool, d_in: int,
    scores: Scores = scores_of,
) -> Any:  # fmt: skip
    """The largest loss of all groups: those of groups add up, and what the others are in each is free."""
    table, one = worst(q, scale, zcdp, scores), patterns(limits, keys)
    units = list(itertools.product(one, one)) if replaced else [(n, (0,) * keys) for n in one]
    # Units that come and units that go: the direction may differ from unit to unit.
    ways = units if replaced else units + [(entering, leaving) for leaving, entering in units]
    several = itertools.product(ways, repeat=d_in) if d_in > 1 else ((unit,) for unit in units)
    moved = {
        tuple((sum(u[0][g] for u in some), sum(u[1][g] for u in some)) for g in range(keys)) for some in several
    }  # fmt: skip
    return max(sum((table[pair] for pair in pairs), real(0)) for pairs in moved)


def claimed(
    q: Fraction, scale: Fraction, zcdp: bool, limits: tuple[Any, Any, Any], keys: int, replaced: bool, d_in: Any
) -> Any:
    """What the theorem says."""
    loss: Any = quantile_picks_of_units(
        d_in, step=bounded_range_to_zcdp if zcdp else noisy_max_exponential, numerator=q.numerator,
        denominator=q.denominator, scale=scale, rows=limits[0], groups=limits[1], per_group=limits[2], keys=keys,
        replaced=replaced,
    )  # fmt: skip
    return loss.rho if zcdp else loss.epsilon


# --- quantile-picks-of-units -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("zcdp", [False, True], ids=["pure", "zcdp"])
@pytest.mark.parametrize("q", QUANTILES, ids=str)
def test_quantile_picks_of_units_ensures_the_largest_loss_of_all_small_tables(q: Fraction, zcdp: bool) -> None:
    shares = []
    for scale, limits, keys, replaced in itertools.product(
        (F(2) * q.denominator, F(1, 2) * q.denominator), LIMITS, (1, 2), (False, True)
    ):
        for d_in in (1, 2) if limits[0] == 1 or limits[2] == 1 or not replaced else (1,):
            bound = claimed(q, scale, zcdp, limits, keys, replaced, F(d_in))
            true = largest(q, scale, zcdp, limits, keys, replaced, d_in)
            assert at_most(true, bound), (scale, limits, keys, replaced, d_in, float(true), float(bound))
            shares.append(float(true / real(bound)))
    # No bound that is much smaller would hold: half of the sensitivity is half of the loss, or a quarter. At the ends
    # of the order scores move in one direction only, of which nothing is made.
    assert max(shares) > (0.3 if zcdp else 0.55) * (1 if 0 < q < 1 else 0.8), max(shares)


@pytest.mark.parametrize("q", QUANTILES, ids=str)
def test_quantile_picks_of_units_ensures_a_range_that_is_attained(q: Fraction) -> None:
    # The range, the largest log-ratio less the least, is what the loss in zCDP is an eighth of the square of.
    for replaced in (False, True):
        most = 0
        for counts in itertools.product(range(4), repeat=4):
            for bin in range(4):
                added = tuple(n + (place == bin) for place, n in enumerate(counts))
                others = [counts] if not replaced else [
                    tuple(n + (place == other) for place, n in enumerate(counts)) for other in range(4)
                ]  # fmt: skip
                for other in others:
                    moved = [a - b for a, b in zip(scores_of(added, q), scores_of(other, q), strict=True)]
                    most = max(most, max(moved) - min(moved))
        eta = claimed(q, F(1), False, LIMITS[0], 1, replaced, F(1))
        # At the ends of the order there is no bin that moves in the other direction.
        assert most == eta if 0 < q < 1 else most <= eta, (replaced, most, eta)


def test_quantile_picks_of_units_ensures_its_formula() -> None:
    limits = (F(5), F(3), F(2))  # two groups of 2 and one of 1: L = 5, S = 9
    for d, s in itertools.product((0, 1, 3), (F(1), F(7, 2))):
        assert claimed(F(9, 10), s, False, limits, 9, False, F(d)) == 2 * d * 9 * 5 / s
        assert claimed(F(9, 10), s, False, limits, 9, True, F(d)) == 4 * d * 9 * 5 / s
        assert claimed(F(9, 10), s, False, limits, 1, True, F(d)) == 2 * d * 10 * 2 / s
        assert claimed(F(9, 10), s, True, limits, 9, False, F(d)) == d**2 * 81 * 9 / (2 * s**2)
        assert claimed(F(9, 10), s, True, limits, 9, True, F(d)) == d**2 * (81 + 1) * 9 / s**2
        assert claimed(F(9, 10), s, True, limits, 1, True, F(d)) == d**2 * 100 * 4 / (2 * s**2)
    for zcdp in (False, True):
        assert claimed(F(1, 2), F(1), zcdp, limits, 9, False, INFINITY) == INFINITY
        assert claimed(F(1, 2), F(1), zcdp, (INFINITY, F(2), INFINITY), 9, False, F(1)) == INFINITY
        assert claimed(F(1, 2), F(1), zcdp, (INFINITY, F(2), INFINITY), 9, False, F(0)) == 0


def test_quantile_picks_of_units_requires_exact_scores() -> None:
    # A rank that is rounded down moves by a whole row where it should move by a half.
    true = largest(F(1, 2), F(2), False, LIMITS[0], 1, False, 1, floored_scores)
    assert not at_most(true, claimed(F(1, 2), F(2), False, LIMITS[0], 1, False, F(1)))


def test_quantile_picks_of_units_requires_that_units_are_not_replaced_where_it_says_so() -> None:
    for zcdp, keys in itertools.product((False, True), (1, 2)):
        true = largest(F(1, 2), F(1), zcdp, LIMITS[0], keys, True, 1)
        assert not at_most(true, claimed(F(1, 2), F(1), zcdp, LIMITS[0], keys, False, F(1)))


def test_quantile_picks_of_units_requires_that_one_group_is_all_there_is() -> None:
    # With two groups a row may leave one for the other, and move both: at q = 9/10 more than in one group.
    q, scale = F(9, 10), F(20)
    without, along = (permute_and_flip_law(scores_of(counts, q), scale) for counts in ((5, 4, 0), (5, 4, 1)))
    true = max_divergence(without, along) + max_divergence(along, without)
    assert not at_most(true, claimed(q, scale, False, LIMITS[0], 1, True, F(1)))
    assert at_most(true, claimed(q, scale, False, LIMITS[0], 2, True, F(1)))


def test_quantile_picks_of_units_requires_limits_that_are_kept_to() -> None:
    for zcdp in (False, True):
        true = largest(F(1, 2), F(1), zcdp, LIMITS[1], 1, False, 1)
        assert not at_most(true, claimed(F(1, 2), F(1), zcdp, LIMITS[0], 1, False, F(1)))


# --- scores ----------------------------------------------------------------------------------------------------------


def pick_of(q: Fraction, bins: int) -> QuantilePick:
    return QuantilePick(Column("x", INTEGER), tuple(map(F, range(bins + 1))), q=q)


@pytest.mark.parametrize("q", [*QUANTILES, F(99, 100), F(123_457, 1_000_000)], ids=str)
def test_scores_are_rows_between_a_bin_and_a_quantile(q: Fraction) -> None:
    dice = np.random.default_rng(3)
    groups = [tuple(map(int, dice.integers(0, 6, size=5))) for _ in range(50)] + [(0,) * 5, (9, 0, 0, 0, 0)]
    made = pick_of(q, 5).scores(np.array(groups, dtype=np.int64).ravel())
    assert made.tolist() == [scores_of(group, q) for group in groups]
    # Some bin holds a quantile; in a group without rows all do.
    assert (made.max(axis=1) == 0).all() and (made[-2] == 0).all()


def test_scores_of_counts_at_the_end_of_all_numbers_stay_within_64_bits() -> None:
    q = F(FINEST_QUANTILE - 1, FINEST_QUANTILE)
    counts = np.full(1024, MOST, dtype=np.int64)
    made = pick_of(q, 1024).scores(counts)
    assert made.max() == 0 and -(2**62) <= made.min() < 0
    # One more row in a bin that stopped moves nothing.
    counts[7] -= 1
    assert (pick_of(q, 1024).scores(counts) == made).all()


# --- the rank of what is picked ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [F(1, 20), F(1, 3)])
@pytest.mark.parametrize(
    "counts", [(9, 9, 9, 9, 9), (0, 0, 12, 0, 0), (12, 0, 0, 0, 3), (5, 0, 0, 0, 5), (1, 9, 0, 3, 2)]
)
def test_a_pick_is_off_in_rank_by_no_more_than_said(counts: Counts, alpha: Fraction) -> None:
    for q, scale in itertools.product(QUANTILES, (F(1, 2), F(2), F(5))):
        scores = scores_of(counts, q)
        off = [F(-score, q.denominator) for score in scores]
        kinds: Any = (("gumbel", exponential_law), ("exponential", permute_and_flip_law))
        for kind, law_of in kinds:
            most = Choice(kind, scale).rank_error(len(counts), alpha)
            law = law_of(scores, scale * q.denominator)
            assert sum(law[bin] for bin, rows in enumerate(off) if rows > most) <= real(alpha)


def test_the_rank_error_is_attained_by_groups_that_are_as_bad_as_can_be() -> None:
    # All bins but one are off by the same number of rows, the one that is said, rounded up.
    alpha, scale = F(1, 20), F(3)
    for kind, law_of in (("gumbel", exponential_law), ("exponential", permute_and_flip_law)):
        rows = math.ceil(Choice(loose_kind(kind), scale).rank_error(6, alpha))
        law = law_of([-rows] * 5 + [0], scale)
        assert 0.6 * alpha < float(1 - law[5]) <= alpha


def loose_kind(kind: str) -> Any:
    return kind


def test_values_are_middles_of_bins_and_their_intervals_have_no_ends() -> None:
    made = picked_quantiles([2, 0], [F(0), F(1), F(3), F(4)], F(1, 20))
    assert made.value.tolist() == [3.5, 0.5]
    assert np.isneginf(made.lower).all() and np.isposinf(made.upper).all() and not made.has_intervals


# --- which method ----------------------------------------------------------------------------------------------------


def methods(quantiles: dict[str, Quantile], kind: Any = "laplace", keys: int = 1, replaced: bool = False) -> list[bool]:
    made = with_methods(quantiles, kind, keys=keys, replaced=replaced)
    assert list(made) == list(quantiles)
    return [isinstance(one, PickedQuantile) for one in made.values()]


def test_quantiles_with_intervals_come_of_trees_and_others_are_picked_while_they_are_few() -> None:
    def asked(count: int, **options: Any) -> dict[str, Quantile]:
        return {f"q{i}": vm.quantile("x", F(1, 2), bounds=(0, 1), **options) for i in range(count)}

    assert methods(asked(3)) == [False] * 3
    assert methods(asked(5, interval=False)) == [True] * 5
    assert methods(asked(6, interval=False)) == [False] * 6
    assert methods(asked(20, interval=False), "gaussian") == [True] * 20
    assert methods(asked(21, interval=False), "gaussian") == [False] * 21
    assert methods(asked(11, interval=False), "gaussian", replaced=True) == [False] * 11
    # Those of other columns or bounds are counted on their own, and those with intervals not at all.
    mixed = asked(5, interval=False) | {"a": vm.median("x", bounds=(0, 1)), "b": vm.median("y", bounds=(0, 1))}
    mixed["c"] = vm.median("x", bounds=(0, 2), interval=False)
    assert methods(mixed) == [True] * 5 + [False, False, True]


def test_the_rule_is_that_of_expected_rank_errors() -> None:
    # Drawn, not derived: the mean error in rank of both, for values that lie close.
    from viameter.tables.estimates import Noise, TreeShape, coarsen, fit

    rng, bins, n = np.random.default_rng(8), 256, 25_600
    leaves = np.full(bins, n // bins)
    for q in (F(1, 2), F(9, 10)):
        for kind in ("laplace", "gaussian"):
            shape = TreeShape.of(bins, kind=loose_kind(kind))
            levels = coarsen(np.tile(leaves, (400, 1)), shape)
            deviation = len(levels) * math.sqrt(2) if kind == "laplace" else math.sqrt(len(levels))
            scale = 100.0 * deviation
            noisy = [level + np.rint(rng.normal(0, scale, level.shape)).astype(np.int64) for level in levels]
            tree = fit(noisy, [Noise("gaussian", F(1))] * len(levels), shape)
            error = np.abs(
                tree.counts_below - np.arange(bins + 1) * n / bins - float(q) * (tree.counts_below[:, -1:] - n)
            )
            of_tree = error[:, 1:-1].mean() / 100
            pick = 2 * max(q, 1 - q) if kind == "laplace" else max(q, 1 - q)
            for k in range(1, 40):
                of_picks = float(pick) * (k if kind == "laplace" else math.sqrt(k))
                if abs(of_picks / of_tree - 1) > 0.05:
                    better = picks_are_better(q, bins=bins, quantiles=k, kind=loose_kind(kind), keys=1, replaced=False)
                    assert better is bool(of_picks < of_tree), (q, kind, k, of_picks, of_tree)


def test_bins_are_as_fine_as_the_number_of_groups_allows() -> None:
    schema = table(vm.zcdp(1)).schema
    for keys, column, bounds, bins in (
        (1, "real", (0, 5000), 4096), (256, "real", (0, 5000), 4096), (257, "real", (0, 5000), 1024),
        (1, "wait", (-5, 4090), 4096), (1, "wait", (-5, 4091), 4096), (300, "wait", (0, 1023), 1024),
        (1, "wait", (0, 7), 8), (1, "wait", (0, F(15, 2)), 4096),
    ):  # fmt: skip
        asked: dict[str, Any] = {"q": vm.median(column, bounds=bounds, interval=False)}
        made = with_methods(asked, "laplace", keys=keys, replaced=False)["q"].read(schema, "laplace").statistics[0]
        assert isinstance(made, QuantilePick) and made.leaves == bins, (keys, column, bounds)
    own = with_methods(
        {"q": vm.median("wait", bounds=(0, 7), bins=5, interval=False)}, "laplace", keys=1, replaced=False
    )
    assert own["q"].read(schema, "laplace").statistics[0].leaves == 5  # type: ignore[union-attr]


def test_a_quantile_of_too_fine_a_part_comes_of_a_tree() -> None:
    fine = vm.quantile("x", F(1, FINEST_QUANTILE + 1), bounds=(0, 1), interval=False)
    assert methods({"q": fine}) == [False]
    with pytest.raises(ParameterError, match="interval='no': expected True or False"):
        vm.median("x", bounds=(0, 1), interval=loose_kind("no"))


# --- questions -------------------------------------------------------------------------------------------------------

LOUD = [vm.pure(10**6), vm.zcdp(10**6), vm.approx(10**6, "1e-6"), vm.approx_zcdp(10**6, "1e-6")]


def table(budget: Any, unit: Any = None, **more: Any) -> Any:
    """In ward a waits from 0 to 100, in ward b always 7, in ward c nobody; of some the wait is not known."""
    waits = [*range(101), *[7] * 50, None]
    rows = {
        "u": list(range(152)),
        "ward": ["a"] * 101 + ["b"] * 51,
        "wait": waits,
        "real": [None if w is None else w / 8 for w in waits],
    }
    return vm.open(held(rows), unit=unit or vm.per("u", rows=1), budget=budget)


@pytest.mark.parametrize(("budget", "replace"), list(zip(LOUD, (False, True, True, False), strict=True)))
def test_picked_quantiles_of_much_budget_are_the_quantiles(budget: Any, replace: bool) -> None:
    wards = table(budget, vm.per("u", rows=1, replace=replace)).group_by("ward", keys=["a", "b", "c"])
    question = wards.agg(
        low=vm.quantile("wait", "1/10", bounds=(0, 200), interval=False),
        mid=vm.median("wait", bounds=(0, 200), interval=False),
        high=vm.quantile("wait", "9/10", bounds=(0, 200), interval=False),
        real=vm.median("real", bounds=(0, 25), interval=False),
        n=vm.count(),
    )
    answer = question.release(spend=budget)
    assert answer["low"].value.tolist()[:2] == [10, 7] and answer["mid"].value.tolist()[:2] == [50, 7]
    assert answer["high"].value.tolist()[:2] == [90, 7]
    assert np.abs(answer["real"].value[:2] - [50 / 8, 7 / 8]).max() <= 25 / 4096
    # Of no rows any bin is as good as another, and all are within the bounds.
    assert all(0 <= answer[name].value[2] <= 200 for name in ("low", "mid", "high"))
    assert not answer["mid"].has_intervals and answer["n"].has_intervals
    assert any(note.startswith("mid: at most ") for note in answer.notes)
    assert "quantiles low, mid, high were made to rise" in " ".join(answer.notes)
    text, page = repr(answer), answer._repr_html_()
    assert "inf" not in text and "inf" not in page
    assert "low, mid, high without an interval: known is its rank" in text


def test_a_question_of_picks_costs_what_is_spent_and_previews_its_rank() -> None:
    for spend in (vm.pure("1/2"), vm.zcdp("1/50")):
        preview = table(spend).agg(q=vm.median("wait", bounds=(0, 100), interval=False)).preview(spend=spend)
        assert preview.loss <= spend and preview.rows[0].noise in ("exponential 2", "gumbel 2.5")
        assert list(preview.rows[0].widths) == [" rows of rank"]
        choice = Choice("exponential", F(2)) if spend == vm.pure("1/2") else Choice("gumbel", F(5, 2))
        assert preview.rows[0].widths[" rows of rank"] == pytest.approx(float(choice.rank_error(101, F(1, 20))))


def test_picks_have_less_error_than_a_tree_at_the_same_price() -> None:
    # Errors of 40 groups of the same rows: all of them are drawn independently.
    rng = np.random.default_rng(5)
    waits = np.tile(np.clip(rng.lognormal(3, 1, 600), 0, 500), 40)
    rows = {"u": list(range(24_000)), "g": [i // 600 for i in range(24_000)], "wait": waits.tolist()}
    for budget, spend in ((vm.pure(10), vm.pure("1/2")), (vm.zcdp(10), vm.zcdp("1/8"))):
        groups = vm.open(held(rows), unit=vm.per("u", rows=1), budget=budget).group_by("g", keys=list(range(40)))
        for q in ("1/2", "9/10"):
            truth = np.quantile(waits[:600], float(F(q)), method="inverted_cdf")
            errors = []
            for interval in (True, False):
                asked = groups.agg(x=vm.quantile("wait", q, bounds=(0, 500), interval=interval))
                errors.append(np.abs(asked.release(spend=spend)["x"].value - truth).mean())
            assert errors[1] < errors[0]


def test_two_questions_that_differ_in_the_method_alone_are_two() -> None:
    base = table(vm.zcdp(1))
    tree, picked = (base.agg(q=vm.median("wait", bounds=(0, 9), interval=interval)) for interval in (True, False))
    assert tree.plan.identity != picked.plan.identity
    assert tree.measurement(spend=vm.zcdp(1)) != picked.measurement(spend=vm.zcdp(1))
