"""Running mutants: what fails or hangs without an edit kills nothing, and hides nothing; the last killer runs first."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mutants.mutant import Mutant
from tests.mutants.run import key, run

SOURCE = "def add(one, other):\n    return one + other\n"
WRONG = Mutant("lib.low:add", "one + other", "one - other", "adding takes away")
SAME = Mutant("lib.low:add", "one + other", "other + one", "nothing changes")
GOOD = "from lib.low import add\n\ndef test_sums():\n    assert add(1, 2) == 3\n"


@pytest.fixture(autouse=True)
def _no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take longer to load than these tests to run


def checkout(folder: Path, **tests: str) -> Path:
    """A checkout of one module, with files of tests."""
    files = {f"tests/lib/{name}.py": text for name, text in tests.items()}
    files |= {"src/lib/low.py": SOURCE, "src/lib/__init__.py": ""}
    files["pyproject.toml"] = "[tool.pytest.ini_options]\nmarkers = ['long']\n"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def fates(folder: Path, *mutants: Mutant, limit: float = 60, hint: str = "") -> list[str]:
    """What killed each, "" for those that survived."""
    hints = {key(mutant): f"tests/lib/{hint}" for mutant in mutants} if hint else {}
    results = run(list(mutants), folder, "tests/lib", jobs=2, limit=limit, hints=hints)
    return [result.killer.fate if result.killer else "" for result in results]


def test_what_a_test_notices_is_killed_and_what_changes_nothing_survives(tmp_path: Path) -> None:
    folder = checkout(tmp_path, test_low=GOOD)
    assert fates(folder, WRONG, SAME) == ["tests/lib/test_low.py::test_sums", ""]


BROKEN = {
    "a test that fails anyway": {"test_low": f"def test_aaa(): assert False\n{GOOD}"},
    "a name with a dash": {
        "test_low": "import pytest\n@pytest.mark.parametrize('one', ['0 - i'])\n"
        f"def test_aaa(one): assert False\n{GOOD}"
    },
    "a file that cannot be read": {"test_low_b": f"import nothing_of_this_name\n{GOOD}", "test_low_c": GOOD},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_test_that_fails_anyway_kills_nothing_and_hides_none_that_does(tmp_path: Path, name: str) -> None:
    wrong, same = fates(checkout(tmp_path, **BROKEN[name]), WRONG, SAME)
    assert wrong.endswith("::test_sums") and same == ""


SECOND = "from lib.low import add\n\ndef test_more():\n    assert add(2, 2) == 4\n"


def test_what_killed_a_mutant_the_last_time_runs_first(tmp_path: Path) -> None:
    folder = checkout(tmp_path, test_low=GOOD, test_second=SECOND)
    assert fates(folder, WRONG, SAME) == ["tests/lib/test_low.py::test_sums", ""]
    assert fates(folder, WRONG, SAME, hint="test_second.py::test_more") == ["tests/lib/test_second.py::test_more", ""]


@pytest.mark.parametrize("hint", ["test_low.py::test_renamed", "test_moved.py::test_sums", "test_low.py"])
def test_a_last_killer_that_is_there_no_more_kills_nothing(tmp_path: Path, hint: str) -> None:
    assert fates(checkout(tmp_path, test_low=GOOD), WRONG, SAME, hint=hint) == ["tests/lib/test_low.py::test_sums", ""]


def test_a_last_killer_that_fails_anyway_hides_nothing(tmp_path: Path) -> None:
    folder = checkout(tmp_path, test_low=GOOD, test_second="def test_aaa(): assert False\n")
    assert fates(folder, WRONG, SAME, hint="test_second.py::test_aaa") == ["tests/lib/test_low.py::test_sums", ""]


def test_tests_that_were_ended_once_by_something_else_kill_nothing(tmp_path: Path) -> None:
    ends = f"import os, pathlib\n\nmark = pathlib.Path({str(tmp_path / 'ended')!r})\n\n"
    ends += "def pytest_sessionfinish():\n    if not mark.exists():\n        mark.touch()\n        os._exit(3)\n"
    assert fates(checkout(tmp_path / "a", test_low=GOOD, conftest=ends), SAME) == [""]
    assert (tmp_path / "ended").exists()


def test_a_checkout_without_the_markers_that_are_asked_for_kills_nothing(tmp_path: Path) -> None:
    folder = checkout(tmp_path, test_low=GOOD)
    settings = folder / "pyproject.toml"
    settings.write_text(settings.read_text() + "addopts = ['--strict-markers']\n")
    assert fates(folder, SAME) == [""]


def test_tests_that_hang_or_end_anyway_kill_nothing(tmp_path: Path) -> None:
    hangs = "import threading\nfrom lib.low import add\ndef test_waits(): threading.Event().wait(60)\n"
    assert fates(checkout(tmp_path / "a", test_low=hangs), SAME, limit=3) == [""]
    ends = "import os\n\ndef pytest_sessionfinish(): os._exit(3)\n"
    assert fates(checkout(tmp_path / "b", test_low=GOOD, conftest=ends), SAME) == [""]


def test_an_edit_of_another_function_of_that_name_is_none(tmp_path: Path) -> None:
    """One that is found no more says so; one whose function was moved is found there."""
    folder = checkout(tmp_path, test_low=GOOD)
    (folder / "src/lib/high.py").write_text(SOURCE)
    (folder / "src/lib/low.py").write_text("def add(one, other):\n    return other + one\n")
    with pytest.raises(LookupError, match="found 0 times"):
        WRONG.applied(folder / "src")
    (folder / "src/lib/low.py").write_text("")
    assert WRONG.applied(folder / "src")[0] == folder / "src/lib/high.py"
    (folder / "src/other").mkdir()
    (folder / "src/lib/high.py").rename(folder / "src/other/high.py")
    with pytest.raises(LookupError, match="found 0 times"):
        WRONG.applied(folder / "src")
