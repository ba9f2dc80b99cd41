"""What notebooks show: well-formed HTML in which nothing that people chose is read as HTML."""

from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables.showing.made import answer, carriers, estimate, preview, table

import viameter as vm
from viameter.tables.expressions import Kind
from viameter.tables.preview import PreviewRow
from viameter.tables.showing import answer_html, preview_html, table_html
from viameter.tables.showing.markup import bar, strip
from viameter.tables.units import per

EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='x",
    "&lt;b&gt;",
    "</td></table>",
    "<!--",
]
OURS = {
    "figure",
    "figcaption",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "div",
    "b",
    "span",
    "svg",
    "line",
    "circle",
    "rect",
}
ATTRIBUTES = {
    "style", "scope", "colspan", "width", "height", "viewbox", "aria-hidden", "x1", "x2", "y1", "y2", "stroke",
    "stroke-width", "cx", "cy", "r", "fill", "x", "y", "opacity",
}  # fmt: skip


class Reader(HTMLParser):
    """Reads HTML, and insists that tags close in order and are those that the library writes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.texts: list[str] = []
        self.shapes: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in OURS and {name for name, _ in attrs} <= ATTRIBUTES
        self.open.append(tag)
        self.shapes.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError("a declaration")


def all_texts(evil: str) -> list[Any]:
    """An answer, a preview and a table that are made of this text wherever people choose text."""
    unit = per(evil, rows=2)
    numbers = estimate([(1.0, 0.0, 2.0)])
    row = PreviewRow(evil, vm.zcdp(1), evil, {evil: 2.0}, evil)
    return [
        answer_html(answer((evil,), [(evil,)], {evil: numbers}, covers={evil: evil}, unit=unit, notes=(evil,))),
        preview_html(preview(rows=(row,), unit=unit, kept=evil, notes=(evil,))),
        table_html(table({evil: Kind.TEXT}, steps=(evil,), unusable=(evil,), unit=unit)),
    ]


@pytest.mark.parametrize("evil", EVIL)
def test_what_people_chose_is_text_and_never_markup(evil: str) -> None:
    for text in all_texts(evil):
        assert any(evil in said for said in Reader(text).texts)
        assert "<script" not in text and "<img" not in text and "<!--" not in text


@given(st.text(st.characters(codec=None), min_size=1, max_size=30))
def test_any_text_at_all_is_shown_as_text(evil: str) -> None:
    for text in all_texts(evil):
        Reader(text)


def test_an_answer_has_numbers_intervals_pictures_and_its_cost() -> None:
    assert carriers()._repr_html_() == answer_html(carriers())
    found = Reader(answer_html(carriers()))
    for text in (
        "carrier",
        "C0",
        "1000",
        "[990, 1010]",
        "12.3",
        "[11.9, 12.8]",
        "confidence 95%, of each interval by itself",
    ):
        assert text in found.texts
    assert "cost zcdp(1/200) for one tailnum with all of its rows (user)" in found.texts
    assert sum(tag == "svg" for tag, _ in found.shapes) == 6


def test_an_answer_in_html_stops_after_forty_groups() -> None:
    found = Reader(answer_html(carriers(1000)))
    assert "... and 960 more" in found.texts and "C39" in found.texts and "C40" not in found.texts
    assert "more" not in answer_html(carriers(40))


def test_pictures_have_one_scale_for_an_aggregate() -> None:
    made = answer(("k",), [("a",), ("b",)], {"x": estimate([(2.5, 0.0, 5.0), (10.0, 9.0, 10.0)])})
    dots = [float(str(given["cx"])) for tag, given in Reader(answer_html(made)).shapes if tag == "circle"]
    assert dots == [26.0, 92.0]
    lines = [given for tag, given in Reader(answer_html(made)).shapes if tag == "line" and given["y1"] == given["y2"]]
    assert [(line["x1"], line["x2"]) for line in lines] == [("4.0", "48.0"), ("83.2", "92.0")]


def test_pictures_of_points_of_huge_numbers_and_of_none() -> None:
    assert 'cx="48.0"' in strip(3, 3, 3, least=3, greatest=3)
    assert 'cx="48.0"' in strip(0.0, -1e308, 1e308, least=-1e308, greatest=1e308)
    assert strip(0.0, float("-inf"), 1.0, least=float("-inf"), greatest=1.0) == ""


def test_colors_are_those_of_the_page() -> None:
    for text in (answer_html(carriers()), preview_html(preview()), table_html(table())):
        assert "#" not in text and "rgb" not in text and "http" not in text and "url(" not in text
        for _, written in Reader(text).shapes:
            assert written.get("fill") in (None, "none", "currentColor")
            assert written.get("stroke") in (None, "currentColor")


def test_a_preview_in_html_says_what_the_text_says() -> None:
    assert preview()._repr_html_() == preview_html(preview())
    found = Reader(preview_html(preview(spend="3/5", fits=False, notes=("a note",)))).texts
    for text in (
        "zcdp(1/300)", "gaussian 245", "± 481", "± 105 at 100 rows, ± 9.88 at 1,000 rows", "width, 95%",
        "total zcdp(3/5) for one tailnum with all of its rows (user)", "zcdp(1/10) spent of zcdp(3/5), zcdp(1/2) left",
        "fits: no: zcdp(1/10) over what is left", "counts: of one tailnum, at most 20 rows, 4 groups", "note: a note",
    ):  # fmt: skip
        assert text in found
    assert "fits: yes: zcdp(49/100) would be left" in Reader(preview_html(preview())).texts


def test_a_table_in_html_says_what_the_text_says() -> None:
    found = Reader(table_html(table(steps=("filter(distance > 500)",), unusable=("shape",))))
    for text in (
        "private table on DuckDB", "tailnum", "TEXT", "distance", "INTEGER", "unusable: shape",
        "unit: one tailnum with all of its rows (user); two tables are neighbors if one has one person more, with "
        "all of their records", "counts: at most 20 rows", "step 1: filter(distance > 500)",
        " 1/100 of 1/2 spent (rho, ZCDP)",
    ):  # fmt: skip
        assert text in found.texts
    assert "... and 10 more" in table_html(table({f"c{place}": Kind.REAL for place in range(50)}))


def test_the_bar_of_a_budget() -> None:
    widths = [bar(share).split('width="')[3].split('"')[0] for share in map(Fraction, ("0", "1/1000000", "1/2", "1"))]
    assert widths == ["0.0", "1.0", "95.0", "190.0"]
    assert bar(None) == ""
