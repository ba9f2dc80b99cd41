"""Budgets at the ends of what they may be: refused beyond, by every way in; shown by every page and command within."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.service.page.visiting import Visitor
from tests.service.serving import VISITS, WAGES, Running, make_config, make_folder

import viameter as vm
from viameter import ledger as ledgers
from viameter.cli.main import main
from viameter.errors import FormatError, ParameterError
from viameter.service.service import open_service

SMALLEST = str(Fraction(1, 2**512))
WITHIN = ["1000000000000", SMALLEST, "0.000001", str(Fraction(10**12 * 3 - 1, 3))]
BEYOND = ["1e3000", "1000000000001", "1e-3000", str(Fraction(1, 2**512 + 1)), str(Fraction(3, 2**514))]


@pytest.mark.parametrize("written", BEYOND)
def test_a_budget_beyond_what_makes_sense_is_refused(running: Running, written: str, tmp_path: Path) -> None:
    budget = {"pure": written}
    spent = running.service.catalog.scope("wages")
    for method, path, body in (
        ("POST", "/datasets", {**WAGES, "name": "huge", "budget": budget}),
        ("PUT", "/datasets/wages/budget", {"budget": budget, "why": "x"}),
        ("PUT", "/datasets/wages/budgets/analyst-wages", {"budget": budget, "why": "x"}),
    ):
        reply = running.api("custodian-all", method, path, json=body)
        assert reply.status_code == 422 and "10^12" in reply.text, (path, reply.text)
    assert running.service.catalog.scope("wages") == spent
    assert running.service.catalog.names() == ["visits", "wages"]
    make_folder(tmp_path / "data")
    with pytest.raises(FormatError, match="'wages': budget="):
        open_service(make_config(tmp_path, datasets=[{**WAGES, "budget": budget}]))


def test_a_limit_of_a_person_is_in_the_measure_of_the_dataset(run_service: Callable[..., Running]) -> None:
    running = run_service()
    at = "/datasets/wages/budgets/analyst-wages"
    for budget in ({"zcdp": "1/10"}, {"approx": ["1/10", "1e-6"]}):
        refused = running.api("custodian-all", "PUT", at, json={"budget": budget, "why": "x"})
        assert refused.status_code == 422 and "the dataset is counted in PureDP" in refused.text
    assert running.service.catalog.personal_scopes("wages") == {}
    assert running.ask("analyst-wages", "wages", key="k").status_code == 200
    assert running.api("custodian-all", "PUT", at, json={"budget": {"pure": "1/10"}, "why": "x"}).status_code == 200


def test_every_number_of_a_budget_is_looked_at() -> None:
    book = ledgers.in_memory()
    for budget in (
        vm.approx(1, "1e-3000"), vm.approx("1e300", "1e-9"), vm.zcdp("1e300"), vm.approx_zcdp(1, "1e-999"),
        vm.renyi({2: "0.1", 3: "1e400"}), vm.gdp("1e200"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=r"10\^12"):
            book.define("s", budget, vm.SymmetricDistance())
    assert book.scopes() == ()


@pytest.mark.parametrize("written", WITHIN)
def test_a_budget_within_it_is_shown_everywhere(run_service: Callable[..., Running], written: str) -> None:
    running = run_service(datasets=[VISITS, {**WAGES, "budget": {"pure": written}}])
    question: dict[str, Any] = {"aggregates": {"n": {"count": True}}, "spend": {"pure": written}}
    asked = running.ask("analyst-wages", "wages", question)
    # A question of a spend so small that no noise is that wide is refused, and not charged.
    assert asked.status_code == 200 or (written == SMALLEST and asked.json()["error"]["code"] == "invalid"), asked.text
    visitor = Visitor(running)
    visitor.sign_in(running.tokens["custodian-all"])
    for path in ("/", "/datasets/wages", "/datasets/wages/manage", "/datasets/wages/history"):
        visitor.see(path)
    visitor.close()
    document = running.api("custodian-all", "GET", "/datasets/wages").json()
    assert document["budget"]["epsilon"] == str(Fraction(written))
    assert document["spent"]["epsilon"] == (str(Fraction(written)) if asked.status_code == 200 else "0")
    ledger = running.service.config.storage.ledger
    result = CliRunner().invoke(main, ["ledger", "show", ledger])
    assert result.exit_code == 0, result.output
