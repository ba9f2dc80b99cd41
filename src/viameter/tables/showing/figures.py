"""The intervals of an answer as a figure of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from viameter.tables.showing.numbers import confidence
from viameter.tables.showing.words import cost_words, short

if TYPE_CHECKING:
    from viameter.tables.answer import Answer
    from viameter.tables.estimates import Estimate

MOST_DRAWN = 60
"""Groups that a picture has room for."""


def draw_answer(answer: Answer, name: str | None = None) -> Any:
    """The values of one aggregate with their intervals, group by group; of all of them if none is named.

    Of more than 60 groups the first are drawn, and the title says so.
    """
    from viameter.viz import draw_intervals

    # The answer refuses names that it does not have.
    chosen = dict(answer.estimates) if name is None else {name: answer[name]}
    panels = [(short(one), _points(made)) for one, made in chosen.items()]
    by = ", ".join(map(short, answer.keys))
    title = ", ".join(one for one, _ in panels) + (f" by {by}" if by else "")
    if len(answer) > MOST_DRAWN:
        title += f": the first {MOST_DRAWN} of {len(answer)} groups"
    under = f"cost {cost_words(answer)}; confidence {confidence(answer.alpha)} of each interval"
    groups = [short(", ".join(map(short, group))) for group in answer.groups[:MOST_DRAWN]]
    return draw_intervals(panels, groups=groups, title=title, under=under)


def _points(estimate: Estimate) -> list[tuple[float, float, float]]:
    arrays = (estimate.value, estimate.lower, estimate.upper)
    rows = zip(*(array[:MOST_DRAWN].tolist() for array in arrays), strict=True)
    return [(float(value), float(lower), float(upper)) for value, lower, upper in rows]
