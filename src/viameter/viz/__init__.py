"""Pictures from plain numbers: curves of delta by epsilon, and spending step by step. Needs matplotlib."""

from viameter.viz.figures import draw_profiles, draw_spending

__all__ = ["draw_profiles", "draw_spending"]
