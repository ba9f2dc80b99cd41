"""Charts: the numbers of an answer with their intervals, group by group, as SVG that fits any width.

Places are in percent of the width, and letters keep their size, so that a chart is read on a phone as on a screen. It
has no styles of its own: ask.css colors it, in light and dark. The same numbers stand in the table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from viameter.service.page.figures import decimals_for, shown

LEFT, RIGHT = 1.5, 98.5
"""Where numbers begin and end, in percent of the width."""
ROW, FOOT = 40, 30
"""Heights of a group and of the axis, in pixels."""
MOST_ROWS = 60
LONGEST_LABEL = 28
TICKS = 5


@dataclass(frozen=True, slots=True)
class Row:
    """A group: its name, a number, and the ends of its interval; None where there is none."""

    label: str
    value: float | None
    lower: float | None
    upper: float | None

    @property
    def has_interval(self) -> bool:
        """Whether it has an end at all: quantiles that were picked have none."""
        return self.lower is not None or self.upper is not None


@dataclass(frozen=True, slots=True)
class Scale:
    """From numbers to places."""

    start: float
    end: float
    step: float

    def place(self, number: float) -> float:
        """Where a number is, in percent of the width."""
        return LEFT + (number - self.start) / (self.end - self.start) * (RIGHT - LEFT)

    def ticks(self) -> list[float]:
        """The numbers below the axis."""
        count = round((self.end - self.start) / self.step)
        return [self.start + place * self.step for place in range(count + 1)]


def rows_of(answer: dict[str, Any], name: str, *, most: int = MOST_ROWS) -> list[Row]:
    """The groups of an answer's document with the numbers of one aggregate, the first ones."""
    columns = answer["columns"]
    keys = [columns.index(key) for key in answer["keys"]]
    places = [columns.index(one) for one in (name, f"{name}_lower", f"{name}_upper")]
    found = []
    for row in answer["rows"][:most]:
        label = ", ".join(group_shown(row[key]) for key in keys) or "all rows"
        found.append(Row(label, *(row[place] for place in places)))
    return found


def group_shown(value: Any) -> str:
    """The value that names a group."""
    if value is None:
        return "(missing)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def scale_of(rows: Sequence[Row]) -> Scale | None:
    """A scale on which all numbers are, with round steps; with 0, unless all are far from it. None for no numbers."""
    numbers = [one for row in rows for one in (row.value, row.lower, row.upper) if one is not None]
    if not numbers:
        return None
    low, high = min(numbers), max(numbers)
    if 0 < low <= 0.6 * high:
        low = 0.0
    elif 0.6 * low <= high < 0:
        high = 0.0
    if low == high:
        low, high = low - max(abs(low) / 2, 0.5), high + max(abs(high) / 2, 0.5)
    step = _round_step((high - low) / TICKS)
    return Scale(math.floor(low / step) * step, math.ceil(high / step) * step, step)


def chart(rows: Sequence[Row], *, id: str, title: str) -> Markup:
    """The chart of some groups, dots alone where there are no intervals; nothing if there are no numbers."""
    scale = scale_of(rows)
    if scale is None:
        return Markup("")
    height = len(rows) * ROW + FOOT
    parts = [_axis(scale, height), *(_group(row, place, scale) for place, row in enumerate(rows))]
    return Markup(
        '<svg class="intervals" width="100%" height="{height}" role="img" aria-labelledby="{id}-title {id}-desc">'
        '<title id="{id}-title">{title}</title><desc id="{id}-desc">{desc}</desc>{parts}</svg>'
    ).format(height=height, id=id, title=title, desc=_described(rows), parts=Markup("").join(parts))


def _described(rows: Sequence[Row]) -> str:
    line = " and a line over its interval" if any(row.has_interval for row in rows) else ""
    groups = f"{len(rows)} {'group' if len(rows) == 1 else 'groups'}"
    return f"{groups}, each with a dot at its number{line}. The table has the same numbers."


def _axis(scale: Scale, height: int) -> Markup:
    bottom = height - FOOT
    parts = [Markup('<line class="axis" x1="0" x2="100%" y1="{0}" y2="{0}"/>').format(bottom)]
    decimals = max(-math.floor(math.log10(scale.step)), 0)
    for number in scale.ticks():
        place = scale.place(number)
        anchor = "start" if place < 5 else "end" if place > 95 else "middle"
        parts.append(
            Markup(
                '<line class="{kind}" x1="{place:.3f}%" x2="{place:.3f}%" y1="0" y2="{bottom}"/>'
                '<text class="tick" x="{place:.3f}%" y="{below}" text-anchor="{anchor}" data-number="{number!r}">'
                "{text}</text>"
            ).format(
                kind="zero" if abs(number) < scale.step / 1000 else "grid",
                place=place,
                bottom=bottom,
                below=bottom + 18,
                anchor=anchor,
                number=float(number),
                text=shown(float(number), min(decimals, 9)),
            )
        )
    return Markup("").join(parts)


def _group(row: Row, place: int, scale: Scale) -> Markup:
    top = place * ROW
    text, line = top + 15, top + 27
    label = row.label if len(row.label) <= LONGEST_LABEL else row.label[: LONGEST_LABEL - 1] + "\N{HORIZONTAL ELLIPSIS}"
    parts = [
        Markup('<text class="label" x="{}%" dx="5" y="{}">{}</text>').format(LEFT, text, label),
        Markup('<text class="value" x="{}%" dx="-5" y="{}" text-anchor="end">{}</text>').format(
            RIGHT, text, in_words(row)
        ),
    ]
    if row.has_interval:
        # An end that is nowhere: the line goes on to the edge, and has no cap there.
        ends = [
            (LEFT if row.lower is None else scale.place(row.lower), row.lower is not None),
            (RIGHT if row.upper is None else scale.place(row.upper), row.upper is not None),
        ]
        parts.append(
            Markup('<line class="interval" x1="{:.3f}%" x2="{:.3f}%" y1="{}" y2="{}"/>').format(
                ends[0][0], ends[1][0], line, line
            )
        )
        parts += [
            Markup('<line class="cap" x1="{0:.3f}%" x2="{0:.3f}%" y1="{1}" y2="{2}"/>').format(at, line - 5, line + 5)
            for at, capped in ends
            if capped
        ]
    if row.value is not None:
        parts.append(Markup('<circle class="dot" cx="{:.3f}%" cy="{}" r="4"/>').format(scale.place(row.value), line))
    whole = Markup("<title>{}: {}</title>").format(row.label, in_words(row))
    return Markup("<g>{}{}</g>").format(whole, Markup("").join(parts))


def in_words(row: Row) -> str:
    """A number with its interval, if it has one; "unknown" for no number."""
    decimals = decimals_for(row.lower, row.upper)
    if not row.has_interval:
        return shown(row.value, decimals)
    lower = "no lower end" if row.lower is None else shown(row.lower, decimals)
    upper = "no upper end" if row.upper is None else shown(row.upper, decimals)
    return f"{shown(row.value, decimals)} ({lower} to {upper})"


def _round_step(about: float) -> float:
    """1, 2 or 5 times a power of ten that is at least so much."""
    power = 10.0 ** math.floor(math.log10(about))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= about * (1 - 1e-9))
