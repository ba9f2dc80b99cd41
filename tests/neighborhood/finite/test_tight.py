"""The exact answer is attained by mechanisms that are private, and exceeded by none."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from mpmath import iv  # type: ignore[import-untyped]
from tests.cases import for_each
from tests.neighborhood.finite.granularity_cases import BUILDERS, by_value, case
from tests.neighborhood.finite.instances import LINE, kinked, random_instance

from viameter.arith import INFINITY, Extended
from viameter.errors import NoTheorem, ParameterError
from viameter.measures import pure, zcdp
from viameter.neighborhood.finite import (
    FiniteLeaf,
    PrivacySpace,
    ZeroOne,
    attain,
    bounded,
    compose_tables,
    exact_worst,
    least_loss,
    multisets,
    random_private_table,
    unbounded,
)
from viameter.neighborhood.finite.exact import LeafCosts

SMALL = [name for name in BUILDERS if len(case(name).space.members) <= 50]


def leaves_of(name: str, mode: Any) -> list[FiniteLeaf]:
    each = case(name)
    return [FiniteLeaf(f, pure(e), mode=mode) for f, e in zip(each.maps, each.epsilons, strict=True)]


@for_each("mode", ["separate", "common"])
@for_each("name", SMALL)
def test_the_answers_of_the_table_are_attained(name: str, mode: str) -> None:
    attained = attain(case(name).space, leaves_of(name, mode))
    assert attained.tight and all(attained.private)
    assert pure(attained.log_ratio) == attained.promised == pure(case(name).expected[2 if mode == "separate" else 3])


def interval(number: Fraction) -> Any:
    return iv.mpf(number.numerator) / iv.mpf(number.denominator)


def log_ratio_of_one(near: Extended, far: Extended) -> Any:
    def chance(exponent: Extended) -> Any:
        return 1 - (iv.mpf(0) if exponent == INFINITY else iv.exp(-interval(Fraction(exponent)))) / 2

    return iv.log(chance(far) / chance(near))


@for_each("mode", ["separate", "common"])
@for_each("name", ["unbounded, by value", "bounded, by value", "node, incident", "policy, edges across parts"])
def test_the_mechanisms_are_private_also_by_interval_arithmetic(name: str, mode: str) -> None:
    iv.dps = 50
    space, leaves = case(name).space, leaves_of(name, mode)
    for leaf, mechanism in zip(leaves, attain(space, leaves).mechanisms, strict=True):
        base = LeafCosts(space, leaf).space
        epsilon = Fraction(leaf.law.epsilon)  # type: ignore[union-attr]
        for one, other in base.pairs():
            images = (leaf.map(one), leaf.map(other)) if mode == "common" else (one, other)
            near, far = sorted(mechanism.exponents[image] for image in images)
            assert near == far or far - near <= epsilon
            assert near == far or log_ratio_of_one(near, far).b <= interval(epsilon).a


def test_a_mechanism_with_too_large_steps_is_caught() -> None:
    steep = ZeroOne({"a": Fraction(0), "b": Fraction(1), "c": INFINITY})
    assert steep.keeps("a", "b", Fraction(1)) and not steep.keeps("a", "b", Fraction(99, 100))
    assert not steep.keeps("a", "c", Fraction(1000)) and steep.keeps("a", "c", INFINITY)
    assert not steep.keeps("c", "a", Fraction(1000)) and steep.keeps("c", "c", Fraction(0))
    # What is rarer than one half cannot make the other outcome the worse one; more than one half can.
    likely = ZeroOne({"a": Fraction(-69, 100), "b": Fraction(0)})
    assert not likely.keeps("a", "b", Fraction(7, 10))
    assert steep.log_ratio_of_zero("a", "b") == 1 and steep.log_ratio_of_zero("c", "a") == -INFINITY


def test_a_law_that_kinks_is_attained_in_common_and_not_always_apart() -> None:
    common = attain(LINE, [FiniteLeaf("abebc".__getitem__, kinked, mode="common")])
    assert common.tight
    space = PrivacySpace((0, 2), relation=lambda a, b: True)
    concave = FiniteLeaf(lambda a: a, lambda d: min(d, Fraction(1)), metric=lambda a, b: abs(a - b), images=range(3))
    assert attain(space, [concave]).tight
    # A law that grows faster than its steps promises less than they do.
    convex = FiniteLeaf(lambda a: a, lambda d: d * d, metric=lambda a, b: abs(a - b), images=range(3))
    steep = attain(space, [convex])
    assert steep.promised == pure(4) and steep.log_ratio == 2 and not steep.tight


def test_a_metric_target_is_attained_per_distance() -> None:
    leaves = [FiniteLeaf(lambda a: a // 2, pure("1/3"), mode="common"), FiniteLeaf(lambda a: a, pure(1))]
    attained = attain(LINE, leaves)
    assert attained.tight and attained.promised == pure("4/3")
    wide = PrivacySpace(range(3), metric=lambda a, b: 2 * abs(a - b))
    halved = attain(wide, [FiniteLeaf(lambda a: a, pure(1), metric=lambda a, b: abs(a - b))])
    assert halved.tight and halved.log_ratio == Fraction(1, 2)


def test_other_measures_and_classes_without_neighbors_are_refused() -> None:
    with pytest.raises(NoTheorem, match="pure"):
        attain(case("bounded, by value").space, [FiniteLeaf(lambda data: data, zcdp(1))])
    with pytest.raises(ParameterError, match="no neighbors"):
        attain(PrivacySpace([()], relation=unbounded), [FiniteLeaf(lambda data: data, pure(1))])


def test_random_tables_are_private_and_use_much_of_what_they_may() -> None:
    random = Random(6)
    used = []
    for _ in range(30):
        space, _ = random_instance(random)
        epsilon = Fraction(random.randint(1, 20), 10)

        def scaled(a: Any, b: Any, space: PrivacySpace = space, epsilon: Fraction = epsilon) -> Extended:
            return epsilon * space.distance(a, b)

        for outcomes in (2, 3):
            table = random_private_table(space.members, scaled, random=random, outcomes=outcomes)
            assert space.is_private(table, epsilon)
            if outcomes == 2 and any(space.distance(a, b) for a, b in space.pairs()):
                used.append(space.exact_epsilon(table)[0] / epsilon)
    assert sum(share > Fraction(9, 10) for share in used) > 10


def test_random_mechanisms_together_never_exceed_the_exact_answer() -> None:
    random = Random(7)
    closest = Fraction(0)
    for _ in range(60):
        space, first = random_instance(random)
        second = {member: random.randrange(2) for member in space.members}
        leaves, tables = [], []
        for function in (first, second):
            epsilon = Fraction(random.randint(1, 9), 5)
            leaves.append(FiniteLeaf(function.__getitem__, pure(epsilon), mode="common"))
            least = least_loss(space, function.__getitem__, pure(epsilon))

            def allowed(a: Any, b: Any, least: Any = least) -> Extended:
                return least.between(a, b).epsilon  # type: ignore[no-any-return]

            table = random_private_table(least.quotient.members, allowed, random=random, outcomes=2)
            pulled = {member: table[function[member]] for member in space.members}
            assert space.is_private(pulled, epsilon)
            tables.append((function.__getitem__, table))
        worst = exact_worst(space, leaves).loss
        composed = compose_tables(space.members, tables)
        assert space.is_private(composed, worst)
        low = space.exact_epsilon(composed)[0]
        if worst.is_finite and low > 0:
            closest = max(closest, low / worst.epsilon)  # type: ignore[attr-defined]
    assert closest > Fraction(9, 10)


def test_random_mechanisms_on_parts_never_exceed_the_exact_answer() -> None:
    random = Random(8)
    space = PrivacySpace(multisets("abc", 2), relation=bounded)
    maps = by_value("a", "bc")
    for _ in range(15):
        for relation in (bounded, unbounded):
            epsilons = [Fraction(random.randint(1, 9), 5) for _ in maps]
            leaves = [FiniteLeaf(f, pure(e), relation=relation) for f, e in zip(maps, epsilons, strict=True)]
            tables = []
            for leaf, epsilon in zip(leaves, epsilons, strict=True):
                apart = LeafCosts(space, leaf).space

                def allowed(a: Any, b: Any, apart: Any = apart, epsilon: Fraction = epsilon) -> Extended:
                    return epsilon * apart.distance(a, b)  # type: ignore[no-any-return]

                table = random_private_table(apart.members, allowed, random=random)
                assert apart.is_private(table, epsilon)
                tables.append((leaf.map, table))
            assert space.is_private(compose_tables(space.members, tables), exact_worst(space, leaves).loss)
