"""`viameter ledger --config`: the ledger of a service, its witness and its key, by the service's configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import viameter as vm
from viameter import ledger as ledgers
from viameter.cli import main
from viameter.cli.ledger import CONFIGURED, LedgerCommand, ledger
from viameter.service.config import read_config, read_storage

CONFIG = """
[server]
port = 0
[storage]
ledger = "books/ledger.db"
witness = "elsewhere/witness"
signing_key = "key.pem"
[sources.files]
folder = "data-of-another-machine"
[sources.warehouse]
url = "env:WAREHOUSE_URL_THAT_AUDITORS_DO_NOT_HAVE"
"""


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["ledger", *map(str, arguments)])


def done(*arguments: Any) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration whose ledger has a charge; commands are run from another folder."""
    place = tmp_path / "service"
    for folder in (place / "books", place / "elsewhere", tmp_path / "home"):
        folder.mkdir(parents=True)
    (place / "service.toml").write_text(CONFIG)
    key = ledgers.SigningKey.make(place / "key.pem")
    with ledgers.open(
        str(place / "books/ledger.db"), witness=str(place / "elsewhere/witness"), signing_key=key
    ) as book:
        book.define("visits", vm.zcdp("1/2"), vm.SymmetricDistance(), why="decided in May")
        book.reserve(vm.zcdp("1/10"), scopes=["visits"], key="k", by="ann", label="report")
    monkeypatch.chdir(tmp_path / "home")
    monkeypatch.delenv("VIAMETER_LEDGER_KEY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    return place / "service.toml"


def test_every_command_takes_a_configuration() -> None:
    for command in ledger.commands.values():
        assert isinstance(command, LedgerCommand)
        assert "--config SERVICE.toml" in CliRunner().invoke(ledger, [str(command.name), "--help"]).output


@pytest.mark.parametrize("written", [("--config", "{}"), ("--config={}",)], ids=["apart", "together"])
def test_show_and_history_find_the_ledger(config: Path, written: tuple[str, ...]) -> None:
    given = [one.format(config) for one in written]
    shown = json.loads(done("show", *given, "--json"))
    assert [scope["name"] for scope in shown["scopes"]] == ["visits"]
    assert "report" in done("history", *given, "--scope", "visits")
    assert "report" in done("history", "--last", 1, *given)


def test_verify_knows_the_witness_and_the_key(config: Path) -> None:
    said = done("verify", "--config", config)
    assert "signed: by the key that was given" in said
    assert str(config.parent / "elsewhere" / "witness") in said
    # Heads that another key signed are found out by the key that the service has.
    (config.parent / "key.pem").unlink()
    ledgers.SigningKey.make(config.parent / "key.pem")
    assert run("verify", "--config", config).exit_code == 1
    # Whoever may not read the key verifies what the ledger says of itself, and is told so.
    (config.parent / "key.pem").unlink()
    assert "signed: by its own key" in done("verify", "--config", config)


def test_options_say_more_than_the_configuration(config: Path, tmp_path: Path) -> None:
    assert "witness: none" in done("verify", "--config", config, "--no-witness")
    other = tmp_path / "other.pem"
    ledgers.SigningKey.make(other)
    refused = run("budget", "visits", "zcdp 1", "--why", "x", "--config", config, "--sign-with", other)
    assert refused.exit_code == 2


def test_a_witness_that_saw_more_is_believed(config: Path) -> None:
    """Without the configuration's witness, an older copy would not be noticed."""
    ledger_file = config.parent / "books" / "ledger.db"
    older = ledger_file.read_bytes()
    done("budget", "--config", config, "visits", "zcdp 1", "--why", "approved")
    for leftover in ledger_file.parent.iterdir():
        leftover.unlink()
    ledger_file.write_bytes(older)
    assert run("verify", "--config", config).exit_code == 1


def test_commands_that_write_sign_with_the_key(config: Path) -> None:
    assert "to zcdp(1)" in done("budget", "visits", "zcdp 1", "--why", "approved", "--config", config)
    assert "all in order" in done("verify", "--config", config)


def test_positions_stay_what_they_are(config: Path, tmp_path: Path) -> None:
    assert "1 rows" in done("export", "--config", config, tmp_path / "charges.csv")
    done("backup", tmp_path / "monday.db", "--config", config)
    for leftover in (config.parent / "books").iterdir():
        leftover.unlink()
    assert "nothing was lost" in done("restore", tmp_path / "monday.db", "--why", "the disk failed", "--config", config)
    assert "all in order" in done("verify", "--config", config)


def test_a_location_and_a_configuration_are_one_too_many(config: Path) -> None:
    for arguments in (["show", "x.db"], ["export", "x.db", "y.csv"], ["restore", "a.db", "b.db"]):
        assert run(*arguments, "--config", config).exit_code == 2


def test_a_password_is_in_no_message(tmp_path: Path) -> None:
    config = tmp_path / "service.toml"
    config.write_text('[storage]\nledger = "postgresql://ann:CANARY@127.0.0.1:1/x"\n')
    for arguments in (["show"], ["show", "x"], ["restore", "a", "b"], ["budget", "a"], ["backup", "x.db", "y", "z"]):
        result = run(*arguments, "--config", config)
        assert result.exit_code == 2
        assert "CANARY" not in result.output
    assert CONFIGURED in run("restore", "a", "b", "--config", config).output


def test_what_is_wrong_with_a_configuration_is_one_line(tmp_path: Path) -> None:
    config = tmp_path / "service.toml"
    for content, said in (("[storage", "is not TOML"), ("[storage]\nledgr = 'x'", "unknown name"), (None, "cannot be")):
        config.unlink(missing_ok=True)
        if content is not None:
            config.write_text(content)
        result = run("show", "--config", config)
        assert result.exit_code == 2 and said in result.output
        assert len(result.output.splitlines()) == 1


def test_the_storage_is_that_of_the_whole_configuration(tmp_path: Path) -> None:
    config = tmp_path / "service.toml"
    config.write_text('[storage]\nledger = "env:LEDGER"\nstate = "s.db"\nwitness = "w"\n')
    environment = {"LEDGER": "postgresql://x"}
    assert read_storage(config, environment=environment) == read_config(config, environment=environment).storage
