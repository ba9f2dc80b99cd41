"""Pictures from plain numbers: curves of delta by epsilon, spending step by step, touch patterns. Needs matplotlib."""

from viameter.viz.figures import draw_profiles, draw_spending, draw_touches

__all__ = ["draw_profiles", "draw_spending", "draw_touches"]
