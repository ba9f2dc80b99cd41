"""Verdicts as HTML: well formed, escaped, and without anything from elsewhere."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.cases import for_each
from tests.logic.present.verdicts import PROVED, eps, nodes, of, unknown

from viameter.logic.lang.terms import show
from viameter.logic.present.html import as_html, document_as_html
from viameter.logic.present.parts import Document, Listing, Node, Note, Paragraph, Points, Table, Tree
from viameter.logic.present.tree import tree_of
from viameter.logic.search.prover import NotProved

ALLOWED = {
    "div", "style", "p", "strong", "em", "table", "tr", "th", "td", "code", "pre", "ul", "li", "details", "summary",
    "span",
}  # fmt: skip


class Reader(HTMLParser):
    """Reads a fragment: its text, its tags, and whether they close in order."""

    def __init__(self, fragment: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.deepest = 0
        self.feed(fragment)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.deepest = max(self.deepest, self.open.count("details"))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


@pytest.mark.parametrize("name", [*PROVED, "no_query_noise"])
def test_a_verdict_is_well_formed_and_needs_nothing_from_elsewhere(name: str) -> None:
    verdict = of(name)
    read = Reader(as_html(verdict))
    assert set(read.tags) <= ALLOWED
    assert read.attributes <= {"class", "style", "open"}
    assert "url(" not in as_html(verdict) and "@import" not in as_html(verdict)
    assert str(verdict.status) in read.text and name in read.text
    assert verdict._repr_html_() == as_html(verdict)


@for_each("name", PROVED)
def test_the_whole_proof_is_in_it_and_folds(name: str) -> None:
    (proved,) = of(name).proofs
    read = Reader(as_html(of(name)))
    root = tree_of(proved)
    for node in nodes(root):
        assert node.head in read.text and node.rule in read.text
        for note in node.notes:
            assert "\n".join(note.lines) in read.text
    for clauses in proved.proof.invariants.values():
        assert all(show(clause) in read.text for clause in clauses)
    folding = sum(1 for node in nodes(root) if node.children)
    assert read.tags.count("details") == folding + 2  # and the listing, and the tree as a whole


HOSTILE = "<script>alert('1')</script> & \"x\" &lt;"


def test_everything_is_escaped() -> None:
    node = Node(HOSTILE, HOSTILE, 1, (Note(HOSTILE, (HOSTILE,)),), (Node(HOSTILE),))
    parts = (
        Paragraph(HOSTILE), Points(HOSTILE, (HOSTILE,)), Listing(HOSTILE, (HOSTILE,)), Tree(HOSTILE, node),
        Table(HOSTILE, ((HOSTILE, HOSTILE),), (HOSTILE, HOSTILE)),
    )  # fmt: skip
    fragment = document_as_html(Document("PROVED", HOSTILE, parts))
    read = Reader(fragment)
    assert "script" not in read.tags and set(read.tags) <= ALLOWED
    assert read.text.count(HOSTILE) == 1 + 1 + 2 + 2 + 6 + 5
    verdict = replace(unknown(NotProved(HOSTILE, 3, {"q<1>[0]": 1}), bound=eps()), program=HOSTILE, adjacency=HOSTILE)
    read = Reader(as_html(verdict))
    assert set(read.tags) <= ALLOWED and read.text.count(HOSTILE) == 3
