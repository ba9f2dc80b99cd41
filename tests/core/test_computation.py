"""What transformations and measurements have in common: calling, mapping, explaining, equality, text."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each

import viameter as vm
from viameter.core import Computation
from viameter.errors import NotInDomain, NumberError
from viameter.theorem import find_theorem

ROWS = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
NUMBER = vm.Space(vm.scalars(int), vm.AbsoluteDistance())


def distinct(rows: Any) -> int:
    return len(set(rows.tolist()))


def same(d_in: Any) -> Any:
    return d_in


def tenth(d_in: Any) -> vm.Loss:
    return vm.pure(d_in / 10)


DISTINCT = vm.transformation(function=distinct, output=NUMBER, stability=same, trust="one row, one value")
TELL = vm.measurement(function=abs, measure=vm.PureDP, privacy=tenth, trust="noise of scale 10")
WHOLE = ROWS >> DISTINCT >> TELL >> vm.postprocess(str)
EVERY_KIND = for_each("computation", [ROWS >> DISTINCT, NUMBER >> TELL, ROWS >> DISTINCT >> TELL, WHOLE])


def test_data_are_admitted_once_and_in_canonical_form() -> None:
    seen = []

    def look(rows: Any) -> int:
        seen.append(rows)
        return 0

    (ROWS >> vm.transformation(function=look, output=NUMBER, stability=same, trust="constant"))([3, 1])
    assert isinstance(seen[0], np.ndarray) and seen[0].dtype == np.int64 and seen[0].tolist() == [3, 1]
    assert not seen[0].flags.writeable


@EVERY_KIND
@for_each("data", [[10, -1], ["a"], None, 0.5, [[1]]])
def test_data_outside_of_the_domain_are_refused(computation: Computation, data: Any) -> None:
    with pytest.raises(NotInDomain) as refused:
        computation(data)
    assert refused.value.domain == computation.input_space.domain


@EVERY_KIND
@for_each("d_in", [-1, 0.5, float("nan"), True, None, "x"])
def test_what_is_no_distance_is_refused_before_any_map_is_asked(computation: Computation, d_in: Any) -> None:
    for ask in (computation.map, computation.explain):
        with pytest.raises(NumberError, match="d_in"):
            ask(d_in)


def test_a_fraction_of_a_row_is_no_distance() -> None:
    with pytest.raises(NumberError, match="whole"):
        WHOLE.map("1/2")


@for_each("d_in", [0, 1, 3, "inf"])
def test_the_bound_of_a_chain_is_that_of_its_steps(d_in: Any) -> None:
    expected = vm.pure("inf") if d_in == "inf" else vm.pure(Fraction(d_in, 10))
    assert WHOLE.map(d_in) == expected
    assert WHOLE.bound(vm.SymmetricDistance().read_distance(d_in)) == expected


def test_an_explanation_is_the_tree_of_theorems_with_every_assumption_once() -> None:
    assert str(WHOLE.explain(3)) == "\n".join(
        [
            "On data at most 3 apart in SymmetricDistance(), releases are pure(3/10)-close in PureDP.",
            "postprocess(str): pure(3/10) -> pure(3/10)",
            f"│  {find_theorem('post-processing').statement.title} [post-processing, exact]",
            "└─ chain: 3 -> pure(3/10)",
            f"   │  {find_theorem('chain').statement.title} [chain, exact]",
            "   ├─ transformation(function=distinct, output=Space(domain=scalars(int), metric=AbsoluteDistance()), "
            "stability=same, trust='one row, one value'): 3 -> 3",
            f"   │     {find_theorem('trusted-map').statement.title} [trusted-map, assumed]",
            "   └─ measurement(function=abs, measure=PureDP, privacy=tenth, trust='noise of scale 10'): 3 "
            "-> pure(3/10)",
            f"         {find_theorem('trusted-map').statement.title} [trusted-map, assumed]",
            "It rests on trust that:",
            "  * one row, one value (transformation distinct)",
            "  * noise of scale 10 (measurement abs)",
        ]
    )


def test_an_assumption_that_several_steps_make_is_listed_once() -> None:
    odd = vm.Space(
        vm.domain("Odd", member=lambda n: n % 2 == 1, trust="oddness"),
        vm.metric("Apart", distance=lambda a, b: abs(a - b), trust="apartness"),
    )
    variation = vm.measure("Variation", trust="variation")
    step = vm.transformation(function=abs, output=odd, stability=same, trust="abs is 1-stable")
    tell = vm.measurement(function=abs, measure=variation, privacy=variation, trust="it is private")
    whole = odd >> step >> step >> tell
    assert whole.explain(1).assumptions == (
        "oddness (domain Odd)",
        "apartness (metric Apart)",
        "abs is 1-stable (transformation abs)",
        "variation (measure Variation)",
        "it is private (measurement abs)",
    )
    text = str(whole.explain(1))
    for assumption in whole.explain(1).assumptions:
        assert text.count(f"* {assumption}") == 1


def test_an_explanation_without_trust_does_not_speak_of_it() -> None:
    explained = (ROWS >> vm.count()).explain(2)
    assert explained.assumptions == () and "trust" not in str(explained)
    assert str(explained) == repr(explained)


def test_an_infinite_bound_is_called_no_guarantee() -> None:
    text = str(WHOLE.explain("inf"))
    assert "releases may differ without limit: pure(inf) is no guarantee" in text and "close" not in text


def test_a_rounded_bound_is_marked_in_the_explanation() -> None:
    wide = vm.transformation(function=abs, output=NUMBER, stability=lambda d: d + Fraction(1, 3**90), trust="wide")
    assert "at most <=1.00000000001 apart" in str((NUMBER >> wide).explain(1))


def test_computations_made_in_the_same_way_are_equal() -> None:
    again = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance()) >> DISTINCT >> TELL
    assert again == ROWS >> DISTINCT >> TELL and hash(again) == hash(ROWS >> DISTINCT >> TELL)
    assert ROWS >> (DISTINCT >> TELL) == (ROWS >> DISTINCT) >> TELL == (ROWS >> DISTINCT) >> (NUMBER >> TELL)
    assert len({again, ROWS >> DISTINCT >> TELL}) == 1


def test_computations_made_in_other_ways_are_not_equal() -> None:
    plain = ROWS >> DISTINCT
    others = [
        vm.Space(vm.vectors(int, bounds=(0, 8)), vm.SymmetricDistance()) >> DISTINCT,
        vm.Space(vm.vectors(int, bounds=(0, 9)), vm.InsertDeleteDistance()) >> DISTINCT,
        ROWS >> vm.transformation(function=distinct, output=NUMBER, stability=same, trust="another reason"),
        ROWS >> vm.transformation(function=len, output=NUMBER, stability=same, trust="one row, one value"),
        ROWS >> DISTINCT >> TELL,
        ROWS >> vm.clamp(bounds=(0, 9)) >> vm.count(),
        1,
        None,
    ]
    assert all(plain != other for other in others)
    assert WHOLE != ROWS >> DISTINCT >> TELL
    assert ROWS >> DISTINCT >> TELL >> vm.postprocess(str) == WHOLE and hash(WHOLE) != hash(ROWS >> DISTINCT >> TELL)


def test_steps_made_by_hand_are_equal_to_themselves_only() -> None:
    plain = ROWS >> DISTINCT
    made = [
        vm.Transformation(input_space=ROWS, output_space=NUMBER, function=plain.function, bound=plain.bound)
        for _ in range(2)
    ]
    assert made[0] == made[0] and made[0] != made[1]
    assert (made[0] >> TELL) == (made[0] >> TELL) and (made[0] >> TELL) != (made[1] >> TELL)


def test_the_text_of_a_computation_is_how_it_was_made() -> None:
    assert repr(ROWS >> vm.clamp(bounds=(2, 5)) >> vm.count()) == (
        "Space(domain=vectors(int, bounds=(0, 9)), metric=SymmetricDistance()) >> clamp(bounds=(2, 5)) >> count()"
    )
    assert repr(WHOLE).endswith(" >> postprocess(str)") and "transformation(function=distinct" in repr(WHOLE)


@EVERY_KIND
def test_computations_are_frozen(computation: Any) -> None:
    for name in ("function", "bound", "input_space", "measure", "anything"):
        with pytest.raises(AttributeError):
            setattr(computation, name, None)
