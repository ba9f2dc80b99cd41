"""Numbers on a grid: exact going in and coming out, and measured in their own units."""

from decimal import Decimal
from fractions import Fraction

import pytest
from tests.logic.running.programs import (
    GRID,
    proved,
)

import viameter as vm
from viameter.errors import NumberError, ParameterError
from viameter.logic.front.adjacent import all_differ, one_differs
from viameter.logic.front.decorator import program_from_source


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
