r"""Tables in LaTeX: they compile as they are, with booktabs and, where they are long, longtable.

A table fits a text width of 16 cm (A4 with margins of 2.5 cm, or both columns of ACL's style). One that is too wide at
10 points is set in smaller type; then long texts wrap; then its columns are split into parts below one another, each
beginning with the columns that name the row.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

#: points
TEXT_WIDTH = 455
#: type size, its scale (digits of Computer Modern), and the space on either side of a column in points
_SIZES = (("", 1.0, 6.0), (r"\small", 0.925, 5.0), (r"\footnotesize", 0.85, 4.0), (r"\scriptsize", 0.8, 3.0))
#: rows that fit on a page
_PAGE = 38
#: a text column may wrap if it is wider than this, and is then no narrower (points at full size)
_WRAP = 100

_PLAIN = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
}
_SYMBOLS = {
    "−": r"$-$",
    "–": "--",
    "—": "---",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "ϵ": r"$\epsilon$",
    "°": r"$^\circ$",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "¹": r"\textsuperscript{1}",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "„": ",,",
    "‘": "`",
    "’": "'",
    "•": r"\textbullet{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
    "£": r"\pounds{}",
    "€": r"\texteuro{}",
    "©": r"\textcopyright{}",
    "™": r"\texttrademark{}",
    "ß": r"\ss{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "\u00a0": "~",
    "\u2009": r"\,",
    "\u202f": r"\,",
    "\u00ad": r"\-",
    "\u200b": "",
    "\u2011": "-",
    "\u2010": "-",
}
_ACCENTS = {
    "\u0300": r"\`",
    "\u0301": r"\'",
    "\u0302": r"\^",
    "\u0303": r"\~",
    "\u0304": r"\=",
    "\u0306": r"\u",
    "\u0307": r"\.",
    "\u0308": r"\"",
    "\u030a": r"\r",
    "\u030b": r"\H",
    "\u030c": r"\v",
    "\u0323": r"\d",
    "\u0327": r"\c",
}
_GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (FINAL SIGMA|[A-Z]+)(?: WITH .+)?")
#: Greek letters that look like Latin ones have no command
_LATIN = dict(ALPHA="A", BETA="B", EPSILON="E", ZETA="Z", ETA="H", IOTA="I", KAPPA="K", MU="M", NU="N", OMICRON="O",
              RHO="P", TAU="T", UPSILON="Y", CHI="X")  # fmt: skip


def tex(text: str) -> str:
    """Text escaped for LaTeX; compiles with pdflatex whatever it holds. Characters that no standard font has are shown
    by their number, as `[U+4E2D]`."""
    plain = unicodedata.normalize("NFC", " ".join(str(text).split()))
    return "".join("-{}" if plain[i : i + 2] == "--" else _character(c) for i, c in enumerate(plain))


def with_code(text: str) -> str:
    r"""`tex` of captions and reasons: what stands between backticks is code."""
    mark = re.escape(_PLAIN["`"])
    return re.sub(f"{mark}(.+?){mark}", r"\\texttt{\1}", tex(text))


def _character(c: str) -> str:
    if c in _PLAIN or c in _SYMBOLS:
        return _PLAIN[c] if c in _PLAIN else _SYMBOLS[c]
    if c.isascii():
        return c if c.isprintable() else ""
    if greek := _GREEK.fullmatch(unicodedata.name(c, "")):
        size, letter = greek[1], {"LAMDA": "LAMBDA", "FINAL SIGMA": "VARSIGMA"}.get(greek[2], greek[2])
        if size == "CAPITAL" and letter in _LATIN:
            return _LATIN[letter]
        return "o" if letter == "OMICRON" else rf"$\{letter.lower() if size == 'SMALL' else letter.capitalize()}$"
    base, *marks = list(unicodedata.normalize("NFD", c))  # the letter, and each accent by itself
    if base.isascii() and base.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS:
        letter = rf"\{base} " if base in "ij" and marks[0] not in ("\u0323", "\u0327") else base
        return f"{_ACCENTS[marks[0]]}{{{letter.strip()}}}"
    if unicodedata.category(c) in ("Mn", "Cf", "Cc"):  # marks and directions that a font would not show either
        return ""
    return f"[U+{ord(c):04X}]"


def width(text: str) -> float:
    """Points that a text takes at 10 points, roughly (Computer Modern, a little too much)."""

    def points(c: str) -> float:
        if c in " .,:;'|!iIjl[]()-":
            return 3.4
        if c in "mwMW%@–−→×≥≤":
            return 8.4
        return 7.2 if c.isupper() else 5.4

    return sum(map(points, text))


@dataclass(frozen=True)
class _Column:
    """heading : its lines. natural : points of the widest cell; wrapped : points it is given, None where it is not."""

    heading: list[str]
    cells: list[str]
    right: bool
    natural: float
    wrapped: float | None = None

    @property
    def points(self) -> float:
        return self.natural if self.wrapped is None else self.wrapped

    @property
    def key(self) -> bool:
        return not self.right


def table(cells: pd.DataFrame, caption: str, label: str, notes: Sequence[str], right: Sequence[bool]) -> str:
    """A table environment with booktabs rules, or a longtable, everything escaped.

    Parameters
    ----------
    cells : texts, one column per heading.
    caption : its first sentence is the caption, the others lead the notes.
    label : the reference is `tab:<label>`.
    notes : below the table.
    right : whether each column is aligned to the right.
    """
    first, *others = _sentences(caption)
    notes = [*([" ".join(others)] if others else []), *notes]
    columns = [_column(cells, i, align) for i, align in enumerate(right)]
    size, scale, space, parts = _fitted(columns)
    specs = ["@{}" + "".join(_spec(c, scale) for c in part) + "@{}" for part in parts]
    lines = sum(_height(part) + 3 for part in parts) + len(notes)
    small = [f"  {size}"] if size else []
    small += [rf"  \setlength{{\tabcolsep}}{{{space:g}pt}}"] if size else []
    head = rf"\caption{{{with_code(first)}}}\label{{tab:{label}}}"
    foot = [rf"  \par\smallskip\footnotesize {with_code(note)}" for note in notes]
    if lines <= _PAGE:
        body = [line for part, spec in zip(parts, specs, strict=True) for line in _tabular(part, spec)]
        made = [r"\begin{table}", r"  \centering", f"  {head}", *small, *body, *foot, r"\end{table}"]
    else:
        body = [line for i, part in enumerate(parts) for line in _longtable(part, specs[i], head if i == 0 else "")]
        made = ["% needs \\usepackage{longtable}; not for two columns", "{", *small, *body, *foot, r"  \par", "}"]
    return "\n".join(["% needs \\usepackage{booktabs}; fits a text width of 16 cm", *made, ""])


def _sentences(caption: str) -> list[str]:
    return re.split(r"(?<=[^\s.]{2}\.)(?<!al\.)(?<!vs\.)\s+(?=[A-Z])", " ".join(caption.split()))


def _column(cells: pd.DataFrame, i: int, right: bool) -> _Column:
    texts = [str(v) for v in cells.iloc[:, i]]
    body = max(map(width, texts), default=0.0)
    heading = _lines(str(cells.columns[i]), max(body, 45))
    return _Column(heading, texts, right, max(body, *map(width, heading)))


def _lines(text: str, most: float) -> list[str]:
    """A heading broken into lines of at most `most` points where its words allow."""
    out: list[str] = []
    for word in text.split() or [""]:
        if out and width(f"{out[-1]} {word}") <= most:
            out[-1] += f" {word}"
        else:
            out.append(word)
    return out


def _fitted(columns: list[_Column]) -> tuple[str, float, float, list[list[_Column]]]:
    """Type size, scale, space between columns, and the parts in which the columns fit the text width."""
    for size, scale, space in _SIZES:
        if _total(columns, scale, space) <= TEXT_WIDTH:
            return size, scale, space, [columns]
    for size, scale, space in _SIZES[2:]:
        if wrapped := _wrapped(columns, scale, space):
            return size, scale, space, [wrapped]
    size, scale, space = _SIZES[2]
    return size, scale, space, _split(columns, scale, space)


def _total(columns: Sequence[_Column], scale: float, space: float) -> float:
    return scale * sum(c.points for c in columns) + 2 * space * (len(columns) - 1)


def _wrapped(columns: list[_Column], scale: float, space: float) -> list[_Column] | None:
    """The columns with long texts wrapped to fit; None where they would be too narrow."""
    long = [i for i, c in enumerate(columns) if c.key and c.natural > _WRAP]
    rest = TEXT_WIDTH - _total([c for i, c in enumerate(columns) if i not in long], scale, space)
    rest = (rest - 2 * space * len(long)) / scale
    if not long or rest < _WRAP * len(long):
        return None
    free = rest - _WRAP * len(long)
    wish = sum(columns[i].natural - _WRAP for i in long)
    out = list(columns)
    for i in long:
        c = columns[i]
        out[i] = _narrow(c, _WRAP + free * (c.natural - _WRAP) / wish)
    return out


def _narrow(column: _Column, points: float) -> _Column:
    points = min(points, column.natural)
    return _Column(_lines(" ".join(column.heading), points), column.cells, column.right, column.natural, points)


def _split(columns: list[_Column], scale: float, space: float) -> list[list[_Column]]:
    """Parts of the columns, each led by those that name the row."""
    n = next((i for i, c in enumerate(columns) if not c.key), 1)
    n = min(n, len(columns) - 1)
    keys = [_narrow(c, _WRAP) if c.natural > _WRAP else c for c in columns[:n]]
    while len(keys) > 1 and _total(keys, scale, space) > 0.7 * TEXT_WIDTH:
        keys.pop()
    parts: list[list[_Column]] = []
    for c in columns[len(keys) :]:
        c = _narrow(c, 2 * _WRAP) if c.key and c.natural > 2 * _WRAP else c
        if parts and _total([*parts[-1], c], scale, space) <= TEXT_WIDTH:
            parts[-1].append(c)
        else:
            parts.append([*keys, c])
    return parts


def _spec(column: _Column, scale: float) -> str:
    if column.wrapped is not None:
        return rf">{{\raggedright\arraybackslash}}p{{{scale * column.wrapped:.0f}pt}}"
    return "r" if column.right else "l"


def _height(part: list[_Column]) -> int:
    """Lines of a part, with those of texts that wrap."""
    high = [max(-(-width(t) // c.wrapped) if c.wrapped else 1 for c, t in zip(part, row, strict=True))
            for row in zip(*(c.cells for c in part), strict=True)]  # fmt: skip
    return int(sum(high)) + max(len(c.heading) for c in part)


def _cell(text: str) -> str:
    # \\ and \midrule would take a bracket or star that follows for an argument of theirs
    escaped = tex(text)
    return ("{}" if escaped[:1] in ("[", "*") else "") + escaped


def _head(part: list[_Column]) -> str:
    def cell(c: _Column) -> str:
        lines = [_cell(line) for line in c.heading]
        if len(lines) == 1:
            return lines[0]
        return rf"\begin{{tabular}}[b]{{@{{}}{'r' if c.right else 'l'}@{{}}}}" + r"\\".join(lines) + r"\end{tabular}"

    return " & ".join(map(cell, part)) + r" \\"


def _rows(part: list[_Column]) -> Iterator[str]:
    for row in zip(*(c.cells for c in part), strict=True):
        yield " & ".join(map(_cell, row)) + r" \\"


def _tabular(part: list[_Column], spec: str) -> Iterator[str]:
    yield rf"  \begin{{tabular}}{{{spec}}}"
    yield from (f"    {line}" for line in (r"\toprule", _head(part), r"\midrule", *_rows(part), r"\bottomrule"))
    yield r"  \end{tabular}\par\medskip"


def _longtable(part: list[_Column], spec: str, head: str) -> Iterator[str]:
    yield rf"  \begin{{longtable}}{{{spec}}}"
    lead = [head + r" \\"] if head else []
    again = [r"\toprule", _head(part), r"\midrule"]
    yield from (f"    {line}" for line in (*lead, *again, r"\endfirsthead", *again, r"\endhead"))
    yield from (f"    {line}" for line in (r"\bottomrule", r"\endfoot", *_rows(part)))
    yield r"  \end{longtable}"
