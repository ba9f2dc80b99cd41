"""`python -m viameter_check`: what is printed, and what it exits with."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.viameter_check.forging import changed, waiting

from viameter_check import check
from viameter_check.command import Unreadable, check_file, run


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.json"
    waiting().certificate(1).write(path)
    return path


def test_a_good_certificate_is_told_and_exits_with_0(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([str(good)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "On data at most 1 apart in SymmetricDistance(), releases are close in pure: epsilon 1/10.",
        "Derived again: 5, by chain, laplace-on-integers, post-processing, rows-one-by-one, sum-of-added-rows.",
        "OK",
    ]


def test_a_forged_certificate_is_told_and_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forged = changed(waiting().certificate(1).to_json(), (("derivation", "bound", "epsilon"), "1/20"))
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    assert run([str(tmp_path / "forged.json")]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "FAILED",
        "  * derivation.bound.epsilon: 1/20 is too small: post-processing gives 1/10",
    ]


def test_the_report_is_printed_as_json(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([str(good), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report == check(good.read_text()).to_json()
    assert report["ok"] is True and report["loss"] == {"measure": "pure", "epsilon": "1/10"}


@pytest.mark.parametrize("content", [None, b"", b"{", b"\xff\xfe", b"not json"])
def test_what_cannot_be_read_exits_with_2(
    tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "it.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as stop:
        run([str(path)])
    assert stop.value.code == 2
    assert str(path) in capsys.readouterr().err


def test_a_folder_and_a_file_that_is_too_large_cannot_be_read(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Unreadable):
        check_file(tmp_path)
    monkeypatch.setattr("viameter_check.command.MOST_TEXT", 10)
    with pytest.raises(Unreadable, match="too large"):
        check_file(good)


def test_json_that_is_no_certificate_fails(tmp_path: Path) -> None:
    (tmp_path / "it.json").write_text("[" * 200_000)
    assert not check_file(tmp_path / "it.json").ok
    (tmp_path / "it.json").write_text("[]")
    assert not check_file(tmp_path / "it.json").ok


def test_it_runs_as_a_module(good: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "viameter_check", str(good)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "OK", "")
