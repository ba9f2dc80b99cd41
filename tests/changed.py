"""Run the tests that a change can break, nearest first, until time is up: `python -m tests.changed [BASE]`.

What changed is what differs from the last commit, or what the last commit changed if nothing does. Which tests import
it, or read it by its name, is known from their text (tests/reach.py). The rooms that changed come first, then those
next to them. What is called without an import (theorems and engines that are registered, a command in another process)
is reached too, since all tests of the rooms above come in the end, if there is time; what is left out is counted, and
`make test` runs it. Files that no test is known to read are named in the end, and so are long tests, which do not run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.reach import ROOT, Reach
from tests.tiers import Shard, all_shards, end_on_signals, run

READING_THE_TREE = (
    "tests/mutants/test_mutants.py",
    "tests/project/test_pages.py",
    "tests/test_tiers.py",
    "tests/theorem/test_every_theorem_is_tested.py",
)
"""Tests about the tree itself, which any change may break."""
BELOW_ALL = ("conftest.py", "pyproject.toml", "requirements")
"""What all tests run with: it can break more than those that name it."""


UNKNOWN = float("inf")
"""How far tests are of which it is not known that they reach a change."""


def main() -> None:
    """Run them; the status is 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.changed", description=__doc__)
    parser.add_argument("base", nargs="?", help="a commit to compare with, instead of the last one")
    parser.add_argument("--seconds", type=float, default=40, help="no test is started after that")
    parser.add_argument("--list", action="store_true", help="list the tests, nearest first")
    options = parser.parse_args()
    end_on_signals()
    try:
        changed = changed_files(options.base)
        reach = Reach()
        shards = shards_of(changed, reach)
    except subprocess.CalledProcessError as error:
        parser.error(error.stderr.strip())
    except SyntaxError as error:
        sys.exit(f"{error.filename}:{error.lineno}: {error.msg}")
    until = time.time() + options.seconds
    if options.list:
        print("\n".join(path for shard in shards for path in shard.paths))
        return
    if not shards:
        print("nothing changed that has tests")
        return
    is_good = run(shards, jobs=(os.cpu_count() or 1) + 1, until=until)
    if any(path.suffix == ".md" for path in changed):
        print("only `make test` builds the docs, and looks whether links lead anywhere")
    if unjudged := unjudged_of(changed, reach):
        print(f"only `make test` says what these break: {', '.join(map(str, unjudged))}")
    if long := long_of(changed, reach):
        print(f'long tests of {", ".join(long)} are not run: make test-long ROOM="{" ".join(long)}"')
    sys.exit(0 if is_good else 1)


def changed_files(base: str | None = None) -> list[Path]:
    """Files that differ from a commit, and new ones; if there are none, those of the last commit."""
    found = {*_differing(base or "HEAD"), *_git("ls-files", "-z", "--others", "--exclude-standard")}
    if not found and base is None:
        is_first = len(_git("rev-list", "--max-count=2", "HEAD")[0].split()) == 1
        found = set(_differing(_git("hash-object", "-t", "tree", os.devnull)[0].strip() if is_first else "HEAD~1"))
    return [Path(name) for name in sorted(found)]


def shards_of(changed: Sequence[Path], reach: Reach) -> list[Shard]:
    """The shards with tests that can reach files, cut down to these tests.

    First those of the rooms that changed, then those about the tree, then the rooms next to them; last what is not
    known to reach anything.
    """
    tests = _tests_of(changed, reach)
    unknown = {name for name, distance in tests.items() if distance == UNKNOWN}.difference(READING_THE_TREE)
    if changed:
        tests |= dict.fromkeys(READING_THE_TREE, 0)
    for path in changed:
        if (ROOT / path).exists() and (path.suffix == ".md" or (path.suffix == ".py" and path.parts[0] == "src")):
            tests[str(path)] = 0  # its examples
    rooms = {room for path in changed if (room := _room_of(path))}
    layers, changed_pages = _layers(), {str(path) for path in changed if path.suffix == ".md"}

    def order(shard: Shard, path: str) -> tuple[int, int]:
        room = shard.name.partition("/")[0]
        if path in unknown - changed_pages:
            return 3, 0
        if room in rooms or path in changed_pages:
            return 0, 0
        if path in READING_THE_TREE:
            return 1, 0
        return 2, min(abs(layers.get(room, len(layers)) - other) for other in _layers_of(changed))

    narrowed: list[tuple[tuple[int, int], float, Shard]] = []
    for shard in all_shards():
        if shard.only == "spark" and "tables" not in rooms:
            print(f"{shard.name}: left out, since it takes minutes; make test ROOM={shard.name}")
            continue
        by_order: dict[tuple[int, int], list[str]] = {}
        for test in tests:
            if _is_in(test, shard.paths):
                by_order.setdefault(order(shard, test), []).append(test)
        for place, paths in by_order.items():
            distance = sum(tests[path] for path in paths) / len(paths)
            narrowed.append((place, distance, replace(shard, paths=tuple(paths))))
    return [shard for *_, shard in sorted(narrowed, key=lambda each: each[:2])]


def unjudged_of(changed: Sequence[Path], reach: Reach) -> list[Path]:
    """Files of which it is not known which tests they can break, beside those about the tree itself."""

    def is_judged(path: Path) -> bool:
        about_the_tree = {*READING_THE_TREE} - {str(path)}
        return bool(_tests_of([path], reach).keys() - about_the_tree) and not _is_in(str(path), BELOW_ALL)

    return [path for path in changed if not is_judged(path)]


def long_of(changed: Sequence[Path], reach: Reach) -> list[str]:
    """The rooms with long tests of files that changed; of a test file, itself alone, if it has long tests."""
    marking = {_room_of(module.path.relative_to(reach.root)) for module in reach.modules.values() if module.has_long}
    tests = {path for path in changed if path.parts[0] == "tests" and path.name.startswith("test_")}
    rooms = {_room_of(path) for path in changed if path not in tests} & (marking - {""})
    return sorted(rooms | {str(path) for path in tests if _room_of(path) not in rooms and reach.has_long(path)})


def _tests_of(changed: Sequence[Path], reach: Reach) -> dict[str, float]:
    """The tests that files can break, and how far these are from them."""
    tests: dict[str, float] = {str(path): distance for path, distance in reach.tests_of(changed).items()}
    if any(path.parts[0] == "src" for path in changed):
        layers, lowest = _layers(), min(_layers_of(changed))
        above = [test for test in _all_tests() if layers.get(_room_of(test), len(layers)) >= lowest]
        pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]  # their examples
        others = [*above, *(page.relative_to(ROOT) for page in pages)]
        tests |= {name: tests.get(name, UNKNOWN) for name in map(str, others)}
    for path in changed:
        if path.suffix != ".py" and _room_of(path):  # a template, a style sheet, a table of data
            tests |= _tests_beside(path)
    return tests


def _layers_of(changed: Iterable[Path]) -> list[int]:
    layers = _layers()
    return [layers[room] for room in {_room_of(path) for path in changed} if room in layers] or [0]


@cache
def _layers() -> dict[str, int]:
    """How many layers of rooms are below each room, as import-linter holds them to."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    return {room: number for number, layer in enumerate(reversed(layers)) for room in layer.split(" | ")}


def _tests_beside(path: Path) -> dict[str, int]:
    """The tests of a file's room: those of folders that mirror the file's come first."""
    room, folders = _room_of(path), path.parent.parts
    found = {}
    for test in (ROOT / "tests" / room).rglob("test_*.py"):
        parts = test.relative_to(ROOT / "tests").parent.parts
        found[str(test.relative_to(ROOT))] = sum(part not in folders for part in parts) + (len(parts) == 1)
    return found


@cache
def _all_tests() -> list[Path]:
    return [path.relative_to(ROOT) for path in sorted((ROOT / "tests").rglob("test_*.py"))]


def _is_in(path: str, places: Iterable[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _room_of(path: Path) -> str:
    """The room of a source or a test, "root" for those that are in none, "" for anything else."""
    parts = path.parts[2:] if path.parts[:2] == ("src", "viameter") else path.parts[1:]
    if path.parts[0] not in ("src", "tests"):
        return ""
    return parts[0] if len(parts) > 1 else "root"


def _differing(base: str) -> list[str]:
    """Both names of what was renamed: tests that use the old one are broken."""
    return _git("diff", "-z", "--name-only", "--no-renames", base)


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name]


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted")
