"""Run tests by shards: a folder of tests and the examples of the sources it mirrors, in a process of its own.

`python -m tests.tiers` runs all but the long tests, several shards at once; `python -m tests.tiers ledger service/page`
runs rooms or parts of them. A process reads only the tests of its shard, and what is shared within a session (a server,
a browser, Spark) is started once for it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]

SPLIT = {
    "ledger": ("crash",),
    "service": ("api", "client", "datasets", "page"),
    "system": ("browser", "crash", "faults"),
    "tables": ("engines", "expressions", "session"),
}
"""Rooms that are more than one shard: the folders that are shards of their own, beside all the rest of the room."""

FIRST = (
    "spark",
    "logic",
    "tables/engines",
    "tables/session",
    "tables",
    "service",
    "service/api",
    "system/crash",
    "system/faults",
    "system/browser",
    "ledger",
    "ledger/crash",
    "tables/expressions",
    "composition",
    "viameter_check",
    "service/page",
    "neighborhood",
    "service/datasets",
    "service/client",
    "cli",
    "sampling",
    "mutants",
    "project",
    "deploy",
)
"""Shards that take longest: they are started first, so that in the end nobody waits for one of them."""

_DURATION = re.compile(r"^([\d.]+)s ((?:call|setup|teardown) +\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Shard:
    """What one process of pytest runs."""

    name: str
    paths: tuple[str, ...]
    only: str = "not spark"

    @property
    def size(self) -> int:
        """How much there is to run, roughly: the bytes of its tests and pages."""
        files = [file for path in self.paths for file in _files(ROOT / path)]
        return sum(file.stat().st_size for file in files if file.name.startswith("test_") or file.suffix == ".md")


SHOWN = ("passed", "failed", "errors", "skipped", "xfailed", "left out", "files left out")


@dataclass(frozen=True)
class Outcome:
    """What came of a shard: how its process ended, and the counts that it left (see `Counting` in conftest.py)."""

    shard: Shard
    status: int
    counts: Counter[str]
    seconds: float
    text: str
    may_be_empty: bool = False

    @property
    def problem(self) -> str:
        """Why it is not good; nothing if all tests that were chosen ran and passed."""
        if self.counts["failed"] or self.counts["errors"]:
            return "tests failed"
        if not self.counts["counted"]:
            return f"it ended with status {self.status} before its end"
        if not self.status and not self.counts["collected"] and not self.counts["files left out"]:
            return "it ended before it had collected its tests"
        if self.status == 5 and not self.counts["collected"]:
            return "" if self.may_be_empty else "it has nothing to run"
        if self.status:
            return f"it ended with status {self.status}"
        return "it passed, and its output names failures" if failures(self.text) else ""

    @property
    def summary(self) -> str:
        """What its line says."""
        said = [f"{self.counts[what]} {what}" for what in SHOWN if self.counts[what]]
        if self.problem not in ("", "tests failed"):
            said.append(self.problem)
        return ", ".join(said) or "nothing to run"


def failures(text: str) -> list[str]:
    """The lines of pytest's summary that name what failed."""
    return re.findall(r"^(?:FAILED|ERROR) (?:\S+::|tests/|docs/|src/).*", text, re.MULTILINE)


class Processes:
    """The processes that run now, so that an interrupt ends all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(
        self, command: Sequence[str], environment: dict[str, str], *, cwd: Path = ROOT, limit: float | None = None
    ) -> tuple[int, str]:
        """Run a command in a process group of its own, for some time at most: its status and all that it said."""
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            with self._lock:
                if self._stopped:
                    return -signal.SIGINT, ""
                process = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    text=True,
                    start_new_session=True,
                )
                self._running.add(process)
            try:
                status = process.wait(limit)
            finally:
                with self._lock:
                    self._running.discard(process)
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            said.seek(0)
            return status, said.read()

    @property
    def is_stopped(self) -> bool:
        """Whether nothing more is started."""
        return self._stopped

    patience = (10.0, 20.0)
    """Seconds after which what was interrupted is terminated, and killed."""

    def stop(self) -> None:
        """Interrupt what runs, so that it says what failed and tidies up, and start nothing more.

        What does not end is told to more and more firmly.
        """
        self._stopped = True
        self._send(signal.SIGINT)
        for seconds, number in zip(self.patience, (signal.SIGTERM, signal.SIGKILL), strict=True):
            timer = threading.Timer(seconds, self._send, [number])
            timer.daemon = True
            timer.start()

    def _send(self, number: int) -> None:
        with self._lock:
            for process in self._running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)


def main() -> None:
    """Run the shards that were asked for; the status is 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.tiers", description=__doc__, allow_abbrev=False)
    parser.add_argument("rooms", nargs="*", help="rooms (ledger), shards (service/page) or paths; all shards without")
    parser.add_argument("--long", action="store_true", help="the tests marked long, and no others")
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1, help="shards that run at once")
    parser.add_argument("--shuffle", default="", metavar="SEED", help="run the tests of a shard in another order")
    parser.add_argument("--coverage", action="store_true", help="measure which branches run")
    parser.add_argument("--list", action="store_true", help="list the shards")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="list the N slowest tests of all shards")
    parser.add_argument("-k", default="", metavar="NAMES", help="tests of these names alone, as pytest takes it")
    options, passed_on = parser.parse_known_args()
    for option in {"--ignore", "--deselect", "--ignore-glob", "--collect-only", "-m", "-p"} & {*passed_on}:
        parser.error(f"{option}: pytest is given what rooms and tiers say; -k chooses tests, and --list lists shards")
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: expected at least 1")
    end_on_signals()
    try:
        shards = chosen(options.rooms, all_shards())
    except LookupError as error:
        parser.error(str(error))
    without_spark = [path for shard in shards if shard.only == "not spark" for path in shard.paths]
    if any(_meets(path, "tests/tables") for path in without_spark) and "spark" not in {one.name for one in shards}:
        print("tests with Spark are left out: ROOM=spark runs all of them", flush=True)
    if options.list:
        print("\n".join(shard.name for shard in shards))
        return
    chosen_by = {"--shuffle": options.shuffle, "-k": options.k}
    extra = [*passed_on, *(word for name, value in chosen_by.items() if value for word in (name, value))]
    try:
        is_good = run(
            shards,
            extra,
            jobs=options.jobs,
            long=options.long,
            coverage=options.coverage,
            slowest=options.slowest,
        )
        sys.exit(0 if is_good else 1)
    except KeyboardInterrupt:
        sys.exit("interrupted")


def end_on_signals() -> None:
    """End as after an interrupt, and with all that runs, if the terminal is closed or this process is told to end."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda which, _: sys.exit(128 + which))


def all_shards() -> list[Shard]:
    """Every test and every example is in one of these."""
    shards = [
        Shard("docs", ("README.md", "docs")),
        Shard("root", (*_tests_in(ROOT / "tests"), *_sources_in(ROOT / "src" / "viameter"))),
        Shard("spark", ("tests/tables",), only="spark"),
    ]
    for folder in sorted(path for path in (ROOT / "tests").iterdir() if path.is_dir() and _has_tests(path)):
        room = folder.name
        mirrored = [
            str(path.relative_to(ROOT))
            for path in (ROOT / "src" / "viameter" / room, ROOT / "src" / room)
            if path.exists()
        ]
        parts = SPLIT.get(room, ())
        rest = [
            str(path.relative_to(ROOT))
            for path in sorted(folder.iterdir())
            if _has_tests(path) and path.name not in parts
        ]
        shards.append(Shard(room, (*(rest if parts else [f"tests/{room}"]), *mirrored)))
        shards += [Shard(f"{room}/{part}", (f"tests/{room}/{part}",)) for part in parts]
    tested = {shard.name.partition("/")[0] for shard in shards}
    untested = [path for path in (ROOT / "src" / "viameter").iterdir() if path.is_dir() and path.name not in tested]
    shards.append(Shard("examples", tuple(str(path.relative_to(ROOT)) for path in untested if _files(path))))
    order = {name: number for number, name in enumerate(FIRST)}
    return sorted((shard for shard in shards if shard.paths), key=lambda s: (order.get(s.name, len(order)), -s.size))


def chosen(rooms: Iterable[str], shards: list[Shard]) -> list[Shard]:
    """The shards of rooms, or of all; a part of a room (logic/kernel) or a path is a shard of its own."""
    found: list[Shard] = []
    for room in rooms:
        name = room.strip("/").removeprefix("tests/")
        if "::" in name:
            raise LookupError(f'{name} is one test: give its file, and OPTIONS="-k NAME"')
        of_room = [shard for shard in shards if shard.name == name or shard.name.startswith(f"{name}/")]
        if [shard.name for shard in of_room] == [name] and "/" in name:
            examples = tuple(path for path in (f"src/viameter/{name}",) if (ROOT / path).exists())
            of_room = [replace(of_room[0], paths=(*of_room[0].paths, *examples))]
        found += of_room or [_of_path(name, shards)]
    return _without_repetition(found) or shards


def _of_path(name: str, shards: list[Shard]) -> Shard:
    """A shard of a folder or a file; or of the tests and examples of a module of src/viameter."""
    paths: list[str] = []
    if {".", ".."}.isdisjoint(name.split("/")):
        paths = [path for path in (f"tests/{name}", name, f"src/viameter/{name}") if (ROOT / path).exists()]
        if not paths and (ROOT / "src" / "viameter" / f"{name}.py").exists():
            tests = [path for path in _tests_in(ROOT / "tests") if name in path]
            paths = [*tests, f"src/viameter/{name}.py"]
    if not paths:
        known = ", ".join(sorted({shard.name.partition("/")[0] for shard in shards}))
        raise LookupError(f"{name} has no tests; rooms are {known}, and --list lists their parts")
    only = "" if (ROOT / paths[0]).is_file() else "not spark"
    return Shard(name, tuple(paths if paths[0].startswith("tests/") else paths[:1]), only)


def _takes_all(one: Shard, other: Shard) -> bool:
    """Whether all tests that the other shard has of some path are in the first one too, if that has the path."""
    is_tables = any(_meets(path, "tests/tables") for path in one.paths)
    return one.only in ("", other.only) or (one.only == "not spark" and not is_tables)


def _meets(path: str, other: str) -> bool:
    return path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")


def _without_repetition(shards: Iterable[Shard]) -> list[Shard]:
    """The shards without paths that are in another one already."""
    kept: list[Shard] = []
    for shard in dict.fromkeys(shards):
        taken = [place for other in kept if _takes_all(other, shard) for place in other.paths]
        paths = tuple(p for p in shard.paths if not any(p == place or p.startswith(f"{place}/") for place in taken))
        kept += [replace(shard, paths=paths)] if paths else []
    return kept


def run(
    shards: Sequence[Shard],
    extra: Sequence[str] = (),
    *,
    jobs: int,
    long: bool = False,
    coverage: bool = False,
    until: float | None = None,
    slowest: int = 0,
) -> bool:
    """Run shards, `jobs` at once; print a line for each, what failed in full, and the sum. Whether all is well.

    After a time (`until`, in seconds since 1970) no test is started.
    """
    processes, started = Processes(), time.monotonic()
    extra = extra if until is None else [*extra, "--until", str(until)]
    extra = [*extra, f"--durations={slowest}"] if slowest else extra

    def judge(shard: Shard) -> Outcome:
        if until is not None and time.time() > until:
            _say(f"{shard.name}: {len(shard.paths)} files left out for lack of time")
            return Outcome(shard, 0, Counter({"counted": 1, "files left out": len(shard.paths)}), 0.0, "")
        outcome = run_shard(shard, extra, processes, long=long, coverage=coverage)
        outcome = replace(outcome, may_be_empty=long or until is not None or "-k" in extra)
        if outcome.problem:
            _say(outcome.text)
        word = "FAILED " if outcome.problem else ""
        if processes.is_stopped and not (outcome.counts["failed"] or outcome.counts["errors"]):
            word = "interrupted: "
        _say(f"{word}{shard.name}: {outcome.summary} in {outcome.seconds:.0f} s")
        return outcome

    with ThreadPoolExecutor(jobs) as pool:
        try:
            outcomes = list(pool.map(judge, shards))
        except BaseException:  # an interrupt, or SIGTERM: what runs in process groups of its own does not see it
            processes.stop()
            raise
    total = sum((outcome.counts for outcome in outcomes), Counter[str]())
    bad = [outcome for outcome in outcomes if outcome.problem]
    for outcome in outcomes:
        for line in failures(outcome.text):
            print(line)
    for outcome in bad:
        if not failures(outcome.text):
            print(f"FAILED {outcome.shard.name}: {outcome.summary}")
    durations = [found for outcome in outcomes for found in _DURATION.findall(outcome.text)] if slowest else []
    for seconds, test in sorted(durations, key=lambda each: -float(each[0]))[:slowest]:
        print(f"{float(seconds):6.1f} s  {test}")
    ran = sum(not outcome.counts["files left out"] for outcome in outcomes)
    print(f"{ran} shards in {time.monotonic() - started:.0f} s")
    failed = max(total["failed"] + total["errors"], len(bad))
    print(f"{total['passed']} passed, {failed} failed, {total['skipped']} skipped", flush=True)
    if total["left out"] or total["files left out"]:
        print(f"left out for lack of time: {total['left out']} tests, and {total['files left out']} files of others")
    if not bad and not sum(total[what] for what in ("passed", "failed", "errors", "skipped", "xfailed")):
        print("no test was run: there was no time, or none has that name or mark")
        return False
    return not bad


def _say(line: str) -> None:
    """Print a line at once: shards end at the same time."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_shard(
    shard: Shard, extra: Sequence[str], processes: Processes, *, long: bool = False, coverage: bool = False
) -> Outcome:
    """Run one shard in a process."""
    start = time.monotonic()
    runner = ["-m", "coverage", "run", "--parallel-mode", "-m", "pytest"] if coverage else ["-m", "pytest"]
    only = f"{f'({shard.only}) and ' if shard.only else ''}{'long' if long else 'not long'}"
    with tempfile.TemporaryDirectory(prefix="viameter-counts-") as folder:
        counts = Path(folder) / "counts.json"
        options = ["-q", "--tb=short", "--no-header", "--color=no", "--counts", str(counts), "-m", only]
        environment = {**os.environ, **({"VIAMETER_EXAMPLES": "long"} if long else {})}
        status, text = processes.run([sys.executable, *runner, *options, *extra, *shard.paths], environment)
        found = json.loads(counts.read_text()) if counts.exists() else {}
    return Outcome(shard, status, Counter(found), time.monotonic() - start, text)


def _has_tests(path: Path) -> bool:
    return any(file.name.startswith("test_") for file in _files(path))


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted([*path.rglob("*.py"), *path.rglob("*.md")])


def _tests_in(folder: Path) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in sorted(folder.glob("test_*.py"))]


def _sources_in(folder: Path) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in sorted(folder.glob("*.py"))]


if __name__ == "__main__":
    main()
