"""Tests of budgets shared among leaves: within the budget exactly, near the least error, and what cannot be shared."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.arith import INFINITY
from viameter.core import Loss
from viameter.errors import NoTheorem, NumberError, ParameterError
from viameter.measures.amounts import GaussianLoss, PureLoss, ZCDPLoss
from viameter.neighborhood.allocation_search import best_under, bound_down, error_of
from viameter.neighborhood.changes import Change, exchanged
from viameter.neighborhood.cuts import Gains, Touched

MEASURES: dict[str, tuple[Callable[..., Any], int, int]] = {
    # How a loss is made of its amount, the power of steps in the cost, the power of the amount in the error.
    "pure": (PureLoss, 1, 2),
    "zcdp": (ZCDPLoss, 2, 1),
    "gdp": (GaussianLoss, 2, 1),
}


def amount(loss: Loss) -> Fraction:
    return Fraction(getattr(loss, loss.names[0]))  # type: ignore[attr-defined]


def amounts(found: nb.Allocation) -> list[Fraction]:
    return [amount(loss) for loss in found.losses]


def cost_of(pattern: Sequence[int], given: Sequence[Fraction], power: int) -> Fraction:
    return sum((Fraction(m**power) * x for m, x in zip(pattern, given, strict=True)), Fraction(0))


def error_by_hand(weights: Sequence[Fraction], given: Sequence[Fraction], power: int) -> Fraction:
    return sum((w / x**power for w, x in zip(weights, given, strict=True)), Fraction(0))


def check(found: nb.Allocation, target: Any, budget: Loss, gap: float = 1e-3) -> None:
    """The leaves cost no more than the budget and, without margins of a solver, all of it; the error is near least."""
    claims = [leaf.claims[0] for leaf in found.leaves]
    again = nb.compose(
        target,
        [
            nb.leaf(leaf.part, loss, mode=claim.mode, granularity=claim.granularity)
            for leaf, loss, claim in zip(found.leaves, found.losses, claims, strict=True)
        ],
    )
    assert again.loss == found.composed.loss
    assert again.loss <= budget
    assert amount(again.loss) == amount(budget)
    assert [leaf.losses[0] for leaf in found.leaves] == list(found.losses)
    assert 0 < found.bound <= found.error <= (1 + gap) * found.bound


# Closed forms


def test_parts_of_a_partition_each_get_the_whole_budget() -> None:
    found = nb.allocate(nb.unbounded(), nb.partition(3), budget=vm.pure("1/3"), weights=[1, 100, "1/7"])
    assert found.losses == (vm.pure("1/3"),) * 3
    check(found, nb.unbounded(), vm.pure("1/3"))
    assert found.error == pytest.approx(9 * (101 + 1 / 7))


@pytest.mark.parametrize("make", [vm.pure, vm.zcdp])
def test_overlapping_parts_of_equal_weight_share_the_budget_by_how_many_hold_a_record(make: Any) -> None:
    found = nb.allocate(nb.unbounded(), nb.subsets(10, at_most=3), budget=make("1/2"))
    assert found.losses == (make("1/6"),) * 10
    check(found, nb.unbounded(), make("1/2"))


def test_gaussian_losses_share_squares() -> None:
    found = nb.allocate(nb.unbounded(), nb.subsets(6, at_most=2), budget=vm.gdp(1))
    assert found.losses == (GaussianLoss(Fraction(1, 2)),) * 6


def test_a_replaced_record_halves_what_parts_of_equal_weight_get() -> None:
    found = nb.allocate(nb.bounded(), nb.partition(3), budget=vm.pure(1), mode="common")
    assert found.losses == (vm.pure("1/2"),) * 3


def test_leaves_on_all_data_share_by_the_root_of_their_weights_in_zcdp() -> None:
    # The least of sum w/x with sum x = 1 has x in proportion to sqrt(w).
    found = nb.allocate(nb.bounded(), [nb.whole() for _ in range(3)], budget=vm.zcdp("1/2"), weights=[1, 4, 9])
    assert found.losses == (vm.zcdp("1/12"), vm.zcdp("2/12"), vm.zcdp("3/12"))
    assert found.error == pytest.approx(72)


def test_leaves_on_all_data_share_by_the_cube_root_of_their_weights_in_pure() -> None:
    found = nb.allocate(nb.bounded(), [nb.whole() for _ in range(3)], budget=vm.pure(1), weights=[1, 8, 27])
    assert found.losses == (vm.pure("1/6"), vm.pure("2/6"), vm.pure("3/6"))


def test_steps_that_a_map_moves_count_against_it() -> None:
    # One row, x + 5 y + 15 z <= 1: amounts are in proportion to (w/m)^(1/3), so all alike if w = m.
    tables = nb.foreign_keys({"patient": {}, "visit": {"patient": 5}, "drug": {"visit": 3}})
    weights = [1, 5, 15]
    found = nb.allocate(nb.entity("patient"), tables, budget=vm.pure(1), weights=weights, granularity=nb.unbounded())
    assert found.losses == (vm.pure("1/21"),) * 3


def test_one_part_gets_everything() -> None:
    found = nb.allocate(nb.bounded(), nb.partition(1), budget=vm.zcdp("1/7"), weights=["1e-9"])
    assert found.losses == (vm.zcdp("1/7"),)


def test_two_leaves_on_one_part_share_what_a_leaf_on_another_has_alone() -> None:
    parts = nb.partition(2)
    found = nb.allocate(nb.unbounded(), [parts[0], parts[1], parts[0]], budget=vm.zcdp(1), weights=[1, 1, 4])
    assert found.losses == (vm.zcdp("1/3"), vm.zcdp(1), vm.zcdp("2/3"))


def test_times_within_one_window_share_and_others_do_not() -> None:
    found = nb.allocate(nb.w_event(2), nb.partition(3, by="time"), budget=vm.zcdp(1), weights=[1, 8, 1])
    # x + y <= 1 and y + z <= 1, x = z: the least of 2/x + 8/(1 - x) is at x = 1/3.
    assert found.losses == (vm.zcdp("1/3"), vm.zcdp("2/3"), vm.zcdp("1/3"))


def test_a_map_that_no_neighbors_differ_in_gets_the_budget_itself_and_is_not_counted() -> None:
    parts = nb.memberships({"a": [0], "b": [1]}, parts=3)
    found = nb.allocate(nb.unbounded(), parts, budget=vm.pure("1/7"))
    assert found.losses == (vm.pure("1/7"),) * 3
    assert found.error == pytest.approx(98)
    alone = nb.allocate(nb.unbounded(), [nb.opaque(stability=0)], budget=vm.pure("1/7"))
    assert (alone.losses, alone.error, alone.bound) == ((vm.pure("1/7"),), 0.0, 0.0)


def test_what_moves_by_less_than_a_unit_may_have_more_than_the_budget() -> None:
    near = nb.geo("1/2")
    assert nb.allocate(near, [nb.whole()], budget=vm.pure(1), granularity=near).losses == (vm.pure(2),)


def test_groups_without_patterns_of_their_own_go_by_the_law_for_groups() -> None:
    target = nb.group(nb.w_event(2), 3)
    for budget, share in ((vm.pure(1), vm.pure("1/6")), (vm.zcdp(1), vm.zcdp("1/18"))):
        found = nb.allocate(target, nb.partition(4, by="time"), budget=budget)
        check(found, target, budget)
        assert found.losses == (share,) * 4


# Against naive search


def grid_least(patterns: Sequence[Sequence[int]], weights: Sequence[Fraction], steps: int, power: int) -> float:
    """The least error of directions on a grid, each scaled until it fills a budget of 1."""
    best = math.inf
    axis = np.geomspace(0.02, 1, 60)
    for direction in itertools.product(axis, repeat=len(weights) - 1):
        x = np.array([1.0, *direction])
        for turned in range(len(weights)):
            z = np.roll(x, turned)
            cost = max(sum(m**steps * one for m, one in zip(p, z, strict=True)) for p in patterns)
            best = min(best, float(sum(float(w) / (one / cost) ** power for w, one in zip(weights, z, strict=True))))
    return best


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_no_point_of_a_grid_beats_the_bound_or_is_much_better(name: str, seed: int) -> None:
    make, steps, power = MEASURES[name]
    rng = random.Random(seed)
    size = rng.choice([2, 3])
    patterns = [tuple(rng.randint(0, 2) for _ in range(size)) for _ in range(3)] + [(1,) * size]
    weights = [Fraction(rng.randint(1, 30), rng.randint(1, 5)) for _ in range(size)]
    found = nb.allocate(nb.unbounded(), nb.patterns(patterns), budget=make(Fraction(1)), weights=weights)
    best = grid_least(patterns, weights, steps, power)
    assert found.bound <= best * (1 + 1e-12)
    assert found.error <= best * (1 + 1e-3)
    assert best <= found.error * 1.02  # the grid is fine enough for this to say something


@pytest.mark.parametrize("name", MEASURES)
def test_random_patterns_are_within_the_budget_exactly_and_near_the_least(name: str) -> None:
    make, steps, power = MEASURES[name]
    rng = random.Random(7)
    for _ in range(25):
        size = rng.randint(1, 7)
        patterns = [tuple(rng.choice([0, 0, 1, 1, 2, 5]) for _ in range(size)) for _ in range(rng.randint(1, 9))]
        touched = [any(p[i] for p in patterns) for i in range(size)]
        if not any(touched):
            continue
        weights = [Fraction(rng.randint(1, 10**6), rng.randint(1, 10**3)) for _ in range(size)]
        budget = Fraction(rng.randint(1, 1000), rng.randint(1, 1000))
        found = nb.allocate(nb.unbounded(), nb.patterns(patterns), budget=make(budget), weights=weights, gap="1e-6")
        given = amounts(found)
        assert max(cost_of(p, given, steps) for p in patterns) == budget
        assert all(x == budget for x, is_touched in zip(given, touched, strict=True) if not is_touched)
        counted = [weight if is_touched else Fraction(0) for weight, is_touched in zip(weights, touched, strict=True)]
        error = error_by_hand(counted, given, power)
        assert error <= Fraction(found.error) <= error * (1 + Fraction(1, 2**50))
        assert found.error <= (1 + 1e-6) * found.bound
        # Small moves that fill the budget again do no better than the bound.
        for _ in range(20):
            moved = [x * Fraction(rng.randint(900, 1100), 1000) for x in given]
            filled = [x * budget / max(cost_of(p, moved, steps) for p in patterns) for x in moved]
            assert error_by_hand(counted, filled, power) >= Fraction(found.bound)


CASES: list[tuple[Any, Callable[[], Any], dict[str, Any]]] = [
    (nb.unbounded(), lambda: nb.subsets(7, at_most=2), {}),
    (nb.unbounded(), lambda: nb.partition(4, by="position"), {}),
    (nb.unbounded(), lambda: nb.tree({"top": None, "a": "top", "b": "top", "c": "a", "d": "a"}), {}),
    (nb.unbounded(), lambda: [*nb.partition(3), nb.whole(), *nb.subsets(3, at_most=2)], {}),
    (nb.bounded(), lambda: nb.partition(5), {"mode": "common"}),
    (nb.bounded(), lambda: nb.partition(5), {"granularity": nb.unbounded()}),
    (nb.unbounded(), lambda: nb.partition(4), {"mode": "common", "granularity": nb.bounded()}),
    (nb.attribute(), lambda: nb.partition(4), {"mode": "common"}),
    (nb.bounded(), lambda: nb.subsets(6, at_most=2), {"mode": "common"}),
    (nb.bounded(), lambda: nb.memberships({"x": [0, 1], "y": [1, 2], "z": [3]}), {"mode": "common"}),
    (nb.add_remove_or_replace(), lambda: nb.partition(4), {}),
    (nb.bounded_ordered(), lambda: nb.partition(4, by="column"), {}),
    (nb.attribute(), lambda: nb.projections([["a", "b"], ["b"], ["c"]]), {}),
    (nb.group(nb.unbounded(), 3), lambda: nb.partition(4), {"granularity": nb.unbounded()}),
    (nb.event(), lambda: nb.intervals([(0, 6), (7, 13), (3, 9)]), {}),
    (nb.w_event(3), lambda: nb.partition(8, by="time"), {}),
    (nb.user(), lambda: nb.contributions(6, l0=2, l1=5, linf=3), {"granularity": nb.unbounded()}),
    (nb.edge(), lambda: nb.incident(5), {}),
    (nb.node(degree=2), lambda: nb.incident(6), {"mode": "common"}),
    (nb.personalised(["staff", "patients"]), lambda: nb.subsets(4, at_most=2), {}),
]


@for_each("case", range(len(CASES)))
def test_cuts_and_granularities_fill_the_budget_and_come_near_the_least(case: int) -> None:
    target, make_maps, more = CASES[case]
    rng = random.Random(case)
    for budget in (vm.pure("3/7"), vm.zcdp("1/10"), vm.gdp("1/3")):
        maps = list(make_maps())
        weights = [rng.randint(1, 50) for _ in maps]
        found = nb.allocate(target, maps, budget=budget, weights=weights, **more)
        check(found, target, budget)
        assert len(found.losses) == len(maps)


# What stays true


def test_a_larger_budget_gives_every_leaf_more() -> None:
    parts = nb.partition(6, by="time")
    before: list[Fraction] | None = None
    for budget in ("1e-6", "1/3", "1/2", "0.51", "7"):
        found = amounts(nb.allocate(nb.w_event(3), parts, budget=vm.zcdp(budget), weights=[3, 1, 4, 1, 5, 9]))
        assert before is None or all(more > less for more, less in zip(found, before, strict=True))
        before = found


def test_weights_count_relative_to_each_other_only() -> None:
    parts = nb.partition(4, by="time")
    one = nb.allocate(nb.w_event(2), parts, budget=vm.pure(1), weights=[3, 1, 4, 1])
    other = nb.allocate(nb.w_event(2), parts, budget=vm.pure(1), weights=["3e200", "1e200", "4e200", "1e200"])
    assert one.losses == other.losses
    assert other.error == pytest.approx(one.error * 1e200)


@for_each("name", MEASURES)
@for_each("weights", [("1e-12", 2, "1e12", 4, 5), ("1e12", "1e-12", "1e12", "1e-12", 1)])
@for_each("far", [1, 10**150])
def test_weights_and_stabilities_of_all_sizes_stay_sound(name: str, weights: Sequence[Any], far: int) -> None:
    make, _, _ = MEASURES[name]
    parts = [part.then(stability=far if place == 1 else 1) for place, part in enumerate(nb.partition(5, by="time"))]
    found = nb.allocate(nb.w_event(3), parts, budget=make(Fraction(1, 3)), weights=weights)
    check(found, nb.w_event(3), make(Fraction(1, 3)))
    assert all(x > 0 for x in amounts(found))


def test_weights_beyond_floats_stay_sound() -> None:
    found = nb.allocate(nb.bounded(), [nb.whole(), nb.whole()], budget=vm.zcdp(1), weights=["1e-400", "1e400"])
    assert found.composed.loss == vm.zcdp(1)
    assert found.bound <= found.error == math.inf


def test_a_budget_too_wide_to_be_added_up_exactly_is_not_exceeded() -> None:
    for wide in (Fraction(1, 3**700), 10**300 + Fraction(1, 3**700)):
        found = nb.allocate(nb.w_event(2), nb.partition(3, by="time"), budget=vm.zcdp(wide), weights=[1, 2, 3])
        given = amounts(found)
        assert (1 - Fraction(1, 10**6)) * wide < max(given[0] + given[1], given[1] + given[2]) <= wide


def test_losses_are_short() -> None:
    found = nb.allocate(nb.w_event(3), nb.partition(6, by="time"), budget=vm.zcdp("1/3"), weights=[3, 1, 4, 1, 5, 9])
    assert all(x.denominator < 10**16 for x in amounts(found))


def test_two_hundred_parts_are_shared_among() -> None:
    found = nb.allocate(nb.unbounded(), nb.partition(200), budget=vm.pure(1), weights=[1] * 199 + [1000])
    assert found.losses == (vm.pure(1),) * 200
    check(found, nb.unbounded(), vm.pure(1))
    found = nb.allocate(nb.unbounded(), nb.subsets(200, at_most=3), budget=vm.pure(1))
    assert found.losses == (vm.pure("1/3"),) * 200


def test_one_part_that_counts_much_shares_with_each_of_the_others() -> None:
    # x + y <= 1 for the one with each of the others: the least of 1000/x^2 + 39/(1 - x)^2.
    found = nb.allocate(nb.bounded(), nb.partition(40), budget=vm.pure(1), mode="common", weights=[1] * 39 + [1000])
    check(found, nb.bounded(), vm.pure(1))
    root = (1000 / 39) ** (1 / 3)
    assert float(amounts(found)[-1]) == pytest.approx(root / (1 + root), rel=0.02)
    assert found.rounds < 10  # one pattern in each would take about forty


def test_few_rounds_are_sound_and_say_how_far_they_came() -> None:
    parts, weights = nb.subsets(30, at_most=4), [place**5 for place in range(1, 31)]
    short = nb.allocate(nb.unbounded(), parts, budget=vm.pure(1), weights=weights, rounds=1, gap="1e-9")
    longer = nb.allocate(nb.unbounded(), parts, budget=vm.pure(1), weights=weights, gap="1e-9")
    assert short.rounds == 1 < longer.rounds
    assert short.composed.loss == vm.pure(1)
    assert short.bound < longer.bound <= longer.error <= short.error
    assert longer.error <= longer.bound * (1 + 1e-9)


def test_a_wide_gap_ends_the_search_early() -> None:
    parts, weights = nb.subsets(30, at_most=4), [place**3 for place in range(1, 31)]
    found = [nb.allocate(nb.unbounded(), parts, budget=vm.pure(1), weights=weights, gap=gap) for gap in ("1/2", "1e-6")]
    assert found[0].rounds < found[1].rounds
    assert found[1].error <= found[0].error <= found[0].bound * 1.5


def test_progress_is_told_after_a_second_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    parts, weights = nb.subsets(30, at_most=4), [place**3 for place in range(1, 31)]

    def run(seconds: float) -> int:
        clock = itertools.count(0.0, seconds)
        # The name there, and not the clock of the whole process, which servers of other tests go by.
        told = SimpleNamespace(monotonic=lambda: next(clock))
        monkeypatch.setattr("viameter.neighborhood.allocation_rounds.time", told)
        said.clear()
        return nb.allocate(nb.unbounded(), parts, budget=vm.pure(1), weights=weights, progress=said.append).rounds

    rounds = run(0.0)
    assert said == []
    run(2.0)
    assert any("maps" in line or "map" in line for line in said)
    assert [line for line in said if line.startswith("round 1: the error is within")]
    assert len([line for line in said if line.startswith("round")]) == rounds


# Solvers that know less


@dataclass(frozen=True, eq=False)
class Vague(nb.Cut):
    """A cut that bounds patterns from above, by some margin, and may not show any."""

    margin: Fraction
    floor: Fraction = Fraction(0)
    shown: int = 0

    def __len__(self) -> int:
        return 3

    def worst(self, edit: Change, gains: Gains) -> Touched:
        costs = gains.column(exchanged(1, 0))
        value = sum((Fraction(cost) for cost in costs), self.floor) * (1 + self.margin)
        return Touched(value, dict.fromkeys(range(self.shown), exchanged(1, 0)), exact=False)


def test_a_bound_that_no_pattern_shows_is_still_kept_to() -> None:
    found = nb.allocate(nb.unbounded(), Vague(Fraction(1, 100), shown=3), budget=vm.pure(1))
    assert found.composed.loss == vm.pure(1)
    assert found.losses == (vm.pure("100/303"),) * 3
    assert found.bound == pytest.approx(27)
    assert found.error == pytest.approx(27 * 1.01**2)


def test_leaves_that_no_pattern_is_shown_for_stay_within_the_budget() -> None:
    for shown in (0, 1, 2):
        found = nb.allocate(nb.unbounded(), Vague(Fraction(0), shown=shown), budget=vm.pure(1))
        assert Fraction(99, 100) < amount(found.composed.loss) <= 1


class Shy(Vague):
    """A cut that shows a pattern only if asked for one leaf."""

    def worst(self, edit: Change, gains: Gains) -> Touched:
        costs = gains.column(exchanged(1, 0))
        asked = [place for place, cost in enumerate(costs) if cost]
        value = sum((Fraction(cost) for cost in costs), Fraction(0))
        return Touched(value, dict.fromkeys(asked if len(asked) == 1 else [], exchanged(1, 0)), exact=False)


def test_leaves_are_asked_for_one_by_one_if_no_pattern_is_shown_for_all() -> None:
    found = nb.allocate(nb.unbounded(), Shy(Fraction(0)), budget=vm.pure(1))
    assert found.losses == (vm.pure("1/3"),) * 3
    assert found.bound == pytest.approx(3)  # each alone could have the budget, for all that is known
    assert found.error == pytest.approx(27)


def test_a_bound_that_does_not_shrink_with_the_losses_is_kept_to_or_refused() -> None:
    found = nb.allocate(nb.unbounded(), Vague(Fraction(0), Fraction(1, 10), shown=3), budget=vm.pure(1))
    assert amount(found.composed.loss) <= 1
    with pytest.raises(NoTheorem, match="no losses were found that are within the budget"):
        nb.allocate(nb.unbounded(), Vague(Fraction(0), Fraction(10), shown=3), budget=vm.pure(1))


def test_integer_programs_stay_within_the_budget_with_their_margins() -> None:
    parts = nb.constrained(4, most=2, constraints=[(dict.fromkeys(range(4), 1), 3)])
    found = nb.allocate(nb.unbounded(), parts, budget=vm.zcdp(1), weights=[1, 2, 3, 4])
    assert Fraction(999, 1000) < amount(found.composed.loss) <= 1
    given = amounts(found)
    listed = [p for p in itertools.product(range(3), repeat=4) if sum(p) <= 3]
    assert max(cost_of(p, given, 2) for p in listed) <= 1
    assert found.error <= (1 + 1e-3) * found.bound


# The search


def test_shares_of_rows_bound_the_error_from_below_whatever_they_are() -> None:
    rng = np.random.default_rng(3)
    for power in (1, 2):
        for _ in range(50):
            rows = rng.integers(0, 3, size=(4, 3)).astype(float) + np.eye(4, 3)
            weights = rng.uniform(0.01, 1, 3)
            # Of shares only the proportion counts.
            bounds = [bound_down(rng.dirichlet(np.ones(4)) * 3, rows, weights, power) for _ in range(20)]
            best = bound_down(best_under(rows, weights, power, np.ones(3))[1], rows, weights, power)
            feasible = []
            for _ in range(200):
                z = rng.uniform(0.01, 1, 3)
                feasible.append(error_of(z / (rows @ z).max(), weights, power))
            assert max(bounds) <= best * (1 + 1e-9)
            assert best <= min(feasible)


def test_the_best_shares_leave_no_gap() -> None:
    rng = np.random.default_rng(5)
    for power in (1, 2):
        rows = rng.integers(0, 4, size=(30, 12)).astype(float) + np.eye(30, 12)
        weights = np.exp(rng.uniform(-20, 0, 12))
        z, shares = best_under(rows, weights, power, np.ones(12))
        assert shares.sum() == pytest.approx(1)
        assert (rows @ z).max() == pytest.approx(1, rel=1e-12)
        assert error_of(z, weights, power) <= bound_down(shares, rows, weights, power) * (1 + 1e-9)


# What cannot be shared


def test_parts_that_neighbors_tell_apart_for_certain_have_nothing_to_share() -> None:
    with pytest.raises(NoTheorem, match=r"maps\[0\] .*bounded\(\).*mode='common'"):
        nb.allocate(nb.bounded(), nb.partition(3), budget=vm.pure(1))
    # In the common domain, other advice is given.
    with pytest.raises(NoTheorem) as caught:
        nb.allocate(nb.unbounded(), nb.partition(1), budget=vm.pure(1), mode="common", granularity=nb.bounded())
    assert "mode='common'" not in str(caught.value)


@for_each("budget", [vm.pure(0), vm.pure(INFINITY), vm.zcdp(0), vm.gdp(0), vm.gdp(INFINITY), 1, "1"])
def test_budgets_of_nothing_or_everything_are_refused(budget: Any) -> None:
    with pytest.raises(ParameterError, match="budget="):
        nb.allocate(nb.unbounded(), nb.partition(3), budget=budget)


def test_budgets_in_other_measures_are_refused() -> None:
    with pytest.raises(NoTheorem, match="PureDP"):
        nb.allocate(nb.unbounded(), nb.partition(3), budget=vm.approx(1, "1e-6"))


@for_each(
    ("more", "error", "text"),
    [
        ({"weights": [1, 2]}, ParameterError, "2 weights for 3 maps"),
        ({"weights": [1, 2, 0]}, ParameterError, r"weights\[2\]"),
        ({"weights": [1, -2, 3]}, ParameterError, r"weights\[1\]"),
        ({"weights": [1, 0.5, 3]}, NumberError, r"weights\[1\]"),
        ({"weights": "123"}, ParameterError, "weights="),
        ({"weights": 3}, ParameterError, "weights="),
        ({"gap": 0}, ParameterError, "gap=0"),
        ({"gap": 0.1}, NumberError, "gap="),
        ({"rounds": 0}, ParameterError, "rounds=0"),
        ({"rounds": True}, ParameterError, "rounds=True"),
        ({"mode": "other"}, ParameterError, "mode='other'"),
        ({"granularity": "unbounded"}, ParameterError, "granularity="),
        ({"progress": "loud"}, ParameterError, "progress="),
    ],
)
def test_arguments_that_make_no_sense_are_refused(more: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        nb.allocate(nb.unbounded(), nb.partition(3), budget=vm.pure(1), **more)


def test_maps_and_targets_that_are_none_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"maps=\[\]"):
        nb.allocate(nb.unbounded(), [], budget=vm.pure(1))
    with pytest.raises(ParameterError, match=r"maps\[1\]"):
        nb.allocate(nb.unbounded(), [nb.whole(), 3], budget=vm.pure(1))  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="maps="):
        nb.allocate(nb.unbounded(), nb.whole(), budget=vm.pure(1))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="target="):
        nb.allocate("unbounded", nb.partition(3), budget=vm.pure(1))  # type: ignore[arg-type]


def test_an_allocation_is_checked_when_made() -> None:
    made = nb.allocate(nb.unbounded(), nb.partition(2), budget=vm.pure(1))
    with pytest.raises(ParameterError, match="2 leaves and 1 losses"):
        nb.Allocation(made.leaves, made.losses[:1], 1.0, 1.0, made.composed, 1)
    with pytest.raises(ParameterError, match="bound"):
        nb.Allocation(made.leaves, made.losses, 1.0, 2.0, made.composed, 1)
