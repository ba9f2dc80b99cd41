"""What a question under a key is known by: all that it asks, in every process the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import KeyTaken
from viameter.ledger.recording import describe_query

ROWS = {
    "patient": [f"p{place % 40}" for place in range(120)],
    "ward": ["A", "B", "C"] * 40,
    "wait": [place % 50 for place in range(120)],
    "dose": [float(place % 7) for place in range(120)],
}
LOSS, FOUND = vm.zcdp(10), vm.approx(10, "1e-3")


def opened(rows: Any = ROWS, budget: Any = None) -> Any:
    sources = {name: held(table) for name, table in rows.items()} if "visits" in rows else held(rows)
    return vm.open(
        sources,
        unit=vm.per("patient", rows=3),
        budget=vm.zcdp(1000) if budget is None else budget,
        ledger=ledgers.in_memory(),
        dataset="visits",
        by="ann",
    )


def require_apart(one: Any, other: Any, again: Any, spend: Any = LOSS) -> None:
    one.release(spend=spend, key="k")
    session = one.table.session if hasattr(one, "table") else one.session
    spent = session.spent
    with pytest.raises(KeyTaken):
        other.release(spend=spend, key="k")
    again.release(spend=spend, key="k")
    assert session.spent == spent


BY_BOUNDS: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "mean": (lambda bounds: vm.mean("wait", bounds=bounds), (0, 10), (10, 20)),
    "median": (lambda bounds: vm.median("wait", bounds=bounds), (0, 64), (0, 128)),
    "sum of reals": (lambda bounds: vm.sum("dose", bounds=bounds), (0, 8), (0, 16)),
    "variance": (lambda bounds: vm.variance("wait", bounds=bounds), (0, 10), (10, 20)),
    "std": (lambda bounds: vm.std("wait", bounds=bounds), (0, 10), (10, 20)),
    "which quantile": (lambda q: vm.quantile("wait", q, bounds=(0, 64)), "1/2", "9/10"),
    "bins": (lambda bins: vm.median("wait", bounds=(0, 64), bins=bins), 64, 65),
}


@pytest.mark.parametrize("case", BY_BOUNDS)
def test_what_is_added_up_of_a_column_tells_questions_apart(case: str) -> None:
    table = opened()
    make, one, other = BY_BOUNDS[case]
    require_apart(*(table.agg(n=make(given)) for given in (one, other, one)))


@pytest.mark.parametrize("case", ["mean", "median", "variance"])
def test_so_it_does_by_keys_that_are_found_and_at_both_stages(case: str) -> None:
    table = opened(budget=vm.approx(1000, "1e-1"))
    make, one, other = BY_BOUNDS[case]
    asked = [table.group_by("ward").agg(n=make(given)) for given in (one, other, one)]
    require_apart(asked[0], asked[1], asked[2], spend=FOUND)
    # The second stage is a query to what the first one spawned.
    first, second, again = (
        describe_query(0, each.plan.numbers([("A",)]).noise(vm.approx(1, 0), {}).measurement) for each in asked
    )
    assert first == again != second


def test_so_it_does_among_questions_asked_together_and_of_bounds() -> None:
    table = opened()
    require_apart(
        *(
            vm.together(a=table.agg(n=vm.mean("wait", bounds=bounds)), b=table.agg(n=vm.count()))
            for bounds in ((0, 10), (10, 20), (0, 10))
        )
    )
    require = opened()
    require_apart(*(require.bounds_question("wait", within=within) for within in ((0, 100), (0, 200), (0, 100))))


def test_names_of_columns_cannot_be_taken_for_other_steps() -> None:
    table = opened()
    k = table["wait"]
    one, other = table.derive(a=k + 1, ward=k * 0), table.derive(**{f"a={k + 1!r}, ward": k * 0})
    texts = [made.relation.steps[-1].made_by for made in (one, other)]
    assert texts == ["derive(a=wait + 1, ward=wait * 0)", "derive('a=wait + 1, ward'=wait * 0)"]
    odd = table.derive(**{"a, b": k, "a": k, "b": k})
    assert odd.select("a, b").relation.steps[-1].made_by == "select('a, b')"
    assert odd.select("a", "b").relation.steps[-1].made_by == "select(a, b)"
    public = vm.public({"a, b": [1], "a": [1], "b": [1], "v": [2]})
    texts = [odd.join(public, on).relation.steps[-1].made_by for on in (["a", "b", "a, b"], ["a, b", "a", "b"])]
    assert [text.partition("on=")[2] for text in texts] == ["a, b, 'a, b')", "'a, b', a, b)"]


def test_private_joins_are_told_apart_by_all_of_both_sides() -> None:
    drugs = {"patient": [f"p{place}" for place in range(40)], "drug": ["d", "e"] * 20}
    tables = opened({"visits": ROWS, "drugs": drugs})
    # The same texts of steps, of another type of column.
    wider = opened({"visits": {**ROWS, "wait": [place / 2 for place in range(120)]}, "drugs": drugs})
    texts = []
    for made in (tables, wider, tables):
        visits = made["visits"]
        joined = visits.filter(~visits["wait"].is_null()).select("patient", "ward").join(made["drugs"])
        texts.append(joined.relation.steps[-1].made_by)
    assert texts[0] == texts[2] != texts[1]
    known = [text.rpartition("; ")[2] for text in texts]
    assert all(len(one) == 33 and one.endswith(")") for one in known)
    assert texts[0].removesuffix(known[0]) == texts[1].removesuffix(known[1])


def ask_again(book: str) -> list[str]:
    """Ask questions under keys, of which sets are a part, at a ledger in a file: what is spent, and which parts."""
    days = [date(2026, 5, 1 + place % 3) for place in range(120)]
    rows = {**ROWS, "ward": ["A", "B", "C", None] * 30, "day": days}

    def table_of(name: str, budget: Any) -> Any:
        return vm.open(rows, unit=vm.per("patient", rows=3), budget=budget, ledger=book + name, dataset=name, by="ann")

    table, found = table_of("listed", vm.zcdp(1000)), table_of("found", vm.approx(1000, "1/10"))
    mean, median = vm.mean("wait", bounds=(0, 50)), vm.median("wait", bounds=(0, 64))
    pairs = {(ward, wait) for ward in "ABC" for wait in range(4)} | {(None, 1)}
    questions = [
        table.agg(m=mean, q=median, n=vm.count(), s=vm.std("wait", bounds=(0, 50))),
        table.group_by("ward", keys={"A", "B", "C", "D", "E", None}).agg(n=vm.count()),
        table.group_by("ward", keys=frozenset({("A",), ("B",), ("C",)})).agg(n=vm.count()),
        table.group_by("ward", "wait", keys=pairs).agg(n=vm.count()),
        table.group_by("ward", "wait", keys={"ward": {"A", "B", "C"}, "wait": {1, 2}}).agg(n=vm.count()),
        table.group_by("day", keys=set(days)).agg(n=vm.count()),
        table.filter(table["ward"].is_in({"A", "B", "x", "y"})).group_by("ward", keys={"A", "B", "C"}).top(1),
        vm.together(a=table.agg(n=mean), b=table.agg(n=vm.count())),
    ]
    for number, asked in enumerate(questions):
        asked.release(spend=vm.zcdp(10), key=f"k{number}")
    found.group_by("ward").agg(m=mean, q=median).release(spend=vm.approx(10, "1e-3"), key="found")
    parts = table_of("parts", vm.zcdp(1000)).partition("ward", keys={"A", "B", "C", "D"}, budgets=vm.zcdp(100))
    return [repr((table.spent, found.spent)), repr(list(parts))]


def test_questions_are_the_same_in_another_process(tmp_path: Path) -> None:
    said = ask_again(str(tmp_path / "budget.db"))
    script = (
        "import sys; from tests.tables.session import test_identities as t; print(*t.ask_again(sys.argv[1]), sep='\\n')"
    )
    # Texts in sets are there in another order than here.
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    there = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "budget.db")],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    # No KeyTaken, nothing spent again.
    assert there.stdout.splitlines() == said
