"""`viameter sql`: previews, dry runs and releases of a question in SQL."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from viameter.cli import main
from viameter_check import check

COUNT = "SELECT ward, COUNT(*) AS n FROM visits RIGHT JOIN UNNEST(['A', 'B']) AS w ON visits.ward = w GROUP BY ward"


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "visits.csv").write_text("patient,ward,wait\np,A,10\np,B,20\nq,A,30\n,A,7\n")
    (tmp_path / "wards.csv").write_text("ward,name\nA,Cardiology\nB,Surgery\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(text: str, *options: Any, unit: str = "per patient rows 3", budget: str = "zcdp 1000000000") -> Result:
    given = ["--source", "visits.csv", "--unit", unit, "--budget", budget, "--type", "wait=integer"]
    return CliRunner().invoke(main, ["sql", text, *given, *map(str, options)])


def test_a_preview_shows_the_price_and_spends_nothing(visits: Path) -> None:
    result = run(COUNT, "--spend", "zcdp 1/10")
    assert result.exit_code == 0, result.output
    assert "nothing was spent" in result.output
    found = json.loads(run(COUNT, "--spend", "zcdp 1/10", "--json").output)
    assert found["fits"] is True and found["aggregates"][0]["aggregate"] == "n"


def test_what_does_not_fit_is_exit_code_1(visits: Path) -> None:
    assert run(COUNT, "--spend", "zcdp 1", budget="zcdp 1/2").exit_code == 1
    result = run(COUNT, "--spend", "zcdp 1", "--release", budget="zcdp 1/2")
    assert result.exit_code == 1
    assert "nothing was spent" in result.output


def test_a_release_shows_the_select_list_and_what_is_left(visits: Path) -> None:
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(rho = 1e8, privacy_unit_column = patient, groups = ['Surgery'])"
    text = f"{clause} name, SUM(CLAMP(wait, 0, 60)) AS s FROM visits JOIN wards USING (ward) GROUP BY name"
    result = run(text, "--public", "wards=wards.csv", "--release", "--json", "--certificate", "proof.json")
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.output)["rows"]
    assert row["name"] == "Surgery"
    assert row["s"] == pytest.approx(20, abs=1)
    assert check((visits / "proof.json").read_text()).ok


def test_with_a_ledger_the_same_key_has_the_same_answer(visits: Path) -> None:
    options = ("--spend", "zcdp 1/10", "--ledger", "budget.db", "--key", "May", "--release", "--json")
    first, second = (json.loads(run(COUNT, *options, budget="zcdp 1").output) for _ in range(2))
    assert first["rows"] == second["rows"]
    assert first["left"] == second["left"]


def test_made_up_rows_answer_without_spending(visits: Path) -> None:
    result = run(COUNT, "--spend", "zcdp 1/10", "--dry-run", 50)
    assert result.exit_code == 0, result.output
    assert "made-up rows: nothing was spent" in result.output


def test_a_text_may_stand_in_a_file(visits: Path) -> None:
    (visits / "count.sql").write_text("-- how many\n" + COUNT)
    assert run("@count.sql", "--spend", "zcdp 1/10").exit_code == 0


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("SELECT MIN(wait) FROM visits", [], "line 1, column 8"),
        (COUNT, [], "Give --spend"),
        (COUNT, ["--key", "May"], "--ledger"),
        (COUNT, ["--certificate", "x"], "add --release"),
        (COUNT, ["--dry-run", "5", "--release"], "made-up rows"),
        (COUNT, ["--public", "wards"], "NAME=VALUE"),
        (COUNT, ["--public", "wards=none.csv"], "cannot be read"),
        (COUNT, ["--unit", "patient"], "expected 'row'"),
        (COUNT, ["--unit", "per patient rows many"], "expected 'row'"),
        (COUNT, ["--spend", "1"], "measure and its numbers"),
        ("@none.sql", ["--spend", "zcdp 1"], "cannot be read"),
    ],
)
def test_what_is_not_understood_is_exit_code_2(visits: Path, text: str, options: list[str], said: str) -> None:
    result = run(text, *options)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.output.split())
