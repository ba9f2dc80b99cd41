"""Moves: a draw that is made later, past statements that have nothing to do with it, leaves the program the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from viameter_check.document import require_fields
from viameter_check.programs.frame import inside, read_line, read_list
from viameter_check.programs.syntax import (
    Block,
    If,
    Program,
    Sample,
    Statement,
    While,
    blocks_in,
    statements_in,
    terms_in,
    written_by,
)
from viameter_check.programs.texts import read_program
from viameter_check.programs.walking import variables
from viameter_check.report import Refused

MOST_MOVES = 100


def moved(text: str, record: Any) -> Program:
    """The program after moves; the line of each is one of the text that the moves before it have made."""
    entries = read_list(record)
    if len(entries) > MOST_MOVES:
        raise Refused(f"has {len(entries)} moves: this checker follows up to {MOST_MOVES}")
    for n, entry in enumerate(entries):
        text = inside(f"[{n}]", _after_one, text, entry)
    return read_program(text)


def _after_one(text: str, entry: Any) -> str:
    require_fields(entry, ("line", "past"))
    line, past = (inside(name, read_line, entry[name]) for name in ("line", "past"))
    block, place = _found(read_program(text).body, line)
    draw = block[place]
    if not isinstance(draw, Sample):
        raise Refused(f"line {line} draws nothing: only draws are moved", "line")
    passed = block[place + 1 : place + 1 + past]
    if len(passed) < past:
        raise Refused(f"only {len(passed)} statements follow line {line} in its block", "past")
    for statement in passed:
        _require_independent(draw, statement)
    lines = text.split("\n")
    last = max(statement.last if isinstance(statement, If | While) else statement.line for statement in passed)
    return "\n".join([*lines[: line - 1], *lines[line:last], lines[line - 1], *lines[last:]])


def _found(body: Block, line: int) -> tuple[Block, int]:
    for block in _blocks(body):
        for place, statement in enumerate(block):
            if statement.line == line:
                return block, place
    raise Refused(f"line {line} is not that of a statement", "line")


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for statement in block:
        for inner in blocks_in(statement):
            yield from _blocks(inner)


def _require_independent(draw: Sample, statement: Statement) -> None:
    """Neither touches the variable that is drawn, nor changes what its law depends on."""
    needed = {term.name for term in variables(*terms_in(draw))}
    for part in statements_in((statement,)):
        if draw.target == written_by(part) or draw.target in {term.name for term in variables(*terms_in(part))}:
            raise Refused(f"line {part.line} uses {draw.target!r}, which line {draw.line} draws", "past")
        if written_by(part) in needed:
            raise Refused(f"line {part.line} changes {written_by(part)!r}, on which the draw depends", "past")
