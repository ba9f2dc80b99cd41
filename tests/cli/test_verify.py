"""`viameter verify`: what is printed, what is written, and what it exits with."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.logic.present.verdicts import eps

import viameter.cli.verify as command
from viameter.cli import main
from viameter.logic.certificate import ProgramCertificate
from viameter.logic.search.prover import NotProved
from viameter.logic.verdict import Status, Verdict

HEAD = "import viameter as vm\n"
ONE = """
@vm.program(adjacent=vm.all_differ("q", by=1))
def {name}(q: int, eps: vm.Eps) -> int:
    return {what}
"""
RIGHT = ONE.format(name="noisy", what="q + vm.lap(1 / eps)")
WRONG = ONE.format(name="doubled", what="q + 2 * vm.lap(1 / eps)")
THREE = HEAD + "".join(ONE.format(name=name, what="q + vm.lap(1 / eps)") for name in ("second", "first", "third"))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["verify", *map(str, arguments)])


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def made(text: str, name: str = "programs.py") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return made


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, Status]:
    """Verdicts by name of the program, in place of a search; UNKNOWN has something missing at its second line."""
    statuses: dict[str, Status] = {}
    document = {"digest": "abc", "program": "program p\n"}

    def fake(program: Any, bound: object, *, seconds: float, progress: Callable[[str], None]) -> Verdict:
        progress("something\nlong " + "x" * 300)
        status = statuses.get(program.name, Status.PROVED)
        lines = program.core.source
        return Verdict(
            status=status, program=program.name, bound=None if status is Status.UNKNOWN else eps(),
            adjacency=program.adjacent.directions(program.core)[0].says, seconds=0.25, source=(program.file, lines),
            missing=NotProved("both runs take the same branch", max(lines)) if status is Status.UNKNOWN else None,
            certificate=ProgramCertificate(json.dumps(document)) if status is Status.PROVED else None,
        )  # fmt: skip

    monkeypatch.setattr(command, "verify", fake)
    return statuses


def test_one_program_is_explained(write: Callable[..., Path]) -> None:
    result = run(write(HEAD + RIGHT))
    assert result.exit_code == 0 and result.stderr == ""
    assert result.stdout.startswith("PROVED: noisy costs at most eps in pure differential privacy")
    assert "beside the lines of programs.py" in result.stdout and "[laplace]" in result.stdout
    assert "│ 5  return q + vm.lap(1 / eps)" in result.stdout


def test_a_wrong_claim_is_refuted_with_exit_code_three(write: Callable[..., Path]) -> None:
    result = run(write(HEAD + WRONG), "--bound", "eps", "--seconds", "20")
    assert result.exit_code == 3
    assert result.stdout.startswith("REFUTED: doubled does not have privacy loss eps.")
    assert "Paste this into Python" in result.stdout


def test_verdicts_as_json_and_nothing_else(write: Callable[..., Path]) -> None:
    path = write(HEAD + "print('hello')\n" + RIGHT + WRONG)
    result = run(path, "--json", "--bound", "eps", "--seconds", "20")
    assert result.exit_code == 3
    first, second = json.loads(result.stdout)
    assert (first["program"], first["status"], first["bound"]) == ("noisy", "PROVED", "eps")
    assert (second["program"], second["status"]) == ("doubled", "REFUTED") and "witness" in second
    assert result.stderr == "hello\n"


def test_several_programs_are_a_table_in_the_order_of_the_file(
    write: Callable[..., Path], told: dict[str, Status]
) -> None:
    told["first"], told["third"] = Status.REFUTED, Status.UNKNOWN
    result = run(write(THREE))
    table, why, hint = result.stdout.strip().split("\n\n")
    assert table.splitlines() == [
        "PROVED   second  eps  (q differs by at most 1)  0.2 s",
        "REFUTED  first   eps  (q differs by at most 1)  0.2 s",
        "UNKNOWN  third   -    (q differs by at most 1)  0.2 s",
    ]
    assert why == "third: what is missing (programs.py, line 13): both runs take the same branch"
    assert "--explain" in hint and "--only NAME" in hint


def test_the_table_fits_a_screen_whatever_the_adjacency_says() -> None:
    wordy = Verdict(status=Status.UNKNOWN, program="p", bound=eps(), adjacency="far " * 60)
    plain = Verdict(status=Status.PROVED, program="p", bound=eps(), adjacency="near", seconds=12.0)
    wide, narrow = command.summary({"p" * 30: wordy, "q": plain})
    assert len(wide) == len(narrow) == 120 and "far …" in wide and "(near)" in narrow and narrow.endswith("12.0 s")


def test_explain_shows_every_text_below_the_table(write: Callable[..., Path], told: dict[str, Status]) -> None:
    told["first"] = Status.UNKNOWN
    result = run(write(THREE), "--explain")
    texts = result.stdout.split("─" * 100)
    assert len(texts) == 4 and texts[0].startswith("PROVED   second")
    for text, start in zip(texts[1:], ("PROVED: second", "UNKNOWN: no bound", "PROVED: third"), strict=True):
        assert text.strip().startswith(start)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ({}, 0),
        ({"first": Status.UNKNOWN}, 4),
        ({"first": Status.REFUTED}, 3),
        ({"second": Status.UNKNOWN, "third": Status.REFUTED}, 3),
        ({"second": Status.REFUTED, "third": Status.UNKNOWN}, 3),
    ],
)
def test_exit_codes(
    write: Callable[..., Path], told: dict[str, Status], statuses: dict[str, Status], code: int
) -> None:
    told.update(statuses)
    assert run(write(THREE)).exit_code == code
    assert run(write(THREE), "--json").exit_code == code


def test_only_verifies_one_program(write: Callable[..., Path], told: dict[str, Status]) -> None:
    told["second"] = Status.REFUTED
    result = run(write(THREE), "--only", "first")
    assert result.exit_code == 0 and result.stdout.startswith("PROVED: first ")
    result = run(write(THREE), "--only", "fourth")
    assert result.exit_code == 2 and "defines no program fourth; it defines second, first, third" in result.stderr


def test_programs_of_other_files_are_left_out_and_names_of_one_program_count_once(
    write: Callable[..., Path], told: dict[str, Status]
) -> None:
    write(HEAD + ONE.format(name="other", what="q + vm.lap(1 / eps)"), "helper_of_verify.py")
    path = write("from helper_of_verify import other\n" + HEAD + RIGHT + "again = noisy\n")
    before = list(sys.path)
    try:
        assert [entry["program"] for entry in json.loads(run(path, "--json").stdout)] == ["noisy"]
        result = run(write("from helper_of_verify import other\n"))
        assert result.exit_code == 2 and "defines no program" in result.stderr
    finally:
        sys.modules.pop("helper_of_verify", None)
    assert sys.path == before and command.MODULE not in sys.modules


def test_programs_given_as_text_in_the_file_are_found(write: Callable[..., Path], told: dict[str, Status]) -> None:
    text = "'def noisy(q: int, eps: vm.Eps) -> int: return q + vm.lap(1 / eps)'"
    made = f"made = program_from_source({text}, adjacent=vm.all_differ('q'))\n"
    path = write(f"{HEAD}from viameter.logic import program_from_source\n{made}")
    assert run(path).stdout.startswith("PROVED: noisy ")
    assert run(path, "--only", "made").exit_code == run(path, "--only", "noisy").exit_code == 0


def test_the_file_is_a_module_and_no_script(write: Callable[..., Path], told: dict[str, Status]) -> None:
    path = write(HEAD + RIGHT + "if __name__ == '__main__':\n    raise SystemExit(9)\n")
    assert run(path).exit_code == 0
    assert not (path.parent / "__pycache__").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "defines no program: put @vm.program"),
        ("x = 1\ny = (\n", "programs.py:2: this is not Python: '(' was never closed"),
        ("x = 1\n\n1 / 0\n", "programs.py:3: ZeroDivisionError: division by zero"),
        ("import nothing_of_this_name\n", "programs.py:1: ModuleNotFoundError"),
        ("import sys\nsys.exit(0)\n", "programs.py:2: SystemExit: 0"),
        ("import viameter as vm\nvm.all_differ(3)\n", "programs.py:2: ParameterError: 3 is no name of an input"),
        (HEAD + RIGHT.replace("return q", "with q: pass\n    return q"), "programs.py:5: with q: pass : "),
        (HEAD + RIGHT.replace("eps: vm.Eps", "eps"), "the parameter eps has no annotation"),
        ("x = '\udcff'".encode("utf-8", "surrogateescape").decode("latin-1"), ""),
    ],
)
def test_what_cannot_be_taken_is_a_fault_of_the_call(write: Callable[..., Path], text: str, said: str) -> None:
    result = run(write(text))
    assert result.exit_code == 2 and result.stdout == ""
    assert said in result.stderr and "programs.py" in result.stderr and "Traceback" not in result.stderr


def test_files_that_are_not_there_or_not_python_are_refused(write: Callable[..., Path], tmp_path: Path) -> None:
    result = run(tmp_path / "nothing.py")
    assert result.exit_code == 2 and "nothing.py cannot be read" in result.stderr
    result = run(write("program p\n", "core.txt"))
    assert result.exit_code == 2 and "core.txt is no Python file" in result.stderr
    result = run(tmp_path)
    assert result.exit_code == 2
    assert run().exit_code == 2
    path = tmp_path / "bytes.py"
    path.write_bytes(b"x = '\xff'\n")
    result = run(path)
    assert result.exit_code == 2 and "bytes.py" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--bound", "2*rho"], "--bound does not fit noisy"),
        (["--bound", ""], "--bound does not fit noisy"),
        (["--bound", "zcdp 1/2"], "--bound does not fit noisy"),
        (["--bound", "pure x"], "--bound 'pure x'"),
        (["--seconds", "0"], "seconds=0.0: expected a positive number"),
        (["--seconds", "nan"], "seconds=nan: expected a positive number"),
        (["--seconds", "soon"], "'soon' is not a valid float"),
        (["--certificate", "no/such/folder/c.json"], "cannot be written"),
        (["--html", "no/such/folder/c.html"], "cannot be written"),
        (["--latex", "."], "cannot be written"),
    ],
)
def test_options_that_make_no_sense_are_refused(write: Callable[..., Path], options: list[str], said: str) -> None:
    result = run(write(HEAD + RIGHT), *options)
    assert result.exit_code == 2 and said in result.stderr and result.stdout == ""


def test_a_bound_may_be_a_loss(write: Callable[..., Path]) -> None:
    text = RIGHT.replace(", eps: vm.Eps", "").replace("vm.lap(1 / eps)", "vm.gauss(10)")
    result = run(write(HEAD + text), "--bound", "zcdp 1/200", "--json")
    (entry,) = json.loads(result.stdout)
    assert result.exit_code == 0 and entry["measure"] == "zcdp" and entry["bound"] == "1/200"


def test_a_solver_that_is_missing_is_named(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    result = run(write(HEAD + RIGHT))
    assert result.exit_code == 2 and "pip install 'viameter[verify]'" in result.stderr


def test_the_certificate_of_one_program_is_a_file(write: Callable[..., Path], tmp_path: Path) -> None:
    out = tmp_path / "proof.json"
    result = run(write(HEAD + RIGHT), "--certificate", out)
    assert result.exit_code == 0
    document = json.loads(out.read_text())
    assert document["format"] == "viameter program certificate" and document["digest"] in result.stdout
    folder = tmp_path / "folder"
    folder.mkdir()
    assert run(write(HEAD + RIGHT), "--certificate", folder).exit_code == 0
    assert json.loads((folder / "noisy.json").read_text())["program"] == document["program"]


def test_help_says_that_certificates_of_several_programs_are_a_directory() -> None:
    text = " ".join(CliRunner().invoke(main, ["verify", "--help"]).output.split())
    assert "of several programs, one file each into directory OUT, which is made" in text


def test_certificates_of_several_programs_are_a_directory(
    write: Callable[..., Path], told: dict[str, Status], tmp_path: Path
) -> None:
    told["first"] = Status.UNKNOWN
    out = tmp_path / "proofs"
    result = run(write(THREE), "--certificate", out)
    assert sorted(path.name for path in out.iterdir()) == ["second.json", "third.json"]
    assert "no certificate of first: it is UNKNOWN" in result.stderr
    taken = write("taken", "taken.json")
    result = run(write(THREE), "--certificate", taken)
    assert result.exit_code == 2 and "for 3 programs give a directory" in result.stderr
    assert taken.read_text() == "taken"


def test_pages_are_written(write: Callable[..., Path], told: dict[str, Status], tmp_path: Path) -> None:
    page, paper = tmp_path / "out.html", tmp_path / "out.tex"
    assert run(write(THREE), "--html", page, "--latex", paper).exit_code == 0
    html, latex = page.read_text(encoding="utf-8"), paper.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>") and html.count('<div class="viameter-verdict">') == 3
    assert latex.count("{% a verdict of viameter") == 3 and r"\textbf{PROVED}" in latex


def test_the_report_is_said_although_a_file_cannot_be_written(
    write: Callable[..., Path], told: dict[str, Status], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device", "out.html")

    path = write(HEAD + RIGHT)
    monkeypatch.setattr(Path, "write_text", full)
    result = run(path, "--html", tmp_path / "out.html")
    assert result.exit_code == 2 and result.stdout.startswith("PROVED: noisy")
    assert "out.html cannot be written: No space left on device" in result.stderr


def test_an_interrupt_ends_it_with_exit_code_130(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object, **kwargs: object) -> Verdict:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "verify", interrupted)
    result = run(write(HEAD + RIGHT))
    assert result.exit_code == 130 and result.stdout == "" and "Traceback" not in result.stderr
    result = run(write("raise KeyboardInterrupt\n"))
    assert result.exit_code == 130


def test_the_solver_leaves_interrupts_to_the_command(
    write: Callable[..., Path], told: dict[str, Status], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, object] = {}

    class Solver:
        set_param = staticmethod(settings.__setitem__)

    monkeypatch.setattr(command, "load", Solver)
    assert run(write(HEAD + RIGHT)).exit_code == 0
    assert settings == {"ctrl_c": False}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_one_line_that_is_rewritten_and_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda fallback=(80, 24): os.terminal_size((40, 24)))
    stream = Terminal()
    with command.ProgressLine(stream, "noisy (1 of 2)") as line:
        line.say("shifts")
        line.say("invariants\nfor " + "x" * 100)
    first, second, third, last = stream.getvalue().split("\r\x1b[K")
    assert (first, second, last) == ("", "noisy (1 of 2): shifts", "")
    assert third.startswith("noisy (1 of 2): invariants for xx") and len(third) == 39 and third.endswith("…")
    assert "\n" not in stream.getvalue()


def test_progress_is_silent_where_nobody_looks() -> None:
    stream = io.StringIO()
    with command.ProgressLine(stream, "noisy") as line:
        line.say("shifts")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("bound", ["q*eps", "eps + 100*ln(1/2)", "eps + ln(0)", "5*ln(1/2)", "ln(1/0)", "(0-1)*eps"])
def test_a_bound_that_is_none_is_refused_before_the_search(write: Callable[..., Path], bound: str) -> None:
    result = run(write(HEAD + RIGHT), "--bound", bound)
    assert result.exit_code == 2 and "--bound does not fit noisy: " in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_without_a_bound_a_program_of_infinite_loss_is_refuted_and_another_unknown(write: Callable[..., Path]) -> None:
    path = write(HEAD + ONE.format(name="bare", what="q"))
    result = run(path, "--seconds", "6", "--json")
    (found,) = json.loads(result.stdout)
    assert (result.exit_code, found["status"], found["bound"]) == (3, "REFUTED", None)
    path = write(HEAD + ONE.format(name="steep", what="64 * q * q + vm.lap(1 / eps)"))
    result = run(path, "--seconds", "6", "--json")
    (found,) = json.loads(result.stdout)
    assert (result.exit_code, found["status"], found["bound"]) == (4, "UNKNOWN", None)
    assert found["missing"]["what"].startswith("no bound was found within 6 seconds") and found["missing"]["line"] == 5
