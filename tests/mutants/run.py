"""Run mutants: each is applied to a copy of the sources, and tests of its room that can reach it run until one fails.

The test that killed it the last time (killers.json) runs first, then the others in batches, nearest first. In the end
what killed one runs on the sources as they are: what fails there too has killed nothing, and the mutant is judged again
without it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType

from tests.mutants.mutant import FOLDER, Mutant, mutants_of, rooms
from tests.reach import ROOT, Reach
from tests.tiers import Processes, end_on_signals

PROCESSES = Processes()
KILLERS = FOLDER / "killers.json"
"""For each room: its mutants, by address and reason, and the test that killed each the last time."""


@dataclass(frozen=True)
class Killer:
    """What killed a mutant: a test that failed, or tests that hung or ended in another way."""

    tests: tuple[str, ...]  # what is run again on the sources as they are
    fate: str
    marks: str = "not long"
    """Which of them ran."""

    @property
    def is_one_test(self) -> bool:
        """Whether a test failed, and did not hang or end with its process."""
        return self.tests == (self.fate,)


@dataclass(frozen=True)
class Result:
    """What became of a mutant."""

    mutant: Mutant
    killer: Killer | None  # None if it survived
    seconds: float


def main() -> None:
    """`python -m tests.mutants.run ROOM...`: ends with 1 if a mutant survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", help="rooms, or all of them")
    parser.add_argument("--only", default="", help="run only the mutants whose address or reason has this text")
    parser.add_argument("--tests", type=Path, default=ROOT, help="a checkout whose sources and tests are used")
    parser.add_argument("--beyond", action="store_true", help="run the tests of other rooms, too")
    parser.add_argument("--write", type=Path, help="a file that gets a line of JSON for each mutant")
    parser.add_argument("--remember", action="store_true", help="note in killers.json what killed each")
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
        killers = json.loads(KILLERS.read_text()) if KILLERS.exists() else {}
        hints = killers.setdefault(room, {})
        results = run(chosen, options.tests.resolve(), folder, jobs=options.jobs, limit=options.limit, hints=hints)
        if options.remember:
            hints |= {key(each.mutant): each.killer.fate for each in results if each.killer and each.killer.is_one_test}
            killers[room] = {key(mutant): hints[key(mutant)] for mutant in mutants_of(room) if key(mutant) in hints}
            KILLERS.write_text(json.dumps(killers, indent=1, sort_keys=True) + "\n")
        if options.write:
            with options.write.open("a") as file:
                file.writelines(_json(room, result) + "\n" for result in results)
        survived += report(room, results)
    sys.exit(survived > 0)


def key(mutant: Mutant) -> str:
    """What a mutant is called in killers.json."""
    return f"{mutant.at}: {mutant.why}"


def run(
    chosen: list[Mutant],
    checkout: Path,
    folder: str,
    *,
    jobs: int,
    limit: float,
    hints: Mapping[str, str] = MappingProxyType({}),
) -> list[Result]:
    """Run mutants in parallel, each in a copy of the sources, with tests below a folder; `hints` name first tests."""
    reach = Reach(checkout)
    with tempfile.TemporaryDirectory(prefix="viameter-mutants-") as scratch:
        Path(scratch).chmod(0o755)  # some tests act as another user
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copies.put(shutil.copytree(checkout / "src", Path(scratch, f"copy-{number}", "src")))

        def judge(mutant: Mutant, without: frozenset[str] = frozenset()) -> Result:
            copy, start = copies.get(), time.monotonic()
            try:
                killer = _killer(mutant, copy, reach, folder, limit, without, hints.get(key(mutant), ""))
                if killer is not None and not killer.is_one_test:  # or something else ended it: it has to happen twice
                    killer = _killer(mutant, copy, reach, folder, limit, without, "")
            finally:
                copies.put(copy)
            result = Result(mutant, killer, time.monotonic() - start)
            if not PROCESSES.is_stopped:
                print(_line(result), flush=True)
            return result

        def failing(tests: Sequence[str], marks: str = "not long") -> list[Killer]:
            copy = copies.get()
            try:
                return _failures(tests, copy, checkout, limit, marks=marks)
            finally:
                copies.put(copy)

        def fail_anyway(killers: Iterable[Killer]) -> set[Killer]:
            """Those that fail on the sources as they are: single tests together, unless that ends otherwise."""
            single = {killer for killer in killers if killer.is_one_test}
            failures = set(
                failing([killer.fate for killer in sorted(single, key=lambda one: one.fate)]) if single else ()
            )
            if not all(failure.is_one_test for failure in failures):
                failures, single = set(), set()
            alone = sorted(set(killers) - single, key=lambda one: one.tests)
            found = pool.map(lambda killer: failing(killer.tests, killer.marks), alone)
            return failures & single | {killer for killer, failed in zip(alone, found, strict=True) if failed}

        with ThreadPoolExecutor(jobs) as pool:
            try:
                results = list(pool.map(judge, chosen))
                broken = fail_anyway({result.killer for result in results if result.killer})
                without = frozenset(test for killer in broken for test in killer.tests)
                if broken:
                    print(f"these fail without any edit, and kill nothing: {', '.join(sorted(without))}", flush=True)
                again = {result.mutant for result in results if result.killer in broken}
                found = dict(zip(again, pool.map(lambda mutant: judge(mutant, without), again), strict=True))
            except BaseException:
                PROCESSES.stop()
                pool.shutdown(cancel_futures=True)
                raise
    return [found.get(result.mutant, result) for result in results]


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
    fate = "SURVIVED" if result.killer is None else f"killed by {result.killer.fate}"
    return f"{result.seconds:6.1f} s  {result.mutant.at}: {result.mutant.why}\n          {fate}"


def _json(room: str, result: Result) -> str:
    mutant, killer = result.mutant, result.killer and result.killer.fate
    return json.dumps({"room": room, "at": mutant.at, "why": mutant.why, "now": mutant.now, "killer": killer})


def _killer(
    mutant: Mutant, copy: Path, reach: Reach, folder: str, limit: float, without: frozenset[str], hint: str
) -> Killer | None:
    file, text = mutant.applied(copy)
    original = file.read_bytes()
    times = file.stat()
    try:
        file.write_text(text)
        reached = reach.tests_of([Path("src") / file.relative_to(copy)])
        tests = [str(test) for test in reached if test.is_relative_to(folder)]
        if not tests:
            raise LookupError(f"no test in {folder} can reach {mutant.at}: run with --beyond")
        if hint and hint not in without and hint.partition("::")[0] in tests:
            for killer in _failures([hint], copy, reach.root, limit):
                if killer.is_one_test:  # a test of that name may be there no more, which is no failure
                    return killer
        left_out = [f"--deselect={test}" for test in without if "::" in test]
        for marks in ("not long and not spark", "not long and spark"):  # Spark takes long to start
            for batch in _batches([test for test in tests if test not in without]):
                if found := _failures(batch, copy, reach.root, limit, "-x", *left_out, marks=marks):
                    return found[0]
        return None
    finally:
        file.write_bytes(original)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that what was compiled of it is used again


def _batches(tests: list[str]) -> Iterator[list[str]]:
    """One file, then two, four, ...: pytest reads all files of a call before it runs the first test."""
    size = 1
    while tests:
        yield tests[:size]
        tests, size = tests[size:], 2 * size


def _failures(
    tests: Sequence[str], copy: Path, checkout: Path, limit: float, *options: str, marks: str = "not long"
) -> list[Killer]:
    """Tests that fail with a copy of the sources, or all of these if they hang or end without a word."""
    noted = copy.parent / f"{copy.name}.failed"
    noted.write_text("")
    shutil.copy(Path(__file__).with_name("noting.py"), copy / "noting_failures.py")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "noting_failures",
        "-m",
        marks,
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",
        "VIAMETER_EXAMPLES": "mutants",
        "VIAMETER_FAILED": str(noted),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(copy.parent / "hypothesis"),
    }
    try:
        status, text = PROCESSES.run([*command, "--tb=no", *options, *tests], environment, cwd=checkout, limit=limit)
    except subprocess.TimeoutExpired:
        return [Killer(tuple(tests), "tests that hung", marks)]
    if failed := noted.read_text().splitlines():
        return [Killer((test,), test) for test in failed]
    if status in (0, 5):
        return []
    last = text.strip().splitlines()[-1] if text.strip() else "no output"
    return [Killer(tuple(tests), f"tests that ended with {status}: {last}", marks)]


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted")
    except LookupError as error:
        sys.exit(str(error))
