"""Tokens that are handed over in files: for their owner alone, in no stream that is collected, gone once used."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.service.serving import API, Running, keeping_logs, make_config, make_folder

from viameter.cli import main
from viameter.errors import FormatError
from viameter.service import starting
from viameter.service.bundled import bundled_config
from viameter.service.config import Storage
from viameter.service.secrets import guard_of
from viameter.service.service import Service, open_service
from viameter.service.state import Token
from viameter.service.token_files import place_beside, remove_used, write_token

Start = Callable[..., Running]
TOKEN = Token("5f0c", "admin", "", "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z", None)
SECRET = "vmt_" + "a" * 43


def written(path: Path, token: Token = TOKEN) -> Path:
    """A file with a token."""
    assert write_token(path, lambda: (SECRET, token), replaces=True)
    return path


def test_a_file_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = written(tmp_path / "deep" / "token")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().split() == [SECRET, "5f0c", "2099-01-01T00:00:00Z"]
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_was_named_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("precious")
    with pytest.raises(FormatError, match="is there already"):
        write_token(path, lambda: pytest.fail("a token was made that cannot be handed over"), replaces=False)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("replaces", [True, False])
def test_nothing_is_left_where_no_token_was_made(tmp_path: Path, replaces: bool) -> None:
    def fail() -> None:
        raise RuntimeError

    assert not write_token(tmp_path / "token", lambda: None, replaces=replaces)
    with pytest.raises(RuntimeError):
        write_token(tmp_path / "token", fail, replaces=replaces)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_removed_by_its_own_token_or_when_that_has_expired(tmp_path: Path) -> None:
    path = written(tmp_path / "token")
    remove_used(path)
    remove_used(path, "another")
    assert path.exists()
    remove_used(path, "5f0c")
    assert not path.exists()
    remove_used(path, "5f0c")
    written(path, replace(TOKEN, expires="2026-01-02T00:00:00Z"))
    remove_used(path)
    assert not path.exists()


@pytest.mark.parametrize("content", ["", "precious\n", "a\nb\n", "a\nb c d\n", "ä\n5f0c 2000\n"])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "token"
    path.write_text(content, encoding="utf-8")
    remove_used(path, "5f0c")
    assert path.read_text(encoding="utf-8") == content


def test_a_state_on_a_server_has_its_file_where_witnesses_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    one, same, other = (
        place_beside(Storage(state=f"postgresql://{where}/x")) for where in ("a:pw@host", "a:other@host", "a:pw@there")
    )
    assert one == same != other
    assert one.parent == tmp_path / "viameter"
    assert "pw" not in one.name


def announced(service: Service, monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    """What is said at the start."""
    said: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
        starting._announce(service, "http://127.0.0.1:1", said.append)
    return "\n".join(said)


@pytest.mark.parametrize("terminal", [True, False])
def test_the_first_token_is_shown_on_terminals_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    make_folder(tmp_path / "data")
    place = tmp_path / "service.db.admin-token"
    with keeping_logs() as logs:
        service = open_service(make_config(tmp_path))
        try:
            first = announced(service, monkeypatch, terminal=terminal)
            again = announced(service, monkeypatch, terminal=terminal)
        finally:
            service.close()
    assert ("vmt_" in first) == terminal and place.exists() != terminal
    assert (str(place) in first) == (str(place) in again) == (not terminal)
    assert "vmt_" not in again + logs.getvalue()


def test_processes_that_start_at_once_make_one_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_folder(tmp_path / "data")
    services = [open_service(make_config(tmp_path)) for _ in range(2)]
    try:
        monkeypatch.setattr(type(services[1].state), "person", lambda *_: None)  # each looked before the other wrote
        for service in services:
            announced(service, monkeypatch, terminal=False)
        secret = (tmp_path / "service.db.admin-token").read_text().split()[0]
        assert services[1].state.who_has(secret) is not None
    finally:
        for service in services:
            service.close()
    assert not [one for one in tmp_path.iterdir() if one.name.startswith("service.db.admin-token.")]


@pytest.mark.parametrize("way", ["api", "page"])
def test_the_file_is_removed_when_its_token_is_first_used(run_service: Start, way: str) -> None:
    running = run_service()
    place = starting.new_admin_token(running.service.config)
    assert isinstance(place, Path) and place == place_beside(running.service.config.storage)
    secret = place.read_text().split()[0]
    assert running.client("only-admin").get(f"{API}/me").status_code == 200
    assert running.client("admin").get(f"{API}/me").status_code == 401, "the old one is worthless"
    assert place.exists()
    if way == "api":
        assert running.client().get(f"{API}/me", headers={"authorization": f"Bearer {secret}"}).status_code == 200
    else:
        assert running.client().post("/login", data={"guard": guard_of(""), "token": secret}).status_code == 303
    assert not place.exists()


def test_a_new_token_goes_to_the_file_that_was_named(tmp_path: Path) -> None:
    folder = tmp_path / "service"
    service = open_service(bundled_config(folder))
    announced_token = starting._hand_over(service.state, service.config, shows=True)
    named = tmp_path / "mine"
    made = CliRunner().invoke(main, ["serve", "--folder", str(folder), "--new-admin-token", "--to", str(named)])
    assert made.exit_code == 0 and "vmt_" not in made.output and str(named) in made.output
    assert isinstance(announced_token, str) and service.state.who_has(announced_token) is None
    known = service.state.who_has(named.read_text().split()[0])
    assert known is not None and known.name == "admin"
    refused = CliRunner().invoke(main, ["serve", "--folder", str(folder), "--new-admin-token", "--to", str(named)])
    assert refused.exit_code != 0 and "is there already" in refused.output
    assert service.state.who_has(named.read_text().split()[0]) is not None, "nothing was revoked"
    alone = CliRunner().invoke(main, ["serve", "--folder", str(folder), "--to", str(named)])
    assert alone.exit_code != 0 and "--new-admin-token" in alone.output
    service.close()


def test_a_terminal_shows_a_new_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a real terminal, as an operator has one."""
    folder = tmp_path / "service"
    open_service(bundled_config(folder)).close()
    outside, inside = pty.openpty()
    with os.fdopen(inside, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        main.main(["serve", "--folder", str(folder), "--new-admin-token"], standalone_mode=False)
        terminal.flush()
        assert b"vmt_" in os.read(outside, 10_000)
    os.close(outside)
    assert not (folder / "service.db.admin-token").exists()
