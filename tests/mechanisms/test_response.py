"""Randomized response: the law of the implementation, draw by draw, and its loss."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.mechanisms.oracles import INFINITY, Law, a_little_above, at_most, loose, pure_loss, real, slugs

import viameter as vm
from viameter.errors import NotExact, NoTheorem, NotInDomain, NumberError, ParameterError
from viameter.mechanisms import response
from viameter.mechanisms.response import randomized_response_loss

HALF = Fraction(1, 2)


def answers_of(k: int) -> list[str]:
    # Not in alphabetical order: the order of answers is that in which they were given.
    return ["c", "a", "e", "b", "d"][:k]


def one_answer(k: int) -> vm.Space:
    return vm.Space(vm.categories(answers_of(k)), vm.DiscreteDistance())


def many_answers(k: int, size: int | None = None) -> vm.Space:
    return vm.Space(vm.vectors(vm.categories(answers_of(k)), size=size), vm.HammingDistance())


class Draws:
    """All ways that the two draws can go, with their chances."""

    def __init__(self) -> None:
        self.way: list[int] = []
        self.place = 0
        self.options: list[int] = []
        self.chance = Fraction(1)

    def bernoulli(self, n: int | None = None, probability: Any = None, **others: Any) -> Any:
        assert not others
        if n is None:
            return bool(self._choose([1 - probability, probability]))
        return np.array([bool(self._choose([1 - probability, probability])) for _ in range(n)], dtype=bool)

    def uniform_below(self, bound: int) -> int:
        return self._choose([Fraction(1, bound)] * bound)

    def _choose(self, chances: list[Fraction]) -> int:
        if self.place == len(self.way):
            self.way.append(0)
            self.options.append(len(chances))
        chosen = self.way[self.place]
        self.place += 1
        self.chance *= chances[chosen]
        return chosen

    def runs(self) -> Iterator[None]:
        """One run for each way; what follows a choice may depend on it."""
        self.way, self.options = [], []
        while True:
            self.place, self.chance = 0, Fraction(1)
            yield
            assert self.place == len(self.way)
            while self.way and self.way[-1] + 1 == self.options[-1]:
                self.way.pop()
                self.options.pop()
            if not self.way:
                return
            self.way[-1] += 1


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> Draws:
    told = Draws()
    monkeypatch.setattr(response, "bernoulli", told.bernoulli)
    monkeypatch.setattr(response, "uniform_below", told.uniform_below)
    return told


def law_of(made: vm.Measurement, data: Any, draws: Draws) -> dict[Any, Fraction]:
    """The exact law of the implementation."""
    law: dict[Any, Fraction] = {}
    for _ in draws.runs():
        released = made(data)
        outcome = tuple(released.tolist()) if isinstance(data, list) else released
        law[outcome] = law.get(outcome, Fraction(0)) + draws.chance
    assert sum(law.values()) == 1
    return law


def reals_of(law: dict[Any, Fraction]) -> Law:
    return {outcome: real(chance) for outcome, chance in law.items()}


def probabilities(k: int) -> list[Fraction]:
    return [Fraction(0), Fraction(1, 100), Fraction(1, k), Fraction(2, 3), Fraction(99, 100), Fraction(1)]


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_randomized_response_ensures_its_loss_exactly_for_one_answer(k: int, draws: Draws) -> None:
    for chance in probabilities(k):
        made = vm.randomized_response(one_answer(k), probability=chance)
        laws = {answer: law_of(made, answer, draws) for answer in answers_of(k)}
        for truth, law in laws.items():
            for told in answers_of(k):
                assert law.get(told, 0) == (chance if told == truth else (1 - chance) / (k - 1))
        bound = made.map(1).epsilon
        true = max(
            pure_loss(reals_of(laws[left]), reals_of(laws[right])) for left, right in itertools.product(laws, repeat=2)
        )
        if chance in (0, 1):
            assert bound == INFINITY and gmpy2.is_infinite(true)
        elif chance == Fraction(1, k):
            assert bound == 0
            assert true == 0
        else:
            assert a_little_above(true, bound)
        assert made.map(0) == vm.pure(0)
        assert made.map(2) == vm.pure(2 * bound)


@pytest.mark.parametrize(("k", "size"), [(2, 1), (2, 2), (2, 3), (3, 2)])
def test_randomized_response_ensures_its_loss_exactly_for_vectors(k: int, size: int, draws: Draws) -> None:
    for chance in (Fraction(3, 4), Fraction(1, 5), Fraction(1, k), Fraction(0), Fraction(1)):
        made = vm.randomized_response(many_answers(k, size), probability=chance)
        vectors = list(itertools.product(answers_of(k), repeat=size))
        laws = {truth: law_of(made, list(truth), draws) for truth in vectors}
        other = (1 - chance) / (k - 1)
        for truth, law in laws.items():
            for told in vectors:
                expected = Fraction(1)
                for mine, theirs in zip(truth, told, strict=True):
                    expected *= chance if mine == theirs else other
                assert law.get(told, 0) == expected
        worst: dict[int, Any] = {}
        for left, right in itertools.product(vectors, repeat=2):
            d = sum(a != b for a, b in zip(left, right, strict=True))
            true = pure_loss(reals_of(laws[left]), reals_of(laws[right]))
            assert at_most(true, made.map(d).epsilon)
            worst[d] = max(worst.get(d, real(0)), true)
        for d, true in worst.items():
            bound = made.map(d).epsilon
            assert gmpy2.is_infinite(true) if bound == INFINITY else a_little_above(true, bound) or true == bound == 0


def test_randomized_response_ensures_the_logarithm_rounded_up() -> None:
    for k, chance in itertools.product((2, 3, 7), (Fraction(1, 10), HALF, Fraction(9, 10), Fraction(10**9 - 1, 10**9))):
        odds = chance * (k - 1) / (1 - chance)
        bound = randomized_response_loss(Fraction(1), probability=chance, answers=k).epsilon
        true = abs(gmpy2.log(real(odds)))
        assert (bound == 0) if odds == 1 else a_little_above(true, bound)
        # ... and never below: compared in integers.
        assert real(bound) >= true


def test_randomized_response_ensures_no_guarantee_at_an_infinite_distance() -> None:
    for chance in (Fraction(3, 4), HALF, Fraction(1)):
        made = vm.randomized_response(many_answers(2), probability=chance)
        # Vectors of different size are infinitely far apart, and what is released has the size of the data.
        assert made.input_space.distance(["a"], ["a", "a"]) == INFINITY
        assert [len(made(["a"] * size)) for size in (0, 1, 2)] == [0, 1, 2]
        # Once: pure(0) for p = 1/k, although the size of the release tells the two apart for sure
        assert made.map(INFINITY) == vm.pure(INFINITY)


def test_randomized_response_requires_one_of_two_or_more_public_answers() -> None:
    for domain, metric in (
        (vm.categories(["a"]), vm.DiscreteDistance()),
        (vm.scalars(str), vm.DiscreteDistance()),
        (vm.scalars(int), vm.DiscreteDistance()),
        (vm.finite(["a", "b"]), vm.DiscreteDistance()),
        (vm.vectors(str), vm.HammingDistance()),
        (vm.vectors(vm.categories(["a"])), vm.HammingDistance()),
        (vm.tables({"a": vm.categories(["a", "b"])}), vm.HammingDistance()),
    ):
        with pytest.raises(ParameterError, match="categories"):
            vm.randomized_response(vm.Space(domain, metric), probability=HALF)


def test_randomized_response_requires_a_rational_probability_that_is_drawn_exactly(draws: Draws) -> None:
    chance: Any
    for chance in (-1, "-1/10", "11/10", 2):
        with pytest.raises(ParameterError, match="not between 0 and 1"):
            vm.randomized_response(one_answer(2), probability=chance)
    for chance in (0.5, 0.75):
        with pytest.raises(NotExact):
            loose.randomized_response(one_answer(2), probability=chance)
    for chance in ("nan", "inf", None, True, "half"):
        with pytest.raises(NumberError):
            loose.randomized_response(one_answer(2), probability=chance)
    # No float is near enough: a third as a float would be another law, and another loss.
    law = law_of(vm.randomized_response(one_answer(2), probability="1/3"), "a", draws)
    assert law == {"a": Fraction(1, 3), "c": Fraction(2, 3)}
    assert Fraction(1 / 3) != Fraction(1, 3)


def test_randomized_response_requires_that_answers_change_in_their_place() -> None:
    domain = vm.vectors(vm.categories(["a", "b"]))
    for metric in (vm.SymmetricDistance(), vm.InsertDeleteDistance(), vm.ChangeOneDistance(), vm.DiscreteDistance()):
        with pytest.raises(NoTheorem, match="HammingDistance"):
            vm.randomized_response(vm.Space(domain, metric), probability="3/4")
    # Where the order is ignored, a permutation would be at distance 0, and costs as much as two answers.
    left, right = ["a", "b"], ["b", "a"]
    assert vm.Space(domain, vm.ChangeOneDistance()).distance(left, right) == 0
    assert vm.Space(domain, vm.HammingDistance()).distance(left, right) == 2


def test_integers_are_answers_too(draws: Draws) -> None:
    space = vm.Space(vm.vectors(vm.categories([7, -3, 2**63 - 1])), vm.HammingDistance())
    made = vm.randomized_response(space, probability="1/2")
    assert law_of(made, [7, -3], draws)[-3, -3] == HALF * Fraction(1, 4)


def test_integers_come_out_as_integers() -> None:
    space = vm.Space(vm.vectors(vm.categories([7, -3, 2**63 - 1])), vm.HammingDistance())
    told = vm.randomized_response(space, probability="1/2")([7, 7])
    assert told.dtype == np.int64 and set(told.tolist()) <= {7, -3, 2**63 - 1}
    one = vm.randomized_response(vm.Space(vm.categories([7, -3]), vm.DiscreteDistance()), probability=0)
    assert one(7) == -3 and type(one(7)) is int


def test_data_are_not_changed_and_strings_of_any_length_fit() -> None:
    long = "a very long answer, longer than the others"
    space = vm.Space(vm.vectors(vm.categories(["x", long])), vm.HammingDistance())
    given = ["x", "x", long]
    flipped = vm.randomized_response(space, probability=0)(given)
    assert flipped.tolist() == [long, long, "x"]
    assert vm.randomized_response(space, probability=1)(given).tolist() == given == ["x", "x", long]
    assert vm.randomized_response(space, probability=1)([]).tolist() == []
    array = np.array(given)
    vm.randomized_response(space, probability=0)(array)
    assert array.tolist() == given


def test_answers_that_are_none_of_the_public_ones_are_refused_without_being_shown() -> None:
    canary = "canary-4711"
    for space, data in ((one_answer(3), canary), (many_answers(3), ["a", canary]), (many_answers(3, 2), ["a"])):
        with pytest.raises(NotInDomain) as caught:
            vm.randomized_response(space, probability=HALF)(data)
        assert canary not in str(caught.value)


def test_the_explanation_names_the_theorem() -> None:
    assert slugs(vm.randomized_response(one_answer(3), probability="3/4")) == ["randomized-response"]
    assert slugs(vm.randomized_response(many_answers(3), probability="3/4")) == ["randomized-response"]
