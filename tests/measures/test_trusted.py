"""Measures that users define: exact, ordered, added only where that was vouched for."""

import json
from fractions import Fraction
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.errors import FormatError, IncomparableLosses, NoTheorem, NumberError, ParameterError

ADDS = vm.measure("TotalVariation", adds=True, trust="total variation distances of products add up")
SILENT = vm.measure("Mystery", trust="whoever knows what it means")


def test_an_amount_of_a_measure_of_ones_own_is_exact() -> None:
    assert ADDS("1/10").amount == Fraction(1, 10)
    assert repr(ADDS("1/10") + ADDS("1/5")) == "TotalVariation(3/10)"
    assert repr(ADDS) == "TotalVariation"
    assert sum([ADDS("1/10")] * 10, ADDS(0)) == ADDS(1)


def test_a_measure_of_ones_own_adds_only_where_that_was_said() -> None:
    assert SILENT(1) <= SILENT(2)
    with pytest.raises(IncomparableLosses, match="adds=True"):
        SILENT(1) + SILENT(2)
    with pytest.raises(IncomparableLosses, match="adds=True"):
        SILENT.total([SILENT(1), SILENT(2)])


def test_where_that_was_not_said_no_rule_composes_losses_not_even_a_single_one() -> None:
    assert SILENT.rules == ()
    for losses in ([], [SILENT(1)], [SILENT(1), SILENT(2)]):
        with pytest.raises(NoTheorem, match="no rule"):
            vm.compose_losses(losses, into=SILENT)
    assert vm.compose_losses([ADDS(1), ADDS(2)], into=ADDS).loss == ADDS(3)


def test_sums_of_a_measure_of_ones_own_are_never_below_the_exact_sum() -> None:
    numbers = [Fraction(1, 3**400), Fraction(1, 5**300), Fraction(1, 7**250)]
    assert ADDS.total(map(ADDS, numbers)) >= ADDS(sum(numbers))


@for_each("trust", ["", "  ", None, 1])
def test_a_measure_of_ones_own_says_what_it_asks_to_be_trusted(trust: Any) -> None:
    with pytest.raises(ParameterError, match="measure Quiet"):
        vm.measure("Quiet", trust=trust)


def test_the_trust_is_kept_with_the_name_of_the_measure() -> None:
    assert ADDS.assumption == "total variation distances of products add up (measure TotalVariation)"


@for_each("amount", [-1, 0.5, float("nan"), True, None, "x"])
def test_an_amount_that_is_none_is_refused(amount: Any) -> None:
    with pytest.raises(NumberError, match="amount"):
        ADDS(amount)


def test_measures_are_equal_when_they_say_the_same() -> None:
    again = vm.measure("TotalVariation", adds=True, trust="total variation distances of products add up")
    assert again == ADDS and again(1) == ADDS(1) and again(1) <= ADDS(1) and hash(again(1)) == hash(ADDS(1))
    other = vm.measure("TotalVariation", adds=True, trust="because")
    assert other != ADDS and other(1) != ADDS(1)
    with pytest.raises(IncomparableLosses):
        other(1) <= ADDS(1)  # noqa: B015


def test_an_amount_is_stored_and_read_back_by_its_measure() -> None:
    for loss in (ADDS("1/10"), ADDS(0), ADDS("inf")):
        assert ADDS.from_json(json.loads(json.dumps(loss.to_json()))) == loss
    assert json.dumps(ADDS("1/10").to_json()) == '{"measure": "user:TotalVariation", "amount": "1/10"}'


@for_each(
    "record",
    [
        {"measure": "user:TotalVariation"},
        {"measure": "user:TotalVariation", "amount": 0.1},
        {"measure": "user:TotalVariation", "amount": "-1"},
        {"measure": "user:TotalVariation", "amount": "1", "delta": "0"},
        {"measure": "user:Mystery", "amount": "1"},
        {"measure": "pure", "epsilon": "1"},
        {},
    ],
)
def test_a_changed_or_foreign_record_is_refused(record: Any) -> None:
    with pytest.raises(FormatError):
        ADDS.from_json(record)


def test_the_library_does_not_guess_at_records_of_measures_that_it_does_not_have() -> None:
    with pytest.raises(FormatError):
        vm.loss_from_json(ADDS(1).to_json())
