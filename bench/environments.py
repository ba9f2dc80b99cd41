"""The environments that variants run in: the checkout's own, and one a peer, made from its lock file."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.model import OURS
from bench.places import PEERS, ROOT

__all__ = ["Environment", "find_environment", "set_up"]


@dataclass(frozen=True)
class Environment:
    """A Python with libraries; `libraries` are the distributions whose versions a report names."""

    name: str
    python: Path
    libraries: tuple[str, ...] = ()
    lock: Path | None = None

    @property
    def directory(self) -> Path:
        """The root of the environment."""
        return self.python.parent.parent


def find_environment(name: str) -> Environment:
    """Our own environment, which `make` sets up, or the one of the peer that has this name."""
    if name == OURS:
        return Environment(name, ROOT / ".venv/bin/python", (OURS, "numpy", "gmpy2"))
    requirements = (PEERS / f"{name}.in").read_text(encoding="utf-8").split()
    libraries = tuple(re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in requirements)
    return Environment(name, ROOT / f".venv-bench-{name}/bin/python", libraries, PEERS / f"{name}.lock")


def set_up(environment: Environment, say: Callable[[str], None]) -> None:
    """Install what the lock file names, unless that is installed already.

    An environment that cannot be made is said and left out: its variants are then reported as failed.
    """
    if environment.lock is None:
        return
    stamp = environment.directory / "installed"
    wanted = f"{sys.version}\n{hashlib.sha256(environment.lock.read_bytes()).hexdigest()}\n"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    say(f"setting up {environment.directory.name}: {', '.join(environment.libraries)} and what that needs")
    shutil.rmtree(environment.directory, ignore_errors=True)
    install = ["-m", "pip", "install", "-qq", "--disable-pip-version-check", "--require-hashes", "-r"]
    try:
        # The peers get the Python that runs this, so that interpreters do not differ between variants.
        subprocess.run([sys.executable, "-m", "venv", environment.directory], check=True)
        subprocess.run([environment.python, *install, environment.lock], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    except subprocess.CalledProcessError as error:
        shutil.rmtree(environment.directory, ignore_errors=True)
        say(f"{environment.directory.name} cannot be set up: exit code {error.returncode}")
