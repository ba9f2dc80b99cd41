"""deploy/Containerfile: what it copies is there, what it runs is what the service has, and nobody is root in it.

To build it takes an image of Python and minutes; the steps are looked at here, and the command is run.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.deploy.proxying import free_ports
from tests.system.crash.served import serving

from viameter.cli import main
from viameter.cli.main import serve
from viameter.service.config import Server
from viameter.service.starting import LATE

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "Containerfile"


def steps() -> list[tuple[str, str]]:
    """The instructions: a word and what follows it, on one line."""
    text = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", FILE.read_text(), flags=re.MULTILINE))
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in text.splitlines() if line.strip()]


def last(word: str) -> str:
    """What the last instruction of a kind says."""
    return [said for kind, said in steps() if kind == word][-1]


def ignored(path: str) -> bool:
    """Whether the list of what is left out leaves a path out: all of it, but for what is named."""
    lines = [line for line in (ROOT / ".containerignore").read_text().splitlines() if line and line[0] != "#"]
    assert lines[0] == "*"
    return not any(path == one[1:] or path.startswith(f"{one[1:]}/") for one in lines if one[0] == "!")


def test_what_is_copied_is_there_and_not_left_out() -> None:
    copied = [said.split()[:-1] for kind, said in steps() if kind == "COPY" and not said.startswith("--from")]
    for path in [one for listed in copied for one in listed]:
        assert (ROOT / path).exists(), path
        assert not ignored(path), path
    assert ignored(".git") and ignored("tests") and ignored("service.toml")
    assert [said for kind, said in steps() if kind == "COPY" and said.startswith("--from=build")]


def test_whoever_runs_it_is_nobody_and_writes_to_the_volume_alone() -> None:
    words = [kind for kind, _ in steps()]
    assert last("USER").isdecimal() and int(last("USER")) > 0
    assert words.index("USER") > max(number for number, word in enumerate(words) if word in ("RUN", "COPY"))
    assert last("VOLUME") == last("WORKDIR") == "/var/lib/viameter"
    assert last("ENV") == "XDG_STATE_HOME=/var/lib/viameter"
    assert f"-o {last('USER')}" in last("RUN"), "the volume is theirs"


def test_dependencies_are_locked_with_the_driver_of_postgresql(tmp_path: Path) -> None:
    (command,) = re.findall(r"awk '(.*?)'", FILE.read_text())
    found = subprocess.run(
        ["awk", command, str(ROOT / "requirements" / "dev.lock")], check=True, capture_output=True, text=True
    ).stdout
    assert set(re.findall(r"^([a-z-]+)(?:\[.*\])?==", found, flags=re.MULTILINE)) == {"psycopg", "psycopg-binary"}
    assert found.count("--hash=sha256:") >= 2
    locked = (ROOT / "requirements" / "run.lock").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for need in extras["service"][1:] + extras["verify"]:
        assert re.search(rf"^{re.split('[>=<[]', need)[0]}==", locked, flags=re.MULTILINE), need


def test_it_is_given_longer_to_stop_than_the_service_takes() -> None:
    (seconds,) = re.findall(r"--stop-timeout (\d+)", FILE.read_text())
    assert int(seconds) > Server().shutdown_seconds + LATE
    assert last("STOPSIGNAL") == "SIGTERM"


def test_its_command_is_understood() -> None:
    command = [*json.loads(last("ENTRYPOINT")), *json.loads(last("CMD"))]
    assert command[:2] == ["/opt/viameter/bin/viameter", "serve"]
    known = {option for parameter in serve.params for option in parameter.opts}
    assert {word for word in command if word.startswith("--")} <= known
    assert CliRunner().invoke(main, [*command[1:], "--help"]).exit_code == 0


@pytest.mark.parametrize("prefix", ["", "/privacy"])
def test_its_check_of_health_tells_a_service_from_none(tmp_path: Path, prefix: str) -> None:
    command = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    assert command[0] == "/opt/viameter/bin/python"
    with serving(tmp_path, prefix=prefix) as served:
        for port, code in ((served.port, 0), (free_ports(1)[0], 1)):
            checked = [sys.executable, *(word.replace("8321", str(port)) for word in command[1:])]
            assert subprocess.run(checked, check=False, stderr=subprocess.DEVNULL).returncode == code
