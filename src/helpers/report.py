"""HTML pages of executed notebooks, and the index of a study. A page needs no network and runs no foreign code.

Notebooks show text from data files. All HTML and Markdown passes through `clean`; the page's own policy forbids any
script but ours and any address but the page itself.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import bleach
import jinja2
from bleach.css_sanitizer import CSSSanitizer
from markupsafe import Markup
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight as _pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from helpers import params
from helpers.blocks import Block, blocks

#: pixels of a page to an inch of a figure: one of full width takes 840
PER_INCH = 120
TAGS = frozenset(
    """a abbr b blockquote br caption code col colgroup dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i kbd li ol
    p pre s small span strong sub summary sup table tbody td tfoot th thead tr ul var""".split()  # noqa: SIM905 forty quoted strings would be hard to read
)
ATTRIBUTES = {
    "*": ["class", "title"],
    "a": ["href"],
    "h1": ["id"],
    "h2": ["id"],
    "h3": ["id"],
    "h4": ["id"],
    "td": ["colspan", "rowspan", "style"],
    "th": ["colspan", "rowspan", "style", "scope"],
}
_STYLES = CSSSanitizer(allowed_css_properties=["text-align", "white-space", "font-weight"])
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Page:
    """What every page of a study shows: nav is name and title of each notebook that has a page; name is empty on the
    index."""

    study_title: str
    simulated: bool
    name: str = ""
    nav: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Card:
    """A notebook on the index. finding is Markdown; png is base64, empty where it has no figure."""

    name: str
    title: str
    question: str = ""
    finding: str = ""
    png: str = ""
    alt: str = ""


@dataclass(frozen=True)
class Absent:
    """A notebook without a page: state is skipped, failed or not run; reason is a sentence."""

    name: str
    title: str
    state: str
    reason: str


def clean(html: str) -> Markup:
    """HTML of which only harmless parts are left as markup; the rest shows as text."""
    cleaned = bleach.clean(
        html, tags=TAGS, attributes=ATTRIBUTES, protocols=["http", "https", "mailto"], css_sanitizer=_STYLES
    )
    return Markup(cleaned)


def markdown(text: str) -> Markup:
    """Markdown as clean HTML, headings with an anchor."""
    renderer = IPythonRenderer(escape=False, anchor_link_text="#")
    return clean(MarkdownWithMath(renderer=renderer).render(text))


def highlight(source: str) -> Markup:
    """Python source as coloured HTML."""
    return Markup(_pygments(source, PythonLexer(), HtmlFormatter()))


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(_DATA)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.globals |= {"markdown": markdown, "highlight": highlight, "clean": clean, "width": width}
    return environment


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
            return round(pixels / int.from_bytes(body[:4], "big") / 0.0254 * PER_INCH)
        at += 12 + len(body)
    return None


@cache
def _css() -> Markup:
    light = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    ours = (_DATA / "report.css").read_text(encoding="utf-8")
    return Markup(
        f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n.highlight {{ background: none }}\n{ours}"
    )


def _page(page: Page, heading: str, body: str, has_code: bool, script: str = "report.js") -> str:
    script = (_DATA / script).read_text(encoding="utf-8").strip()
    sha = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    return template.render(
        page=page,
        heading=heading,
        body=Markup(body),
        css=_css(),
        script=Markup(script),
        script_hash=Markup(f"sha256-{sha}"),
        has_code=has_code,
    )


def notebook_page(nb: Any, page: Page, heading: str, files: Iterable[str] = ()) -> str:
    """The page of an executed notebook.

    nb : the notebook, a dict in nbformat 4.
    files : addresses of figures, tables and results beside the page, e.g. `files/03_iaa_forest.png`.
    """
    found = [_readable(b) for b in blocks(nb)]
    files = sorted(files)
    results = [f for f in files if f.rpartition("/")[2] == f"{page.name}.csv"]
    template = _environment().get_template("notebook.html.j2")
    body = template.render(blocks=found, links=_linker(files), results=results)
    return _page(page, heading, body, any(b.kind == "code" for b in found))


def _readable(block: Block) -> Block:
    """Plain output without addresses of the machine it ran on."""
    if block.kind in ("text", "error"):
        return replace(block, text=block.text.replace(str(params.ROOT), ".").rstrip())
    return block


def _linker(files: list[str]) -> Callable[..., Markup]:
    """A function that lists the files of a figure or table as links.

    `kinds` are their suffixes, empty for all. `results` stand in for the table that a figure has not got of its own.
    """

    def links(name: str, kinds: Iterable[str] = (), results: Iterable[str] = ()) -> Markup:
        mine = [f for f in files if name and Path(f).stem == name and (not kinds or f.rpartition(".")[2] in kinds)]
        shown = [(f, f.rpartition(".")[2].upper()) for f in mine]
        if mine and "CSV" not in dict(shown).values():
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
    facts: Iterable[tuple[str, str]],
    cards: Iterable[Card],
    absent: Iterable[Absent],
    made: Iterable[tuple[str, str]],
) -> str:
    """The index of a study. facts : what was collected. made : how the report came about (versions, seeds, times)."""
    template = _environment().get_template("index.html.j2")
    body = template.render(
        page=page, description=description, facts=list(facts), cards=list(cards), absent=list(absent), made=list(made)
    )
    return _page(page, page.study_title, body, has_code=False)


def board_page(page: Page, heading: str, **content: Any) -> str:
    """The page of all printed numbers; content is what `scoreboard_page.page` gives its template."""
    body = _environment().get_template("cells.html.j2").render(heading=heading, **content)
    return _page(page, heading, body, has_code=False, script="cells.js")
