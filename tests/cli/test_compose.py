"""Losses in a file, composed."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import viameter as vm
from viameter.cli import main
from viameter.cli.main import MEASURES
from viameter.measures.records import MEASURES as KNOWN


def run(tmp_path: Path, content: Any, *options: str) -> tuple[int, str]:
    path = tmp_path / "losses.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    result = CliRunner().invoke(main, ["compose", str(path), *options])
    assert "Traceback" not in result.output
    return result.exit_code, result.output


TENTHS = {"measure": "pure", "epsilon": "1/10", "times": 10}


def test_the_total_is_shown_with_its_theorems(tmp_path: Path) -> None:
    code, text = run(tmp_path, [TENTHS])
    assert code == 0
    assert text.startswith("10 mechanisms of these losses are together pure(1).\n")
    assert "10 times claimed" in text and "pure-composition" in text


def test_losses_of_several_measures_and_an_epsilon_at_a_delta(tmp_path: Path) -> None:
    losses = [{"measure": "zcdp", "rho": "3/20"}, {"measure": "gdp", "mu_squared": "1/10"}]
    code, text = run(tmp_path, losses, "--delta", "1e-6", "--json")
    assert code == 0
    report = json.loads(text)
    assert report["loss"] == vm.zcdp("1/5").to(vm.ApproxDP, delta="1e-6").to_json()
    assert report["losses"] == 2
    assert report["theorems"] == ["zcdp-to-approx", "zcdp-composition", "given-loss", "gdp-to-zcdp"]


def test_a_measure_that_is_named(tmp_path: Path) -> None:
    code, text = run(tmp_path, [TENTHS], "--into", "approx", "--json")
    assert code == 0
    assert json.loads(text)["loss"] == vm.approx(1, 0).to_json()


def test_what_has_no_theorem(tmp_path: Path) -> None:
    ranges = [{"measure": "bounded-range", "eta": "1"}]
    assert run(tmp_path, ranges)[0] == 0
    code, text = run(tmp_path, ranges, "--adaptivity", "fully-adaptive")
    assert code == 2 and "ranges do not add" in text.replace("\n", " ")


@pytest.mark.parametrize(
    "content",
    [
        "no json",
        "{}",
        "[1]",
        [{"measure": "pure"}],
        [{"measure": "pure", "epsilon": 0.1}],
        [{"measure": "pure", "epsilon": "-1"}],
        [{**TENTHS, "times": 0}],
        [{**TENTHS, "times": -1}],
        [{**TENTHS, "times": True}],
        [{**TENTHS, "times": 10**9}],
        [{**TENTHS, "times": "3"}],
        [],
        "[" * 100_000,
    ],
    ids=lambda content: str(content)[:40],
)
def test_what_is_no_list_of_losses_is_refused(tmp_path: Path, content: Any) -> None:
    assert run(tmp_path, content)[0] == 2


def test_a_file_that_is_missing_and_a_delta_that_is_none(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["compose", str(tmp_path / "none.json")])
    assert result.exit_code == 2 and "cannot be read" in result.output
    assert run(tmp_path, [TENTHS], "--delta", "2")[0] == 2
    assert run(tmp_path, [TENTHS], "--into", "nonsense")[0] == 2


def test_measures_have_the_names_of_records() -> None:
    assert set(MEASURES) == set(KNOWN) - {"profile"}


def test_numbers_as_people_write_them(tmp_path: Path) -> None:
    losses = [
        {"measure": "approx", "epsilon": "0.1", "delta": "1e-6", "times": 2},
        {"measure": "approx", "epsilon": "1/5", "delta": "0"},
    ]
    code, text = run(tmp_path, losses, "--json")
    assert code == 0 and json.loads(text)["loss"] == vm.approx("2/5", "2e-6").to_json()
    code, text = run(tmp_path, [{"measure": "renyi", "orders": {"2": "0.25"}}], "--json")
    assert code == 0 and json.loads(text)["loss"] == vm.renyi({2: "1/4"}).to_json()
    code, text = run(tmp_path, [{"measure": "pure", "epsilon": "-1"}])
    assert code == 2 and "-1" in text and "negative" in text
