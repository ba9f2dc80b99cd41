"""`viameter query`: previews, dry runs and releases of questions in a TOML file."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import viameter as vm
from viameter import ledger as ledgers
from viameter.cli import main
from viameter_check import check

FILE = """
[table]
source = "visits.csv"
unit = {per = "patient", rows = 3}
budget = {zcdp = "1/2"}
types = {wait = "integer"}

[table.values]
ward = ["A", "B"]
wait = {range = [0, 60]}

[[question]]
name = "waits"
filter = "wait >= 0 and ward in ['A', 'B']"
derive = {long = "wait > 20"}
group_by = "ward"
keys = ["A", "B"]
other = true
spend = {zcdp = "1/4"}

[question.aggregates]
n = {count = true}
people = {count_units = true}
wait = {mean = "wait", bounds = [0, 60]}
p90 = {quantile = "wait", q = 0.9, bounds = [0, 60]}

[[question]]
within = {n = 40}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text("patient,ward,wait\np,A,10\np,B,20\nq,A,30\n,A,7\n")
    path = tmp_path / "questions.toml"
    path.write_text(FILE)
    return path


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["query", *map(str, arguments)])


def test_a_preview_shows_prices_and_spends_nothing(file: Path) -> None:
    result = run(file)
    assert result.exit_code == 0, result.output
    assert "waits" in result.output and "question 2" in result.output and "± " in result.output
    assert "all questions together: zcdp(<=0.26" in result.output
    assert result.output.endswith("which fits; nothing was spent\n")
    document = json.loads(run(file, "--json").output)
    assert document["fits"] and document["questions"][0]["aggregates"][0]["widths"]


def test_questions_that_fit_one_by_one_may_not_fit_together(file: Path) -> None:
    file.write_text(FILE.replace('spend = {zcdp = "1/4"}', 'spend = {zcdp = "1/2"}'))
    result = run(file)
    assert result.exit_code == 1 and "which does NOT fit" in result.output


def test_a_mistake_in_a_later_question_is_found_before_anything_is_spent(file: Path) -> None:
    file.write_text(
        FILE + '\n[[question]]\nspend = {zcdp = "1/100"}\naggregates = {s = {std = "wiat", bounds = [0, 9]}}\n'
    )
    result = run(file, "--release")
    assert result.exit_code == 2 and "did you mean 'wait'" in result.output.replace("\n", " ")
    assert "cost" not in result.output


@pytest.mark.parametrize(
    "options", [["--dry-run", "5", "--release"], ["--dry-run", "5", "--certificate", "out"], ["--certificate", "out"]]
)
def test_options_that_exclude_one_another_are_refused(file: Path, options: list[str]) -> None:
    result = run(file, *options)
    assert result.exit_code == 2 and "--release" in result.output


def test_a_release_answers_and_spends(file: Path, tmp_path: Path) -> None:
    result = run(file, "--release", "--json", "--certificate", tmp_path / "certificates")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    first, second = document["questions"]
    assert [row["ward"] for row in first["rows"]] == ["A", "B", "(other)"]
    assert {"n", "people", "wait", "p90", "n_lower", "p90_upper"} <= set(first["rows"][0])
    assert len(second["rows"]) == 1 and document["spent"]["rho"] != "0"
    certificates = sorted((tmp_path / "certificates").iterdir())
    assert [path.name for path in certificates] == ["01-waits.json", "02-question-2.json"]
    assert all(check(path.read_text()).ok for path in certificates)


def test_a_dry_run_answers_from_made_up_rows(file: Path) -> None:
    result = run(file, "--dry-run", 50)
    assert result.exit_code == 0, result.output
    assert "of made-up rows: nothing was spent" in result.output
    assert json.loads(run(file, "--dry-run", 50, "--json").output)["made_up_rows"] is True


def test_what_does_not_fit_is_said_in_numbers_and_by_the_exit_code(file: Path) -> None:
    file.write_text(FILE.replace('spend = {zcdp = "1/4"}', 'spend = {zcdp = "3/4"}'))
    preview, release = run(file), run(file, "--release")
    assert preview.exit_code == release.exit_code == 1
    assert "the query asks for" in release.output and "is left" in release.output


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('unit = {per = "patient", rows = 3}', 'unit = "patient"', "unit: expected"),
        ('budget = {zcdp = "1/2"}', "budget = {zcdp = 0.5}", "in quotes"),
        ('budget = {zcdp = "1/2"}', 'budget = {rho = "1/2"}', "measures are pure, zcdp"),
        ('source = "visits.csv"', 'source = "visit.csv"', "visit.csv"),
        ("wait >= 0", "wait_time >= 0", "there is no column 'wait_time'; did you mean 'wait'?"),
        ("wait >= 0", "__import__('os')", "is not understood"),
        ('spend = {zcdp = "1/4"}', "", "give spend"),
        ('{mean = "wait", bounds = [0, 60]}', '{mean = "wait"}', "bounds: expected two values"),
        ('{mean = "wait", bounds = [0, 60]}', '{average = "wait"}', "expected one of count"),
        ("q = 0.9, ", "", "which quantile"),
        ("other = true", "others = true", "unknown key 'others'"),
        ("[table]", "[tables]", "[table] has no source"),
        ("[table]", "[table", "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(file: Path, old: str, new: str, said: str) -> None:
    assert old in FILE
    file.write_text(FILE.replace(old, new, 1))
    result = run(file)
    assert result.exit_code == 2, result.output
    assert said in result.output.replace("\n", " ")


def test_a_missing_file_is_said() -> None:
    result = run("nowhere.toml")
    assert result.exit_code == 2 and "nowhere.toml cannot be read" in result.output


def test_all_budgets_that_pay_are_looked_at_and_shown_each_with_its_own_numbers(file: Path) -> None:
    """A limit that has no room makes questions not fit, although the budget of the table has some."""
    place = file.parent / "budget.db"
    with ledgers.open(place, by="ann") as book:
        unit, budget = vm.per("patient", rows=3), vm.zcdp("1/2")
        table = vm.open(file.parent / "visits.csv", unit=unit, budget=budget, ledger=book, dataset="visits")
        book.define("ann", vm.zcdp("1/100"), table.session.space, by="boss")
    file.write_text(
        FILE.replace("types =", f'ledger = "{place}"\ndataset = "visits"\nscopes = ["ann"]\nby = "ann"\ntypes =')
    )
    result = run(file)
    assert result.exit_code == 1 and "which does NOT fit" in result.output, result.output
    assert "too little is left of 'ann': zcdp(1/100)" in result.output
    document = json.loads(run(file, "--json").output)
    assert document["fits"] is False
    assert [(one["scope"], one["budget"]["rho"], one["left"]["rho"]) for one in document["budgets"]] == [
        ("visits", "1/2", "1/2"),
        ("ann", "1/100", "1/100"),
    ]


STEPS = """
[[question]]
name = "steps"
steps = [
    {derive = {long = "wait > 20"}}, {filter = "wait >= 0"}, {sample = "1"}, {select = ["ward", "wait"]},
    {join = {public = {columns = {ward = ["A", "B"], floor = [1, 2]}}}, on = ["ward"]}, {filter = "floor < 3"},
]
group_by = "floor"
keys = [1, 2]
spend = {zcdp = "1/100"}

[[question]]
name = "longest"
group_by = "ward"
keys = ["A", "B"]
top = 1
by = "units"
spend = {zcdp = "1/100"}

[[question]]
name = "bounds"
find_bounds = {column = "wait", within = [0, 1000]}
spend = {zcdp = "1/100"}
"""


@pytest.mark.parametrize("options", [(), ("--release",), ("--dry-run", 50)])
def test_questions_of_every_kind_are_asked_in_a_file(file: Path, options: tuple[Any, ...]) -> None:
    file.write_text(FILE.partition("[[question]]")[0] + STEPS)
    result = run(file, *options)
    assert result.exit_code == 0, result.output
    assert all(name in result.output for name in ("steps", "longest", "bounds"))
    document = json.loads(run(file, *options, "--json").output)
    assert [one["question"] for one in document["questions"]] == ["steps", "longest", "bounds"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('{sample = "1"}', '{sample = "2"}', "steps: steps[2].sample: fraction=2"),
        ('{filter = "floor < 3"}', '{filtre = "floor"}', "steps: steps[5]: expected one of"),
        ("top = 1", "top = 0", "longest: top: k=0"),
        ('column = "wait", ', "", "bounds: find_bounds: expected column and within"),
    ],
)
def test_what_is_wrong_with_a_step_is_said_with_its_place(file: Path, old: str, new: str, said: str) -> None:
    file.write_text(FILE.partition("[[question]]")[0] + STEPS.replace(old, new))
    result = run(file)
    assert result.exit_code == 2 and said in result.output
