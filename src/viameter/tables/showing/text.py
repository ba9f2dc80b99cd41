"""Tables, previews and answers as text for terminals."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from viameter.tables.showing.numbers import aligned, confidence, shown
from viameter.tables.showing.words import (
    MOST_ROWS,
    ShownTable,
    budget_words,
    cost_words,
    fit_words,
    interval_words,
    kept_words,
    printable,
    short,
    spent_share,
    spent_words,
    unit_words,
    width_words,
)

if TYPE_CHECKING:
    from viameter.tables.answer import Answer
    from viameter.tables.estimates import Estimate
    from viameter.tables.preview import Preview

BAR = 10
"""Characters of a bar."""


def answer_text(answer: Answer) -> str:
    """The values and intervals of all groups as an aligned table; what it cost, and what intervals cover."""
    columns = [
        _column(name, [group[place] for group in answer.groups[:MOST_ROWS]]) for place, name in enumerate(answer.keys)
    ]
    columns += [[short(name), *_intervals(estimate)] for name, estimate in answer.estimates.items()]
    return "\n".join([*_grid(columns), *_more(len(answer)), "", *footer(answer)])


def footer(answer: Answer) -> list[str]:
    """What an answer cost, what its intervals cover, and what was done to it."""
    notes = (f"note: {printable(note)}" for note in answer.notes)
    return [f"cost {cost_words(answer)}", *interval_words(answer), *notes]


def preview_text(preview: Preview) -> str:
    """What each aggregate would cost and how wide its interval would be; what all of it leaves of the budget."""
    rows = preview.rows
    columns = [
        ["aggregate", *(short(row.name) for row in rows)],
        ["cost", *(repr(row.loss) for row in rows)],
        ["noise", *(printable(row.noise) for row in rows)],
        [f"width, {confidence(preview.alpha)}", *map(width_words, rows)],
    ]
    facts = [
        ("total", f"{preview.loss!r} for {unit_words(preview.unit)}"),
        *(
            ("" if place else "budgets" if len(preview.budgets) > 1 else "budget", words)
            for place, words in enumerate(budget_words(preview.budgets, preview.binding))
        ),
        ("fits", fit_words(preview)),
        ("counts", kept_words(preview)),
        *(("note", printable(note)) for note in preview.notes),
    ]
    return "\n".join([*_grid(columns), "", *_facts(facts)])


def table_text(made: ShownTable) -> str:
    """The columns of a private table, whose presence is hidden, what was done so far, and the budget; never a row."""
    shown_columns = list(made.schema.items())[:MOST_ROWS]
    columns = [
        ["column", *(short(name) for name, _ in shown_columns)],
        ["type", *(kind.kind.value for _, kind in shown_columns)],
    ]
    facts = [
        *(("" if place else "unit", words) for place, words in enumerate(made.unit)),
        ("counts", made.counts),
        *(("" if place else "steps", printable(step)) for place, step in enumerate(made.steps)),
        ("budget", f"{_bar(spent_share(made.spent, made.budget))}{spent_words(made.spent, made.budget)}"),
        *(("", words) for words in made.limits),
    ]
    if made.schema.unusable:
        facts.insert(0, ("unusable", ", ".join(map(short, made.schema.unusable))))
    return "\n".join([made.where, "", *_grid(columns), *_more(len(made.schema)), "", *_facts(facts)])


def _bar(share: Fraction | None) -> str:
    """A bar that is full only if everything was spent, and empty only if nothing was."""
    if share is None:
        return ""
    full = -(-share.numerator * (BAR - 1) // share.denominator) if share < 1 else BAR
    return f"[{'#' * full}{'-' * (BAR - full)}] "


def _column(name: str, values: Sequence[object]) -> list[str]:
    texts = [short(value) for value in values]
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        texts = aligned(texts)
    return [short(name), *texts]


def _intervals(estimate: Estimate) -> list[str]:
    arrays = (estimate.value, estimate.lower, estimate.upper)
    rows = [shown(*three) for three in zip(*(array[:MOST_ROWS].tolist() for array in arrays), strict=True)]
    if not estimate.has_intervals:
        return aligned([row.value for row in rows])
    ends = (("value", ""), ("lower", ","), ("upper", "]"))
    padded = (aligned([getattr(row, name) for row in rows], end) for name, end in ends)
    return [f"{value} [{lower} {upper}" for value, lower, upper in zip(*padded, strict=True)]


def _grid(columns: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(_width, column)) for column in columns]
    return [
        "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in zip(*columns, strict=True)
    ]


def _facts(facts: Iterable[tuple[str, str]]) -> list[str]:
    listed = list(facts)
    first = max(len(name) for name, _ in listed)
    return [f"{name.ljust(first)}  {what}".rstrip() for name, what in listed]


def _more(count: int) -> list[str]:
    return [f"... and {count - MOST_ROWS} more"] if count > MOST_ROWS else []


def _width(text: str) -> int:
    """How many places of a terminal a text takes: letters of some scripts take two, marks on letters none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
