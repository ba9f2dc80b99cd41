"""deploy/viameter@.service: systemd takes it, finds it well protected, and what it starts runs as the unit says."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.deploy.proxying import free_ports
from tests.system.crash.served import COUNT, PATIENCE, PROGRAM, write_config

from viameter.service.config import Server
from viameter.service.starting import LATE

UNIT = Path(__file__).parents[2] / "deploy" / "viameter@.service"
PORT = "8321"
ANALYZE = shutil.which("systemd-analyze")
PROGRAM_TO_PROVE = """
import viameter as vm
@vm.program(adjacent=vm.all_differ("q", by=1))
def noisy(q: int, eps: vm.Eps) -> int:
    return q + vm.lap(1 / eps)
"""
needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is missing: scripts/system-packages")


def settings() -> dict[str, list[str]]:
    """The settings of the unit; some are there several times."""
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text().splitlines():
        name, equals, value = line.partition("=")
        if equals and name.isalpha():
            found.setdefault(name, []).append(value)
    return found


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """The unit of a port, with a program that is there."""
    path = tmp_path / f"viameter@{PORT}.service"
    path.write_text(UNIT.read_text().replace("/opt/viameter/bin/viameter", str(PROGRAM)))
    return path


@needs_systemd
def test_systemd_takes_the_unit(instance: Path) -> None:
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(instance)], check=False, capture_output=True, text=True
    )
    assert checked.returncode == 0 and checked.stderr == "", checked.stderr


@needs_systemd
def test_systemd_finds_it_well_protected(instance: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=15", str(instance)]
    checked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout[-300:]
    for name in ("NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices"):
        assert settings()[name] == ["yes"]
    assert settings()["ProtectSystem"] == ["strict"]
    assert settings()["CapabilityBoundingSet"] == [""]


@needs_systemd
def test_processes_of_submitted_programs_may_take_rights_from_themselves() -> None:
    """The sandbox limits itself by setrlimit and runs in a session of its own: no filter may refuse it that."""
    allowed = calls("@system-service") - calls("@privileged")
    assert {"prlimit64", "setrlimit", "setsid", "execve", "clone3", "vfork", "kill", "wait4"} <= allowed
    assert settings()["SystemCallFilter"] == ["@system-service", "~@privileged"]


def calls(group: str) -> set[str]:
    """The system calls of a group, those of groups in it too."""
    said = subprocess.run(["systemd-analyze", "syscall-filter", group], check=True, capture_output=True, text=True)
    words = [line.split("#")[0].strip() for line in said.stdout.splitlines()[1:]]
    found = {word for word in words if word and not word.startswith("@")}
    return found.union(*(calls(word) for word in words if word.startswith("@")))


def test_it_is_given_longer_to_stop_than_the_service_takes() -> None:
    """Else systemd would kill what is about to be answered."""
    assert int(settings()["TimeoutStopSec"][0]) > Server().shutdown_seconds + LATE
    assert settings()["KillSignal"] == ["SIGTERM"]
    assert settings()["KillMode"] == ["mixed"], "what it started is ended by it"


@contextmanager
def told(folder: Path) -> Iterator[tuple[str, socket.socket]]:
    """Where a process tells how it is, as systemd listens there."""
    place = str(folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(place)
        listening.settimeout(PATIENCE)
        yield place, listening


def test_what_it_starts_serves_and_stops_as_it_says(tmp_path: Path) -> None:
    """Its command with its environment, mask and privileges; systemd itself is not needed for it."""
    (port,) = free_ports(1)
    state = tmp_path / "state"
    state.mkdir()
    places = {"/opt/viameter/bin/viameter": str(PROGRAM), "/var/lib/viameter": str(state), "%i": str(port)}
    places["/etc/viameter/service.toml"] = str(write_config(tmp_path, ledger="state/l.db", state="state/s.db"))
    said = {name: values[0] for name, values in settings().items()}
    for old, new in places.items():
        said = {name: value.replace(old, new) for name, value in said.items()}
    name, _, value = said["Environment"].partition("=")
    limits = (
        ["setpriv", "--no-new-privs", "--bounding-set=-all"] if os.geteuid() == 0 and shutil.which("setpriv") else []
    )
    assert said["Type"] == "notify"
    with told(tmp_path) as (place, listening), (tmp_path / "journal").open("wb") as journal:
        process = subprocess.Popen(
            [*limits, *said["ExecStart"].split()],
            stdin=subprocess.DEVNULL,
            stdout=journal,
            stderr=journal,
            cwd=said["WorkingDirectory"],
            umask=int(said["UMask"], 8),
            env={
                "PATH": os.defpath,
                "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
                name: value,
                "NOTIFY_SOCKET": place,
            },
        )
        try:
            assert listening.recv(100) == b"READY=1"
            written = (tmp_path / "journal").read_text()
            assert "vmt_" not in written
            handed_over = re.search(r"the token in (.*), which", written)
            assert handed_over is not None
            token = Path(handed_over[1]).read_text().split()[0]
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}",
                headers={"authorization": f"Bearer {token}"},
                trust_env=False,
                timeout=PATIENCE,
            ) as client:
                assert client.get("/readyz").text == "ok\n"
                asked = client.post("/api/v1/datasets/visits/releases", json=COUNT, headers={"idempotency-key": "k"})
                assert asked.status_code == 200, asked.text
                proved = client.post("/api/v1/programs/verify", json={"source": PROGRAM_TO_PROVE})
                assert [one["status"] for one in proved.json()["verdicts"]] == ["PROVED"], proved.text
            process.send_signal(getattr(signal, said["KillSignal"]))
            assert listening.recv(100) == b"STOPPING=1"
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
            process.wait()
    assert "vmt_" not in (tmp_path / "journal").read_text()
    assert not [one for one in state.iterdir() if one.stat().st_mode & 0o077], "all files are for the user alone"
