"""Pages of the gallery in Markdown; what it opens with: the answers of each study's first page, and a table of all
studies.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path

from PIL import Image, ImageChops

from judgebook.display import saving
from judgebook.display.text import plain
from judgebook.pipeline import dag, nodes
from judgebook.report.blocks import Block
from judgebook.study import params, store
from judgebook.summary import findings
from judgebook.summary.evidence import read

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


START, END = "<!-- studies: written by `python run_all.py gallery` -->", "<!-- /studies -->"
#: the questions whose answers the table of studies quotes -> its headings
_HEADINGS = {"order": "best system", "labels": "labels to trust", "judges": "does it matter who judged?"}
QUOTED = {findings.QUESTIONS[key]: heading for key, heading in _HEADINGS.items()}
#: words of an answer that the table quotes
MOST = 30
#: a verdict that nearly every study has, with what follows it; the row of who answered in the table of who was counted
_NOBODY = re.compile(r"\*\*No system is certain to be best\.\*\* ")
_ANSWERED = re.compile(r"^\| Answered \| ([^|(]+?)(?: \([^|]*\))? \| (.+?) \| (.+?) \|$", re.MULTILINE)


def answers(study: str) -> tuple[findings.Preface | None, list[findings.PageAnswer]]:
    """The answers of a study's last run, with the reasons why some notebooks have no results, and their preface."""
    loaded = params.load(study)
    path = store.processed(study) / "profile.json"
    features = json.loads(path.read_text(encoding="utf-8"))["features"] if path.is_file() else {}
    entries = dag.of(dag.load(own=False), loaded)
    reasons = {name: nodes.missing(entry, features, loaded) or "" for name, entry in entries.items() if features}
    evidence = read(study, reasons)
    return findings.preface(evidence), findings.answers(evidence)


def answered(
    preface: findings.Preface | None, answers: Iterable[findings.PageAnswer], pages: Iterable[str], *, simulated: bool
) -> tuple[list[str], dict[str, bytes]]:
    """The answers in Markdown, and their figures by file name. pages : those there are, by file name."""
    parts, images = [preface.counted, preface.whom] if preface else [], {}
    for answer in answers:
        parts += [f"## {answer.question}", answer.text]
        if answer.plot:
            name = f"answer_{answer.key}.png"
            images[name] = saving.drawing(
                answer.plot.fig, "png", name=name.removesuffix(".png"), alt=answer.plot.alt, simulated=simulated
            )
            parts += [f"![{answer.plot.alt}]({name})", f"*{answer.plot.caption}*"]
        if f"{answer.notebook}.md" in pages:
            parts.append(f"[Evidence: notebook {answer.notebook.split('_')[0]}]({answer.notebook}.md)")
    return parts, images


def table(folder: Path, studies: Iterable[str], at: str) -> str:
    """The table of studies that have pages in the gallery's `folder`: what was judged, and what their answers show.

    at : path from the page that shows the table to `folder`; empty, or with a slash at the end.
    """
    lines = [f"| study | judged | {' | '.join(QUOTED.values())} |", f"| --- | --- |{' --- |' * len(QUOTED)}"]
    for study in studies:
        loaded, page_ = params.load(study), (folder / study / "README.md").read_text(encoding="utf-8")
        title = f"{plain(loaded.title)}{' (**simulated**)' if loaded.simulated else ''}"
        sizes = _ANSWERED.search(page_)
        judged = "people: {}; dialogues: {}; judgements: {}".format(*sizes.groups()) if sizes else ""
        cells = [judged, *(shown(_below(page_, question)) for question in QUOTED)]
        lines.append(f"| [{title}]({at}{study}/README.md) | {' | '.join(cells)} |")
    return "\n".join(lines)


def shown(answer: str) -> str:
    """What an answer shows, in at most MOST words: its first paragraph without the verdict that no system is certain to
    be best, then without its last clauses."""
    text = " ".join(_NOBODY.sub("", answer.partition("\n\n")[0]).split())
    while len(text.split()) > MOST and (cuts := [*re.finditer(r",(?= [a-z])|;(?= )|[.](?= \*\*)", text)]):
        text = text[: cuts[-1].start()] + ("**" if text[: cuts[-1].start()].count("**") % 2 else "") + "."
    return text


def _below(text: str, heading: str) -> str:
    """What a page says below a heading; empty where it has none."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].strip()


def between_markers(text: str, shown: str) -> str:
    """A page with the table between its markers. Raises ValueError where it has none."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"README.md has no lines {START} and {END}")
    return f"{before}{START}\n{shown}\n{END}{after}"
