"""What the first page of a report says, and where the evidence for it stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from markupsafe import Markup

from judgebook import project
from judgebook.display import saving
from judgebook.display.names import display_names
from judgebook.display.text import listing, plain, plural
from judgebook.pipeline import beside, rendering
from judgebook.pipeline.page_jobs import (
    COMPUTED,
    DESIGN,
    NOT_RUN,
    WAITED,
    IndexJob,
    Row,
    earlier,
    finding,
    shown_on,
    write,
)
from judgebook.pipeline.worker import timed
from judgebook.questions.design import findings as design
from judgebook.report import html as report
from judgebook.report.blocks import Block
from judgebook.report.html import Before, Compared
from judgebook.study import results
from judgebook.study.stored import open_study
from judgebook.summary import findings, pairs
from judgebook.summary.evidence import PERFORMANCE, Evidence, read
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
        rendering.render(one)
    draw(job, first_page(job))
    return ""


def first_page(job: IndexJob) -> FirstPage:
    """What follows from the results that are stored."""
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
    shown = {row.name: shown_on(row.executed) for row in job.rows if row.executed}
    cards = [_card(row, shown[row.name]) for row in job.rows if row.executed]
    answered = [_answered(job, answer, shown) for answer in first.answers]
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
        compared=_compared(first.evidence, shown),
        cite=job.cite,
    )
    if job.shared.whole:
        beside.summarise(job, first.answers, answered, first.before, first.preface)
        beside.write_answers(job, first.evidence, first.answers, answered)
    write(job.target, page)


def _before(job: IndexJob) -> Before | None:
    """What nobody confirmed, and what the design check found, from its stored results; None where there is neither."""
    check = next((row for row in job.rows if row.name == DESIGN and row.has_results), None)
    asked = few_of_a_kind(job.unconfirmed)
    unconfirmed = report.Before((), "", unconfirmed=asked) if asked else None
    if check is None:
        return unconfirmed

    study = open_study(job.study)
    stored = results.read(study.folder / "results" / f"{DESIGN}.parquet")
    box = design.box(stored, display_names(study.params, study.frame("annotations")))
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
    if row.state == "skipped":
        return row.reason
    if row.state == WAITED:
        return Markup(f"notebook {row.name[:2]} was not done when this page was written")
    if row.state == "failed":
        return f"notebook {row.name[:2]} failed."
    return Markup(NOT_RUN.format(name=row.name[:2], study=job.study, command=project.command()))


def _answered(job: IndexJob, answer: PageAnswer, shown: Shown) -> Any:
    """An answer with its figure, and the place of its evidence."""
    place = _place(shown, answer.notebook, EVIDENCE.get(answer.key, ()))
    figure: dict[str, Any] = {"older": _older(job, findings.USED.get(answer.key, (answer.notebook,)))}
    if answer.plot:
        figure |= {"alt": answer.plot.alt, "caption": answer.plot.caption}
        plot, simulated = answer.plot, job.shared.simulated
        figure["svg"] = saving.drawing(plot.fig, "svg", name=answer.key, alt=plot.alt, simulated=simulated).decode()
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


def _card(row: Row, shown: list[Block]) -> Any:
    return report.Card(row.name, row.title, row.question, finding(shown), row.note)


#: notebook -> what its page shows
Shown: TypeAlias = Mapping[str, list[Block]]
#: key of an answer -> names, behind the notebook's, of figures and tables that show what it says, the best first
EVIDENCE = {
    "order": ("leaderboard", "overall", "ranks"),
    "labels": ("alpha", "repeat"),
    "judges": ("components", "differences"),
    "sample": ("contrasts",),
    "cost": ("costs", "minutes"),
}


def _place(every: Shown, notebook: str, wanted: Iterable[str]) -> tuple[str, str]:
    """Number and address of the first figure or table on the page of a notebook that shows one of `wanted`, else of the
    first that it has; of the page where it has none, and empty where there is no page.

    wanted : how the names of figures and tables go on behind the notebook's, the best first.
    """
    if notebook not in every:
        return "", ""
    named = {b.name: f"{b.kind.capitalize()} {b.number}" for b in reversed(every[notebook]) if b.number and b.name}
    first = next(reversed(named), "")
    # one table of a kind for each method has the method in its name
    places = (name for view in wanted for name in reversed(named) if f"{name}_".startswith(f"{notebook}_{view}_"))
    name = next(places, first)
    number = notebook.split("_")[0]
    return (f"{number}, {named[name]}", f"{notebook}.html#{name}") if name else (number, f"{notebook}.html")


def _compared(evidence: Evidence, every: Shown) -> list[Compared]:
    """What the pair finder says, with the address of the table or figure that has all pairs."""
    return [replace(one, page=_place(every, PERFORMANCE, one.places)[1]) for one in pairs.compared(evidence)]
