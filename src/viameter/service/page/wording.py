"""Wording: questions, previews and guarantees in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from viameter.service.page.figures import width_shown
from viameter.service.page.questions import COUNTS, WITHOUT_VALUE, Aggregate, Condition, QuestionForm
from viameter.tables.bounding.limits import FIRST_BY

_COMPARED = {
    "eq": "is", "ne": "is not", "lt": "is less than", "le": "is at most", "gt": "is more than", "ge": "is at least",
    "between": "is between", "is_in": "is one of", "not_in": "is none of", "contains": "contains",
    "starts_with": "starts with", "ends_with": "ends with", "is_null": "is missing", "not_null": "is not missing",
}  # fmt: skip
_ASKED = {
    "count": "the number of rows", "mean": "the mean of", "sum": "the sum of", "median": "the median of",
    "minimum": "about the least of", "maximum": "about the greatest of", "variance": "the variance of",
    "std": "the standard deviation of",
}  # fmt: skip


def question_in_words(form: QuestionForm, unit: str) -> str:
    """What a form asks, in a sentence.

    >>> wanted, of = Aggregate("mean", "wait", "0", "240"), Condition("age", "gt", "60")
    >>> question_in_words(QuestionForm(aggregates=(wanted,), conditions=(of,)), "patient")
    'The mean of wait between 0 and 240, of rows where age is more than 60.'
    """
    if form.asked == "top":
        counted = "rows" if form.by == "rows" else plural(unit)
        said = f"which {form.top} groups have most {counted}, in order"
    else:
        said = _listed([_aggregate(one, unit) for one in form.aggregates])
    said += _groups(form)
    if form.expression:
        said += f", of rows where {form.expression}"
    elif form.conditions:
        said += f", of rows where {_listed([_condition(one) for one in form.conditions])}"
    return f"{said[:1].upper()}{said[1:]}."


def plural(name: str) -> str:
    """More than one of something.

    >>> plural("patient"), plural("address")
    ('patients', 'address')
    """
    return name if name.endswith("s") else f"{name}s"


def kept_in_words(kept: str, unit: str) -> str:
    """What is used of a unit, as a preview has it, in a sentence; empty where nothing is limited.

    >>> kept_in_words("20 rows, first by time", "plane")
    'Of each plane, at most 20 rows are used, the first by time; intervals do not cover what is left out.'
    >>> kept_in_words("1 row", "plane")
    'Of each plane, at most 1 row is used; which one is chosen at random, and intervals do not cover what is left out.'
    """
    limits, _, column = kept.partition(f", {FIRST_BY}")
    if not limits:
        return ""
    one = limits in ("1 row", "1 group")
    used = f"Of each {unit}, at most {limits}{',' if ', ' in limits else ''} {'is' if one else 'are'} used"
    # Groups are sampled also where the rows in them are not; with one row in each group, rows are groups.
    sampled = [part for part in limits.split(", ") if part.endswith((" group", " groups")) and " in each " not in part]
    if ", 1 row in each group" in limits:
        sampled.append(limits)
    if not column:
        chosen = f"; which {'one is' if one else 'ones are'} chosen at random, and"
    elif sampled:
        chosen = f": groups chosen at random, and in each the first rows by {column};"
    else:
        chosen = f", the first by {column};"
    return f"{used}{chosen} intervals do not cover what is left out."


def errors_in_words(row: Mapping[str, Any], question: Mapping[str, Any], unit: str) -> list[str]:
    """How far a number of a preview may be from the truth, for each of what that depends on."""
    asked = question.get("aggregates", {"n": {"count": True}}).get(row["name"], {})
    if "count" in asked:
        of = " rows"
    elif "count_units" in asked:
        of = f" {plural(unit)}"
    else:
        of = ""
    found = []
    for one in row["widths"]:
        width, on = width_shown(one["width"]), one["depends_on"]
        if on.startswith("at "):
            found.append(f"± {width} in a group of {on.removeprefix('at ')}")
        elif on.endswith("behind the best that is left"):
            found.append(f"at most {width} {on.partition(' ')[0]} behind the best")
        elif on == "rows of rank":
            found.append(f"± {width} rows in rank: as if so many rows more or fewer lay below it")
        else:
            found.append(f"± {width}{of}{' ' if on else ''}{on}")
    return found


def confidence_in_words(alpha: str) -> str:
    """How often intervals are right, if they may miss with a chance of alpha.

    >>> confidence_in_words("1/20")
    '95 %'
    """
    return f"{float(100 * (1 - Fraction(alpha))):g} %"


def neighbors_in_words(guarantee: str) -> str:
    """When two datasets are neighbors, from the text of a guarantee."""
    return guarantee.partition(": ")[2]


def _aggregate(one: Aggregate, unit: str) -> str:
    if one.what == "count_units":
        return f"the number of {plural(unit)}"
    if one.what in COUNTS:
        return _ASKED[one.what]
    start = f"the {one.q} quantile of" if one.what == "quantile" else _ASKED[one.what]
    return f"{start} {one.column} between {one.lower} and {one.upper}"


def _groups(form: QuestionForm) -> str:
    names = " and ".join(one.column for one in form.groups)
    rest = ", with all others as one group" if form.other else ""
    if form.grouping == "listed":
        sizes = [len(one.values.splitlines()) for one in form.groups]
        counts = " times ".join(str(size) for size in sizes)
        return f", by {names} ({counts} listed {'value' if sizes == [1] else 'values'}){rest}"
    if form.grouping == "intervals":
        return f", by intervals of {names} ({form.edges}){rest}"
    return f", by {names}, in groups that are to be found{rest}" if form.grouping == "found" else ""


def _condition(one: Condition) -> str:
    said = f"{one.column} {_COMPARED[one.comparison]}"
    if one.comparison in WITHOUT_VALUE:
        return said
    return f"{said} {' and '.join(one.value.split(', ')) if one.comparison == 'between' else one.value}"


def _listed(parts: list[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + (parts[-1] if parts else "nothing")
