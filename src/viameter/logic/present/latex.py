"""Verdicts as LaTeX: a fragment for any document, without packages; the proof is indented by depth."""

from __future__ import annotations

from collections.abc import Iterator

from viameter.logic.present.document import document_of
from viameter.logic.present.parts import Document, Listing, Node, Note, Paragraph, Part, Points, Table, Tree
from viameter.logic.verdict import Verdict

# Indentation, continuation, text. Not itemize, which LaTeX lets nest four times only.
_MACRO = r"\def\vmrow#1#2#3{\par\noindent\hangindent=#2em\hangafter=1\hspace*{#1em}#3}"
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "\"": r"\char34{}", "'": r"\char39{}", "`": r"\char96{}", "-": r"{-}",
    "│": r"\textbar{}", "≠": r"\ensuremath{\neq}", "…": r"\ldots{}",
}  # fmt: skip
_PLAIN = "<>-"
"""What letters of a typewriter show as they are, one by one."""
STEP = 1.5
"""How far a node stands to the right of the one above it, in em."""


def as_latex(verdict: Verdict) -> str:
    """A fragment of LaTeX that needs no packages."""
    return document_as_latex(document_of(verdict))


def document_as_latex(document: Document) -> str:
    """A document as LaTeX, everything escaped."""
    head = rf"\noindent\textbf{{{escaped(document.status)}}}: {escaped(document.sentence)}"
    blocks = ["\n".join(_part(part)) for part in document.parts]
    return "\n".join(["{% a verdict of viameter", r"\parindent=0pt\raggedright", _MACRO, head, *blocks, r"\par}"])


def escaped(text: str) -> str:
    r"""A text with every special character written so that it prints as itself.

    >>> print(escaped("50% of cost_1"))
    50\% of cost\_1
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def typewriter(text: str) -> str:
    """A text in typewriter letters; its spaces are kept, and lines may break at single ones."""
    body = text.lstrip(" ")
    shown = "".join(letter if letter in _PLAIN else escaped(letter) for letter in body)
    for letter in _PLAIN:  # two of them would become one sign
        shown = shown.replace(letter * 2, f"{letter}{{}}{letter}{{}}")
    kept = r"\ " * (len(text) - len(body)) + shown.replace("  ", r"\ \ ")
    return rf"\texttt{{{kept}}}" if text else ""


def _part(part: Part) -> Iterator[str]:
    yield r"\par\medskip"
    match part:
        case Paragraph(text):
            yield escaped(text)
        case Points(title, items):
            yield from _title(title)
            for item in items:
                yield _row(2 * STEP, STEP, rf"\textbullet{{}} {escaped(item)}")
        case Listing(code=True):  # to be copied, which print cannot be
            yield escaped("verdict.witness.paste() is Python text that computes this again.")
        case Listing(title, lines):
            yield from _title(title)
            yield r"{\footnotesize"
            for line in lines:
                yield _row(2 * STEP, STEP, typewriter(line))
            yield r"\par}"
        case Table(title, rows, header):
            yield from _title(title)
            yield from _table(rows, header)
        case Tree(title, root):
            yield from _title(title)
            yield r"{\small"
            yield from _nodes(root, 0)
            yield r"\par}"


def _title(title: str) -> Iterator[str]:
    if title:
        yield rf"\textbf{{{escaped(title)}}}"


def _table(rows: tuple[tuple[str, ...], ...], header: tuple[str, ...]) -> Iterator[str]:
    """Numbers stand in columns; explanations are rows whose second line hangs."""
    if header:
        yield rf"\par\begin{{tabular}}{{{'l' * len(header)}}}"
        for row in (header, *rows):
            yield " & ".join(escaped(cell) for cell in row) + r" \\"
        yield r"\end{tabular}"
        return
    for row in rows:
        front = " ".join(typewriter(cell) for cell in row[:-1] if cell)
        yield _row(2 * STEP, STEP, f"{front} {escaped(row[-1])}".strip())


def _nodes(node: Node, depth: int) -> Iterator[str]:
    at = f"{node.line} " if node.line else ""
    rule = rf" \textit{{[{escaped(node.rule)}]}}" if node.rule else ""
    yield _row(STEP * (depth + 2), STEP * depth, f"{at}{typewriter(node.head)}{rule}")
    for note in node.notes:
        yield from _note(note, depth + 1)
    for child in node.children:
        yield from _nodes(child, depth + 1)


def _note(note: Note, depth: int) -> Iterator[str]:
    if note.label:
        yield _row(STEP * (depth + 2), STEP * (depth + 1), rf"\textit{{{escaped(note.label)}}}:")
    inner = depth + 2 if note.label else depth + 1
    for line in note.lines:
        yield _row(STEP * (inner + 2), STEP * inner, typewriter(line))


def _row(hang: float, at: float, text: str) -> str:
    return rf"\vmrow{{{at:g}}}{{{hang:g}}}{{{text}}}"
