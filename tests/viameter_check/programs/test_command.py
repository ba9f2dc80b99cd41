"""The commands that check certificates know those of programs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.viameter_check.programs.writing import changed
from tests.viameter_check.programs.zoo import above_threshold, laplace

from viameter.cli.check import check_certificate
from viameter_check.command import run
from viameter_check.programs import check_program


def written(tmp_path: Path, document: object) -> str:
    path = tmp_path / "it.json"
    path.write_text(json.dumps(document, indent=1))
    return str(path)


def test_a_good_certificate_exits_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([written(tmp_path, above_threshold())]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Program above_threshold is private in pure: epsilon at most eps." and lines[-1] == "OK"


def test_a_wrong_certificate_exits_with_1_and_names_the_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = laplace()
    document["claim"]["amount"] = "1/2*eps"
    assert run([written(tmp_path, document)]) == 1
    out = capsys.readouterr().out
    assert out == ("FAILED\n  * digest: is not that of the content: the file was changed after it was written\n")
    assert run([written(tmp_path, changed(document)), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["failures"][0]["path"] == "proofs[0].units[eps]"


def test_the_command_of_the_library_checks_programs_too(tmp_path: Path) -> None:
    ok, text = check_certificate(written(tmp_path, laplace()), as_json=False)
    assert ok and text.splitlines()[0] == "Program laplace is private in pure: epsilon at most eps."


def test_it_runs_as_a_module_and_loads_nothing_of_the_library(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom viameter_check.command import run\n"
        "assert 'cvc5' not in sys.modules\n"
        f"code = run([{written(tmp_path, laplace())!r}])\n"
        "assert 'viameter' not in sys.modules and 'z3' not in sys.modules and 'numpy' not in sys.modules\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "OK", "")


def test_without_the_solver_the_report_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvc5", None)
    report = check_program(laplace())
    assert not report.ok
    assert str(report) == (
        'FAILED\n  * certificate: needs the solver cvc5, which is not installed: pip install "viameter[verify]"'
    )
