"""The process that runs the variants of one environment: `python -m bench.worker <case file>`, driven over stdin."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TextIO

from bench.measure import digest, loops_needed, peak_growth, seconds_per_call
from bench.model import Benchmark, Variant, load
from bench.protocol import Description, Prepared, Reply, Request, Timed, decode, encode

__all__ = ["Worker", "serve"]


class Worker:
    """Answers requests about one benchmark, and keeps what it prepared until it is told to forget it."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._prepared: dict[tuple[int, int], Callable[[], object]] = {}

    def answer(self, request: Request) -> Reply:
        """Do what is asked; whatever a variant raises becomes part of the reply."""
        try:
            return Reply("done", result=self._do(request))
        except ImportError as error:
            return Reply("absent", message=_text(error))
        except Exception as error:
            return Reply("failed", message=_text(error))

    def _do(self, request: Request) -> dict[str, Any] | None:
        match request.do:
            case "describe":
                return asdict(_describe(request.libraries))
            case "prepare":
                return asdict(self._prepare(request))
            case "time":
                return asdict(Timed(seconds_per_call(self._runnable(request), request.loops)))
            case "forget":
                self._prepared.clear()
                return None

    def _prepare(self, request: Request) -> Prepared:
        run = self._runnable(request)
        value = run()
        read = self._variant(request).read
        return Prepared(
            digest=digest(value if read is None else read(value)),
            peak_growth=peak_growth(run) if self._benchmark.cases[request.case].memory else None,
            loops=loops_needed(run),
        )

    def _runnable(self, request: Request) -> Callable[[], object]:
        # Looked up rather than required: a worker that was started in place of a dead one has prepared nothing yet.
        key = request.case, request.variant
        if key not in self._prepared:
            parameters = self._benchmark.cases[request.case].parameters
            self._prepared[key] = self._variant(request).prepare(**parameters)
        return self._prepared[key]

    def _variant(self, request: Request) -> Variant:
        return self._benchmark.cases[request.case].variants[request.variant]


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _describe(libraries: tuple[str, ...]) -> Description:
    versions = {}
    for library in libraries:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            versions[library] = "not installed"
    return Description(f"{platform.python_implementation()} {platform.python_version()}", versions)


def serve(worker: Worker, requests: TextIO, replies: TextIO) -> None:
    """Answer line by line until the coordinator closes its end."""
    for line in requests:
        replies.write(encode(worker.answer(decode(Request, line))))
        replies.flush()


def main() -> None:
    """Serve the case file that the command line names."""
    with os.fdopen(os.dup(0), encoding="utf-8") as requests, os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        # What a library or a child process prints or reads must not mix with the messages.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        serve(Worker(load(Path(sys.argv[1]))), requests, replies)


if __name__ == "__main__":
    main()
