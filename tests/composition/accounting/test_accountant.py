"""The accountant: the best of several representations, never below the truth, and a clear word where there is none."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.composition.accounting.oracles import Law, gaussian_pmf, hockey_stick, kov_delta, mp, product_law, profile

import viameter as vm
from viameter.composition.accounting import (
    Accountant,
    approximate,
    bounded_range,
    continuous_gaussian,
    continuous_laplace,
    discrete_gaussian,
    discrete_laplace,
    optimal_epsilon,
    poisson_subsampled,
    pure,
    randomized_response,
    renyi,
    together,
    zcdp,
)
from viameter.errors import NotExact, NoTheorem, NumberError, ParameterError
from viameter.theorem import Numbers, find_theorem

EVERYTHING: list[Any] = [
    pure("0.1"),
    approximate("0.1", "1e-9"),
    randomized_response(2, "3/4"),
    randomized_response(4, "0.6"),
    discrete_laplace(10),
    discrete_laplace(10, 7),
    discrete_gaussian(5),
    discrete_gaussian(5, 3),
    bounded_range("0.2"),
    zcdp("0.01"),
    renyi(vm.renyi({2: "0.01", 8: "0.04", 32: "0.2"})),
    poisson_subsampled(discrete_gaussian(1), "0.01"),
    poisson_subsampled(pure(1), "0.1"),
    together(pure("0.1"), together(discrete_gaussian(9), zcdp("0.001"))),
    continuous_laplace(10),
    continuous_gaussian(10),
]


def account(*mechanisms: Any, count: int = 1, **options: bool) -> Accountant:
    accountant = Accountant(**options)
    for mechanism in mechanisms:
        accountant.add(mechanism, count)
    return accountant


@pytest.mark.parametrize("mechanism", EVERYTHING, ids=str)
@pytest.mark.parametrize("count", [1, 50])
def test_every_mechanism_has_an_epsilon_whose_delta_is_small_enough(mechanism: Any, count: int) -> None:
    accountant = account(mechanism, count=count, idealized=True)
    for delta in ("1e-2", "1e-6", "1e-12"):
        epsilon = accountant.epsilon(delta=delta)
        if mechanism == approximate("0.1", "1e-9") and delta == "1e-12":
            assert epsilon == math.inf
            continue
        assert isinstance(epsilon, Fraction)
        assert accountant.delta(epsilon=epsilon) <= Fraction(delta) * (1 + Fraction(1, 10**9))
        report = accountant.report(delta=delta)
        assert report.best.epsilon <= epsilon * (1 + Fraction(1, 10**9))
        assert epsilon <= report.best.epsilon * (1 + Fraction(1, 10**4))
        assert all(find_theorem(reading.theorem) for reading in report.readings)
        assert (report.numbers is Numbers.IDEALIZED) == str(mechanism).startswith("Continuous")


def test_everything_together_costs_more_than_each_and_less_than_the_sum() -> None:
    accountant = account(*EVERYTHING[:-2])
    total = accountant.epsilon(delta="1e-6")
    singles = [account(mechanism).epsilon(delta="1e-6") for mechanism in EVERYTHING[:-2]]
    assert max(singles) < total < sum(singles)


def test_the_discrete_reference_value_of_a_thousand_laplaces() -> None:
    accountant = account(discrete_laplace(20), count=1000)
    exact = optimal_epsilon("0.05", count=1000, delta="1e-6")
    assert round(float(exact), 6) == 8.283573
    found = accountant.epsilon(delta="1e-6")
    assert exact <= found <= exact * (1 + Fraction(1, 10**4))
    assert accountant.report(delta="1e-6").best.representation == "homogeneous optimum"


@pytest.mark.parametrize(
    ("mechanism", "count", "reference"),
    [(continuous_gaussian(50), 1000, "2.921601"), (continuous_laplace(20), 1000, "8.204440")],
)
def test_the_continuous_reference_values(mechanism: Any, count: int, reference: str) -> None:
    found = account(mechanism, count=count, idealized=True).epsilon(delta="1e-6")
    exact = Fraction(reference)
    assert exact - Fraction(5, 10**7) <= found <= exact * (1 + Fraction(1, 10**4))


def test_discrete_gaussians_cost_at_least_what_their_own_law_says() -> None:
    # Ten of scale 2: the sum of ten noises has a law that convolution gives exactly.
    noise = gaussian_pmf(Fraction(2), 40)
    law = {0: mp(1)}
    for _ in range(10):
        grown: dict[int, Any] = {}
        for a, p in law.items():
            for b, q in noise.items():
                grown[a + b] = grown.get(a + b, mp(0)) + p * q
        law = {z: p for z, p in grown.items() if p > mp(10) ** -40}
    losses = [Fraction(10 - 2 * z, 8) for z in law]
    found = account(discrete_gaussian(2), count=10).epsilon(delta="1e-6")
    assert profile(losses, law.values(), found) <= mp("1e-6")
    assert profile(losses, law.values(), found * (1 - Fraction(1, 10**4))) > mp("1e-6")


def test_reading_between_additions_gives_what_reading_at_the_end_gives() -> None:
    source = random.Random(9)
    step_by_step, at_once = Accountant(), Accountant()
    kinds: list[Any] = [pure("0.1"), discrete_gaussian(8), pure("0.07")]
    mechanisms = [source.choice(kinds) for _ in range(120)]
    previous: Any = 0
    for mechanism in mechanisms:
        step_by_step.add(mechanism)
        at_once.add(mechanism)
        epsilon = step_by_step.epsilon(delta="1e-6")
        assert epsilon > previous * (1 - Fraction(1, 10**4))
        previous = epsilon
    assert previous == at_once.epsilon(delta="1e-6")


def test_other_deltas_and_epsilons_may_be_asked_in_any_order() -> None:
    accountant = account(pure("0.05"), count=1000)
    for delta in ("1e-6", "1e-12", "0.3", "1e-3", "1e-40", "1e-6"):
        exact = optimal_epsilon("0.05", count=1000, delta=delta)
        found = accountant.epsilon(delta=delta)
        assert exact <= found <= exact * (1 + Fraction(1, 10**4))
    for epsilon in (Fraction(1), Fraction(12), Fraction(8), Fraction(0)):
        true = kov_delta(epsilon, Fraction(float(Fraction("0.05"))), 1000)
        found = mp(accountant.delta(epsilon=epsilon))
        assert true * (1 - mp(10) ** -12) <= found <= true * mp("1.01")


def test_an_empty_accountant_has_lost_nothing() -> None:
    accountant = Accountant()
    assert accountant.epsilon(delta=0) == accountant.epsilon(delta="1e-6") == accountant.delta(epsilon=0) == 0
    accountant.add(pure(1), 0)
    assert accountant.counts == {}
    assert accountant.epsilon(delta=0) == 0
    assert accountant.report(delta="1e-6").best.epsilon == 0
    assert account(pure(0), discrete_laplace(1, 0), zcdp(0), count=7).epsilon(delta=0) == 0
    assert account(pure(0), discrete_gaussian(1, 0), count=7).delta(epsilon=0) == 0


def test_delta_zero_is_the_sum_of_pure_or_infinite() -> None:
    assert account(pure("0.1"), discrete_laplace(10), bounded_range(1), count=3).epsilon(delta=0) == Fraction(36, 10)
    assert account(pure("0.1"), approximate("0.1", "1e-9")).epsilon(delta=0) == math.inf
    assert account(pure("0.1"), discrete_gaussian(10)).epsilon(delta=0) == math.inf
    assert account(zcdp("0.1")).epsilon(delta=0) == math.inf
    assert account(poisson_subsampled(pure(1), "0.1")).epsilon(delta=0) == pytest.approx(
        math.log1p(0.1 * math.expm1(1))
    )
    assert account(discrete_gaussian(10)).epsilon(delta=1) == 0
    assert account(randomized_response(3, 1)).epsilon(delta="1e-6") == math.inf
    assert account(randomized_response(3, 1)).epsilon(delta=1) == 0


def test_huge_epsilons_and_tiny_deltas_have_sound_answers() -> None:
    assert Fraction(19999) < account(pure(100), count=200).epsilon(delta="1e-6") <= 20000
    assert account(pure(10**6), pure(3), pure(7), count=30).epsilon(delta="1e-6") <= 30 * (10**6 + 10)
    assert account(pure(10**20), count=2).epsilon(delta="1e-6") <= 2 * 10**20
    for delta in ("1e-300", "1e-400", "1e-60"):
        for mechanism in (discrete_gaussian(1), pure("0.5"), poisson_subsampled(pure("0.5"), "0.1"), zcdp("0.1")):
            epsilon = account(mechanism, count=40).epsilon(delta=delta)
            exact = optimal_epsilon("0.5", count=40, delta=delta) if mechanism == pure("0.5") else 1
            assert exact <= epsilon < math.inf
    assert account(approximate(1, "1e-3"), count=10**9).epsilon(delta="1e-6") == math.inf
    assert account(pure("1e-12"), count=10**12).epsilon(delta="1e-6") <= 1
    assert account(discrete_gaussian(10**6), count=10**6).epsilon(delta="1e-6") < 5


def test_mechanisms_that_reveal_everything_have_no_epsilon_below_delta_1() -> None:
    for count in (1, 50):
        accountant = account(approximate(1, 1), pure("0.1"), count=count)
        assert accountant.delta(epsilon=1) == 1
        assert accountant.epsilon(delta="0.999") == math.inf
        assert accountant.epsilon(delta=1) == 0
        accountant = account(approximate(0, "0.01"), count=count)
        assert accountant.epsilon(delta="0.5") == 0
        assert accountant.epsilon(delta="0.001") == math.inf
        assert accountant.delta(epsilon=0) >= 1 - Fraction(99, 100) ** count
        assert accountant.delta(epsilon=0) <= (1 - Fraction(99, 100) ** count) * (1 + Fraction(1, 10**9))


def leaky(e: Any, d: Any) -> tuple[Law, Law]:
    """A bit that is shown with probability d, and else told by randomized response: its laws for 1 and for 0."""
    truth, kept = 1 / (1 + mpmath.exp(-mp(e))), 1 - mp(d)
    return (
        {"one": mp(d), "yes": kept * truth, "no": kept * (1 - truth)},
        {"zero": mp(d), "yes": kept * (1 - truth), "no": kept * truth},
    )


@for_each(
    "leaks",
    [
        [("1", "1/10")],
        [("1/2", "1/4"), ("1/2", "1/4")],
        [("1", "1/10"), ("1/3", "1/5")],
        [("1", "0"), ("2", "1e-2"), ("0", "1/7")],
    ],
)
def test_delta_of_leaks_is_that_of_their_joint_law(leaks: list[tuple[str, str]]) -> None:
    """What is shown and what is told by noise both count, and add up."""
    laws = [leaky(Fraction(e), Fraction(d)) for e, d in leaks]
    left, right = product_law(ones for ones, _ in laws), product_law(zeros for _, zeros in laws)
    accountant = account(*(approximate(e, d) for e, d in leaks))
    for epsilon in ("0", "0.2", "0.7", "1.1", "2.5", "9"):
        true = hockey_stick(left, right, Fraction(epsilon))
        assert true * (1 - mp(10) ** -25) <= mp(accountant.delta(epsilon=epsilon)) <= true * (1 + mp(10) ** -9)


def test_a_mechanism_costs_as_often_as_it_is_in_a_bundle() -> None:
    one, other = pure("1/10"), discrete_laplace(20)
    bundle = together(one, other, together(one, together(one, other)))
    accountant = account(bundle)
    assert accountant.counts == {one: 3, other: 2}
    assert accountant.epsilon(delta=0) == Fraction(4, 10)
    accountant.add(bundle, 5)
    accountant.add(one)
    assert accountant.counts == {one: 19, other: 12}
    assert accountant.epsilon(delta=0) == Fraction(25, 10)


def test_bad_input_is_refused_in_clear_words_and_changes_nothing() -> None:
    accountant = account(pure(1))
    for bad in (-1, 2, "nan", math.inf):
        with pytest.raises(NumberError):
            accountant.epsilon(delta=bad)  # type: ignore[arg-type]
    for bad in (0.5, float("nan")):
        with pytest.raises(NumberError):
            accountant.epsilon(delta=bad)  # type: ignore[arg-type]
        with pytest.raises(NumberError):
            accountant.delta(epsilon=bad)  # type: ignore[arg-type]
    with pytest.raises(NotExact):
        pure(0.1)  # type: ignore[arg-type]
    for count in (-1, 1.5, "2", True, 10**13):
        with pytest.raises(ParameterError):
            accountant.add(pure(1), count)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="description"):
        accountant.add(vm.pure(1))  # type: ignore[arg-type]
    for make in (
        lambda: pure(-1),
        lambda: approximate(1, 2),
        lambda: randomized_response(2, 2),
        lambda: discrete_laplace(1, "1/2"),
        lambda: pure("inf"),
    ):
        with pytest.raises(NumberError):
            make()
    for broken in (
        lambda: randomized_response(1, "1/2"),
        lambda: discrete_gaussian(0),
        lambda: continuous_laplace(0),
        together,
        lambda: together(7),  # type: ignore[arg-type]
        lambda: renyi({2: 1}),  # type: ignore[arg-type]
    ):
        with pytest.raises(ParameterError):
            broken()
    assert accountant.counts == {pure(1): 1}


def test_continuous_noise_is_refused_unless_it_is_asked_for_and_is_marked() -> None:
    for mechanism in (
        continuous_gaussian(1),
        continuous_laplace(1),
        poisson_subsampled(continuous_gaussian(1), "0.1"),
        together(pure(1), continuous_gaussian(1)),
    ):
        with pytest.raises(NoTheorem, match="idealized"):
            Accountant().add(mechanism)
        accountant = account(mechanism, idealized=True)
        assert accountant.is_idealized
        assert accountant.report(delta="1e-6").numbers is Numbers.IDEALIZED
        assert "idealized" in repr(accountant)
    assert not account(pure(1), idealized=True).is_idealized
    # Discrete noise costs more than continuous noise of the same scale.
    discrete = account(discrete_laplace(20), count=1000).epsilon(delta="1e-6")
    assert discrete > account(continuous_laplace(20), count=1000, idealized=True).epsilon(delta="1e-6")


def test_bounded_ranges_gain_where_they_are_chosen_in_advance() -> None:
    adaptive = account(bounded_range("0.5"), count=3).epsilon(delta="1e-3")
    fixed = account(bounded_range("0.5"), count=3, adaptive=False)
    assert fixed.epsilon(delta="1e-3") < adaptive
    assert "bounded-range optimum" in {r.representation for r in fixed.report(delta="1e-3").readings}
    assert fixed.delta(epsilon="0.25") == vm_range("0.25")
    # For many, zCDP is better than the dominating pair, and is what counts.
    many = account(bounded_range("0.5"), count=50)
    assert many.report(delta="1e-6").best.representation == "moments"
    assert many.epsilon(delta="1e-6") == many.report(delta="1e-6").best.epsilon


def vm_range(epsilon: str) -> Fraction:
    from viameter.composition.accounting import range_delta

    return range_delta("0.5", count=3, epsilon=epsilon, adaptive=False)


def test_a_profile_is_a_loss_that_later_additions_do_not_change() -> None:
    accountant = account(pure("0.1"), discrete_gaussian(10), count=10)
    profile_loss = accountant.profile()
    assert profile_loss.measure == vm.Profile
    before = profile_loss.at(1)
    accountant.add(pure(1), 10)
    assert profile_loss.at(1) == before < accountant.profile().at(1)
    assert profile_loss.at(3) < profile_loss.at(1) < profile_loss.at(0) < 1


def test_a_report_names_all_representations_and_reads_well() -> None:
    accountant = account(approximate("0.1", "1e-9"), count=100)
    report = accountant.report(delta="1e-6")
    assert [r.representation for r in report.readings] == [
        "sums",
        "moments",
        "homogeneous optimum",
        "loss distribution",
    ]
    text = str(report)
    assert text.startswith("at delta 1/1000000 (outward):\n  sums: 10 [sums-of-epsilon-and-delta]")
    assert "* homogeneous optimum" in text
    gaussian = account(continuous_gaussian(50), count=1000, idealized=True).report(delta="1e-6")
    assert gaussian.best.theorem == "gaussian-profile"
    assert account(pure(1)).report(delta=1).best.epsilon == 0
    assert account(pure(1), pure(2)).report(delta="1e-6").readings[-1].theorem == "loss-distribution-delta"
    assert repr(accountant) == "Accountant(100 mechanisms, 1 different)"


def test_a_copy_is_another_accountant() -> None:
    accountant = account(pure("0.1"), count=100)
    other = accountant.copy()
    other.add(pure("0.1"), 100)
    assert accountant.epsilon(delta="1e-6") < other.epsilon(delta="1e-6")
    assert accountant.counts == {pure("0.1"): 100}


@for_each(
    ("each", "count", "delta"),
    [("0.001", 60, "1e-15"), ("0.2", 33, "1e-9"), ("0.001", 60, "1e-9"), ("0.5", 150, "1e-9"), ("0.05", 150, "1e-2")],
)
def test_the_worst_that_was_measured_is_what_the_docs_say(each: str, count: int, delta: str) -> None:
    by = {r.representation: r.epsilon for r in account(pure(each), count=count).report(delta=delta).readings}
    exact = optimal_epsilon(each, count=count, delta=delta)
    assert exact <= by["loss distribution"] <= exact * (1 + Fraction(46, 10**5))
    assert account(pure(each), count=count).epsilon(delta=delta) <= exact * (1 + Fraction(1, 10**9))
