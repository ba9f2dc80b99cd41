"""Wording: questions, previews and guarantees in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from viameter.service.page.aggregate_fields import columns_of, inputs_of
from viameter.service.page.figures import width_shown
from viameter.service.page.questions import COMPARISONS, WITHOUT_VALUE, Form, used_rows
from viameter.tables.aggregates import WORDS
from viameter.tables.bounding.limits import FIRST_BY

_ASKED = {"minimum": "about the least", "maximum": "about the greatest"}
"""What is asked, where the title of its word is no part of a sentence."""


def question_in_words(form: Form, unit: str) -> str:
    """What a form asks, in a sentence.

    >>> wanted = {"what": "mean", "column": "wait", "lower": "0", "upper": "240"}
    >>> form = {f"aggregate-1-{name}": text for name, text in wanted.items()} | {"expression": "age > 60"}
    >>> question_in_words(form, "patient")
    'The mean of wait between 0 and 240, of rows where age > 60.'
    """
    if form.get("asked") == "top":
        counted = plural(unit) if form.get("by") == "units" else "rows"
        said = f"which {form['top']} groups have most {counted}, in order"
    else:
        said = _listed([_aggregate(held, unit) for held in used_rows(form, "aggregate").values()])
    said += _groups(form)
    conditions = [_condition(held) for held in used_rows(form, "condition").values()]
    if form.get("expression") or conditions:
        said += f", of rows where {form.get('expression') or _listed(conditions)}"
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


def _aggregate(held: Mapping[str, str], unit: str) -> str:
    what = held["what"]
    if what == "count_units":
        return f"the number of {plural(unit)}"
    start = f"the {held['q']} quantile" if what == "quantile" else _ASKED.get(what, f"the {WORDS[what].title}")
    pairs = [" and ".join(held[end] for end in one.fields) for one in inputs_of(what) if one.is_pair]
    columns = [held[field] for field in columns_of(what)]
    said = [f"{column} between {pair}" for column, pair in zip(columns, pairs, strict=True)]
    return f"{start} of {_listed(said)}" if said else start


def _groups(form: Form) -> str:
    rows = used_rows(form, "group").values()
    names, way = " and ".join(held["column"] for held in rows), form.get("grouping")
    rest = ", with all others as one group" if form.get("other") else ""
    if way == "listed":
        sizes = [len(held["values"].splitlines()) for held in rows]
        counts = " times ".join(str(size) for size in sizes)
        return f", by {names} ({counts} listed {'value' if sizes == [1] else 'values'}){rest}"
    if way == "intervals":
        return f", by intervals of {names} ({form['edges']}){rest}"
    return f", by {names}, in groups that are to be found{rest}" if way == "found" else ""


def _condition(held: Mapping[str, str]) -> str:
    comparison, value = held["comparison"], held.get("value", "")
    compared = COMPARISONS[comparison].partition(", as in ")[0].removesuffix(" the text")
    said = f"{held['column']} {compared}"
    if comparison in WITHOUT_VALUE:
        return said
    return f"{said} {' and '.join(value.split(', ')) if comparison == 'between' else value}"


def _listed(parts: list[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + (parts[-1] if parts else "nothing")
