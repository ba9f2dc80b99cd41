"""Intervals by group as a figure of matplotlib: points with bars, a panel for each kind of number."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from viameter.errors import ParameterError
from viameter.viz.canvas import blank_figure
from viameter.viz.figures import _COLORS

Point = tuple[float, float, float]
"""A value, and the lower and upper end of its interval."""

_PANELS_BESIDE = 3
"""More panels than this go into another row."""
_CROWDED = 30
"""From so many groups on, text and points are small."""
_PER_INCH = 15
"""Characters of small text in an inch."""


def draw_intervals(
    panels: Sequence[tuple[str, Sequence[Point]]], *, groups: Sequence[str], title: str, under: str
) -> Any:
    """Values with their intervals, a row for each group from top to bottom as given, a panel for each name.

    Names may be any text: nothing in them is read as a formula. `under` stands below the title in small letters.
    """
    if not panels:
        raise ParameterError("draw_intervals needs at least one panel of numbers")
    for name, points in panels:
        if len(points) != len(groups):
            raise ParameterError(
                f"panel {name!r} has {len(points)} points for {len(groups)} groups: expected one for each"
            )
    beside = min(len(panels), _PANELS_BESIDE)
    down = -(-len(panels) // beside)
    crowded = len(groups) >= _CROWDED
    each = (0.17 if crowded else 0.25) * max(len(groups), 1) + 0.75
    longest = max((len(group) for group in groups), default=0)
    width = max(6.4, 0.075 * longest + 2.9 * beside)
    titles = textwrap.wrap(title, int(width * _PER_INCH * 0.75)) or [""]
    unders = textwrap.wrap(under, int(width * _PER_INCH)) or [""]
    above = 0.12 + 0.22 * len(titles) + 0.17 * len(unders)
    height = above + down * each
    figure = blank_figure(width, height)
    # Titles have a strip of their own above the panels, however many lines they take.
    figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - above / height))
    left, top = 0.1 / width, 1 - 0.08 / height
    figure.text(left, top, "\n".join(titles), fontsize=11, va="top", parse_math=False)
    figure.text(
        left,
        top - 0.22 * len(titles) / height,
        "\n".join(unders),
        fontsize=8,
        va="top",
        color="#555555",
        parse_math=False,
    )
    grid = figure.subplots(down, beside, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place < len(panels):
            name, points = panels[place]
            _draw_panel(axes, points, groups, crowded=crowded, ticks=4 if beside > 1 else 8)
            axes.set_title(name, loc="left", fontsize=9, parse_math=False)
        else:
            axes.set_visible(False)
    return figure


def _draw_panel(axes: Any, points: Sequence[Point], groups: Sequence[str], *, crowded: bool, ticks: int) -> None:
    places = range(len(points))
    values, lowers, uppers = ([point[end] for point in points] for end in range(3))
    size = 3 if crowded else 5
    axes.hlines(places, lowers, uppers, color=_COLORS[0], linewidth=1.2 if crowded else 1.8)
    for ends in (lowers, uppers):
        axes.plot(ends, places, linestyle="none", marker="|", markersize=size + 2, color=_COLORS[0])
    axes.plot(values, places, linestyle="none", marker="o", markersize=size, color=_COLORS[0])
    axes.set_yticks(list(places), list(groups), fontsize=7 if crowded else 8.5, parse_math=False)
    axes.set_ylim(max(len(points), 1) - 0.4, -0.6)
    axes.ticklabel_format(axis="x", style="plain", useOffset=False)
    axes.xaxis.get_major_locator().set_params(nbins=ticks)
    axes.tick_params(axis="x", labelsize=8)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
