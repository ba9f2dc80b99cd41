"""A PostgreSQL server for tests, in a folder of its own, that ends with the test run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import psycopg

SECONDS_TO_START = 60


@contextmanager
def running_server(*, durable: bool = False) -> Iterator[str]:
    """The URL of a fresh server; it listens on a socket in its own folder and nowhere else.

    A durable one syncs its commits, as ledgers ask for.
    """
    programs = _programs()
    # PostgreSQL refuses to run as root.
    as_user: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": ()} if os.getuid() == 0 else {}
    # The path of a socket must be short, so the folder is not one of pytest's.
    with TemporaryDirectory(prefix="viameter-pg-", dir="/tmp") as name:
        folder = Path(name)
        if as_user:
            shutil.chown(folder, "postgres", "postgres")
        data = folder / "data"
        initdb: list[str | Path] = [
            programs / "initdb",
            "-D",
            data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd=folder, **as_user)
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": name,
            "fsync": "on" if durable else "off",
            "log_min_messages": "fatal",
        }
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        # So that it ends with this process even if that is killed.
        until_parent_ends = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []
        command: list[str | Path] = [*until_parent_ends, programs / "postgres", "-D", data, *options]
        server = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, **as_user)
        try:
            url = f"postgresql://postgres@/postgres?host={quote(name, safe='')}"
            _wait_until_up(url, server)
            yield url
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: what it has not written goes with its folder
            try:
                server.wait(SECONDS_TO_START)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _programs() -> Path:
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    # Debian keeps them off the path, by version.
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    assert found, "tests need a PostgreSQL server: apt-get install postgresql"
    return found[-1].parent


def _wait_until_up(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            assert server.poll() is None, "the PostgreSQL server ended before it was up"
            assert time.monotonic() < deadline, "the PostgreSQL server did not come up"
            time.sleep(0.05)
        else:
            return
