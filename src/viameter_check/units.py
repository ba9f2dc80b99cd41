"""Tables that stay on an engine and the metric that counts units of them, read from their text."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_UNITS = re.compile(
    rf"UnitDistance\('(?P<kind>[a-z-]{{1,30}})'(?:, by=(?P<by>{QUOTED}))?"
    r"(?P<replaces>, replaces=True)?(?:, window=(?P<window>[1-9][0-9]{0,17}))?\)",
    re.ASCII,
)
_NAMED = re.compile(rf"(?P<name>{QUOTED}): ")
_COLUMN = re.compile(
    rf"(?P<name>{QUOTED}): "
    r"(?:TEXT|REAL|BOOLEAN|DATE|TIMESTAMP|INTEGER(?: -?[0-9]{1,20}\.\.-?[0-9]{1,20})?)(?P<end>, |\)\))"
)

REPLACED = {
    "unbounded": (False,),
    "bounded": (True,),
    "user": (False, True),
    "event": (True,),
    "w-event": (True,),
    "entity": (False,),
}
"""What can be a unit, and whether a step replaces its rows (True) or adds and removes them (False)."""
ROWS = ("unbounded", "bounded")
"""Units that are found by themselves; others are told apart by a column, or belong to the rows of a table."""


@dataclass(frozen=True, slots=True)
class Units:
    """What a metric counts: rows, people, events, windows of events or entities."""

    kind: str
    by: str
    """The column, or the table of entities, that tells units apart; empty for rows."""
    replaces: bool
    """Whether a step puts other rows in the place of a unit's rows, and not only adds or removes them."""
    window: int = 1


@lru_cache(maxsize=256)
def read_units(text: str) -> Units | None:
    """The units that a metric counts, from its text as the library writes it; None for any other text."""
    match = _UNITS.fullmatch(text)
    if match is None or match["kind"] not in REPLACED:
        return None
    kind, by = match["kind"], "" if match["by"] is None else unquoted(match["by"])
    found = Units(kind, by, match["replaces"] is not None, int(match["window"] or 1))
    named = match["by"] is None if kind in ROWS else by != ""
    # A window of one time is an event, and its length is not written.
    windowed = found.window > 1 if kind == "w-event" else match["window"] is None
    return found if named and windowed and found.replaces in REPLACED[kind] else None


def is_table(text: str) -> bool:
    """Whether the text is that of tables on an engine."""
    return _end_of_table(text, 0) == len(text)


def tables_of(text: str) -> dict[str, str]:
    """The tables of databases on an engine by name, each once; none where the text is not that of databases."""
    start = "engine_database({"
    if not text.startswith(start) or not text.endswith("})"):
        return {}
    found: dict[str, str] = {}
    place = len(start)
    while (named := _NAMED.match(text, place)) is not None:
        name, place = unquoted(named["name"]), _end_of_table(text, named.end())
        if place < 0 or name in found:
            return {}
        found[name] = text[named.end() : place]
        if place == len(text) - len("})"):
            return found
        if not text.startswith(", ", place):
            return {}
        place += len(", ")
    return {}


def _end_of_table(text: str, place: int) -> int:
    """Where the table ends that starts at this place; -1 if none starts there, or if it has a column twice."""
    start = "engine_table(Schema("
    if not text.startswith(start, place):
        return -1
    place += len(start)
    if text.startswith("))", place):
        return place + len("))")
    names: list[str] = []
    while (column := _COLUMN.match(text, place)) is not None:
        place = column.end()
        names.append(unquoted(column["name"]))
        if column["end"] == "))":
            return place if len(set(names)) == len(names) else -1
    return -1


def unquoted(text: str) -> str:
    """What stands in quotes; empty if it cannot be read."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""
