"""Escaping of text from data, titles and paths for where it is shown: HTML, Markdown, CSV and terminals, each here and
nowhere else (LaTeX is `display.latex.tex`)."""

from __future__ import annotations

import contextlib
import html as _html
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: what a spreadsheet takes for a formula, also behind spaces, full-width, or behind an apostrophe of the text's own
_FORMULA = re.compile(r"'*(?:[\t\r\n]|\s*[=+\-@＝＋－＠])")
#: the same within a text where a spreadsheet that divides lines at semicolons or tabs would begin a cell
_INNER = r"(?='*[=+\-@＝＋－＠])(?![+\-]?[\d.]+(?:[eE][+-]?\d+)?\s*(?:[;,\t)\]]|$))"
_BEGINS, _LED = re.compile(rf"([;\t]\s*){_INNER}"), re.compile(rf"([;\t]\s*)'{_INNER}")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_MARKS = re.compile(r"([\\`*_\[\]#|~$])")
#: where renderers see an address and make a link of it without any markup
_ADDRESS = re.compile(r"(?<=[A-Za-z]):(?=//)|(?<=www)\.|@", re.IGNORECASE)
#: control characters, and those that turn the direction of the text that follows
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def distinct(titles: Mapping[str, str]) -> dict[str, str]:
    """Display names of which no two look the same, by id: where they would, and where there is nothing to see, with the
    id in brackets, whose odd characters are escaped if that is not enough."""
    shown = {id_: title if visible(title) else id_ for id_, title in titles.items()}
    for escaped in (False, True):
        times = Counter(map(visible, shown.values()))
        for id_, title in shown.items():
            if times[visible(title)] > 1 or not visible(title):
                shown[id_] = f"{titles[id_]} ({id_ if visible(id_) and not escaped else ascii(id_)})".strip()
    return shown


def visible(text: str) -> str:
    """What a reader sees of a text: without characters that have no width, and with one blank between words."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", "".join(c for c in text if unicodedata.category(c) != "Cf"))
    return " ".join(text.split())


def html(text: object, *, quote: bool = True) -> str:
    """Text as HTML. quote : quotation marks too, as in attributes."""
    return _html.escape(str(text), quote=quote)


def html_with_code(text: object) -> str:
    """Text as HTML in which what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html(text))


def markdown(text: object) -> str:
    """Text for Markdown and the HTML made of it: no markup, no link, one line."""
    escaped = _MARKS.sub(r"\\\1", html(" ".join(str(text).split()), quote=False))
    return _ADDRESS.sub(lambda m: f"&#{ord(m[0])};", escaped)


def markdown_with_code(text: object) -> str:
    """Text for Markdown, harmless but for what stands between backticks: that is shown as code."""
    return re.sub(r"\\`(.*?)\\`", lambda m: f"`{from_markdown(m[1])}`", markdown(text))


def from_markdown(text: str) -> str:
    """The text that `markdown` made harmless."""
    return _html.unescape(re.sub(r"\\([\\`*_\[\]#|~$])", r"\1", text))


def unmarked(text: str) -> str:
    """Markdown of ours as plain text: without the marks of bold and italics, and without escapes."""
    return from_markdown(re.sub(r"(?<!\\)\*+", "", text))


def cell(value: Any) -> Any:
    r"""A cell of a CSV file: text that a spreadsheet would run as a formula is led by an apostrophe; numbers stay. So
    is such text behind a semicolon or a tab, at which some divide lines, whatever is quoted.

    A `\r` becomes `\n`: unlike that it is not quoted, and would begin a row.
    """
    if not isinstance(value, str):
        return value
    lines = _BEGINS.sub(r"\1'", value.replace("\r\n", "\n").replace("\r", "\n"))
    return ("'" if _is_formula(value) else "") + lines


def from_cell(value: Any) -> Any:
    """What `cell` was given, but for kinds of line ends."""
    if not isinstance(value, str):
        return value
    return _LED.sub(r"\1", value[1:] if value[:1] == "'" and _is_formula(value) else value)


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text.lstrip("'"))


def cells(frame: pd.DataFrame) -> pd.DataFrame:
    """A table as it goes into a CSV file: `cell` of every text and heading."""
    import pandas as pd

    out = frame.rename(columns=cell)
    for i, dtype in enumerate(out.dtypes):
        if dtype.kind in "biufM":
            continue
        column = out.iloc[:, i]
        values = column.unique() if dtype == "str" else column.array
        texts = {v: cell(v) for v in values if isinstance(v, str)}
        if any(v != written for v, written in texts.items()):
            escaped = [texts[v] if isinstance(v, str) else v for v in column.array]
            out.isetitem(i, pd.Series(escaped, out.index, dtype=object))
    return out


def csv(frame: pd.DataFrame, **options: Any) -> str:
    """A table as the text of a CSV file that people open. options : of `DataFrame.to_csv`."""
    return cells(frame).to_csv(index=False, lineterminator="\n", **options)


def read_csv(path: Path) -> pd.DataFrame:
    """A file that `csv` made, all cells as text, as they were before."""
    import pandas as pd

    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return frame.rename(columns=from_cell).apply(lambda column: column.map(from_cell))


def terminal(text: str) -> str:
    r"""Text for a terminal: control characters but tabs and ends of lines are shown as `\x1b`, none takes effect."""
    return _CONTROL.sub(lambda m: ascii(m[0])[1:-1], text)


class _Terminal:
    """A stream that writes `terminal` of what it is given; anything else is the stream's own."""

    def __init__(self, stream: IO[str]):
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.stream)

    def write(self, text: str) -> int:
        self.stream.write(terminal(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)


@contextlib.contextmanager
def terminals() -> Iterator[None]:
    """Within the block all that is printed, errors and tracebacks included, passes through `terminal`."""
    before = sys.stdout, sys.stderr
    if sys.stdout is not None:
        sys.stdout = _Terminal(sys.stdout)
    if sys.stderr is not None:
        sys.stderr = _Terminal(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
