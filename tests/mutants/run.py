"""Run mutants: each is applied to a copy of the sources, and tests of its room that can reach it run until one fails.

The test that killed it the last time (killers.json) runs first, then the others in batches, nearest first. A test that
fails has to fail again alone; tests that hang, or end with their process, have to do so twice. In the end all that
killed runs on the sources as they are: what happens there, too, has killed nothing, and its mutants are judged again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType
from venv import EnvBuilder

from tests.mutants.mutant import FOLDER, Mutant, mutants_of, rooms
from tests.reach import ROOT, Reach
from tests.tiers import Processes, end_on_signals

PROCESSES = Processes()
PYTHON = Path("venv/bin/python")
EDITS = itertools.count(1)
"""Edited files are so many seconds older than the original: what was compiled of one is not taken for another."""
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
class Ran:
    """What was noted of a run of tests."""

    failed: list[str]
    ended: set[str]
    death: str
    """How they hung, or ended before all of them were run."""


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
    with tempfile.TemporaryDirectory(prefix="viameter-mutants-") as scratch:
        Path(scratch).chmod(0o755)  # some tests act as another user
        copies = [_copy(checkout, Path(scratch, f"copy-{number}")) for number in range(jobs)]
        judge = Judge(Reach(checkout), folder, limit, hints, copies)
        results: dict[Mutant, Result] = {}
        left = chosen
        with ThreadPoolExecutor(jobs) as pool:
            try:
                while left:
                    results |= zip(left, pool.map(judge.result, left), strict=True)
                    killers = {killer for mutant in left if (killer := results[mutant].killer)}
                    single = sorted(killer.fate for killer in killers if killer.is_one_test)
                    share = len(single) // jobs + 1
                    parts = [single[at : at + share] for at in range(0, len(single), share)]
                    good = set[str]().union(*pool.map(judge.passing, parts))
                    doubted = [killer for killer in killers if killer.fate not in good]
                    fails = dict(zip(doubted, pool.map(judge.fails_anyway, doubted), strict=True))
                    left = [mutant for mutant in left if (killer := results[mutant].killer) and fails.get(killer)]
            except BaseException:
                PROCESSES.stop()
                pool.shutdown(cancel_futures=True)
                raise
    return [results[mutant] for mutant in chosen]


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


class Judge:
    """Finds what kills mutants, and which of that happens without any edit, too."""

    def __init__(
        self, reach: Reach, folder: str, limit: float, hints: Mapping[str, str], copies: Iterable[Path]
    ) -> None:
        self._reach, self._folder, self._limit, self._hints = reach, folder, limit, hints
        self._copies: SimpleQueue[Path] = SimpleQueue()
        for copy in copies:
            self._copies.put(copy)
        self._broken: set[str] = set()

    def result(self, mutant: Mutant) -> Result:
        """What becomes of a mutant, as far as is known without a look at the sources as they are."""
        with self._free_copy() as copy:
            start = time.monotonic()
            result = Result(mutant, self._killer(mutant, copy), time.monotonic() - start)
        print(_line(result), flush=True)
        return result

    def passing(self, tests: Collection[str]) -> set[str]:
        """Those of some tests that pass without an edit; each runs in a process of its own."""
        files = sorted({test.partition("::")[0] for test in tests})
        with self._free_copy() as copy:
            ran = self._run(files, copy, None, "--continue-on-collection-errors", only=tests)
        return ran.ended.difference(ran.failed)

    def fails_anyway(self, killer: Killer) -> bool:
        """Whether what killed happens without an edit, too; if so, it is left out from now on."""
        with self._free_copy() as copy:
            found = self._failures(killer.tests, copy, None, marks=killer.marks)
        fails = any(failure == killer or not failure.is_one_test for failure in found)
        if fails:
            print(f"fails without any edit, and kills nothing: {', '.join(killer.tests)}", flush=True)
            self._broken.update(killer.tests)
        return fails

    @contextmanager
    def _free_copy(self) -> Iterator[Path]:
        copy = self._copies.get()
        try:
            yield copy
        finally:
            self._copies.put(copy)

    def _killer(self, mutant: Mutant, copy: Path) -> Killer | None:
        file, _ = mutant.applied(copy / "src")
        reached = self._reach.tests_of([file.relative_to(copy)])
        tests = [str(test) for test in reached if test.is_relative_to(self._folder)]
        if not tests:
            raise LookupError(f"no test in {self._folder} can reach {mutant.at}: run with --beyond")
        left_out, hint = set(self._broken), self._hints.get(key(mutant), "")
        if hint.partition("::")[0] in tests and hint not in left_out:
            killer = Killer((hint,), hint)  # or a test of that name is there no more, which is no failure
            if all(killer in self._failures([hint], copy, mutant) for _ in range(2)):
                return killer
        for marks in ("not long and not spark", "not long and spark"):  # Spark takes long to start
            for batch in _batches(tests):
                if found := self._killer_among(batch, copy, mutant, left_out, marks):
                    return found
        return None

    def _killer_among(
        self, tests: list[str], copy: Path, mutant: Mutant, left_out: set[str], marks: str
    ) -> Killer | None:
        """What kills a mutant among some tests; those that fail by chance or after others are left out."""
        have_died = False
        while found := self._failures([test for test in tests if test not in left_out], copy, mutant, left_out, marks):
            killer = found[0]
            if killer.is_one_test and killer not in self._failures(killer.tests, copy, mutant):
                left_out.add(killer.fate)
            elif killer.is_one_test or have_died:
                return killer
            else:
                have_died = True  # something else may have ended them: they run once more
        return None

    def _failures(
        self,
        tests: Sequence[str],
        copy: Path,
        mutant: Mutant | None,
        left_out: Iterable[str] = (),
        marks: str = "not long",
    ) -> list[Killer]:
        """Tests that fail (the first one, if there is an edit), and then all of these if they hang or end too early."""
        if not tests:
            return []
        ran = self._run(tests, copy, mutant, *(["-x"] if mutant else []), left_out=left_out, marks=marks)
        failures = [Killer((test,), test) for test in ran.failed]
        return [*failures, Killer(tuple(tests), ran.death, marks)] if ran.death else failures

    def _run(
        self,
        tests: Sequence[str],
        copy: Path,
        mutant: Mutant | None,
        *options: str,
        marks: str = "not long",
        left_out: Iterable[str] = (),
        only: Iterable[str] = (),
    ) -> Ran:
        """Run tests, with the edit of a mutant or without any."""
        noted = copy / "noted"
        noted.write_text("")
        shutil.copy(Path(__file__).with_name("noting.py"), copy / "src" / "noting_tests.py")
        command = [str(copy / PYTHON), "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "noting_tests"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(copy / "src"),
            "PYTHONDONTWRITEBYTECODE": "",
            "VIAMETER_EXAMPLES": "mutants",
            "VIAMETER_NOTED": str(noted),
            "VIAMETER_LEFT_OUT": "\n".join(left_out),
            "VIAMETER_ONLY": "\n".join(only),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(copy.parent / "hypothesis"),  # what failed is tried without the edit
        }
        with _edited(mutant, copy / "src") if mutant else nullcontext():
            try:
                status, text = PROCESSES.run(
                    [*command, "-m", marks, *options, *tests], environment, cwd=self._reach.root, limit=self._limit
                )
            except subprocess.TimeoutExpired:
                status, text = None, ""
            if PROCESSES.is_stopped:
                raise InterruptedError("no tests are run any more")
        notes = [line.partition(" ")[::2] for line in noted.read_text().splitlines()]
        failed = [test for what, test in notes if what == "failed"]
        ended = [test for what, test in notes if what == "ended"]
        if status is None:
            death = "tests that hung"
        elif status in ((1,) if failed else (0, 5)) and ("collected", str(len(ended))) in notes:
            death = ""
        else:
            last = text.strip().splitlines()[-1] if text.strip() else "no output"
            death = f"tests that ended with {status}: {last}"
        return Ran(failed, set(ended), death)


@contextmanager
def _edited(mutant: Mutant, src: Path) -> Iterator[None]:
    file, text = mutant.applied(src)
    original, times = file.read_bytes(), file.stat()
    try:
        file.write_text(text)
        os.utime(file, (when := times.st_mtime - next(EDITS), when))
        yield
    finally:
        file.write_bytes(original)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that what was compiled of it is used again


def _batches(tests: list[str]) -> Iterator[list[str]]:
    """One file, then two, four, ...: pytest reads all files of a call before it runs the first test."""
    size = 1
    while tests:
        yield tests[:size]
        tests, size = tests[size:], 2 * size


def _copy(checkout: Path, folder: Path) -> Path:
    """A copy of the sources, and an interpreter that imports it.

    PYTHONPATH alone is not enough: `python -I`, with which the service starts processes, ignores it, and imports what
    the .pth file of the checkout's environment names. The environment of the copy names the copy, and then the folder
    of all other packages, whose .pth files are not read from there. So what tests start by `sys.executable`, or as the
    command `viameter` beside it, imports the copy. What starts .venv/bin/python by its path does so unless it ignores
    PYTHONPATH; no test does that. What reads files below the checkout's src/ sees no edit.
    """
    shutil.copytree(checkout / "src", folder / "src")
    EnvBuilder(symlinks=True).create(folder / "venv")
    (packages,) = folder.glob("venv/lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "copy.pth").write_text("\n".join([str(folder / "src"), *others]))
    command, mine = Path(sys.executable).with_name("viameter"), folder / PYTHON.with_name("viameter")
    mine.write_text(command.read_text().replace(sys.executable, str(folder / PYTHON)))
    mine.chmod(0o755)
    return folder


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted")
    except LookupError as error:
        sys.exit(str(error))
