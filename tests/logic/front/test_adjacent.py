"""Adjacencies relate exactly the pairs of inputs that they speak of, in every direction."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.front.interpreter import value_of

from viameter.errors import NumberError, ParameterError
from viameter.logic.front.adjacency import Adjacency
from viameter.logic.front.adjacent import added_or_removed, all_differ, combined, one_differs, related
from viameter.logic.front.decorator import program_from_core, program_from_source
from viameter.logic.front.python import compile_source
from viameter.logic.lang.core import Program
from viameter.logic.neighbors import Neighbors, neighbors_from_json

PROGRAM = compile_source(
    'def f(q: list[int], w: list[int], x: int, b: bool, g: vm.Grid("1/2"), eps: vm.Eps) -> int: return 1'
).program
LISTS = [list(items) for size in range(3) for items in product(range(-1, 3), repeat=size)]


def holds(neighbors: Neighbors, program: Program, first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two runs' inputs are related, for some value of the logical constants."""
    memory: dict[str, Any] = {}
    for name, value in first.items():
        memory[name] = value
        if name in neighbors.private:
            memory |= {f"{name}<1>": value, f"{name}<2>": second[name]}
    for values in product(range(-1, 4), repeat=len(neighbors.constants)):
        memory |= dict(zip(neighbors.constants, values, strict=True))
        if all(value_of(fact, memory) for fact in neighbors.facts) and all(
            value_of(fact, {**memory, "any.k": place})
            for name, fact in neighbors.each
            for place in range(len(first[name]))
        ):
            return True
    return False


def pairs() -> Iterator[tuple[list[int], list[int]]]:
    return ((one, other) for one in LISTS for other in LISTS if len(one) == len(other))


def check_lists(adjacency: Adjacency, wanted: Callable[[list[int]], bool], *, symmetric: bool) -> None:
    """The relation holds of pairs whose differences are as wanted, and its other direction of those turned around."""
    directions = adjacency.directions(PROGRAM)
    assert len(directions) == (1 if symmetric else 2)
    assert all(direction.private == {"q"} for direction in directions)
    for one, other in pairs():
        steps = [right - left for left, right in zip(one, other, strict=True)]
        assert holds(directions[0], PROGRAM, {"q": one}, {"q": other}) is wanted(steps)
        assert holds(directions[-1], PROGRAM, {"q": one}, {"q": other}) is wanted([-step for step in steps])


def one_at_most(steps: list[int]) -> bool:
    return bool(steps) and sum(step != 0 for step in steps) <= 1


def test_every_element_may_differ() -> None:
    check_lists(all_differ("q"), lambda steps: all(abs(step) <= 1 for step in steps), symmetric=True)
    check_lists(all_differ("q", by=2), lambda steps: all(abs(step) <= 2 for step in steps), symmetric=True)
    check_lists(all_differ("q", by=None), lambda _: True, symmetric=True)
    check_lists(all_differ("q", monotone=True), lambda steps: all(0 <= step <= 1 for step in steps), symmetric=False)
    check_lists(all_differ("q", None, monotone=True), lambda steps: all(step >= 0 for step in steps), symmetric=False)


def test_one_element_may_differ() -> None:
    check_lists(
        one_differs("q"), lambda steps: one_at_most(steps) and all(abs(step) <= 1 for step in steps), symmetric=True
    )
    check_lists(one_differs("q", by=None), one_at_most, symmetric=True)
    check_lists(
        one_differs("q", by=2, monotone=True),
        lambda steps: one_at_most(steps) and all(0 <= step <= 2 for step in steps), symmetric=False,
    )  # fmt: skip


def test_one_value_may_differ_by_an_amount_on_its_grid() -> None:
    (found,) = all_differ("g", by="3/2").directions(PROGRAM)
    assert [str(fact) for fact in found.facts] == ["abs(g<1> - g<2>) <= 3"]
    assert found.says == "g differs by at most 3/2"
    up, down = all_differ("x", by=Fraction(2), monotone=True).directions(PROGRAM)
    assert [str(fact) for fact in up.facts] == ["x<1> <= x<2>", "x<2> - x<1> <= 2"]
    assert [str(fact) for fact in down.facts] == ["x<2> <= x<1>", "x<1> - x<2> <= 2"]
    assert up.says != down.says


def test_a_truth_value_may_differ() -> None:
    (found,) = all_differ("b").directions(PROGRAM)
    assert found.facts == () and found.private == {"b"}
    (same,) = all_differ("b", by=0).directions(PROGRAM)
    assert [str(fact) for fact in same.facts] == ["b<1> == b<2>"]
    assert len(all_differ("b", monotone=True).directions(PROGRAM)) == 2


def test_a_relation_is_given_as_text_in_the_units_of_the_inputs() -> None:
    found = related("abs(x<1> - x<2>) + abs(g<1> - g<2>) <= 1 and 0 <= q<2>[any.k] - q<1>[any.k] <= 2 * w[any.k]")
    assert found.private == {"x", "g", "q"}
    one, other = found.directions(PROGRAM)
    assert [str(fact) for fact in one.facts] == ["2 * abs(x<1> - x<2>) + abs(g<1> - g<2>) <= 2"]
    assert [(name, str(fact)) for name, fact in one.each] == [
        ("q", "0 <= q<2>[any.k] - q<1>[any.k]"),
        ("q", "q<2>[any.k] - q<1>[any.k] <= 2 * w[any.k]"),
    ]
    assert [str(fact) for fact in other.facts] == ["2 * abs(x<2> - x<1>) + abs(g<2> - g<1>) <= 2"]


def test_a_relation_that_states_the_same_both_ways_is_proved_once() -> None:
    assert len(related("x<1> - x<2> <= 1 and x<2> - x<1> <= 1").directions(PROGRAM)) == 1
    assert len(related("x<1> - x<2> <= 1").directions(PROGRAM)) == 2


ROWS = compile_source(
    "def f(q: list[vm.Between(-1, 2)], eps: vm.Eps) -> int: return sum(q)", slots=frozenset({"q"})
).program


def test_a_row_is_added_or_removed() -> None:
    (found,) = added_or_removed("q").directions(ROWS)
    assert found.private == {"q", "q.in"}
    for rows in ([], [1], [2, 0], [1, 1, -1]):
        for place in range(len(rows)):
            less = [row for k, row in enumerate(rows) if k != place]
            marks = [int(k != place) for k in range(len(rows))]
            full = [1] * len(rows)
            assert [row for row, mark in zip(rows, marks, strict=True) if mark] == less
            with_row, without = {"q": rows, "q.in": full}, {"q": rows, "q.in": marks}
            assert holds(found, ROWS, with_row, without) and holds(found, ROWS, without, with_row)
            assert not holds(found, ROWS, with_row, with_row)
        for here in product((0, 1), repeat=len(rows)):
            for there in product((0, 1), repeat=len(rows)):
                differ = sum(one != other for one, other in zip(here, there, strict=True))
                pair = {"q": rows, "q.in": list(here)}, {"q": rows, "q.in": list(there)}
                assert holds(found, ROWS, *pair) is (differ == 1)


def test_several_inputs_may_differ_at_once_each_in_either_direction() -> None:
    both = combined([all_differ("q", monotone=True), all_differ("w", by=2), all_differ("x", monotone=True)])
    assert both.private == {"q", "w", "x"} and both.slots == frozenset()
    directions = both.directions(PROGRAM)
    assert len(directions) == 4
    seen = set()
    for step, other in product((-1, 1), (-1, 1)):
        first, second = {"q": [1], "w": [5], "x": 0}, {"q": [1 + step], "w": [3], "x": other}
        seen |= {(step, other)} if any(holds(one, PROGRAM, first, second) for one in directions) else set()
    assert len(seen) == 4
    assert combined(all_differ("q")).private == combined((all_differ("q"),)).private == {"q"}
    assert combined([added_or_removed("q"), all_differ("x")]).slots == {"q"}


def test_relations_are_kept_in_certificates() -> None:
    for program, adjacency in (
        (PROGRAM, one_differs("q", by=3, monotone=True)), (PROGRAM, all_differ("g", by=1)),
        (ROWS, added_or_removed("q")),
        (PROGRAM, related("x<1> <= x<2> and q<1>[any.k] == q<2>[any.k]")),
    ):  # fmt: skip
        for direction in adjacency.directions(program):
            assert neighbors_from_json(direction.to_json(), program) == replace(direction, says="")


@for_each(
    ("make", "what"),
    [
        (lambda: all_differ("y").directions(PROGRAM), "y is no input of f; its inputs: q, w, x, b, g"),
        (lambda: all_differ("eps").directions(PROGRAM), "eps is a budget"),
        (lambda: related("y<1> <= y<2>").directions(PROGRAM), "y is no input"),
        (lambda: related("eps<1> <= eps<2>").directions(PROGRAM), "eps is a budget"),
        (lambda: all_differ("q", by=-1), "by=-1 is negative"),
        (lambda: all_differ("q", by=True), "by=True: expected a number"),
        (lambda: all_differ("q", by="1/2").directions(PROGRAM), "by=1/2 is no multiple of the grid of q"),
        (lambda: one_differs("g", by="1/3").directions(PROGRAM), "g is no list"),
        (lambda: all_differ("g", by="1/3").directions(PROGRAM), "by=1/3 is no multiple of the grid of g, which is 1/2"),
        (lambda: one_differs("x").directions(PROGRAM), 'one_differs is about lists: use all_differ("x")'),
        (lambda: all_differ("q", monotone=1), "monotone=1: expected True or False"),  # type: ignore[arg-type]
        (lambda: all_differ("q[0]"), "is no name of an input"),
        (lambda: all_differ(3), "3 is no name of an input"),  # type: ignore[arg-type]
        (lambda: related("x <= 1"), "must name an input of both runs, x as x<1> and x<2>: expected text such as"),
        (lambda: related("True"), "must name an input of both runs"),
        (lambda: related(3), "expected text such as"),  # type: ignore[arg-type]
        (lambda: related("x<1> <= y").directions(PROGRAM), "is not a variable here"),
        (lambda: related("x<1> + 1").directions(PROGRAM), "is a number"),
        (lambda: related("x<1> <= x<2> and 1 < 0").directions(PROGRAM), "never holds"),
        (lambda: related("x<1> <= x").directions(PROGRAM), "x differs between the runs"),
        (lambda: related("q<1>[0] <= q<2>[0]").directions(PROGRAM), "a relation on lists is elementwise"),
        (lambda: related("q<1>[any.k] <= w<2>[any.k]").directions(PROGRAM), "expected one for each fact"),
        (lambda: related("x<1> <= any.k").directions(PROGRAM), "expected one for each fact"),
        (lambda: related("len(q<1>) <= 3").directions(PROGRAM), "a length is the same in both runs"),
        (lambda: added_or_removed("q").directions(PROGRAM), "has no list q.in"),
        (lambda: added_or_removed("z").directions(PROGRAM), "z is no input"),
        (lambda: combined([]), "expected at least one adjacency"),
        (lambda: combined("q"), "expected an adjacency"),
        (lambda: combined([3]), "expected an adjacency"),
        (lambda: combined([all_differ("q"), one_differs("q")]), "several adjacencies are about q"),
    ],
)  # fmt: skip
def test_an_adjacency_that_makes_no_sense_is_refused(make: Callable[[], object], what: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make()
    assert what in str(caught.value)


def test_a_float_is_no_amount() -> None:
    with pytest.raises(NumberError):
        all_differ("q", by=0.5)  # type: ignore[arg-type]


def test_an_adjacency_that_does_not_fit_is_refused_with_the_program() -> None:
    with pytest.raises(ParameterError, match="p is no input of f"):
        program_from_source("def f(q: int) -> int: return q", adjacent=all_differ("p"))


def test_a_private_scale_in_a_core_program_is_refused() -> None:
    text = "program f\ninput q: list\ninput n: int\nbudget eps\nbegin\n  x :=$ {law}\nend\nreturn x\n"
    for law, fits in (
        ("lap(len(q)*n/eps)", True), ("lap(q[0]/eps)", False), ("expo(max(n, q[n])/eps)", False), ("gauss(x)", False),
        ("choose(q, q[n]/eps)", False), ("choose(q, n/eps)", True), ("gauss(2*n)", True), ("flip(1/2)", True),
    ):  # fmt: skip
        given = text.format(law=law)
        given = given.replace("begin", "begin\n  x := 0") if law == "gauss(x)" else given
        if fits:
            program_from_core(given, adjacent=all_differ("q"))
        else:
            with pytest.raises(ParameterError, match="a scale must be public"):
                program_from_core(given, adjacent=all_differ("q"))


def test_slots_are_for_programs_in_python() -> None:
    with pytest.raises(ParameterError, match="write such a program in Python"):
        program_from_core(ROWS, adjacent=added_or_removed("q"))
