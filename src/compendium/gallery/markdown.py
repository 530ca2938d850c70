"""A notebook's page in GitHub's Markdown, and its pictures."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from PIL import Image, ImageChops

from judgebook.display.text import plain
from judgebook.report.blocks import Block

COLUMNS, ROWS = 14, 40  # of a table; the rest is cut, with a note. Wide tables scroll on GitHub
OPEN = 12  # rows of a longer table that are seen before somebody asks for the others
PALETTES, MOVED = (16, 24, 32, 48, 64, 96, 128, 160, 224), 8  # colours of a picture; how far one may move, of 255
NOT_REAL = "Nothing on this page is about real people or systems, except where a paper’s printed numbers are shown."


def lighter(png: bytes) -> bytes:
    """The picture with the smallest palette that moves no colour by more than MOVED, about a quarter of the size; with
    the largest, where none does. Deterministic."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    for colors in PALETTES:
        # other methods than maximum coverage turn thin lines grey
        reduced = picture.quantize(colors, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        moved = ImageChops.difference(picture, reduced.convert("RGB")).getextrema()
        if max(high for _, high in moved) <= MOVED:
            break
    # the most frequent colours first: 1% smaller
    counts = reduced.histogram()[: len(reduced.getcolors())]
    reduced = reduced.remap_palette(sorted(range(len(counts)), key=lambda i: -counts[i]))
    out = io.BytesIO()
    reduced.save(out, "png", optimize=True)
    return out.getvalue()


def page(visible: Iterable[Block], simulated: bool) -> str:
    """A notebook's page in GitHub's Markdown: prose, figures and tables."""
    parts = ["[All notebooks of this study](README.md)"]
    if simulated:
        parts.append(f"> **Simulated data.** {NOT_REAL}")
    for block in visible:
        if block.kind == "prose":
            parts.append(without_html(block.text.strip()))
        elif block.kind == "figure":
            parts += [part for part in (without_html(block.title), plain(block.subtitle)) if part]
            parts.append(f"![{alt(block.text)}]({block.name}.png)")
            parts.append(f"**Figure {block.number}**" + (f". {plain(block.caption)}" if block.caption else ""))
        elif block.kind == "table" and block.markdown:
            number = f"**Table {block.number}. " if block.number else "**"
            parts.append(trim(block.markdown.replace("**", number, 1)).strip())
    return "\n\n".join(parts) + "\n"


def without_html(markdown: str) -> str:
    """Markdown in which tags show as text: prose may carry text from data files."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", markdown)


def alt(text: str) -> str:
    return without_html(" ".join(text.split())).replace("[", "(").replace("]", ")")


def trim(markdown: str, columns: int = COLUMNS, rows: int = ROWS) -> str:
    """A Markdown table cut to a number of columns and rows, with a note on what was left out."""
    lines = markdown.splitlines()
    table = [i for i, line in enumerate(lines) if line.startswith("|")]
    if len(table) < 2:
        return markdown
    cells = [re.split(r"(?<!\\)\|", lines[i].strip())[1:-1] for i in table]
    out = ["|" + "|".join(row[:columns]) + "|" for row in cells[: rows + 2]]
    head, below = out[: OPEN + 2], out[OPEN + 2 :]
    if below:
        summary = f"<details><summary>{_more(len(below), 'row')}</summary>"
        out = [*head, "", summary, "", *out[:2], *below, "", "</details>"]
    wide, long = len(cells[0]) - columns, len(cells) - 2 - rows
    left = [_more(wide, "column"), _more(long, "row")]
    note = " and ".join(filter(None, left))
    after = ["", f"_{note} in the full report._"] if note else []
    return "\n".join([*lines[: table[0]], *out, *after, *lines[table[-1] + 1 :]]) + "\n"


def _more(n: int, what: str) -> str:
    return "" if n <= 0 else f"{n} more {what}{'s' if n > 1 else ''}"
