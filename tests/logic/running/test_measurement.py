"""Proved programs as measurements: what they cost, what they take, and that they go wherever measurements go."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.logic.running.programs import (
    ABOVE,
    EVERY,
    HISTOGRAM,
    LAPLACE,
    ONE,
    RESPONSE,
    Function,
    Missing,
    Verdict,
    amount,
    certificate,
    program,
    proved,
    verdict,
)

import viameter as vm
from viameter import neighborhood as nb
from viameter.arith import INFINITY
from viameter.errors import NotExact, NoTheorem, NotInDomain, NumberError, OverBudget, ParameterError, SealedError
from viameter.logic.front.adjacency import Adjacency
from viameter.logic.front.adjacent import added_or_removed, all_differ, one_differs, related
from viameter.logic.front.decorator import program_from_source
from viameter.logic.lang.scales import Amount, Monomial
from viameter.logic.running import ProgramMeasurement, measurement
from viameter.logic.verdict import Status

LIST = vm.Space(vm.vectors(int), vm.LInfDistance())


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
    shown = certificate(function, "eps")
    found = measurement(function, verdict=Verdict(amount("eps", ABOVE), certificate=shown), eps="1/2", t=10)
    text = str(found.explain(2))
    assert "On data at most 2 apart in LInfDistance(), releases are pure(1)-close in PureDP." in text
    assert (
        "program above_threshold(eps=1/2, t=10), proved to cost eps where every element of q differs by at most 1"
        in text
    )
    assert f"(proof certificate {shown['digest']})" in text
    assert "[verified-program, outward]" in text
    assert found.explain(1).assumptions == ()
    document = found.certificate(2).to_json()["derivation"]
    assert document["kind"] == "derived"
    assert document["parameters"] == {
        "program": "above_threshold", "adjacency": "every element of q differs by at most 1", "costs": "eps",
        "proof": f"proof certificate {shown['digest']}", "loss": {"measure": "pure", "epsilon": "1/2"},
        "by": "1", "spacing": "1", "moves": "1", "most": "inf",
    }  # fmt: skip
    assert "a proof without certificate" in str(proved(ABOVE, EVERY, eps=1, t=10).explain(1))


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
    assert proved(RESPONSE, all_differ("b"), "ln(1)").map(1) == vm.pure(0)
    negative = Verdict(Amount((Monomial.of(Fraction(1), (), "ln(1/2)"),)))
    with pytest.raises(ParameterError, match="logarithm of a number below 1"):
        measurement(Function(RESPONSE, all_differ("b")), verdict=negative)


def test_concentrated_and_approximate_verdicts_give_losses_of_their_measure() -> None:
    core = program("program g", "input q: list", "begin", "y :=$ gauss(10, q[0])", "end", "return y")

    def made(found: Any, **given: Any) -> Any:
        return measurement(Function(core, EVERY), verdict=found, **given)

    concentrated = made(verdict("1/200", core, measure="zcdp"))
    assert (concentrated.measure, concentrated.map(1), concentrated.map(3)) == (
        vm.ZCDP,
        vm.zcdp("1/200"),
        vm.zcdp("9/200"),
    )
    assert "proved to cost rho 1/200 where" in str(concentrated.explain(1))
    # A rho for each element of a list is not the rho of one.
    several = made(verdict("1/200*len(q)", core, measure="zcdp"), length=3)
    assert several.map(1) == vm.zcdp("3/200")
    approximate = made(verdict("1", core, measure="approx", delta=Fraction(1, 10**6)))
    assert (approximate.measure, approximate.map(1)) == (vm.ApproxDP, vm.approx(1, "1e-6"))
    assert "proved to cost 1 with delta 1/1000000 where" in str(approximate.explain(1))
    assert approximate.map(2).delta > Fraction(2, 10**6)
    with pytest.raises(NoTheorem, match="the verdict is in 'renyi': expected 'pure', 'zcdp' or 'approx'"):
        made(verdict("1", core, measure="renyi"))


SEVERAL = program("program g", "input q: list", "begin", "y := q[0]", "end", "return y")


def shown_for_each(epsilon: str, delta: str, proved_for_each: str, base: str) -> Any:
    """A verdict whose bound forgets what its proof says: that so much of a base is spent for each element."""
    each = replace(amount(f"{proved_for_each}*len(q)", SEVERAL).parts[0], base=base)

    class Proof:
        claim = Amount((each,))

    class Found(Verdict):
        proofs = (Proof(),)

    return Found(amount(epsilon, SEVERAL), measure="approx", delta=Fraction(delta))


def test_a_delta_that_is_proved_for_each_round_is_counted_for_each_round() -> None:
    found = shown_for_each("1", "1/1000", "1/1000", "delta")
    assert measurement(Function(SEVERAL, EVERY), verdict=found, length=5).map(1) == vm.approx(1, "1/200")
    with pytest.raises(ParameterError, match="depends on the length of q: fix it"):
        measurement(Function(SEVERAL, EVERY), verdict=found)


def test_a_rho_that_is_proved_for_each_round_is_counted_for_each_round() -> None:
    found = shown_for_each("3/5", "1/1000000", "1/200", "rho")
    assert measurement(Function(SEVERAL, EVERY), verdict=found, length=1).map(1) == vm.approx("3/5", "1e-6")
    with pytest.raises(NoTheorem, match="what was proved comes to rho 1/2 here, which does not give approx"):
        measurement(Function(SEVERAL, EVERY), verdict=found, length=100)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


# Public inputs


SPARSE = program(
    "program sparse", "input q: list", "input N: int", "input t: int", "budget eps", "requires 1 <= N",
    "requires N <= t", "begin", "y :=$ lap(2*N/eps)", "out := y + N + t + q[0]", "end", "return out",
)  # fmt: skip


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


@pytest.mark.parametrize(
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


# Domains


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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "data", [None, 5, "12", [1.0], [True], ["1"], [[1]], [2**63], {"q": [2]}, np.array([1.5]), np.array([[2]])]
)
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


def test_public_lists_are_lists_like_any_other() -> None:
    core = program("program p", "input q: list", "input w: list", "begin", "same := q == w", "end", "return same")
    assert proved(core, EVERY, "0", w=[1, 2])([1, 2]) is True
    assert proved(core, EVERY, "0")({"q": [1, 2], "w": [1, 2]}) is True


# Grids


GRID = """
def noisy(q: list[vm.Between(0, 1, grid="1/100")], eps: vm.Eps) -> vm.Grid("1/100"):
    s = q[0] + q[1]
    return s + vm.lap(1 / eps)
"""


def test_numbers_on_a_grid_are_exact_going_in_and_coming_out() -> None:
    made = program_from_source(GRID, adjacent=all_differ("q", by="1/10"))
    found = proved(made.core, made.adjacent, eps=10**9)
    assert found(["0.25", Fraction(1, 2)]) == Fraction(3, 4)
    assert type(found([0, 1])) is Fraction
    assert found([Decimal("0.01"), 1]) == Fraction(101, 100)
    domain = found.input_space.domain
    for wrong in (["0.255", 0], [0.25, 0], ["x", 0], [2, 0], [-1, 0], [True, 0], [None, 0], "01", 5):
        assert not domain.contains(wrong)
        assert "0.255" not in str(domain.why_not(wrong))
    assert found.input_space.distance(["0.25", 0], ["0.5", 0]) == Fraction(1, 4)
    assert [found.map(d).epsilon // 10**9 for d in ("0.009", "0.01", "0.1", "0.109", "0.11", "0.25")] == [
        0,
        1,
        1,
        1,
        2,
        3,
    ]
    assert repr(found.input_space.metric) == "InputDistance(LInfDistance(), of='q', grid='1/100')"


def test_numbers_on_a_grid_in_other_metrics() -> None:
    one = program_from_source(GRID, adjacent=one_differs("q", by="1/10"))
    found = proved(one.core, one.adjacent, eps=1)
    assert repr(found.input_space.metric) == "InputDistance(L1Distance(), of='q', grid='1/100')"
    assert [found.map(d) for d in ("0.01", "0.1", "0.25")] == [vm.pure(1), vm.pure(10), vm.pure(25)]
    replaced = program_from_source(GRID, adjacent=one_differs("q", by=None))
    rows = proved(replaced.core, replaced.adjacent, eps=1)
    assert rows.input_space.metric.counts
    assert rows.map(2) == vm.pure(2)
    assert rows.input_space.distance(["0.25", 0], ["0.5", 0]) == 1
    with pytest.raises(NumberError, match="not whole"):
        rows.map("1/2")


def test_outputs_on_a_grid_are_lists_of_fractions_or_truth_values() -> None:
    text = """
def noisy(q: list[vm.Grid("1/4")], eps: vm.Eps) -> list[vm.Grid("1/4")]:
    out = []
    for x in q:
        out.append(x + vm.lap(1 / eps))
    return out
"""
    made = program_from_source(text, adjacent=one_differs("q"))
    assert proved(made.core, made.adjacent, eps=10**9)(["1/4", 2]) == [Fraction(1, 4), Fraction(2)]


def test_public_inputs_on_a_grid_are_read_exactly() -> None:
    text = (
        'def noisy(x: vm.Grid("1/4"), c: vm.Grid("1/4"), eps: vm.Eps) -> vm.Grid("1/4"): return x + c + vm.lap(1 / eps)'
    )
    made = program_from_source(text, adjacent=all_differ("x"))
    assert proved(made.core, made.adjacent, eps=10**9, c="0.75")("1/4") == 1
    with pytest.raises(
        ParameterError, match=r"c='0[.]8': expected a number that is a multiple of 1/4; a number is no multiple"
    ):
        proved(made.core, made.adjacent, eps=1, c="0.8")


# Verdicts


def test_a_program_that_is_not_proved_is_no_measurement() -> None:
    for status, why in ((Status.UNKNOWN, "no shifts were found"), (Status.REFUTED, "")):
        found = Verdict(amount("eps", ABOVE), status=status, missing=Missing(why) if why else None)
        with pytest.raises(
            NoTheorem, match=f"program above_threshold is not proved, but {status.name}: {why or 'verdict.explain'}"
        ):
            measurement(Function(ABOVE, EVERY), verdict=found, eps=1, t=1)


def test_a_verdict_of_something_else_is_refused() -> None:
    mine, bound = Function(ABOVE, EVERY), amount("eps", ABOVE)

    def use(shown: Any, found: Any = None) -> None:
        measurement(mine, verdict=found or Verdict(bound, certificate=shown), eps=1, t=1)

    use(certificate(mine, "eps"))
    with pytest.raises(NoTheorem, match="another program than above_threshold"):
        use(certificate(Function(HISTOGRAM, EVERY), "eps"))
    for other in (all_differ("q", by=2), ONE, all_differ("q", monotone=True)):
        with pytest.raises(NoTheorem, match="for another adjacency than 'every element of q differs by at most 1'"):
            use(certificate(Function(ABOVE, other), "eps"))
    with pytest.raises(NoTheorem, match="make different claims"):
        use(certificate(mine, "2*eps"))
    with pytest.raises(NoTheorem, match="make different claims"):
        use(None, Verdict(bound, "zcdp", certificate=certificate(mine, "eps")))
    monotone = Function(ABOVE, all_differ("q", monotone=True))
    one_way = {**certificate(monotone, "eps"), "proofs": certificate(monotone, "eps")["proofs"][:1]}
    with pytest.raises(NoTheorem, match="for another adjacency"):
        measurement(monotone, verdict=Verdict(bound, certificate=one_way), eps=1, t=1)


def test_without_a_verdict_the_program_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import ModuleType

    asked: list[Any] = []

    def verify(program: Any) -> Verdict:
        asked.append(program)
        return verdict("3*eps", program.core)

    module: Any = ModuleType("viameter.logic.verify")
    module.verify = verify
    monkeypatch.setitem(sys.modules, "viameter.logic.verify", module)
    function = Function(ABOVE, EVERY)
    assert measurement(function, eps=1, t=1).map(1) == vm.pure(3)
    assert asked == [function]


def test_programs_that_the_prover_proves_are_measurements() -> None:
    response = program_from_source("def tell(b: bool) -> bool: return b == vm.flip('3/4')", adjacent=all_differ("b"))
    found = response.measurement()
    assert math.isclose(found.map(1).epsilon, math.log(3))
    assert "(proof certificate " in str(found.explain(1))
    text = "def noisy(x: int, eps: vm.Eps) -> int: return 2 * x + vm.lap(4 / eps)"
    twice = program_from_source(text, adjacent=all_differ("x", by=3)).measurement(eps="1/2")
    assert twice.map(3) == vm.pure("3/4")
    bell = program_from_source("def bell(x: int) -> int: return x + vm.gauss(10)", adjacent=all_differ("x"))
    assert bell.measurement().map(2) == vm.zcdp("1/50")


# Spaces


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


# Everywhere


def test_programs_compose_with_one_another_and_with_other_measurements() -> None:
    above, counts = (
        proved(ABOVE, EVERY, eps="1/2", t=5, space=vm.Space(vm.vectors(int), vm.L1Distance())),
        proved(HISTOGRAM, ONE, eps="1/4"),
    )
    both = vm.compose(counts.input_space, [above, counts, vm.laplace(scale=2)])
    assert both.map(2) == vm.pure("5/2")
    first, second, third = both([1, 2, 3])
    assert first in (-1, 0, 1, 2)
    assert len(second) == len(third) == 3
    text = str(both.explain(1))
    assert "program above_threshold(eps=1/2, t=5)" in text and "program noisy_histogram(eps=1/4)" in text


def test_programs_are_asked_under_an_odometer_and_a_filter() -> None:
    found = proved(ABOVE, EVERY, eps="1/2", t=5)
    meter = vm.Odometer(found.input_space, vm.PureDP)([1, 2, 3])
    assert meter(found) in (-1, 0, 1, 2)
    assert meter(found) in (-1, 0, 1, 2)
    assert (meter.loss(d_in=1), meter.loss(d_in=3)) == (vm.pure(1), vm.pure(3))
    assert "program above_threshold" in str(meter.explain(d_in=1))
    capped = vm.Odometer(found.input_space, vm.PureDP).filter(d_in=1, budget=vm.pure("0.6"))([1, 2, 3])
    capped(found)
    with pytest.raises(OverBudget):
        capped(found)
    text = meter.state(d_in=1).to_json()
    assert vm.Odometer.resume(text, [1, 2, 3], space=found.input_space).loss(d_in=1) == vm.pure(1)


def test_programs_of_several_inputs_are_asked_under_an_odometer() -> None:
    found = proved(SPARSE, EVERY, eps=1)
    meter = vm.Odometer(found.input_space, vm.PureDP)({"q": [1], "N": 2, "t": 3})
    assert isinstance(meter(found), int)
    assert meter.loss(d_in=2) == vm.pure(2)
    both = vm.compose(found.input_space, [found, proved(SPARSE, EVERY, eps=2)])
    assert both.map(1) == vm.pure(3)
    assert len(both({"q": [1], "N": 2, "t": 3})) == 2


CLIPPED = """
def clipped(q: list[int], eps: vm.Eps) -> int:
    s = 0
    for x in q:
        s = s + min(max(x, 0), 1)
    return s + vm.lap(1 / eps)
"""


def test_programs_are_leaves_of_neighborhoods() -> None:
    replaced = program_from_source(CLIPPED, adjacent=one_differs("q", by=None))
    leaf = proved(replaced.core, replaced.adjacent, eps="1/3")
    assert leaf.input_space == vm.Space(vm.vectors(int), vm.HammingDistance())
    parts = nb.partition(2, by="value")
    leaves = [nb.leaf(part, leaf, mode="common") for part in parts]
    assert nb.compose(nb.bounded_ordered(), leaves).loss == vm.pure("2/3")
    added = program_from_source(CLIPPED, adjacent=added_or_removed("q"))
    leaf = proved(added.core, added.adjacent, eps="1/3")
    assert nb.compose(nb.insert_delete(), [nb.leaf(part, leaf) for part in parts]).loss == vm.pure("1/3")


def test_losses_of_programs_convert_and_releases_are_processed() -> None:
    found = proved(LAPLACE, all_differ("x"), eps="1/2") >> vm.postprocess(abs)
    assert found(-5) >= 0
    assert found.to(vm.ZCDP).map(1) == vm.zcdp("1/8") or found.to(vm.ZCDP).map(1).rho < Fraction(1, 8)
    assert isinstance(found.to(vm.ZCDP), ProgramMeasurement)
    assert "verified-program" in str(found.to(vm.ZCDP).explain(1))


def test_a_run_that_fails_says_nothing_of_the_data() -> None:
    core = program("program calls", "input x: int", "begin", "y :=$ call m(x)", "end", "return y")
    core.mechanisms["m"] = str
    found = proved(core, all_differ("x"), "1")
    with pytest.raises(SealedError) as caught:
        found(424242)
    assert "424242" not in str(caught.value)


def test_randomized_response_costs_the_logarithm_of_its_odds() -> None:
    found = proved(RESPONSE, all_differ("b"), "ln(3)")
    assert math.isclose(found.map(1).epsilon, math.log(3))
    assert found.map(0) == vm.pure(0)
    assert {found(True) for _ in range(200)} == {True, False}
