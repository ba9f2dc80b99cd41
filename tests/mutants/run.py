"""Run mutants: each is applied to a copy of the sources, and tests of its room that can reach it run until one fails.

Tests run nearest first, in batches, so that most mutants are killed within seconds. In the end every test that killed
one runs on the sources as they are: a test that fails there too has killed nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.mutant import Mutant, mutants_of, rooms
from tests.reach import ROOT, Reach
from tests.tiers import Processes, end_on_signals

PROCESSES = Processes()
ENDED = " ended with "
"""Between the file of a test that ended all tests, and how it did."""


@dataclass(frozen=True)
class Result:
    """What became of a mutant."""

    mutant: Mutant
    killer: str | None  # the test that failed, "" if the tests hung, None if the mutant survived
    seconds: float


def main() -> None:
    """`python -m tests.mutants.run ROOM...`: ends with 1 if a mutant survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", help="rooms, or all of them")
    parser.add_argument("--only", default="", help="run only the mutants whose address or reason has this text")
    parser.add_argument("--tests", type=Path, default=ROOT, help="a checkout whose sources and tests are used")
    parser.add_argument("--beyond", action="store_true", help="run the tests of other rooms, too")
    parser.add_argument("--write", type=Path, help="a file that gets a line of JSON for each mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a batch of tests counts as hung")
    options = parser.parse_args()
    end_on_signals()
    survived = 0
    for room in options.rooms or rooms():
        chosen = [m for m in mutants_of(room) if options.only in m.at or options.only in m.why]
        if not chosen:
            parser.error(f"{room} has no mutant whose address or reason has the text {options.only!r}")
        folder = "tests" if options.beyond else f"tests/{room.partition('/')[0]}"
        results = run(chosen, options.tests.resolve(), folder, jobs=options.jobs, limit=options.limit)
        if options.write:
            with options.write.open("a") as file:
                file.writelines(_json(room, result) + "\n" for result in results)
        survived += report(room, results)
    sys.exit(survived > 0)


def run(chosen: list[Mutant], checkout: Path, folder: str, *, jobs: int, limit: float) -> list[Result]:
    """Run mutants in parallel, each in a copy of the sources, with tests below a folder."""
    reach = Reach(checkout)
    with tempfile.TemporaryDirectory(prefix="viameter-mutants-") as scratch:
        Path(scratch).chmod(0o755)  # some tests act as another user
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copies.put(shutil.copytree(checkout / "src", Path(scratch, f"copy-{number}", "src")))

        def judge(mutant: Mutant) -> Result:
            copy, start = copies.get(), time.monotonic()
            try:
                killer = _killer(mutant, copy, reach, folder, limit)
            finally:
                copies.put(copy)
            result = Result(mutant, killer, time.monotonic() - start)
            print(_line(result), flush=True)
            return result

        with ThreadPoolExecutor(jobs) as pool:
            try:
                results = list(pool.map(judge, chosen))
            except BaseException:
                PROCESSES.stop()
                pool.shutdown(cancel_futures=True)
                raise
        killers = sorted({_place(result.killer) for result in results if result.killer})
        failing = set(_failures(killers, copies.get(), checkout, limit, stop=False)) if killers else set()
    return [
        Result(r.mutant, None if r.killer and _place(r.killer) in failing else r.killer, r.seconds) for r in results
    ]


def report(room: str, results: list[Result]) -> int:
    """Print what became of the mutants of a room; how many survived."""
    survivors = [result for result in results if result.killer is None]
    for result in survivors:
        print(_line(result))
    print(
        f"{room}: {len(results)} mutants, {len(results) - len(survivors)} killed, {len(survivors)} survived", flush=True
    )
    return len(survivors)


def _line(result: Result) -> str:
    fate = "SURVIVED" if result.killer is None else f"killed by {result.killer or 'a test that hung'}"
    return f"{result.seconds:6.1f} s  {result.mutant.at}: {result.mutant.why}\n          {fate}"


def _json(room: str, result: Result) -> str:
    mutant = result.mutant
    return json.dumps({"room": room, "at": mutant.at, "why": mutant.why, "now": mutant.now, "killer": result.killer})


def _killer(mutant: Mutant, copy: Path, reach: Reach, folder: str, limit: float) -> str | None:
    file, text = mutant.applied(copy)
    original = file.read_bytes()
    times = file.stat()
    try:
        file.write_text(text)
        reached = reach.tests_of([Path("src") / file.relative_to(copy)])
        tests = [test for test in reached if test.is_relative_to(folder)]
        if not tests:
            raise LookupError(f"no test in {folder} can reach {mutant.at}: run with --beyond")
        for batch in _batches(tests):
            try:
                failed = _failures([str(test) for test in batch], copy, reach.root, limit, stop=True)
            except subprocess.TimeoutExpired:
                return ""
            if failed:
                return failed[0]
        return None
    finally:
        file.write_bytes(original)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that what was compiled of it is used again


def _batches(tests: list[Path]) -> Iterator[list[Path]]:
    """One file, then two, four, ...: pytest reads all files of a call before it runs the first test."""
    size = 1
    while tests:
        yield tests[:size]
        tests, size = tests[size:], 2 * size


def _failures(tests: list[str], copy: Path, checkout: Path, limit: float, *, stop: bool) -> list[str]:
    """The tests that fail with a copy of the sources; the first file and how it ended, if tests ended all together."""
    options = ["-q", "-p", "no:cacheprovider", "-m", "not long", "-rfE", "--tb=no", "--no-header"]
    command = [sys.executable, "-m", "pytest", *options, *(["-x"] if stop else []), *tests]
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",
        "VIAMETER_EXAMPLES": "mutants",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(copy.parent / "hypothesis"),
        "COLUMNS": "1000",
    }
    status, text = PROCESSES.run(command, environment, cwd=checkout, limit=limit)
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, re.MULTILINE)
    if status not in (0, 5) and not failed:
        return [f"{tests[0]}{ENDED}{status}: {text.strip().splitlines()[-1] if text.strip() else 'no output'}"]
    return failed


def _place(killer: str) -> str:
    """The test that killed a mutant, or its file, if the tests ended before they told which one."""
    return killer.partition(ENDED)[0]


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted")
    except LookupError as error:
        sys.exit(str(error))
