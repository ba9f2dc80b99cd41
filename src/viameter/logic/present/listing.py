"""A program's core text with line numbers, beside the lines of the file that it was written in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from viameter.logic.lang.core import Program
from viameter.logic.lang.text import show_program
from viameter.logic.present.parts import Listing

WIDTH = 116


def file_lines(file: str) -> tuple[str, ...]:
    """The lines of a file; none if it cannot be read."""
    try:
        return tuple(Path(file).read_text(encoding="utf-8").splitlines()) if file else ()
    except (OSError, ValueError):
        return ()


def short_name(file: str) -> str:
    """The last part of a file's path."""
    return Path(file).name or file


def listing(program: Program, file: str, source: Mapping[int, int]) -> Listing:
    """The text of a program; each line has the line of the file that it comes from, and what that says, at its side."""
    lines = show_program(program).splitlines()
    width = len(str(len(lines)))
    numbered = [f"{at:>{width}}  {line}" for at, line in enumerate(lines, 1)]
    if not file or not source:
        return Listing("The program, in core text:", tuple(numbered))
    written = file_lines(file)
    column = max(map(len, numbered)) + 3
    digits = len(str(max(source.values(), default=0)))
    found: list[str] = []
    before = 0
    for at, line in enumerate(numbered, 1):
        there = source.get(at, 0)
        said = ""
        if there:
            said = written[there - 1].strip() if 0 < there <= len(written) and there != before else ""
            said = f"{there:>{digits}}  {_cut(said, WIDTH - column - digits - 4)}".rstrip()
            before = there
        found.append(f"{line:{column}}│ {said}".rstrip())
    return Listing(f"The program, in core text, beside the lines of {short_name(file)}:", tuple(found))


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return text[: room - 1].rstrip() + "…" if room > 8 else ""
