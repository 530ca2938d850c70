"""HTML pages of executed notebooks, and the index of a study. A page needs no network and runs no foreign code.

Notebooks show text from data files. All HTML and Markdown passes through `prose.clean`, drawings through `svg.inline`;
the page's own policy forbids any script but ours and any address but the page itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from pygments import highlight as _pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from judgebook import project
from judgebook.report import svg
from judgebook.report.blocks import Block, beginning, parts
from judgebook.report.prose import Outline, clean, markdown, opening, slug, words
from judgebook.report.search import Entry
from judgebook.study import escape


@dataclass(frozen=True)
class Compared:
    """Every pair of systems in one evaluation, as text that the page escapes.

    title : names the evaluation. whose : whose judgements the verdicts are about. about : how to read them. unit : of
    all differences; empty where labels have different ones. ci, n : headings of the interval and of the numbers of
    units. rows : label, the two systems, difference, ends of its interval, p-value, n, verdict, unit. ranks : system,
    rank and the ends of its interval, the best first; ranked : what that order is by. systems : all, in the order in
    which they are offered. places : names, behind the notebook's, of a table of all pairs; page : its address, empty
    where there is none.
    """

    title: str
    whose: str
    about: str
    unit: str
    ci: str
    n: str
    rows: tuple[tuple[str, ...], ...]
    ranks: tuple[tuple[str, ...], ...] = ()
    ranked: str = ""
    systems: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    page: str = ""


@dataclass(frozen=True)
class Cite:
    """How a report is cited. text : a line for a list of references. bibtex : the same as BibTeX. data : what to cite
    for the data. licences : of what, and which."""

    text: str
    bibtex: str
    data: str
    licences: tuple[tuple[str, str], ...]


#: points between the margins: the narrower of A4 and Letter, upright and lying
UPRIGHT, LYING = 520.0, 715.0
#: sizes of type in points: the usual one, the smallest upright, the smallest of all
USUAL, SMALL, SMALLEST = 8.5, 6.5, 4.5
#: in parts of the size of type: a character of a cell and of a heading in DejaVu Sans, a wide face, and what is left
#: between two columns
_CHARACTER, _BOLD, _GAP = 0.64, 0.72, 0.8


@dataclass(frozen=True)
class Fit:
    """size : of type in points. whole : cells do not break. lying : on a sheet turned by 90°. broken : words break, as
    nothing else would fit."""

    size: float
    whole: bool = False
    lying: bool = False
    broken: bool = False

    @property
    def classes(self) -> str:
        return " ".join(name for name in ("whole", "lying", "broken") if getattr(self, name))


def fit(table: str) -> Fit:
    """How a table, given as clean HTML, fits on a page."""
    whole, broken = _needed(table)
    if (size := UPRIGHT / whole) >= SMALL:
        return Fit(_down(size), whole=True)
    if (size := UPRIGHT / broken) >= SMALL:
        return Fit(_down(size))
    if (size := LYING / whole) >= SMALL:
        return Fit(_down(size), whole=True, lying=True)
    size = LYING / broken
    return Fit(max(SMALLEST, _down(size)), lying=True, broken=size < SMALLEST)


def _needed(table: str) -> tuple[float, float]:
    """Width of a table in parts of the size of type: as on the screen, and with cells that break."""
    wholes: dict[int, float] = {}
    breaks: dict[int, float] = {}
    for row in table.split("<tr")[1:]:
        for i, cell in enumerate(re.findall(r"<t[dh][ >].*?</t[dh]>", row, re.DOTALL)):
            text = words(cell)
            character = _BOLD if cell.startswith("<th") else _CHARACTER
            longest = character * max(map(len, re.split(r"[\s-]", text))) + _GAP
            whole = character * len(text) + _GAP if "nowrap" in cell.partition(">")[0] else longest
            breaks[i], wholes[i] = max(breaks.get(i, 1), longest), max(wholes.get(i, 1), whole)
    return sum(wholes.values()) or 1, sum(breaks.values()) or 1


def _down(size: float) -> float:
    return min(USUAL, int(10 * size) / 10)


#: files of a figure or table in the order of their links, and what these say
_DOWNLOADS = {"pdf": "PDF", "png": "PNG (300 dpi)", "svg": "SVG", "csv": "CSV", "tex": "TEX"}
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Page:
    """What every page of a study shows: nav is name and title of each notebook that has a page; name is empty on the
    index. note : shown above the page, where it is not of the same run as the others. sampling : how far sampling
    weights of dialogues differ (`features.profile`), with `weighted` and `unweighted`, what of the page uses them and
    what does not; None where they do not differ. labels : as of `Outline`. whole : whether the pages that the first one
    names beside notebooks, its summary and the search, are there."""

    study_title: str
    simulated: bool
    name: str = ""
    nav: tuple[tuple[str, str], ...] = ()
    note: str = ""
    sampling: Mapping[str, Any] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    whole: bool = True


@dataclass(frozen=True)
class Card:
    """A notebook on the index. finding is Markdown. note : as of Page."""

    name: str
    title: str
    question: str = ""
    finding: str = ""
    note: str = ""


@dataclass(frozen=True)
class Answered:
    """A question on the index with its answer (Markdown). svg : a figure; empty where there is none. evidence : number
    and address of the notebook with the evidence; empty where there is none. older : numbers of the notebooks that it
    draws on whose results are from an earlier run."""

    key: str
    question: str
    text: str
    svg: str = ""
    alt: str = ""
    caption: str = ""
    evidence: tuple[str, str] = ("", "")
    older: tuple[str, ...] = ()


@dataclass(frozen=True)
class Before:
    """`Before you read on`: findings on the design. findings : (what was found, what changes and what to do, which
    answers it concerns), in Markdown but for the last. note : what was checked, and what was not. page : address of the
    notebook with the rest; empty where it has no page. older : as in `Answered`. unconfirmed : open questions on how
    the data are read: fact and sentence, as plain text."""

    findings: tuple[tuple[str, str, str], ...]
    note: str
    page: str = ""
    older: tuple[str, ...] = ()
    unconfirmed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Absent:
    """A notebook without a page: state is skipped, failed or not run; reason is a sentence."""

    name: str
    title: str
    state: str
    reason: str


def highlight(source: str) -> Markup:
    """Python source as coloured HTML."""
    return Markup(_pygments(source, PythonLexer(), HtmlFormatter()))


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(_TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    shared = (markdown, highlight, clean, coded, width, slug, words, opening, beginning)
    environment.globals |= {function.__name__: function for function in shared}
    return environment


def coded(text: str) -> Markup:
    """Plain text in which what stands between backticks is code."""
    return Markup(escape.html_with_code(text))


def width(png: str) -> int | None:
    """Pixels of a page that a figure takes, so that text has one size in all; None where the picture does not say.

    png : base64. A picture holds its width, and in `pHYs` its resolution (PNG specification, 11.2.1 and 11.3.4.3).
    """
    data, at, pixels = base64.b64decode(png), 8, 0
    while (kind := data[at + 4 : at + 8]) not in (b"IDAT", b""):
        body = data[at + 8 : at + 8 + int.from_bytes(data[at : at + 4], "big")]
        if kind == b"IHDR":
            pixels = int.from_bytes(body[:4], "big")
        elif kind == b"pHYs" and body[8] == 1:  # pixels to a metre, not just a ratio
            return round(pixels / int.from_bytes(body[:4], "big") / 0.0254 * svg.PER_INCH)
        at += 12 + len(body)
    return None


def _drawing(block: Block, sources: Mapping[str, str]) -> svg.Drawing | None:
    """A figure as SVG; None where it is a picture only."""
    source = sources.get(block.name)
    return svg.inline(source, prefix=f"f{block.number}-", alt=block.text) if source else None


def _figure(block: Block, drawn: svg.Drawing | None) -> Markup:
    if drawn:
        return drawn.markup
    taken = width(block.png)
    size = Markup(' width="{}"').format(taken) if taken else ""
    return Markup('<img src="data:image/png;base64,{}" alt="{}"{}>').format(block.png, block.text, size)


def typefaces(drawn: Iterable[svg.Drawing]) -> Markup:
    """CSS with the fonts that drawings on a page are set in."""
    characters = [d.characters for d in drawn]
    each = (frozenset().union(*(pair[bold] for pair in characters)) for bold in (0, 1))
    return Markup().join(svg.face(used, bold=bool(bold)) for bold, used in enumerate(each))


def _table(block: Block, link: str) -> Markup:
    """A table with its number, in a box that says how it is printed."""
    html = clean(block.html)
    fits = fit(html)
    if block.number:
        number = Markup('<caption><a class="number" href="#{}">Table {}</a>. ').format(link, block.number)
        html = Markup(html.replace(Markup("<caption>"), number, 1))
    box = Markup(
        '<div class="table-box {}" id="{}" tabindex="0" role="group" aria-label="{}" style="--type:{}pt">{}</div>'
    )
    return box.format(fits.classes, link, words(coded(block.text)) or "Table", f"{fits.size:g}", html)


@cache
def _css(has_code: bool) -> Markup:
    ours = Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8"))
    if not has_code:
        return ours
    light, dark = (HtmlFormatter(style=style).get_style_defs(".highlight") for style in ("xcode", "github-dark"))
    coloured = (
        f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n.highlight {{ background: none }}"
    )
    return Markup(re.sub(r" *(/\*.*?\*/)", "", coloured)) + Markup("\n") + ours


def _frame(page: Page, heading: str, *scripts: str, has_code: bool = False) -> dict[str, Any]:
    """Style and script of a page (`report.js` where none is named), and the hash by which its policy allows it."""
    sources = [(_TEMPLATES / script).read_text(encoding="utf-8").strip() for script in scripts or ("report.js",)]
    source = "\n".join(sources)
    sha = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    foot = _quoted(page.study_title if heading == page.study_title else f"{page.study_title} – {heading}")
    frame = {"css": _css(has_code), "fonts": Markup(), "foot": foot, "has_code": has_code}
    return {**frame, "script": Markup(source), "script_hash": Markup(f"sha256-{sha}")}


def _quoted(text: str) -> Markup:
    """Text as a string in CSS: anything but letters, digits and spaces by its number."""
    return Markup('"{}"').format(re.sub(r"[^\w ]", lambda m: f"\\{ord(m[0]):x} ", " ".join(text.split())))


def rendered(template: str, page: Page, heading: str, *scripts: str, **content: Any) -> str:
    """A page that is not made from a notebook."""
    outline = Outline(labels=page.labels)
    frame = {**_frame(page, heading, *scripts), "page": page, "heading": heading, "outline": outline}
    return _environment().get_template(template).render(resources=frame | content)


def notebook_page(
    nb: Any, page: Page, heading: str, files: Iterable[str] = (), drawings: Mapping[str, str] | None = None
) -> str:
    """The page of an executed notebook.

    nb : the notebook, a dict in nbformat 4.
    files : addresses of figures, tables and results in the report's folder, e.g. `files/03_iaa_forest.png`.
    drawings : stem of a figure -> its SVG; others are shown as the picture in the notebook.
    """
    files, divided = sorted(files), parts(nb)
    blocks = [*divided.head, *divided.answer, *divided.rest]
    drawn = {b.name: _drawing(b, drawings or {}) for b in blocks if b.kind == "figure"}
    shown = {
        "parts": divided,
        "outline": Outline(labels=page.labels),
        "figure": lambda block: _figure(block, drawn[block.name]),
        "table": _table,
        "readable": _readable,
        "links": _linker(files),
        "results": [f for f in files if f.rpartition("/")[2] in (f"{page.name}.csv", f"{page.name}.parquet")],
        "fonts": typefaces(filter(None, drawn.values())),
    }
    has_code = any(b.kind == "code" for b in blocks)
    frame = {**_frame(page, heading, "report.js", "filters.js", has_code=has_code), "page": page, "heading": heading}
    return _environment().get_template("notebook.html.j2").render(resources=frame | shown).lstrip("\r\n")


def _readable(block: Block) -> str:
    """Plain output without addresses of the machine it ran on."""
    return block.text.replace(str(project.ROOT), ".").replace(str(project.folder()), ".").rstrip()


def _linker(files: list[str]) -> Callable[..., Markup]:
    """A function that lists the files of a figure or table as links.

    `kinds` are their suffixes, empty for all. `results` stand in for the table that a figure has not got of its own.
    """

    def links(name: str, kinds: Iterable[str] = (), results: Iterable[str] = ()) -> Markup:
        suffixes = {f: f.rpartition(".")[2] for f in files if name and Path(f).stem == name}
        mine = [f for kind in kinds or _DOWNLOADS for f, suffix in suffixes.items() if suffix == kind]
        shown = [(f, _DOWNLOADS[suffixes[f]]) for f in mine]
        if mine and "csv" not in suffixes.values():
            shown += [(f, "results (CSV)") for f in results]
        if not shown:
            return Markup()
        joined = Markup(", ").join(Markup('<a href="{}">{}</a>').format(*link) for link in shown)
        return Markup('<p class="files">{}</p>').format(joined)

    return links


def index_page(
    page: Page,
    *,
    description: str,
    before: Before | None = None,
    preface: Any = None,
    answers: Iterable[Answered] = (),
    facts: Iterable[tuple[str, str]],
    cards: Iterable[Card],
    absent: Iterable[Absent],
    made: Iterable[tuple[str, str]],
    compared: Iterable[Compared] = (),
    cite: Cite | None = None,
    awaited: Iterable[Absent] = (),
) -> str:
    """The first page of a study.

    before : what to know before the answers. preface : `summary.findings.Preface`. answers : to what is asked first.
    facts : what was collected. made : how the report came about (versions, seeds).
    compared : every pair of systems, by evaluation. awaited : notebooks that are being computed.
    """
    answers, compared = list(answers), list(compared)
    drawn = {a.key: svg.inline(a.svg, prefix=f"{a.key}-", alt=a.alt) for a in answers if a.svg}
    return rendered(
        "index.html.j2",
        page,
        page.study_title,
        *["report.js", *(["pairs.js"] if compared else [])],
        compared=compared,
        cite=cite,
        description=description,
        before=before,
        preface=preface,
        figures={key: d.markup for key, d in drawn.items() if d},
        fonts=typefaces(d for d in drawn.values() if d),
        answers=answers,
        facts=list(facts),
        cards=list(cards),
        absent=list(absent),
        awaited=list(awaited),
        made=list(made),
    )


def scoreboard_page(page: Page, heading: str, **content: Any) -> str:
    """The page of all printed numbers; content is what `published.page` gives its template, data as a JSON value."""
    return rendered("cells.html.j2", page, heading, "cells.js", data=_inert(content.pop("data")), **content)


def search_page(page: Page, heading: str, found: Iterable[Entry], titles: Mapping[str, str]) -> str:
    """The page that searches a report. found : what there is. titles : name of a page -> its title, in order."""
    entries, pages = list(found), list(titles)
    names = sorted({name for entry in entries for name in entry.names})
    place = {name: i for i, name in enumerate(names)}
    lines = [[pages.index(e.page), e.place, e.kind, e.title, e.text, [place[n] for n in e.names]] for e in entries]
    data = _inert({"pages": list(titles.items()), "names": names, "entries": lines})
    return rendered("search.html.j2", page, heading, "report.js", "search.js", data=data, count=len(entries))


def _inert(data: Any) -> Markup:
    """A JSON value for a script that is not run."""
    return Markup(json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


def text_page(page: Page, heading: str, text: str) -> str:
    """A page of prose. text : Markdown; tables in it are HTML, and get the boxes that those of notebooks have."""
    outline = Outline(labels=page.labels)

    def boxed(match: re.Match[str]) -> str:
        caption = _CAPTION.search(match[0])
        title = words(caption[1]) if caption else "Table"
        return _table(Block("table", title, html=match[0]), outline.unused(slug(title)[:40]))

    prose = Markup(_HTML_TABLE.sub(boxed, outline.prose(text)))
    return rendered("text.html.j2", page, heading, outline=outline, prose=prose)


_HTML_TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
_CAPTION = re.compile(r"<caption>(.*?)</caption>", re.DOTALL)
_PRIVATE = re.compile("<!--private-->.*?<!--/private-->", re.DOTALL)


def without_private(page: str) -> tuple[str, int]:
    """A page of a notebook without what cells tagged private show, and how many blocks that were.

    Nothing but the page's template writes these comments: what comes from data is cleaned of them.
    """
    hidden = _PRIVATE.findall(page)
    page = _PRIVATE.sub('<p class="files">Left out: the output of a cell that is tagged private.</p>', page)
    for link in {link for block in hidden for link in re.findall(r'\bid="([^"]+)"', block)}:
        page = re.sub(rf'<li class="level-\d"><a href="#{re.escape(link)}">.*?</a></li>\n?', "", page, flags=re.DOTALL)
    return page, len(hidden)
