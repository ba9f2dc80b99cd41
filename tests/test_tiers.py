"""How tests are chosen and run: shards, what a change reaches, order, deadlines."""

import ast
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from tests.changed import READING_THE_TREE, changed_files, long_of, main, shards_of, unjudged_of
from tests.reach import ROOT, Reach
from tests.tiers import Outcome, Processes, Shard, all_shards, chosen, run, run_shard

READING_ALL_PAGES = ("tests/logic/test_time_and_lines.py", "tests/project/test_installed.py")


@pytest.fixture(scope="module")
def reach() -> Reach:
    return Reach()


@pytest.fixture(autouse=True)
def _no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take longer to load than toy tests to run


def test_every_test_example_and_page_is_in_one_shard() -> None:
    found = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    places = [ROOT / path for shard in all_shards() if shard.only == "not spark" for path in shard.paths]
    counts = {file: sum(file.is_relative_to(place) for place in places) for file in found}
    assert len(counts) > 1000
    assert {str(file.relative_to(ROOT)): count for file, count in counts.items() if count != 1} == {}


def test_a_room_is_its_shards_and_a_part_of_a_room_or_a_path_is_one() -> None:
    shards = all_shards()
    assert {shard.name for shard in chosen(["ledger", "arith"], shards)} == {"arith", "ledger", "ledger/crash"}
    kernel, sources = chosen(["logic/kernel", "src"], shards)
    assert kernel.paths == ("tests/logic/kernel", "src/viameter/logic/kernel") and sources.paths == ("src",)
    assert chosen([], shards) == shards


@pytest.mark.parametrize("room", ["leger", ".", "../main", "tests/../tests"])
def test_a_room_without_tests_is_refused_with_those_there_are(room: str) -> None:
    with pytest.raises(LookupError, match=r"has no tests; rooms are .*\bledger\b"):
        chosen([room], all_shards())


def test_a_room_that_is_named_twice_or_as_a_folder_is_that_room_once() -> None:
    shards = all_shards()
    once = [shard for shard in shards if shard.name == "core"]
    assert chosen(["core", "tests/core", "core/"], shards) == once
    assert {shard.name for shard in chosen(["root"], shards)} == {"root"}


def test_a_run_without_any_test_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert not run([Shard("viz", ("tests/viz",))], jobs=1, until=time.time() - 1)
    assert "no test was run" in capsys.readouterr().out


def written(folder: Path, files: dict[str, str]) -> Reach:
    """The import graph of a small checkout."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return Reach(folder)


def selected(reach: Reach, changed: str) -> set[str]:
    return {path for shard in shards_of([Path(changed)], reach) for path in shard.paths}


def test_a_change_reaches_the_tests_that_import_it_nearest_first_however_names_are_handed_on(tmp_path: Path) -> None:
    files = {
        "src/lib/low.py": "def add(): ...",
        "src/lib/other.py": "def unrelated(): ...",
        "src/lib/middle.py": "from lib.low import add\ndef twice(): add()",
        "src/lib/__init__.py": "from lib.low import add\nfrom lib.middle import twice\nfrom lib.other import unrelated",
        "tests/a/test_near.py": "import lib as l\ndef test(): l.add()",
        "tests/a/test_far.py": "from lib import twice\ndef test(): twice()",
        "tests/a/test_none.py": "from lib import unrelated\ndef test(): unrelated()",
        "tests/b/conftest.py": "from lib.low import add",
        "tests/b/test_by_fixture.py": "def test(made): ...",
    }
    reach = written(tmp_path, files)
    found = reach.tests_of([Path("src/lib/low.py")])
    assert [path.name for path in found] == ["test_near.py", "test_far.py", "test_by_fixture.py"]
    assert list(found.values()) == [1, 2, 2]
    assert list(reach.tests_of([Path("src/lib/other.py")])) == [Path("tests/a/test_none.py")]


def test_rooms_that_are_modules_come_first_too_and_what_is_not_known_to_be_reached_last(reach: Reach) -> None:
    first, *others = shards_of([Path("src/viameter/errors.py")], reach)
    assert first.name == "root" and {"tests/test_errors.py", "src/viameter/errors.py"} <= {*first.paths}
    assert any("README.md" in shard.paths for shard in others)
    ordered = [path for shard in shards_of([Path("src/viameter/ledger/book.py")], reach) for path in shard.paths]
    # A room beside that of the change imports nothing of it.
    assert ordered.index("tests/tables/session/test_ledger.py") < ordered.index("tests/logic/test_verify.py")
    tree = [path for shard in shards_of([Path("src/viameter/viz/figures.py")], reach)[1:5] for path in shard.paths]
    assert set(READING_THE_TREE) <= {*tree}


def test_what_imports_a_module_that_is_gone_is_reached(tmp_path: Path) -> None:
    files = {
        "src/lib/__init__.py": "from lib.gone import old",
        "tests/a/test_direct.py": "from lib.gone import old\ndef test(): old()",
        "tests/a/test_none.py": "def test(): ...",
    }
    assert list(written(tmp_path, files).tests_of([Path("src/lib/gone.py")])) == [Path("tests/a/test_direct.py")]


def test_files_that_tests_or_their_helpers_name_or_list_reach_them(tmp_path: Path) -> None:
    files = {
        "src/lib/low.py": "",
        "tests/a/__init__.py": "",
        "tests/a/run_me.py": "",
        "tests/a/lock": "",
        "tests/a/test_name.py": 'ROOT = HERE.parents[2]\nPAGE = ROOT / "docs" / "page.md"',
        "tests/a/helper.py": 'def copied(): copy(HERE.with_name("run_me.py"))',
        "tests/a/test_by_helper.py": "from tests.a.helper import copied\ndef test(): copied()",
        "tests/a/test_word.py": 'def test(): assert word != "lock" and file != "__init__.py"',
        "tests/b/conftest.py": 'DATA = PLACE.read("data/table.csv")',
        "tests/b/test_by_fixture.py": "def test(made): ...",
        "tests/b/test_lists.py": 'FOLDER = Path(__file__).parents[2] / "examples" / "old"\nALL = FOLDER.glob("*.py")',
        "tests/b/test_own_folder.py": 'ALL = Path(__file__).parent.glob("*.json")',
        "tests/b/test_made.py": 'def test(tmp_path): tmp_path.glob("*.py"), (tmp_path / "made").rglob("*")',
        "tests/c/test_pages.py": 'ALL = ROOT.glob("docs/**/*.md")',
        "tests/c/test_sources.py": 'def test():\n    source = ROOT / "src"\n    return source.rglob("*.py")',
        "tests/c/test_package.py": 'import lib.low\nALL = Path(lib.low.__file__).parent.rglob("*.py")',
    }
    reach = written(tmp_path, files)
    reached = {
        "docs/page.md": {"test_name", "test_pages"},
        "docs/more/other.md": {"test_pages"},
        "tests/a/run_me.py": {"test_by_helper"},
        "tests/a/lock": set(),
        "src/lib/data/table.csv": {"test_by_fixture", "test_lists", "test_own_folder", "test_made"},  # all below it
        "examples/old/one.py": {"test_lists"},
        "examples/old/new/one.py": set(),
        "tests/b/made.json": {"test_own_folder"},
        "src/lib/__init__.py": {"test_sources", "test_package"},
        "src/lib/gone.py": {"test_sources", "test_package"},
    }
    assert {name: {path.stem for path in reach.tests_of([Path(name)])} for name in reached} == reached


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("docs/errors.md", "tests/test_errors.py"),
        ("docs/ledger.md", "tests/logic/test_time_and_lines.py"),
        ("README.md", "tests/cli/test_demo.py"),
        ("docs/declared.md", "tests/cli/test_compose_toml.py"),
        ("docs/api.md", "tests/system/faults/test_stage.py"),
        ("tests/mutants/noting.py", "tests/mutants/test_run.py"),
        ("src/viameter/cli/data/visits.csv", "tests/service/test_releases.py"),
        ("tests/bench/fake_case.py", "tests/bench/test_run.py"),
        ("examples/programs/sums.py", "tests/logic/test_examples.py"),
        ("tests/ledger/versions/first.db", "tests/service/test_state.py"),
        ("tests/system/faults/clock.c", "tests/system/faults/test_stage.py"),
        ("deploy/nginx.conf", "tests/deploy/test_nginx.py"),
        ("src/viameter/cli/demo.py", "tests/logic/test_time_and_lines.py"),
        ("src/viameter/cli/demo.py", "tests/sampling/test_entropy.py"),
    ],
)
def test_pages_data_and_what_is_run_as_a_file_select_the_tests_that_read_them(
    reach: Reach, changed: str, test: str
) -> None:
    assert test in selected(reach, changed) and not unjudged_of([Path(changed)], reach)


def test_files_that_only_tests_about_the_tree_read_are_named(reach: Reach) -> None:
    files = ["Makefile", "CHANGELOG.md", "docs/conf.py", "tests/nobody_runs_me.py", "docs/pictures/hours.png"]
    named = [Path(name) for name in [*files, "pyproject.toml", "conftest.py", "requirements/dev.lock"]]
    judged = [Path(name) for name in ["tests/test_tiers.py", "tests/conftest.py", "src/viameter/py.typed"]]
    assert unjudged_of([*named, *judged], reach) == named


def test_long_tests_are_those_of_a_changed_file_or_of_the_room_of_another(tmp_path: Path) -> None:
    files = {
        "tests/a/test_long.py": "@pytest.mark.long\ndef test(): ...",
        "tests/a/test_short.py": "def test(): long = a.long",
        "tests/b/marks.py": "from pytest import mark\nslow = mark.long",
        "tests/b/test_by_helper.py": "from tests.b.marks import slow\n@slow\ndef test(): ...",
        "tests/c/test_case.py": "@parametrize('n', [pytest.param(1, marks=pytest.mark.long)])\ndef test(n): ...",
        "tests/d/test_short.py": "def test(): ...",
    }
    reach = written(tmp_path, files)
    assert long_of([Path(name) for name in files], reach) == ["b", "tests/a/test_long.py", "tests/c/test_case.py"]
    assert long_of([Path("tests/b/test_by_helper.py")], reach) == ["tests/b/test_by_helper.py"]
    others = ["src/viameter/c/low.py", "src/viameter/d/low.py", "src/viameter/top.py", "tests/a/data.csv", "README.md"]
    assert long_of([Path(name) for name in [*others, "tests/a/test_long.py", "tests/c/test_gone.py"]], reach) == [
        "a",
        "c",
    ]


def test_a_green_check_says_in_the_end_what_it_did_not_run(
    reach: Reach, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = [Path("Makefile"), Path("docs/errors.md"), Path("src/viameter/ledger/book.py")]
    for name, value in {
        "Reach": lambda: reach,
        "changed_files": lambda base: [*changed, Path("tests/tables/test_soundness.py")],
        "end_on_signals": lambda: None,
        "run": lambda shards, **options: True,
    }.items():
        monkeypatch.setattr(f"tests.changed.{name}", value)
    monkeypatch.setattr(sys, "argv", ["changed"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "only `make test` says what these break: Makefile",
        "long tests of ledger, tests/tables/test_soundness.py are not run:"
        ' make test-long ROOM="ledger tests/tables/test_soundness.py"',
    ]


def test_the_rooms_next_to_the_changed_one_come_next_and_data_by_the_folder_it_is_in(reach: Reach) -> None:
    def names(changed: str) -> list[str]:
        return [shard.name for shard in shards_of([Path(changed)], reach)]

    found = names("src/viameter/arith/dyadic.py")
    assert found[0] == "arith" and found.index("measures") < found.index("composition") < found.index("tables")
    assert names("src/viameter/service/page/static/ask.css")[0] == "service/page"
    assert names("tests/mutants/arith.toml")[0] == "mutants"
    registered = selected(reach, "src/viameter/measures/composition.py")
    assert {"tests/tables/session/test_question.py", "tests/cli/test_compose.py"} <= registered


def test_what_changed_is_tested_in_its_room_first_and_pages_and_templates_by_what_shows_them(reach: Reach) -> None:
    by_code = shards_of([Path("src/viameter/ledger/requests.py")], reach)
    assert by_code[0].name.partition("/")[0] == "ledger"
    assert {"tables/session", "service"} <= {shard.name for shard in by_code}
    assert "src/viameter/ledger/requests.py" in [path for shard in by_code for path in shard.paths]
    page, *others = shards_of([Path("docs/ledger.md")], reach)
    assert page.paths == ("docs/ledger.md",)
    assert {path for shard in others for path in shard.paths} == {*READING_THE_TREE, *READING_ALL_PAGES}
    templates = shards_of([Path("src/viameter/service/page/templates/base.html")], reach)
    assert {shard.name.partition("/")[0] for shard in templates[:4]} == {"service"}


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        (
            "tests/viz/test_away.py",
            "import pytest\n@pytest.mark.spark\ndef test_one(): assert False",
            "in tests/tables alone",
        ),
        ("tests/viz/away_test.py", "def test_one(): assert False", "no tests ran"),
    ],
)
def test_what_no_shard_would_run_is_refused_or_is_no_test(tmp_path: Path, place: str, text: str, said: str) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.write_text(text)
    shutil.copy(ROOT / "conftest.py", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    # As a shard is run, which leaves tests with Spark out.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not spark", str(file.parent)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode and said in done.stdout + done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "status", "counts", "problem"),
    [
        ("3 passed", 0, {"passed": 3}, ""),
        ("1 failed", 1, {"failed": 1, "passed": 2, "errors": 1}, "tests failed"),
        ("2 passed\nnanobind: leaked 28 instances!", 0, {"passed": 2}, ""),
        ("37 left out", 0, {"left out": 37}, ""),
        (
            "5 passed in 0.1s: a test printed that, and ended the process",
            0,
            None,
            "it ended with status 0 before its end",
        ),
        ("2 passed\nSegmentation fault", -11, {"passed": 2}, "it ended with status -11"),
        ("no tests ran", 5, {}, "it has nothing to run"),
        ("a hook ended the session", 0, {}, "it ended before it had collected its tests"),
        ("ERROR StatusLogger: of a server\n", 0, {"passed": 2}, ""),
        ("a test ended the process, with that status", 5, None, "it ended with status 5 before its end"),
        ("2 passed", 5, {"passed": 2}, "it ended with status 5"),
        ("another status at exit", 0, {"failed": 1, "passed": 2}, "tests failed"),
        ("of a child\nFAILED tests/a.py::b\n", 0, {"passed": 2}, "it passed, and its output names failures"),
    ],
)
def test_what_a_shard_came_to_is_what_it_wrote_down_and_how_it_ended(
    text: str, status: int, counts: dict[str, int] | None, problem: str
) -> None:
    found = {} if counts is None else {"counted": 1, "collected": sum(counts.values()), **counts}
    outcome = Outcome(Shard("a", ("a",)), status, Counter(found), 1.0, text)
    assert outcome.problem == problem
    assert (replace(outcome, may_be_empty=True).problem == "") is (problem in ("", "it has nothing to run"))


@pytest.mark.parametrize(
    "ending",
    [
        "import os\ndef test_b(capfd):\n    with capfd.disabled(): print('5 passed in 1s')\n    os._exit(0)",
        "import atexit, os\natexit.register(lambda: os._exit(0))\ndef test_b(): assert False",
        "import os\ndef test_b():\n    if os.fork() == 0: assert False\n    os.wait()",
        "import sys\ndef test_b(capfd):\n    with capfd.disabled(): os.write(1, b'\\xff')\n    assert False\nimport os",
    ],
)
def test_a_shard_whose_tests_pretend_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_one.py").write_text(f"def test_a(): pass\n{ending}\n")
    outcome = run_shard(Shard("toy", (str(tmp_path),), only=""), ["-p", "no:cacheprovider", f"--rootdir={tmp_path}"],
                        Processes())  # fmt: skip
    assert outcome.problem, outcome.text


def test_what_is_interrupted_and_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Processes, "patience", (0.2, 0.4))
    begun = tmp_path / "begun"
    ignores = "import pathlib, signal, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; "
    command = [sys.executable, "-c", f"{ignores}pathlib.Path({str(begun)!r}).touch(); time.sleep(600)"]
    processes, ended = Processes(), list[int]()
    thread = Thread(target=lambda: ended.append(processes.run(command, {**os.environ})[0]))
    thread.start()
    while not begun.exists():
        time.sleep(0.01)
    processes.stop()
    thread.join(60)
    assert ended == [-signal.SIGKILL]
    assert processes.run(command, {**os.environ})[0] == -signal.SIGINT  # nothing more is started


def test_rooms_are_chosen_by_name_part_path_or_module_and_each_test_once() -> None:
    def paths(*rooms: str) -> list[str]:
        return [path for shard in chosen(rooms, all_shards()) for path in shard.paths]

    assert paths("service/client") == ["tests/service/client", "src/viameter/service/client"]
    assert paths("errors") == ["tests/test_arguments_in_errors.py", "tests/test_errors.py", "src/viameter/errors.py"]
    assert paths("arith", "arith/test_dyadic.py", "src/viameter/arith") == paths("arith")
    assert [shard.only for shard in chosen(["tables/bounding", "tables/test_keys.py"], all_shards())] == [
        "not spark",
        "",
    ]
    # With and without Spark are two halves, in whichever order they are named.
    assert {*paths("spark", "tables")} == {*paths("tables", "spark")} and len(paths("spark", "tables")) > 10
    assert [shard.only for shard in chosen(["tests", "spark"], all_shards())] == ["not spark", "spark"]
    with pytest.raises(LookupError, match="-k NAME"):
        chosen(["arith/test_dyadic.py::test_x"], all_shards())


def test_every_function_that_is_called_a_test_is_collected() -> None:
    """In a file of tests, and not in a function or in a class of another name, where nobody looks for it."""
    found = []
    for path in ROOT.glob("tests/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            body = getattr(node, "body", [])
            inside = [each for each in body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")] \
                if isinstance(body, list) else []  # fmt: skip
            is_place = isinstance(node, ast.Module) or (isinstance(node, ast.ClassDef) and node.name.startswith("Test"))
            if not (is_place and path.name.startswith("test_")):
                found += [f"{path.relative_to(ROOT)}:{each.lineno} {each.name}" for each in inside]
    assert not found


def run_pytest(folder: Path, *options: str) -> str:
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", *options, "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ}, check=True).stdout


def test_files_and_tests_are_shuffled_by_a_seed_and_examples_of_a_page_stay_in_order(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("\n".join(f"def test_{number}(): pass" for number in range(20)))
    (tmp_path / "docs").mkdir()
    page = "\n".join(f"```python\n>>> {number}\n{number}\n\n```\n" for number in range(20))
    (tmp_path / "docs" / "page.md").write_text(page)

    def order(*options: str) -> list[str]:
        return [line.split()[0] for line in run_pytest(tmp_path, *options).splitlines() if "PASSED" in line]

    plain, shuffled = order(), order("--shuffle", "1")
    assert len(plain) == 40 and sorted(shuffled) == sorted(plain)
    assert shuffled == order("--shuffle", "1")

    def of_page(names: list[str]) -> list[str]:
        return [name for name in names if "page.md" in name]

    assert of_page(shuffled) == of_page(plain)
    assert [name for name in shuffled if "test_one" in name] != [name for name in plain if "test_one" in name]


def test_no_test_starts_after_the_deadline_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_a(): pass\ndef test_b(): pass")
    assert "2 left out for lack of time" in run_pytest(tmp_path, "--until", str(time.time() - 1))


@pytest.mark.parametrize("status", [0, 5])
def test_a_session_that_a_test_ends_has_failed(tmp_path: Path, status: int) -> None:
    (tmp_path / "test_one.py").write_text(
        f"import pytest\ndef test_a(): pass\ndef test_b(): pytest.exit('bye', {status})\ndef test_c(): assert False"
    )
    with pytest.raises(subprocess.CalledProcessError) as ended:
        run_pytest(tmp_path)
    assert "ended before 2 of its tests did" in ended.value.stdout


def test_both_names_of_what_was_renamed_changed_and_so_did_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> None:
        named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr("tests.changed.ROOT", tmp_path)
    git("init")
    (tmp_path / "old.py").write_text("text = 1\n" * 20)
    git("add", ".")
    git("commit", "-m", "first")
    assert changed_files() == [Path("old.py")]
    git("mv", "old.py", "new.py")
    (tmp_path / "ä b.py").write_text("")
    assert changed_files() == [Path("new.py"), Path("old.py"), Path("ä b.py")]
    git("add", ".")
    git("commit", "-m", "second")
    assert changed_files() == changed_files("HEAD~1") == [Path("new.py"), Path("old.py"), Path("ä b.py")]


def test_no_file_of_tests_is_longer_than_600_lines() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in ROOT.glob("tests/**/*.py")}
    assert {path: length for path, length in lengths.items() if length > 600} == {}


def imported(file: Path) -> set[str]:
    """The last parts of all names that a file of tests imports, or imports from."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.name for alias in node.names}
            names |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
    return {name.rpartition(".")[2] for name in names}


def test_no_file_of_tests_is_imported_by_another() -> None:
    """What they share is in a module beside them: a file of tests that is imported would run under two roles."""
    modules = {path.stem for path in ROOT.glob("tests/**/test_*.py")}
    found = {path: imported(path) & modules for folder in ("tests", "bench") for path in ROOT.glob(f"{folder}/**/*.py")}
    assert len(found) > 500
    assert {str(path.relative_to(ROOT)): names for path, names in found.items() if names} == {}
