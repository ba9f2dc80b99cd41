"""Counts of keys that nobody listed: the exact (epsilon, delta) of small datasets, and the least threshold."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each
from tests.mechanisms.oracles import (
    EDGE,
    INFINITY,
    LARGEST,
    WORDS,
    Law,
    Script,
    a_little_above,
    at_most,
    close,
    hockey_stick,
    laplace_pmf,
    laplace_tail,
    loose,
    real,
    slugs,
    two_way,
)

import viameter as vm
from viameter.errors import NoTheorem, NotInDomain, NumberError, ParameterError
from viameter.mechanisms import threshold as module
from viameter.mechanisms.threshold import thresholded_keys
from viameter.tables.selection_theorems import thresholded_keys_of_units

KEYS = ("a", "b", "c")
Counts = tuple[int, ...]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    told = Script()
    monkeypatch.setattr(module, "discrete_laplace", told)
    return told


def law_of(counts: Counts, scale: Fraction, threshold: int, most: int) -> Law:
    """The law of what is shown; all noisy counts above `most` are one outcome, since there ratios are constant."""
    law: Law = {(): real(1)}
    for count in counts:
        shown: Law = {None: 1 - laplace_tail(threshold - count, scale)} if count else {None: real(1)}
        if count:
            shown |= {seen: laplace_pmf(seen - count, scale) for seen in range(threshold, most + 1)}
            shown["more"] = laplace_tail(max(threshold, most + 1) - count, scale)
        law = {
            (*before, seen): chance * part
            for (before, chance), (seen, part) in itertools.product(law.items(), shown.items())
        }
    return law


def true_delta(mine: Counts, theirs: Counts, scale: Fraction, threshold: int, epsilon: Any) -> Any:
    most = max(threshold, *mine, *theirs)
    laws = (law_of(mine, scale, threshold, most), law_of(theirs, scale, threshold, most))
    assert all(close(sum(law.values()), 1) for law in laws)
    return two_way(hockey_stick, *laws, epsilon)


def distance(mine: Counts, theirs: Counts) -> int:
    return sum(abs(a - b) for a, b in zip(mine, theirs, strict=True))


def rows(counts: Sequence[int]) -> list[str]:
    return [key for key, count in zip(KEYS, counts, strict=False) for _ in range(count)]


# --- thresholded-keys ------------------------------------------------------------------------------------------------


@for_each("scale", [Fraction(1, 2), Fraction(1), Fraction(5, 2)])
@for_each("keys", [1, 2, 3])
def test_thresholded_keys_ensures_epsilon_and_delta_on_all_small_datasets(keys: int, scale: Fraction) -> None:
    tables = list(itertools.product(range({1: 7, 2: 4, 3: 3}[keys]), repeat=keys))
    for threshold in (1, 2, 3, 5) if keys < 3 else (2, 4):
        made = vm.thresholded_counts(WORDS, scale=scale, threshold=threshold)
        bounds = {d: made.map(d) for d in range(1, 4)}
        for mine, theirs in itertools.combinations(tables, 2):
            # The order of keys does not matter, so that one of each is enough.
            d = distance(mine, theirs)
            if d > 3 or (keys == 3 and list(mine) != sorted(mine)):
                continue
            assert bounds[d].epsilon == d / scale
            assert at_most(true_delta(mine, theirs, scale, threshold, bounds[d].epsilon), bounds[d].delta)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(4)], ids=str)
def test_thresholded_keys_ensures_a_delta_that_one_row_attains(scale: Fraction) -> None:
    for threshold in (2, 3, 10, 40):
        made = vm.thresholded_counts(WORDS, scale=scale, threshold=threshold)
        assert made.map(1).epsilon == 1 / scale
        # A key that occurs once, or not at all.
        true = true_delta((1,), (0,), scale, threshold, made.map(1).epsilon)
        assert close(true, laplace_tail(threshold - 1, scale))
        assert a_little_above(true, made.map(1).delta)
        # Other keys that stay do not add to it.
        assert close(true_delta((1, 3), (0, 3), scale, threshold, made.map(1).epsilon), true)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(3, 2)], ids=str)
def test_thresholded_keys_ensures_what_several_rows_need_and_one_row_does_not(scale: Fraction) -> None:
    threshold = 6
    made = vm.thresholded_counts(WORDS, scale=scale, threshold=threshold)
    for d in (2, 3, 4):
        bound = made.map(d)
        several = 1 - (1 - laplace_tail(threshold - 1, scale)) ** d
        assert a_little_above(max(several, laplace_tail(threshold - d, scale)), bound.delta)
        # d rows of one new key: each moves its count, so that P(Z >= t - 1) would not do.
        true = true_delta((d,), (0,), scale, threshold, bound.epsilon)
        assert close(true, laplace_tail(threshold - d, scale))
        assert true > d * laplace_tail(threshold - 1, scale) or d == 2
        assert true > laplace_tail(threshold - 1, scale)
        assert at_most(true, bound.delta)
    # Replacing a key by another is a row removed and a row added.
    assert at_most(true_delta((1, 0), (0, 1), scale, threshold, made.map(2).epsilon), made.map(2).delta)
    assert at_most(true_delta((3, 1, 0), (2, 0, 1), scale, threshold, made.map(3).epsilon), made.map(3).delta)


def test_thresholded_keys_ensures_its_formula_and_at_most_1() -> None:
    for scale, threshold, d in itertools.product(
        (Fraction(1, 3), Fraction(2), Fraction(50)), (1, 2, 7, 300), (1, 2, 5)
    ):
        bound = thresholded_keys(Fraction(d), scale=scale, threshold=threshold)
        assert bound.epsilon == d / scale
        one, all_of_them = laplace_tail(threshold - 1, scale), laplace_tail(threshold - d, scale)
        exact = max(1 - (1 - one) ** d if d > 1 else one, all_of_them)
        assert real(bound.delta) >= exact * (1 - real(Fraction(1, 10**40)))
        assert bound.delta <= 1
        assert close(bound.delta, exact, Fraction(1, 2**60))
    assert thresholded_keys(Fraction(0), scale=Fraction(1), threshold=1) == vm.approx(0, 0)
    assert thresholded_keys(INFINITY, scale=Fraction(1), threshold=10**6) == vm.approx(INFINITY, 1)


def test_thresholded_keys_ensures_a_tight_delta_at_the_smallest_threshold_too() -> None:
    # Once: for t <= d the chance is taken to be 1, and not P(Z >= t - d) as the theorem says (loose, not wrong)
    scale = Fraction(1)
    bound = vm.thresholded_counts(WORDS, scale=scale, threshold=1).map(1)
    true = true_delta((1,), (0,), scale, 1, bound.epsilon)
    assert close(true, laplace_tail(0, scale))
    assert a_little_above(true, bound.delta)


@pytest.mark.parametrize("d", [10**6, 10**9, 2**62])
def test_thresholded_keys_ensures_a_loss_for_every_distance(d: int) -> None:
    # Once: exp((d - 1)/s) is too large for dyadic numbers, and the map raises NumberError
    made = vm.thresholded_counts(WORDS, scale=1, threshold=30)
    assert made.map(d).epsilon == d and made.map(d).delta > 1 - Fraction(1, 10**9)
    wide = thresholded_keys(Fraction(d), scale=Fraction(1), threshold=2**61)
    assert wide.epsilon == d
    assert 0 < wide.delta <= 1
    # One key of d rows is shown with probability P(Z >= 1).
    assert close(thresholded_keys(Fraction(d), scale=Fraction(1), threshold=d + 1).delta, laplace_tail(1, Fraction(1)))


def test_thresholded_keys_ensures_the_bound_for_units_of_one_row() -> None:
    for scale, threshold, d in itertools.product((Fraction(1), Fraction(4)), (5, 40), (1, 2, 3, 20)):
        unit = thresholded_keys_of_units(Fraction(d), scale=scale, threshold=threshold, total=1, each=1, replaced=False)
        assert thresholded_keys(Fraction(d), scale=scale, threshold=threshold) == unit


def test_thresholded_keys_requires_that_a_row_has_one_key() -> None:
    for space in (
        vm.Space(vm.tables({"a": str}), vm.SymmetricDistance()),
        vm.Space(vm.scalars(str), vm.DiscreteDistance()),
        vm.Space(vm.tables({"user": str, "word": str}), vm.SymmetricIdDistance("user")),
    ):
        with pytest.raises(ParameterError, match="takes vectors"):
            vm.thresholded_counts(space, scale=1, threshold=5)
    for metric in (vm.ChangeOneDistance(), vm.HammingDistance(), vm.DiscreteDistance()):
        with pytest.raises(NoTheorem, match="adds or removes a row"):
            vm.thresholded_counts(vm.Space(vm.vectors(str), metric), scale=1, threshold=5)
    for nan in (False, True):
        # Floats that are NaN are not equal to themselves: no key, or many.
        with pytest.raises(ParameterError, match="not vectors"):
            vm.thresholded_counts(vm.Space(vm.vectors(float, nan=nan), vm.SymmetricDistance()), scale=1, threshold=5)
    # A row that counts in two keys costs as two.
    scale, threshold = Fraction(1), 3
    bound = thresholded_keys(Fraction(1), scale=scale, threshold=threshold)
    assert true_delta((1, 1), (0, 0), scale, threshold, bound.epsilon) > real(bound.delta)


def test_thresholded_keys_requires_noise_that_is_drawn_exactly_and_for_each_key_on_its_own(script: Script) -> None:
    made = vm.thresholded_counts(WORDS, scale="5/2", threshold=2)
    script.tell(0, 1, -1)
    assert made(["b", "a", "c", "b", "a"]) == {"a": 2, "b": 3}
    assert script.asked == [(3, Fraction(5, 2))]
    # One noise for all keys would let two rows of two keys through together.
    scale, threshold = Fraction(1), 4
    bound = thresholded_keys(Fraction(2), scale=scale, threshold=threshold)
    shared: Law = {z: laplace_pmf(z, scale) for z in range(-60, 61)}
    mine = {(1 + z, 1 + z) if 1 + z >= threshold else None: real(0) for z in shared}
    for z, chance in shared.items():
        assert isinstance(z, int)
        mine[(1 + z, 1 + z) if 1 + z >= threshold else None] += chance
    assert (5, 5) in mine and (5, 4) not in mine
    assert bound.delta > 0


def test_thresholded_keys_requires_that_keys_that_do_not_occur_are_never_shown(script: Script) -> None:
    made = vm.thresholded_counts(WORDS, scale=1, threshold=1)
    for told in (1, LARGEST):
        script.tell(told)
        assert list(made(["a"])) == ["a"]
    assert made([]) == {}
    assert script.asked[-1][0] in (0, 1)


# --- what is released ------------------------------------------------------------------------------------------------


def test_what_is_shown_is_every_count_with_its_noise_from_the_threshold_on(script: Script) -> None:
    for threshold in (1, 2, 4):
        made = vm.thresholded_counts(WORDS, scale=1, threshold=threshold)
        for counts in itertools.product(range(4), repeat=2):
            present = [key for key, count in zip(KEYS, counts, strict=False) if count]
            for noise in itertools.product(range(-2, 4), repeat=len(present)):
                script.tell(*noise)
                told = dict(zip(present, noise, strict=True))
                expected = {key: Counter(rows(counts))[key] + told[key] for key in present}
                assert made(rows(counts)) == {key: n for key, n in expected.items() if n >= threshold}


def test_noise_at_the_ends_of_64_bits_does_not_wrap(script: Script) -> None:
    made = vm.thresholded_counts(WORDS, scale=2**52, threshold=2**62 - 1)
    script.tell(LARGEST, -LARGEST)
    shown = made(["a", "a", "b"])
    # What is shown stops there, whatever was added beyond: it is a function of the true sum.
    assert shown == {"a": EDGE}
    script.tell(EDGE, EDGE - 2)
    assert made(["a", "a", "b"]) == {"a": EDGE}


def test_neither_what_is_shown_nor_its_order_depends_on_the_order_of_rows(script: Script) -> None:
    for metric in (vm.SymmetricDistance(), vm.InsertDeleteDistance()):
        made = vm.thresholded_counts(vm.Space(vm.vectors(str), metric), scale=1, threshold=1)
        found = []
        for order in itertools.permutations(["b", "a", "c", "a"]):
            script.tell(5, 6, 7)
            found.append(list(made(list(order)).items()))
        assert {tuple(shown) for shown in found} == {(("a", 7), ("b", 7), ("c", 8))}
    whole = vm.thresholded_counts(vm.Space(vm.vectors(int), vm.SymmetricDistance()), scale=1, threshold=1)
    for numbers in itertools.permutations([-(2**63), 2**63 - 1, 0]):
        script.tell(1, 2, 3)
        assert list(whole(list(numbers)).items()) == [(-(2**63), 2), (0, 3), (2**63 - 1, 4)]


def test_keys_and_counts_are_plain_values() -> None:
    for domain, data in (
        (vm.vectors(str), ["x"] * 100),
        (vm.vectors(int), [7] * 100),
        (vm.vectors(vm.categories(["x", "y"])), ["x"] * 100),
        (vm.vectors(vm.categories([3, 4])), [3] * 100),
        (vm.vectors(str, size=100), ["x"] * 100),
    ):
        made = vm.thresholded_counts(vm.Space(domain, vm.SymmetricDistance()), scale="1/10", threshold=5)
        ((key, count),) = made(data).items()
        assert key == data[0] and type(key) is type(data[0])
        assert type(count) is int


def test_thresholds_that_are_none_are_refused() -> None:
    for threshold in (0, -1, 2**62, 2**70, 1.5, "5", True, None, Fraction(3)):
        with pytest.raises(NumberError, match="not a whole number"):
            loose.thresholded_counts(WORDS, scale=1, threshold=threshold)
    for scale in (0, -1, 0.5, "1e300", None):
        with pytest.raises(NumberError):
            loose.thresholded_counts(WORDS, scale=scale, threshold=5)
    assert vm.thresholded_counts(WORDS, scale=2**52, threshold=2**62 - 1).map(1).delta > 0
    with pytest.raises(NumberError, match="whole"):
        vm.thresholded_counts(WORDS, scale=1, threshold=5).map("3/2")


def test_keys_outside_of_the_domain_are_refused_without_being_shown() -> None:
    canary = "canary-4711"
    made = vm.thresholded_counts(
        vm.Space(vm.vectors(vm.categories(["a", "b"])), vm.SymmetricDistance()), scale=1, threshold=5
    )
    with pytest.raises(NotInDomain) as caught:
        made(["a", canary])
    assert canary not in str(caught.value)
    # In the domain of strings it is a key like others, and rare.
    assert canary not in str(vm.thresholded_counts(WORDS, scale="1/10", threshold=50)([canary] + ["a"] * 100))


def test_the_explanation_names_the_theorem() -> None:
    made = vm.thresholded_counts(WORDS, scale=1, threshold=30)
    assert slugs(made) == ["thresholded-keys"]
    assert made.measure == vm.ApproxDP


# --- least_threshold -------------------------------------------------------------------------------------------------


@for_each("scale", ["1/10", "1/2", 1, "7/3", 10, 1000, 10**6, 2**52])
def test_the_least_threshold_is_the_least(scale: Any) -> None:
    for delta in ("1/2", "1/3", "1e-3", "1e-6", "1e-9", "1e-12", "1e-30", "1e-300", "0.999"):
        found = vm.least_threshold(scale=scale, delta=delta)
        assert isinstance(found, int)
        exact, target = Fraction(scale), real(Fraction(delta))
        assert laplace_tail(found - 1, exact) <= target
        if found > 2:
            assert laplace_tail(found - 2, exact) > target
        assert thresholded_keys(Fraction(1), scale=exact, threshold=found).delta <= Fraction(delta)
        if found > 1:
            assert thresholded_keys(Fraction(1), scale=exact, threshold=found - 1).delta > Fraction(delta)


def test_the_least_threshold_may_be_1() -> None:
    # Once: P(Z >= 0) = 1/(1 + exp(-1/s)) is below 0.9, and is taken to be 1 (see above)
    assert laplace_tail(0, Fraction(1)) < real("9/10")
    assert vm.least_threshold(scale=1, delta="9/10") == 1


def test_deltas_and_scales_that_are_none_are_refused() -> None:
    for delta in (0, 1, -1, "3/2", 0.5, "inf", None):
        with pytest.raises(NumberError):
            loose.least_threshold(scale=1, delta=delta)
    for scale in (0, -1, 0.5, 2**53):
        with pytest.raises(NumberError):
            loose.least_threshold(scale=scale, delta="1e-6")
