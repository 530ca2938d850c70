"""The index of a report's search, read from its pages: answers, findings, headings, figures, tables and terms.

It is a page itself, which holds all there is to find: pages are read from a disk, too, where no script may load a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from judgebook.report.blocks import first_sentences
from judgebook.report.prose import words

#: characters of the text of a place that can be found, and of all texts of a report
LONGEST, MOST = 500, 140_000
#: characters of a caption that stand beside the number of a figure or table
HEADING = 120
_MAIN = re.compile(r"<main\b.*?</main>", re.DOTALL)
#: what is no text, or not for others; drawings keep what they are about
_ASIDE = re.compile(
    r'<!--private-->.*?<!--/private-->|<script\b.*?</script>|<details class="(?:code|every)">.*?</details>', re.DOTALL
)
_DRAWING = re.compile(
    r'<svg class="[^"]*" role="img" aria-label="([^"]*)".*?</svg>|<img [^>]*alt="([^"]*)"[^>]*>', re.DOTALL
)
_PIECE = re.compile(
    r'<h(?P<level>[1-3])(?: id="(?P<place>[^"]+)")?[^>]*>(?P<heading>.*?)</h(?P=level)>'
    r'|<section class="asked" id="(?P<asked>[^"]+)">'
    r'|<figure(?: id="(?P<figure>[^"]+)")?>(?P<drawn>.*?)</figure>'
    r'|<div class="table-box[^"]*" id="(?P<table>[^"]+)"[^>]*>(?P<cells>.*?)</table>'
    r'|<dt id="(?P<term>term-[^"]+)">(?P<word>.*?)</dt><dd>(?P<meaning>.*?)</dd>'
    r"|<(?P<tag>p|li|blockquote)\b[^>]*>(?P<text>.*?)</(?P=tag)>",
    re.DOTALL,
)
_CAPTION = re.compile(r"<(figcaption|caption)>(.*?)</\1>", re.DOTALL)
_CELL = re.compile(r"<t[dh][^>]*>(.*?)</t[dh]>", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """What can be found. page : its name. place : id on the page. kind : answer, finding, section, figure, table or
    term. names : labels and systems that it is about, beyond its text."""

    page: str
    place: str
    kind: str
    title: str
    text: str
    names: tuple[str, ...] = ()


def entries(pages: Mapping[str, str], names: Iterable[str] = ()) -> Iterator[Entry]:
    """What can be found on the pages of a report. pages : name -> HTML, in order. names : of labels and systems.

    A term is found once. Texts are cut where they would make the page too large.
    """
    names, terms, left = set(names), set[str](), MOST
    for page, html in pages.items():
        for entry in _of_page(page, html, names):
            if entry.kind == "term" and entry.title in terms:
                continue
            terms |= {entry.title} if entry.kind == "term" else set()
            text = entry.text[: min(LONGEST, max(left, 0))]
            left -= len(text)
            yield Entry(page, entry.place, entry.kind, entry.title, text, entry.names)


def _of_page(page: str, html: str, names: set[str]) -> Iterator[Entry]:
    main = _MAIN.search(html)
    inside = _DRAWING.sub(r"<q>\1\2</q>", _ASIDE.sub("", main[0])) if main else ""
    place, kind, title, texts = "main", "section", "", list[str]()
    for piece in _PIECE.finditer(inside):
        if piece["heading"] is not None or piece["asked"]:
            if title:
                yield Entry(page, place, kind, title, " ".join(texts))
            texts, title = [], words(piece["heading"] or "").rstrip("#").strip()
            place = piece["asked"] or piece["place"] or place
            kind = "answer" if piece["asked"] or (kind == "answer" and not title) else _kind(piece, kind)
        elif piece["text"] is not None:
            texts.append(words(piece["text"]))
        elif piece["term"]:
            yield Entry(page, piece["term"], "term", words(piece["word"]), words(piece["meaning"]))
        elif piece["figure"] or piece["table"]:
            yield _shown(page, piece, names)
    if title:
        yield Entry(page, place, kind, title, " ".join(texts))


def _kind(piece: re.Match[str], before: str) -> str:
    """Of a section with a heading: that of an answer of the first page has no id of its own."""
    if before == "answer" and not piece["place"]:
        return "answer"
    return "finding" if (piece["place"] or "").startswith("what-we-see") else "section"


def _shown(page: str, piece: re.Match[str], names: set[str]) -> Entry:
    """A figure or table, with the labels and systems it names."""
    html = piece["drawn"] or piece["cells"]
    caption = _CAPTION.search(html)
    number, _, text = words(caption[2] if caption else "").partition(". ")
    if piece["table"]:
        named = names & {words(cell) for cell in _CELL.findall(html)}
    else:
        named = {name for name in names if name in words(html)}
    kind = "table" if piece["table"] else "figure"
    opening = first_sentences(text, HEADING)
    title = ". ".join(filter(None, [number or kind.capitalize(), opening]))
    rest = text.removeprefix(opening).strip() if not opening.endswith("…") else text
    return Entry(page, piece["table"] or piece["figure"], kind, title, rest, tuple(sorted(named)))
