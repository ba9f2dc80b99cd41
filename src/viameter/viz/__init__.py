"""Pictures from plain numbers: curves of delta by epsilon, spending, touch patterns, intervals. Needs matplotlib."""

from viameter.viz.figures import draw_profiles, draw_spending, draw_touches
from viameter.viz.intervals import draw_intervals

__all__ = ["draw_intervals", "draw_profiles", "draw_spending", "draw_touches"]
