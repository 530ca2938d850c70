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
import nbformat
from bleach.css_sanitizer import CSSSanitizer
from markupsafe import Markup
from nbconvert.exporters.templateexporter import TemplateExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight as _pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from helpers.report.blocks import Block, blocks
from helpers.study import params

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
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Page:
    """What every page of a study shows: nav is name and title of each notebook that has a page; name is empty on the
    index. note : shown above the page, where it is not of the same run as the others."""

    study_title: str
    simulated: bool
    name: str = ""
    nav: tuple[tuple[str, str], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Card:
    """A notebook on the index. finding is Markdown; png is base64, empty where it has no figure. note : as of Page."""

    name: str
    title: str
    question: str = ""
    finding: str = ""
    png: str = ""
    alt: str = ""
    note: str = ""


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


class PageExporter(TemplateExporter):
    """nbconvert with our templates: an executed notebook becomes a page.

    `resources` of `from_notebook_node` hold what the page shows around the notebook: page, heading, files.
    """

    file_extension = ".html"
    output_mimetype = "text/html"
    template_file = "notebook.html.j2"

    def _template_paths_default(self) -> list[str]:
        return [str(_TEMPLATES)]

    def _create_environment(self) -> jinja2.Environment:
        return _environment()

    def from_notebook_node(self, nb: Any, resources: Any = None, **kwargs: Any) -> tuple[str, dict]:
        about = resources["page"]
        files = sorted(resources["files"])
        found = [_readable(b) for b in blocks(nb)]
        shown = {
            "blocks": found,
            "links": _linker(files),
            "results": [f for f in files if f.rpartition("/")[2] == f"{about.name}.csv"],
            "has_code": any(b.kind == "code" for b in found),
        }
        return super().from_notebook_node(nb, {**resources, **_frame("report.js"), **shown}, **kwargs)


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(_TEMPLATES)
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
    ours = (_TEMPLATES / "report.css").read_text(encoding="utf-8")
    return Markup(
        f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n.highlight {{ background: none }}\n{ours}"
    )


def _frame(script: str) -> dict[str, Markup]:
    """Style and script of a page, and the hash by which its policy allows the script."""
    source = (_TEMPLATES / script).read_text(encoding="utf-8").strip()
    sha = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    return {"css": _css(), "script": Markup(source), "script_hash": Markup(f"sha256-{sha}")}


def _rendered(template: str, script: str = "report.js", **content: Any) -> str:
    """A page that is not made from a notebook."""
    resources = {**_frame(script), "has_code": False, **content}
    return _environment().get_template(template).render(resources=resources)


def notebook_page(nb: Any, page: Page, heading: str, files: Iterable[str] = ()) -> str:
    """The page of an executed notebook.

    nb : the notebook, a dict in nbformat 4.
    files : addresses of figures, tables and results in the report's folder, e.g. `files/03_iaa_forest.png`.
    """
    resources = {"page": page, "heading": heading, "files": files}
    return PageExporter().from_notebook_node(nbformat.from_dict(nb), resources)[0]


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
    lists = {"facts": list(facts), "cards": list(cards), "absent": list(absent), "made": list(made)}
    return _rendered("index.html.j2", page=page, heading=page.study_title, description=description, **lists)


def scoreboard_page(page: Page, heading: str, **content: Any) -> str:
    """The page of all printed numbers; content is what `published.page` gives its template."""
    return _rendered("cells.html.j2", "cells.js", page=page, heading=heading, **content)


def text_page(page: Page, heading: str, text: str) -> str:
    """A page of prose. text : Markdown."""
    return _rendered("text.html.j2", page=page, heading=heading, text=text)
