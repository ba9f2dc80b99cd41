"""Budgets with a delta: which noise is drawn, that it is private, and that no more is charged than was asked for."""

import math
from fractions import Fraction
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from tests.tables.held import held

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import OverBudget
from viameter.mechanisms.smoothed import SMOOTHING
from viameter.tables.cost import Cost
from viameter.tables.planning import noise_losses, part_of
from viameter_check import check

ROWS = {"u": list(range(60)), "k": [place % 3 for place in range(60)], "x": [place % 7 for place in range(60)]}
ONE, MUCH = vm.approx(1, "1e-6"), vm.approx(10, "1e-3")


def opened(groups: int, budget: vm.Loss = MUCH, **given: Any) -> Any:
    return vm.open(held(ROWS), unit=vm.per("u", groups=groups, per_group=1, **given), budget=budget)


def counts(groups: int, budget: vm.Loss = MUCH, **given: Any) -> Any:
    """How many rows there are, by more groups than a unit has rows in."""
    return opened(groups, budget, **given).group_by("k", keys=list(range(2 * groups))).agg(n=vm.count())


def noise_of(question: Any, spend: vm.Loss) -> Any:
    (part,) = question.plan.noise(spend, {}).parts
    return part.noise


def delta_of_ones(scale: Fraction, coordinates: int, epsilon: float) -> float:
    """The least delta of discrete Gaussian noise where each of so many integers moves by one, added up."""
    reach = math.ceil(12 * float(scale)) + 2
    at = np.arange(-reach, reach + 1)
    one = np.exp(-(at**2) / (2 * float(scale) ** 2))
    one /= one.sum()
    law = np.array([1.0])
    for _ in range(coordinates):
        law = np.convolve(law, one)
    sums = np.arange(-reach * coordinates, reach * coordinates + 1)
    # ln P(z)/P(z - 1), added up over coordinates.
    losses = (coordinates - 2 * sums) / (2 * float(scale) ** 2)
    return float((law * np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 0.0)))).sum())


def rho_of(epsilon: float, delta: float) -> float:
    """The rho whose epsilon at delta this is, over a grid of orders."""
    orders = 1 + np.geomspace(1e-3, 1e5, 20_000)
    extra = np.log(1 - 1 / orders) + np.log(1 / (orders * delta)) / (orders - 1)
    return float(np.max((epsilon - extra) / orders))


def gaussian_delta_of(mu: float, epsilon: float) -> float:
    """The delta of N(0, 1) against N(mu, 1)."""
    below = NormalDist().cdf
    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


def sigma_of(epsilon: float, delta: float) -> float:
    """The scale of real Gaussian noise that hides a change of 1."""
    low, high = 1e-3, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if gaussian_delta_of(1 / middle, epsilon) <= delta else (middle, high)
    return high


def test_a_unit_of_a_hundred_groups_is_hidden_by_gaussian_noise_of_a_third_of_the_width() -> None:
    question = counts(100)
    noise = noise_of(question, ONE)
    assert noise.kind == "gaussian" and 42 < noise.scale < 43
    assert noise_of(question, vm.approx(1, 0)) == noise_of(counts(100, vm.pure(1)), vm.pure(1))
    assert noise_of(question, vm.approx(1, 0)).scale == 100
    said = question.preview(spend=ONE)
    assert "Gaussian noise: intervals are 0.28 times as wide as with Laplace noise" in said.notes[0]
    assert said.notes[0] in repr(said)


def test_one_count_of_a_unit_of_one_row_is_hidden_by_laplace_noise_and_costs_no_delta() -> None:
    table = opened(1)
    question = table.agg(n=vm.count())
    assert question.plan.noise(ONE, {}).kind == "laplace"
    answer = question.release(spend=ONE)
    assert answer.loss == table.spent == vm.approx(1, 0)
    assert "Laplace noise, which spends no delta" in str(answer.explain())


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "4"])
def test_noise_is_the_one_whose_intervals_are_narrower(epsilon: str, delta: str) -> None:
    seen = set()
    for groups in (1, 2, 3, 5, 8, 12, 16, 20, 30, 50, 100):
        laplace = groups / float(Fraction(epsilon)) * math.log(20)
        gaussian = math.sqrt(groups) * sigma_of(float(Fraction(epsilon)), float(delta)) * 1.95996
        if abs(laplace - gaussian) > 3 + laplace / 50:  # widths are whole numbers, and rounded up
            kind = noise_of(counts(groups), vm.approx(epsilon, delta)).kind
            assert kind == ("laplace" if laplace < gaussian else "gaussian"), (groups, laplace, gaussian)
            seen.add(kind)
    assert "gaussian" in seen and (epsilon != "1/10" or "laplace" in seen)


def test_a_tie_is_laplace_noise() -> None:
    # With so much loss there is no noise to speak of, of either kind.
    question = counts(50, vm.approx(10**6, "1e-3"))
    assert question.plan.noise(vm.approx(10**6, "1e-3"), {}).kind == "laplace"


@pytest.mark.parametrize("groups", [2, 4, 9, 25])
@pytest.mark.parametrize(("epsilon", "delta"), [("4", "3/50"), ("3", "1/20"), ("1", "1e-2"), ("1/2", "1e-6")])
def test_where_many_integers_move_by_one_the_delta_is_what_was_asked_for(groups: int, epsilon: str, delta: str) -> None:
    # One integer that moves as far as all of them has a smaller delta: scale 1 would do for it at (4, 3/50), and not
    # for four of them.
    noise = noise_of(counts(groups), vm.approx(epsilon, delta))
    if noise.kind == "gaussian":
        assert delta_of_ones(noise.scale, groups, float(Fraction(epsilon))) <= float(Fraction(delta))
    assert delta_of_ones(Fraction(1), 4, 4) > 0.075 > 3 / 50


@cache
def of_all_kinds(groups: int, **unit: Any) -> Any:
    """Statistics of all kinds; a question is compiled once for all that it is asked for."""
    keys = opened(groups, vm.approx(10, "1/2"), **unit).group_by("k", keys=list(range(40)))
    return keys.agg(
        n=vm.count(), m=vm.mean("x", bounds=(0, 6)), s=vm.sum("x", bounds=(-1, 6)), q=vm.median("x", bounds=(0, 6))
    )


# All pairs of a budget, of few or many groups, and of units that come or are replaced.
@pytest.mark.parametrize(
    ("epsilon", "delta", "replaced"),
    [("1", "1e-6", 30), ("1/7", "1e-9", 1), ("5", "1/100", 30), ("1/1000", "1e-6", 1)],
)
def test_what_is_charged_is_no_more_than_was_asked_and_the_checker_finds_the_same(
    epsilon: str, delta: str, replaced: int
) -> None:
    spend = vm.approx(epsilon, delta)
    for groups in (1, 30):
        question = of_all_kinds(groups, replace=groups == replaced)
        plan = question.plan.noise(spend, {"m": Fraction(3)})
        assert plan.loss <= spend and plan.loss.epsilon > spend.epsilon * (1 - Fraction(1, 10**9))
        assert plan.loss.delta == (spend.delta if plan.kind == "gaussian" else 0)
        assert {part.noise.kind for part in plan.parts} == {plan.kind}
        assert sum(part.share for part in plan.parts) == 1
        report = check(plan.measurement.certificate(1).text)
        assert report.ok and report.remarks == ()
        if plan.kind == "gaussian":
            in_zcdp = {"zcdp-composition", "zcdp-to-approx", "gaussian-on-integers"}
            as_real = {"gdp-composition", "gdp-to-approx", "smoothed-gaussian-on-integers"}
            assert in_zcdp <= set(report.theorems) or as_real <= set(report.theorems)
        before = question.table.spent
        question.release(spend=spend, weights={"m": 3})
        assert question.table.spent == before.measure.total([before, plan.loss])


def test_delta_that_was_spent_is_gone() -> None:
    question = counts(100, vm.approx(10, "3e-6"))
    for _ in range(3):
        question.release(spend=ONE)
    assert question.table.left.delta == 0
    with pytest.raises(OverBudget):
        question.release(spend=ONE)
    # Without a delta there is another noise to be had.
    assert question.release(spend=vm.approx(1, 0)).loss == vm.approx(1, 0)


def test_several_statistics_are_composed_before_they_are_converted() -> None:
    table = opened(100)
    names = {f"s{upper}": vm.sum("x", bounds=(0, upper)) for upper in range(1, 9)}
    plan = table.group_by("k", keys=list(range(200))).agg(**names).plan.noise(ONE, {})
    scale = {part.statistic.point.greatest: part.noise.scale for part in plan.parts}
    # Eight sums have eight times the variance of one, but for what rounds reals to integers; with delta shared among
    # them it would be more.
    alone = noise_of(counts(100), ONE).scale
    for upper in range(1, 9):
        real = float(alone**2 - SMOOTHING) * upper**2 * 8
        assert float(scale[upper] ** 2 - SMOOTHING) == pytest.approx(real, rel=1e-9)


def test_questions_asked_together_share_delta() -> None:
    table = opened(50, vm.approx(1, "1e-6"))
    young, old = (
        table.filter(condition).group_by("k", keys=list(range(80))).agg(n=vm.count())
        for condition in (table["x"] < 3, table["x"] > 1)
    )
    both = vm.together(young=young, old=old)
    answers = both.release(spend=ONE)
    assert table.spent <= ONE and table.spent.delta == ONE.delta
    assert all("Gaussian noise" in str(answer.explain()) for answer in answers.values())
    assert check(both.measurement(spend=ONE).certificate(1).text).ok


def test_a_part_of_a_loss_is_one_of_each_of_its_numbers() -> None:
    half = Fraction(1, 2)
    assert part_of(vm.approx(1, "1e-6"), half) == vm.approx("1/2", "5e-7")
    assert part_of(vm.approx_zcdp(1, "1e-6"), half) == vm.approx_zcdp("1/2", "5e-7")
    assert part_of(vm.pure(1), half) == vm.pure("1/2") and part_of(vm.zcdp(1), half) == vm.zcdp("1/2")


@pytest.mark.parametrize("groups", [1, 40])
def test_keys_that_are_found_and_their_numbers_share_delta(groups: int) -> None:
    rows = {
        "u": [u for u in range(3000) for _ in range(3)],
        "k": [f"k{u % 2}{n}" for u in range(3000) for n in range(3)],
    }
    table = vm.open(held(rows), unit=vm.per("u", groups=groups, per_group=1), budget=vm.approx(8, "1e-6"))
    question = table.group_by("k").agg(n=vm.count())
    spend = vm.approx(8, "1e-6")
    first, second = question.plan._losses(Cost.read(spend=spend))
    assert first.epsilon + second.epsilon == 8 and first.delta + second.delta == spend.delta
    assert second.delta == (0 if groups == 1 else spend.delta / 2)
    answer = question.release(spend=spend)
    assert table.spent == answer.loss == spend and len(answer.groups) > 0
    losses = [stage.map(1) for stage in answer.proof.stages]
    assert losses[0] <= first and losses[1] <= second
    assert check(answer.certificate().text).ok


def test_the_noise_of_keys_that_were_found_is_chosen_for_those_keys() -> None:
    rows = {"u": list(range(3000)), "k": ["all"] * 3000}
    table = vm.open(held(rows), unit=vm.per("u", groups=40, per_group=1), budget=vm.approx(8, "1e-6"))
    answer = table.group_by("k").agg(n=vm.count()).release(spend=vm.approx(8, "1e-6"))
    # Half of delta was set aside for numbers in 40 groups; there is one, for which Laplace noise is less.
    assert answer.groups == (("all",),) and answer.proof.noise.startswith("Laplace")


@pytest.mark.parametrize("replace", [False, True])
def test_many_picks_cost_less_in_zcdp_and_few_in_pure_privacy(replace: bool) -> None:
    table = vm.open(held(ROWS), unit=vm.per("u", rows=1, replace=replace), budget=ONE)
    grouped = table.group_by("k", keys=list(range(200)))
    few, many = grouped.top(1), grouped.top(150)
    assert "exponential" in repr(few.preview(spend=ONE)) and "Gumbel" in repr(many.preview(spend=ONE))
    for question in (few, many):
        made = question.plan._top(Cost.read(spend=ONE))
        assert made.measurement.map(1) <= ONE and check(made.measurement.certificate(1).text).ok
        pure = question.plan._top(Cost.read(spend=vm.approx(1, 0)))
        assert made.scale <= pure.scale and (made.scale == pure.scale) == (question is few)
    assert len(many.release(spend=ONE).groups) == 150
    assert table.spent.delta == ONE.delta


def test_widths_are_bought_without_a_delta() -> None:
    question = counts(100)
    found = question.spend_for({"n": 1000})
    assert found.delta == 0 and question.plan.noise(found, {}).kind == "laplace"


@pytest.mark.parametrize("rule", [None, "concentrated", "advanced"])
def test_a_scope_that_counts_by_another_rule_pays_too(rule: str | None) -> None:
    with ledgers.in_memory() as book:
        table = vm.open(
            held(ROWS),
            unit=vm.per("u", groups=100, per_group=1),
            budget=vm.approx(2, "1e-5"),
            ledger=book,
            dataset="rows",
        )
        book.define("ada", vm.approx(3, "1e-5"), table.session.space, **({} if rule is None else {"rule": rule}))
        asked = table.asked_by("ada", scopes=["ada"])
        question = asked.group_by("k", keys=list(range(200))).agg(n=vm.count())
        spend = vm.approx("1/5", "1e-6")
        answer = question.release(spend=spend, key="first")
        assert answer.loss <= spend and table.spent == answer.loss
        paid: Any = book.scope("ada").spent
        assert paid.delta == spend.delta
        again = question.release(spend=spend, key="first")
        assert again.to_dicts() == answer.to_dicts() and table.spent == answer.loss
        assert ledgers.verify(book).ok


def test_losses_that_noise_may_have() -> None:
    assert noise_losses(vm.zcdp("1/2")) == {"gaussian": (vm.zcdp("1/2"),)} and noise_losses(vm.pure(0)) == {}
    assert noise_losses(vm.approx_zcdp("1/2", "1e-6")) == {"gaussian": (vm.zcdp("1/2"),)}
    both: Any = noise_losses(ONE)
    assert list(both) == ["laplace", "gaussian"] and both["laplace"] == (vm.pure(1),)
    in_zcdp, as_real = both["gaussian"]
    for loss in (in_zcdp, as_real):
        assert loss.to(vm.ApproxDP, delta=ONE.delta) <= ONE
    assert float(in_zcdp.rho) == pytest.approx(rho_of(1, 1e-6), rel=1e-4)
    assert gaussian_delta_of(float(as_real.mu), 1) == pytest.approx(1e-6, rel=1e-6)
