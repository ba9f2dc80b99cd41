"""The state of a meter: what is saved goes on as it was, and what was changed is refused or counts no less."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import math
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.composition.oracles import DATA, PURE, ROWS, Runs, echo, measurement, spawning, tenth

import viameter as vm
from viameter.composition.entries import recorded_loss
from viameter.composition.state import FORMAT, LARGEST, OdometerState
from viameter.errors import (
    FormatError,
    NoTheorem,
    NotInDomain,
    OverBudget,
    ParameterError,
    PermissionGone,
    ViameterError,
)

KEY = b"a secret of some length"
Json = Any


def used(odometer: vm.Odometer = PURE, *, capped: bool) -> Any:
    """A meter that has counted pure(1/2) at 1 and pure(3/2) at 3, in three queries of two kinds."""
    meter: Any = odometer.filter(d_in=1, budget=vm.pure(1))(DATA) if capped else odometer(DATA)
    meter(tenth())
    same = measurement(privacy=lambda d_in: vm.pure(d_in * Fraction(1, 5)))
    meter(same)
    meter(same)
    assert meter.loss(3) == vm.pure("3/2")
    return meter


def resumed(text: str | OdometerState, **reading: Any) -> Any:
    return vm.Odometer.resume(text, DATA, **({"space": ROWS} | reading if isinstance(text, str) else {}))


def sealed(record: Json) -> str:
    """The record as text with the digest that belongs to it, as anybody can write it who has no key."""
    record = {name: value for name, value in record.items() if name != "digest"}
    content = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
    return json.dumps({**record, "digest": f"sha256:{hashlib.sha256(content).hexdigest()}"})


# recorded-loss


@given(
    distances=st.lists(st.fractions(min_value=0, max_value=9, max_denominator=6), min_size=1, max_size=5, unique=True),
    d_in=st.fractions(min_value=0, max_value=10, max_denominator=6),
)
def test_recorded_loss_ensures_the_loss_of_the_least_distance_above(distances: list[Fraction], d_in: Fraction) -> None:
    losses = tuple((distance, vm.pure(7 * distance)) for distance in sorted(distances))
    above = [distance for distance in distances if distance >= d_in]
    if above:
        assert recorded_loss(d_in, losses=losses) == vm.pure(7 * min(above))
        return
    with pytest.raises(NoTheorem, match=r"save it with state\(d_in=...\)"):
        recorded_loss(d_in, losses=losses)


def test_recorded_loss_ensures_an_infinite_distance_covers_all() -> None:
    assert recorded_loss(Fraction(5), losses=((math.inf, vm.pure(9)),)) == vm.pure(9)
    assert recorded_loss(math.inf, losses=((math.inf, vm.pure(9)),)) == vm.pure(9)


@pytest.mark.parametrize("capped", [False, True])
def test_recorded_loss_requires_a_distance_that_was_recorded_or_a_nearer_one(capped: bool) -> None:
    meter = resumed(used(capped=capped).state().to_json())
    assert meter.loss(1) == vm.pure("1/2") and meter.loss(2) == meter.loss(3) == vm.pure("3/2")
    for d_in in (4, 10**9, math.inf):
        with pytest.raises(NoTheorem, match="up to 1, 3 apart"):
            meter.loss(d_in)
    more = resumed(used(capped=capped).state(d_in=[7, math.inf]).to_json())
    assert more.loss(7) == vm.pure("7/2") and more.loss(10**9) == vm.pure(math.inf)


def test_recorded_loss_requires_the_record_that_was_saved() -> None:
    """Its digest is checked; and that it is taken from a record is said wherever the number is explained."""
    text = used(capped=False).state().to_json()
    with pytest.raises(FormatError, match="was changed since it was written"):
        resumed(text.replace('"1/2"', '"1/3"', 1))
    explained = resumed(text).explain(1)
    assert "the state that was resumed is the one that was saved" in explained.assumptions
    assert "recorded-loss" in [node.theorem.slug for node in explained.derivation.nodes()]


# Round trips


@for_each("how", ["in memory", "text", "text with a key"])
@for_each("capped", [False, True])
def test_a_meter_goes_on_from_its_state(capped: bool, how: str) -> None:
    meter = used(capped=capped)
    state = meter.state(d_in=5)
    if how == "in memory":
        again = resumed(state)
    else:
        reading = {"key": KEY} if how == "text with a key" else {}
        again = resumed(state.to_json(**reading), **reading)
    assert type(again) is type(meter)
    for d_in in (1, 3, 5):
        assert again.loss(d_in) == meter.loss(d_in)
    assert [entry.query for entry in again.history] == [entry.query for entry in meter.history]
    for either in (meter, again):
        assert either(tenth()) == "answer"
        assert either.loss(1) == vm.pure("6/10") and either.loss(3) == vm.pure("18/10")
    if capped:
        assert again.spent == vm.pure("6/10") and again.left == vm.pure("4/10") and again.budget == vm.pure(1)
        runs = Runs()
        with pytest.raises(OverBudget) as caught:
            again(measurement(vm.pure("41/100"), function=runs))
        assert runs.count == 0 and caught.value.spent == vm.pure("6/10")
        again(measurement(vm.pure("4/10")))
        assert again.left == vm.pure(0)


def test_resuming_again_and_again_loses_nothing() -> None:
    meter: Any = PURE.filter(d_in=1, budget=vm.pure(1))(DATA)
    for turn in range(10):
        assert meter.spent == vm.pure(Fraction(turn, 10))
        meter(tenth())
        meter = resumed(meter.state().to_json())
    with pytest.raises(OverBudget):
        meter(tenth())
    assert meter.spent == vm.pure(1) and len(meter.history) == 10


@for_each(
    "budget",
    [
        vm.approx(1, "1e-6"),
        vm.zcdp(1),
        vm.approx_zcdp(1, "1e-6"),
        vm.renyi({2: 1, 8: 2}),
        vm.gdp(2),
        vm.pure(Fraction(1, 3**200)),
    ],
)
def test_losses_of_every_measure_are_saved_exactly(budget: vm.Loss) -> None:
    part = budget.left_after(budget.measure.zero)
    meter = vm.Odometer(ROWS, budget.measure).filter(d_in=1, budget=budget)(DATA)
    meter(measurement(part))
    again = resumed(meter.state().to_json())
    assert again.spent == meter.spent == part and again.budget == budget


def test_a_users_measure_is_given_again() -> None:
    composes = {vm.FULLY_ADAPTIVE: vm.SEQUENTIAL}
    measure = vm.measure("Distance", adds=True, trust="distances add", composes=composes)
    meter = vm.Odometer(ROWS, measure)(DATA)
    meter(measurement(measure("1/10")))
    text = meter.state().to_json()
    with pytest.raises(FormatError, match="give it as measure="):
        resumed(text)
    with pytest.raises(FormatError):
        resumed(text, measure=vm.measure("Other", adds=True, trust="distances add", composes=composes))
    again = resumed(text, measure=measure)
    assert again.loss(1) == measure("1/10")
    first, _ = (again(measurement(measure("1/10"), function=lambda _: echo())) for _ in range(2))
    with pytest.raises(PermissionGone):
        first("hello")


def test_a_resumed_sequential_meter_lets_only_its_newest_child_answer() -> None:
    meter = vm.Odometer(ROWS, vm.ApproxZCDP)(DATA)
    before = meter(spawning(echo))
    again = resumed(meter.state().to_json())
    first = again(spawning(echo))
    assert first("hello") == "hello" and before("hello") == "hello", "the old process goes on by itself"
    again(spawning(echo))
    with pytest.raises(PermissionGone):
        first("hello")
    assert again.loss(1) == vm.approx_zcdp("3/10", "3/1000")


def test_whether_it_converts_is_saved() -> None:
    odometer = vm.Odometer(ROWS, vm.ApproxDP, convert=True)
    assert resumed(odometer(DATA).state().to_json())(tenth()) == "answer"
    strict = vm.Odometer(ROWS, vm.ApproxDP)
    with pytest.raises(ViameterError):
        resumed(strict(DATA).state().to_json())(tenth())


def test_the_state_holds_no_data() -> None:
    meter = PURE([271828, 314159])
    meter(tenth(function=lambda rows: rows.tolist()))
    text = meter.state().to_json() + repr(meter.state()) + repr(vars(type(meter.state())))
    assert "271828" not in text and "314159" not in text


def test_the_state_is_as_it_was_when_it_was_taken() -> None:
    meter = used(capped=True)
    state = meter.state()
    meter(tenth())
    assert resumed(state).spent == vm.pure("1/2") and resumed(meter.state()).spent == vm.pure("6/10")
    assert copy.deepcopy(state).entries == state.entries
    assert pickle.loads(pickle.dumps(state.entries)) == state.entries


def test_data_that_are_not_of_the_domain_are_not_resumed_with() -> None:
    state = used(capped=True).state()
    with pytest.raises(NotInDomain):
        vm.Odometer.resume(state, ["a"])


def test_taking_the_state_changes_nothing() -> None:
    meter = used(capped=True)
    assert meter.state() == meter.state() and meter.state().to_json() == meter.state().to_json()
    assert meter.spent == vm.pure("1/2")


def test_equal_queries_that_follow_one_another_are_written_once_and_counted_each() -> None:
    meter, same = PURE(DATA), tenth()
    for _ in range(1000):
        meter(same)
    text = meter.state().to_json()
    assert len(json.loads(text)["entries"]) == 1 and len(text) < 2000
    again = resumed(text)
    assert again.loss(1) == vm.pure(100) and len(again.history) == 1000


def test_sums_that_were_rounded_up_stay_so() -> None:
    meter: Any = PURE.filter(d_in=1, budget=vm.pure(1))(DATA)
    for prime in (3, 5, 7, 11, 13, 17):
        meter(measurement(vm.pure(Fraction(1, prime**40))))
    again, exact = resumed(meter.state().to_json()), sum(Fraction(1, prime**40) for prime in (3, 5, 7, 11, 13, 17))
    assert exact < meter.spent.epsilon <= again.spent.epsilon < exact * (1 + Fraction(1, 2**200))


@pytest.mark.parametrize("measure", [vm.PureDP, vm.ApproxDP, vm.ApproxZCDP, vm.GaussianDP, vm.RenyiDP], ids=repr)
@given(denominators=st.lists(st.integers(2, 10**30), min_size=1, max_size=12), again=st.booleans())
def test_every_state_that_is_written_can_be_read(measure: Any, denominators: list[int], again: bool) -> None:
    """Once: sums kept query by query and those of readers were rounded differently, and the reader said "changed"."""
    meter: Any = vm.Odometer(ROWS, measure)(DATA)
    for place, denominator in enumerate(denominators):
        amount = Fraction(1, denominator**3)
        loss = vm.renyi({2: amount, 3: 2 * amount}) if measure is vm.RenyiDP else None
        meter(measurement(loss or measure.loss(*[amount] * len(measure.loss.names))))
        if again and place % 4 == 2:
            meter = resumed(meter.state().to_json())
    assert meter.loss(1) <= resumed(meter.state().to_json()).loss(1)


# Changed states

BAD_NUMBERS: list[Json] = [
    "0",
    "1/100",
    "-1",
    "inf",
    "nan",
    "1e3",
    "0.1",
    "01",
    "1/0",
    "",
    0,
    1,
    0.1,
    True,
    None,
    [],
    {},
]
OTHERS: list[Json] = ["", "x", "sum", "pure", "approx", 0, -1, 2, LARGEST + 1, 1.0, True, False, None, [], {}, ["1"]]


def leaves(record: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a record, also of those that hold others."""
    if path:
        yield path
    if isinstance(record, dict | list):
        for name in record if isinstance(record, dict) else range(len(record)):
            yield from leaves(record[name], (*path, name))


def changed(record: Json, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Json:
    whole = copy.deepcopy(record)
    at = whole
    for name in path[:-1]:
        at = at[name]
    change(at, path[-1])
    return whole


def put(value: Json) -> Callable[[Any, Any], None]:
    def change(at: Any, name: Any) -> None:
        at[name] = value

    return change


def drop(at: Any, name: Any) -> None:
    del at[name]


def reverse(at: Any, name: Any) -> None:
    if isinstance(at[name], list):
        at[name].reverse()
    else:
        at[name] = ["not a list"]


def twice(at: Any, name: Any) -> None:
    if isinstance(at, list):
        at.insert(name, at[name])
    else:
        at[f"{name}2"] = at[name]


def every_change(record: Json) -> Iterator[Json]:
    changes = [put(value) for value in [*BAD_NUMBERS, *OTHERS]] + [drop, reverse, twice]
    for path, change in itertools.product(list(leaves(record)), changes):
        made = changed(record, path, change)
        if json.dumps(made) != json.dumps(record):
            yield made


@pytest.mark.parametrize("key", [None, KEY], ids=["without a key", "with a key"])
@pytest.mark.parametrize("capped", [False, True])
def test_every_change_of_a_state_is_refused(capped: bool, key: bytes | None) -> None:
    record = json.loads(used(capped=capped).state().to_json(key=key))
    count = 0
    for made in every_change(record):
        count += 1
        with pytest.raises(FormatError):
            OdometerState.from_json(json.dumps(made), space=ROWS, key=key)
    assert count > 1000


@pytest.mark.parametrize("capped", [False, True])
def test_every_change_by_somebody_without_the_key_is_refused(capped: bool) -> None:
    """They can make the digest that there is without a key, for the state as it was as well."""
    record = json.loads(used(capped=capped).state().to_json(key=KEY))
    for made in [record, *itertools.islice(every_change(record), 0, None, 7)]:
        with pytest.raises(FormatError):
            OdometerState.from_json(sealed(made), space=ROWS, key=KEY)


@pytest.mark.parametrize("capped", [False, True])
def test_a_single_change_with_a_digest_made_for_it_is_refused_or_counts_no_less(capped: bool) -> None:
    """Without a key a digest tells of accidents only; what it says must still add up, and be of the right types."""
    record = json.loads(used(capped=capped).state().to_json())
    accepted = 0
    for made in every_change(record):
        try:
            text = sealed(made)
            meter = resumed(text)
        except ViameterError:
            continue
        accepted += 1
        for d_in, spent in ((1, vm.pure("1/2")), (3, vm.pure("3/2"))):
            try:
                said = meter.loss(d_in)
            except NoTheorem:
                continue
            assert spent <= said, made
    assert accepted > 5, "some changes, as of the text of a query, make no difference"


@for_each(
    ("change", "text"),
    [
        (lambda r: {**r, "format": "viameter-odometer/0"}, "expected format"),
        (lambda r: {**r, "format": "viameter-odometer/2"}, "expected format"),
        (lambda r: {**r, "format": None}, "expected format"),
        (lambda r: {name: value for name, value in r.items() if name != "format"}, "expected format"),
        (lambda r: {**r, "more": 1}, "expected the keys"),
        (lambda r: {**r, "measure": []}, "give it as measure="),
        (lambda r: {**r, "counted_in": {}}, "give it as measure="),
        (lambda r: {**r, "measure": "zcdp"}, "no loss of ZCDP"),
        (lambda r: {**r, "counted_in": "zcdp"}, "no loss of ZCDP"),
        (lambda r: {**r, "filter": {**r["filter"], "budget": None}}, "no terms of a filter"),
        (lambda r: {**r, "filter": {**r["filter"], "budget": 3}}, "no terms of a filter"),
        (lambda r: {**r, "filter": {**r["filter"], "rule": 3}}, "no terms of a filter"),
        (lambda r: {**r, "filter": {**r["filter"], "d_in": 1}}, "expected text"),
        (lambda r: {**r, "filter": {}}, "no terms of a filter"),
        (lambda r: {**r, "filter": False}, "no terms of a filter"),
        (lambda r: {**r, "domain": "vectors(str)"}, "of another space: its domain"),
        (lambda r: {**r, "metric": "InsertDeleteDistance()"}, "of another space: its metric"),
        (lambda r: {**r, "convert": 0}, "expected a bool, found a int"),
        (lambda r: {**r, "totals": r["totals"][::-1]}, "expected rising distances"),
        (lambda r: {**r, "totals": [r["totals"][0], *r["totals"]]}, "expected rising distances"),
        (lambda r: {**r, "totals": [["1", {"measure": "pure", "epsilon": "49/100"}]]}, "adds up to more than it says"),
        (lambda r: {**r, "totals": [["1", {"measure": "pure", "epsilon": 0.5}]]}, "it is not JSON"),
        (lambda r: {**r, "totals": [["1", {"measure": "pure", "epsilon": 1}]]}, "expected text"),
        (lambda r: {**r, "totals": [["1", {"measure": "pure", "epsilon": "-1"}]]}, "is not a number as this library"),
        (lambda r: {**r, "totals": [["1"]]}, "expected pairs"),
        (lambda r: {**r, "totals": {}}, "expected a list"),
        (lambda r: {**r, "entries": None}, "expected a list"),
    ],
)
def test_states_that_make_no_sense_are_refused_though_the_digest_fits(change: Callable[[Any], Any], text: str) -> None:
    record = json.loads(used(capped=True).state().to_json())
    with pytest.raises(FormatError, match=text):
        OdometerState.from_json(sealed(change(record)), space=ROWS)


@for_each("times", [0, -1, LARGEST + 1, 10**30, True, 1.0, "1", None])
def test_times_that_are_no_number_of_queries_are_refused(times: Any) -> None:
    record = json.loads(used(capped=False).state().to_json())
    record["entries"][1]["times"] = times
    with pytest.raises(FormatError):
        OdometerState.from_json(sealed(record), space=ROWS)


def test_all_times_together_are_limited() -> None:
    record = json.loads(used(capped=False).state().to_json())
    record["entries"][1]["times"] = LARGEST
    with pytest.raises(FormatError, match="at most in all"):
        OdometerState.from_json(sealed(record), space=ROWS)


def test_entries_that_were_dropped_are_still_in_the_totals() -> None:
    record = json.loads(used(capped=True).state().to_json())
    record["entries"] = []
    meter = resumed(sealed(record))
    assert meter.spent == vm.pure("1/2") and meter.left == vm.pure("1/2")
    with pytest.raises(OverBudget):
        meter(measurement(vm.pure("51/100")))


def test_totals_that_were_dropped_are_still_in_the_entries() -> None:
    record = json.loads(used(capped=True).state().to_json())
    record["totals"] = []
    assert resumed(sealed(record)).spent == vm.pure("1/2")


def test_a_budget_without_limit_is_refused_also_from_a_state() -> None:
    record = json.loads(used(capped=True).state().to_json())
    record["filter"]["budget"]["epsilon"] = "inf"
    with pytest.raises(ParameterError, match="is no limit"):
        resumed(sealed(record))


@for_each(
    "text",
    [
        "",
        "null",
        "[]",
        "1",
        '"text"',
        "{",
        '{"format": "viameter-odometer/1"}',
        "NaN",
        '{"format": "viameter-odometer/1", "format": "viameter-odometer/1"}',
        "[" * 100_000,
        '{"a":' * 100_000,
        None,
        7,
        "9" * 5000,
    ],
)
def test_what_is_no_state_is_refused(text: Any) -> None:
    with pytest.raises(FormatError):
        OdometerState.from_json(text, space=ROWS)


@for_each("number", ["NaN", "Infinity", "-Infinity", "1e999", "0.1"])
def test_numbers_that_are_no_json_or_no_text_are_refused(number: str) -> None:
    text = used(capped=True).state().to_json().replace('"convert": false', f'"convert": {number}')
    with pytest.raises(FormatError):
        OdometerState.from_json(text, space=ROWS)


@for_each("depth", [100, 500, *range(900, 1000, 3), 5000])
def test_deep_nesting_is_refused(depth: int) -> None:
    nested = "[" * depth + "]" * depth
    text = used(capped=True).state().to_json().replace('"convert": false', f'"convert": {nested}')
    with pytest.raises(FormatError):
        OdometerState.from_json(text, space=ROWS)


@pytest.mark.parametrize("name", ["totals", "convert", "digest"])
def test_a_key_that_is_written_twice_is_refused(name: str) -> None:
    """Python would take the last one, another reader the first."""
    text = used(capped=True).state().to_json()
    value = json.dumps(json.loads(text)[name])
    assert text.startswith("{\n")
    with pytest.raises(FormatError, match="a key is written twice"):
        OdometerState.from_json("{" + f'"{name}": {value},' + text[1:], space=ROWS)


@for_each("digest", ["", "sha256:", "é", None, 7, [], "hmac-sha256:" + "0" * 64])
def test_digests_of_other_kinds_are_refused(digest: Any) -> None:
    record = json.loads(used(capped=True).state().to_json())
    for key in (None, KEY):
        with pytest.raises(FormatError):
            OdometerState.from_json(json.dumps({**record, "digest": digest}), space=ROWS, key=key)


def test_keys_have_to_be_the_same_and_to_be_secrets() -> None:
    state = used(capped=True).state()
    plain, keyed = state.to_json(), state.to_json(key=KEY)
    for text, key in ((plain, KEY), (keyed, None), (keyed, b"another"), (keyed, KEY + b" ")):
        with pytest.raises(FormatError, match="with another key"):
            OdometerState.from_json(text, space=ROWS, key=key)
    assert OdometerState.from_json(keyed, space=ROWS, key=KEY) == OdometerState.from_json(plain, space=ROWS) == state
    weak: Any
    for weak in (b"", "text", 7):
        with pytest.raises(ParameterError, match="is no secret"):
            state.to_json(key=weak)


def test_a_state_of_another_space_is_refused() -> None:
    text = used(capped=True).state().to_json()
    for other in (
        vm.Space(vm.vectors(int), vm.InsertDeleteDistance()),
        vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance()),
    ):
        with pytest.raises(FormatError, match="of another space"):
            resumed(text, space=other)


def test_a_state_is_read_only_in_a_space_that_asks_for_the_same_trust() -> None:
    """A metric of somebody's own may print as one of the library: only the trust that it asks for tells them apart."""
    own = [
        vm.Space(vm.vectors(int), vm.metric(repr(ROWS.metric), distance=lambda left, right: 0, trust=trust))
        for trust in ("all data are the same", "it counts rows")
    ]
    spaces = [ROWS, *own]
    assert len({repr(space.metric) for space in spaces}) == 1
    for mine, other in itertools.product(spaces, repeat=2):
        text = vm.Odometer(mine, vm.PureDP)(DATA).state(d_in=1).to_json()
        if mine is other:
            assert OdometerState.from_json(text, space=mine).space == mine
            continue
        with pytest.raises(FormatError, match="asks for other trust"):
            OdometerState.from_json(text, space=other)


def test_the_format_is_the_one_that_is_promised() -> None:
    """A state that an earlier version wrote stays readable: the text is fixed here."""
    assert FORMAT == "viameter-odometer/1"
    record = json.loads(used(capped=True).state().to_json())
    assert record["totals"] == [
        ["1", {"measure": "pure", "epsilon": "1/2"}],
        ["3", {"measure": "pure", "epsilon": "3/2"}],
    ]
    assert record["filter"] == {
        "d_in": "1",
        "budget": {"measure": "pure", "epsilon": "1"},
        "rule": "sum",
        "slack": None,
    }
    assert [entry["times"] for entry in record["entries"]] == [1, 2]
    assert record["entries"][0]["losses"][1] == ["3", {"measure": "pure", "epsilon": "3/10"}]
    assert record["digest"].startswith("sha256:")
