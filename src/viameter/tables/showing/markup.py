"""HTML that is safe by construction: whatever is not made here is escaped; pictures in it need nothing from outside."""

from __future__ import annotations

import html
import math
from fractions import Fraction


class Markup(str):
    """Text that is HTML already: `element` and `joined` make it."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: object) -> Markup:
    """An element; children that are text are escaped, and so are attributes (`aria_label` is written aria-label).

    >>> element("b", "1 < 2", title='"')
    '<b title="&quot;">1 &lt; 2</b>'
    """
    written = "".join(f' {key.replace("_", "-")}="{html.escape(str(value))}"' for key, value in attributes.items())
    inside = "".join(child if isinstance(child, Markup) else html.escape(child) for child in children)
    return Markup(f"<{name}{written}>{inside}</{name}>")


def joined(*parts: Markup) -> Markup:
    """Elements after one another."""
    return Markup("".join(parts))


WIDTH, HEIGHT = 96, 12
"""The size of a strip."""
MARGIN = 4


def strip(value: float, lower: float, upper: float, *, least: float, greatest: float) -> Markup:
    """A number with its interval as a line and a dot, on the scale from `least` to `greatest`; no dot for NaN."""
    if not all(map(math.isfinite, (lower, upper, least, greatest))) or math.isinf(value):
        return joined()
    # Halves, since the distance of two large floats may be none.
    span = greatest / 2 - least / 2

    def place(number: float) -> str:
        share = (number / 2 - least / 2) / span if span > 0 else 0.5
        return f"{MARGIN + min(max(share, 0.0), 1.0) * (WIDTH - 2 * MARGIN):.1f}"

    def line(start: str, end: str, top: float, bottom: float) -> Markup:
        return element("line", x1=start, x2=end, y1=top, y2=bottom, stroke="currentColor", stroke_width=1.2)

    left, right, middle = place(lower), place(upper), HEIGHT / 2
    parts = [line(left, right, middle, middle), line(left, left, 3, HEIGHT - 3), line(right, right, 3, HEIGHT - 3)]
    if not math.isnan(value):
        parts.append(element("circle", cx=place(value), cy=middle, r=2.6, fill="currentColor"))
    frame = {"width": WIDTH, "height": HEIGHT, "viewBox": f"0 0 {WIDTH} {HEIGHT}", "aria_hidden": "true"}
    return element("svg", *parts, style="vertical-align:middle;opacity:0.75", **frame)


def bar(share: Fraction | None) -> Markup:
    """How much of something is used up, as a bar in a frame."""
    if share is None:
        return joined()
    inside = WIDTH * 2 - 2
    # What is used shows, however little it is.
    used = max(float(share) * inside, 1.0) if share > 0 else 0.0
    outline = element(
        "rect", x=0.5, y=0.5, width=WIDTH * 2 - 1, height=HEIGHT - 1, fill="none", stroke="currentColor", opacity=0.5
    )
    filled = element("rect", x=1, y=1, width=f"{used:.1f}", height=HEIGHT - 2, fill="currentColor", opacity=0.6)
    frame = {"width": WIDTH * 2, "height": HEIGHT, "viewBox": f"0 0 {WIDTH * 2} {HEIGHT}", "aria_hidden": "true"}
    return element("svg", outline, filled, style="vertical-align:middle", **frame)
