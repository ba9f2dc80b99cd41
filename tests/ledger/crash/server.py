"""A PostgreSQL server for tests that can be stopped as by a crash, and started again on what it left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from tests.tables.engines.postgres_server import SECONDS_TO_START, _programs, _wait_until_up


class Server:
    """A server in a folder of its own that syncs what it commits. It ends with the process that started it."""

    def __init__(self) -> None:
        self._made = TemporaryDirectory(prefix="viameter-pg-", dir="/tmp")  # the path of a socket must be short
        self._folder = Path(self._made.name)
        # PostgreSQL refuses to run as root.
        as_root = os.getuid() == 0
        self._user: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": ()} if as_root else {}
        if as_root:
            shutil.chown(self._folder, "postgres", "postgres")
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", "-D", "data", *options)
        self.url = f"postgresql://postgres@/postgres?host={quote(self._made.name, safe='')}"
        self._process: subprocess.Popen[bytes] | None = None

    def _run(self, program: str, *args: str) -> None:
        command = [str(_programs() / program), *args]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self._folder, **self._user)

    def start(self) -> None:
        """Start it, on whatever was left, and wait until it answers."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self._made.name,
            "fsync": "on",
            "log_min_messages": "panic",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        until_parent_ends = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []
        command = [*until_parent_ends, str(_programs() / "postgres"), "-D", "data", *options]
        self._process = subprocess.Popen(
            command, cwd=self._folder, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._user
        )
        _wait_until_up(self.url, self._process)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop it: by SIGQUIT at once, without writing anything down, as by a crash."""
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(SECONDS_TO_START)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()  # nobody needs what it would write down
        self._made.cleanup()
