"""Running mutants: a test kills if it fails because of the edit, and no other one does, or hides one that does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
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


def fates(folder: Path, *mutants: Mutant, jobs: int = 2, limit: float = 60, hints: Iterable[str] = ()) -> list[str]:
    """What killed each, "" for those that survived; there are hints for the first ones."""
    hinted = {key(mutant): f"tests/lib/{hint}" for mutant, hint in zip(mutants, hints, strict=False)}
    results = run(list(mutants), folder, "tests/lib", jobs=jobs, limit=limit, hints=hinted)
    return [result.killer.fate if result.killer else "" for result in results]


def test_what_a_test_notices_is_killed_and_what_changes_nothing_survives(tmp_path: Path) -> None:
    folder = checkout(tmp_path, test_low=GOOD)
    assert fates(folder, WRONG, SAME) == ["tests/lib/test_low.py::test_sums", ""]


BROKEN = {
    "two tests, one of them with a dash in its name, and the other one's name begins another": {
        "test_low": "import pytest\n@pytest.mark.parametrize('one', ['0 - i'])\n"
        f"def test_aaa(one): assert False\ndef test_sum(): assert False\n{GOOD}"
    },
    "a file that cannot be read": {"test_low_b": f"import nothing_of_this_name\n{GOOD}", "test_low_c": GOOD},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_test_that_fails_anyway_kills_nothing_and_hides_none_that_does(tmp_path: Path, name: str) -> None:
    (wrong,) = fates(checkout(tmp_path, **BROKEN[name]), WRONG)
    assert wrong.endswith("::test_sums")


SECOND = "from lib.low import add\n\ndef test_more():\n    assert add(2, 2) == 4\n"


def test_what_killed_a_mutant_the_last_time_runs_first(tmp_path: Path) -> None:
    folder = checkout(tmp_path, test_low=GOOD, test_second=SECOND)
    hint = "test_second.py::test_more"
    assert fates(folder, WRONG, SAME, hints=[hint, hint]) == [f"tests/lib/{hint}", ""]


def test_a_last_killer_that_is_there_no_more_or_fails_anyway_kills_and_hides_nothing(tmp_path: Path) -> None:
    folder = checkout(tmp_path, test_low=GOOD, test_second="def test_aaa(): assert False\n")
    hints = ["test_low.py::test_renamed", "test_moved.py::test_sums", "test_low.py", "test_second.py::test_aaa"]
    mutants = [dataclasses.replace(WRONG, why=hint) for hint in hints]
    assert fates(folder, *mutants, SAME, hints=hints) == ["tests/lib/test_low.py::test_sums"] * 4 + [""]


ONCE = """
import pathlib, pytest
from lib.low import add

@pytest.fixture
def made():
    mark = pathlib.Path(__file__).with_name("mark")
    if not mark.exists():
        mark.touch()
        raise OSError

"""
ORDER = "from lib.low import add\n\nbefore = []\n\ndef test_aaa():\n    before.append(1)\n    assert add(1, 2) == 3\n\n"


def test_what_fails_once_kills_nothing_and_hides_no_test_that_does(tmp_path: Path) -> None:
    once = f"{ONCE}def test_aaa(request): request.getfixturevalue('made')\n{GOOD}"
    assert fates(checkout(tmp_path / "a", test_low=once), WRONG) == ["tests/lib/test_low.py::test_sums"]
    once = f"{ONCE}def test_aaa(made): pass\n"
    assert fates(checkout(tmp_path / "b", test_low=once), SAME) == [""]
    assert fates(checkout(tmp_path / "c", test_low=once), SAME, hints=["test_low.py::test_aaa"]) == [""]


def test_what_fails_after_another_test_or_unless_it_is_after_one_kills_nothing(tmp_path: Path) -> None:
    after = f"{ORDER}def test_bbb(): assert not before\n"
    assert fates(checkout(tmp_path / "a", test_low=after), SAME) == [""]
    alone = f"{ORDER}def test_bbb(): assert before\n"
    hints = ["test_low.py::test_aaa", "test_low.py::test_bbb"]
    assert fates(checkout(tmp_path / "b", test_low=alone), WRONG, SAME, hints=hints, jobs=1) == [
        f"tests/lib/{hints[0]}",
        "",
    ]


def test_a_process_that_ignores_its_environment_runs_the_edit_and_none_before_it(tmp_path: Path) -> None:
    sums = "from lib.low import add; raise SystemExit(add(1, 2) != 3)"
    command = f"[sys.executable, '-I', '-c', {sums!r}]"
    test = "import subprocess, sys\nfrom lib.low import add\n\n"
    test += f"def test_sums():\n    subprocess.run({command}, check=True)\n"
    expected = ["tests/lib/test_low.py::test_sums", ""]
    assert fates(checkout(tmp_path, test_low=test), WRONG, SAME, jobs=1) == expected


@pytest.mark.parametrize("end", ["os._exit(0)", "pytest.exit('', 0)"])
def test_tests_that_end_early_because_of_the_edit_kill_whatever_their_status(tmp_path: Path, end: str) -> None:
    ends = f"import os, pytest\nfrom lib.low import add\n\ndef test_sums():\n    if add(1, 2) != 3: {end}\n"
    wrong, same = fates(checkout(tmp_path, test_low=ends), WRONG, SAME)
    assert wrong.startswith("tests that ended with 0") and same == ""


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
    assert fates(checkout(tmp_path / "a", test_low=hangs), SAME, limit=0.5) == [""]
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
