"""The sentences of a page, as a reader sees them: text of headings, paragraphs, lists, captions and cells of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

#: what is no text of the report; drawings say in words what they show, in `aria-label`
_SKIPPED = {"script", "style", "svg", "nav", "form", "button", "pre", "head", "footer", "template"}
_BLOCKS = {
    *(
        "p",
        "li",
        "td",
        "th",
        "tr",
        "table",
        "caption",
        "figcaption",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "div",
    ),
    *("section", "dt", "dd", "blockquote", "summary", "details", "br", "header", "main", "ul", "ol", "dl", "article"),
}
_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[“\"'(]?[A-Z])")
#: pictures -> the attribute that says what they show
_DRAWN = {"svg": "aria-label", "img": "alt"}
_VOID = {"br", "img", "input", "hr", "meta", "link", "source", "col", "wbr"}


def sentences(html: str) -> Iterator[str]:
    """Sentences and cells with a letter or a digit, in order, blanks as single spaces."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    for block in [*reader.blocks, "".join(reader.text)]:
        for sentence in _SPLIT.split(" ".join(block.split())):
            if re.search(r"\w", sentence):
                yield sentence


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self.text: list[str] = []
        #: open elements that are skipped
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._inside:
            if tag in _BLOCKS or tag in _DRAWN:
                self._end()
            self.blocks.append(dict(attrs).get(_DRAWN.get(tag, "")) or "")
        if (tag in _SKIPPED or self._inside) and tag not in _VOID:
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass
        elif tag in _BLOCKS and not self._inside:
            self._end()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.text.append(data)

    def _end(self) -> None:
        self.blocks.append("".join(self.text))
        self.text = []
