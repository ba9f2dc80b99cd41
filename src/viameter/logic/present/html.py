"""Verdicts as HTML: a fragment that needs nothing from elsewhere, with the proof as a tree that folds."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from viameter.logic.present.document import document_of
from viameter.logic.present.parts import Document, Listing, Node, Note, Paragraph, Part, Points, Table, Tree
from viameter.logic.verdict import Verdict

CLASS = "viameter-verdict"
COLORS = {"PROVED": "#1a7f37", "REFUTED": "#cf222e", "UNKNOWN": "#9a6700"}
# Colors of text and ground are those of the page, so that it can be read on dark pages too.
STYLE = (
    ".C{line-height:1.4;max-width:70em}"
    ".C code,.C pre{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:90%;background:none;color:inherit}"
    ".C pre{overflow-x:auto;margin:.3em 0;padding:.5em .8em;border-left:3px solid rgba(128,128,128,.4)}"
    ".C table{border-collapse:collapse;margin:.3em 0}"
    ".C td,.C th{padding:.1em .8em .1em 0;text-align:left;vertical-align:top;background:none}"
    ".C td:first-child{white-space:nowrap}"
    ".C ul{list-style:none;margin:0 0 0 .5em;padding:0 0 0 1em;border-left:1px solid rgba(128,128,128,.4)}"
    ".C li{margin:.15em 0}"
    ".C .at{opacity:.6;margin-right:.6em}"
    ".C .rule{opacity:.6;font-style:italic;margin-left:.6em}"
    ".C .note{margin:.1em 0 .1em 2.2em;white-space:pre-wrap}"
    ".C .title{font-weight:600;margin:.8em 0 .2em}"
    ".C summary{cursor:pointer}"
).replace(".C", f".{CLASS}")


def as_html(verdict: Verdict) -> str:
    """A self-contained fragment of HTML."""
    return document_as_html(document_of(verdict))


def document_as_html(document: Document) -> str:
    """A document as HTML, everything escaped."""
    color = COLORS.get(document.status, "inherit")
    head = f'<p><strong style="color:{color}">{escape(document.status)}</strong>: {escape(document.sentence)}</p>'
    body = "\n".join("".join(_part(part)) for part in document.parts)
    return f'<div class="{CLASS}">\n<style>{STYLE}</style>\n{head}\n{body}\n</div>'


def _part(part: Part) -> Iterator[str]:
    match part:
        case Paragraph(text):
            yield f"<p>{escape(text)}</p>"
        case Points(title, items):
            yield _title(title)
            yield "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
        case Listing(title, lines):
            yield from _folded(title, "<pre>" + escape("\n".join(lines)) + "</pre>")
        case Table():
            yield _title(part.title)
            yield _table(part)
        case Tree(title, root):
            yield from _folded(title, f"<ul>{_node(root)}</ul>")


def _title(title: str) -> str:
    return f'<div class="title">{escape(title)}</div>' if title else ""


def _folded(title: str, inner: str) -> Iterator[str]:
    yield f'<details open><summary class="title">{escape(title)}</summary>{inner}</details>' if title else inner


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    rows = [f"<tr>{head}</tr>"] if head else []
    for row in table.rows:
        cells = [f"<td><code>{escape(cell)}</code></td>" for cell in row[:-1]]
        rows.append(f"<tr>{''.join(cells)}<td>{escape(row[-1])}</td></tr>")
    return f"<table>{''.join(rows)}</table>"


def _node(node: Node) -> str:
    at = f'<span class="at">{node.line}</span>' if node.line else ""
    rule = f'<span class="rule">{escape(node.rule)}</span>' if node.rule else ""
    head = f"{at}<code>{escape(node.head)}</code>{rule}"
    notes = "".join(_note(note) for note in node.notes)
    if not node.children:
        return f"<li>{head}{notes}</li>"
    below = "".join(map(_node, node.children))
    return f"<li><details open><summary>{head}</summary>{notes}<ul>{below}</ul></details></li>"


def _note(note: Note) -> str:
    label = f"<em>{escape(note.label)}</em>\n" if note.label else ""
    lines = "\n".join(note.lines)
    return f'<div class="note">{label}<code>{escape(lines)}</code></div>'
