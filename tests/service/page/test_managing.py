"""What custodians do on the page: budgets, limits, who may ask, descriptions, new datasets."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from tests.service.page.conftest import Visiting
from tests.service.page.visiting import Page, Visitor, faults, read
from tests.service.serving import Running

import viameter as vm
from viameter.service.access import Action
from viameter.service.page.forms import Form
from viameter.service.page.losses import NUMBERS, fields_of, read_fields
from viameter.service.page.registering import read_types
from viameter.tables.cost import read_loss

MANAGE = "/datasets/visits/manage"


@pytest.fixture
def there(run_service: Callable[..., Running]) -> Running:
    return run_service()


@pytest.fixture
def custodian(there: Running, visit: Visiting) -> Visitor:
    return visit("custodian-visits", at=there)


def alerts(page: Page) -> int:
    """How many errors a page shows."""
    return len([one for _, one in page.elements if one.get("role") == "alert"])


def value_of(page: Page, id: str) -> str | None:
    """What a field holds."""
    (found,) = [one for one in page.all("input") if one.get("id") == id]
    return found.get("value")


@pytest.mark.parametrize(("typed", "rho"), [("3/4", "3/4"), ("0.6", "3/5"), (" 1 ", "1")])
def test_a_budget_is_changed_exactly_with_a_reason(there: Running, custodian: Visitor, typed: str, rho: str) -> None:
    answered = custodian.send(f"{MANAGE}/budget", {"budget-rho": typed, "why": "decided\r\nin May"})
    assert (answered.status_code, answered.headers["location"]) == (303, f"{MANAGE}?done=budget")
    assert there.service.ledger.scope("visits").budget == vm.zcdp(rho)
    page = custodian.see(f"{MANAGE}?done=budget")
    assert "The budget was changed" in page.text
    assert value_of(page, "budget-rho") == rho
    assert "decided in May" in custodian.see("/datasets/visits/history").text


@pytest.mark.parametrize(
    ("rho", "why"),
    [
        ("1/1000000", "x"),
        ("", "x"),
        ("abc", "x"),
        ("-1", "x"),
        ("inf", "x"),
        ("1/0", "x"),
        ("9" * 5000, "x"),
        ("1", " "),
    ],
)
def test_a_budget_that_cannot_be_is_refused_with_what_was_typed(
    running: Running, visit: Visiting, rho: str, why: str
) -> None:
    assert running.ask("analyst-visits").status_code == 200
    before = running.service.ledger.head
    answered = visit("custodian-visits").send(f"{MANAGE}/budget", {"budget-rho": rho, "why": why})
    page = read(answered)
    assert answered.status_code == 422
    assert faults(page) == [] and alerts(page) == 1
    assert (value_of(page, "budget-rho"), value_of(page, "budget-why")) == (rho, why)
    assert value_of(page, "limit-why") == ""
    assert running.service.ledger.head == before


def test_a_limit_is_set_for_somebody_who_is_known(there: Running, custodian: Visitor) -> None:
    fields = {"person": "analyst-visits", "limit-rho": "1/10", "why": "a share"}
    assert custodian.send(f"{MANAGE}/limit", fields).status_code == 303
    assert there.service.ledger.scope("visits@analyst-visits").budget == vm.zcdp("1/10")
    assert custodian.send(f"{MANAGE}/limit", {**fields, "limit-rho": "1/5"}).status_code == 303
    assert there.service.ledger.scope("visits@analyst-visits").budget == vm.zcdp("1/5")
    assert "zcdp(1/5)" in custodian.see(MANAGE).text
    for person in ("nobody-at-all", "", "visits"):
        answered = custodian.send(f"{MANAGE}/limit", {**fields, "person": person})
        assert answered.status_code == 422
        assert value_of(read(answered), "limit-person") == person
    assert {one.name for one in there.service.ledger.scopes()} == {"visits", "wages", "visits@analyst-visits"}


def test_a_limit_of_ones_own_is_seen(there: Running, visit: Visiting, custodian: Visitor) -> None:
    custodian.send(f"{MANAGE}/limit", {"person": "analyst-visits", "limit-rho": "1/7", "why": "a share"})
    assert "zcdp(1/7)" in visit("analyst-visits", at=there).see("/datasets/visits").text
    assert "zcdp(1/7)" in visit("analyst-visits", at=there).see("/").text
    assert "zcdp(1/7)" not in visit("analyst-all", at=there).see("/datasets/visits").text


def test_a_custodian_lets_somebody_ask_and_no_more(there: Running, visit: Visiting, custodian: Visitor) -> None:
    nobody = visit("nobody", at=there)
    assert nobody.get("/datasets/visits").status_code == 404
    assert custodian.send(f"{MANAGE}/roles", {"person": "nobody", "role": ["analyst", "auditor"]}).status_code == 303
    assert nobody.get("/datasets/visits/ask").status_code == 200
    for role in ("custodian", "admin", "x"):
        assert custodian.send(f"{MANAGE}/roles", {"person": "nobody", "role": ["analyst", role]}).status_code == 422
    person = there.service.state.who_has(there.tokens["nobody"])
    assert person is not None
    assert person.may(Action.READ_ALL, "visits") and not person.may(Action.MANAGE, "visits")
    assert not person.may(Action.SEE, "wages")
    assert custodian.send(f"{MANAGE}/roles", {"person": "nobody"}).status_code == 303
    assert nobody.get("/datasets/visits").status_code == 404
    # A custodian does not take their own role, or lose it, by this.
    assert custodian.send(f"{MANAGE}/roles", {"person": "custodian-visits"}).status_code == 303
    assert custodian.get(MANAGE).status_code == 200


def test_a_custodian_is_not_told_who_else_there_is(custodian: Visitor) -> None:
    page = custodian.see(MANAGE)
    assert "analyst-visits" in page.source and "analyst-all" in page.source
    assert "analyst-wages" not in page.source and "only-admin" not in page.source and "nobody" not in page.source


def test_descriptions_are_saved(there: Running, custodian: Visitor) -> None:
    fields = {"title": " Visits, 2024 ", "description": "One row is one visit.\r\nInvented."}
    assert custodian.send(f"{MANAGE}/description", fields).status_code == 303
    assert "Visits, 2024" in custodian.see("/").text
    assert "One row is one visit.\nInvented." in custodian.see("/datasets/visits").source
    answered = custodian.send(f"{MANAGE}/description", {"title": "kept", "description": "x" * 10_001})
    assert answered.status_code == 422 and value_of(read(answered), "title") == "kept"
    assert custodian.send(f"{MANAGE}/description", {"title": "", "description": ""}).status_code == 303
    assert there.service.state.dataset("visits").document["columns"]["wait"]["bounds"] == [0, 240]  # type: ignore[union-attr]


def test_what_is_public_of_a_column_is_saved_by_its_type(there: Running, custodian: Visitor) -> None:
    def said(column: str) -> object:
        registered = there.service.state.dataset("visits")
        assert registered is not None
        return registered.document["columns"].get(column)

    fields = {"column": "age", "description": "Years", "values": "1\r\n2\r\n\r\n", "lower": "0", "upper": "110.5"}
    assert custodian.send(f"{MANAGE}/column", fields).headers["location"] == f"{MANAGE}?done=column"
    assert said("age") == {"description": "Years", "values": [1, 2], "bounds": [0, 110.5]}
    assert said("wait") == {"bounds": [0, 240], "description": "minutes"}
    for wrong in (
        {"lower": "1"},
        {"lower": "5", "upper": "5"},
        {"lower": "a", "upper": "b"},
        {"lower": "0", "upper": "1e999"},
        {"values": "abc"},
        {"column": "nope"},
        {"column": ""},
        {"values": "\n".join(map(str, range(1001)))},
    ):
        answered = custodian.send(f"{MANAGE}/column", {"column": "age", "description": "typed", **wrong})
        assert answered.status_code == 422, wrong
        assert faults(read(answered)) == []
    assert "typed" in custodian.send(f"{MANAGE}/column", {"column": "age", "description": "typed", "lower": "1"}).text
    assert said("age") == {"description": "Years", "values": [1, 2], "bounds": [0, 110.5]}
    assert custodian.send(f"{MANAGE}/column", {"column": "age"}).status_code == 303
    assert said("age") == {}


NEW = {
    "name": "second",
    "source": "files",
    "table": "second.csv",
    "types": "age: integer\nwait: integer",
    "unit": "per",
    "per": "patient",
    "rows": "5",
    "measure": "zcdp",
    "zcdp-rho": "1/2",
    "why": "for the report",
    "title": "Second",
}


EVENT = {"unit": "event", "event": "age"}


@pytest.fixture
def registrar(there: Running, visit: Visiting) -> Visitor:
    shutil.copy(there.folder / "visits.csv", there.folder / "second.csv")
    return visit("custodian-all", at=there)


@pytest.mark.parametrize(
    ("changed", "budget", "unit"),
    [
        ({}, vm.zcdp("1/2"), "per('patient', rows=5)"),
        ({"measure": "pure", "pure-epsilon": "0.1", "unit": "row"}, vm.pure("1/10"), "per_row()"),
        (
            {"measure": "approx", "approx-epsilon": "1", "approx-delta": "1e-6", "unit": "row", "row-replace": "yes"},
            vm.approx(1, "1e-6"),
            "per_row(replace=True)",
        ),
        (
            {
                "measure": "approx_zcdp",
                "approx_zcdp-rho": "1",
                "approx_zcdp-delta": "0",
                "unit": "event",
                "event": "age",
            },
            vm.approx_zcdp(1, 0),
            "per_event('age')",
        ),
    ],
)
def test_a_dataset_is_registered(
    there: Running, registrar: Visitor, changed: dict[str, str], budget: vm.Loss, unit: str
) -> None:
    answered = registrar.send("/register", {**NEW, **changed})
    assert answered.headers.get("location") == "/datasets/second/manage?done=registered", answered.text[:3000]
    assert there.service.ledger.scope("second").budget == budget
    assert repr(there.service.catalog.opened("second").table.unit) == unit
    assert "for the report" in registrar.see("/datasets/second/history").text
    assert faults(registrar.see("/datasets/second")) == []
    # Rows are looked at when a dataset is registered, and no page says otherwise.
    form, done = registrar.see("/register").text, registrar.see(answered.headers["location"]).text
    assert "No row" not in form + done and "Rows are looked at once" in form
    assert "Laplace or Gaussian noise, whichever has the narrower intervals" in form


@pytest.mark.parametrize(
    "wrong",
    [
        {"types": "ward: integer"},
        {"name": ""},
        {"name": "a b"},
        {"name": "visits"},
        {"source": "nope"},
        {"table": "../second.csv"},
        {"table": "nope.csv"},
        {"table": "visits.csv"},
        {"types": "age integer"},
        {"types": "age: number"},
        {"unit": ""},
        {"unit": "per", "per": ""},
        {"unit": "per", "per": "nope"},
        {"rows": "many"},
        {"rows": "0"},
        {"measure": ""},
        {"measure": "nope"},
        {"measure": "ledger"},
        {"zcdp-rho": ""},
        {"zcdp-rho": "inf"},
        {"measure": "pure"},
        {"renews": "hour"},
    ],
)
def test_a_dataset_that_cannot_be_is_refused_with_what_was_typed(
    running: Running, visit: Visiting, wrong: dict[str, str]
) -> None:
    shutil.copy(running.folder / "visits.csv", running.folder / "second.csv")
    before = running.service.ledger.head
    answered = visit("custodian-all").send("/register", {**NEW, **wrong})
    page = read(answered)
    assert answered.status_code == 422
    assert alerts(page) == 1 and faults(page) == []
    assert value_of(page, "title") == "Second" and value_of(page, "table") == {**NEW, **wrong}["table"]
    assert value_of(page, "zcdp-rho") == {**NEW, **wrong}["zcdp-rho"]
    assert running.service.catalog.names() == ["visits", "wages"]
    assert running.service.ledger.head == before


@pytest.mark.parametrize("measure", NUMBERS)
def test_fields_of_a_loss_read_what_they_show(measure: str) -> None:
    numbers = ["1/10", "1/1000"][: len(NUMBERS[measure])]
    loss = read_loss({measure: numbers if len(numbers) > 1 else numbers[0]}, "budget")
    shown = fields_of(measure, prefix="x-", loss=loss)
    assert [one.value for one in shown] == numbers
    assert read_fields(Form(tuple((one.name, one.value) for one in shown)), measure, prefix="x-") == loss


def test_types_of_columns_whose_names_have_colons() -> None:
    assert read_types("a:b: Integer\n\n c : text ") == {"a:b": "integer", "c": "text"}


def test_a_custodian_is_told_where_the_configuration_says_something_else(
    there: Running, visit: Visiting, custodian: Visitor
) -> None:
    assert "says something else" not in custodian.see(MANAGE).text
    there.service.catalog.set_budget("visits", vm.zcdp("3/4"), by="admin", why="a second study")
    page = custodian.see(MANAGE)
    assert faults(page) == [] and "The configuration of this service says something else" in page.text
    assert "zcdp(3/4)" in page.text and all(one[1:] in page.text for one in there.service.differences("visits"))
    assert "says something else" not in visit("analyst-visits", at=there).see("/datasets/visits").text
