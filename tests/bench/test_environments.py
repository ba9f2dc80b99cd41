"""Setting up the environments of the peers, with the installer replaced by a list of what it was asked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.environments import Environment, find_environment, set_up

Commands = list[list[str]]


@pytest.fixture
def peer(tmp_path: Path) -> Environment:
    lock = tmp_path / "peer.lock"
    lock.write_text("peer==1.0 --hash=sha256:00", encoding="utf-8")
    return Environment("peer", tmp_path / ".venv-bench-peer/bin/python", ("peer",), lock)


def installer(commands: Commands, peer: Environment, *, fails: bool = False) -> Callable[..., None]:
    def run(command: list[object], *, check: bool) -> None:
        commands.append([str(part) for part in command])
        peer.directory.mkdir(exist_ok=True)
        if fails and "pip" in command:
            raise subprocess.CalledProcessError(1, "pip")

    return run


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, peer: Environment) -> Commands:
    commands: Commands = []
    monkeypatch.setattr(subprocess, "run", installer(commands, peer))
    return commands


def test_what_is_locked_is_installed_once(peer: Environment, commands: Commands) -> None:
    said: list[str] = []
    set_up(peer, said.append)
    set_up(peer, said.append)
    assert [command[1:3] for command in commands] == [["-m", "venv"], ["-m", "pip"]]
    assert commands[1][-3:] == ["--require-hashes", "-r", str(peer.lock)]
    assert said == ["setting up .venv-bench-peer: peer and what that needs"]


def test_another_lock_file_is_installed_anew(peer: Environment, commands: Commands) -> None:
    assert peer.lock is not None
    set_up(peer, print)
    peer.lock.write_text("peer==2.0 --hash=sha256:00", encoding="utf-8")
    set_up(peer, print)
    assert len(commands) == 4


def test_what_cannot_be_installed_is_said_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, peer: Environment
) -> None:
    said: list[str] = []
    monkeypatch.setattr(subprocess, "run", installer([], peer, fails=True))
    set_up(peer, said.append)
    assert said[-1] == ".venv-bench-peer cannot be set up: exit code 1"
    assert not peer.directory.exists()


def test_peers_are_known_by_what_they_require() -> None:
    assert find_environment("opendp").libraries == ("opendp", "numpy")
    assert find_environment("viameter").lock is None
