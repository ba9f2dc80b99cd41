"""Report: a page of HTML with questions, their prices, answers, pictures and the theorems behind them; for people."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from viameter.tables.answer import Answer
from viameter.tables.preview import Preview, binding
from viameter.tables.showing.markup import Markup, element, joined
from viameter.tables.showing.words import budget_words
from viameter.tables.table import Table

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886; padding-bottom: .2rem; }
table { border-collapse: collapse; } th, td { padding: .15rem .6rem; }
pre { overflow-x: auto; background: #8881; padding: .8rem; border-radius: .4rem; font-size: .8rem; line-height: 1.35; }
figure { overflow-x: auto; }
.picture { margin: 1rem 0; background: #fff; color: #000; border-radius: .4rem; padding: .5rem; }
.picture svg { max-width: 100%; height: auto; }
:focus-visible { outline: 2px solid #3b82c4; outline-offset: 2px; }
details { margin: .8rem 0; } summary { cursor: pointer; } .price { font-weight: 600; }
"""


@dataclass(frozen=True, slots=True)
class Section:
    """One question: what was asked and why, what it would cost, what was answered."""

    title: str
    text: str
    preview: Preview | None
    answer: Answer | None


@dataclass(slots=True)
class Report:
    """A page about a table under a budget, question by question."""

    table: Table
    title: str
    text: str = ""
    sections: list[Section] = field(default_factory=list)
    check: Callable[[str], bool] | None = None
    """Derives a certificate's numbers again, if one is at hand: what it says is shown."""

    def add(self, title: str, *, text: str = "", preview: Preview | None = None, answer: Answer | None = None) -> None:
        """One more question."""
        self.sections.append(Section(title, text, preview, answer))

    def to_html(self) -> str:
        """The page: it needs nothing from elsewhere."""
        parts = [element("h1", self.title), element("p", self.text), Markup(self.table._repr_html_())]
        for section in self.sections:
            parts += self._section(section)
        parts += [element("h2", "What was spent"), _history(self.table)]
        head = joined(
            Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", self.title),
            Markup(f"<style>{STYLE}</style>"),
        )
        return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>'

    def write(self, path: str | Path) -> Path:
        """Write the page to a file."""
        target = Path(path)
        target.write_text(self.to_html(), encoding="utf-8")
        return target

    def _section(self, section: Section) -> list[Markup]:
        parts = [element("h2", section.title), element("p", section.text)]
        if section.preview is not None:
            parts += [element("p", "Asked beforehand, for nothing:"), Markup(section.preview._repr_html_())]
        answer = section.answer
        if answer is None:
            return parts
        parts += [element("p", "Answered:"), Markup(answer._repr_html_()), _figure(answer)]
        parts.append(
            element("p", element("span", f"Price: {answer.loss!r}. ", **{"class": "price"}), _protects(answer))
        )
        parts.append(_folded("Why this price is right", str(answer.explain())))
        if self.check is not None:
            holds = self.check(answer.certificate().text)
            said = "it holds" if holds else "IT DOES NOT HOLD"
            parts.append(element("p", f"Its certificate, derived again by a checker that shares no code: {said}."))
        return parts


def _protects(answer: Answer) -> str:
    return f"It is stated for two tables that are neighbors if {answer.unit.granularity.protects}."


def _figure(answer: Answer) -> Markup:
    figure: Any = answer.plot()
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    drawn = buffer.getvalue()
    # Without the prologue, which a page must not have in its middle.
    inside = drawn[drawn.index("<svg") + len("<svg") :]
    named = '<figure class="picture"><svg role="img" aria-label="The same intervals as a picture"'
    return Markup(f"{named}{inside}</figure>")


def _folded(title: str, text: str) -> Markup:
    return element("details", element("summary", title), element("pre", text))


def _history(table: Table) -> Markup:
    rows = [
        element("tr", *(element("td", text) for text in (charge.question, repr(charge.loss), charge.outcome or "")))
        for charge in table.history
    ]  # fmt: skip
    budgets = table.session.budgets
    totals = [element("p", f"{words}.") for words in budget_words(budgets, binding(budgets))]
    return joined(element("table", *rows), *totals)
