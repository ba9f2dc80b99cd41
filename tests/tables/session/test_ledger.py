"""Tables under a ledger: what is spent outlives the session, is shared, and is paid once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tables.held import held

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import (
    AnswerLost,
    KeyTaken,
    LedgerError,
    OverBudget,
    ParameterError,
    QueryableError,
    SealedError,
    UnknownScope,
)
from viameter.ledger import Ledger

ROWS = {
    "patient": [f"p{place % 300}" for place in range(1000)],
    "ward": ["AB"[place // 7 % 2] for place in range(1000)],
    "wait": [place % 50 for place in range(1000)],
}


@pytest.fixture
def book(tmp_path: Path) -> Any:
    with ledgers.open(tmp_path / "budget.db") as made:
        yield made


def opened(book: Ledger, **options: Any) -> Any:
    given: dict[str, Any] = {
        "unit": vm.per("patient", rows=5),
        "dataset": "visits",
        "budget": vm.zcdp("1/2"),
        **options,
    }
    return vm.open(held(ROWS), ledger=book, **given)


def by_ward(table: Any, keys: Any = ("A", "B"), wait: Any = None) -> Any:
    mean = vm.mean("wait", bounds=(0, 60)) if wait is None else wait
    return table.group_by("ward", keys=list(keys)).agg(n=vm.count(), wait=mean)


def test_what_one_session_spent_the_next_one_finds_spent(book: Ledger) -> None:
    first = opened(book)
    by_ward(first).release(spend=vm.zcdp("1/10"))
    second = opened(book, budget=None)
    assert second.spent == first.spent and vm.zcdp("0.0999") < second.spent <= vm.zcdp("1/10")
    assert second.budget == vm.zcdp("1/2") and second.history == first.history
    with pytest.raises(OverBudget) as refused:
        by_ward(second).release(spend=vm.zcdp("0.41"))
    assert refused.value.scope == "visits"
    assert by_ward(second).preview(spend=vm.zcdp("0.41")).fits is False
    assert second.spent == first.spent and ledgers.verify(book).ok


def test_a_path_is_enough_and_gives_the_dataset_its_name(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(ROWS), tmp_path / "visits.parquet")
    for spent in (vm.zcdp(0), vm.zcdp("1/10")):
        table = vm.open(
            tmp_path / "visits.parquet",
            unit=vm.per("patient", rows=5),
            budget=vm.zcdp("1/2"),
            ledger=tmp_path / "budget.db",
        )
        assert table.spent <= spent
        by_ward(table).release(spend=vm.zcdp("1/10"))
        assert table.ledger is not None
        table.ledger.close()
    with ledgers.open(tmp_path / "budget.db") as book:
        assert [scope.name for scope in book.scopes()] == ["visits.parquet"]


def test_the_same_question_under_the_same_key_has_the_same_answer_and_is_paid_once(book: Ledger) -> None:
    first = by_ward(opened(book)).release(spend=vm.zcdp("1/10"), key="May")
    spent = opened(book).spent
    again = by_ward(opened(book)).release(spend=vm.zcdp("1/10"), key="May")
    for name in ("n", "wait"):
        assert np.array_equal(first[name].value, again[name].value)
        assert np.array_equal(first[name].lower, again[name].lower)
    assert opened(book).spent == spent


OTHERS: dict[str, Callable[[Any], tuple[Any, dict[str, Any]]]] = {
    "keys": lambda table: (by_ward(table, ["A", "C"]), {}),
    "filter": lambda table: (by_ward(table.filter(table["wait"] > 3)), {}),
    "aggregate": lambda table: (by_ward(table, wait=vm.sum("wait", bounds=(0, 60))), {}),
    "bounds": lambda table: (by_ward(table, wait=vm.mean("wait", bounds=(0, 61))), {}),
    "loss": lambda table: (by_ward(table), {"spend": vm.zcdp("1/11")}),
    "weights": lambda table: (by_ward(table), {"weights": {"n": 2}}),
    "limits": lambda table: (by_ward(table.limit(rows=2)), {}),
}


def test_another_question_under_the_same_key_is_refused(book: Ledger) -> None:
    by_ward(opened(book)).release(spend=vm.zcdp("1/10"), key="May")
    spent = opened(book).spent
    for name, other in OTHERS.items():
        question, how = other(opened(book))
        with pytest.raises(KeyTaken):
            question.release(**{"spend": vm.zcdp("1/10"), **how}, key="May")
        assert opened(book).spent == spent, name


def test_a_public_table_is_part_of_the_question(book: Ledger) -> None:
    def joined(floors: list[int]) -> Any:
        wards = vm.public({"ward": ["A", "B"], "floor": floors})
        return opened(book).join(wards, on=["ward"]).group_by("floor", keys=[1, 2]).agg(n=vm.count())

    joined([1, 2]).release(spend=vm.zcdp("1/10"), key="May")
    joined([1, 2]).release(spend=vm.zcdp("1/10"), key="May")
    with pytest.raises(KeyTaken):
        joined([2, 1]).release(spend=vm.zcdp("1/10"), key="May")


def test_every_kind_of_question_takes_a_key(book: Ledger) -> None:
    table = opened(book, budget=vm.approx_zcdp(2, "1e-5"))
    wards = table.group_by("ward", keys=["A", "B", "C"])
    spend = vm.approx_zcdp("1/10", "1e-6")
    asked: dict[str, Callable[[str], Any]] = {
        "top": lambda key: wards.top(2).release(spend=vm.approx_zcdp("1/10", 0), key=key).groups,
        "heavy": lambda key: table.heavy_hitters("ward").release(spend=spend, key=key).to_dicts(),
        "selected": lambda key: table.group_by("ward").agg(n=vm.count()).release(spend=spend, key=key).to_dicts(),
        "together": lambda key: {
            name: answer.to_dicts()
            for name, answer in vm.together(a=by_ward(table), b=table.agg(n=vm.count()))
            .release(spend=vm.approx_zcdp("1/10", 0), key=key)
            .items()
        },
    }
    for name, ask in asked.items():
        first, spent = ask(name), table.spent
        assert ask(name) == first and table.spent == spent, name
    assert ledgers.verify(book).ok


def test_a_key_without_a_ledger_is_refused_and_so_is_what_else_needs_one() -> None:
    table: Any = vm.open(held(ROWS), unit=vm.per("patient", rows=5), budget=vm.zcdp(1))
    with pytest.raises(ParameterError, match="ledger="):
        table.agg(n=vm.count()).release(spend=vm.zcdp("1/10"), key="May")
    assert table.spent == vm.zcdp(0)
    for name, value in (("dataset", "visits"), ("scopes", ["ann"]), ("by", "ann"), ("deadline", 1)):
        with pytest.raises(ParameterError, match="ledger="):
            vm.open(held(ROWS), unit=vm.per_row(), budget=vm.zcdp(1), **{name: value})  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="dataset"):
        vm.open(held(ROWS), unit=vm.per_row(), budget=vm.zcdp(1), ledger=ledgers.in_memory())
    with pytest.raises(ParameterError, match="budget"):
        vm.open(held(ROWS), unit=vm.per_row())


def test_another_budget_or_another_unit_is_not_the_same_scope(book: Ledger) -> None:
    opened(book)
    with pytest.raises(LedgerError, match="has a budget of zcdp\\(1/2\\)"):
        opened(book, budget=vm.zcdp(1))
    with pytest.raises(ParameterError, match="different neighbors"):
        opened(book, unit=vm.per_row())
    book.set_budget("visits", vm.zcdp(1), why="decided")
    assert opened(book, budget=None).left == vm.zcdp(1)


def test_an_analyst_has_a_budget_too(book: Ledger) -> None:
    table = opened(book)
    space = table.session.space
    book.define("ann", vm.zcdp("1/20"), space)
    hers = opened(book, scopes=["ann"], by="ann")
    by_ward(hers).release(spend=vm.zcdp("1/30"))
    by_ward(table).release(spend=vm.zcdp("1/50"))
    # Numbers that stand together are those of one budget: here hers, which is the less.
    preview = by_ward(hers).preview(spend=vm.zcdp("1/30"))
    assert [(one.name, one.budget) for one in preview.budgets] == [("visits", vm.zcdp("1/2")), ("ann", vm.zcdp("1/20"))]
    assert all(one.left == one.budget.left_after(one.spent) for one in preview.budgets)
    assert (preview.binding.name, preview.spent, preview.fits) == ("ann", book.scope("ann").spent, False)
    with pytest.raises(OverBudget) as beforehand:
        by_ward(hers).spend_for({"n": 30})
    with pytest.raises(OverBudget) as refused:
        by_ward(hers).release(spend=vm.zcdp("1/30"))
    for told in (beforehand.value, refused.value):
        stands = (told.scope, told.budget, told.spent, told.left)
        assert stands == ("ann", vm.zcdp("1/20"), preview.spent, preview.left)
    assert refused.value.scope == "ann" and table.left >= vm.zcdp("0.4")
    with pytest.raises(UnknownScope):
        opened(book, scopes=["bob"])


def test_a_share_outlives_its_session_and_is_paid_once(book: Ledger) -> None:
    maps = opened(book).sub_budget("maps", budget=vm.zcdp("1/5"))
    maps.agg(n=vm.count()).release(spend=vm.zcdp("1/10"))
    again = opened(book).sub_budget("maps", budget=vm.zcdp("1/5"))
    assert opened(book).spent == vm.zcdp("1/5") and again.spent == maps.spent
    with pytest.raises(OverBudget):
        again.agg(n=vm.count()).release(spend=vm.zcdp("0.101"))
    with pytest.raises(LedgerError, match="something else"):
        opened(book).sub_budget("maps", budget=vm.zcdp("1/4"))
    with pytest.raises(OverBudget):
        opened(book).sub_budget("more", budget=vm.zcdp("2/5"))
    assert ledgers.verify(book).ok


def test_who_did_not_pay_for_a_share_pays_for_its_questions(book: Ledger) -> None:
    table = opened(book)
    for name in ("ann", "bob"):
        book.define(name, vm.zcdp("1/4"), table.session.space)
    opened(book, scopes=["ann"], by="ann").sub_budget("maps", budget=vm.zcdp("1/5"))
    assert book.scope("ann").spent == vm.zcdp("1/5")
    bobs = opened(book, scopes=["bob"], by="bob").sub_budget("maps", budget=vm.zcdp("1/5"))
    bobs.agg(n=vm.count()).release(spend=vm.zcdp("1/10"))
    assert book.scope("ann").spent == vm.zcdp("1/5")
    assert vm.zcdp("0.09") < book.scope("bob").spent <= vm.zcdp("1/10")


def test_parts_have_scopes_of_their_own_and_the_table_pays_for_the_worst_pattern(book: Ledger) -> None:
    def parts(**options: Any) -> Any:
        given = {"keys": ["A", "B"], "budgets": vm.zcdp("1/20"), "parts_per_unit": 1, **options}
        return opened(book).partition("ward", **given)

    wards = parts()
    assert opened(book).spent == vm.zcdp("1/20")
    wards["A"].agg(n=vm.count()).release(spend=vm.zcdp("1/40"))
    again = parts()
    assert again["A"].spent == wards["A"].spent > vm.zcdp("0.02") and again["B"].left == vm.zcdp("1/20")
    assert opened(book).spent == vm.zcdp("1/20")
    for change in ({"keys": ["A", "C"]}, {"budgets": vm.zcdp("1/10")}, {"parts_per_unit": 2}, {"other": True}):
        with pytest.raises(LedgerError, match="something else"):
            parts(**change)
    filtered = opened(book)
    with pytest.raises(LedgerError, match="something else"):
        filtered.filter(filtered["wait"] > 3).partition(
            "ward", keys=["A", "B"], budgets=vm.zcdp("1/20"), parts_per_unit=1
        )


def test_which_parts_a_unit_is_kept_in_is_drawn_once(book: Ledger) -> None:
    def kept() -> list[Any]:
        wards = opened(book).partition("ward", keys=["A", "B"], budgets=vm.zcdp("1/20"), parts_per_unit=1)
        shown = [table.relation.rows().expression.select("patient", "ward", "wait") for table in wards.values()]
        return [sorted(map(repr, table.to_pyarrow().to_pylist())) for table in shown]

    # Drawn anew, a unit that is in both wards could be in one of them today, and in the other tomorrow.
    first = kept()
    assert first == kept() == kept() and len(first[0]) + len(first[1]) < 1000


def test_what_fails_in_an_engine_is_charged_and_the_same_for_the_retry(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("row 1832 of p17")

    question = by_ward(opened(book))
    with monkeypatch.context() as patched:
        patched.setattr("viameter.tables.collecting.run", broken)
        with pytest.raises(SealedError) as first:
            question.release(spend=vm.zcdp("1/10"), key="May")
    with pytest.raises(SealedError) as again:
        question.release(spend=vm.zcdp("1/10"), key="May")
    assert str(first.value) == str(again.value) and "1832" not in str(first.value)
    assert opened(book).spent > vm.zcdp("0.09")


def test_an_interrupt_leaves_it_charged_and_the_retry_learns_it(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    question = by_ward(opened(book))
    with monkeypatch.context() as patched:
        patched.setattr("viameter.tables.collecting.run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            question.release(spend=vm.zcdp("1/10"), key="May")
    with pytest.raises(AnswerLost):
        question.release(spend=vm.zcdp("1/10"), key="May")
    assert len(opened(book).history) == 1


def test_a_guarantee_is_for_a_lifetime_where_a_budget_starts_over(book: Ledger) -> None:
    space = vm.open(held(ROWS), unit=vm.per("patient", rows=5), budget=vm.zcdp(1)).session.space
    book.define("visits", vm.zcdp("1/10"), space, renews="rows")
    for _ in range(3):
        opened(book, budget=None).agg(n=vm.count()).release(spend=vm.zcdp("1/10"))
        book.renew("visits", why="new rows")
    table = opened(book, budget=None)
    assert table.spent == vm.zcdp(0) and table.session.guarantee.loss > vm.zcdp("0.29")


def test_a_question_that_takes_too_long_fails_like_any_other_and_is_charged(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = opened(book, deadline=30)
    assert by_ward(table).release(spend=vm.zcdp("1/20")).to_dicts()
    monkeypatch.setattr("viameter.tables.collecting.run", lambda *_, **__: time.sleep(0.5))
    with pytest.raises(SealedError) as late:
        by_ward(opened(book, deadline=0.05)).release(spend=vm.zcdp("1/10"))
    assert str(late.value) == SealedError.TEXT and table.spent > vm.zcdp("0.14")


def test_several_tables_share_a_scope(book: Ledger) -> None:
    tables = {"visits": held(ROWS), "labs": held({"patient": ["p1", "p2"], "value": [1, 2]})}
    both: Any = vm.open(tables, unit=vm.per("patient", rows=5), budget=vm.zcdp(1), ledger=book, dataset="hospital")
    both["visits"].agg(n=vm.count()).release(spend=vm.zcdp("1/10"), key="a")
    both["labs"].agg(n=vm.count()).release(spend=vm.zcdp("1/10"), key="b")
    assert vm.zcdp("0.19") < book.scope("hospital").spent <= vm.zcdp("1/5")


def test_the_ledger_holds_no_data(book: Ledger) -> None:
    canary = "CANARY-9471"
    rows = {"patient": [canary] * 3, "ward": ["A", "A", canary], "wait": [77123, 77123, 77123]}
    table: Any = vm.open(rows, unit=vm.per("patient", rows=5), budget=vm.zcdp(1), ledger=book, dataset="visits")
    table.group_by("ward", keys=["A"]).agg(n=vm.count(), wait=vm.mean("wait", bounds=(0, 60))).release(
        spend=vm.zcdp("1/2")
    )
    assert book.place is not None
    for file in Path(book.place).parent.iterdir():
        content = file.read_bytes()
        assert canary.encode() not in content and b"77123" not in content


def test_after_entries_were_lost_no_budget_is_made_by_opening_a_table(book: Ledger) -> None:
    opened(book)
    book.close_scopes(lost={"backup": 2, "witness": 7}, why="a disk was lost")
    table = opened(book)
    assert table.left == vm.zcdp(0) and not table.session.guarantee.loss.is_finite
    with pytest.raises(LedgerError, match="made on purpose"):
        opened(book, dataset="labs")
    book.define("labs", vm.zcdp("1/2"), table.session.space, why="it is new")
    assert opened(book, dataset="labs").left == vm.zcdp("1/2")


def test_a_restore_that_lost_nothing_stops_nothing(book: Ledger) -> None:
    book.close_scopes(lost={"backup": 1, "witness": 1}, why="a disk was lost", names=())
    assert opened(book).left == vm.zcdp("1/2")


def test_parts_are_drawn_alike_whatever_the_order_and_refused_for_other_types(book: Ledger) -> None:
    def kept(table: Any) -> list[list[str]]:
        wards = table.partition("ward", keys=["A", "B"], budgets=vm.zcdp("1/20"), parts_per_unit=1)
        return [
            sorted(row["patient"] for row in part.relation.rows().expression.select("patient").to_pyarrow().to_pylist())
            for part in wards.values()
        ]

    first = kept(opened(book))
    assert kept(opened(book, order="portable")) == first
    numbered = {**ROWS, "wait": [str(place) for place in range(1000)]}
    other = vm.open(held(numbered), unit=vm.per("patient", rows=5), ledger=book, dataset="visits")
    with pytest.raises(LedgerError, match="something else"):
        kept(other)


def test_a_share_is_not_opened_as_a_table_and_not_raised_for_nothing(book: Ledger) -> None:
    opened(book).sub_budget("maps", budget=vm.zcdp("1/10"))
    with pytest.raises(LedgerError, match="is a share of 'visits'"):
        opened(book, budget=None, dataset="visits/maps")
    with pytest.raises(LedgerError, match="paid for"):
        book.set_budget("visits/maps", vm.zcdp(100), why="more")
    assert book.set_budget("visits/maps", vm.zcdp("1/20"), why="less").left == vm.zcdp("1/20")


def test_budgets_that_start_over_have_no_shares(book: Ledger) -> None:
    space = vm.open(held(ROWS), unit=vm.per("patient", rows=5), budget=vm.zcdp(1)).session.space
    book.define("visits", vm.zcdp(1), space, renews="rows")
    with pytest.raises(LedgerError, match="outlive"):
        opened(book, budget=None).sub_budget("maps", budget=vm.zcdp("1/2"))
    book.define("hers", vm.zcdp(1), space, renews="month")
    with pytest.raises(LedgerError, match="outlive"):
        opened(book, budget=None, dataset="visits", scopes=["hers"]).sub_budget("maps", budget=vm.zcdp("1/2"))
    assert book.scope("visits").spent == book.scope("hers").spent == vm.zcdp(0)


def test_a_share_of_a_budget_for_pairs_of_people_is_refused(book: Ledger) -> None:
    space = vm.open(held(ROWS), unit=vm.per("patient", rows=5), budget=vm.zcdp(1)).session.space
    book.define("visits", vm.zcdp(1), space, d_in=2)
    table = opened(book, budget=None)
    with pytest.raises(ParameterError, match="finite"):
        table.sub_budget("maps", budget=vm.zcdp("1/2"))
    table.agg(n=vm.count()).release(spend=vm.zcdp("1/8"))
    assert vm.zcdp("0.49") < table.spent <= vm.zcdp("1/2")


def test_households_and_persons_are_not_the_same_neighbors(book: Ledger) -> None:
    tables = {"people": held({"id": [1, 2], "house": [1, 1]})}
    for key in ("house", "id"):
        unit = vm.per_entity("people", key=key, links={}, rows=5)
        if key == "house":
            vm.open(tables, unit=unit, budget=vm.zcdp(1), ledger=book, dataset="people")
            continue
        with pytest.raises(ParameterError, match="different neighbors"):
            vm.open(tables, unit=unit, ledger=book, dataset="people")


def test_widths_under_a_key_can_be_asked_for_again_when_nothing_is_left(book: Ledger) -> None:
    table = opened(book, budget=vm.zcdp("1/40"))
    first = table.agg(n=vm.count()).release(within={"n": 50}, key="May")
    assert not table.agg(n=vm.count()).preview(spend=table.spent).fits
    assert table.agg(n=vm.count()).release(within={"n": 50}, key="May").to_dicts() == first.to_dicts()


def test_a_deadline_holds_for_keys_that_nobody_listed_too(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    table = opened(book, budget=vm.approx(10, "1e-5"), deadline=0.2)
    question = table.group_by("ward").agg(n=vm.count())
    monkeypatch.setattr("viameter.tables.engines.run", lambda *_, **__: time.sleep(1))
    monkeypatch.setattr("viameter.tables.selection.run", lambda *_, **__: time.sleep(1), raising=False)
    with pytest.raises(SealedError):
        question.release(spend=vm.approx(1, "1e-6"), key="May")


def test_a_misspelt_dataset_is_no_second_budget(book: Ledger) -> None:
    opened(book)
    with pytest.raises(LedgerError, match="there are: visits"):
        opened(book, dataset="visit")
    assert [scope.name for scope in book.scopes()] == ["visits"]


def test_an_emptied_ledger_makes_no_budget_by_opening_a_table(book: Ledger) -> None:
    book.close_scopes(lost={"backup": 1, "witness": 7}, why="a disk was lost")
    with pytest.raises(LedgerError, match="may have been among them"):
        opened(book)


def test_what_is_left_is_that_of_the_scope_that_has_least(book: Ledger) -> None:
    table = opened(book)
    book.define("bob", vm.zcdp("1/100"), table.session.space)
    bobs = opened(book, scopes=["bob"], by="bob")
    assert bobs.left == vm.zcdp("1/100") and table.left == vm.zcdp("1/2")


def test_a_session_does_not_survive_a_fork_and_nothing_is_charged(book: Ledger) -> None:
    question = opened(book).agg(n=vm.count())
    question.table.session._process += 1  # as after a fork
    with pytest.raises(QueryableError, match="fork"):
        question.release(spend=vm.zcdp("1/10"))
    assert opened(book).spent == vm.zcdp(0)
