"""Run tests by shards: a folder of tests and the examples of the sources it mirrors, in a process of its own.

`python -m tests.tiers` runs all but the long tests, several shards at once; `python -m tests.tiers ledger service/page`
runs rooms or parts of them. A process reads only the tests of its shard, and what is shared within a session (a server,
a browser, Spark) is started once for it.
"""

from __future__ import annotations

import argparse
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
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

SPLIT = {
    "ledger": ("crash",),
    "query": ("engines", "expressions"),
    "service": ("api", "client", "datasets", "page"),
    "system": ("browser", "crash", "faults"),
}
"""Rooms that are more than one shard: the folders that are shards of their own, beside all the rest of the room."""

FIRST = (
    "spark",
    "logic",
    "query/engines",
    "session",
    "query",
    "service",
    "service/api",
    "system/crash",
    "system/faults",
    "system/browser",
    "ledger",
    "ledger/crash",
    "query/expressions",
)
"""Shards that take longest: they are started first, so that in the end nobody waits for one of them."""

_ENDED = re.compile(r"^=*\s*(?:\d+ \w+.*|no tests ran) in [\d.]+s\b", re.MULTILINE)
"""The last line of a pytest that came to its end."""
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


@dataclass(frozen=True)
class Outcome:
    """What came of a shard."""

    shard: Shard
    status: int
    counts: Counter[str]
    seconds: float
    text: str

    @property
    def is_good(self) -> bool:
        """No test failed, and it is known how many passed; that nothing was to be run is no failure."""
        if self.counts["failed"] or self.counts["errors"]:
            return False
        if self.status == 5:  # pytest found nothing to run; but a test may end its process with any status
            return bool(_ENDED.search(self.text)) and not self.counts["passed"]
        return self.status == 0 and sum(self.counts.values()) > 0


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
        with tempfile.TemporaryFile("w+") as said:
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

    def stop(self) -> None:
        """Interrupt what runs, so that it says what failed and tidies up, and start nothing more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                os.killpg(process.pid, signal.SIGINT)


def main() -> None:
    """Run the shards that were asked for; the status is 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.tiers", description=__doc__)
    parser.add_argument("rooms", nargs="*", help="rooms (ledger), shards (service/page) or paths; all shards without")
    parser.add_argument("--long", action="store_true", help="the tests marked long, and no others")
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1, help="shards that run at once")
    parser.add_argument("--shuffle", default="", metavar="SEED", help="run the tests of a shard in another order")
    parser.add_argument("--coverage", action="store_true", help="measure which branches run")
    parser.add_argument("--list", action="store_true", help="list the shards")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="list the N slowest tests of all shards")
    parser.add_argument("-k", default="", metavar="NAMES", help="tests of these names alone, as pytest takes it")
    options, passed_on = parser.parse_known_args()
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: expected at least 1")
    end_on_signals()
    try:
        shards = chosen(options.rooms, all_shards())
    except LookupError as error:
        parser.error(str(error))
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
        Shard("spark", ("tests/query",), only="spark"),
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
        of_room = [shard for shard in shards if shard.name == name or shard.name.startswith(f"{name}/")]
        is_below = {".", ".."}.isdisjoint(name.split("/"))
        paths = [
            path for path in (f"tests/{name}", name, f"src/viameter/{name}") if is_below and (ROOT / path).exists()
        ]
        if not of_room and not paths:
            known = ", ".join(sorted({shard.name.partition("/")[0] for shard in shards}))
            raise LookupError(f"{name} has no tests; rooms are {known}, and --list lists their parts")
        of_path = paths if not paths or paths[0].startswith("tests/") else paths[:1]
        found += of_room or [Shard(name, tuple(of_path), only="")]
    return list(dict.fromkeys(found)) or shards


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
            return Outcome(shard, 0, Counter({"files left out": len(shard.paths)}), 0.0, "")
        outcome = run_shard(shard, extra, processes, long=long, coverage=coverage)
        if not outcome.is_good:
            _say(outcome.text)
        nothing = "nothing to run" if outcome.is_good else f"it ended with status {outcome.status} before its summary"
        said = ", ".join(f"{count} {what}" for what, count in outcome.counts.items()) or nothing
        _say(f"{'' if outcome.is_good else 'FAILED '}{shard.name}: {said} in {outcome.seconds:.0f} s")
        return outcome

    with ThreadPoolExecutor(jobs) as pool:
        try:
            outcomes = list(pool.map(judge, shards))
        except BaseException:  # an interrupt, or SIGTERM: what runs in process groups of its own does not see it
            processes.stop()
            raise
    total = sum((outcome.counts for outcome in outcomes), Counter[str]())
    bad = [outcome.shard.name for outcome in outcomes if not outcome.is_good]
    failed = max(total["failed"] + total["errors"], len(bad))
    for outcome in outcomes:
        for line in re.findall(r"^(?:FAILED|ERROR) .*", outcome.text, re.MULTILINE):
            print(line)
    durations = [found for outcome in outcomes for found in _DURATION.findall(outcome.text)] if slowest else []
    for seconds, test in sorted(durations, key=lambda each: -float(each[0]))[:slowest]:
        print(f"{float(seconds):6.1f} s  {test}")
    print(f"{len(shards)} shards in {time.monotonic() - started:.0f} s")
    print(f"{total['passed']} passed, {failed} failed, {total['skipped']} skipped", flush=True)
    if total["left out"] or total["files left out"]:
        print(f"left out for lack of time: {total['left out']} tests, and {total['files left out']} files of others")
    if not sum(total[what] for what in ("passed", "failed", "errors", "skipped", "xfailed")):
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
    command = [sys.executable, *runner, "-q", "--tb=short", "--no-header", "-m", only, *extra, *shard.paths]
    environment = {**os.environ, **({"VIAMETER_EXAMPLES": "long"} if long else {})}
    status, text = processes.run(command, environment)
    return Outcome(shard, status, counted(text), time.monotonic() - start, text)


def counted(text: str) -> Counter[str]:
    """What pytest's summary says; libraries may say more after it, when the interpreter ends."""
    summaries = re.findall(r"^=*\s*(\d+ \w+.*) in [\d.]+s\b", text, re.MULTILINE)
    found = re.findall(r"(\d+) (passed|failed|errors?|skipped|xfailed)\b", summaries[-1] if summaries else "")
    found += re.findall(r"^(\d+) (left out) for lack of time$", text, re.MULTILINE)
    return Counter({"errors" if what == "error" else what: int(number) for number, what in found})


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
