"""Budgets being spent, as a figure of matplotlib: steps below a budget, a panel for each of them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from viameter.errors import ParameterError
from viameter.viz.canvas import blank_figure
from viameter.viz.figures import _COLORS

Place = float | datetime
"""Where something stands from left to right: a number of charges, or a time."""

_GREY = "#6b6b6b"
_WIDTH, _HEIGHT = 7.2, 2.7
_PER_INCH = 15
"""Characters of small text in an inch."""
_MOST_MARKED = 60
"""Charges that still have room for a mark each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Burndown:
    """One budget and what was spent of it. Numbers that follow one another hold until the next."""

    name: str
    under: str
    """What stands below the name, in small letters; lines that are too long are broken."""
    unit: str
    spent: Sequence[tuple[Place, float]]
    budget: Sequence[tuple[Place, float]]
    labels: Sequence[str]
    """What each level of the budget is called."""
    charges: Sequence[tuple[Place, float]] = ()
    """Where something was charged, and what was spent with it."""
    renewals: Sequence[Place] = ()
    """Where the budget started over."""
    closed: Sequence[tuple[Place, float]] = ()
    """Where all that was left counted as spent, since entries had been lost."""
    end: Place = 0.0


def draw_burndown(panels: Sequence[Burndown], *, title: str = "", over: str, axes: Any = None) -> Any:
    """What was spent of each budget, one below the other; `over` names what goes from left to right.

    With `axes`, one budget is drawn there. Names may be any text: nothing in them is read as a formula.
    """
    if axes is not None:
        if len(panels) != 1:
            raise ParameterError(f"axes: they have room for one budget, and {len(panels)} were given")
        _draw_panel(axes, panels[0], over=over, width=axes.get_figure().get_figwidth())
        return axes.get_figure()
    if not panels:
        raise ParameterError("draw_burndown needs at least one budget")
    above = 0.35 if title else 0.0
    unders = max(len(_wrapped(panel.under, _WIDTH)) for panel in panels)
    height = above + len(panels) * (_HEIGHT + 0.14 * unders)
    figure = blank_figure(_WIDTH, height)
    figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - above / height), h_pad=0.08)
    if title:
        figure.text(0.1 / _WIDTH, 1 - 0.08 / height, title, fontsize=12, va="top", parse_math=False)
    grid = figure.subplots(len(panels), 1, squeeze=False)
    for panel, row in zip(panels, grid, strict=True):
        _draw_panel(row[0], panel, over=over, width=_WIDTH)
    return figure


def _draw_panel(axes: Any, panel: Burndown, *, over: str, width: float) -> None:
    places, levels = _held(panel.spent, panel.end)
    axes.step(places, levels, where="post", color=_COLORS[0], linewidth=1.8, label="spent")
    axes.fill_between(places, levels, step="post", color=_COLORS[0], alpha=0.15, linewidth=0)
    if len(panel.charges) <= _MOST_MARKED:
        marks = {"linestyle": "none", "marker": "o", "markersize": 3.5, "color": _COLORS[0]}
        axes.plot([x for x, _ in panel.charges], [y for _, y in panel.charges], label="charges", **marks)
    edges, limits = _held(panel.budget, panel.end)
    axes.step(edges, limits, where="post", color=_COLORS[1], linestyle="--", linewidth=1.5, label="budget")
    top = max([*limits, *levels, 1e-12])
    for place, (x, y) in enumerate(panel.budget):
        # A label stands above its level, or below where the next level is above it.
        low = place + 1 < len(panel.budget) and panel.budget[place + 1][1] > y
        style = {"xytext": (4, -4 if low else 3), "va": "top" if low else "bottom", "textcoords": "offset points"}
        axes.annotate(panel.labels[place], (x, y), fontsize=8, color=_COLORS[1], parse_math=False, **style)
    for place, x in enumerate(panel.renewals):
        axes.axvline(x, color=_GREY, linestyle=":", linewidth=1)
        if place == 0:
            style = {"xytext": (3, -3), "va": "top", "textcoords": "offset points"}
            axes.annotate("starts over", (x, 1.0), xycoords=("data", "axes fraction"), fontsize=8, color=_GREY, **style)
    for x, y in panel.closed:
        axes.plot([x], [y], linestyle="none", marker="X", markersize=8, color=_COLORS[4], label="closed")
        style = {"xytext": (-7, -7), "va": "top", "ha": "right", "textcoords": "offset points"}
        axes.annotate("closed: entries were lost", (x, y), fontsize=8, color=_COLORS[4], **style)
    axes.set_ylim(0, 1.18 * top)
    _limit(axes, panel)
    under = _wrapped(panel.under, width)
    axes.set_title(panel.name, loc="left", fontsize=11, pad=8 + 11 * len(under), parse_math=False)
    axes.annotate(
        "\n".join(under),
        (0, 1),
        xycoords="axes fraction",
        xytext=(0, 6),
        textcoords="offset points",
        fontsize=8,
        color=_GREY,
        parse_math=False,
    )
    axes.set_ylabel(panel.unit, fontsize=9)
    axes.set_xlabel(over, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.xaxis.get_offset_text().set_fontsize(8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def _held(steps: Sequence[tuple[Place, float]], end: Place) -> tuple[list[Place], list[float]]:
    """Levels with where they begin, the last one held until the end."""
    return [*(x for x, _ in steps), end], [*(y for _, y in steps), steps[-1][1]]


def _limit(axes: Any, panel: Burndown) -> None:
    """From the beginning to a little after the end."""
    start, end = panel.spent[0][0], panel.end
    if isinstance(start, datetime) and isinstance(end, datetime):
        from matplotlib import dates

        axes.set_xlim(start, end + (end - start) * 0.02)
        locator: Any = dates.AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    else:
        axes.set_xlim(start, end)
        axes.xaxis.get_major_locator().set_params(integer=True)


def _wrapped(text: str, width: float) -> list[str]:
    most = max(int(width * _PER_INCH), 20)
    return [line for given in text.splitlines() for line in textwrap.wrap(given, most)]
