"""The command: its options, its parts, its exit codes."""

from importlib.metadata import entry_points

import pytest
from click.testing import CliRunner

import viameter
from viameter.cli import main


@pytest.fixture
def run() -> CliRunner:
    return CliRunner()


def test_the_version_is_the_librarys(run: CliRunner) -> None:
    result = run.invoke(main, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"viameter, version {viameter.__version__}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_help_names_every_part(run: CliRunner, option: str) -> None:
    result = run.invoke(main, [option])
    assert result.exit_code == 0
    for part in (
        "check",
        "compose",
        "demo",
        "ledger",
        "query",
        "serve",
        "sql",
        "theorems",
        "verify",
        "Compose differential privacy with",
    ):
        assert part in result.output
    assert set(main.commands) == {"check", "compose", "demo", "ledger", "query", "serve", "sql", "theorems", "verify"}


@pytest.mark.parametrize("part", ["check", "compose", "demo", "ledger", "query", "serve", "sql", "theorems", "verify"])
def test_every_part_has_help(run: CliRunner, part: str) -> None:
    result = run.invoke(main, [part, "--help"])
    assert result.exit_code == 0 and "Usage:" in result.output


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["demo", "nonsense"], ["theorems", "chain", "more"], ["--nonsense"]]
)
def test_what_is_not_known_is_refused_with_exit_code_two(run: CliRunner, arguments: list[str]) -> None:
    result = run.invoke(main, arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output and "Error" in result.output


def test_the_command_is_installed() -> None:
    (command,) = entry_points(group="console_scripts", name="viameter")
    assert command.load() is main
