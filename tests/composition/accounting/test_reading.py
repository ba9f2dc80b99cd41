"""Reading changes nothing: an answer is a function of what was counted and of the question."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each
from tests.threads import in_threads

import viameter as vm
from viameter.composition.accounting import (
    Accountant,
    approximate,
    bounded_range,
    continuous_gaussian,
    discrete_gaussian,
    discrete_laplace,
    poisson_subsampled,
    pure,
    renyi,
    zcdp,
)
from viameter.composition.accounting.descriptions import Approximate
from viameter.composition.accounting.pairs import discrete_gaussian_pair, pure_pair
from viameter.composition.accounting.tight import TightAccount

MECHANISMS: list[Any] = [
    pure("0.05"),
    pure("0.31"),
    approximate("0.1", "1e-9"),
    discrete_laplace(10, 7),
    discrete_gaussian(5),
    bounded_range("0.2"),
    zcdp("0.01"),
    renyi(vm.renyi({2: "0.01", 8: "0.04"})),
    poisson_subsampled(discrete_gaussian(1), "0.01"),
    continuous_gaussian(10),
]
ADDITIONS = st.tuples(st.sampled_from(MECHANISMS), st.sampled_from([1, 3, 40, 1000]))
READS = st.one_of(
    st.tuples(st.just("epsilon"), st.sampled_from(["1e-2", "1e-6", "1e-7", "1e-30", "1e-200", "0.9"])),
    st.tuples(st.just("delta"), st.sampled_from(["0", "0.3", "2", "9", "100", "1e6"])),
    st.tuples(st.just("report"), st.sampled_from(["1e-3", "1e-6"])),
)


def read(accountant: Accountant, question: tuple[str, str]) -> Any:
    name, number = question
    if name == "delta":
        return accountant.delta(epsilon=number)
    return getattr(accountant, name)(delta=number)


def fresh(additions: list[Any]) -> Accountant:
    accountant = Accountant(idealized=True)
    for mechanism, count in additions:
        accountant.add(mechanism, count)
    return accountant


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.one_of(ADDITIONS, READS), min_size=2, max_size=9))
def test_any_reads_between_any_additions_equal_fresh_reads(steps: list[Any]) -> None:
    accountant, additions = Accountant(idealized=True), []
    for step in steps:
        if isinstance(step[1], int):
            accountant.add(*step)
            additions.append(step)
        else:
            found = read(accountant, step)
            assert found == read(fresh(additions), step)
            assert found == read(accountant.copy(), step)


def test_an_epsilon_does_not_depend_on_what_was_read_before() -> None:
    accountant = fresh([(poisson_subsampled(discrete_gaussian(1), "0.01"), 10_000)])
    before = accountant.epsilon(delta="1e-6")
    assert round(float(before), 3) == 6.907
    for question in (("delta", "100"), ("delta", "0"), ("epsilon", "1e-200"), ("epsilon", "0.9")):
        read(accountant, question)
        assert accountant.epsilon(delta="1e-6") == before


@for_each("mechanism", MECHANISMS)
def test_an_epsilon_has_a_delta_that_is_not_above_the_one_asked_for(mechanism: Any) -> None:
    accountant = fresh([(mechanism, 3000)])
    for delta in ("1e-3", "1e-6"):
        epsilon = accountant.epsilon(delta=delta)
        if isinstance(mechanism, Approximate) and 3000 * mechanism.delta > Fraction(delta):
            continue
        assert accountant.delta(epsilon=Fraction(epsilon)) <= Fraction(delta) * (1 + Fraction(1, 10**9))


def test_products_are_read_alike_whatever_was_read_before() -> None:
    def make() -> TightAccount:
        account = TightAccount()
        account.add(pure_pair(Fraction(1, 20)), 500)
        account.add(discrete_gaussian_pair(1, scale=Fraction(9)), 50)
        return account

    questions: list[Callable[[TightAccount], Any]] = [
        lambda account: account.epsilon(Fraction(1, 10**6)),
        lambda account: account.delta(Fraction(100)),
        lambda account: account.delta(Fraction(1)),
        lambda account: account.epsilon(Fraction(1, 10**90)),
    ]
    truths = [question(make()) for question in questions]
    shared = make()
    for place in (1, 0, 3, 2, 0, 1, 2, 3):
        assert questions[place](shared) == truths[place]
    shared.add(pure_pair(Fraction(1, 3)), 2)
    grown = make()
    grown.add(pure_pair(Fraction(1, 3)), 2)
    assert [question(shared) for question in questions] == [question(grown) for question in questions]
    assert questions[0](shared) > truths[0]
    # So little more that the line stays the same.
    for account in (shared, grown):
        account.add(pure_pair(Fraction(1, 10**4)), 1)
    fresh_account = make()
    fresh_account.add(pure_pair(Fraction(1, 3)), 2)
    fresh_account.add(pure_pair(Fraction(1, 10**4)), 1)
    assert [question(shared) for question in questions] == [question(fresh_account) for question in questions]


def test_threads_read_what_fresh_accountants_read() -> None:
    additions = [(pure("0.05"), 300), (discrete_gaussian(5), 20), (zcdp("0.01"), 3)]
    questions = [("epsilon", "1e-6"), ("delta", "100"), ("epsilon", "1e-30"), ("delta", "3")]
    truths = {question: read(fresh(additions), question) for question in questions}
    shared = fresh(additions)

    def reader(shift: int) -> Callable[[], None]:
        def task() -> None:
            for place in range(8):
                question = questions[(place * (shift + 1) + shift) % 4]
                assert read(shared, question) == truths[question]

        return task

    in_threads(*(reader(shift) for shift in range(4)))
