"""Pictures from plain numbers: delta by epsilon, spending, touch patterns, intervals, budgets. Needs matplotlib."""

from viameter.viz.burndown import Burndown, draw_burndown
from viameter.viz.figures import draw_profiles, draw_spending, draw_touches
from viameter.viz.intervals import draw_intervals

__all__ = ["Burndown", "draw_burndown", "draw_intervals", "draw_profiles", "draw_spending", "draw_touches"]
