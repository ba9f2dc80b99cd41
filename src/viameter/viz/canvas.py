"""The figure that pictures are drawn on: one of matplotlib, made without its global state, that notebooks show."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

from viameter.errors import ParameterError


def blank_figure(width: float, height: float, **options: Any) -> Any:
    """A figure of that size in inches. Needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("pictures need matplotlib: pip install 'viameter[plot]'") from None
    return _that_shows_itself(Figure)(figsize=(width, height), dpi=120, **options)


@cache
def _that_shows_itself(figure: Any) -> Any:
    """The class of figures for notebooks, which know how to show figures of pyplot only."""

    class ShownFigure(figure):  # type: ignore[misc]
        def _repr_png_(self) -> bytes:
            written = io.BytesIO()
            self.savefig(written, format="png")
            return written.getvalue()

    return ShownFigure
