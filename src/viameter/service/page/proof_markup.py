"""The proof of a verdict as markup for this page: known elements and classes, and nothing else.

`viameter.logic` makes a fragment of HTML that stands for itself, with styles of its own, which the page's policy does
not allow. It was made in a process that read the text of a stranger: here it is taken apart and written anew.
"""

from __future__ import annotations

from html.parser import HTMLParser

from markupsafe import Markup, escape

ELEMENTS = frozenset(
    {"div", "p", "strong", "em", "code", "pre", "span", "ul", "li", "details", "summary", "table", "tr", "th", "td"}
)
CLASSES = frozenset({"viameter-verdict", "title", "at", "rule", "note"})
UNSEEN = frozenset({"style", "script", "template", "title", "noscript", "textarea", "iframe"})
"""Elements of which the content is left out too."""


def proof_markup(fragment: str) -> Markup:
    """A fragment with known elements and classes alone; all else of it is text, or is left out.

    >>> proof_markup('<p style="color:red" onclick="x()">a &lt; b<script>x()</script></p><img src=x>')
    Markup('<p>a &lt; b</p>')
    """
    reader = _Reader()
    reader.feed(fragment)
    reader.close()
    return Markup("").join([*reader.parts, *(Markup(f"</{tag}>") for tag in reversed(reader.open))])


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[Markup] = []
        self.open: list[str] = []
        self.unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNSEEN:
            self.unseen += 1
        if self.unseen or tag not in ELEMENTS:
            return
        given = dict(attrs)
        classes = [one for one in (given.get("class") or "").split() if one in CLASSES]
        named = Markup(' class="{}"').format(" ".join(classes)) if classes else Markup("")
        unfolded = Markup(" open") if tag == "details" and "open" in given else Markup("")
        self.parts.append(Markup("<{}{}{}>").format(tag, named, unfolded))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in UNSEEN:
            self.unseen = max(self.unseen - 1, 0)
        # What was not opened cannot be closed: no fragment gets out of the place where it stands.
        if self.unseen or tag not in self.open:
            return
        while self.open:
            closed = self.open.pop()
            self.parts.append(Markup(f"</{closed}>"))
            if closed == tag:
                return

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.parts.append(escape(data))
