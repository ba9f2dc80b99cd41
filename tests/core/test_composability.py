"""The table of composability: how rules are declared, found and refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.core.composability import (
    ADAPTIVE,
    CONCURRENT,
    FULLY_ADAPTIVE,
    NON_ADAPTIVE,
    SEQUENTIAL,
    Adaptivity,
    Cell,
    Composability,
    Rule,
    declare_rules,
    find_rule,
    require_cell,
)
from viameter.errors import NoTheorem, ParameterError
from viameter.measures.trusted import TrustedMeasure


def table(*cells: tuple[Adaptivity, Composability]) -> TrustedMeasure:
    return vm.measure("Distance", adds=True, trust="distances add", composes=dict(cells))


def test_the_short_names_are_the_members_that_they_say() -> None:
    assert [item.value for item in (NON_ADAPTIVE, ADAPTIVE, FULLY_ADAPTIVE)] == [
        "non-adaptive",
        "adaptive",
        "fully adaptive",
    ]
    assert [item.value for item in (SEQUENTIAL, CONCURRENT)] == ["sequential", "concurrent"]
    assert vm.SEQUENTIAL is Composability.SEQUENTIAL and vm.CONCURRENT is Composability.CONCURRENT
    assert vm.NON_ADAPTIVE is Adaptivity.NON_ADAPTIVE
    assert vm.ADAPTIVE is Adaptivity.ADAPTIVE
    assert vm.FULLY_ADAPTIVE is Adaptivity.FULLY_ADAPTIVE
    assert repr(FULLY_ADAPTIVE) == "FULLY_ADAPTIVE" and repr(SEQUENTIAL) == "Composability.SEQUENTIAL"


@for_each("how", list(Composability))
@for_each("adaptivity", list(Adaptivity))
def test_a_cell_is_found_where_it_was_declared_and_nowhere_else(adaptivity: Adaptivity, how: Composability) -> None:
    measure = table((adaptivity, how))
    assert measure.composability(adaptivity) is how
    rule, cell = require_cell(measure, adaptivity)
    assert cell.composability is how and rule.name == "sum" and cell is rule.table[adaptivity]
    for other in set(Adaptivity) - {adaptivity}:
        with pytest.raises(NoTheorem, match=f"Distance by 'sum' has no {other.value} composition: .*composes="):
            measure.composability(other)
        with pytest.raises(NoTheorem):
            require_cell(measure, other, "sum")


def test_no_cell_implies_another() -> None:
    """A fully adaptive theorem would imply the others; the table says so itself or does not say it."""
    with pytest.raises(NoTheorem):
        table((FULLY_ADAPTIVE, CONCURRENT)).composability(ADAPTIVE)


def test_a_measure_without_rules_does_not_compose() -> None:
    alone = vm.measure("Alone", trust="nothing adds")
    assert alone.rules == ()
    for adaptivity in Adaptivity:
        with pytest.raises(NoTheorem, match="losses of Alone are not composed: no rule is declared"):
            alone.composability(adaptivity)


@for_each("name", ["Sum", "", "concentrated", 3, SEQUENTIAL])
def test_a_rule_that_is_not_there_is_refused_by_name(name: Any) -> None:
    with pytest.raises(ParameterError, match="composes by 'sum', 'optimal'"):
        find_rule(vm.ApproxDP, name)


def test_the_first_rule_is_used_when_none_is_named() -> None:
    assert find_rule(vm.ApproxDP, None) is find_rule(vm.ApproxDP, "sum") is vm.ApproxDP.rules[0]
    assert find_rule(vm.ApproxDP, "optimal") is vm.ApproxDP.rules[1]


@for_each("adaptivity", ["fully adaptive", None, 2, SEQUENTIAL, True])
def test_what_is_no_adaptivity_is_refused(adaptivity: Any) -> None:
    with pytest.raises(ParameterError, match="expected NON_ADAPTIVE, ADAPTIVE or FULLY_ADAPTIVE"):
        vm.PureDP.composability(adaptivity)


def test_rules_are_declared_once() -> None:
    """A second declaration could turn a sequential measure into a concurrent one."""
    before = vm.ApproxZCDP.rules
    concurrent = Rule("sum", {FULLY_ADAPTIVE: Cell(CONCURRENT, "nobody")}, "")
    with pytest.raises(ParameterError, match="the rules of ApproxZCDP are declared already"):
        declare_rules(vm.ApproxZCDP, concurrent)
    assert vm.ApproxZCDP.rules is before


def test_cells_and_rules_do_not_change() -> None:
    rule, cell = require_cell(vm.ApproxZCDP, FULLY_ADAPTIVE)
    with pytest.raises(FrozenInstanceError):
        cell.composability = CONCURRENT  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        rule.table = {}  # type: ignore[misc]


@pytest.mark.parametrize("composes", [{"fully adaptive": CONCURRENT}, {FULLY_ADAPTIVE: "concurrent"}, {1: True}])
def test_a_table_of_other_things_is_refused(composes: Any) -> None:
    with pytest.raises(ParameterError, match="is no table"):
        vm.measure("Distance", adds=True, trust="distances add", composes=composes)


def test_a_measure_whose_losses_do_not_add_has_no_table() -> None:
    with pytest.raises(ParameterError, match="adds has to be True"):
        vm.measure("Distance", trust="distances add", composes={NON_ADAPTIVE: SEQUENTIAL})


def test_a_measure_that_adds_does_so_for_what_is_fixed_in_advance_and_one_after_the_other() -> None:
    plain = vm.measure("Distance", adds=True, trust="distances add")
    assert plain.composability(NON_ADAPTIVE) is SEQUENTIAL
    for adaptivity in (ADAPTIVE, FULLY_ADAPTIVE):
        with pytest.raises(NoTheorem, match="did not say that its losses add then"):
            plain.composability(adaptivity)


def test_measures_of_one_name_and_different_tables_are_different() -> None:
    """Or a loss of one could be counted where the other may be interleaved."""
    assert table((FULLY_ADAPTIVE, SEQUENTIAL)) != table((FULLY_ADAPTIVE, CONCURRENT))
