"""The checker imports the standard library and itself, and nothing of viameter: in its text, and when it runs."""

import ast
import subprocess
import sys
from pathlib import Path

from tests.viameter_check.forging import waiting

import viameter_check

FOLDER = Path(viameter_check.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add((node.module or "").partition(".")[0])
    return names


def test_its_text_names_the_standard_library_and_itself_only() -> None:
    assert len(FILES) > 15
    for path in FILES:
        # Programs are checked with a solver, which one file alone calls; all other checks need no more than Python.
        solver = {"cvc5"} if path.parts[-2:] == ("programs", "solving.py") else set()
        assert imported(path) <= {*sys.stdlib_module_names, "viameter_check", *solver}, path
        text = path.read_text(encoding="utf-8")
        assert "__import__" not in text and "importlib" not in text


def test_a_check_loads_nothing_of_viameter_and_nothing_heavy(tmp_path: Path) -> None:
    waiting().certificate(1).write(tmp_path / "it.json")
    code = (
        "import sys; before = set(sys.modules)\n"
        "from viameter_check import check\n"
        f"report = check(open({str(tmp_path / 'it.json')!r}).read())\n"
        "assert report.ok, report\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "viameter_check" in loaded and "viameter" not in loaded
    assert set(loaded) <= {*sys.stdlib_module_names, "viameter_check"}


def test_it_works_from_a_copy_of_its_folder_without_site_packages(tmp_path: Path) -> None:
    waiting().certificate(1).write(tmp_path / "it.json")
    command = [sys.executable, "-I", "-S", "-c"]
    code = (
        f"import sys; sys.path.insert(0, {str(FOLDER.parent)!r})\n"
        "from viameter_check.command import run\n"
        f"sys.exit(run([{str(tmp_path / 'it.json')!r}]))"
    )
    done = subprocess.run([*command, code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "OK"


def test_files_are_small() -> None:
    for path in FILES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path
