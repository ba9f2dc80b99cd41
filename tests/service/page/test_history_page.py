"""History and burn-down: who reads which lines, page by page; the tree of theorems; the picture and its numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import faults
from tests.service.serving import Ready, Running, running_in

import viameter as vm
from viameter.service.api.needing import Visit
from viameter.service.page import burndown, history
from viameter.service.page.burndown import burndown_of, last_steps, thinned
from viameter.service.page.theorem_tree import amount, tree_of
from viameter_check import check


@pytest.fixture(scope="module")
def charged(tmp_path_factory: pytest.TempPathFactory) -> Ready:
    """A service with three charges of each of two people."""
    folder = tmp_path_factory.mktemp("charged")
    with running_in(folder) as made:
        for number in range(3):
            made.ask("analyst-visits", key=f"ann-{number}")
            made.ask("analyst-all", key=f"all-{number}")
        return Ready.of(made, folder)


@pytest.fixture
def there(run_service: Callable[..., Running], charged: Ready) -> Running:
    return run_service(like=charged)


def entries_in(source: str) -> list[int]:
    """The charges that a page of the history links to."""
    return [int(one) for one in re.findall(r'/history/(\d+)"', source)]


def visit_of(there: Running, person: str, dataset: str = "visits") -> Visit:
    """Somebody who was let in."""
    found = there.service.state.who_has(there.tokens[person])
    assert found is not None
    return Visit(there.service, found, dataset)


def test_analysts_read_their_own_lines_and_those_who_may_all(there: Running, visit: Visiting) -> None:
    for person, count in (("auditor-visits", 6), ("custodian-visits", 6), ("analyst-visits", 3), ("only-admin", 0)):
        page = visit(person, at=there).see("/datasets/visits/history")
        assert len(entries_in(page.source)) == count
        assert "first budget" in page.text
        assert ("analyst-all" in page.text) == (count == 6)
    ann = visit("analyst-visits", at=there)
    for entry in entries_in(visit("auditor-visits", at=there).see("/datasets/visits/history").source):
        own = there.service.ledger.entry(entry).record["by"] == "analyst-visits"
        for path in (f"/datasets/visits/history/{entry}", f"/datasets/visits/history/{entry}/certificate"):
            assert ann.get(path).status_code == (200 if own else 404)
            assert visit("auditor-visits", at=there).get(path).status_code == 200
            # An entry is one of its own dataset, and of no other.
            assert visit("auditor-all", at=there).get(path.replace("visits", "wages")).status_code == 404


def test_pages_of_the_history_hold_every_line_once(
    there: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PER_PAGE", 2)
    for person, count in (("auditor-visits", 6), ("analyst-visits", 3)):
        visitor, path, seen = visit(person, at=there), "/datasets/visits/history", []
        while path:
            page = visitor.see(path)
            seen += entries_in(page.source)
            path = next((link for link in page.links() if "before=" in link), "")
        assert len(seen) == count and seen == sorted(set(seen), reverse=True)
    # Before an entry that is another dataset's, or none at all.
    there.ask("analyst-wages", "wages")
    last = there.service.ledger.head.seq
    for before, count in ((last, 2), (last + 1, 2), (2**62, 2), (1, 0)):
        source = visit("auditor-all", at=there).see(f"/datasets/visits/history?before={before}").source
        assert len(entries_in(source)) == count


def test_limits_of_people_are_in_the_history_of_those_who_may_read_them(
    there: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = there.service.catalog
    for person, amounts in (("analyst-visits", ("1/10", "1/7")), ("analyst-all", ("1/9",))):
        for limit in amounts:
            catalog.set_personal("visits", person, vm.zcdp(limit), by="admin", why=f"because of {limit}")
        there.ask(person, key=f"{person}-after")
    # Each line once, although these charges are to two budgets; and the same as programs get.
    for person, seen, hidden, others in (
        ("custodian-visits", ("1/10", "1/7", "1/9"), (), True),
        ("auditor-visits", ("1/10", "1/7", "1/9"), (), True),
        ("analyst-visits", ("1/10", "1/7"), ("1/9",), False),
        ("only-admin", (), ("1/10", "1/7", "1/9"), False),
    ):
        visitor = visit(person, at=there)
        page = visitor.see("/datasets/visits/history")
        assert faults(page) == []
        assert all(page.text.count(f"because of {one}") == 1 for one in seen)
        assert not any(f"because of {one}" in page.text for one in hidden)
        assert ("first limit: analyst-all" in page.text) == others
        assert ("limit changed: analyst-visits" in page.text) == ("1/7" in seen)
        entries = [line["entry"] for line in there.api(person, "GET", "/datasets/visits/history").json()["lines"]]
        assert rows_in(page.source) == entries
        monkeypatch.setattr(history, "PER_PAGE", 2)
        paged, path = [], "/datasets/visits/history"
        while path:
            page = visitor.see(path)
            paged += rows_in(page.source)
            path = next((link for link in page.links() if "before=" in link), "")
        assert paged == entries
        monkeypatch.undo()


def rows_in(source: str) -> list[int]:
    """The entries of a page of the history, charges and all others."""
    return [int(one) for one in re.findall(r'<th scope="row" class="numeric">(?:<a [^>]*>)?(\d+)<', source)]


def test_a_page_looks_at_so_many_entries_and_no_more(
    there: Running, visit: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_READ", 2)
    visitor, path, pages = visit("analyst-visits", at=there), "/datasets/visits/history", 0
    seen: list[int] = []
    while path:
        page = visitor.see(path)
        assert faults(page) == []
        pages, seen = pages + 1, seen + entries_in(page.source)
        path = next((link for link in page.links() if "before=" in link), "")
    assert pages == 4 and len(seen) == 3


def test_the_certificate_of_a_charge_is_the_ledgers_and_holds(there: Running, visit: Visiting) -> None:
    visitor = visit("analyst-visits", at=there)
    entry = entries_in(visitor.see("/datasets/visits/history").source)[0]
    page = visitor.see(f"/datasets/visits/history/{entry}")
    assert f"/datasets/visits/history/{entry}/certificate" in page.links()
    answered = visitor.get(f"/datasets/visits/history/{entry}/certificate")
    assert check(answered.text).ok
    assert answered.headers["content-disposition"] == f'attachment; filename="visits-{entry}.certificate.json"'
    slugs = set(re.findall(r'"theorem": "([a-z0-9-]+)"', answered.text))
    assert slugs and all(f"<code>{slug}</code>" in page.source for slug in slugs)
    assert json.loads(answered.text)["claim"]["text"] in page.text


def test_a_charge_without_a_certificate_names_its_theorems(there: Running, visit: Visiting) -> None:
    ledger = there.service.ledger
    ledger.reserve(vm.zcdp("1/1000"), scopes=["visits"], key="by hand", by="analyst-visits")
    entry = ledger.head.seq
    visitor = visit("analyst-visits", at=there)
    page = visitor.see(f"/datasets/visits/history/{entry}")
    assert faults(page) == []
    assert "The ledger has no theorems for this charge" in page.text
    assert visitor.get(f"/datasets/visits/history/{entry}/certificate").status_code == 404


def node(**changed: Any) -> dict[str, Any]:
    """A step of a certificate."""
    made = {
        "kind": "derived",
        "subject": "noise",
        "theorem": "laplace",
        "numbers": "exact",
        "parameters": {"scale": "10"},
        "input": {"domain": "D", "metric": "L1"},
        "output": {"measure": "pure"},
        "given": "1",
        "bound": {"measure": "pure", "epsilon": "1/10"},
        "assumes": [],
        "premises": [],
    }
    return {**made, **changed}


def test_a_step_that_is_taken_on_trust_is_marked() -> None:
    claimed = tree_of(node(kind="claim", numbers="assumed"))
    assert (claimed.on_trust, claimed.numbers) == (True, "on trust")
    step = tree_of(node(assumes=["rows are people"], times="3"))
    assert (step.on_trust, step.assumes, step.times) == (False, ("rows are people",), "3")
    assert (step.given, step.bound, step.parameters) == ("at most 1 apart in L1", "pure(1/10)", (("scale", "10"),))


def test_a_tree_shows_so_many_steps_and_counts_the_others() -> None:
    wide = tree_of(node(premises=[node(premises=[node()]) for _ in range(10)]), most=6)
    shown = 1 + sum(1 + len(one.premises) for one in wide.premises)
    hidden = wide.left_out + sum(one.left_out for one in wide.premises)
    assert shown <= 6 and shown + hidden == 21
    deep = node()
    for _ in range(100):
        deep = node(premises=[deep])
    found, depth = tree_of(deep), 0
    while found.premises:
        found, depth = found.premises[0], depth + 1
    assert depth + found.left_out == 100 and found.left_out > 0


def test_numbers_of_a_certificate_are_short() -> None:
    assert amount("1/" + "3" * 400).startswith("<=")
    assert len(amount("x" * 5000)) == len(amount(["x" * 90] * 50)) == 300
    assert amount({"measure": "nope", "a": "1"}) == "measure: nope, a: 1"


def test_the_picture_ends_where_the_budget_stands(there: Running) -> None:
    scope = there.service.ledger.scope("visits")
    shown = burndown_of(visit_of(there, "auditor-visits"), "visits", scope)
    assert shown is not None
    assert [point.what for point in shown.points] == ["now", *["charge"] * 6, "first budget"]
    assert shown.points[0].left == scope.left and shown.points[0].budget == vm.zcdp("1/2")
    assert shown.points[-1].left == vm.zcdp("1/2")
    heights = [point.height for point in shown.points]
    assert heights == sorted(heights) and heights[0] == pytest.approx(float(scope.left.rho))  # type: ignore[attr-defined]


def test_the_picture_of_an_analyst_has_steps_of_their_own_alone(there: Running) -> None:
    scope = there.service.ledger.scope("visits")
    shown = burndown_of(visit_of(there, "analyst-visits"), "visits", scope)
    assert shown is not None and shown.own_only
    entries = [point.entry for point in shown.points if point.what == "charge"]
    assert len(entries) == 3
    assert all(there.service.ledger.entry(one).record["by"] == "analyst-visits" for one in entries if one)
    assert shown.points[0].left == scope.left
    assert burndown_of(visit_of(there, "analyst-all", "wages"), "wages", there.service.ledger.scope("wages")) is None


def test_the_picture_follows_another_budget(there: Running) -> None:
    ledger = there.service.ledger
    ledger.set_budget("visits", vm.zcdp(1), why="more", by="admin")
    there.ask("analyst-visits")
    shown = burndown_of(visit_of(there, "auditor-visits"), "visits", ledger.scope("visits"))
    assert shown is not None
    budgets = [point.budget for point in reversed(shown.points)]
    assert budgets == [vm.zcdp("1/2")] * 7 + [vm.zcdp(1)] * 3
    assert [point.what for point in shown.points[:3]] == ["now", "charge", "budget changed"]


def test_only_new_entries_are_read_again(there: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = there.service.ledger
    first, partial = last_steps(ledger, "visits")
    assert len(first) == 7 and not partial
    read: list[int] = []
    whole = burndown._step

    def counting(entry: Any) -> Any:
        read.append(entry.seq)
        return whole(entry)

    monkeypatch.setattr(burndown, "_step", counting)
    assert last_steps(ledger, "visits") == (first, False) and read == []
    there.ask("analyst-visits")
    again, _ = last_steps(ledger, "visits")
    assert again[:-1] == first and read == [again[-1].line.seq]
    monkeypatch.setattr(burndown, "MOST_ENTRIES", 4)
    assert last_steps(ledger, "visits") == (again[-4:], True)


def test_older_entries_are_left_out_with_the_budget_that_held(there: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(burndown, "MOST_ENTRIES", 3)
    ledger = there.service.ledger
    ledger.set_budget("visits", vm.zcdp(1), why="more", by="admin")
    shown = burndown_of(visit_of(there, "auditor-visits"), "visits", ledger.scope("visits"))
    assert shown is not None and shown.partial
    assert [point.budget for point in reversed(shown.points)] == [vm.zcdp("1/2")] * 2 + [vm.zcdp(1)] * 2


def test_two_numbers_are_drawn_as_the_share_that_is_nearest_to_its_end(
    run_service: Callable[..., Running], visit: Visiting
) -> None:
    wages = {
        "name": "wages",
        "source": "files",
        "table": "wages.csv",
        "unit": {"row": True},
        "budget": {"approx": ["1", "1e-6"]},
    }
    there = run_service(datasets=[wages])
    ledger = there.service.ledger
    ledger.reserve(vm.approx("1/10", "5e-7"), scopes=["wages"], key="a", by="x")
    shown = burndown_of(visit_of(there, "auditor-all", "wages"), "wages", ledger.scope("wages"))
    assert shown is not None and shown.unit == "percent"
    assert shown.points[0].height == pytest.approx(50)
    page = visit("auditor-all", at=there).see("/datasets/wages")
    assert "50 % of the budget is spent" in page.text and faults(page) == []
    assert "50 % spent" in visit("auditor-all", at=there).see("/").text


def test_a_thinned_line_keeps_its_ends() -> None:
    assert thinned(range(1000), 300)[0] == 0 and thinned(range(1000), 300)[-1] == 999
    assert len(thinned(range(1000), 300)) == 300 and thinned(range(5), 300) == [0, 1, 2, 3, 4]


def test_the_picture_has_the_same_numbers_in_a_table(there: Running, visit: Visiting) -> None:
    page = visit("auditor-visits", at=there).see("/datasets/visits")
    (chart,) = [one for one in page.all("svg") if "chart" in str(one.get("class"))]
    assert chart["role"] == "img"
    assert page.text.count("charge ") >= 6
    assert repr(there.service.ledger.scope("visits").left) in page.text
