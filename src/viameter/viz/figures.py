"""Figures of matplotlib, made without its global state: whoever gets one saves it or shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from viameter.viz.canvas import blank_figure

_COLORS = ("#0b6e8a", "#c1561b", "#5b3f8f", "#3c7a3b", "#a3275c", "#6b6b6b")
_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)))
_MOST_LABELED = 16
"""Squares beside one another that still have room for a number."""
_LEAST = 1e-15
"""Deltas below this are not drawn."""


def draw_profiles(curves: Mapping[str, Sequence[tuple[float, float]]], *, title: str) -> Any:
    """Delta by epsilon, one line for each name; lines differ in color and in dashes."""
    figure, axes = _axes(title)
    for place, (name, points) in enumerate(curves.items()):
        shown = [(epsilon, delta) for epsilon, delta in points if delta >= _LEAST]
        style = {"color": _COLORS[place % len(_COLORS)], "linestyle": _STYLES[place % len(_STYLES)]}
        axes.plot([e for e, _ in shown], [d for _, d in shown], label=name, linewidth=2, **style)
    axes.set_yscale("log")
    axes.set_xlabel("epsilon")
    axes.set_ylabel("delta")
    axes.legend(frameon=False)
    return figure


def draw_spending(totals: Sequence[float], *, unit: str, budget: float | None, title: str) -> Any:
    """What was spent after each query, as steps; the budget, if there is one, as a line above them."""
    figure, axes = _axes(title)
    # Each level is drawn from its query on, the last one for half a query more.
    places, levels = [*range(len(totals) + 1), len(totals) + 0.5], [0.0, *totals, *(totals[-1:] or [0.0])]
    axes.step(places, levels, where="post", color=_COLORS[0], linewidth=2)
    axes.fill_between(places, levels, step="post", color=_COLORS[0], alpha=0.15, linewidth=0)
    top = max([*totals, budget or 0.0, 1e-12])
    if budget is not None:
        axes.axhline(budget, color=_COLORS[1], linestyle="--", linewidth=1.5)
        axes.annotate("budget", (0, budget), xytext=(4, 4), textcoords="offset points", color=_COLORS[1])
    axes.set_ylim(0, 1.15 * top)
    axes.set_xlim(0, len(totals) + 0.5)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("queries")
    axes.set_ylabel(f"spent, {unit}")
    return figure


def draw_touches(
    rows: Mapping[str, Sequence[float]], totals: Mapping[str, str], *, parts: Sequence[str], title: str
) -> Any:
    """Which parts the worst step touches, a row for each name: the darker, the more a part costs; totals beside it."""
    figure, axes = _axes(title)
    figure.set_size_inches(6.4, 1.3 + 0.5 * len(rows))
    finite = [cost for costs in rows.values() for cost in costs if cost != float("inf")]
    most = max([*finite, 1e-12])
    for place, (name, costs) in enumerate(rows.items()):
        for part, cost in enumerate(costs):
            shade = 1.0 if cost == float("inf") else 0.2 + 0.7 * cost / most
            face = _COLORS[1] if cost == float("inf") else _COLORS[0]
            # What is not touched is an empty frame, so that the picture reads without its colors.
            square = {"facecolor": face, "alpha": shade} if cost else {"facecolor": "none"}
            axes.add_patch(_rectangle((part + 0.06, place + 0.15), 0.88, 0.7, edgecolor="#9a9a9a", **square))
            if cost and len(parts) <= _MOST_LABELED:
                dark = cost == float("inf") or cost > most / 2
                axes.annotate(
                    f"{cost:.3g}",
                    (part + 0.5, place + 0.5),
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="white" if dark else "black",
                )
        axes.annotate(
            totals[name], (len(parts), place + 0.5), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9
        )
    axes.set_xlim(0, len(parts))
    axes.set_ylim(len(rows), 0)
    axes.set_yticks([place + 0.5 for place in range(len(rows))], list(rows))
    axes.set_xticks([part + 0.5 for part in range(len(parts))], list(parts), fontsize=8)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return figure


def _rectangle(*arguments: Any, **style: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(*arguments, **style)


def _axes(title: str) -> tuple[Any, Any]:
    figure = blank_figure(6.4, 3.8, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes
