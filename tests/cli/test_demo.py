"""The tour: deterministic, whole, true, and as README shows it."""

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.processes import in_clean_process
from tests.project.installed import Missing, distributions_of

from viameter.cli import main
from viameter.cli.demo import load_visits

README = Path(__file__).parents[2] / "README.md"


def take_the_tour() -> str:
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def text() -> str:
    return take_the_tour()


def without_noise(text: str) -> tuple[str, int]:
    """The text without the numbers in it that are drawn, and how many of them there are."""
    drawn = (
        r"(?<=released: )-?\d+|\d+ to \d+(?= airplanes)|-?\d+(?= minutes: picked)|[\d.]+ to [\d.]+(?= minutes later)"
    )
    return re.subn(drawn, "some", text)


def test_the_tour_says_the_same_every_time_but_for_what_it_draws(text: str) -> None:
    """That is what README shows, of a tour that somebody else has taken."""
    shown, drawn = without_noise(text)
    assert drawn == 8
    assert f"```text\n{shown}```" in without_noise(README.read_text(encoding="utf-8"))[0]


def test_the_tour_shows_a_chain_a_refusal_and_exact_losses(text: str) -> None:
    for part in ("limit_rows(per_id=5)", "clamp(bounds=(0, 240))", "sum()", "[chain, exact]", "NoTheorem"):
        assert part in text
    for part in ("pure(1/10)", "fits into pure(1): True", "0.30000000000000004", "zcdp(<="):
        assert part in text
    assert "Traceback" not in text


def test_no_patient_moves_the_sum_by_more_than_the_tour_claims(text: str) -> None:
    claimed = re.search(r"have images at most (\d+) apart", text)
    found = re.search(r"moves the sum by at most (\d+) minutes", text)
    assert claimed and found
    visits = load_visits()
    per_patient: dict[str, list[int]] = {}
    for patient, wait in zip(visits["patient"], visits["wait"], strict=True):
        per_patient.setdefault(patient, []).append(min(max(wait, 0), 240))
    most = max(sum(sorted(waits)[-5:]) for waits in per_patient.values())
    assert int(found[1]) <= most <= int(claimed[1]) == 5 * 240
    assert f"{len(visits['wait'])} visits of {len(per_patient)} invented patients" in text


def test_the_bundled_table_is_whole() -> None:
    visits = load_visits()
    assert set(visits) == {"patient", "age", "ward", "wait"}
    assert len({len(column) for column in visits.values()}) == 1 and len(visits["wait"]) > 1000
    assert all(type(wait) is int for wait in visits["wait"])


def tour_without_extras() -> str:
    """The tour where modules of extras cannot be imported, in a process that has imported none of them yet."""
    missing = Missing(distributions_of({"all"}))
    assert not missing.modules & set(sys.modules)
    sys.meta_path.insert(0, missing)
    return take_the_tour()


def test_the_tour_goes_on_where_no_extra_is_installed() -> None:
    said: str = in_clean_process(tour_without_extras, quiet=True)
    seventh, eighth = said.partition("\n7. ")[2].split("\n8. ")
    assert "def first_above" in seventh and "(z3 is not installed: pip install '.[verify]')" in seventh
    assert "is not installed: pip install '.[query,ledger,plot]'" in eighth
