"""Choices by score: laws by enumeration over all small score vectors and their neighbors, and the private quantile."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.cases import for_each
from tests.mechanisms.oracles import (
    INFINITY,
    INTEGER,
    ORDERS,
    PRECISION,
    Law,
    at_most,
    close,
    exp,
    exponential_law,
    integers,
    laplace_pmf,
    loose,
    loss_range,
    max_divergence,
    noisy_max_laplace_law,
    peeling_law,
    permute_and_flip_law,
    pure_loss,
    real,
    reals,
    renyi,
    slugs,
    two_way,
    words,
)

import viameter as vm
from viameter.errors import IncomparableLosses, NoTheorem, NotInDomain, NumberError, ParameterError, ViameterError
from viameter.measures.conversions.response import bounded_range_is_pure, bounded_range_to_zcdp
from viameter.mechanisms import selection
from viameter.mechanisms.selection import (
    exponential_range,
    noisy_max_exponential,
    noisy_max_laplace_loss,
    top_k_by_peeling,
)
from viameter.sampling.entropy import SystemEntropy

THREE = integers(3, vm.LInfDistance())
SCALES = [Fraction(1, 2), Fraction(1), Fraction(3)]
LAWS: dict[str, Callable[..., Law]] = {
    "gumbel": exponential_law,
    "exponential": permute_and_flip_law,
    "laplace": noisy_max_laplace_law,
}
KNOWN: list[tuple[str, Any]] = [("gumbel", vm.BoundedRange), ("gumbel", vm.PureDP), ("gumbel", vm.ZCDP)]
KNOWN += [("exponential", vm.PureDP), ("laplace", vm.PureDP)]
Scores = tuple[Any, ...]


@lru_cache(maxsize=4096)
def law(noise: str, scores: Scores, scale: Fraction) -> Law:
    """The law of a choice; it is the same for scores that are all shifted by the same number."""
    least = min(scores)
    if least:
        return law(noise, tuple(score - least for score in scores), scale)
    with gmpy2.context(precision=PRECISION):
        return LAWS[noise](scores, scale)


def moves(size: int, d: int, *, monotone: bool) -> Iterator[Scores]:
    """How scores may move, if each moves by at most d: all of them, or those that are all in one direction."""
    for signs in itertools.product(range(-d, d + 1), repeat=size):
        if not monotone or min(signs) >= 0 or max(signs) <= 0:
            yield signs


def pairs(size: int, most: int, d: int, *, monotone: bool) -> Iterator[tuple[Scores, Scores]]:
    """Score vectors up to a largest score, one of them 0, and all their neighbors."""
    for scores in itertools.product(range(most + 1), repeat=size):
        if min(scores) == 0:
            for move in moves(size, d, monotone=monotone):
                yield scores, tuple(a + b for a, b in zip(scores, move, strict=True))


def factor(monotone: bool) -> int:
    return 1 if monotone else 2


def worst(
    divergence: Callable[[Law, Law], Any], noise: str, scale: Fraction, d: int, *, monotone: bool, most: int = 2
) -> Any:
    """The largest divergence over score vectors of two and of three candidates, and their neighbors."""
    return max(
        divergence(law(noise, left, scale), law(noise, right, scale))
        for size in (2, 3)
        for left, right in pairs(size, most if size == 2 else 1, d, monotone=monotone)
    )


GENERAL_AND_MONOTONE = for_each("monotone", [False, True])
EVERY_SCALE = for_each("scale", SCALES)


# --- exponential-range and what follows from it ----------------------------------------------------------------------


@EVERY_SCALE
@GENERAL_AND_MONOTONE
def test_exponential_range_ensures_that_losses_are_within_eta_and_it_is_attained(
    scale: Fraction, monotone: bool
) -> None:
    made = vm.exponential(THREE, scale=scale, monotone=monotone)
    assert made.measure == vm.BoundedRange
    for d in (1, 2):
        eta = made.map(d).eta
        assert made.map(d) == vm.bounded_range(factor(monotone) * d / scale)
        assert close(worst(loss_range, "gumbel", scale, d, monotone=monotone), eta)
    assert made.map("1/2") == vm.bounded_range(factor(monotone) / scale / 2)
    assert (made.map(0), made.map(INFINITY)) == (vm.bounded_range(0), vm.bounded_range(INFINITY))


def test_exponential_range_ensures_the_same_for_floats_that_move_by_parts_of_one() -> None:
    space = vm.Space(vm.vectors(float, bounds=(-9, 9), size=2), vm.LInfDistance())
    made = vm.exponential(space, scale="1/2")
    for left in words((0.0, 0.1, -0.75), 2, 2):
        for move in words((Fraction(1, 4), Fraction(-1, 4), Fraction(0)), 2, 2):
            right = tuple(Fraction(a) + b for a, b in zip(left, move, strict=True))
            true = loss_range(exponential_law(left, Fraction(1, 2)), exponential_law(right, Fraction(1, 2)))
            assert at_most(true, made.map("1/4").eta)
    assert made.map("1/4") == vm.bounded_range(1)


def test_exponential_range_requires_that_every_score_moves_by_at_most_d() -> None:
    for metric in (vm.L1Distance(), vm.L2Distance(), vm.SymmetricDistance(), vm.HammingDistance()):
        with pytest.raises(NoTheorem, match="LInfDistance"):
            vm.exponential(integers(3, metric), scale=1)
    # One score that moves by two breaks the bound for one.
    scale = Fraction(1)
    left, right = exponential_law((0, 0), scale), exponential_law((2, -1), scale)
    assert loss_range(left, right) > real(exponential_range(Fraction(1), scale=scale, monotone=False).eta)


@for_each(("noise", "measure"), KNOWN)
def test_exponential_range_requires_somebody_to_vouch_for_monotone_scores(noise: str, measure: Any) -> None:
    trusting = vm.noisy_max(THREE, scale=1, noise=noise, measure=measure, monotone=True)
    assert any("monotone=True" in text for text in trusting.explain(1).assumptions)
    assert "It rests on trust that" in str(trusting.explain(1))
    assert vm.noisy_max(THREE, scale=1, noise=noise, measure=measure).explain(1).assumptions == ()
    # Where scores move in both directions, what was vouched for is wrong.
    if measure == vm.PureDP:
        true = max_divergence(law(noise, (0, 0), Fraction(1)), law(noise, (-1, 1), Fraction(1)))
        if noise != "gumbel":
            assert true > real(trusting.map(1).epsilon)
    if measure == vm.BoundedRange:
        true = loss_range(law(noise, (0, 0), Fraction(1)), law(noise, (-1, 1), Fraction(1)))
        assert true > real(trusting.map(1).eta)


def test_what_was_vouched_for_is_shown_after_transformations_and_in_top_k_too() -> None:
    counts = vm.Space(vm.vectors(vm.categories(["A", "B"])), vm.SymmetricDistance()) >> vm.histogram()
    scores = counts >> vm.measured_by(vm.LInfDistance())
    for recipe in (vm.exponential(scale=1, monotone=True), vm.top_k(k=1, scale=1, monotone=True)):
        made = scores >> recipe
        assert any("monotone=True" in text for text in made.explain(1).assumptions)
        assert any("monotone=True" in text for text in (made >> vm.postprocess(str)).explain(1).assumptions)


@for_each("monotone", [1, 0, "yes", None, np.True_])
def test_monotone_is_true_or_false_and_nothing_else(monotone: Any) -> None:
    for mechanism in (vm.exponential, vm.noisy_max):
        with pytest.raises(ParameterError, match="expected True or False"):
            mechanism(THREE, scale=1, monotone=monotone)
    with pytest.raises(ParameterError, match="expected True or False"):
        vm.top_k(THREE, k=1, scale=1, monotone=monotone)


@EVERY_SCALE
@GENERAL_AND_MONOTONE
def test_bounded_range_is_pure_ensures_that_no_loss_is_above_eta(scale: Fraction, monotone: bool) -> None:
    made = vm.exponential(THREE, scale=scale, measure=vm.PureDP, monotone=monotone)
    for d in (1, 2):
        assert made.map(d) == vm.pure(factor(monotone) * d / scale)
        assert at_most(worst(max_divergence, "gumbel", scale, d, monotone=monotone), made.map(d).epsilon)
    # It is approached: the best of many falls, or (monotone) rises alone.
    many = [0] * 400
    moved = [-1] + [1] * 399 if not monotone else [-1] + [0] * 399
    true = pure_loss(exponential_law(many, scale), exponential_law(moved, scale))
    assert true > real(made.map(1).epsilon) * 9 / 10
    assert (made.map(0), made.map(INFINITY)) == (vm.pure(0), vm.pure(INFINITY))


def test_bounded_range_is_pure_requires_what_exponential_range_requires() -> None:
    for metric in (vm.L1Distance(), vm.L2Distance()):
        with pytest.raises(NoTheorem, match="LInfDistance"):
            vm.exponential(integers(3, metric), scale=1, measure=vm.PureDP)
    scale = Fraction(1)
    left, right = exponential_law([0] * 300, scale), exponential_law([-2] + [2] * 299, scale)
    ranged = exponential_range(Fraction(1), scale=scale, monotone=False)
    assert pure_loss(left, right) > real(bounded_range_is_pure(ranged).epsilon)


@EVERY_SCALE
@GENERAL_AND_MONOTONE
def test_bounded_range_to_zcdp_ensures_rho_at_every_order(scale: Fraction, monotone: bool) -> None:
    made = vm.exponential(THREE, scale=scale, measure=vm.ZCDP, monotone=monotone)
    for d in (1, 2):
        rho = made.map(d).rho
        assert made.map(d) == vm.zcdp((factor(monotone) * d / scale) ** 2 / 8)
        for left, right in pairs(3, 1, d, monotone=monotone):
            for order in (Fraction(101, 100), Fraction(3, 2), Fraction(4), Fraction(32)):
                assert at_most(renyi(law("gumbel", left, scale), law("gumbel", right, scale), order), rho * order)
    assert (made.map(0), made.map(INFINITY)) == (vm.zcdp(0), vm.zcdp(INFINITY))


def test_bounded_range_to_zcdp_ensures_a_rho_that_cannot_be_a_tenth_smaller() -> None:
    # Two candidates that differ a little, at orders near 1: the divergence is nearly eta^2/8.
    scale = Fraction(10)
    rho = bounded_range_to_zcdp(exponential_range(Fraction(1), scale=scale, monotone=False)).rho
    left, right = exponential_law((0, 0), scale), exponential_law((1, -1), scale)
    assert max(renyi(left, right, order) / real(order) for order in ORDERS) > real(rho) * 9 / 10


def test_bounded_range_to_zcdp_requires_a_finite_range_for_both_orders() -> None:
    # Ranges are finite where supports are equal; without that, one order of the two is infinite.
    left: Law = {0: real("1/2"), 1: real("1/2")}
    right: Law = {0: real(1), 1: real(0)}
    assert gmpy2.is_infinite(loss_range(left, right))
    assert gmpy2.is_infinite(renyi(left, right, Fraction(2)))
    assert bounded_range_to_zcdp(exponential_range(INFINITY, scale=Fraction(1), monotone=True)) == vm.zcdp(INFINITY)
    # A pure loss of eps is a range of 2 eps and no less: eps^2/8 would be wrong for randomized response.
    chance = exp(1) / (1 + exp(1))
    answered: Law = {0: chance, 1: 1 - chance}
    flipped: Law = {0: 1 - chance, 1: chance}
    assert close(loss_range(answered, flipped), 2)
    assert renyi(answered, flipped, Fraction(101, 100)) > real("101/800")


def test_a_loss_in_another_measure_is_explained_by_the_range_that_it_follows_from() -> None:
    for measure, slug in ((vm.PureDP, "bounded-range-is-pure"), (vm.ZCDP, "bounded-range-to-zcdp")):
        for made in (
            vm.exponential(THREE, scale=4, measure=measure),
            vm.noisy_max(THREE, scale=4, noise="gumbel", measure=measure),
        ):
            assert made.measure == measure
            assert slugs(made) == [slug, "exponential-range"]
            assert vm.accuracy(made) == vm.accuracy(vm.exponential(THREE, scale=4))
            # The measure is said once, where it was asked for.
            assert repr(made).endswith(f"measure={measure!r})") or "to(" not in repr(made)
        assert vm.exponential(THREE, scale=4, measure=measure).map(1) == vm.exponential(THREE, scale=4).to(measure).map(
            1
        )


# --- noisy-max-exponential -------------------------------------------------------------------------------------------


@EVERY_SCALE
@GENERAL_AND_MONOTONE
def test_noisy_max_exponential_ensures_the_max_divergence_and_it_is_attained(scale: Fraction, monotone: bool) -> None:
    made = vm.noisy_max(THREE, scale=scale, monotone=monotone)
    assert made.measure == vm.PureDP
    for d in (1, 2):
        assert made.map(d) == vm.pure(factor(monotone) * d / scale)
        assert close(worst(max_divergence, "exponential", scale, d, monotone=monotone), made.map(d).epsilon)
    assert made.map("3/2") == vm.pure(Fraction(3, 2) * factor(monotone) / scale)
    assert (made.map(0), made.map(INFINITY)) == (vm.pure(0), vm.pure(INFINITY))


def test_noisy_max_exponential_ensures_no_range_of_that_size_and_none_is_offered() -> None:
    scale = Fraction(1)
    left, right = permute_and_flip_law((0, 0), scale), permute_and_flip_law((1, -1), scale)
    ratio = exp(-2)
    assert close(loss_range(left, right), 2 + gmpy2.log(2 - ratio))
    assert loss_range(left, right) > real(exponential_range(Fraction(1), scale=scale, monotone=False).eta)
    for measure in (vm.BoundedRange, vm.ZCDP):
        with pytest.raises(NoTheorem, match="known in PureDP"):
            vm.noisy_max(THREE, scale=1, measure=measure)
    with pytest.raises(NoTheorem, match="known in PureDP"):
        vm.top_k(THREE, k=2, scale=1, noise="exponential")


def test_noisy_max_exponential_requires_the_largest_difference_as_the_metric() -> None:
    for metric in (vm.L1Distance(), vm.L2Distance(), vm.HammingDistance()):
        with pytest.raises(NoTheorem, match="LInfDistance"):
            vm.noisy_max(integers(3, metric), scale=1)
    scale = Fraction(1)
    left, right = permute_and_flip_law((0, 0), scale), permute_and_flip_law((-2, 2), scale)
    assert pure_loss(left, right) > real(noisy_max_exponential(Fraction(1), scale=scale, monotone=False).epsilon)


def test_noisy_max_exponential_requires_that_noisy_values_are_not_released() -> None:
    assert type(vm.noisy_max(THREE, scale=1)([5, 3, 4])) is int
    # Exponential noise is not negative: a noisy value below a score tells that the score is not there.
    left: Law = {score: exp(-score) for score in range(9)}
    right: Law = {score + 1: chance for score, chance in left.items()}
    assert gmpy2.is_infinite(pure_loss(left, right))


# --- noisy-max-laplace -----------------------------------------------------------------------------------------------


@for_each("scale", [Fraction(1, 2), Fraction(2)])
@GENERAL_AND_MONOTONE
def test_noisy_max_laplace_ensures_the_max_divergence_with_ties(scale: Fraction, monotone: bool) -> None:
    made = vm.noisy_max(THREE, scale=scale, noise="laplace", monotone=monotone)
    for d in (1, 2):
        assert made.map(d) == vm.pure(factor(monotone) * d / scale)
        true = worst(max_divergence, "laplace", scale, d, monotone=monotone)
        assert at_most(true, made.map(d).epsilon)
        # A candidate that is far behind needs all of it.
        far = (0, 40)
        moved = (d if not monotone else 0, 40 - d) if not monotone else (d, 40)
        assert pure_loss(law("laplace", far, scale), law("laplace", moved, scale)) > real(made.map(d).epsilon) * 9 / 10
    # Integers that move by at most d move by at most d rounded down.
    assert made.map("1/2") == vm.pure(0)
    assert made.map("3/2") == made.map(1)
    assert made.map("29/10") == made.map(2)
    assert (made.map(0), made.map(INFINITY)) == (vm.pure(0), vm.pure(INFINITY))


def test_noisy_max_laplace_ensures_no_range_of_that_size_and_none_is_offered() -> None:
    scale = Fraction(1)
    left, right = noisy_max_laplace_law((0, 0), scale), noisy_max_laplace_law((1, -1), scale)
    example = max(
        loss_range(law("laplace", mine, scale), law("laplace", theirs, scale))
        for mine, theirs in pairs(2, 3, 1, monotone=False)
    )
    assert example > real(exponential_range(Fraction(1), scale=scale, monotone=False).eta)
    assert at_most(pure_loss(left, right), 2)
    for measure in (vm.BoundedRange, vm.ZCDP):
        with pytest.raises(NoTheorem, match="known in PureDP"):
            vm.noisy_max(THREE, scale=1, noise="laplace", measure=measure)


def test_noisy_max_laplace_requires_integer_scores() -> None:
    space = vm.Space(vm.vectors(float, bounds=(0, 9), size=3), vm.LInfDistance())
    with pytest.raises(NoTheorem, match="integer scores"):
        vm.noisy_max(space, scale=1, noise="laplace")
    with pytest.raises(NoTheorem, match="integer scores"):
        vm.top_k(space, k=1, scale=1, noise="laplace", measure=vm.PureDP)
    # With scores between integers there are no ties, and half a step counts as a whole one: 2d/s is not enough.
    scale = Fraction(1)

    def wins(mine: Fraction, theirs: Fraction) -> Any:
        reach = range(-60, 61)
        below = [laplace_pmf(z, scale) for z in reach]
        total = real(0)
        for z, chance in zip(reach, below, strict=True):
            total += chance * sum(b for y, b in zip(reach, below, strict=True) if theirs + y < mine + z)
        return total

    one, other = wins(Fraction(0), Fraction(3)), wins(Fraction(1, 100), Fraction(299, 100))
    assert abs(gmpy2.log(other / one)) > real(Fraction(2, 100) / scale)
    assert noisy_max_laplace_loss(Fraction(1, 100), scale=scale, monotone=False) == vm.pure(0)


def test_noisy_max_laplace_requires_that_ties_go_by_a_fixed_rule() -> None:
    scale = Fraction(1, 4)
    first, last = noisy_max_laplace_law((0, 0), scale), noisy_max_laplace_law((0, 0), scale)
    reversed_law: Law = {0: last[1], 1: last[0]}
    # The same scores, and other rules: a loss where there is none to pay for.
    assert pure_loss(first, reversed_law) > 1
    assert noisy_max_laplace_loss(Fraction(0), scale=scale, monotone=False) == vm.pure(0)


def test_noisy_max_laplace_requires_the_largest_difference_as_the_metric_and_releases_an_index_only() -> None:
    for metric in (vm.L1Distance(), vm.L2Distance()):
        with pytest.raises(NoTheorem, match="LInfDistance"):
            vm.noisy_max(integers(3, metric), scale=1, noise="laplace")
    assert type(vm.noisy_max(THREE, scale=1, noise="laplace")([5, 3, 4])) is int
    # With all noisy values released, three scores cost three times one.
    assert noisy_max_laplace_loss(Fraction(1), scale=Fraction(1), monotone=False).epsilon < 3


# --- top-k-by-peeling ------------------------------------------------------------------------------------------------


@for_each("k", [2, 3])
@for_each(("noise", "measure"), [(n, m) for n, m in KNOWN if m != vm.BoundedRange])
@GENERAL_AND_MONOTONE
def test_top_k_by_peeling_ensures_k_times_one_pick(k: int, noise: str, measure: Any, monotone: bool) -> None:
    scale, size = Fraction(2), k if noise == "laplace" else 3
    made = vm.top_k(integers(3, vm.LInfDistance()), k=k, scale=scale, noise=noise, measure=measure, monotone=monotone)
    one = vm.noisy_max(THREE, scale=scale, noise=noise, measure=measure, monotone=monotone)
    for d in (0, 1, 2, INFINITY):
        assert made.map(d) == measure.total([one.map(d)] * k)

    @lru_cache(maxsize=4096)
    def peeled(scores: Scores) -> Law:
        return peeling_law(scores, scale, k, lambda left, _: law(noise, tuple(left), scale))

    d = 1
    # The first score stays: laws are the same for scores that are all shifted.
    for left in itertools.product((0,), *[range(2)] * (size - 1)):
        for move in moves(size, d, monotone=monotone):
            mine, theirs = peeled(left), peeled(tuple(a + b for a, b in zip(left, move, strict=True)))
            if measure == vm.PureDP:
                assert at_most(max_divergence(mine, theirs), made.map(d).epsilon)
            else:
                for order in (Fraction(11, 10), Fraction(8)):
                    assert at_most(renyi(mine, theirs, order), made.map(d).rho * order)


def test_top_k_by_peeling_ensures_no_less_than_one_pick_costs() -> None:
    # Two picks of three cost more than one may.
    scale = Fraction(2)
    left = peeling_law((0, 0, 0), scale, 2, permute_and_flip_law)
    right = peeling_law((1, 0, -1), scale, 2, permute_and_flip_law)
    assert pure_loss(left, right) > real(noisy_max_exponential(Fraction(1), scale=scale, monotone=False).epsilon)
    assert top_k_by_peeling(
        Fraction(1), step=bounded_range_to_zcdp, k=5, scale=Fraction(1, 3), monotone=True
    ) == vm.zcdp(Fraction(45, 8))


def test_top_k_by_peeling_requires_a_measure_that_adds_up_adaptively() -> None:
    with pytest.raises(NoTheorem, match="add up in PureDP and ZCDP"):
        vm.top_k(THREE, k=2, scale=1, measure=vm.BoundedRange)
    with pytest.raises(NoTheorem, match="add up in PureDP and ZCDP"):
        vm.top_k(THREE, k=1, scale=1, measure=vm.ApproxDP)
    with pytest.raises(IncomparableLosses):
        vm.bounded_range(1) + vm.bounded_range(1)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("noise", list(LAWS))
def test_top_k_picks_one_after_the_other_among_those_that_are_left(
    k: int, noise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The law of the implementation: every way to pick, each pick with its chance on the scores it was given.
    scores, scale = [3, 1, 2], Fraction(3, 2)
    found: Law = {}
    for places in itertools.product(*(range(3 - turn) for turn in range(k))):
        told, chance = list(places), [real(1)]

        def pick(left: Any, given: Any, told: list[int] = told, chance: list[Any] = chance, **_: Any) -> int:
            assert given == scale
            place = told.pop(0)
            chance[0] *= law(noise, tuple(left.tolist()), scale)[place]
            return place

        monkeypatch.setitem(selection.DRAWS, noise, pick)
        made = vm.top_k(THREE, k=k, scale=scale, noise=noise, measure=vm.PureDP)
        picked = made(scores)
        assert not told
        found[tuple(picked)] = chance[0]
    expected = peeling_law(scores, scale, k, lambda left, _: law(noise, tuple(left), scale))
    assert found.keys() == expected.keys()
    assert all(close(found[way], expected[way]) for way in found)
    assert close(sum(found.values()), 1)


# --- what is drawn, and what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", list(LAWS))
def test_scores_and_scale_reach_the_draw_as_they_are(noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def draw(scores: Any, scale: Any) -> int:
        asked.append((scores.tolist(), scores.dtype, scale))
        return 1

    monkeypatch.setitem(selection.DRAWS, noise, draw)
    scores = [2**63 - 1, -(2**63), 5]
    made = vm.noisy_max(THREE, scale="7/3", noise=noise)
    assert made(scores) == 1
    assert asked == [(scores, np.dtype(np.int64), Fraction(7, 3))]
    if noise == "gumbel":
        assert vm.exponential(THREE, scale="7/3")(scores) == 1
        assert asked[1] == asked[0]


@pytest.mark.parametrize("noise", list(LAWS))
def test_every_noise_is_drawn_by_the_sampler_of_its_name(noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    samplers: dict[str, Any] = {
        "gumbel": vm.sampling.exponential,
        "exponential": vm.sampling.permute_and_flip,
        "laplace": vm.sampling.noisy_max_laplace,
    }
    scores = np.array([3, 1, 2], dtype=np.int64)
    made = vm.noisy_max(THREE, scale=2, noise=noise)
    drawn: dict[str, list[int]] = {
        name: [sampler(scores, 2, entropy=vm.sampling.Tape.seeded(seed)) for seed in range(60)]
        for name, sampler in samplers.items()
    }
    found = []
    for seed in range(60):
        monkeypatch.setattr(SystemEntropy, "stream", lambda *_, seed=seed: vm.sampling.Tape.seeded(seed).stream(0))
        found.append(made(scores))
    assert found == drawn[noise]
    assert [name for name in drawn if drawn[name] == found] == [noise]


def test_ties_go_to_the_first_candidate() -> None:
    # At this scale the noise is 0, but for once in e^(10^30) draws.
    for scores, first in (([3, 5, 5], 1), ([5, 5, 5], 0), ([4, 4, 5], 2), ([5, 1, 5], 0)):
        assert vm.noisy_max(THREE, scale="1e-30", noise="laplace")(scores) == first
    made = vm.top_k(THREE, k=3, scale="1e-30", noise="laplace", measure=vm.PureDP)
    assert made([7, 9, 9]) == [1, 2, 0]


def test_every_noise_finds_a_candidate_that_is_far_ahead() -> None:
    far = [-(2**63), 2**63 - 1, 0]
    for noise, measure in KNOWN:
        assert vm.noisy_max(THREE, scale=1, noise=noise, measure=measure)(far) == 1
        if measure != vm.BoundedRange:
            assert vm.top_k(THREE, k=3, scale=1, noise=noise, measure=measure)(far) == [1, 2, 0]
    assert vm.exponential(THREE, scale=1)(far) == 1
    floats = vm.Space(vm.vectors(float, bounds=("-1.7e308", "1.7e308"), size=2), vm.LInfDistance())
    assert vm.exponential(floats, scale=1)([-1.7e308, 1.7e308]) == 1
    assert vm.noisy_max(floats, scale=1)([1.7e308, -1.7e308]) == 0


def test_score_vectors_without_a_public_size_are_refused() -> None:
    for size in (None, 0):
        space = integers(size, vm.LInfDistance())
        for call in (vm.exponential, vm.noisy_max):
            with pytest.raises(ParameterError, match="public number of candidates"):
                call(space, scale=1)
        with pytest.raises(ParameterError, match="public number of candidates"):
            vm.top_k(space, k=1, scale=1)


def test_float_scores_without_bounds_are_refused() -> None:
    for call in (vm.exponential, vm.noisy_max):
        with pytest.raises(ParameterError, match="infinite scores"):
            call(reals(3, vm.LInfDistance()), scale=1)
    with pytest.raises(ParameterError, match="infinite scores"):
        vm.top_k(reals(3, vm.LInfDistance()), k=1, scale=1)


def test_parameters_that_make_no_sense_are_refused() -> None:
    for k in (0, -1, 4, True, "2", 1.0, None, Fraction(2)):
        with pytest.raises(ParameterError):
            loose.top_k(THREE, k=k, scale=1)
    for scale in (0, -1, "-1/3", 2**52 + 1, 0.5, "one", True, None):
        for call in (loose.exponential, loose.noisy_max):
            with pytest.raises(NumberError):
                call(THREE, scale=scale)
        with pytest.raises(NumberError):
            loose.top_k(THREE, k=1, scale=scale)
    for noise in ("gaussian", "", None, 1, ["laplace"]):
        with pytest.raises(ParameterError, match="expected one of"):
            loose.noisy_max(THREE, scale=1, noise=noise)
        with pytest.raises(ParameterError, match="expected one of"):
            loose.top_k(THREE, k=1, scale=1, noise=noise)
    for measure in (vm.ApproxDP, vm.GaussianDP, vm.RenyiDP, None, "PureDP"):
        with pytest.raises(NoTheorem):
            loose.exponential(THREE, scale=1, measure=measure)
    with pytest.raises(ParameterError, match="takes vectors"):
        vm.quantile_scores(INTEGER, alpha="1/2", candidates=[1])
    with pytest.raises(NoTheorem, match="LInfDistance"):
        vm.exponential(INTEGER, scale=1)


def test_a_measure_that_only_has_the_name_of_a_known_one_gets_no_loss() -> None:
    impostor = vm.measure("PureDP", trust="it is called so")
    with pytest.raises(ViameterError):
        vm.exponential(THREE, scale=1, measure=impostor).map(1)


def test_a_single_candidate_is_always_chosen() -> None:
    one = integers(1, vm.LInfDistance())
    for noise, measure in KNOWN:
        assert vm.noisy_max(one, scale=1, noise=noise, measure=measure)([-5]) == 0
    assert vm.top_k(one, k=1, scale=1)([7]) == [0]


def test_scores_outside_of_the_domain_are_refused_without_being_shown() -> None:
    canary = 918273645
    space = vm.Space(vm.vectors(int, bounds=(0, 9), size=2), vm.LInfDistance())
    for made in (vm.exponential(space, scale=1), vm.noisy_max(space, scale=1), vm.top_k(space, k=1, scale=1)):
        for data in ([canary, 1], [1, 2, canary], [canary], ["x", str(canary)], float(canary)):
            with pytest.raises(NotInDomain) as caught:
                made(data)
            assert str(canary) not in str(caught.value)


def test_laws_of_the_oracles_are_laws() -> None:
    for scores in ((0, 0), (0, 2, 1), (5, 0, 0, 1)):
        for oracle in LAWS.values():
            assert close(sum(oracle(scores, Fraction(3, 2)).values()), 1)
    # Permute-and-flip of two, from the noise: P(q_0 + e_0 > q_1 + e_1) for exponential noise.
    assert close(permute_and_flip_law((0, 1), Fraction(1))[0], exp(-1) / 2)
    assert two_way(max_divergence, {0: real(1)}, {0: real(1)}) == 0
