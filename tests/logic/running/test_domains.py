"""What programs require of their inputs, as domains of the library or as domains of inputs."""

from typing import Any

import numpy as np
import pytest
from tests.cases import for_each
from tests.logic.running.programs import (
    ABOVE,
    EVERY,
    SPARSE,
    program,
    proved,
)

import viameter as vm
from viameter.errors import NotInDomain, ParameterError
from viameter.logic.front.adjacent import all_differ


def bounded(*facts: str, sort: str = "list", name: str = "q") -> Any:
    core = program(
        "program p",
        f"input {name}: {sort}",
        "input t: int",
        "input w: list",
        "budget eps",
        *facts,
        "begin",
        "y :=$ lap(1/eps)",
        "end",
        "return y",
    )
    return proved(core, all_differ(name), eps=1, t=7, w=[1, 2]).input_space.domain


@for_each(
    ("facts", "bounds"),
    [
        (["each q: 0 <= q[any.k]", "each q: q[any.k] <= 10"], (0, 10)),
        (["each q: 0 <= q[any.k] and q[any.k] < 10"], (0, 9)),
        (["each q: 0 < q[any.k] and q[any.k] <= t * 2"], (1, 14)),
        (["each q: abs(q[any.k]) <= t"], (-7, 7)),
        (["each q: abs(q[any.k]) < t"], (-6, 6)),
        (["each q: q[any.k] == 4"], (4, 4)),
        (["each q: not q[any.k] < 2", "each q: not 5 <= q[any.k]"], (2, 4)),
        (["each q: q[any.k] <= w[1] + len(w)"], (-(2**63), 4)),
        (["requires t >= 7"], None),
    ],
)
def test_ends_that_are_required_are_bounds_of_the_librarys_vectors(facts: list[str], bounds: Any) -> None:
    assert bounded(*facts) == vm.vectors(int, bounds=bounds)
    about_numbers = [fact.replace("each q: ", "requires ").replace("q[any.k]", "x") for fact in facts]
    assert bounded(*about_numbers, sort="int", name="x") == vm.scalars(int, bounds=bounds)


def test_what_is_required_for_each_element_of_another_list_is_no_bound() -> None:
    head = ("program p", "input x: int", "input w: list", "budget eps", "each w: x <= 3", "begin")
    core = program(*head, "y :=$ lap(1/eps)", "end", "return y")
    assert proved(core, all_differ("x"), eps=1, w=[]).input_space.domain.contains(10)
    assert not proved(core, all_differ("x"), eps=1, w=[0]).input_space.domain.contains(10)


def test_no_data_at_all_are_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"each q: 10 <= q\[any.k\], each q: q\[any.k\] <= 9: no q of 64 bits is so"
    ):
        bounded("each q: 10 <= q[any.k]", "each q: q[any.k] <= 9")


@for_each(
    ("fact", "good", "bad"),
    [
        ("each q: q[any.k] % 2 == 0", [[2, -4], []], [[1], [2, 3]]),
        ("each q: q[any.k] <= q[0]", [[5, 3], []], [[3, 5]]),
        ("each q: q[any.k] <= w[any.k]", [[1, 2], [0, 0, 0]], [[2], [0, 0, 1]]),
        ("requires q[0] <= q[1]", [[1, 2], []], [[2, 1]]),
        ("requires len(q) == 2", [[1, 2]], [[1], []]),
    ],
)
def test_other_requirements_are_checked_when_data_are_handed_over(fact: str, good: Any, bad: Any) -> None:
    domain = bounded(fact)
    for data in good:
        assert domain.contains(data)
        assert domain.why_not(data) is None
    for data in bad:
        assert not domain.contains(data)
        assert domain.why_not(data).startswith("the program requires")
        with pytest.raises(NotInDomain) as caught:
            domain.admit(data)
        assert str(caught.value).startswith(f"the data handed over are not in {domain!r}")


@for_each("data", [None, 5, "12", [1.0], [True], ["1"], [[1]], [2**63], {"q": [2]}, np.array([1.5]), np.array([[2]])])
def test_what_is_no_list_of_integers_is_no_member(data: Any) -> None:
    domain = bounded("each q: q[any.k] % 2 == 0 or true == false")
    assert not domain.contains(data)
    assert "2**63" not in (domain.why_not(data) or "") and str(2**63) not in (domain.why_not(data) or "")


def test_data_with_a_will_of_their_own_say_nothing() -> None:
    class Rude(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            raise KeyError("patient 42")

    domain = proved(SPARSE, EVERY, eps=1).input_space.domain
    with pytest.raises(ParameterError) as caught:
        domain.admit(Rude(q=[1], N=1, t=1))
    assert "42" not in str(caught.value)
    for value in ({"q": [1], "N": 1, "t": 1, "more": 2}, {"N": 1, "t": 1}, {"q": "12", "N": 1, "t": 1}):
        with pytest.raises(NotInDomain):
            domain.admit(value)


def test_domains_of_programs_with_the_same_inputs_are_equal() -> None:
    one, other = proved(SPARSE, EVERY, eps=1), proved(SPARSE, EVERY, eps=2)
    assert one.input_space == other.input_space
    assert one != other
    assert one == proved(SPARSE, EVERY, eps=1)
    assert hash(one) == hash(proved(SPARSE, EVERY, eps=1))
    assert proved(SPARSE, EVERY, eps=1, t=3) != proved(SPARSE, EVERY, eps=1, t=4)
    assert one.input_space != proved(SPARSE, EVERY, eps=1, t=4).input_space


def test_measurements_are_equal_only_with_the_same_bound() -> None:
    one = proved(ABOVE, EVERY, eps=1, t=1)
    assert one == proved(ABOVE, all_differ("q", by=1), eps=1, t=1)
    wider = proved(ABOVE, all_differ("q", by=2), eps=1, t=1)
    assert one.input_space == wider.input_space
    assert one != wider
    assert one != proved(ABOVE, EVERY, "2*eps", eps=1, t=1)
    # The noise may be another where the bound is not.
    assert proved(ABOVE, EVERY, "1/2", eps=1, t=1) != proved(ABOVE, EVERY, "1/2", eps=2, t=1)


def test_public_lists_are_lists_like_any_other() -> None:
    core = program("program p", "input q: list", "input w: list", "begin", "same := q == w", "end", "return same")
    assert proved(core, EVERY, "0", w=[1, 2])([1, 2]) is True
    assert proved(core, EVERY, "0")({"q": [1, 2], "w": [1, 2]}) is True
