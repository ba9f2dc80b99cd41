"""Losses as JSON: every loss comes back, old records stay readable, and what was changed is refused."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each

import viameter as vm
from viameter.core import Loss
from viameter.errors import FormatError
from viameter.measures.records import MEASURES

amounts = st.one_of(
    st.fractions(min_value=0), st.just(float("inf")), st.builds(lambda n: Fraction(1, 7**n), st.integers(0, 3000))
)
deltas = st.fractions(min_value=0, max_value=1)
orders = st.one_of(st.fractions(min_value=Fraction(11, 10)), st.just(float("inf")))
losses: st.SearchStrategy[Loss] = st.one_of(
    st.builds(vm.pure, amounts),
    st.builds(vm.zcdp, amounts),
    st.builds(vm.gdp, amounts),
    st.builds(vm.bounded_range, amounts),
    st.builds(vm.approx, amounts, deltas),
    st.builds(vm.approx_zcdp, amounts, deltas),
    st.builds(vm.renyi, st.dictionaries(orders, amounts, min_size=1, max_size=4)),
    st.builds(vm.profile, st.dictionaries(st.fractions(min_value=0), deltas, min_size=1, max_size=4)),
)

# Written by version 0.1.0. These lines never change: every later version reads them as these losses.
WRITTEN_BY_0_1_0: list[tuple[str, Loss]] = [
    ('{"measure": "pure", "epsilon": "1/10"}', vm.pure("1/10")),
    ('{"measure": "pure", "epsilon": "0"}', vm.pure(0)),
    ('{"measure": "pure", "epsilon": "inf"}', vm.pure("inf")),
    ('{"measure": "approx", "epsilon": "1", "delta": "1/1000000"}', vm.approx(1, "1e-6")),
    ('{"measure": "zcdp", "rho": "1/32"}', vm.zcdp("1/32")),
    ('{"measure": "approx-zcdp", "rho": "1/2", "delta": "1/1000000000"}', vm.approx_zcdp("1/2", "1e-9")),
    ('{"measure": "gdp", "mu_squared": "2"}', vm.gdp(1) + vm.gdp(1)),
    ('{"measure": "bounded-range", "eta": "3/10"}', vm.bounded_range("0.3")),
    ('{"measure": "renyi", "orders": {"2": "1/10", "inf": "3/10"}}', vm.renyi({2: "0.1", "inf": "0.3"})),
    ('{"measure": "renyi", "orders": {}}', vm.RenyiDP.infinite),
    ('{"measure": "profile", "epsilons": {"1": "1/1000", "2": "1/1000000"}}', vm.profile({1: "1e-3", 2: "1e-6"})),
    ('{"measure": "profile", "epsilons": {}}', vm.Profile.infinite),
    ('{"measure": "pure", "epsilon": "0x1/0x1' + "0" * 1100 + '"}', vm.pure(Fraction(1, 16**1100))),
]


@for_each(("text", "loss"), WRITTEN_BY_0_1_0)
def test_records_of_every_version_stay_readable_and_are_written_the_same(text: str, loss: Loss) -> None:
    assert vm.loss_from_json(json.loads(text)) == loss
    assert json.dumps(loss.to_json()) == text


def test_every_measure_has_a_stored_example() -> None:
    assert {json.loads(text)["measure"] for text, _ in WRITTEN_BY_0_1_0} == set(MEASURES)


@settings(max_examples=30)
@given(losses)
def test_every_loss_is_stored_and_read_back(loss: Loss) -> None:
    record = loss.to_json()
    assert vm.loss_from_json(record) == loss
    assert vm.loss_from_json(json.loads(json.dumps(record))) == loss
    assert loss.measure.from_json(record) == loss
    assert record["measure"] == loss.measure.slug


@for_each(
    "text",
    [
        # not a loss at all
        "null",
        "1",
        '"pure"',
        "[]",
        "{}",
        '["measure", "pure"]',
        # of no measure of this library
        '{"measure": "user:TotalVariation", "amount": "1/10"}',
        '{"measure": "purer", "epsilon": "1/10"}',
        '{"measure": "PureDP", "epsilon": "1/10"}',
        '{"measure": null, "epsilon": "1/10"}',
        '{"measure": ["pure"], "epsilon": "1/10"}',
        '{"measure": {"pure": 1}, "epsilon": "1/10"}',
        '{"epsilon": "1/10"}',
        # fields that are missing, too many, or of another measure
        '{"measure": "pure"}',
        '{"measure": "pure", "rho": "1/10"}',
        '{"measure": "pure", "epsilon": "1/10", "delta": "0"}',
        '{"measure": "pure", "epsilon": "1/10", "version": 2}',
        '{"measure": "approx", "epsilon": "1"}',
        '{"measure": "zcdp", "epsilon": "1/10"}',
        '{"measure": "gdp", "mu": "1"}',
        '{"measure": "renyi", "epsilons": {"2": "1"}}',
        '{"measure": "profile", "orders": {"2": "1"}}',
        '{"measure": "renyi", "orders": {"2": "1"}, "epsilons": {}}',
        # numbers that are no exact numbers >= 0
        '{"measure": "pure", "epsilon": 0.1}',
        '{"measure": "pure", "epsilon": 1}',
        '{"measure": "pure", "epsilon": true}',
        '{"measure": "pure", "epsilon": null}',
        '{"measure": "pure", "epsilon": ["1"]}',
        '{"measure": "pure", "epsilon": NaN}',
        '{"measure": "pure", "epsilon": Infinity}',
        '{"measure": "pure", "epsilon": "nan"}',
        '{"measure": "pure", "epsilon": "-1/10"}',
        '{"measure": "pure", "epsilon": "0.1"}',
        '{"measure": "pure", "epsilon": "1e-6"}',
        '{"measure": "pure", "epsilon": "1/0"}',
        '{"measure": "pure", "epsilon": " 1"}',
        '{"measure": "pure", "epsilon": ""}',
        '{"measure": "pure", "epsilon": "1e999999999"}',
        '{"measure": "approx", "epsilon": "1", "delta": "2"}',
        '{"measure": "approx", "epsilon": "1", "delta": "inf"}',
        '{"measure": "approx-zcdp", "rho": "1", "delta": "1000001/1000000"}',
        # curves
        '{"measure": "renyi", "orders": null}',
        '{"measure": "renyi", "orders": []}',
        '{"measure": "renyi", "orders": "2"}',
        '{"measure": "renyi", "orders": {"1": "1/10"}}',
        '{"measure": "renyi", "orders": {"0": "1/10"}}',
        '{"measure": "renyi", "orders": {"-2": "1/10"}}',
        '{"measure": "renyi", "orders": {"2.0": "1/10"}}',
        '{"measure": "renyi", "orders": {"2": 0.1}}',
        '{"measure": "renyi", "orders": {"2": "-1"}}',
        '{"measure": "renyi", "orders": {"2": {}}}',
        '{"measure": "profile", "epsilons": {"inf": "0"}}',
        '{"measure": "profile", "epsilons": {"1": "2"}}',
        '{"measure": "profile", "epsilons": {"1": "inf"}}',
        '{"measure": "profile", "epsilons": {"-1": "0"}}',
        '{"measure": "profile", "epsilons": {"1": 0}}',
    ],
)
def test_a_record_that_was_changed_or_is_foreign_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        vm.loss_from_json(json.loads(text))


@pytest.mark.parametrize("record", [{"measure": "renyi", "orders": {2: "1"}}, {"measure": "pure", "epsilon": b"1"}])
def test_a_record_that_is_not_of_plain_json_is_refused(record: Any) -> None:
    with pytest.raises(FormatError):
        vm.loss_from_json(record)


def test_an_order_that_is_stored_twice_is_refused() -> None:
    # Once: "2" and "4/2" are the same order, and the last one wins: a record is read as less than it says.
    with pytest.raises(FormatError):
        vm.loss_from_json({"measure": "renyi", "orders": {"2": "5", "4/2": "1"}})


@for_each("number", ["2/4", "01", "1/1", "0x1/0x2", "00", "1/02"])
def test_a_number_that_is_not_written_as_this_library_writes_it_was_changed_by_somebody(number: str) -> None:
    # Once: such numbers are read. `write` never writes them, so a record that has them was changed.
    with pytest.raises(FormatError):
        vm.loss_from_json({"measure": "pure", "epsilon": number})


@for_each(
    ("measure", "record"),
    [
        (vm.ApproxDP, {"measure": "approx", "epsilon": "1", "delta": "2"}),
        (vm.ApproxDP, {"measure": "approx", "epsilon": "1", "delta": "inf"}),
        (vm.RenyiDP, {"measure": "renyi", "orders": {"1": "1"}}),
        (vm.Profile, {"measure": "profile", "epsilons": {"inf": "1"}}),
        (vm.Profile, {"measure": "profile", "epsilons": {"1": "2"}}),
    ],
)
def test_a_measure_refuses_what_was_changed_as_loss_from_json_does(measure: vm.Measure, record: Any) -> None:
    # Once: a NumberError comes out of Measure.from_json; only loss_from_json makes it a FormatError.
    with pytest.raises(FormatError):
        measure.from_json(record)


@for_each("measure", MEASURES.values())
def test_a_measure_refuses_records_of_another(measure: vm.Measure) -> None:
    for text, loss in WRITTEN_BY_0_1_0:
        if loss.measure != measure:
            with pytest.raises(FormatError):
                measure.from_json(json.loads(text))
