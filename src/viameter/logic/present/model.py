"""The values for which an obligation fails, set out as two runs side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping

from viameter.logic.present.parts import Paragraph, Part, Table

_SIDED = re.compile(r"(?P<name>[^<>\[\]]+)<(?P<side>[12])>(?P<index>\[-?\d+\])?")
_DRAWN = re.compile(r"(?P<name>.+)\.v\d+")
_BEFORE = re.compile(r"before\.(?P<line>\d+)\.(?P<side>left|right)")
MOST = 40
"""How many rows are shown."""


def runs(model: Mapping[str, int | bool]) -> tuple[Part, ...]:
    """A table of what differs by run, and a line of what both runs share."""
    rows: dict[str, list[str]] = {}
    drawn: dict[str, list[str]] = {}
    shared: list[str] = []
    for name, value in sorted(model.items(), key=lambda entry: _order(entry[0])):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if found := _SIDED.fullmatch(name):
            rows.setdefault(found["name"] + (found["index"] or ""), ["", ""])[int(found["side"]) - 1] = text
        elif found := _BEFORE.fullmatch(name):
            row = rows.setdefault("the variant before this round", ["", ""])
            row[0 if found["side"] == "left" else 1] = text
        elif found := _DRAWN.fullmatch(name):
            drawn.setdefault(found["name"], []).append(text)
        else:
            shared.append(f"{name} = {text}")
    listed = [(name, one, two, "≠" if one and two and one != two else "") for name, (one, two) in rows.items()]
    listed += [(f"{name}, as drawn", " or ".join(values), "", "") for name, values in drawn.items()]
    more = f" (the first {MOST} of {len(listed)} values)" if len(listed) > MOST else ""
    parts: list[Part] = []
    if listed:
        title = f"Two runs for which it fails{more}:"
        parts.append(Table(title, tuple(listed[:MOST]), ("", "run 1", "run 2", "")))
    if shared:
        parts.append(Paragraph(f"In both runs: {', '.join(shared)}."))
    return tuple(parts)


def _order(name: str) -> tuple[bool, str, int, str]:
    """Elements of lists first, by index, then the rest by name."""
    found = _SIDED.fullmatch(name)
    if found is not None and found["index"]:
        return (False, found["name"], int(found["index"][1:-1]), name)
    return (True, name, 0, name)
