"""least_delta: against the definition as a linear program, against all events, and its corners."""

from fractions import Fraction
from operator import eq, le
from random import Random
from typing import Any

import pytest
from tests.logic.couplings.instances import (
    all_have_partners,
    always,
    distribution,
    instances,
    near,
    never,
    power_of_e,
    program_delta,
    strassen_delta,
)

from viameter.errors import NoTheorem
from viameter.logic.couplings import STAR, check_coupling, least_delta

FACTORS = [Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(3), Fraction(50)]


def test_the_star_lifting_has_the_delta_of_strassens_condition() -> None:
    for mu1, mu2, holds, random in instances(1, 250):
        factor = random.choice(FACTORS)
        coupling = least_delta(mu1, mu2, relation=holds, factor=factor, star=True)
        assert coupling.delta == strassen_delta(mu1, mu2, holds, factor)
        assert coupling.exact
        assert coupling.factor == factor


def test_without_the_star_the_delta_is_the_same_where_all_have_partners_and_else_there_is_no_coupling() -> None:
    kinds = set()
    for mu1, mu2, holds, random in instances(2, 250):
        factor = random.choice(FACTORS)
        exists = all_have_partners(mu1, mu2, holds)
        kinds.add(exists)
        if exists:
            assert least_delta(mu1, mu2, relation=holds, factor=factor).delta == strassen_delta(mu1, mu2, holds, factor)
        else:
            with pytest.raises(NoTheorem, match="no partner"):
                least_delta(mu1, mu2, relation=holds, factor=factor)
    assert kinds == {True, False}


@pytest.mark.parametrize("star", [False, True])
def test_the_delta_is_what_a_linear_program_finds_for_the_definition(star: bool) -> None:
    infeasible = 0
    for mu1, mu2, holds, random in instances(3, 120, most=4):
        factor = random.choice(FACTORS)
        expected = program_delta(mu1, mu2, holds, float(factor), star=star)
        if expected == float("inf"):
            infeasible += 1
            with pytest.raises(NoTheorem):
                least_delta(mu1, mu2, relation=holds, factor=factor, star=star)
        else:
            found = least_delta(mu1, mu2, relation=holds, factor=factor, star=star).delta
            assert float(found) == pytest.approx(expected, abs=1e-7)
    assert (infeasible > 10) != star


def test_with_equality_it_is_the_sum_of_the_positive_parts() -> None:
    random = Random(4)
    for _ in range(50):
        mu1, mu2 = distribution(random, 6), distribution(random, 6)
        factor = random.choice(FACTORS)
        expected = sum(max(Fraction(0), mu1[a] - factor * mu2[a]) for a in mu1)
        coupling = least_delta(mu1, mu2, relation=eq, factor=factor)
        assert coupling.delta == expected
        assert coupling.left == {(a, a): p for a, p in mu1.items() if p}
        assert coupling.right == {(a, a): p for a, p in mu2.items() if p}


def test_at_epsilon_0_with_equality_it_is_the_total_variation() -> None:
    random = Random(5)
    for _ in range(30):
        mu1, mu2 = distribution(random, 5), distribution(random, 5)
        coupling = least_delta(mu1, mu2, relation=eq, epsilon=0)
        assert coupling.delta == sum(abs(mu1[a] - mu2[a]) for a in mu1) / 2
        assert coupling.exact
        assert coupling.factor == 1


def test_for_an_epsilon_the_delta_is_never_below_the_true_one_and_hardly_above() -> None:
    seen = set()
    for mu1, mu2, holds, random in instances(6, 150):
        epsilon = Fraction(random.randint(1, 150), 100)
        below, above = power_of_e(epsilon)
        least, most = (strassen_delta(mu1, mu2, holds, factor) for factor in (above, below))
        coupling = least_delta(mu1, mu2, relation=holds, epsilon=epsilon, star=True)
        assert coupling.epsilon == epsilon
        assert coupling.factor <= above
        assert least <= coupling.delta < most + Fraction(1, 2**120)
        # An irrational delta is not exact, and a rational one is known to be.
        assert coupling.exact == (coupling.delta == most == least)
        # Strictly: what is rounded is rounded up, away from the true delta.
        assert coupling.exact or coupling.delta > most
        seen.add(coupling.exact)
    assert seen == {True, False}


def test_an_epsilon_hardly_above_the_logarithm_of_the_least_factor_gives_delta_0_exactly() -> None:
    # ln 1.25 to 50 places, rounded up and down: e**epsilon is nearer to 1.25 than what 128 bits tell apart.
    above, below = (f"0.2231435513142097557662950903098345033746010855480{end}" for end in ("1", "0"))
    assert power_of_e(Fraction(below))[1] < Fraction(5, 4) < power_of_e(Fraction(above))[0]
    mu1, mu2 = {0: "1/4", 1: "3/4"}, {0: "1/5", 1: "4/5"}
    enough = least_delta(mu1, mu2, relation=eq, epsilon=above)
    assert enough.delta == 0
    assert enough.exact
    short = least_delta(mu1, mu2, relation=eq, epsilon=below)
    assert 0 < short.delta < Fraction(1, 10**37)
    assert not short.exact


def test_an_epsilon_may_be_huge() -> None:
    coupling = least_delta({0: "1/2", 1: "1/2"}, {0: 1, 1: 0}, relation=eq, epsilon=10**9)
    assert coupling.delta == Fraction(1, 2)
    assert coupling.exact


def test_the_delta_falls_with_the_factor_and_with_the_relation() -> None:
    for mu1, mu2, holds, random in instances(7, 60):
        smaller, larger = sorted(random.sample(FACTORS, 2))
        at = [least_delta(mu1, mu2, relation=holds, factor=f, star=True).delta for f in (smaller, larger)]
        assert at[0] >= at[1]
        pairs = {(a, b) for a in mu1 for b in mu2 if holds(a, b)}
        fewer = {pair for pair in pairs if random.random() < 0.7}
        assert least_delta(mu1, mu2, relation=fewer, factor=smaller, star=True).delta >= at[0]


def test_every_result_passes_the_check_and_carries_the_event_that_shows_that_no_less_will_do() -> None:
    for mu1, mu2, holds, random in instances(8, 100):
        star = not all_have_partners(mu1, mu2, holds)
        coupling = least_delta(mu1, mu2, relation=holds, factor=random.choice(FACTORS), star=star)
        found = coupling.delta
        assert coupling.check() == []
        given: Any = {"relation": holds, "factor": coupling.factor, "star": star}
        assert check_coupling(mu1, mu2, coupling.left, coupling.right, delta=found, **given) == []
        assert coupling.event is not None
        image = sum((p for b, p in mu2.items() if any(holds(a, b) for a in coupling.event)), Fraction(0))
        assert sum(mu1[a] for a in coupling.event) - coupling.factor * image == found


def test_the_star_is_used_for_values_without_partner_alone() -> None:
    mu1, mu2 = {0: "1/2", 1: "1/2"}, {0: "1/4", 2: "3/4"}
    coupling = least_delta(mu1, mu2, relation=eq, factor=2, star=True)
    assert coupling.left == {(0, 0): Fraction(1, 2), (1, STAR): Fraction(1, 2)}
    assert coupling.right == {(0, 0): Fraction(1, 4), (STAR, 2): Fraction(3, 4)}
    assert coupling.delta == Fraction(1, 2)
    assert least_delta({0: 1}, {0: 1}, relation=eq, factor=1, star=True).left == {(0, 0): 1}


def test_what_is_left_goes_where_most_is_sent_so_that_tables_stay_small() -> None:
    mu1, mu2 = {0: 1}, {0: "1/8", 1: "1/4", 2: "5/8"}
    coupling = least_delta(mu1, mu2, relation={(0, 0), (0, 1)}, factor=2, star=True)
    # 1/4 and 1/2 are sent, and 1/4 is left.
    assert coupling.left == {(0, 0): Fraction(1, 4), (0, 1): Fraction(3, 4)}
    assert least_delta({0: "1/2", 1: "1/2"}, mu2, relation=le, factor="8/5").right.keys() == {
        (0, 0),
        (0, 1),
        (1, 1),
        (1, 2),
    }


def test_a_partner_of_probability_0_makes_a_coupling_exist_and_takes_nothing_off_delta() -> None:
    with pytest.raises(NoTheorem, match="1 has probability 1/2 in mu1 and no partner; star=True"):
        least_delta({0: "1/2", 1: "1/2"}, {0: 1}, relation=eq, factor=4)
    assert least_delta({0: "1/2", 1: "1/2"}, {0: 1, 1: 0}, relation=eq, factor=4).delta == Fraction(1, 2)
    with pytest.raises(NoTheorem, match="1 has probability 1/2 in mu2 and no partner"):
        least_delta({0: 1}, {0: "1/2", 1: "1/2"}, relation=eq, factor=4)
    assert least_delta({0: 1, 1: 0}, {0: "1/2", 1: "1/2"}, relation=eq, factor=4).delta == 0


def test_values_of_probability_0_need_no_partner() -> None:
    assert least_delta({0: 1, 5: 0}, {0: 1, 7: 0}, relation=eq, factor=1).delta == 0


def test_single_values_and_the_two_trivial_relations() -> None:
    assert least_delta({"a": 1}, {"b": 1}, relation=always, epsilon=0).delta == 0
    assert least_delta({"a": 1}, {"b": 1}, relation=never, epsilon=9, star=True).delta == 1
    with pytest.raises(NoTheorem, match="'a' has probability 1 in mu1 and no partner, 'b' has probability 1 in mu2"):
        least_delta({"a": 1}, {"b": 1}, relation=set(), epsilon=9)


def test_a_relation_may_be_a_set_of_pairs() -> None:
    mu1, mu2 = {0: "1/3", 1: "1/3", 2: "1/3"}, {0: "1/6", 1: "1/3", 2: "1/2"}
    pairs = {(a, b) for a in mu1 for b in mu2 if a <= b}
    by_function = least_delta(mu1, mu2, relation=le, factor="9/8")
    assert by_function == least_delta(mu1, mu2, relation=pairs, factor="9/8")
    assert by_function.relation == pairs


def test_long_chains_are_solved_without_recursion() -> None:
    size = 400
    mu1 = {a: Fraction(2 * (size - a), size * (size + 1)) for a in range(size)}
    mu2 = {b: Fraction(2 * (b + 1), size * (size + 1)) for b in range(size)}
    pairs = {(a, b) for a in range(size) for b in range(max(0, a - 1), min(size, a + 2)) if near(a, b)}
    coupling = least_delta(mu1, mu2, relation=pairs, factor=1)
    # The events {0, ..., k - 1} are the worst ones, with the partners {0, ..., k}.
    ahead = (sum(mu1[a] for a in range(k)) - sum(mu2[b] for b in range(k + 1)) for k in range(1, size))
    assert coupling.delta == max(ahead)
