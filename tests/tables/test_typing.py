"""What a type checker finds of tables, questions and answers: what `typed.py` says, and nowhere Any."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

FILE = Path(__file__).with_name("typed.py")
ROOT = FILE.parents[2]
REVEALED = re.compile(r'typed\.py:(\d+): note: Revealed type is "(.*)"$')
PACKAGES = {"pandas": "DataFrame", "pyarrow": "Table"}
"""Libraries whose types come apart from them, as stubs, with a class that answers are turned into."""
STUB = """
from typing import Any
class {name}:
    def __init__(self, *given: Any, **named: Any) -> None: ...
def __getattr__(name: str) -> Any: ...
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says of the file, as this project calls it, where there are stubs of the libraries of tables."""
    folder = tmp_path_factory.mktemp("typed")
    for package, name in PACKAGES.items():
        (folder / "stubs" / package).mkdir(parents=True)
        (folder / "stubs" / package / "__init__.pyi").write_text(STUB.format(name=name))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", str(folder / "cache"), str(FILE)],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(folder / "stubs")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def expected() -> dict[int, str]:
    """What is to be revealed on each line."""
    lines = enumerate(FILE.read_text().splitlines(), start=1)
    return {number: line.rpartition("  # ")[2] for number, line in lines if "reveal_type(" in line}


def test_what_is_found_is_what_stands_behind_each_line(said: list[str]) -> None:
    found = {int(match[1]): match[2] for line in said if (match := REVEALED.search(line))}
    # Of the library, the names are enough: its modules may be moved.
    assert {number: re.sub(r"\bviameter(\.\w+)*\.(\w+)", r"\2", text) for number, text in found.items()} == expected()
    assert len(found) > 40


def test_nothing_is_found_to_be_wrong_but_what_is_wrong(said: list[str]) -> None:
    assert [line for line in said if ": error:" in line] == []
    # An ignored line without an error would be one.
    assert FILE.read_text().count("# type: ignore[") == 5


@pytest.mark.parametrize(
    "call",
    ["vm.open(", ".group_by(", ".agg(", ".release(", ".to_pandas(", ".top(", ".preview(", ".find_bounds(", ".sample("],
)
def test_no_call_is_of_any_type_at_all(said: list[str], call: str) -> None:
    lines = FILE.read_text().splitlines()
    found = {int(match[1]): match[2] for line in said if (match := REVEALED.search(line))}
    revealed = [text for number, text in found.items() if call in lines[number - 1]]
    assert revealed and not any(text == "Any" or text.endswith("[Any]") for text in revealed)
