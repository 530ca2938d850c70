"""Works to cite: BibTeX of the methods and data sets (`methods.bib`, `data.bib`), and what a text cites of them.

A text cites as pandoc reads it, `[@holm1979]` or `[@bell2002; @cameron2011]`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files

from judgebook.display.latex import tex
from judgebook.study.params import Study

_CITED = re.compile(r"\[((?:@[a-z0-9_:-]+(?:; )?)+)\]", re.IGNORECASE)
_SIGNS = {r"\&": "&", r"\%": "%", r"\_": "_", r"\O": "Ø", r"\o": "ø", r"\ss": "ß", r"\l": "ł", r"\L": "Ł",
          "--": "–", "``": "“", "''": "”", "$": "", "~": " "}  # fmt: skip
_MARKS = {"`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "c": "\u0327", "v": "\u030c"}


@dataclass(frozen=True)
class Entry:
    """A BibTeX entry. source : as it stands. fields : name, in lower case -> value, as it stands."""

    kind: str
    key: str
    fields: dict[str, str]
    source: str

    @property
    def authors(self) -> list[str]:
        """Family names, `others` for the rest."""
        names = [n.strip() for n in re.split(r"\s+and\s+", self.fields.get("author", ""))]
        if self.fields.get("author", "").startswith("{") and len(names) == 1:
            return [plain(names[0])]
        return [plain(n.partition(",")[0] if "," in n else n.rpartition(" ")[2]) for n in names if n]

    @property
    def short(self) -> str:
        """`Bell and McCaffrey 2002`."""
        names = self.authors or [plain(self.fields.get("title", self.key))]
        who = f"{names[0]} et al." if len(names) > 2 or "others" in names else " and ".join(names)
        return f"{who} {self.fields.get('year', 'n.d.')}"

    @property
    def long(self) -> str:
        """The entry as a line of a list of references."""
        fields = {k: plain(v) for k, v in self.fields.items()}
        people = fields.get("author", "").replace(" and others", " et al.").replace(" and ", "; ")
        venue = fields.get("journal") or fields.get("booktitle") or fields.get("publisher") or ""
        venue = ", ".join(filter(None, [venue or fields.get("howpublished", ""), fields.get("volume", "")]))
        place = ", ".join(filter(None, [venue, fields.get("pages", "")]))
        parts = [f"{people} ({fields.get('year', 'n.d.')})", fields.get("title", ""), place]
        return ". ".join(p for p in parts if p) + "."


def parse(text: str) -> dict[str, Entry]:
    """The entries of BibTeX text by key.

    Raises ValueError for braces that do not balance, an entry without key or fields, or a key given twice.
    """
    out: dict[str, Entry] = {}
    at = 0
    while (start := re.compile(r"@(\w+)\s*\{\s*([^,\s{}]+)\s*,").search(text, at)) is not None:
        end = _close(text, text.index("{", start.start()))
        body, fields = text[start.end() : end], {}
        for name, value in _fields(body):
            fields[name.lower()] = value
        if not fields:
            raise ValueError(f"BibTeX entry {start[2]!r}: expected fields `name = {{value}}`, found none")
        if start[2] in out:
            raise ValueError(f"BibTeX entry {start[2]!r} is given twice")
        source = text[start.start() : end + 1]
        if "\n" not in source:  # a field a line can be read
            source = entry(start[1].lower(), start[2], fields).source
        out[start[2]] = Entry(start[1].lower(), start[2], fields, source)
        at = end
    if not out and text.strip():
        raise ValueError(f"expected a BibTeX entry such as `@misc{{key, title = {{…}}}}`, found {text.strip()[:60]!r}")
    return out


def _close(text: str, start: int) -> int:
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i
    raise ValueError(f"BibTeX: no closing brace for {text[start - 12 : start + 20]!r}")


def _fields(body: str) -> Iterable[tuple[str, str]]:
    at = 0
    while (field := re.compile(r"([\w-]+)\s*=\s*").search(body, at)) is not None:
        start = field.end()
        if body[start : start + 1] == "{":
            end = _close(body, start)
            value, at = body[start + 1 : end], end + 1
        elif body[start : start + 1] == '"':
            end = body.find('"', start + 1)
            if end < 0:
                raise ValueError(f"BibTeX: no closing quotation mark for {body[field.start() : start + 20]!r}")
            value, at = body[start + 1 : end], end + 1
        else:
            value = re.split(r"[,\s]", body[start:], maxsplit=1)[0]
            at = start + len(value)
        yield field[1], " ".join(value.split())


def _accented(mark: str, letter: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", letter[1] + mark)


def plain(text: str) -> str:
    """The value of a field without LaTeX's commands for accents, signs and groups."""
    for command, mark in _MARKS.items():
        pattern = rf"\\{re.escape(command)}" + (r"\s*" if not command.isalpha() else "") + r"\{?\\?([A-Za-z])\}?"
        text = re.sub(pattern, partial(_accented, mark), text)
    for command, sign in _SIGNS.items():
        text = text.replace(command, sign)
    return " ".join(re.sub(r"[{}]", "", text).split())


@cache
def known() -> Mapping[str, Entry]:
    """Every entry that comes with the project."""
    texts = [files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("methods.bib", "data.bib")]
    return parse("\n".join(texts))


#: accents, letters and signs, and what changes a font: nothing that reads, writes or defines
_COMMANDS = set("`'^~\"=.&%_#$-/ ,{}") | set("cvuHkrbdtoOlLij")
_COMMANDS |= {"ss", "ae", "AE", "oe", "OE", "aa", "AA", "emph", "textit", "textbf", "textsc", "texttt", "textrm", "url"}
#: what ends a column, a line or a definition where it stands alone; fields in which it may be part of an address
_BARE, _ADDRESSES = re.compile(r"(?<!\\)([&%#])"), ("url", "doi", "howpublished")
_COMMANDS |= {"textsuperscript", "textsubscript", "textendash", "textemdash", "LaTeX", "TeX", "slash"}


def _of_study(text: str) -> Entry:
    """The one entry of a YAML, which a document that somebody compiles takes as it stands."""
    entries = list(parse(text).values())
    if len(entries) > 1:
        raise ValueError(f"bibtex: expected one entry, found {len(entries)}: {', '.join(e.key for e in entries)}")
    for command in re.findall(r"\\([A-Za-z@]+|.)", text, re.DOTALL):
        if command not in _COMMANDS:
            raise ValueError(f"bibtex: expected text with accents, found the command \\{command}: write it without")
    if "^^" in text:  # another way to write a backslash
        raise ValueError("bibtex: expected text with accents, found ^^: write it without")
    (given,) = entries
    escaped = {name: value if name in _ADDRESSES else _BARE.sub(r"\\\1", value) for name, value in given.fields.items()}
    return given if escaped == given.fields else entry(given.kind, given.key, escaped)


def problem(study: Study) -> str:
    """What is wrong with `bibtex` of a study; empty where nothing is."""
    try:
        of_data(study)
    except ValueError as error:
        return f"bibtex: {str(error).removeprefix('bibtex: ')}"
    return ""


def of_data(study: Study) -> Entry | None:
    """What to cite for the data of a study: `bibtex` of its YAML, else its `citation` as a `@misc`; None without.

    Raises ValueError where `bibtex` is neither an entry nor the key of one in `data.bib`, or would make LaTeX do more
    than set a text.
    """
    if study.bibtex.lstrip().startswith("@"):
        return _of_study(study.bibtex)
    if study.bibtex:
        if study.bibtex not in known():
            raise ValueError(f"bibtex: expected an entry or one of {', '.join(known())}, found {study.bibtex!r}")
        return known()[study.bibtex]
    if not study.citation:
        return None
    year = re.search(r"\b(1[89]\d\d|20\d\d)\b", study.citation)
    fields = {"key": study.key, "title": tex(study.title), "note": tex(study.citation)} | (
        {"year": year[1]} if year else {}
    )
    return entry("misc", f"{study.key}_data", fields)


def entry(kind: str, key: str, fields: Mapping[str, str]) -> Entry:
    """An entry made of fields that are LaTeX."""
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return Entry(kind, key, dict(fields), f"@{kind}{{{key},\n{body}\n}}")


def cited(text: str) -> list[str]:
    """Keys that a text cites, in order."""
    return list(dict.fromkeys(key for group in _CITED.findall(text) for key in re.findall(r"@([^;\]]+)", group)))


def readable(text: str, entries: Mapping[str, Entry]) -> str:
    """A text with `(Holm 1979)` in place of `[@holm1979]`."""

    def words(match: re.Match) -> str:
        return "(" + "; ".join(entries[key].short for key in re.findall(r"@([^;\]]+)", match[1])) + ")"

    return _CITED.sub(words, text)


def split(text: str) -> list[str | list[str]]:
    """A text as pieces: what is said, and the keys cited after it."""
    out: list[str | list[str]] = []
    at = 0
    for cited in _CITED.finditer(text):
        out += [text[at : cited.start()], re.findall(r"@([^;\]]+)", cited[1])]
        at = cited.end()
    return [*out, text[at:]]
