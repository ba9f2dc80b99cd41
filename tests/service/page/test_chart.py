"""Charts: every dot and line is where its number is, whatever the numbers are, and names are text."""

from __future__ import annotations

import math
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viameter.service.page.chart import LEFT, MOST_ROWS, RIGHT, Row, chart, in_words, rows_of, scale_of
from viameter.service.page.figures import decimals_for, shown, width_shown

HOSTILE = "</text><script>alert(1)</script>\"'&"
ANSWER: dict[str, Any] = {
    "keys": ["ward", "urgent"],
    "columns": ["ward", "urgent", "n", "n_lower", "n_upper", "w", "w_lower", "w_upper"],
    "rows": [["A", True, 120, 100, 140, 31.5, 20.25, 60.0], [None, False, 0, 0, 20, 88.0, None, None]],
}

numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 3))
triples = st.lists(numbers, min_size=3, max_size=3).map(sorted)


def drawn(rows: list[Row]) -> ET.Element:
    """The chart as XML: SVG in a page is written so that both readers agree."""
    return ET.fromstring(str(chart(rows, id="c", title="numbers")))


def place(element: ET.Element, name: str) -> float:
    """A place in percent."""
    return float(element.attrib[name].removesuffix("%"))


def number_at(svg: ET.Element, percent: float) -> float:
    """Which number is at a place, by the texts below the axis."""
    ticks = [
        (place(one, "x"), float(one.attrib["data-number"])) for one in svg.iter("text") if "data-number" in one.attrib
    ]
    (x1, n1), (x2, n2) = ticks[0], ticks[-1]
    return n1 + (percent - x1) / (x2 - x1) * (n2 - n1)


@given(st.lists(triples, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_dots_and_lines_are_where_their_numbers_are(cases: list[list[float]]) -> None:
    rows = [Row(f"g{i}", value, lower, upper) for i, (lower, value, upper) in enumerate(cases)]
    svg = drawn(rows)
    groups = svg.findall("g")
    assert len(groups) == len(rows)
    scale = scale_of(rows)
    assert scale is not None
    # Places are written to a thousandth of a percent.
    close = (scale.end - scale.start) * 2e-5
    for row, group in zip(rows, groups, strict=True):
        dot = group.find("circle")
        line = group.find("line[@class='interval']")
        assert dot is not None and line is not None
        found = [number_at(svg, at) for at in (place(line, "x1"), place(dot, "cx"), place(line, "x2"))]
        assert found == pytest.approx([row.lower, row.value, row.upper], abs=close)
        caps = [number_at(svg, place(one, "x1")) for one in group.findall("line[@class='cap']")]
        assert caps == pytest.approx([row.lower, row.upper], abs=close)
        assert all(LEFT - 0.01 <= at <= RIGHT + 0.01 for at in (place(line, "x1"), place(line, "x2")))


@given(st.lists(triples, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_ticks_are_few_round_numbers_that_rise(cases: list[list[float]]) -> None:
    scale = scale_of([Row("", *case) for case in cases])
    assert scale is not None
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 9 and ticks == sorted(set(ticks))
    mantissa = scale.step / 10 ** math.floor(math.log10(scale.step) + 1e-9)
    assert min(abs(mantissa - one) for one in (1, 2, 5, 10)) < 1e-6
    assert ticks[0] <= min(min(case) for case in cases) + 1e-9 and ticks[-1] >= max(max(case) for case in cases) - 1e-9


def test_counts_begin_at_0_and_numbers_far_from_it_do_not() -> None:
    near = scale_of([Row("", 120, 100, 300)])
    far = scale_of([Row("", 1000, 990, 1010)])
    below = scale_of([Row("", -120, -300, -100)])
    assert near is not None and far is not None and below is not None
    assert near.start == 0 and far.start > 900 and below.end == 0


def test_an_answer_is_drawn_by_group_with_its_own_numbers() -> None:
    assert rows_of(ANSWER, "n") == [Row("A, true", 120, 100, 140), Row("(missing), false", 0, 0, 20)]
    assert rows_of(ANSWER, "w") == [Row("A, true", 31.5, 20.25, 60.0), Row("(missing), false", 88.0, None, None)]
    whole = {"keys": [], "columns": ["n", "n_lower", "n_upper"], "rows": [[5, 1, 9]]}
    assert rows_of(whole, "n") == [Row("all rows", 5, 1, 9)]
    many = {**whole, "rows": [[5, 1, 9]] * 100}
    assert len(rows_of(many, "n")) == MOST_ROWS


def test_an_end_that_is_nowhere_has_no_cap_and_reaches_the_edge() -> None:
    svg = drawn([Row("a", 5, None, 9), Row("b", 5, 1, None), Row("c", None, None, None)])
    first, second, third = svg.findall("g")
    assert [len(one.findall("line[@class='cap']")) for one in (first, second, third)] == [1, 1, 0]
    left, right = first.find("line[@class='interval']"), second.find("line[@class='interval']")
    assert left is not None and right is not None
    assert place(left, "x1") == LEFT and place(right, "x2") == RIGHT
    assert third.find("circle") is None and "unknown" in "".join(third.itertext())


def test_where_there_are_no_ends_there_are_dots_alone() -> None:
    text = str(chart([Row("a", 5, None, None), Row("b", None, None, None)], id="c", title="t"))
    assert "interval" not in text.replace('class="intervals"', "") and "no lower end" not in text
    assert text.count("<circle") == 1 and in_words(Row("", 5, None, None)) == "5"
    assert (
        in_words(Row("", None, 0, 240)) == "unknown (0 to 240)"
        and in_words(Row("", 5, None, 9)) == "5 (no lower end to 9)"
    )


def test_names_are_text_and_the_picture_says_what_it_is() -> None:
    text = str(chart([Row(HOSTILE, 1, 0, 2)], id="c", title=HOSTILE))
    svg = ET.fromstring(text)
    assert "<script" not in text and not list(svg.iter("script"))
    assert svg.attrib["role"] == "img" and svg.attrib["aria-labelledby"] == "c-title c-desc"
    assert svg.findtext("title") == HOSTILE and "table" in (svg.findtext("desc") or "")
    group = svg.find("g")
    # The whole name is there for those who point at it; what is drawn is cut.
    assert group is not None and (group.findtext("title") or "").startswith(HOSTILE)
    assert len(group.findtext("text[@class='label']") or "") <= 28
    assert not re.search(r"\s(style|on\w+)=", text)


def test_there_is_no_picture_of_nothing() -> None:
    assert str(chart([], id="c", title="t")) == str(chart([Row("a", None, None, None)], id="c", title="t")) == ""


@given(triples)
def test_words_have_the_digits_that_count(case: list[float]) -> None:
    lower, value, upper = case
    said = in_words(Row("", value, lower, upper))
    found = [float(one.replace(",", "")) for one in re.findall(r"-?[\d,]+(?:\.\d+)?", said)]
    # Rounded to no more than a tenth of half the interval, so that no digit that counts is missing.
    # Large numbers are no finer than that themselves.
    slack = (upper - lower) / 20 + 0.005 * (upper == lower) + 1e-9 + 1e-15 * max(map(abs, case))
    assert found == pytest.approx([value, lower, upper], abs=max(slack, 1e-8))


@given(st.floats(1e-6, 1e9))
def test_a_width_is_never_said_to_be_narrower_than_it_is(width: float) -> None:
    said = float(width_shown(width).replace(",", ""))
    assert width * (1 - 1e-6) <= said <= width * 1.11


def test_numbers_in_words() -> None:
    assert shown(True, 0) == "True" and shown(-1234.5, 0) in ("-1,234", "-1,235") and shown(1e20, 2) == "1e+20"
    assert decimals_for(0, 1e-20) == 9 and width_shown(0.0) == "0"
