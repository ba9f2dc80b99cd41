"""The coordinator's side of the workers: starting them, asking them, and noticing when one dies."""

from __future__ import annotations

import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from bench.environments import Environment
from bench.places import ROOT
from bench.protocol import Reply, Request, decode, encode

__all__ = ["NoResultError", "Workers"]

PATIENCE_SECONDS = 300.0


class NoResultError(Exception):
    """A request that got no result; `absent` says that there is nothing to measure, which is no failure."""

    def __init__(self, message: str, *, absent: bool = False) -> None:
        self.absent = absent
        # Reports are published: they name no directories of the machine.
        super().__init__(message.replace(f"{ROOT}/", ""))


class Workers:
    """One long-lived process an environment, started when first asked and again after it died."""

    def __init__(
        self, case_file: Path, environments: Mapping[str, Environment], patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self._case_file = case_file
        self._environments = environments
        self._patience = patience_seconds
        self._running: dict[str, _Process] = {}

    def ask(self, environment: str, request: Request) -> dict[str, Any]:
        """The result of a request.

        Raises
        ------
        NoResultError
            The variant is absent or failed, or the worker died or hung; the next request then gets a new worker.
        """
        if environment not in self._running:
            self._running[environment] = _Process(self._environments[environment], self._case_file)
        try:
            reply = self._running[environment].ask(request, self._patience)
        except NoResultError:
            self._running.pop(environment).stop()
            raise
        if reply.outcome != "done":
            raise NoResultError(reply.message, absent=reply.outcome == "absent")
        return reply.result or {}

    def forget(self) -> None:
        """Let every worker drop what it prepared."""
        for environment in list(self._running):
            with suppress(NoResultError):
                self.ask(environment, Request("forget"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._running:
            self._running.popitem()[1].stop()


class _Process:
    """A worker process, its pipes, and a thread that waits for its replies so that waiting can have an end."""

    def __init__(self, environment: Environment, case_file: Path) -> None:
        if not environment.python.exists():
            raise NoResultError(f"the environment {environment.name} is not set up: run scripts/bench")
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by stop
        self._process = subprocess.Popen(
            [environment.python, "-m", "bench.worker", case_file],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C stops the coordinator, which stops its workers
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def ask(self, request: Request, patience_seconds: float) -> Reply:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # a worker that is gone is noticed by the end of its replies
            self._process.stdin.write(encode(request))
            self._process.stdin.flush()
        try:
            line = self._lines.get(timeout=patience_seconds)
        except queue.Empty:
            raise NoResultError(f"the worker did not answer within {patience_seconds:g} s") from None
        if not line:
            raise NoResultError(f"the worker died ({_ending(self._process.wait())}){self._last_complaint()}")
        return decode(Reply, line)

    def _last_complaint(self) -> str:
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f": {last}" if last else ""

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._complaints):
            with suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
