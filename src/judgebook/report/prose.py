"""Prose of a page: Markdown as harmless HTML, with headings that can be linked to and terms that explain themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from pathlib import Path

import mistune
import nh3
from markupsafe import Markup

from judgebook.report.blocks import GLOSSARY, SENTENCE_END

TAGS = frozenset(
    """a abbr b blockquote br caption code col colgroup dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i kbd li ol
    p pre s small span strong sub summary sup table tbody td tfoot th thead tr ul var""".split()  # noqa: SIM905 forty quoted strings would be hard to read
)
ATTRIBUTES = {
    "*": {"class", "title"},
    "a": {"href"},
    "td": {"colspan", "rowspan", "style"},
    "th": {"colspan", "rowspan", "style", "scope"},
}
_CLEANER = nh3.Cleaner(
    tags=set(TAGS),
    clean_content_tags=set(),
    attributes=ATTRIBUTES,
    url_schemes={"http", "https", "mailto"},
    filter_style_properties={"text-align", "white-space", "font-weight"},
    link_rel=None,
)
#: of Markdown, those that nbconvert has switched on
_PLUGINS = ("strikethrough", "table", "url", "task_lists", "def_list")
#: what nbconvert reads otherwise than mistune by itself: formulas, code in a language, titles without a space before
#: them, attachments
_OF_NOTEBOOKS = re.compile(r"\$|\\\\[\[(]|\\begin\{|```|~~~|#[^#\s]|attachment:")
#: what begins a tag or comment that is not ours; sanitisers take it out, and readers would miss what the data say
_FOREIGN = re.compile(rf"<(?!/?(?:{'|'.join(sorted(TAGS))})(?=[\s/>]))", re.IGNORECASE)
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ", re.MULTILINE)
_HEADING = re.compile(r"<(h[23])>(.*?)</\1>", re.DOTALL)
_TAG = r'<(?:[^>"]|"[^"]*")*>'
#: what must stand before or after some words, which else mean something else: verbs, powers, rates
_NOUN = r"(?:(?<=\ba )|(?<=\bthe )|(?<=\beach ))"
_BEFORE = {"bound": _NOUN, "resample": _NOUN, "0.667": r"(?:(?<=\babove )|(?<=\bminimum is ))"}
_AFTER = {"power": "(?! of)", "reproduced": "(?! from)", "standardised": "(?! name)"}
_AFTER |= dict.fromkeys(("p", "r", "ρ"), r"(?= (?:[=\d−]|&lt;))")  # a statistic with its value
#: all of a table; a caption or cell of it, with what opens its row
_TABLE = re.compile("(<table.*?</table>)", re.DOTALL)
_CELL = re.compile(r"((?:<tr>\s*)?<(caption|t[dh])\b[^>]*>)(.*?)(?=</\2>)", re.DOTALL)
_UNEXPLAINED = ("a", "code", "pre", "table", "summary", "h1", "h2", "h3", "h4")
#: what follows a title of one word at the head of a sentence where it is not just a word: `Quality control`
_NAMED = r"(?=[,;:.)]|$| (?:and|is|or|was)\b)"


def clean(html: str) -> Markup:
    """HTML of which only harmless parts are left as markup; the rest shows as text."""
    return Markup(_CLEANER.clean(_FOREIGN.sub("&lt;", html)))


def markdown(text: str) -> Markup:
    """Markdown as clean HTML, as nbconvert renders it."""
    if not _OF_NOTEBOOKS.search(text):
        return clean(str(_plain_markdown()(text)))
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath  # takes a second or more to import

    renderer = IPythonRenderer(escape=False, exclude_anchor_links=True)
    return clean(MarkdownWithMath(renderer=renderer).render(text))


@cache
def _plain_markdown() -> mistune.Markdown:
    """What nbconvert's renderer is for texts without `_OF_NOTEBOOKS`."""
    renderer = mistune.HTMLRenderer(escape=False, allow_harmful_protocols=True)
    return mistune.create_markdown(renderer=renderer, plugins=list(_PLUGINS))


def opening(text: str, most: int = 120, bullets: int = 3, sentences: int = 3) -> tuple[str, str]:
    """Markdown as what is read first, and the rest: paragraphs of at most `most` words, `bullets` items of lists and
    `sentences` outside them in all, but at least the first. A list stays with the line that announces it."""
    paragraphs = list[str]()
    for paragraph in text.strip().split("\n\n"):
        if paragraphs and all(_ITEM.match(p) for p in (paragraph, paragraphs[-1])):  # a list has blank lines in it
            paragraphs[-1] += f"\n\n{paragraph}"
        else:
            paragraphs.append(paragraph)
    kept, n_words, n_items, n_said = 0, 0, 0, 0
    for i, paragraph in enumerate(paragraphs):
        if not paragraph.startswith("#"):
            items = len(_ITEM.findall(paragraph))
            n_words, n_items = n_words + len(paragraph.split()) - items, n_items + items
            n_said += 0 if items else len(SENTENCE_END.findall(f"{paragraph}\n"))
        heading_only = all(p.startswith("#") for p in paragraphs[:i])
        if not heading_only and (n_words > most or n_items > bullets or n_said > sentences):
            break
        kept = i + 1
    while 1 < kept < len(paragraphs) and re.search(r"^#.*\Z|:\**\Z", paragraphs[kept - 1]):  # leads to what is folded
        kept -= 1
    return "\n\n".join(paragraphs[:kept]), "\n\n".join(paragraphs[kept:])


def words(html: str) -> str:
    """The text of clean HTML."""
    return " ".join(unescape(re.sub(_TAG, "", html)).split())


@dataclass(frozen=True)
class Entry:
    """A line in the contents of a page. level : 2 and 3 of headings, 4 of figures and tables."""

    level: int
    id: str
    title: str


@dataclass
class Outline:
    """What a page holds, collected while it is rendered: its contents, the ids in use, the terms explained.

    labels : title of each label that has a definition -> the definition, as plain text.
    """

    entries: list[Entry] = field(default_factory=list)
    ids: set[str] = field(default_factory=lambda: {"main", "code", "parameters", "terms"})  # of the page's template
    terms: dict[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    _in_sight: set[str] = field(default_factory=set)

    def add(self, level: int, wanted: str, title: str) -> str:
        """An id like `wanted` that the page does not have yet; the place is listed in the contents."""
        id_ = self.unused(wanted)
        self.entries.append(Entry(level, id_, title))
        return id_

    def unused(self, wanted: str) -> str:
        """An id like `wanted` that the page does not have yet; it has it now."""
        numbered = (f"{wanted}-{i}" for i in range(2, len(self.ids) + 3))
        id_ = wanted if wanted not in self.ids else next(i for i in numbered if i not in self.ids)
        self.ids.add(id_)
        return id_

    def prose(self, text: str, *, folded: bool = False) -> Markup:
        """Markdown as clean HTML: headings carry an id and a link to themselves, and a term of the glossary or a label
        is a link to its meaning where it first occurs on the page, but not in the titles of references.

        folded : whether readers must ask for it. What is explained there is explained again where it is in sight.
        """
        html, head, references = _HEADING.sub(self._heading, markdown(text)).partition('<h2 id="references">')
        labelled = self.labelled(html, folded=folded)
        return Markup(_replaced(labelled, lambda part: self._linked(part, folded)) + head + references)

    def labelled(self, html: str, *, folded: bool = False) -> Markup:
        """Clean HTML in which a label is a link to its definition where it first occurs on the page; in a table, only
        in the caption and below the heading `Label`."""

        def define(part: str) -> str:
            return self._defined(part, folded)

        pieces = _TABLE.split(html) if self.labels else [html]
        return Markup("".join(_cells(p, define) if i % 2 else _replaced(p, define) for i, p in enumerate(pieces)))

    def _heading(self, match: re.Match[str]) -> str:
        tag, inner = match.groups()
        title = words(inner)
        link = self.add(int(tag[1]), slug(title), title)
        permalink = f'<a class="permalink" href="#{link}" aria-label="Link to this section">#</a>'
        return f'<{tag} id="{link}">{inner}{permalink}</{tag}>'

    def _linked(self, text: str, folded: bool) -> str:
        """Text with each term that is not explained yet as a link; terms do not overlap."""
        known = {term.lower(): (term, meaning) for term, meaning in glossary(linked=True).items()}

        def link(match: re.Match[str]) -> str:
            word = match[0].lower()
            term, meaning = known.get(word) or known[word.removesuffix("s")]
            return self._link(term, meaning, match[0], folded)

        return _pattern(tuple(known)).sub(link, text) if known else text

    def _defined(self, text: str, folded: bool) -> str:
        """Text with each label that is not explained yet as a link."""
        titles = {str(clean(title)): title for title in self.labels}

        def link(match: re.Match[str]) -> str:
            title = titles[match[0]]
            return self._link(title, self.labels[title], match[0], folded)

        return _titles(tuple(titles)).sub(link, text)

    def _link(self, term: str, meaning: str, written: str, folded: bool) -> str:
        if term in (self.terms if folded else self._in_sight):
            return written
        self.terms[term] = meaning
        self._in_sight |= set() if folded else {term}
        shown = Markup('<a class="term" href="#{}" title="{}">{}</a>')
        return shown.format(self.place(term), meaning, Markup(written))

    def place(self, term: str) -> str:
        """The id of a term or label in the list of terms: `label-` keeps a label apart from a word of the glossary."""
        return f"term-{'label-' if term in self.labels else ''}{slug(term)}"


def _replaced(html: str, replace: Callable[[str], str]) -> str:
    """HTML with the text outside of links, code, tables, headings and summaries replaced."""
    out, inside = list[str](), list[str]()
    for part in re.split(f"({_TAG})", html):
        if tag := re.match(r"<(/?)(\w+)", part):
            if tag[1] and inside and inside[-1] == tag[2]:
                inside.pop()
            elif not tag[1] and tag[2] in _UNEXPLAINED:
                inside.append(tag[2])
        elif not inside:
            part = replace(part)
        out.append(part)
    return "".join(out)


def _cells(table: str, replace: Callable[[str], str]) -> str:
    """A table with its caption and what stands below `Label` replaced. Headings, which the page's script makes buttons,
    can hold no links."""
    heads, column = list[str](), 0

    def cell(match: re.Match[str]) -> str:
        nonlocal column
        start, tag, inner = match.groups()
        column = 0 if "<tr>" in start else column + 1
        heads.extend([inner] if tag == "th" else [])
        about = tag == "caption" or (tag == "td" and heads[column : column + 1] == ["Label"])
        return start + (_replaced(inner, replace) if about else inner)

    return _CELL.sub(cell, table)


def slug(title: str) -> str:
    """A title as an id, like GitHub's: one address leads to a section of a page and of the gallery."""
    return re.sub(r"[^\w-]", "", title.lower().replace(" ", "-")) or "section"


@cache
def glossary(path: Path = GLOSSARY, *, linked: bool = False) -> dict[str, str]:
    """Term -> meaning as plain text, of the tables in `path`; `a, b` are two terms. Empty where there is no file.

    linked : without those of the first table, which have everyday meanings as well: links would often be wrong.
    """
    tables = re.findall(r"(?:^\|.*\n?)+", path.read_text(encoding="utf-8") if path.is_file() else "", re.MULTILINE)
    lines = [line for table in (tables[1:] if linked else tables) for line in table.splitlines()[2:]]  # a head, a rule
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in lines]
    terms = [(row[0], re.sub(r"[*_`]", "", row[1])) for row in rows if len(row) == 2]
    return {term: meaning for names, meaning in terms for term in names.split(", ")}


@cache
def _pattern(terms: tuple[str, ...]) -> re.Pattern[str]:
    """Finds any of the terms, longer ones first, in singular and plural, but not at the head of a name in capitals."""
    spellings = [
        _BEFORE.get(t, "") + re.escape(t) + "s?" + _AFTER.get(t, "") for t in sorted(terms, key=len, reverse=True)
    ]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(spellings)})(?![\w-]|(?-i: [A-Z]))", re.IGNORECASE)


@cache
def _titles(titles: tuple[str, ...]) -> re.Pattern[str]:
    """Finds any of the titles as written, longer ones first, but not in a longer name, nor a title of one word where
    it may be the first word of a sentence."""
    spellings = [
        re.escape(t) if " " in t else f"(?:(?<=[^.!?] ){re.escape(t)}|{re.escape(t)}{_NAMED})"
        for t in sorted(titles, key=len, reverse=True)
        if t[:1] != t[:1].lower() or " " in t
    ]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(spellings)})(?![\w-]| [A-Z])" if spellings else "(?!)")
