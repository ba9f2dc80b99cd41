"""Coupling and what is read: wrong claims are refused when made, nothing can be changed, tables are drawn."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction
from operator import eq
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each

from viameter.errors import NotExact, NumberError, ParameterError
from viameter.logic.couplings import STAR, Coupling, check_coupling, least_delta, least_epsilon
from viameter.logic.couplings.powers import at_most_power

GOOD: dict[str, Any] = {
    "mu1": {"h": "1/2", "t": "1/2"},
    "mu2": {"h": "1/4", "t": "3/4"},
    "relation": {("h", "h"), ("t", "t")},
    "factor": "3/2",
    "epsilon": "0.41",
    "delta": "1/8",
    "left": {("h", "h"): "1/2", ("t", "t"): "1/2"},
    "right": {("h", "h"): "1/4", ("t", "t"): "3/4"},
    "event": {"h"},
    "exact": True,
}


def test_a_right_coupling_is_taken_and_its_numbers_are_exact() -> None:
    coupling = Coupling(**GOOD)
    assert coupling.mu1 == {"h": Fraction(1, 2), "t": Fraction(1, 2)}
    assert (coupling.factor, coupling.epsilon, coupling.delta) == (Fraction(3, 2), Fraction(41, 100), Fraction(1, 8))
    assert coupling.check() == []


@for_each(
    ("change", "said"),
    [
        ({"delta": "1/9", "event": None, "exact": False}, "distance of left from right is 1/8"),
        ({"factor": "4/3", "event": None, "exact": False}, "distance of left from right is 1/6"),
        ({"epsilon": "0.40"}, r"factor 3/2 is more than e\*\*epsilon"),
        ({"epsilon": 0}, r"factor 3/2 is more than e\*\*epsilon"),
        ({"event": {"t"}}, "shows that delta is at least -5/8"),
        ({"event": set()}, "shows that delta is at least 0"),
        ({"event": {"h", "edge"}}, "'edge', which is not a value of mu1"),
        ({"event": None}, "no event is given"),
        ({"delta": "1/7"}, "delta is at least 1/8, not 1/7"),
        ({"relation": {("h", "h")}}, "not in the relation"),
        ({"left": {("h", "h"): 1}}, "marginal of left"),
        ({"right": {("h", "h"): 1}}, "marginal of right"),
        ({"left": {("h", STAR): "1/2", ("t", "t"): "1/2"}, "delta": "1/2"}, "not a pair of values"),
        ({"factor": "1/2"}, "below 1"),
        ({"mu1": {"h": 1}}, "'t' is not a value of mu1"),
    ],
)
def test_a_wrong_claim_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Coupling(**GOOD | change)


def test_a_coupling_cannot_be_changed() -> None:
    given: Any = {
        name: dict(value) if name in ("mu1", "mu2", "left", "right") else value for name, value in GOOD.items()
    }
    coupling = Coupling(**given)
    given["left"]["h", "h"] = "3/4"
    assert coupling.left["h", "h"] == Fraction(1, 2)
    with pytest.raises(TypeError):
        coupling.left["h", "h"] = Fraction(1)  # type: ignore[index]
    with pytest.raises(TypeError):
        coupling.mu1["h"] = Fraction(1)  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        coupling.delta = Fraction(0)  # type: ignore[misc]


def test_a_check_finds_what_was_forced_in_afterwards() -> None:
    coupling = Coupling(**GOOD)
    object.__setattr__(coupling, "delta", Fraction(1, 9))
    assert [fault.kind for fault in coupling.check()] == ["distance", "event"]


def test_a_coupling_can_be_copied_and_pickled() -> None:
    coupling = least_delta({0: "1/2", 1: "1/2"}, {0: "1/4", 2: "3/4"}, relation=eq, factor=2, star=True)
    for again in (copy.deepcopy(coupling), pickle.loads(pickle.dumps(coupling))):
        assert again == coupling
        assert again.check() == []


@for_each("which", ["mu1", "mu2"])
@for_each(
    ("given", "error", "said"),
    [
        ({}, ParameterError, "has no values"),
        ([0, 1], ParameterError, "of type list: expected a mapping"),
        ({0: "1/2", 1: "1/3"}, ParameterError, "sum to 5/6: expected exactly 1; .* such as None"),
        ({0: "1/2", 1: "2/3"}, ParameterError, "sum to 7/6"),
        ({0: "3/2", 1: "-1/2"}, NumberError, r"\[1\]=-1/2 is negative"),
        ({0: 0.5, 1: 0.5}, NotExact, r"\[0\]=0.5 is a float"),
        ({0: 1.0}, NotExact, "is a float"),
        ({0: True}, NumberError, "truth value"),
        ({STAR: 1}, ParameterError, "the star as a value"),
    ],
)
def test_what_is_no_distribution_is_refused_everywhere(which: str, given: Any, error: type, said: str) -> None:
    mus: Any = {"mu1": {0: 1}, "mu2": {0: 1}} | {which: given}
    for ask in (
        lambda: least_delta(**mus, relation=eq, factor=1, star=True),
        lambda: least_epsilon(**mus, relation=eq, delta=0, star=True),
        lambda: check_coupling(**mus, left={}, right={}, relation=eq, factor=1, delta=0),
    ):
        with pytest.raises(error, match=f"{which}.*{said}|{said}.*{which}"):
            ask()


@for_each(
    ("relation", "said"),
    [
        ("==", "of type str: expected a function"),
        ([(0, 0)], "of type list: expected a function"),
        ({0}, r"is 0: expected a pair \(a, b\)"),
        ({(0, 0, 0)}, "expected a pair"),
        ({(0, 9)}, "9 is not a value of mu2: give it probability 0"),
        ({(9, 0)}, "9 is not a value of mu1"),
        (lambda a, b: "no", r"a value of type str for \(0, 0\): expected True or False"),
        (lambda a, b: None, "type NoneType"),
    ],
)
def test_what_is_no_relation_is_refused(relation: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        least_delta({0: 1}, {0: 1}, relation=relation, factor=1)
    with pytest.raises(ParameterError, match=said):
        check_coupling({0: 1}, {0: 1}, {(0, 0): 1}, {(0, 0): 1}, relation=relation, factor=1, delta=0)


def test_truth_values_of_numpy_are_taken() -> None:
    assert least_delta({0: 1}, {0: 1}, relation=np.equal, factor=1).delta == 0


@for_each(
    ("price", "error", "said"),
    [
        ({}, ParameterError, "neither given"),
        ({"epsilon": 0, "factor": 1}, ParameterError, "both given"),
        ({"factor": "0.99"}, ParameterError, "below 1"),
        ({"factor": 1.5}, NotExact, "factor=1.5 is a float"),
        ({"epsilon": 0.3}, NotExact, "epsilon=0.3 is a float"),
        ({"epsilon": "-0.1"}, NumberError, "epsilon=-0.1 is negative"),
        ({"epsilon": float("inf")}, NumberError, "epsilon=inf"),
    ],
)
def test_one_of_epsilon_and_factor_is_given_exactly(price: dict[str, Any], error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        least_delta({0: 1}, {0: 1}, relation=eq, **price)
    with pytest.raises(error, match=said):
        check_coupling({0: 1}, {0: 1}, {(0, 0): 1}, {(0, 0): 1}, relation=eq, delta=0, **price)


def test_comparisons_with_powers_of_e_are_exact() -> None:
    # The first 40 digits of e, and one more in the last.
    e = Fraction("2.718281828459045235360287471352662497757")
    assert at_most_power(e, Fraction(1))
    assert not at_most_power(e + Fraction(1, 10**39), Fraction(1))
    assert at_most_power(Fraction(1), Fraction(0)) and not at_most_power(Fraction(10**40 + 1, 10**40), Fraction(0))
    assert at_most_power(Fraction(1, 2), Fraction(0))


def test_tables_have_a_row_and_a_column_for_each_value_and_a_star_where_it_is_used() -> None:
    mu1, mu2 = {"<a>": "1/2", 1: "1/2"}, {"<a>": "1/3", 2: "2/3"}
    drawn = str(least_delta(mu1, mu2, relation=eq, factor=2, star=True))
    assert drawn.splitlines() == [
        "coupling: factor = 2, epsilon <= 0.69314718056, delta = 1/2",
        "mu_L  <a>  2  *",
        "<a>   0.5",
        "1             0.5",
        "mu_R  <a>  2",
        "<a>   1/3",
        "1",
        "*          2/3",
    ]


def test_html_shows_the_same_cells_and_escapes_values() -> None:
    page = least_delta({"<a>": 1}, {"<a>": "0.2", "b": "0.8"}, relation=lambda a, b: True, factor=1)._repr_html_()
    assert page.startswith("<p>coupling: factor = 1, epsilon = 0, delta = 0</p><table>")
    assert page.count("<table>") == page.count("</table>") == 2
    assert "<th>&mu;<sub>L</sub></th><th>&lt;a&gt;</th><th>b</th>" in page
    assert "<tr><th>&lt;a&gt;</th><td>0.2</td><td>0.8</td></tr>" in page
    assert "<a>" not in page


def test_large_tables_are_cut_and_labels_are_kept_on_one_line() -> None:
    mu: Any = dict.fromkeys(range(20), "1/20")
    lines = str(least_delta(mu, mu, relation=eq, factor=1)).splitlines()
    assert lines[1].endswith("15    and 4 more")
    assert [line for line in lines if line.startswith("and 4 more")] == ["and 4 more"] * 2
    odd = str(least_delta({"a\nb": 1}, {"x" * 99: 1}, relation=lambda a, b: True, factor=1)).splitlines()
    assert odd[1] == "mu_L    " + "x" * 21 + "..."
    assert odd[2] == "'a\\nb'  1"


def test_an_upper_bound_is_called_one() -> None:
    inexact = least_delta({0: 1, 1: 0}, {0: "1/2", 1: "1/2"}, relation=eq, epsilon="1/2")
    assert repr(inexact).endswith("an upper bound, of 2 and 2 values)")
    exact = least_delta({0: 1, 1: 0}, {0: "1/2", 1: "1/2"}, relation=eq, factor="3/2")
    assert repr(exact) == "Coupling(factor = 3/2, epsilon <= 0.405465108109, delta = 1/4, of 2 and 2 values)"
