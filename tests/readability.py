"""How long a report takes to read: of each page the words, numbers and minutes in sight, and what is too much.

`make pages` (`python tests/readability.py reports/ji2022 ...`) prints a line per page and, below, each miss of the
limits: a first page of at most 350 words above the folds, "What we see" of at most 120 words and three bullets, no
section without content, no table that opens with more than twelve rows, no sentence of more than 35 words. Exit code 1
where there is a miss.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bs4 import BeautifulSoup, NavigableString, Tag

FIRST_PAGE, FINDING, BULLETS, SENTENCE, ROWS = 350, 120, 3, 35, 12
WORDS_PER_MINUTE = 230
#: neither prose nor in sight
_ASIDE = ("svg", "script", "style", "template", "dialog")
#: points that end no sentence
_ABBREVIATION = re.compile(r"\b(?:al|e\.g|i\.e|cf|vs|v|Fig|Sect|Eq|approx|no|pp?|[A-Z])\.$")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"”']*\s+(?=[\"“(]?[A-Z0-9±−])")
#: a number with its interval, unit or sign is one number
_NUMBER = re.compile(r"[−-]?\d[\d,.]*%?(?:\s*\[[^\]]*\d[^\]]*\])?")


@dataclass
class Page:
    """What a reader meets on a page. misses : limits that it breaks, a line each."""

    name: str
    words: int = 0
    numbers: int = 0
    whole: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def minutes(self) -> float:
        return self.words / WORDS_PER_MINUTE


def text_of(tag: Tag, in_sight: bool = True) -> str:
    """The words of a part of a page, without figures; in_sight : without what is folded."""
    parts = []
    for piece in tag.descendants:
        if type(piece) is not NavigableString:
            continue
        folds = [p for p in piece.parents if p.name == "details" and not p.has_attr("open")]
        inside = [f for f in folds if tag in f.parents or f is tag]
        hidden = in_sight and any(
            piece.find_parent("summary") is None or f.summary not in piece.parents for f in inside
        )
        if not hidden and not any(p.name in _ASIDE or p.get("hidden") is not None for p in piece.parents):
            parts.append(str(piece))
    return " ".join("".join(parts).split())


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    whole: list[str] = []
    for part in _SENTENCE_END.split(text):
        if whole and _ABBREVIATION.search(whole[-1]):
            whole[-1] += f" {part}"
        else:
            whole.append(part)
    return whole


def paragraphs(main: Tag) -> Iterator[str]:
    """Each paragraph, list item and caption of a page, folded ones, too. A list inside an item stands by itself."""
    for tag in main.find_all(["p", "li", "figcaption", "caption", "dd"]):
        if (tag.find_parent(["svg", "nav", "table"]) and tag.name != "caption") or tag.find(["p", "li"]):
            continue
        text = " ".join(tag.get_text().split())
        if text:
            yield text


def empty_sections(main: Tag) -> Iterator[str]:
    """Headings below which nothing but code follows before the next heading of their level or the end."""
    headings = main.find_all(["h2", "h3"])
    for heading in headings:
        content = False
        for tag in heading.find_all_next():
            if (tag in headings and tag.name <= heading.name) or main not in tag.parents:
                break
            if tag.find_parent("details", class_="code") or tag.name in ("h2", "h3"):
                continue
            if tag.name in ("p", "li", "figure", "table", "dl", "pre", "select", "input", "blockquote"):
                content = True
                break
        if not content:
            yield heading.get_text().rstrip("#").strip()


def open_tables(main: Tag) -> Iterator[str]:
    """Tables of more than twelve rows that neither the page folds nor its script (which folds those of even rows)."""
    for table in main.find_all("table"):
        rows = table.select("tbody > tr")
        if len(rows) <= ROWS or table.find_parent("details") or not table.thead:
            continue
        heads = len(table.thead.tr.find_all(["th", "td"], recursive=False))
        if not table.find_parent(class_="table-box") or any(
            len(r.find_all(["td", "th"], recursive=False)) != heads for r in rows
        ):
            yield f"{len(rows)} rows: {(table.caption or table).get_text()[:80].strip()}"


def read(path: Path) -> Page:
    """A page of a report, measured: "What we see", or of the first page what stands above the list of notebooks."""
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    main = soup.find("main")
    first = path.name == "index.html"
    parts = main.select("h1, .collected, .before, .whom, .asked") if first else main.select(".answer")
    page = Page(path.name, whole=len(text_of(main, in_sight=False).split()))
    if parts:
        _measure(page, parts, first)
    page.misses += [f"empty section: {name}" for name in empty_sections(main)]
    page.misses += [f"open table: {name}" for name in open_tables(main)]
    page.misses += [
        f"{n} words: {s}" for p in paragraphs(main) for s in sentences(p) if (n := len(s.split())) > SENTENCE
    ]
    return page


def _measure(page: Page, parts: list[Tag], first: bool) -> None:
    text = " ".join(text_of(part) for part in parts)
    page.words, page.numbers = len(text.split()), len(_NUMBER.findall(text))
    if page.words > (FIRST_PAGE if first else FINDING):
        page.misses.append(f"{page.words} words in sight")
    bullets = [li for part in parts for li in part.find_all("li") if not li.find_parent("details")]
    if not first and len(bullets) > BULLETS:
        page.misses.append(f"{len(bullets)} bullets in sight")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reports", nargs="+", type=Path, help="pages, or folders of reports")
    parser.add_argument("--brief", action="store_true", help="the table only")
    args = parser.parse_args(arguments)
    paths = [p for r in args.reports for p in (sorted(r.glob("*.html")) if r.is_dir() else [r])]
    pages = [(p.parent.name, read(p)) for p in paths]
    print(f"{'page':44} {'in sight':>8} {'numbers':>7} {'minutes':>7} {'whole':>7} {'misses':>6}")
    for study, page in pages:
        name = f"{study}/{page.name}"
        print(f"{name:44} {page.words:8,} {page.numbers:7} {page.minutes:7.1f} {page.whole:7,} {len(page.misses):6}")
    for study, page in pages:
        for miss in [] if args.brief else page.misses:
            print(f"{study}/{page.name}: {miss}")
    return int(any(page.misses for _, page in pages))


if __name__ == "__main__":
    sys.exit(main())
