"""Proved programs as measurements: what they cost, and what is refused before they are made."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each
from tests.logic.running.programs import (
    ABOVE,
    EVERY,
    HISTOGRAM,
    LAPLACE,
    LIST,
    ONE,
    RESPONSE,
    Function,
    claimed,
    document,
    program,
    proved,
    verdict,
)

import viameter as vm
from viameter.errors import NotExact, NumberError, ParameterError
from viameter.logic.front.adjacency import Adjacency
from viameter.logic.front.adjacent import all_differ
from viameter.logic.running import ProgramMeasurement, measurement


def test_a_program_is_a_measurement_with_the_map_that_was_proved() -> None:
    found = proved(ABOVE, EVERY, eps="1/2", t=10)
    assert isinstance(found, ProgramMeasurement)
    assert found.input_space == LIST
    assert found.measure is vm.PureDP
    assert [found.map(d) for d in (0, 1, 2, "7/2")] == [vm.pure(0), vm.pure("1/2"), vm.pure(1), vm.pure("3/2")]
    assert found.map("inf") == vm.PureDP.infinite
    assert found.check(1, vm.pure("1/2"))
    assert found([-(10**9), 10**9, 0]) == 1
    assert found(np.array([10**9])) == 0
    assert found([]) == -1


def test_what_is_released_depends_on_budgets_and_public_inputs() -> None:
    sharp = proved(ABOVE, EVERY, eps=10**6, t=10)
    assert [sharp([x]) for x in (9, 10, 11)] == [-1, 0, 0]
    assert proved(LAPLACE, all_differ("x"), eps=10**6)(41) == 41
    assert proved(HISTOGRAM, ONE, eps=10**6)([3, 1, 2]) == [3, 1, 2]


def test_the_explanation_says_what_was_proved_for_which_program_and_adjacency() -> None:
    function = Function(ABOVE, EVERY)
    shown = document(function, claimed("eps", ABOVE))
    found = proved(ABOVE, EVERY, eps="1/2", t=10)
    text = str(found.explain(2))
    assert "On data at most 2 apart in LInfDistance(), releases are pure(1)-close in PureDP." in text
    assert (
        "program above_threshold(eps=1/2, t=10), proved to cost eps where every element of q differs by at most 1"
        in text
    )
    assert f"(proof certificate {shown['digest']})" in text
    assert "[verified-program, outward]" in text
    assert found.explain(1).assumptions == ()
    node = found.certificate(2).to_json()["derivation"]
    assert node["kind"] == "derived"
    assert json.loads(node["parameters"].pop("certificate")) == shown
    assert node["parameters"] == {
        "mechanisms": [], "budgets": [["eps", "1/2"]], "public": [["t", "10"]], "lengths": [],
        "loss": {"measure": "pure", "epsilon": "1/2"}, "by": "1", "spacing": "1", "moves": "1", "most": "inf",
    }  # fmt: skip


def test_bounds_are_evaluated_at_budgets_and_public_inputs() -> None:
    core = program(
        "program p", "input q: list", "input N: int", "input w: list", "budget eps", "budget eps2", "requires N >= 1",
        "begin", "y :=$ lap(2*N/eps)", "end", "return y",
    )  # fmt: skip
    cases: dict[str, Any] = {
        "eps": "1/2", "2*N*eps": 3, "eps + eps2": "5/6", "len(q)*eps": 2, "1/10": "1/10", "3/2*N*len(q)*eps2 + 1": 7,
        "len(w)*eps": "3/2", "0": 0,
    }  # fmt: skip
    for bound, epsilon in cases.items():
        found = proved(core, EVERY, bound, eps="1/2", eps2=Fraction(1, 3), N=3, w=[1, 2, 3], length=4)
        assert found.map(1) == vm.pure(epsilon), bound


def test_logarithms_are_rounded_up() -> None:
    loss = proved(RESPONSE, all_differ("b"), "2*ln(3) + ln(3/2)").map(1)
    import gmpy2  # type: ignore[import-untyped]

    with gmpy2.context(precision=300):
        exact = 2 * gmpy2.log(gmpy2.mpfr(3)) + gmpy2.log(gmpy2.mpfr(3) / 2)
        above = gmpy2.mpfr(gmpy2.mpq(loss.epsilon.numerator, loss.epsilon.denominator)) - exact
        assert 0 < above < gmpy2.mpfr(2) ** -60


def test_concentrated_and_approximate_verdicts_give_losses_of_their_measure() -> None:
    core = program("program g", "input q: list", "begin", "y :=$ gauss(10, q[0])", "end", "return y")

    def made(text: str, measure: str, delta: str | None = None, **given: Any) -> Any:
        function = Function(core, EVERY)
        found = verdict(function, claimed(text, core, measure=measure, delta=delta))
        return measurement(function, verdict=found, **given)

    concentrated = made("1/200", "zcdp")
    assert (concentrated.measure, concentrated.map(1), concentrated.map(3)) == (
        vm.ZCDP,
        vm.zcdp("1/200"),
        vm.zcdp("9/200"),
    )
    assert "proved to cost rho 1/200 where" in str(concentrated.explain(1))
    # A rho for each element of a list is not the rho of one.
    assert made("1/200*len(q)", "zcdp", length=3).map(1) == vm.zcdp("3/200")
    approximate = made("1", "approx", "1/1000000")
    assert (approximate.measure, approximate.map(1)) == (vm.ApproxDP, vm.approx(1, "1e-6"))
    assert "proved to cost 1 with delta 1/1000000 where" in str(approximate.explain(1))
    assert approximate.map(2).delta > Fraction(2, 10**6)
    assert made("1", "approx", "0").map(1) == vm.approx(1, 0)
    for measure, delta in (("renyi", None), ("pure", "1/10"), ("zcdp", "1/10"), ("approx", None), ("approx", "2")):
        if measure != "zcdp":  # the delta of which is not read
            with pytest.raises(ParameterError, match=r"claim|expected"):
                made("1", measure, delta)


@for_each(
    ("bound", "given", "match"),
    [
        ("N*eps", {}, r"the bound N\*eps depends on N: give it, as in N=10"),
        ("len(q)*eps", {"N": 3}, r"the bound len\(q\)\*eps depends on the length of q: fix it, as in length=.'q': 100"),
        ("len(w)*eps", {"N": 3}, "depends on the length of w"),
        ("q[0]*eps", {"N": 3, "length": 4}, r"depends on q: give it"),
        ("N*eps", {"N": -3}, "negative in N.eps at these inputs"),
    ],
)
def test_what_a_bound_depends_on_has_to_be_given(bound: str, given: Any, match: str) -> None:
    core = program(
        "program p",
        "input q: list",
        "input N: int",
        "input w: list",
        "budget eps",
        "begin",
        "y :=$ lap(1/eps)",
        "end",
        "return y",
    )
    with pytest.raises(ParameterError, match=match):
        proved(core, EVERY, bound, eps=1, **given)


@for_each(
    ("given", "error", "match"),
    [
        ({}, ParameterError, 'program above_threshold needs its budget eps: give it, as in eps="1/2"'),
        ({"eps": 0.5}, NotExact, "eps=0.5 is a float"),
        ({"eps": 0}, ParameterError, "eps=0 is not above 0: a budget is positive"),
        ({"eps": "-1"}, ParameterError, "eps=-1 is not above 0"),
        ({"eps": "inf"}, NumberError, "eps='inf' is not a number"),
        ({"eps": 1, "q": [1]}, ParameterError, "q is private: it is the data of the measurement"),
        ({"eps": 1, "s": 1}, ParameterError, "no parameter 's': its budgets are eps, its public inputs t"),
        ({"eps": 1, "t": "3"}, ParameterError, "t='3': expected an integer"),
        ({"eps": 1, "t": True}, ParameterError, "t=True: expected an integer"),
        ({"eps": 1, "t": [3]}, ParameterError, "t=a value of type list: expected an integer"),
        ({"eps": 1, "length": -1}, NumberError, "length=-1 is negative"),
        ({"eps": 1, "length": {"r": 1}}, ParameterError, "length: 'r' is no list among the data; those are q"),
        (
            {"eps": "1e-20"},
            ParameterError,
            r"line 6 .noise :=\$ lap\(2/eps\). cannot be drawn: .*above 2\^52.*depends on eps",
        ),
    ],
)
def test_arguments_that_make_no_sense_are_refused_by_name(given: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        proved(ABOVE, EVERY, **given)


def test_names_that_measurement_needs_itself_are_refused() -> None:
    for name in ("length", "space", "verdict"):
        core = program("program p", f"input {name}: int", "input q: list", "begin", "y := 0", "end", "return y")
        with pytest.raises(
            ParameterError, match=f"calls an input '{name}', which measurement\\(...\\) needs: rename it"
        ):
            proved(core, EVERY, "0")


def test_an_adjacency_of_no_input_is_refused() -> None:
    class Nothing(type(EVERY)):  # type: ignore[misc]  # a class of an object
        private: frozenset[str] = frozenset()

    with pytest.raises(ParameterError, match="no private input at all"):
        proved(ABOVE, Nothing("q", None, False, False), eps=1, t=1)

    class Another(Adjacency):
        private: frozenset[str] = frozenset({"t"})

        def directions(self, program: Any) -> Any:
            return EVERY.directions(program)

    with pytest.raises(ParameterError, match="other private inputs than its relation"):
        proved(ABOVE, Another(), eps=1)
