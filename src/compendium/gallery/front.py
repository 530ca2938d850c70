"""What the gallery opens with: the answers of each study's first page, and a table of all studies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from judgebook.display import saving
from judgebook.display.text import plain
from judgebook.pipeline import dag, nodes
from judgebook.study import params, store
from judgebook.summary import findings
from judgebook.summary.evidence import read

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


def page(
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
