"""Files with declared leaves, and what `viameter compose` says of them."""

from pathlib import Path

from click.testing import CliRunner

from viameter.cli import main

WARDS = """
granularity = "bounded"
[cuts.wards]
kind = "partition"
parts = 3
by = "value"
[[leaves]]
cut = "wards"
parts = "all"
losses = ["0.2", "0.5", "0.3"]
measure = "pure"
mode = "common"
"""


def write(tmp_path: Path, content: str) -> str:
    path = tmp_path / "declared.toml"
    path.write_text(content, encoding="utf-8")
    return str(path)


def run(tmp_path: Path, content: str, *options: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["compose", write(tmp_path, content), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    # The progress line goes to stderr, and comes only when the machine is slow.
    return result.exit_code, result.stdout if result.exit_code != 2 else result.output


def refused(tmp_path: Path, content: str, *options: str) -> str:
    code, text = run(tmp_path, content, *options)
    assert code == 2 and "Error: " in text
    return text


def whole(granularity: str, loss: str = '{ pure = "0.1" }', more: str = "") -> str:
    return f'granularity = {granularity}\n[[leaves]]\ncut = "whole"\nloss = {loss}\n{more}'
