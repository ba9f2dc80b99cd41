"""Steps of scopes: what every entry left, when the calendar started them over, and pictures of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import viameter as vm
from viameter import ledger as ledgers
from viameter.cli import main
from viameter.errors import ParameterError, UnknownScope
from viameter.ledger import Ledger, Terms
from viameter.ledger.plots import next_start, plot_burndown, share, share_left, steps
from viameter.ledger.renewal import BY_CALENDAR, period_of
from viameter.ledger.stores import memory

ROWS = vm.SymmetricDistance()


class Clock(datetime):
    """The time, as a test sets it."""

    at = datetime(2026, 5, 4, 12, tzinfo=UTC)

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        return cls.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    monkeypatch.setattr(memory, "datetime", Clock)
    Clock.at = datetime(2026, 5, 4, 12, tzinfo=UTC)
    return Clock


def charge(book: Ledger, name: str, loss: vm.Loss, key: str | None = None) -> None:
    book.commit(book.reserve(loss, scopes=[name], key=key), b"1")


def told(book: Ledger, name: str, **options: Any) -> list[tuple[str, vm.Loss, vm.Loss]]:
    return [(step.kind, step.scope.spent, step.scope.cap) for step in steps(book, [name], **options)[name]]


def test_every_change_of_a_scope_is_a_step() -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.pure(1), ROWS, renews="rows")
    book.define("other", vm.pure(1), ROWS)
    charge(book, "visits", vm.pure("1/4"))
    charge(book, "other", vm.pure("1/8"))
    book.set_budget("visits", vm.pure(2), why="more")
    book.renew("visits", why="June")
    charge(book, "visits", vm.pure("1/2"))
    book.close_scopes(lost={}, why="lost", names=["visits"])
    assert told(book, "visits") == [
        ("define", vm.pure(0), vm.pure(1)),
        ("charge", vm.pure("1/4"), vm.pure(1)),
        ("budget", vm.pure("1/4"), vm.pure(2)),
        ("renew", vm.pure(0), vm.pure(2)),
        ("charge", vm.pure("1/2"), vm.pure(2)),
        ("closed", vm.pure(2), vm.pure(2)),
    ]
    last = steps(book)["visits"][-1].scope
    assert last.counted == book.scope("visits").counted == vm.pure("9/4") and not last.lifetime.is_finite
    assert list(steps(book)) == ["other", "visits"] and list(steps(book, ["other"])) == ["other"]
    with pytest.raises(UnknownScope):
        steps(book, ["nothing"])


def test_a_scope_that_another_paid_for_begins_with_that_charge() -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.pure(1), ROWS)
    terms = Terms.read(vm.pure("1/2"), ROWS, parent="visits")
    book.reserve(vm.pure("1/2"), scopes=["visits"], opens={"visits/ann": terms})
    charge(book, "visits/ann", vm.pure("1/8"))
    assert told(book, "visits/ann") == [
        ("define", vm.pure(0), vm.pure("1/2")),
        ("charge", vm.pure("1/8"), vm.pure("1/2")),
    ]


def test_the_calendar_starts_a_budget_over_at_the_first_turn_after_the_last_charge(clock: type[Clock]) -> None:
    book = ledgers.in_memory()
    book.define("monthly", vm.pure(1), ROWS, renews="month")
    charge(book, "monthly", vm.pure("1/2"))
    clock.at = datetime(2026, 8, 20, tzinfo=UTC)
    charge(book, "monthly", vm.pure("1/4"))
    found = steps(book, now=datetime(2026, 9, 3, tzinfo=UTC))["monthly"]
    assert [(step.kind, step.at.date().isoformat(), step.scope.spent) for step in found] == [
        ("define", "2026-05-04", vm.pure(0)),
        ("charge", "2026-05-04", vm.pure("1/2")),
        ("renew", "2026-06-01", vm.pure(0)),
        ("charge", "2026-08-20", vm.pure("1/4")),
        ("renew", "2026-09-01", vm.pure(0)),
    ]
    assert [step.kind for step in steps(book, now=clock.at)["monthly"]][-1] == "charge"


def test_a_clock_that_was_put_back_does_not_make_the_curve_go_back(clock: type[Clock]) -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.pure(1), ROWS)
    clock.at -= timedelta(days=3)
    charge(book, "visits", vm.pure("1/2"))
    first, second = steps(book, now=clock.at)["visits"]
    assert first.at == second.at


@given(st.sampled_from(BY_CALENDAR), st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)))
def test_a_period_ends_where_the_next_one_starts(policy: str, naive: datetime) -> None:
    at = naive.replace(tzinfo=UTC)
    turn = next_start(policy, at)
    assert turn > at
    assert period_of(policy, turn - timedelta(microseconds=1)) == period_of(policy, at) < period_of(policy, turn)


def test_the_share_is_that_of_the_number_nearest_to_its_end() -> None:
    assert share(vm.approx("1/2", "9e-7"), vm.approx(1, "1e-6")) == Fraction(9, 10)
    assert share(vm.approx("1/2", 0), vm.approx(1, 0)) == Fraction(1, 2)
    assert share(vm.renyi({2: "1/10", 4: "1/5"}), vm.renyi({2: 1, 4: "1/4"})) == Fraction(4, 5)
    assert share(vm.pure(0), vm.pure(0)) == 1
    assert share_left(vm.approx(3, "1e-6"), vm.approx(4, "1e-6")) == Fraction(3, 4)
    assert share_left(vm.approx(3, "1e-7"), vm.approx(4, "1e-6")) == Fraction(1, 10)
    assert share_left(vm.approx("1/2", 0), vm.approx(1, 0)) == Fraction(1, 2)
    assert share_left(vm.renyi({2: "9/10", 4: "1/20"}), vm.renyi({2: 1, 4: "1/4"})) == Fraction(1, 5)
    assert share_left(vm.pure(0), vm.pure(0)) == 0


def drawn(axes: Any, label: str) -> list[list[float]]:
    found: list[list[float]] = next(line for line in axes.lines if line.get_label() == label).get_xydata().tolist()
    return found


def test_a_picture_over_charges_has_a_step_for_each() -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.zcdp("1/2"), ROWS)
    charge(book, "visits", vm.zcdp("1/8"))
    book.set_budget("visits", vm.zcdp(1), why="more")
    charge(book, "visits", vm.zcdp("1/4"))
    (axes,) = plot_burndown(book, "visits").axes
    assert drawn(axes, "spent") == [[0, 0], [1, 0.125], [1.5, 0.125], [2, 0.375], [2.5, 0.375]]
    assert drawn(axes, "budget") == [[0, 0.5], [1.5, 1.0], [2.5, 1.0]]
    assert axes.get_ylabel() == "rho in ZCDP" and axes.get_xlabel() == "charges, in order"
    under = next(text.get_text() for text in axes.texts if "spent" in text.get_text())
    assert under == "zcdp(3/8) of zcdp(1) spent (38 %), 2 charges\nfor unbounded()"


def test_a_picture_over_time_if_it_went_on_for_days_or_the_calendar_matters(clock: type[Clock]) -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.approx(1, "1e-6"), ROWS)
    charge(book, "visits", vm.approx("1/4", "5e-7"))
    (axes,) = plot_burndown(book, now=clock.at).axes
    assert axes.get_xlabel() == "charges, in order"
    clock.at += timedelta(days=2)
    charge(book, "visits", vm.approx("1/4", "1e-7"))
    (axes,) = plot_burndown(book, now=clock.at + timedelta(days=1)).axes
    assert axes.get_xlabel() == "time (UTC)" and axes.get_ylabel() == "percent of the budget"
    assert [level for _, level in drawn(axes, "spent")] == pytest.approx([0, 50, 60, 60])
    days = [place for place, _ in drawn(axes, "spent")]
    assert days[2] - days[1] == 2 and days[3] - days[2] == 1
    book.define("daily", vm.pure(1), ROWS, renews="day")
    charge(book, "daily", vm.pure("1/2"))
    (axes,) = plot_burndown(book, "daily", now=clock.at).axes
    assert axes.get_xlabel() == "time (UTC)"


def test_scopes_are_drawn_in_the_order_in_which_they_were_named() -> None:
    book = ledgers.in_memory()
    with pytest.raises(ParameterError, match="no scopes"):
        plot_burndown(book)
    for name in "abc":
        book.define(name, vm.pure(1), ROWS)
    assert [axes.get_title(loc="left") for axes in plot_burndown(book, ["c", "a"]).axes] == ["c", "a"]
    assert len(plot_burndown(book).axes) == 3
    with pytest.raises(ParameterError, match="over='weeks'"):
        plot_burndown(book, over="weeks")  # type: ignore[arg-type]


def test_gaussian_losses_are_drawn_by_their_squares_which_add() -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.gdp(2), ROWS)
    charge(book, "visits", vm.gdp(1))
    charge(book, "visits", vm.gdp(1))
    (axes,) = plot_burndown(book).axes
    assert drawn(axes, "spent") == [[0, 0], [1, 1], [2, 2], [2.5, 2]] and drawn(axes, "budget")[0] == [0, 4]
    assert axes.get_ylabel() == "mu_squared in GaussianDP"


def test_a_rule_is_drawn_in_what_it_counts() -> None:
    book = ledgers.in_memory()
    book.define("visits", vm.approx(1, "1e-6"), ROWS, rule="concentrated")
    charge(book, "visits", vm.approx_zcdp("1/1000", 0))
    (axes,) = plot_burndown(book).axes
    assert axes.get_ylabel() == "percent of the budget"
    assert any("counted in ApproxZCDP" in text.get_text().replace("\n", " ") for text in axes.texts)


def test_a_budget_beyond_all_reason_is_drawn_all_the_same(tmp_path: Path) -> None:
    with ledgers.open(tmp_path / "budget.db") as book:
        book.define("visits", vm.zcdp("1/2"), vm.Space(vm.vectors(int), ROWS))
        book.set_budget("visits", vm.zcdp("1e12"), why="a slip of the finger")
        charge(book, "visits", vm.zcdp("1e11"))
        book.set_budget("visits", vm.zcdp("2e11"), why="as it was meant")
        plot_burndown(book).savefig(tmp_path / "burndown.svg")
    shown = CliRunner().invoke(main, ["ledger", "show", str(tmp_path / "budget.db")])
    assert shown.exit_code == 0, shown.output
    assert "visits" in shown.output
