"""What terminals show of answers, previews and tables."""

from fractions import Fraction
from typing import Any

import pytest
from tests.tables.showing.made import answer, carriers, estimate, preview, table

import viameter as vm
from viameter.tables.bounding import Limits
from viameter.tables.preview import Standing
from viameter.tables.showing import answer_text, preview_text, table_text
from viameter.tables.units import Unit, per, per_entity, per_event, per_row


def test_an_answer_is_an_aligned_table_with_its_cost() -> None:
    assert repr(carriers()) == answer_text(carriers())
    assert answer_text(carriers()).splitlines() == [
        "carrier  n                  delay",
        "C0       1000 [ 990, 1010]  12.3 [11.9, 12.8]",
        "C1       1007 [ 997, 1017]  13.3 [12.9, 13.8]",
        "C2       1014 [1004, 1024]  14.3 [13.9, 14.8]",
        "",
        "cost zcdp(1/200) for one tailnum with all of its rows (user)",
        "confidence 95%, of each interval by itself",
        "intervals of n, delay cover noise; not rows that were not kept",
    ]


def test_an_answer_without_groups_notes_and_what_each_interval_covers() -> None:
    one = {"n": estimate([(5, 1, 9)], whole=True), "delay": estimate([(2.5, 2.0, 3.0)])}
    made = answer(
        (), [()], one, covers={"n": "noise", "delay": "noise and bins"}, notes=("set to 0",), alpha=Fraction(1, 100)
    )
    assert answer_text(made).splitlines() == [
        "n         delay",
        "5 [1, 9]  2.5 [2.0, 3.0]",
        "",
        "cost zcdp(1/200) for one tailnum with all of its rows (user)",
        "confidence 99%, of each interval by itself",
        "intervals of n cover noise",
        "intervals of delay cover noise and bins",
        "note: set to 0",
    ]


def test_numbers_of_different_digits_have_their_points_below_one_another() -> None:
    made = answer(("k",), [(1,), (20,)], {"x": estimate([(8.125, 8.104, 8.146), (120.0, 90.0, 150.0)])})
    assert answer_text(made).splitlines()[1:3] == [
        " 1    8.125 [ 8.104,   8.146]",
        "20  120     [90,     150]",
    ]


def test_of_many_groups_forty_are_shown_and_the_others_are_counted() -> None:
    lines = answer_text(carriers(1000)).splitlines()
    assert lines[40].startswith("C39 ") and lines[41] == "... and 960 more"
    assert "more" not in answer_text(carriers(40))
    assert "... and 1 more" in answer_text(carriers(41))


def test_an_answer_of_no_groups_is_a_head() -> None:
    empty = answer(("k",), [], {"n": estimate([(1, 1, 1)], whole=True)})
    none = empty["n"].value[:0]
    made = answer(("k",), [], {"n": type(empty["n"])(none, none, none, Fraction(1, 20), "")})
    assert answer_text(made).splitlines()[:2] == ["k  n", ""]


def test_keys_cannot_break_lines_or_move_the_cursor() -> None:
    keys = [("a\nb",), ("\x1b[2J\x07",), ("\u202eabc",), (None,), ("x" * 100,), ("\ud800",)]
    made = answer(("key\n",), keys, {"n": estimate([(1, 0, 2)] * 6, whole=True)}, notes=("one\ntwo",))
    lines = answer_text(made).splitlines()
    starts = [line.split("  ")[0] for line in lines[:7]]
    assert starts == ["key\\n", "a\\nb", "\\x1b[2J\\x07", "\\u202eabc", "NULL", "x" * 47 + "…", "\\ud800"]
    assert lines[-1] == "note: one\\ntwo"


def test_wide_letters_take_two_places() -> None:
    made = answer(("k",), [("東京",), ("abcd",), ("e\u0301e\u0301xy",)], {"n": estimate([(1, 0, 2)] * 3, whole=True)})
    assert answer_text(made).splitlines()[1:4] == ["東京  1 [0, 2]", "abcd  1 [0, 2]", "e\u0301e\u0301xy  1 [0, 2]"]


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (per("tailnum", rows=2), "one tailnum with all of its rows (user)"),
        (
            per("id", rows=2, replace=True),
            "one id with all of its rows, which may turn into others (user(alters=True))",
        ),
        (per_row(), "one row (unbounded)"),
        (per_row(replace=True), "one row (bounded)"),
        (per_event("day"), "one event (event)"),
        (per_event("day", window=7), "one window of 7 times of day (w_event(w=7))"),
        (
            per_entity("patients", key="id", links={}, rows=5),
            "one row of patients with all rows that refer to it (entity(root='patients'))",
        ),
    ],
)
def test_the_cost_says_for_whom_it_is(unit: Unit, words: str) -> None:
    made = answer((), [()], {"n": estimate([(5, 1, 9)], whole=True)}, unit=unit)
    assert f"cost zcdp(1/200) for {words}" in answer_text(made).splitlines()


def test_a_preview_says_costs_widths_and_what_would_be_left() -> None:
    assert repr(preview()) == preview_text(preview())
    assert preview_text(preview(notes=("a note",))).splitlines() == [
        "aggregate  cost         noise                        width, 95%",
        "n          zcdp(1/300)  gaussian 245                 ± 481",
        "delay      zcdp(1/150)  gaussian 245, gaussian 1000  ± 105 at 100 rows, ± 9.88 at 1,000 rows",
        "",
        "total   zcdp(1/100) for one tailnum with all of its rows (user)",
        "budget  zcdp(1/10) spent of zcdp(3/5), zcdp(1/2) left",
        "fits    yes: zcdp(49/100) would be left",
        "counts  of one tailnum, at most 20 rows, 4 groups",
        "note    a note",
    ]


@pytest.mark.parametrize(
    ("loss", "left", "words"),
    [
        (vm.zcdp("3/5"), vm.zcdp("1/2"), "no: zcdp(1/10) over what is left"),
        (vm.approx(1, "1/100"), vm.approx(2, "1/1000"), "no: approx(0, 9/1000) over what is left"),
        (vm.pure(float("inf")), vm.pure(1), "no: pure(inf) over what is left"),
        (vm.pure(1), vm.pure(1), "no"),
    ],
)
def test_a_preview_that_does_not_fit_says_by_how_much(loss: Any, left: Any, words: str) -> None:
    lines = preview_text(
        preview(fits=False, loss=loss, budgets=(Standing("", left, left.measure.zero, left),))
    ).splitlines()
    assert f"fits    {words}" in lines


def test_a_preview_that_several_pay_for_shows_each_with_its_own_numbers_and_which_one_limits() -> None:
    whole = Standing("visits", vm.zcdp(1), vm.zcdp("1/4"), vm.zcdp("3/4"))
    own = Standing("visits@ann", vm.zcdp("1/10"), vm.zcdp("1/20"), vm.zcdp("1/20"))
    made = preview(budgets=(whole, own))
    assert (made.binding, made.spent, made.left) == (own, own.spent, own.left)
    assert preview_text(made).splitlines()[5:8] == [
        "budgets  visits: zcdp(1/4) spent of zcdp(1), zcdp(3/4) left",
        "         visits@ann: zcdp(1/20) spent of zcdp(1/10), zcdp(1/20) left; this one limits",
        "fits     yes: zcdp(1/25) would be left",
    ]
    # The budget itself, if it has no room either: it is of no use that the limit were raised.
    assert preview(budgets=(whole, own), loss=vm.zcdp(1), fits=False).binding == whole
    assert preview(budgets=(own, whole)).binding == own


def test_what_counts_where_nothing_is_limited() -> None:
    assert "counts  of one row, everything" in preview_text(preview(kept="", unit=per_row()))


def test_a_table_shows_columns_unit_steps_and_budget() -> None:
    made = table(steps=("filter(distance > 500)", "select(distance)"), unusable=("shape",), limits=Limits(groups=1))
    assert table_text(made).splitlines() == [
        "private table on DuckDB",
        "",
        "column    type",
        "tailnum   TEXT",
        "distance  INTEGER",
        "",
        "unusable  shape",
        "unit      one tailnum with all of its rows (user)",
        "          two tables are neighbors if one has one person more, with all of their records",
        "counts    at most 20 rows, 1 group",
        "steps     filter(distance > 500)",
        "          select(distance)",
        "budget    [#---------] 1/100 of 1/2 spent (rho, ZCDP)",
    ]


@pytest.mark.parametrize(
    ("spent", "bar"),
    [
        ("0", "----------"),
        ("1/1000000", "#---------"),
        ("1/4", "#####-----"),
        ("499/1000", "#########-"),
        ("1/2", "##########"),
    ],
)
def test_the_bar_is_full_when_all_is_spent_and_empty_when_nothing_is(spent: str, bar: str) -> None:
    assert f"[{bar}] {spent} of 1/2 spent" in table_text(table(spent=vm.zcdp(spent)))


def test_budgets_of_two_numbers_and_of_none_left() -> None:
    both = table(spent=vm.approx("1/4", 0), budget=vm.approx(1, "1/1000"))
    assert "[###-------] 1/4 of 1 and 0 of 1/1000 spent (epsilon and delta, ApproxDP)" in table_text(both)
    assert "[##########] 0 of 0 spent" in table_text(table(spent=vm.pure(0), budget=vm.pure(0)))
    curve = vm.renyi({2: 1})
    assert f"budget  {curve!r} of {curve!r} spent" in table_text(table(spent=curve, budget=curve))


def test_tables_of_a_database_and_units_without_limits() -> None:
    assert table_text(table(several=True)).startswith("private table on DuckDB")
    assert "counts  not limited yet: see .limit(rows=...)" in table_text(table(unit=per("tailnum")))
    assert "counts  everything" in table_text(table(unit=per_row()))


def test_of_many_columns_forty_are_shown() -> None:
    from viameter.tables.expressions import Kind

    assert "... and 10 more" in table_text(table({f"c{place}": Kind.REAL for place in range(50)}))


def test_a_table_on_an_engine_shows_no_row() -> None:
    rows = {"patient": ["anna", "berta"], "wait": [1041, 2042]}
    opened = vm.open(rows, unit=per("patient", rows=2), budget=vm.zcdp("1/2"))
    waiting = opened.filter(opened["wait"] > 7)
    for text in (repr(waiting), waiting._repr_html_()):
        assert "DuckDB" in text and "filter(wait " in text and "0 of 1/2 spent" in text
        assert not any(secret in text for secret in ("anna", "berta", "1041", "2042"))
