"""Budgets as metrics: what the ledger says, rounded to the safe side, and no request is held up by a busy ledger."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from tests.service.serving import PATIENCE, Running

import viameter as vm
from viameter.ledger import Ledger, in_memory
from viameter.service import budget_metrics
from viameter.service.budget_metrics import BudgetMetrics, Tally

ROWS = vm.SymmetricDistance()
Key = tuple[str, str, str, str]


@pytest.fixture
def book() -> Iterator[Ledger]:
    with in_memory() as made:
        yield made


def samples(found: Any) -> dict[Key, float]:
    """Samples by name, dataset, measure and parameter."""
    return {
        (one.name, *(one.labels.get(label, "") for label in ("dataset", "measure", "parameter"))): one.value
        for family in found
        for one in family.samples
    }


def read(book: Ledger, *datasets: str, seconds: float = 60) -> dict[Key, float]:
    return samples(BudgetMetrics(book, lambda: list(datasets), seconds=seconds).collect())


def test_budgets_are_those_of_datasets_by_their_numbers(book: Ledger) -> None:
    book.define("visits", vm.zcdp("1/3"), ROWS)
    book.define("wages", vm.approx(2, "1e-6"), ROWS)
    book.define("visits@ann", vm.zcdp("1/10"), ROWS)
    book.define("curve", vm.renyi({2: "1/10", 4: "3/10"}), ROWS)
    book.reserve(vm.zcdp("1/7"), scopes=["visits"], key="a")
    found = read(book, "visits", "wages", "curve", "not there yet")
    assert Fraction(found["viameter_budget", "visits", "zcdp", "rho"]) <= Fraction(1, 3)
    assert Fraction(found["viameter_budget_spent", "visits", "zcdp", "rho"]) >= Fraction(1, 7)
    assert found["viameter_budget_left", "visits", "zcdp", "rho"] == pytest.approx(4 / 21)
    assert found["viameter_budget", "wages", "approx", "epsilon"] == 2
    assert found["viameter_budget", "wages", "approx", "delta"] == pytest.approx(1e-6)
    assert found["viameter_budget_left", "curve", "renyi", "order 4"] == pytest.approx(0.3)
    assert {dataset for _, dataset, _, _ in found} == {"visits", "wages", "curve", ""}, "no person's own limit"


@given(budget=st.fractions(min_value=Fraction(1, 10**9), max_value=10**9), share=st.fractions(0, 1))
def test_rounding_is_to_the_safe_side(budget: Fraction, share: Fraction) -> None:
    with in_memory() as book:
        book.define("d", vm.pure(budget), ROWS)
        book.reserve(vm.pure(budget * share), scopes=["d"], key="a")
        scope = book.scope("d")
        found = read(book, "d")
        exact = {"": scope.cap, "_spent": scope.spent, "_left": scope.left}
        said = {word: Fraction(found[f"viameter_budget{word}", "d", "pure", "epsilon"]) for word in exact}
        assert said[""] <= exact[""].epsilon and said["_left"] <= exact["_left"].epsilon  # type: ignore[attr-defined]
        assert said["_spent"] >= exact["_spent"].epsilon  # type: ignore[attr-defined]
        for word, loss in exact.items():
            assert math.isclose(said[word], loss.epsilon, rel_tol=1e-15)  # type: ignore[attr-defined]


def test_what_failed_was_lost_or_renewed_is_counted(book: Ledger) -> None:
    for name in ("a", "b"):
        book.define(name, vm.pure(10), ROWS, renews="rows")
    metrics = BudgetMetrics(book, lambda: ["a", "b"], seconds=-1)
    assert samples(metrics.collect())["viameter_questions_lost", "a", "", ""] == 0
    reserved = {key: book.reserve(vm.pure(1), scopes=[key[0]], key=key) for key in ("a1", "a2", "a3", "b1", "b2")}
    book.fail(reserved["a1"])
    book.commit(reserved["a2"], b"an answer")
    book.commit(reserved["b1"], b"an answer")
    book.renew("b", why="new rows")
    for _ in range(2):  # read again, nothing is counted twice
        found = samples(metrics.collect())
        counts = {
            name: [found[f"viameter_{name}", dataset, "", ""] for dataset in ("a", "b")]
            for name in ("questions_failed_total", "questions_lost", "budget_renewals_total")
        }
        assert counts == {"questions_failed_total": [1, 0], "questions_lost": [1, 1], "budget_renewals_total": [0, 1]}
    book.fail(reserved["a3"])
    found = samples(metrics.collect())
    assert found["viameter_questions_lost", "a", "", ""] == 0
    assert found["viameter_questions_failed_total", "a", "", ""] == 2


def test_a_question_is_lost_only_when_its_time_is_over() -> None:
    tally, began = Tally(), datetime(2026, 1, 1, tzinfo=UTC)
    tally.add(5, {"kind": "reserve", "at": began.isoformat(), "costs": [{"scope": "a"}, {"scope": "a@ann"}]})
    assert tally.lost(began + timedelta(seconds=90), 90) == {}
    assert tally.lost(began + timedelta(seconds=91), 90) == {"a": 1, "a@ann": 1}


def test_a_busy_ledger_holds_nobody_up(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    book.define("d", vm.pure(1), ROWS)
    monkeypatch.setattr(budget_metrics, "PATIENCE", 0.05)
    go, threads = threading.Event(), []
    metrics = BudgetMetrics(book, lambda: ["d"], seconds=60)
    scopes = Ledger.scopes

    def busy(self: Ledger) -> Any:
        threads.append(threading.current_thread())
        assert go.wait(PATIENCE)
        return scopes(self)

    monkeypatch.setattr(Ledger, "scopes", busy)
    assert list(metrics.collect()) == []
    assert list(metrics.collect()) == []
    assert len(threads) == 1, "it is asked once, however often somebody looks"
    go.set()
    threads[0].join(PATIENCE)
    go.clear()
    stale: list[Metric] = list(metrics.collect())
    found = samples(stale)
    assert found["viameter_budget", "d", "pure", "epsilon"] == 1
    assert found["viameter_budget_age_seconds", "", "", ""] >= 0
    go.set()


def test_a_ledger_that_cannot_be_read_is_told_by_the_age(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = BudgetMetrics(book, lambda: ["d"], seconds=60)
    book.define("d", vm.pure(1), ROWS)
    first = samples(metrics.collect())

    def broken(_: Ledger) -> Any:
        raise OSError("CANARY")

    monkeypatch.setattr(Ledger, "scopes", broken)
    second = samples(metrics.collect())
    age = ("viameter_budget_age_seconds", "", "", "")
    assert second.pop(age) >= first.pop(age)
    assert first == second


def test_they_are_among_the_metrics_behind_the_same_door(run_service: Callable[..., Running]) -> None:
    running = run_service()
    assert running.ask("analyst-visits").status_code == 200
    assert running.client("analyst-visits").get("/metrics").status_code == 403
    found = samples(text_string_to_metric_families(running.client("auditor-all").get("/metrics").text))
    assert found["viameter_budget", "visits", "zcdp", "rho"] == 0.5
    assert Fraction(found["viameter_budget_spent", "visits", "zcdp", "rho"]) >= running.spent().rho > 0
    assert found["viameter_questions_failed_total", "wages", "", ""] == 0
