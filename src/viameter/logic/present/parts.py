"""The parts of a document about a verdict, which text, HTML and LaTeX write in their own ways."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Prose."""

    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """Things to say one below the other."""

    title: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines that keep their spaces; those of `code` are to be copied, and are never broken."""

    title: str
    lines: tuple[str, ...]
    code: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of short texts; only the last column may be long. Without a header it explains terms."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    header: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """What is said at a node of a proof: lines of formulas, with a word in front of the first."""

    label: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A rule of a proof at a statement, or a heading (`rule` empty) over the nodes below it."""

    head: str
    rule: str = ""
    line: int = 0
    notes: tuple[Note, ...] = ()
    children: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """A proof."""

    title: str
    root: Node


Part = Paragraph | Points | Listing | Table | Tree


@dataclass(frozen=True, slots=True)
class Document:
    """All that is said of a verdict: its status, one sentence, and the parts below it."""

    status: str
    sentence: str
    parts: tuple[Part, ...]
