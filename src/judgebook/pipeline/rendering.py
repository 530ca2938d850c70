"""What the nodes of a report do: render the pages of notebooks, the first page, and those of printed numbers."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgebook import project
from judgebook.pipeline.page_jobs import (
    COMPUTED,
    DESIGN,
    NOT_RUN,
    WAITED,
    IndexJob,
    PageJob,
    Row,
    earlier,
    write,
)
from judgebook.pipeline.worker import timed
from judgebook.study import store

if TYPE_CHECKING:
    from judgebook.pipeline.reading import places
    from judgebook.report.html import Before
    from judgebook.study.sections.data import Figures
    from judgebook.summary.evidence import Evidence
    from judgebook.summary.findings import PageAnswer, Preface

#: the answer that follows from notebooks which the first page does not wait for
NEXT = "next"
#: counts in profile.json, as named on the index
SIZES = {
    "n_annotations": "annotations",
    "n_items": "items judged",
    "n_dialogues": "dialogues",
    "n_annotators": "annotators",
}


@timed
def page(job: PageJob) -> str:
    """Render an executed notebook and copy its files to the report."""
    render(job)
    return ""


def render(job: PageJob) -> None:
    """The same for a job that is part of another."""
    from judgebook.report import html as report

    folder = job.target.parent / "files"
    for path in job.files:
        _put(path, folder / path.name)
    nb = json.loads(job.executed.read_text(encoding="utf-8"))
    about = job.shared.page(job.name)
    files = [f"files/{p.name}" for p in job.files]
    drawings = {p.stem: p.read_text(encoding="utf-8") for p in job.files if p.suffix == ".svg"}
    write(job.target, report.notebook_page(nb, about, job.heading, files, drawings))


def _put(source: Path, target: Path) -> None:
    """A file at a second place: pictures as a link to the same content where the file system has such links, anything
    else as a copy, since a spreadsheet that saves a table in place would change the results."""
    if target.is_file() and target.samefile(source):
        return
    with store.atomic(target) as temporary:
        if source.suffix in (".pdf", ".png", ".svg"):
            with suppress(OSError):
                os.link(source, temporary)
                return
        shutil.copyfile(source, temporary)


@dataclass(frozen=True)
class FirstPage:
    """What the first page of a report says, before it is drawn. before : see `_before`."""

    evidence: Evidence
    before: Before | None
    preface: Preface | None
    answers: list[PageAnswer]


@timed
def index(job: IndexJob) -> str:
    """Render the index of a study, its summary on one page, and the answers as data."""
    for one in job.pages:
        render(one)
    draw(job, first_page(job))
    return ""


def first_page(job: IndexJob) -> FirstPage:
    """What follows from the results that are stored."""
    from judgebook.summary import findings
    from judgebook.summary.evidence import read

    evidence = read(job.study, {row.name: _why_absent(job, row) for row in job.rows if not row.has_results})
    awaited = {row.name for row in job.rows if row.state == WAITED}
    # what to do next could be another when the rest is there
    answers = [one for one in findings.answers(evidence) if one.key != NEXT or awaited.isdisjoint(findings.USED[NEXT])]
    if job.shared.whole and not any(row.executed for row in job.rows):
        answers = [replace(answer, text=_where_notebooks_are(answer.text)) for answer in answers]
    return FirstPage(evidence, _before(job), findings.preface(evidence), answers)


def _where_notebooks_are(text: str) -> str:
    """An answer that stands beside no notebook, as in an audit: the first that it names is in the report that the page
    has the command for."""
    return re.sub(r"\b([Nn]otebooks? \d\d(?: and \d\d)?)\b", r"\1 of the whole report", text, count=1)


def draw(job: IndexJob, first: FirstPage) -> None:
    """Write the index; where the whole is there, beside it the summary on one page, and the answers as data."""
    from judgebook.pipeline.reading import one_page, places
    from judgebook.pipeline.reading.answers import write_answers
    from judgebook.report import html as report

    shown = {row.name: places.shown(row.executed) for row in job.rows if row.executed}
    cards = [_card(row, shown[row.name]) for row in job.rows if row.executed]
    answered = [_answered(job, answer, shown, first.evidence.study.figures) for answer in first.answers]
    without = [row for row in job.rows if not row.executed and row.state != COMPUTED]
    lacking = [report.Absent(r.name, r.title, r.state, r.reason) for r in without]
    page = report.index_page(
        job.shared.page(),
        description=job.description,
        before=first.before,
        preface=first.preface,
        answers=answered,
        facts=_sizes(job.profile, counted=first.preface is not None),
        cards=cards,
        absent=[row for row in lacking if row.state != WAITED],
        awaited=[row for row in lacking if row.state == WAITED],
        made=job.made,
        compared=places.compared(first.evidence, shown),
        cite=job.cite,
    )
    if job.shared.whole:
        one_page.summarise(job, first.answers, answered, first.before, first.preface)
        write_answers(job, first.evidence, first.answers, answered)
    write(job.target, page)


def _before(job: IndexJob) -> Before | None:
    """What nobody confirmed, and what the design check found, from its stored results; None where there is neither."""
    from judgebook.report import html as report

    check = next((row for row in job.rows if row.name == DESIGN and row.has_results), None)
    asked = few_of_a_kind(job.unconfirmed)
    unconfirmed = report.Before((), "", unconfirmed=asked) if asked else None
    if check is None:
        return unconfirmed
    from judgebook.display.names import display_names
    from judgebook.display.text import listing, plain, plural
    from judgebook.questions.design import findings
    from judgebook.study import results
    from judgebook.study.stored import open_study

    study = open_study(job.study)
    stored = results.read(study.folder / "results" / f"{DESIGN}.parquet")
    box = findings.box(stored, display_names(study.params, study.frame("annotations")))
    if box is None:
        return unconfirmed
    lines = tuple(
        (f"**{f.what}**" + f" ({plain(f.where)})" * bool(f.where), f"{f.change} {f.todo}", listing(f.touches))
        for f in box.findings
    )
    more = f"{plural(box.more, 'more finding')}, " if box.more else ""
    page = f"{check.name}.html" if check.executed else ""
    return report.Before(lines, f"{more}{box.checked}.", page, _older(job, [DESIGN]), asked)


def few_of_a_kind(questions: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Questions as the first page shows them: of more than two such as `direction of fluency`, the first for all."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for fact, question in questions:
        kind, of, _ = fact.partition(" of ")
        kinds.setdefault(kind + of if of else fact, []).append((fact, question))
    shown = []
    for kind, alike in kinds.items():
        more = f" So for {len(alike) - 1} more, which `check` lists."
        shown += alike if len(alike) < 3 else [(f"{kind}{len(alike)} labels", alike[0][1] + more)]
    return tuple(shown)


def _older(job: IndexJob, names: Collection[str]) -> tuple[str, ...]:
    """Their numbers."""
    return tuple(name.split("_")[0] for name in earlier(job, names))


def _why_absent(job: IndexJob, row: Row) -> str:
    """Why a notebook has no results, for a sentence; (Markup) the command that gives them where it was not run."""
    from markupsafe import Markup

    if row.state == "skipped":
        return row.reason
    if row.state == WAITED:
        return Markup(f"notebook {row.name[:2]} was not done when this page was written")
    if row.state == "failed":
        return f"notebook {row.name[:2]} failed."
    return Markup(NOT_RUN.format(name=row.name[:2], study=job.study, command=project.command()))


def _answered(job: IndexJob, answer: PageAnswer, shown: places.Shown, like: Figures) -> Any:
    """An answer with its figure, and the place of its evidence."""
    from judgebook.display import saving
    from judgebook.pipeline.reading import places
    from judgebook.report import html as report
    from judgebook.summary import findings

    place = places.place(shown, answer.notebook, places.EVIDENCE.get(answer.key, ()))
    figure: dict[str, Any] = {"older": _older(job, findings.USED.get(answer.key, (answer.notebook,)))}
    if answer.plot:
        figure |= {"alt": answer.plot.alt, "caption": answer.plot.caption}
        plot, simulated = answer.plot, job.shared.simulated
        svg = saving.drawing(plot.fig, "svg", name=answer.key, alt=plot.alt, simulated=simulated, like=like)
        figure["svg"] = svg.decode()
    return report.Answered(answer.key, answer.question, answer.text, evidence=place, **figure)


def _sizes(profile: dict[str, Any], *, counted: bool) -> list[tuple[str, str]]:
    """What the index counts: of all corpora, which a description of the evaluation need not cover.

    counted : whether a table says how many people, dialogues and judgements there are.
    """
    everywhere = " in all corpora" if len(profile.get("corpora", ())) > 1 else ""
    titles = SIZES | {key: SIZES[key] + everywhere for key in ("n_annotations", "n_dialogues")}
    if profile.get("features", {}).get("known_annotators"):
        titles["n_annotators"] = "annotators (positions in a list, not identified)"
    titles = {"n_items": titles["n_items"]} if counted else titles
    facts = [(title, f"{profile[key]:,}") for key, title in titles.items() if key in profile]
    lists = {"systems": f"systems{everywhere}", "labels": "labels"}
    return facts + [(title, f"{len(profile[key]):,}") for key, title in lists.items() if key in profile]


def _card(row: Row, shown: list[places.Block]) -> Any:
    from judgebook.report import html as report
    from judgebook.report.blocks import first_sentences, section

    finding = first_sentences(section(shown, "What we see"))
    return report.Card(row.name, row.title, row.question, finding, row.note)
