"""check_coupling: every kind of fault with its place, and agreement with the definition written out."""

from fractions import Fraction
from itertools import chain, combinations
from operator import eq, le
from random import Random
from typing import Any

import pytest
from tests.logic.couplings.instances import Holds, Mu, all_have_partners, distribution, instances, near, power_of_e

from viameter.errors import NumberError, ParameterError
from viameter.logic.couplings import STAR, check_coupling, least_delta

FAIR: Any = {"h": "1/2", "t": "1/2"}
BIASED: Any = {"h": "1/4", "t": "3/4"}
LEFT: Any = {("h", "h"): "1/2", ("t", "t"): "1/2"}
RIGHT: Any = {("h", "h"): "1/4", ("t", "t"): "3/4"}
SAME: Any = {("h", "h"), ("t", "t")}


def faults(left: Any = LEFT, right: Any = RIGHT, **changed: Any) -> list[tuple[str, Any]]:
    given = {"relation": SAME, "factor": 2, "delta": 0} | changed
    if "epsilon" in given:
        del given["factor"]
    return [(fault.kind, fault.place) for fault in check_coupling(FAIR, BIASED, left, right, **given)]


def is_coupling(mu1: Mu, mu2: Mu, left: Mu, right: Mu, holds: Holds, factor: Fraction, delta: Fraction) -> bool:
    """The definition, event by event."""
    one = all(sum(p for (x, _), p in left.items() if x == a) == mu1[a] for a in mu1)
    other = all(sum(p for (_, y), p in right.items() if y == b) == mu2[b] for b in mu2)
    inside = all(holds(*pair) for joint in (left, right) for pair, p in joint.items() if p > 0)
    pairs = [(a, b) for a in mu1 for b in mu2]
    events = chain.from_iterable(combinations(pairs, size) for size in range(len(pairs) + 1))
    close = all(sum(left.get(p, 0) for p in e) <= factor * sum(right.get(p, 0) for p in e) + delta for e in events)
    return one and other and inside and close


def test_right_witnesses_have_no_faults() -> None:
    assert faults() == []
    assert faults(factor="3/2", delta="1/8") == []
    assert faults(epsilon="0.7") == []
    assert faults(left=LEFT | {("h", "t"): 0}) == []


def test_a_marginal_of_the_left_witness_that_is_wrong_is_found_at_its_value() -> None:
    assert faults(left=LEFT | {("h", "h"): "1/3"}) == [("marginal", ("left", "h"))]
    assert faults(left={("h", "h"): "1/2"}) == [("marginal", ("left", "t"))]
    assert faults(left={}) == [("marginal", ("left", "h")), ("marginal", ("left", "t"))]


def test_a_marginal_of_the_right_witness_that_is_wrong_is_found_at_its_value() -> None:
    assert faults(right=RIGHT | {("t", "t"): "1/2"}) == [("marginal", ("right", "t"))]
    assert faults(right=RIGHT | {("t", "t"): 1}) == [("marginal", ("right", "t"))]


def test_the_other_marginal_of_each_witness_is_free() -> None:
    pairs = {("h", "h"), ("h", "t"), ("t", "t")}
    left = {("h", "t"): "1/2", ("t", "t"): "1/2"}
    right = {("h", "h"): "1/4", ("h", "t"): "1/4", ("t", "t"): "1/2"}
    assert faults(left, right, relation=pairs) == []


def test_a_support_outside_of_the_relation_is_found_at_its_pair() -> None:
    left = {("h", "t"): "1/2", ("t", "t"): "1/2"}
    right = {("t", "h"): "1/4", ("t", "t"): "3/4"}
    assert faults(left=left, delta="1/2") == [("support", ("left", ("h", "t")))]
    assert faults(right=right, delta="1/2") == [("support", ("right", ("t", "h")))]


def test_a_pair_of_other_values_is_found_and_the_relation_is_not_asked_about_it() -> None:
    def asked(a: str, b: str) -> bool:
        return {"h": 0, "t": 1}[a] == {"h": 0, "t": 1}[b]

    left = {("h", "edge"): "1/2", ("t", "t"): "1/2"}
    assert faults(left=left, relation=asked, delta="1/2") == [("support", ("left", ("h", "edge")))]
    right = RIGHT | {("edge", "edge"): "1/9"}
    assert faults(right=right, relation=asked) == [
        ("marginal", ("right", "edge")),
        ("support", ("right", ("edge", "edge"))),
    ]


def test_a_distance_that_is_too_large_is_found_with_the_pairs_that_make_it() -> None:
    assert faults(factor="199/100") == [("distance", {("h", "h")})]
    assert faults(factor="3/2", delta="1/9") == [("distance", {("h", "h")})]
    assert faults(epsilon="0.69") == [("distance", {("h", "h")})]


def test_a_star_is_for_star_liftings_and_on_its_own_side() -> None:
    left = {("h", "h"): "1/2", ("t", STAR): "1/2"}
    right = {("h", "h"): "1/4", (STAR, "t"): "3/4"}
    assert faults(left, right, delta="1/2", star=True) == []
    assert faults(left, right, delta="1/3", star=True) == [("distance", {("t", STAR)})]
    assert faults(left, right, delta="1/2") == [
        ("support", ("left", ("t", STAR))),
        ("support", ("right", (STAR, "t"))),
    ]
    assert faults(LEFT | {(STAR, "t"): "1/4"}, delta=1, star=True) == [
        ("marginal", ("left", STAR)),
        ("support", ("left", (STAR, "t"))),
    ]
    assert ("support", ("right", ("t", STAR))) in faults(right=RIGHT | {("t", STAR): "1/4"}, delta=1, star=True)
    assert ("support", ("left", ("edge", STAR))) in faults(LEFT | {("edge", STAR): "1/4"}, delta=1, star=True)
    assert ("support", ("left", (STAR, STAR))) in faults(LEFT | {(STAR, STAR): "1/4"}, delta=1, star=True)


def test_a_star_has_to_keep_the_relation_elsewhere() -> None:
    left = {("h", "t"): "1/2", ("t", STAR): "1/2"}
    assert ("support", ("left", ("h", "t"))) in faults(left, delta=1, star=True)


def test_random_witnesses_are_judged_as_the_definition_does() -> None:
    random = Random(21)
    verdicts = []
    for _ in range(300):
        mu1, mu2 = distribution(random, 3, denominator=4), distribution(random, 3, denominator=4)
        holds = random.choice([eq, le, near])
        if not all_have_partners(mu1, mu2, holds):
            continue
        factor, slack = random.choice([Fraction(1), Fraction(3, 2), Fraction(2)]), Fraction(random.randrange(2), 8)
        coupling = least_delta(mu1, mu2, relation=holds, factor=factor)
        left, right = dict(coupling.left), dict(coupling.right)
        if random.random() < 0.8:
            changed = random.choice([left, right])
            source, target = random.choice(list(changed)), (random.randrange(3), random.randrange(3))
            moved = changed[source] / random.choice([1, 2, 3])
            changed[source] -= moved
            changed[target] = changed.get(target, Fraction(0)) + moved
        delta = max(Fraction(0), coupling.delta - slack)
        found = check_coupling(mu1, mu2, left, right, relation=holds, factor=factor, delta=delta)
        verdicts.append(is_coupling(mu1, mu2, left, right, holds, factor, delta))
        assert (not found) == verdicts[-1]
    assert 30 < sum(verdicts) < len(verdicts) - 30


def test_for_an_epsilon_the_verdict_is_exact_however_close_delta_is() -> None:
    left, right = {("h", "h"): Fraction(1, 2), ("t", "t"): Fraction(1, 2)}, RIGHT
    below, above = power_of_e(Fraction(1, 2))
    true_least, true_most = Fraction(1, 2) - above / 4, Fraction(1, 2) - below / 4
    assert true_most - true_least < Fraction(1, 10**60)
    assert faults(left, right, epsilon="1/2", delta=true_most) == []
    assert faults(left, right, epsilon="1/2", delta=true_least) == [("distance", {("h", "h")})]


def test_for_a_huge_epsilon_what_the_right_witness_never_gives_still_counts() -> None:
    pairs = SAME | {("t", "h")}
    left = {("h", "h"): "1/2", ("t", "h"): "1/2"}
    assert faults(left, relation=pairs, epsilon=10**12, delta="1/2") == []
    assert faults(left, relation=pairs, epsilon=10**12, delta="49/100") == [("distance", {("t", "h")})]


def test_the_text_of_a_fault_names_the_place_and_both_numbers() -> None:
    (fault,) = check_coupling(FAIR, BIASED, LEFT | {("h", "h"): "1/3"}, RIGHT, relation=SAME, factor=2, delta=0)
    assert str(fault) == "the marginal of left at 'h' is 1/3, but mu1 has 1/2"
    (fault,) = check_coupling(FAIR, BIASED, LEFT, RIGHT, relation=SAME, epsilon="1/2", delta=0)
    assert "is about 0.08781968" in fault.text


def test_witnesses_may_be_much_too_large() -> None:
    found = faults(left=LEFT | {("h", "h"): 10**400}, epsilon="0.7")
    assert found == [("marginal", ("left", "h")), ("distance", {("h", "h")})]


def test_the_relation_is_asked_about_the_values_of_the_distributions() -> None:
    def truths(a: object, b: object) -> bool:
        return isinstance(a, bool) and isinstance(b, bool)

    left, right = {(True, True): 1}, {(1, 1): 1}
    assert check_coupling({True: 1}, {True: 1}, left, right, relation=truths, factor=1, delta=0) == []
    for mu1, mu2 in (({1: 1}, {True: 1}), ({True: 1}, {1: 1})):
        found = check_coupling(mu1, mu2, left, right, relation=truths, factor=1, delta=0)
        assert [fault.kind for fault in found] == ["support", "support"]


def test_the_least_delta_passes_and_anything_less_does_not() -> None:
    for mu1, mu2, holds, random in instances(22, 100):
        if not all_have_partners(mu1, mu2, holds):
            continue
        factor = random.choice([Fraction(1), Fraction(5, 4)])
        coupling = least_delta(mu1, mu2, relation=holds, factor=factor)
        given: Any = {"relation": holds, "factor": factor}
        assert check_coupling(mu1, mu2, coupling.left, coupling.right, delta=coupling.delta, **given) == []
        if coupling.delta:
            less = coupling.delta - Fraction(1, 10**40)
            (fault,) = check_coupling(mu1, mu2, coupling.left, coupling.right, delta=less, **given)
            assert fault.kind == "distance"


def test_what_is_no_witness_at_all_is_refused() -> None:
    with pytest.raises(NumberError, match=r"left\[\('h', 'h'\)\]=-1/2 is negative"):
        faults(left=LEFT | {("h", "h"): "-1/2"})
    with pytest.raises(NumberError, match=r"right\[\('h', 'h'\)\]=0.25 is a float"):
        faults(right=RIGHT | {("h", "h"): 0.25})
    with pytest.raises(ParameterError, match="expected a pair"):
        faults(left={"h": 1})
    with pytest.raises(ParameterError, match="left is of type list"):
        faults(left=[1])
    with pytest.raises(NumberError, match="delta"):
        faults(delta=2)
