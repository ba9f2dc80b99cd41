"""Where programs live: spaces of the library, and distances of their own."""

from typing import Any

import pytest
from tests.logic.running.programs import (
    ABOVE,
    EVERY,
    GRID,
    HISTOGRAM,
    LAPLACE,
    LIST,
    ONE,
    SPARSE,
    program,
    proved,
)

import viameter as vm
from viameter.arith import INFINITY
from viameter.errors import NoTheorem, NotInDomain, ParameterError
from viameter.logic.front.adjacency import Adjacency
from viameter.logic.front.adjacent import all_differ, one_differs, related
from viameter.logic.front.decorator import program_from_source


def test_a_program_follows_a_transformation_of_the_library() -> None:
    wards = vm.Space(vm.vectors(vm.categories(["A", "B", "C"])), vm.SymmetricDistance())
    counts = wards >> vm.histogram()
    noisy = proved(HISTOGRAM, ONE, eps=10**6, space=counts.output_space)
    released = counts >> noisy
    assert released(["A", "C", "A"]) == [2, 0, 1]
    assert released.map(1).epsilon == 10**6
    assert "proved to cost eps where one element of q differs by at most 1" in str(released.explain(1))
    most = wards >> vm.histogram(metric=vm.LInfDistance())
    first = most >> proved(ABOVE, EVERY, eps="1/2", t=5, space=most.output_space)
    assert first.map(3) == vm.pure("3/2")
    single = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance()) >> vm.count()
    assert (single >> proved(LAPLACE, all_differ("x"), eps=1, space=single.output_space)).map(2) == vm.pure(2)


def test_a_space_that_does_not_fit_is_refused() -> None:
    core = program(
        "program p",
        "input q: list",
        "budget eps",
        "each q: 0 <= q[any.k]",
        "begin",
        "y :=$ lap(1/eps)",
        "end",
        "return y",
    )
    usual = vm.vectors(int, bounds=(0, 2**63 - 1))

    def use(domain: Any, metric: Any, adjacent: Adjacency = EVERY, **given: Any) -> Any:
        return proved(core, adjacent, eps=1, space=vm.Space(domain, metric), **given)

    assert proved(core, EVERY, eps=1).input_space.domain == usual
    assert use(vm.vectors(int, bounds=(3, 5), size=2), vm.L1Distance()).map(2) == vm.pure(2)
    for domain in (vm.vectors(int), vm.vectors(int, bounds=(-1, 5)), vm.vectors(float)):
        with pytest.raises(ParameterError, match="is not within"):
            use(domain, vm.LInfDistance())
    below = vm.Space(vm.scalars(int, bounds=(0, 12)), vm.AbsoluteDistance())
    text = "def noisy(x: vm.Between(-5, 10), eps: vm.Eps) -> int: return x + vm.lap(1 / eps)"
    with pytest.raises(ParameterError, match="is not within"):
        proved(program_from_source(text, adjacent=all_differ("x")).core, all_differ("x"), eps=1, space=below)
    with pytest.raises(
        NoTheorem, match=r"are not counted in HammingDistance\(\); they are in LInfDistance\(\), L1Distance\(\)"
    ):
        use(usual, vm.HammingDistance())
    with pytest.raises(NoTheorem, match="are not counted in SymmetricDistance"):
        use(usual, vm.SymmetricDistance(), one_differs("q", by=None))
    with pytest.raises(ParameterError, match="length=3 is not the size of the space, 2"):
        use(vm.vectors(int, bounds=(3, 5), size=2), vm.LInfDistance(), length=3)
    with pytest.raises(ParameterError, match="space=5 is not a Space"):
        proved(core, EVERY, eps=1, space=5)
    sized = proved(
        core, EVERY, "len(q)*eps", eps=1, space=vm.Space(vm.vectors(int, bounds=(3, 5), size=2), vm.LInfDistance())
    )
    assert sized.map(1) == vm.pure(2)


def test_a_length_that_a_bound_rests_on_is_kept() -> None:
    many = proved(SPARSE, EVERY, "len(q)*eps", eps=1, length=2)
    assert many.map(1) == vm.pure(2)
    assert repr(many.input_space.domain).startswith("inputs(q: list of length 2; public N: int; ")
    assert isinstance(many({"q": [1, 2], "N": 2, "t": 3}), int)
    for other in ([1], [1, 2, 3], []):
        with pytest.raises(NotInDomain):
            many({"q": other, "N": 2, "t": 3})
    with pytest.raises(NotInDomain):
        proved(ABOVE, EVERY, "len(q)*eps", eps=1, t=1, length=2)([1, 2, 3])
    with pytest.raises(ParameterError, match="is not within"):
        proved(ABOVE, EVERY, "len(q)*eps", eps=1, t=1, length=2, space=LIST)


def test_moves_that_are_all_up_or_all_down_are_cheaper_than_others() -> None:
    adjacent = all_differ("q", by=1, monotone=True)
    usual = proved(ABOVE, adjacent, eps=1, t=1)
    assert repr(usual.input_space.metric) == "MonotoneDistance()"
    assert usual.input_space.distance([1, 5], [3, 5]) == 2
    assert usual.input_space.distance([3, 5], [1, 5]) == 2
    assert usual.input_space.distance([1, 5], [2, 4]) == INFINITY
    assert usual.input_space.distance([1], [1, 2]) == INFINITY
    assert usual.input_space.distance([], []) == 0
    assert usual.map(2) == vm.pure(2)
    assert proved(ABOVE, adjacent, eps=1, t=1, space=LIST).map(2) == vm.pure(4)
    assert ", or the other way around" in str(usual.explain(1))
    with pytest.raises(ParameterError, match="does not measure"):
        vm.Space(vm.scalars(int), usual.input_space.metric)


def test_lists_that_may_differ_everywhere_by_anything_are_one_step_apart() -> None:
    found = proved(ABOVE, all_differ("q", by=None), eps=1, t=1)
    assert found.input_space.distance([1, 2], [7, -9]) == 1
    assert found.input_space.distance([1, 2], [1]) == INFINITY
    assert (found.map(1), found.map(2)) == (vm.pure(1), vm.PureDP.infinite)


def test_a_distance_of_one_input_does_not_measure_other_inputs() -> None:
    metric = proved(SPARSE, EVERY, eps=1).input_space.metric
    other = proved(SPARSE, all_differ("t"), eps=1)
    with pytest.raises(ParameterError, match="'q' is not the private input"):
        vm.Space(other.input_space.domain, metric)
    with pytest.raises(ParameterError, match="it takes the inputs of a program"):
        vm.Space(vm.vectors(int), metric)
    grid = program_from_source(GRID, adjacent=all_differ("q", by=1))
    with pytest.raises(ParameterError, match="'q' is on a grid of 1/100"):
        vm.Space(proved(grid.core, grid.adjacent, eps=1).input_space.domain, metric)


def test_several_private_inputs_are_measured_by_the_relation() -> None:
    core = program(
        "program p", "input q: list", "input x: int", "budget eps", "begin", "y :=$ lap(1/eps)", "end", "return y"
    )
    made = program_from_source(
        "def p(q: list[int], x: int, eps: vm.Eps) -> int: return vm.lap(1 / eps)", adjacent=(ONE, all_differ("x"))
    )
    found = proved(core, made.adjacent, eps=1)
    space = found.input_space
    assert space.distance({"q": [1, 2], "x": 3}, {"q": [1, 3], "x": 4}) == 1
    assert space.distance({"q": [1, 2], "x": 3}, {"q": [2, 3], "x": 3}) == INFINITY
    assert space.distance({"q": [1, 2], "x": 3}, {"q": [1, 2], "x": 3}) == 0
    assert (found.map(1), found.map(2)) == (vm.pure(1), vm.PureDP.infinite)
    assert isinstance(found({"q": [1, 2], "x": 3}), int)
    with pytest.raises(ParameterError, match="does not measure"):
        vm.Space(proved(SPARSE, EVERY, eps=1).input_space.domain, space.metric)


def test_relations_tell_themselves_apart_by_their_text() -> None:
    one = proved(LAPLACE, related("abs(x<1> - x<2>) <= 1"), eps=1).input_space.metric
    other = proved(LAPLACE, related("abs(x<1> - x<2>) <= 2"), eps=1).input_space.metric
    assert repr(one).startswith("ProgramAdjacency('abs(x<1> - x<2>) <= 1")
    assert one != other and repr(one) != repr(other)
