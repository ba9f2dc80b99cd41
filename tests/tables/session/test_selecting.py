"""Groups by keys that nobody listed: what is shown, what it costs, when it is charged, and what is refused."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import NoTheorem, NumberError, OverBudget, ParameterError, SealedError
from viameter.tables import selection as selection_module
from viameter.tables.selection import Counting

loose: Any = vm
BUDGETS = [vm.approx(10**9, "1/2"), vm.approx_zcdp(10**9, "1/2")]
"""So much loss that noise is nearly 0, and every key is shown that two units have."""


def rows(**columns: Any) -> dict[str, Any]:
    """Keys a, b and c with 3, 2 and 1 units, and one row without a key."""
    table = {
        "u": [1, 1, 2, 3, 2, 3, 1, 4],
        "k": ["b", "a", "a", "a", "b", "c", "a", None],
        "x": [1, 2, 3, 4, 5, 6, 7, 8],
    }
    return {**table, **columns}


def opened(budget: Any = BUDGETS[0], unit: Any = None, data: Any = None) -> Any:
    return vm.open(held(data or rows()), unit=unit or vm.per("u", rows=9), budget=budget)


def part(budget: Any, share: str = "1/2") -> Any:
    amount = Fraction(share) * Fraction(budget.epsilon if hasattr(budget, "epsilon") else budget.rho)
    return type(budget)(amount, budget.delta * Fraction(share))


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_keys_that_are_shown_are_answered_as_if_they_had_been_listed(budget: Any) -> None:
    table = opened(budget)
    answer = table.group_by("k").agg(n=vm.count(), s=vm.sum("x", bounds=(0, 10))).release(spend=part(budget))
    assert answer.keys == ("k",)
    assert answer.groups == (("a",), ("b",))
    assert answer["n"].value.tolist() == [4, 2]
    assert np.round(answer["s"].value, 3).tolist() == [16, 6]
    assert answer.loss == part(budget) == table.spent
    assert answer.guarantee.loss == answer.loss


def test_keys_of_several_columns_and_of_every_kind_come_back_as_they_were_and_in_order() -> None:
    day, moment = datetime.date(2024, 2, 28), datetime.datetime(2024, 2, 28, 12, 30, 1, 250)
    keys: dict[str, list[Any]] = {
        "n": [2**63 - 1, -(2**63), None], "f": [True, False, None], "d": [day, day.replace(year=1999), None],
        "t": [moment, moment.replace(year=1970), None], "s": ["b", "", None],
    }  # fmt: skip
    data = {"u": list(range(12)), **{name: values * 4 for name, values in keys.items()}}
    table = opened(vm.approx(10**12, "1/2"), vm.per("u", rows=1), data)
    spend = vm.approx(10**9, "1e-9")
    for name, values in keys.items():
        answer = table.group_by(name).agg(size=vm.count()).release(spend=spend)
        if name != "f":  # truth values need no list: both are public
            assert answer.groups == ((values[1],), (values[0],), (None,))
            assert answer["size"].value.tolist() == [4, 4, 4]
    pairs = table.group_by("s", "n").agg(size=vm.count()).release(spend=spend)
    assert pairs.groups == (("", -(2**63)), ("b", 2**63 - 1), (None, None))
    assert pairs["size"].value.tolist() == [4, 4, 4]


def test_keys_that_engines_write_in_their_own_way_are_read_as_numbers_and_moments() -> None:
    import pyarrow as pa

    moment = datetime.datetime(2024, 2, 28, 12, 30, 1, 250)
    columns = {
        "decimal": (pa.array([Decimal(7), Decimal(-3)] * 6, pa.decimal128(12, 0)), (-3, 7)),
        "unsigned": (pa.array([2**64 - 1, 5] * 6, pa.uint64()), (5, None)),
        "zoned": (pa.array([moment, None] * 6, pa.timestamp("us", tz="UTC")), (moment, None)),
        "small": (pa.array([1, -1] * 6, pa.int8()), (-1, 1)),
    }
    data = pa.table({"u": list(range(12)), **{name: values for name, (values, _) in columns.items()}})
    table = vm.open(held(data), unit=vm.per("u", rows=1), budget=vm.approx(10**12, "1/2"))
    for name, (_, expected) in columns.items():
        answer = table.group_by(name).agg(n=vm.count()).release(spend=vm.approx(10**9, "1e-9"))
        assert [group[0] for group in answer.groups] == list(expected)
        assert [type(group[0]) for group in answer.groups] == [type(value) for value in expected]
        assert answer["n"].value.tolist() == [6, 6]


def test_no_key_gives_an_empty_answer_that_was_paid_for() -> None:
    for budget in BUDGETS:
        table = opened(budget)
        none = table.filter(table["x"] > 100)
        question = none.group_by("k").agg(n=vm.count(), m=vm.mean("x", bounds=(0, 9)), q=vm.median("x", bounds=(0, 8)))
        answer = question.release(spend=part(budget))
        assert len(answer) == 0 and answer.to_dicts() == []
        assert answer.columns == ("k", *(f"{a}{end}" for a in "nmq" for end in ("", "_lower", "_upper")))
        assert answer["n"].value.dtype == np.int64 and answer["m"].value.dtype == np.float64
        assert table.spent == part(budget)
        assert isinstance(repr(answer), str)
        assert answer.to_pandas().empty


def test_rare_keys_stay_hidden_and_frequent_ones_are_shown() -> None:
    data = {"u": list(range(5000)), "k": ["often"] * 4950 + [f"canary-{place}" for place in range(50)]}
    for budget, spend in (
        (vm.approx(1, "1e-6"), vm.approx("1/2", "1e-9")), (vm.approx_zcdp(1, "1e-6"), vm.approx_zcdp("1/8", "1e-9")),
    ):  # fmt: skip
        table = opened(budget, vm.per("u", rows=1), data)
        question = table.group_by("k").agg(n=vm.count())
        answer = question.release(spend=spend)
        assert answer.groups == (("often",),)
        assert abs(int(answer["n"].value[0]) - 4950) < 300
        assert "canary" not in repr(answer) + str(answer.explain()) + str(question.preview(spend=spend))


def test_both_stages_are_charged_at_once_and_a_refusal_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    count = Counting.__call__

    def watched(self: Counting, rows: Any) -> Any:
        calls.append(rows)
        return count(self, rows)

    monkeypatch.setattr(Counting, "__call__", watched)
    table = opened(vm.approx(1, "1e-6"))
    question = table.group_by("k").agg(n=vm.count())
    # The selection alone would fit, with or without its delta.
    for spend in (vm.approx(2, "1e-6"), vm.approx("1/2", "2e-6")):
        assert not question.preview(spend=spend).fits
        with pytest.raises(OverBudget):
            question.release(spend=spend)
    assert calls == [] and table.spent == vm.approx(0, 0)
    question.release(spend=vm.approx(1, "1e-6"))
    assert len(calls) == 1
    assert [entry.loss for entry in table.history] == [vm.approx(1, "1e-6")]
    assert table.left == vm.approx(0, 0)


def test_what_fails_has_been_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("canary-4711")

    table = opened()
    monkeypatch.setattr(selection_module, "run", fail)
    with pytest.raises(SealedError) as caught:
        table.group_by("k").agg(n=vm.count()).release(spend=vm.approx(10, "1e-3"))
    assert "canary" not in str(caught.value)
    assert table.spent == vm.approx(10, "1e-3")


def test_weights_and_chances_that_are_none_are_refused_before_anything_is_charged() -> None:
    table = opened()
    question = table.group_by("k").agg(n=vm.count())
    spend = vm.approx(1, "1e-3")
    for error, options in (
        (ParameterError, {"weights": {"m": 1}}), (NumberError, {"alpha": 2}), (NumberError, {"selection_share": 0}),
        (NumberError, {"selection_share": 1}),
    ):  # fmt: skip
        for ask in (question.release, question.preview):
            with pytest.raises(error):
                ask(spend=spend, **options)
    assert table.history == ()


def test_the_share_of_the_selection_is_what_was_asked_and_all_of_delta() -> None:
    question = opened().group_by("k").agg(n=vm.count())
    for share in (Fraction(1, 4), Fraction(1, 2)):
        options = {} if share == Fraction(1, 4) else {"selection_share": share}
        preview = question.preview(spend=vm.approx(4, "1e-3"), **options)
        assert preview.rows[0].loss == vm.approx(4 * share, "1e-3")
        assert preview.rows[0].noise == f"laplace {float(9 / (4 * share)):.4g}"
        assert preview.rows[1].loss == vm.pure(4 * (1 - share))
        answer = question.release(spend=vm.approx(4, "1e-3"), **options)
        assert answer.proof.stages[0].map(1).epsilon == 4 * share
    assert opened(BUDGETS[1]).group_by("k").agg(n=vm.count()).preview(spend=vm.approx_zcdp(4, "1e-3")).rows[
        0
    ].loss == vm.approx_zcdp(1, "1e-3")


def test_a_preview_tells_the_threshold_the_delta_and_the_widths_and_reads_nothing() -> None:
    table = opened(vm.approx(1, "1e-6"), vm.per("u", rows=3))
    preview = table.group_by("k").agg(n=vm.count()).preview(spend=vm.approx(1, "1e-7"))
    assert preview.loss == vm.approx(1, "1e-7") and preview.fits
    # Scale 12, three keys: 1 - (1 - P(Z >= t - 1))^3 <= 1e-7.
    assert preview.notes[0].startswith("keys with fewer than about 200 units are not shown; those with 236 or more are")
    assert "1e-07" in preview.notes[1]
    assert "3 keys, once each" in preview.notes[2]
    # Laplace noise of scale 3/(3/4).
    assert preview.rows[1].widths == {"": 12.0}
    assert table.spent == vm.approx(0, 0)
    assert "keys with fewer than about 200" in repr(preview)


def test_an_answer_explains_both_stages_and_certifies_the_whole() -> None:
    answer = opened().group_by("k").agg(n=vm.count()).release(spend=part(BUDGETS[0]))
    slugs = [node.theorem.slug for node in answer.explain().derivation.nodes()]
    assert slugs[0] == "adaptive-composition"
    assert {"thresholded-keys-of-units", "batch-composition", "contributions-of-added-units"} <= set(slugs)
    assert answer.explain().assumptions == ()
    document = answer.certificate().to_json()
    assert document["derivation"]["theorem"] == "adaptive-composition"
    assert document["derivation"]["kind"] == "derived"
    for stage in answer.proof.stages:
        assert stage.certificate(1).to_json()["claim"]["measure"] == "approx"
    gaussian = opened(BUDGETS[1]).group_by("k").agg(n=vm.count()).release(spend=part(BUDGETS[1]))
    slugs = [node.theorem.slug for node in gaussian.explain().derivation.nodes()]
    assert "gaussian-thresholded-keys-of-units" in slugs


def test_keys_that_are_not_shown_may_be_one_group_together() -> None:
    table = opened()
    answer = table.group_by("k", other=True).agg(n=vm.count()).release(spend=part(BUDGETS[0]))
    assert answer.groups == (("a",), ("b",), ("(other)",))
    assert answer["n"].value.tolist() == [4, 2, 2]
    none = table.filter(table["x"] == 6)
    answer = none.group_by("k", other=True).agg(n=vm.count()).release(spend=part(BUDGETS[0], "1/4"))
    assert answer.groups == (("(other)",),)
    assert answer["n"].value.tolist() == [1]


def test_a_table_without_a_delta_says_which_budget_to_open_it_with() -> None:
    for budget in (vm.pure(1), vm.zcdp(1)):
        with pytest.raises(NoTheorem, match=r"budget such as vm\.approx.*or list the keys"):
            opened(budget).group_by("k")
    question = opened(vm.approx(1, 0)).group_by("k").agg(n=vm.count())
    with pytest.raises(NumberError, match="delta between 0 and 1"):
        question.release(spend=vm.approx("1/2", 0))


def test_columns_and_aggregates_that_are_none_are_refused_when_they_are_asked_for() -> None:
    table = opened(data=rows(r=[0.5] * 8))
    with pytest.raises(ParameterError, match="'r' is real"):
        table.group_by("r")
    with pytest.raises(ParameterError, match="there is no column 'q'"):
        table.group_by("q")
    with pytest.raises(ParameterError, match="name at least one aggregate"):
        table.group_by("k").agg()
    with pytest.raises(ParameterError, match="is the name of a column"):
        table.group_by("k").agg(k=vm.count())
    with pytest.raises(NoTheorem, match="nothing limits"):
        opened(unit=vm.per("u")).group_by("k").agg(n=vm.count())
    with pytest.raises(ParameterError, match="is not a loss"):
        loose.open(held(rows()), unit=vm.per("u", rows=1), budget=BUDGETS[0]).group_by("k").agg(n=vm.count()).release(
            spend=1
        )


def test_rows_and_events_and_limits_of_a_question_select_keys_too() -> None:
    spend = part(BUDGETS[0])
    for unit in (vm.per_row(), vm.per_row(replace=True), vm.per_event("x", window=2)):
        answer = opened(unit=unit).group_by("k").agg(n=vm.count()).release(spend=spend)
        assert (("a",), ("b",))[: len(answer.groups)] == answer.groups
        assert answer.loss == spend
    table = opened(vm.approx(10, "1e-3"), vm.per("u", rows=9)).limit(groups=2, per_group=1)
    preview = table.group_by("k").agg(n=vm.count()).preview(spend=vm.approx(1, "1e-3"))
    assert preview.rows[0].noise == "laplace 8"
