"""Public inputs of programs: given or part of the data, and named when they are not as required."""

from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.running.programs import (
    EVERY,
    LIST,
    SPARSE,
    program,
    proved,
)

import viameter as vm
from viameter.arith import INFINITY
from viameter.errors import ParameterError, SealedError


def test_a_public_input_that_is_not_as_required_is_named_when_the_measurement_is_made() -> None:
    with pytest.raises(ParameterError, match="N: program sparse requires 1 <= N, which is not so for what was given"):
        proved(SPARSE, EVERY, eps=1, N=0)
    with pytest.raises(ParameterError, match="N, t: program sparse requires N <= t"):
        proved(SPARSE, EVERY, eps=1, N=5, t=4)
    assert proved(SPARSE, EVERY, eps=1, N=5, t=5).input_space == LIST


def test_what_is_not_given_is_part_of_the_data() -> None:
    found = proved(SPARSE, EVERY, eps=10**6, t=10)
    assert found({"q": [100], "N": 3}) == 113
    space = found.input_space
    assert repr(space.domain) == "inputs(q: list; public N: int; requires 1 <= N; requires N <= t; where t = 10)"
    assert repr(space.metric) == "InputDistance(LInfDistance(), of='q')"
    assert space.distance({"q": [1, 5], "N": 3}, {"q": [2, 3], "N": 3}) == 2
    assert space.distance({"q": [1, 5], "N": 3}, {"q": [1, 5], "N": 4}) == INFINITY
    assert space.distance({"q": [1, 5], "N": 3}, {"q": [1], "N": 3}) == INFINITY
    assert found.map(2).epsilon == 2 * 10**6
    everything = proved(SPARSE, EVERY, eps=10**6)
    assert everything({"q": [100], "N": 3, "t": 4}) == 107


class Secret:
    """Data that must not be looked at yet."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("the private data were looked at")


@for_each(
    ("public", "match"),
    [
        ({"N": 0, "t": 5}, "N: the program requires 1 <= N"),
        ({"N": 6, "t": 5}, "N, t: the program requires N <= t"),
        ({"N": "six", "t": 5}, "the public input N is not what the program takes: expected an integer"),
        ({"t": 5}, "the data have no 'N': expected a dict with 'q', 'N', 't'"),
    ],
)
def test_a_bad_public_input_is_named_before_private_data_are_read(public: Any, match: str) -> None:
    found = proved(SPARSE, EVERY, eps=1)
    for use in (found, found.invoke, vm.Odometer(found.input_space, vm.PureDP)):
        with pytest.raises(ParameterError, match=match):
            use({"q": Secret(), **public})


def test_a_public_input_for_which_there_is_no_noise_is_named_before_the_program_runs() -> None:
    found = proved(SPARSE, EVERY, eps=1)
    huge = {"q": [1], "N": 2**60, "t": 2**61}
    with pytest.raises(ParameterError, match=r"line 9 .*above 2\^52.*it depends on N, eps"):
        found(huge)
    # Among others in a composition it is an error like any other.
    with pytest.raises(SealedError):
        vm.compose(found.input_space, [found, found])(huge)


def test_a_scale_may_depend_on_the_length() -> None:
    core = program(
        "program p",
        "input q: list",
        "budget eps",
        "requires len(q) >= 1",
        "begin",
        "y :=$ lap(len(q)/eps)",
        "out := y + len(q)",
        "end",
        "return out",
    )
    free = proved(core, EVERY, eps=10**9)
    assert free([5, 6, 7]) == 3
    assert not free.input_space.domain.contains([])
    assert free.map(2).is_finite
    fixed = proved(core, EVERY, eps=10**9, length=3)
    assert fixed.input_space == vm.Space(vm.vectors(int, size=3), vm.LInfDistance())
    with pytest.raises(ParameterError, match=r"q: program p requires 1 <= len\(q\)"):
        proved(core, EVERY, eps=1, length=0)


def test_a_scale_that_depends_on_private_data_is_refused() -> None:
    core = program("program p", "input q: list", "budget eps", "begin", "y :=$ lap(q[0]/eps)", "end", "return y")
    with pytest.raises(ParameterError, match=r"line 5: the scale q\[0\]/eps depends on q, which is private"):
        proved(core, EVERY, eps=1)
