"""The measurement that shows keys: what is counted of a unit, what is shown, and the noise that a loss buys."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.mechanisms.oracles import EDGE, LARGEST, Script, at_most, gaussian_tail, laplace_tail, real
from tests.tables.held import held

import viameter as vm
from viameter.errors import NoTheorem, NumberError, ParameterError
from viameter.tables import selection as module
from viameter.tables.bounding import Limits
from viameter.tables.engines import EngineTable
from viameter.tables.estimates import Noise
from viameter.tables.public_tables import public
from viameter.tables.selection import Counting, Moves, key_limits, select_keys, shown

Load = Callable[[Any, str, Any], EngineTable]
BIG = vm.approx(10**6, "1/2")
UNNOISY = Noise("laplace", Fraction(1, 10**6))


def opened(data: Any, unit: Any = None, budget: Any = BIG) -> Any:
    source = held(data) if isinstance(data, dict) else data
    return vm.open(source, unit=unit or vm.per("u", groups=2, per_group=5), budget=budget)


def counts(table: Any, *columns: str, limits: Limits | None = None) -> dict[Any, int]:
    kept = key_limits(table.relation, table.limits) if limits is None else limits
    return Counting(columns, kept)(table.relation.rows())


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    told = Script()
    monkeypatch.setattr(module, "discrete_laplace", told)
    monkeypatch.setattr(module, "discrete_gaussian", told)
    return told


# --- what is counted -------------------------------------------------------------------------------------------------


def test_a_unit_counts_once_in_a_key_however_many_rows_it_has() -> None:
    table = opened({"u": ["p"] * 5 + ["q"], "k": ["a", "a", "a", "b", "b", "a"]})
    assert counts(table, "k") == {("a",): 2, ("b",): 1}


def test_a_unit_counts_in_no_more_keys_than_limits_allow() -> None:
    rows = {"u": [unit for unit in range(50) for _ in range(6)], "k": list("abcdef") * 50}
    for groups in (1, 2, 5):
        table = opened(rows, vm.per("u", groups=groups, per_group=9))
        found = counts(table, "k")
        assert sum(found.values()) == 50 * groups
        assert set(found) <= {(key,) for key in "abcdef"}
    # Rows limit keys where nothing else does, and what a question asks for tightens both.
    assert key_limits(opened(rows, vm.per("u", rows=3)).relation, Limits()) == Limits(groups=3, per_group=1)
    assert sum(counts(opened(rows, vm.per("u", rows=3)), "k").values()) == 150
    assert sum(counts(opened(rows, vm.per("u", rows=3)).limit(groups=2), "k").values()) == 100
    assert sum(counts(opened(rows, vm.per("u", groups=4, per_group=1)).limit(rows=1), "k").values()) == 50


def test_which_keys_count_of_a_unit_does_not_depend_on_other_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "fresh_salt", lambda: "salt")
    keys = [f"k{place}" for place in range(8)]
    rows = [(unit, key) for unit in range(12) for key in keys[: 3 + unit % 6]]

    def found(kept: list[tuple[int, str]]) -> dict[Any, int]:
        return counts(opened({"u": [u for u, _ in kept], "k": [k for _, k in kept]}), "k")

    whole = found(rows)
    for gone in range(12):
        without = found([row for row in rows if row[0] != gone])
        moved = {key: whole.get(key, 0) - without.get(key, 0) for key in whole | without}
        assert set(moved.values()) <= {0, 1}
        assert sum(moved.values()) == 2


def test_rows_without_names_count_one_by_one_and_move_as_many() -> None:
    table = opened({"k": ["a", "a", "b"]}, vm.per_row())
    assert counts(table, "k") == {("a",): 2, ("b",): 1}
    assert Moves.of(table.relation, key_limits(table.relation, Limits())) == Moves(1, 1)
    # Each row becomes up to 3, all of which may have one key.
    joined = table.join(public({"k": ["a", "a", "a", "b"], "c": ["x", "x", "x", "y"]}), on="k")
    assert counts(joined, "c") == {("x",): 6, ("y",): 1}
    assert Moves.of(joined.relation, key_limits(joined.relation, Limits())) == Moves(3, 3)


def test_what_a_unit_counts_is_known_and_whether_it_may_be_replaced() -> None:
    rows = {"u": [1], "k": ["a"], "t": [1]}
    moves = {}
    for unit in (
        vm.per("u", rows=3), vm.per("u", rows=3, replace=True), vm.per_row(replace=True), vm.per_event("t", window=4),
    ):  # fmt: skip
        relation = opened(rows, unit).relation
        moves[repr(unit)] = Moves.of(relation, key_limits(relation, Limits()))
    assert list(moves.values()) == [Moves(3, 1), Moves(3, 1, True), Moves(1, 1, True), Moves(4, 4, True)]


def test_keys_are_counted_on_every_engine_alike(backend: Any, load: Load) -> None:
    day = datetime.date(2024, 2, 29)
    table = load(backend, "keys_of_units", {
        "u": [1, 1, 1, 2, 2, 3, 4, None],
        "k": ["a", "a", None, "a", "B", "b", None, "a"],
        "n": [1, 1, -(2**63), 1, 2**63 - 1, 0, 0, 1],
        "d": [day, day, None, day, day, day, day, day],
        "f": [True, True, False, None, True, True, True, True],
    })  # fmt: skip
    opened_table = opened(table.expression, vm.per("u", rows=9))
    assert counts(opened_table, "k") == {("a",): 2, (None,): 2, ("B",): 1, ("b",): 1}
    assert counts(opened_table, "n") == {(1,): 2, (-(2**63),): 1, (2**63 - 1,): 1, (0,): 2}
    assert counts(opened_table, "d", "f") == {(day, True): 4, (None, False): 1, (day, None): 1}
    # The units of NULL are nobody's.
    assert counts(opened_table, "u") == {(1,): 1, (2,): 1, (3,): 1, (4,): 1}


def test_text_that_other_engines_cannot_hold_is_no_key() -> None:
    assert counts(opened({"u": [1, 2], "k": ["a\x00b", "ab"]}), "k") == {("ab",): 1}


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_thresholded_keys_of_units_requires_noise_for_each_key_that_occurs_and_none_else(script: Script) -> None:
    found = {("b",): 3, ("a",): 3, ("c",): 1}
    script.tell(0, 1, 9)
    assert shown(found, Noise("laplace", Fraction(2)), 4) == {("b",): 4, ("c",): 10}
    assert script.asked == [(3, Fraction(2))]
    script.tell()
    assert shown({}, Noise("laplace", Fraction(2)), 1) == {}


def test_gaussian_thresholded_keys_of_units_requires_noise_for_each_key_that_occurs(script: Script) -> None:
    script.tell(1, -1)
    assert shown({("a",): 2, ("b",): 4}, Noise("gaussian", Fraction(7, 2)), 3) == {("a",): 3, ("b",): 3}
    assert script.asked == [(2, Fraction(7, 2))]


def test_a_key_is_shown_from_the_threshold_on_and_not_below(script: Script) -> None:
    for count, noise in ((1, 4), (5, 0), (9, -4)):
        script.tell(noise, noise)
        assert shown({("a",): count, ("b",): count - 1}, UNNOISY, 5) == {("a",): 5}


def test_keys_are_shown_in_their_order_and_not_in_that_of_the_engine(script: Script) -> None:
    keys = [(2, "b"), (None, "a"), (2, None), (-1, "z"), (2, "a")]
    for order in (keys, keys[::-1]):
        script.tell(*[0] * 5)
        assert list(shown(dict.fromkeys(order, 9), UNNOISY, 1)) == [
            (-1, "z"),
            (2, "a"),
            (2, "b"),
            (2, None),
            (None, "a"),
        ]


def test_noise_at_the_ends_of_64_bits_does_not_wrap(script: Script) -> None:
    script.tell(LARGEST, -LARGEST)
    assert shown({("a",): EDGE, ("b",): EDGE}, UNNOISY, 5) == {("a",): EDGE}


# --- what it costs ---------------------------------------------------------------------------------------------------


def select(unit: Any, loss: Any, *columns: str, limits: Limits = Limits()) -> Any:  # noqa: B008
    relation = opened({"u": [1], "k": ["a"], "x": [0.5], "t": [1]}, unit).relation
    return select_keys(relation, columns or ("k",), loss=loss, asked=limits)


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
def test_the_noise_and_the_threshold_are_the_least_that_the_loss_allows(groups: int, delta: str) -> None:
    unit, target = vm.per("u", groups=groups, per_group=3), real(Fraction(delta))
    found = select(unit, vm.approx("1/2", delta))
    assert found.noise == Noise("laplace", Fraction(2 * groups))
    chances = [1 - (1 - laplace_tail(found.threshold - 1 - less, found.noise.scale)) ** groups for less in (0, 1)]
    assert chances[0] <= target < chances[1]
    assert found.measurement.map(1) <= vm.approx("1/2", delta)
    gaussian = select(unit, vm.approx_zcdp("1/8", delta))
    assert gaussian.noise.kind == "gaussian"
    assert abs(gaussian.noise.scale**2 - 4 * groups) < Fraction(1, 10**9)
    assert gaussian.measurement.map(1) <= vm.approx_zcdp("1/8", delta)
    assert at_most(1 - (1 - gaussian_tail(gaussian.threshold - 1, gaussian.noise.scale)) ** groups, Fraction(delta))
    assert 1 - (1 - gaussian_tail(gaussian.threshold - 3, gaussian.noise.scale)) ** groups > target
    # Gaussian noise has shorter tails: less has to be hidden for the same rho than pure epsilon = sqrt(2 rho) asks for.
    assert gaussian.threshold < found.threshold


def test_the_loss_is_that_of_the_unit_also_after_steps_that_come_before() -> None:
    table = opened({"u": [1, 2, 3, 3], "k": ["a", "b", "b", "b"], "x": [0.5, 2.0, 2.0, 2.0]}, vm.per("u", rows=2))
    filtered = table.filter(table["x"] > 1).relation
    found = select_keys(filtered, ["k"], loss=vm.approx(1, "1e-6"), asked=Limits())
    assert found.measurement.input_space == filtered.source_space
    slugs = [node.theorem.slug for node in found.measurement.explain(1).derivation.nodes()]
    assert slugs == ["chain", "units-one-by-one", "thresholded-keys-of-units"]
    assert found.measurement.map(2).epsilon == 2
    loud = select_keys(filtered, ["k"], loss=vm.approx(10**6, "1/2"), asked=Limits())
    assert loud.measurement(table.relation.source) == {("b",): 2}


def test_units_that_may_be_replaced_and_rows_pay_for_what_they_move() -> None:
    loss = vm.approx(1, "1e-6")
    assert select(vm.per("u", rows=3, replace=True), loss).noise.scale == 6
    assert select(vm.per_row(), loss).noise.scale == 1
    window = select(vm.per_event("t", window=4), loss)
    assert window.noise.scale == 8
    # Four rows in keys that nobody else has, or all in one such key.
    for spent, sharp in ((loss, False), (vm.approx(20, "1e-6"), True)):
        found = select(vm.per_event("t", window=4), spent)
        scale, target = found.noise.scale, real(Fraction(spent.delta))
        singles = [1 - (1 - laplace_tail(found.threshold - 1 - less, scale)) ** 4 for less in (0, 1)]
        fulls = [laplace_tail(found.threshold - 4 - less, scale) for less in (0, 1)]
        assert max(singles[0], fulls[0]) <= target < max(singles[1], fulls[1])
        assert (fulls[0] > singles[0]) is sharp
    zcdp = select(vm.per_event("t", window=4), vm.approx_zcdp(1, "1e-6"))
    assert abs(zcdp.noise.scale**2 - 16) < Fraction(1, 10**9)


def test_what_cannot_be_answered_is_refused_with_what_to_do() -> None:
    unit = vm.per("u", rows=1)
    for loss in (vm.pure(1), vm.zcdp(1)):
        with pytest.raises(NoTheorem, match=r"vm\.approx\(1, '1e-6'\) or vm\.approx_zcdp.*keys=\[\.\.\.\]"):
            select(unit, loss)
    for without in (vm.approx(1, 0), vm.approx_zcdp(1, 0), vm.approx(1, 1)):
        with pytest.raises(NumberError, match="delta between 0 and 1"):
            select(unit, without)
    with pytest.raises(ParameterError, match="'x' is real; cut it into bins"):
        select(unit, BIG, "x")
    with pytest.raises(ParameterError, match="named twice"):
        select(unit, BIG, "k", "k")
    with pytest.raises(NoTheorem, match="nothing limits"):
        select(vm.per("u"), BIG)
    # One in each key is what counts anyway, so that a limit of groups is enough.
    assert select(vm.per("u", groups=2), BIG).limits == Limits(groups=2, per_group=1)
    with pytest.raises(NumberError, match="spend more"):
        select(unit, vm.approx("1e-15", "1e-3000"))


def test_counts_of_one_unit_more_or_less_differ_by_one_in_its_keys_on_random_tables() -> None:
    random = np.random.default_rng(7)
    for _ in range(10):
        size = int(random.integers(1, 60))
        rows = {"u": random.integers(0, 9, size).tolist(), "k": random.choice(list("abcde"), size).tolist()}
        table = opened(rows, vm.per("u", groups=9, per_group=9))
        naive: dict[Any, set[int]] = {}
        for unit, key in zip(rows["u"], rows["k"], strict=True):
            naive.setdefault((key,), set()).add(unit)
        assert counts(table, "k") == {key: len(units) for key, units in naive.items()}
