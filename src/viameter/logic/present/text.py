"""Verdicts as text: lines of at most 120 columns, and the proof drawn as a tree."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from viameter.logic.present.document import document_of
from viameter.logic.present.parts import Document, Listing, Node, Paragraph, Part, Points, Table, Tree
from viameter.logic.verdict import Verdict

WIDEST = 120
PROSE = 100
RULES_AT = 84
"""The column that names of rules are put in, at most."""


def explained(verdict: Verdict) -> str:
    """The proof as a tree of rules, the witness, or the obligation that is missing, as text."""
    return as_text(document_of(verdict))


def as_text(document: Document) -> str:
    """A document as text, its parts divided by empty lines."""
    blocks = ["\n".join(wrapped(f"{document.status}: {document.sentence}", PROSE))]
    blocks += ["\n".join(line.rstrip() for line in _part(part)) for part in document.parts]
    return "\n\n".join(block for block in blocks if block)


def wrapped(text: str, width: int, hanging: str = "") -> list[str]:
    """A text in lines of at most that width, with its leading spaces kept; words are never broken."""
    body = text.lstrip(" ")
    pad = " " * (len(text) - len(body))
    lines = textwrap.wrap(
        body, max(width, 24), initial_indent=pad, subsequent_indent=pad + hanging,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return lines or [""]


def _part(part: Part) -> Iterator[str]:
    match part:
        case Paragraph(text):
            yield from wrapped(text, PROSE)
        case Points(title, items):
            yield from wrapped(title, PROSE)
            for item in items:
                yield from wrapped(f"  * {item}", PROSE, "  ")
        case Listing(title, lines, code):
            if title:
                yield from wrapped(title, PROSE)
            for line in lines:
                yield from [line] if code else wrapped_listing(line)
        case Table():
            yield from _table(part)
        case Tree(title, root):
            if title:
                yield from wrapped(title, PROSE)
            yield from _tree(root)


def wrapped_listing(line: str) -> list[str]:
    """A line of a listing, indented; broken only where it is too long."""
    if len(line) + 2 <= WIDEST:
        return [f"  {line}"]
    return wrapped(f"  {line}", WIDEST, "    ")


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield from wrapped(table.title, PROSE)
    rows = [*((table.header,) if table.header else ()), *table.rows]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    for row in rows:
        if table.header:  # numbers, which are read from the right
            cells = [f"{row[0]:{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:-1], widths[1:], strict=True))]
        else:
            cells = [f"{cell:{width}}" for cell, width in zip(row[:-1], widths, strict=True)]
        front = "  " + "  ".join(cells) + "  "
        first, *rest = wrapped(row[-1], WIDEST - len(front))
        yield front + first
        yield from (" " * len(front) + line for line in rest)


def _tree(root: Node) -> Iterator[str]:
    width = len(str(max(_lines(root), default=0)))
    rows = list(_rows(root, "", "", width))
    column = min(RULES_AT, max((len(left) for left, rule in rows if rule and len(left) <= RULES_AT), default=0)) + 2
    for left, rule in rows:
        yield f"{left:{column}}[{rule}]" if rule and len(left) < column else f"{left}  [{rule}]" if rule else left


def _lines(node: Node) -> Iterator[int]:
    yield node.line
    for child in node.children:
        yield from _lines(child)


def _rows(node: Node, first: str, rest: str, width: int) -> Iterator[tuple[str, str]]:
    """Lines of the drawing, each with the rule that is named at its end."""
    number = f"{node.line:>{width}}  " if node.line else ""
    bar = "│" if node.children else " "
    tag = len(node.rule) + 4 if node.rule else 0
    head, *more = wrapped(node.head, WIDEST - len(first) - len(number) - tag, "  ")
    under = f"{rest}{bar}".ljust(len(rest) + len(number))
    yield first + number + head, node.rule
    yield from ((under + line, "") for line in more)
    labels = max((len(note.label) + 2 for note in node.notes if note.label), default=0)
    for note in node.notes:
        label = note.label
        for line in note.lines:
            for piece in wrapped(line, WIDEST - len(under) - labels - 2, "   "):
                yield f"{under}  {label:{labels}}{piece}", ""
                label = ""
    for place, child in enumerate(node.children, start=1):
        last = place == len(node.children)
        yield from _rows(child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "), width)
