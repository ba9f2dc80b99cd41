"""Tables, previews and answers as HTML for notebooks: inline styles only, in the colors that the page has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from viameter.tables.showing.markup import Markup, bar, element, joined, strip
from viameter.tables.showing.numbers import confidence, shown
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

LEFT = "text-align:left;padding:2px 10px 2px 0"
NUMBER = "text-align:right;padding:2px 6px;white-space:nowrap;font-variant-numeric:tabular-nums"
FAINT = "opacity:0.7"
TABLE = "color:inherit;border-collapse:collapse;margin:0"
SAID = "padding-top:6px;font-size:90%"


def answer_html(answer: Answer) -> str:
    """The values and intervals of all groups, each with a small picture; what it cost, and what intervals cover."""
    head = [_head(short(name)) for name in answer.keys]
    head += [_head(short(name), colspan=3, style=f"{NUMBER};text-align:center") for name in answer.estimates]
    groups = answer.groups[:MOST_ROWS]
    cells = [[element("td", short(group[place]), style=LEFT) for group in groups] for place in range(len(answer.keys))]
    for estimate in answer.estimates.values():
        cells.append(_intervals(estimate))
    said = [
        element("b", f"cost {cost_words(answer)}"),
        *interval_words(answer),
        *(f"note: {printable(note)}" for note in answer.notes),
    ]
    return _table(head, cells, said, more=len(answer) - MOST_ROWS)


def preview_html(preview: Preview) -> str:
    """What each aggregate would cost and how wide its interval would be; what all of it leaves of the budget."""
    rows = preview.rows
    columns = {
        "aggregate": [short(row.name) for row in rows],
        "cost": [repr(row.loss) for row in rows],
        "noise": [printable(row.noise) for row in rows],
        f"width, {confidence(preview.alpha)}": list(map(width_words, rows)),
    }
    cells = [[element("td", text, style=LEFT) for text in column] for column in columns.values()]
    fits = f"fits: {fit_words(preview)}"
    said = [
        element("b", f"total {preview.loss!r} for {unit_words(preview.unit)}"),
        *budget_words(preview.budgets, preview.binding),
        fits if preview.fits else element("b", fits),
        f"counts: {kept_words(preview)}",
        *(f"note: {printable(note)}" for note in preview.notes),
    ]
    return _table([_head(name) for name in columns], cells, said)


def table_html(made: ShownTable) -> str:
    """The columns of a private table, whose presence is hidden, what was done so far, and the budget; never a row."""
    columns = list(made.schema.items())[:MOST_ROWS]
    cells = [
        [element("td", short(name), style=LEFT) for name, _ in columns],
        [element("td", kind.kind.value, style=f"{LEFT};{FAINT}") for _, kind in columns],
    ]
    said = [
        f"unit: {'; '.join(made.unit)}",
        f"counts: {made.counts}",
        *(f"step {place}: {printable(step)}" for place, step in enumerate(made.steps, 1)),
        element("span", bar(spent_share(made.spent, made.budget)), " ", spent_words(made.spent, made.budget)),
        *made.limits,
    ]
    if made.schema.unusable:
        said.insert(0, f"unusable: {', '.join(map(short, made.schema.unusable))}")
    title = element("b", made.where)
    return _table([_head("column"), _head("type")], cells, said, more=len(made.schema) - MOST_ROWS, title=title)


def _head(name: str, **attributes: object) -> Markup:
    return element("th", name, scope="col", **{"style": LEFT, **attributes})


def _intervals(estimate: Estimate) -> list[Markup]:
    """Value, interval and picture of each group; all pictures of an aggregate have one scale."""
    arrays = (estimate.value, estimate.lower, estimate.upper)
    rows = list(zip(*(array[:MOST_ROWS].tolist() for array in arrays), strict=True))
    least, greatest = min((row[1] for row in rows), default=0), max((row[2] for row in rows), default=0)
    made = []
    for value, lower, upper in rows:
        texts = shown(value, lower, upper)
        number = element("td", texts.value, style=f"{NUMBER};{FAINT}" if math.isnan(value) else NUMBER)
        interval = f"[{texts.lower}, {texts.upper}]" if estimate.has_intervals else ""
        ends = element("td", interval, style=f"{NUMBER};{FAINT}")
        picture = element(
            "td", strip(value, lower, upper, least=least, greatest=greatest), style="padding:2px 10px 2px 0"
        )
        made.append(joined(number, ends, picture))
    return made


def _table(
    head: Sequence[Markup], columns: Sequence[Sequence[Markup]], said: Iterable[str], *, more: int = 0, title: str = ""
) -> str:
    rows = [element("tr", *row) for row in zip(*columns, strict=True)]
    if more > 0:
        rows.append(element("tr", element("td", f"... and {more} more", colspan=100, style=f"{LEFT};{FAINT}")))
    made = element("table", element("thead", element("tr", *head)), element("tbody", *rows), style=TABLE)
    # Not a caption of the table: it would be no wider than the table, and break into short lines.
    below = element("figcaption", *(element("div", line) for line in said), style=SAID)
    above = [element("div", title, style="padding-bottom:4px")] if title else []
    return element("figure", *above, made, below, style="margin:0")
