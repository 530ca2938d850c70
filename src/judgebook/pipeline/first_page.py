"""What the first page of a report says, with the place of the evidence; and what is written with it: a summary on one
sheet, the same as a picture, and the answers as data."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from markupsafe import Markup

from judgebook import project
from judgebook.display import saving
from judgebook.display.names import display_names
from judgebook.display.text import listing, plain, plural
from judgebook.pipeline.page_jobs import (
    COMPUTED,
    DESIGN,
    NOT_RUN,
    WAITED,
    IndexJob,
    Row,
    earlier,
    finding,
    render,
    shown_on,
    write,
)
from judgebook.pipeline.worker import timed
from judgebook.questions.design import findings as design
from judgebook.questions.design.analysis import stored
from judgebook.report import html as report
from judgebook.report import one_page
from judgebook.report.blocks import Block, first_sentences
from judgebook.report.html import Answered, Before, Compared
from judgebook.report.prose import markdown, words
from judgebook.study import results, store
from judgebook.study.stored import open_study
from judgebook.summary import analysis, findings, pairs
from judgebook.summary.answers import sources
from judgebook.summary.answers.document import MODELS, NAME, Answer, Answers, Flaw, OtherAnswer
from judgebook.summary.evidence import PERFORMANCE, Evidence, parts, read
from judgebook.summary.findings import USED, PageAnswer, Preface
from judgebook.summary.picture import picture

PAGE, PICTURE = "summary.html", "summary.png"
#: characters of the description, of a finding on the design, and of an answer; they end with a sentence
DESCRIPTION, FINDING, ANSWER = 280, 180, 340
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
        render(one)
    draw(job, first_page(job))
    return ""


def first_page(job: IndexJob) -> FirstPage:
    """What follows from the results that are stored."""
    evidence = read(job.study, {row.name: _why_absent(job, row) for row in job.rows if not row.has_results})
    awaited = {row.name for row in job.rows if row.state == WAITED}
    # what to do next could be another when the rest is there
    answers = [one for one in findings.answers(evidence) if one.key != NEXT or awaited.isdisjoint(USED[NEXT])]
    if job.shared.whole and not any(row.executed for row in job.rows):
        answers = [replace(answer, text=_where_notebooks_are(answer.text)) for answer in answers]
    return FirstPage(evidence, _before(job), findings.preface(evidence), answers)


def _where_notebooks_are(text: str) -> str:
    """An answer on a page without notebooks, as in an audit: the first notebook that it names is in the report, whose
    command the page gives."""
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
        summarise(job, first.answers, answered, first.before, first.preface)
        write_answers(job, first.evidence, first.answers, answered)
    write(job.target, page)


def _before(job: IndexJob) -> Before | None:
    """What nobody confirmed, and what the design check found, from its stored results; None where there is neither."""
    check = next((row for row in job.rows if row.name == DESIGN and row.has_results), None)
    asked = few_of_a_kind(job.unconfirmed)
    unconfirmed = Before((), "", unconfirmed=asked) if asked else None
    if check is None:
        return unconfirmed

    study = open_study(job.study)
    found = results.read(study.folder / "results" / f"{DESIGN}.parquet")
    box = design.box(found, display_names(study.params, study.frame("annotations")))
    if box is None:
        return unconfirmed
    lines = tuple(
        (f"**{f.what}**" + f" ({plain(f.where)})" * bool(f.where), f"{f.change} {f.todo}", listing(f.touches))
        for f in box.findings
    )
    more = f"{plural(box.more, 'more finding')}, " if box.more else ""
    page = f"{check.name}.html" if check.executed else ""
    return Before(lines, f"{more}{box.checked}.", page, _older(job, [DESIGN]), asked)


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
    figure: dict[str, Any] = {"older": _older(job, USED.get(answer.key, (answer.notebook,)))}
    if answer.plot:
        figure |= {"alt": answer.plot.alt, "caption": answer.plot.caption}
        plot, simulated = answer.plot, job.shared.simulated
        figure["svg"] = saving.drawing(plot.fig, "svg", name=answer.key, alt=plot.alt, simulated=simulated).decode()
    return Answered(answer.key, answer.question, answer.text, evidence=place, **figure)


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


def summarise(
    job: IndexJob,
    answers: Sequence[PageAnswer],
    drawn: Sequence[Answered],
    before: Before | None,
    preface: Preface | None,
) -> None:
    """Write both beside the first page; nothing, and no file of an earlier run, where there are no answers.

    answers, drawn : those of the first page, as findings and as it shows them.
    """
    if not answers or preface is None:
        for name in (PAGE, PICTURE):
            (job.target.parent / name).unlink(missing_ok=True)
        return
    shared, first = job.shared, drawn[0]
    facts = [fact for fact, _ in before.unconfirmed] if before else []
    asked = [findings.open_questions(len(job.unconfirmed), facts)] if facts else []
    answered = tuple((answer.question, _opening(answer.text)) for answer in answers)
    foot = f"{job.cite.text} Reasons, evidence and methods are in the whole report."
    sheet = one_page.OnePage(
        description=first_sentences(job.description, DESCRIPTION) if job.description else "",
        preface=(preface.counted, preface.whom),
        before=(*asked, *(_finding(what) for what, _, _ in (before.findings if before else ()))),
        answers=answered,
        drawing=first.svg,
        alt=first.alt,
        caption=first.caption,
        foot=foot,
    )
    write(job.target.with_name(PAGE), one_page.page(report.Page(shared.title, shared.simulated, "summary"), sheet))
    png: Any = b""
    if plot := answers[0].plot:  # which the first page has drawn, and stamped where data are simulated
        png = saving.drawing(plot.fig, "png", name="order", alt=first.alt, simulated=False, dpi=300)
    parts = [(question, *_verdict(text)) for question, text in answered]
    whom = words(markdown(re.sub(r"^\*\*[^*]+\*\*\s*", "", preface.whom)))
    warned = [words(markdown(line)) for line in sheet.before]
    content = picture(shared.title, whom, warned, parts, png, foot, simulated=shared.simulated)
    with store.atomic(job.target.with_name(PICTURE)) as temporary:
        temporary.write_bytes(content)


def _opening(text: str) -> str:
    """The first paragraph of an answer; a list stays a list."""
    opening = text.partition("\n\n")[0]
    return opening if re.search(r"^(?:[-*]|\d+\.) ", opening, re.MULTILINE) else first_sentences(opening, ANSWER)


def _finding(text: str) -> str:
    """What is bold at the beginning of a finding on the design, cut where a sentence ends; and where it was found."""
    bold = re.match(r"\*\*(.+?)\*\*(.*)", text)
    what, where = (bold[1], bold[2]) if bold else (text, "")
    opening = first_sentences(what, FINDING)
    return f"**{opening}**{where}" if bold else opening


def _verdict(text: str) -> tuple[str, str]:
    """What is bold at the beginning, and the rest, as plain text; of a list all as the rest."""
    lines = [words(markdown(line)) for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        return "", "\n".join(f"• {line}" for line in lines)
    bold = re.match(r"\*\*(.+?)\*\*[.,:;]?", text)
    if not bold:
        return "", "\n".join(lines)
    verdict = words(markdown(bold[0]))
    if verdict[-1:] not in tuple(".!?:"):  # the sentence goes on
        verdict = next((s for s in re.findall(r".+?[.!?](?=\s|$)", lines[0]) if s.startswith(verdict)), lines[0])
    return verdict, lines[0].removeprefix(verdict).strip()


def write_answers(job: IndexJob, evidence: Evidence, answers: Sequence[PageAnswer], drawn: Sequence[Answered]) -> None:
    """Write the file. answers, drawn : those of the first page, as findings and as it shows them."""
    main = next((evidence.population(*part[:2]) for part in parts(evidence)), None)
    flaws = _flaws(job, evidence)
    compared = analysis.sample(evidence) if answers else {}
    document = Answers(
        study=job.study,
        title=job.shared.title,
        simulated=job.shared.simulated,
        made=dict(job.made),
        main=main,
        counted=findings.stages(evidence) if answers else [],
        runs=evidence.people["corpus"].nunique() if answers else 0,
        open_questions=dict(job.unconfirmed),
        answers=[
            _answer(job, evidence, one, page.evidence[1], flaws.get(one.key, []), compared)
            for one, page in zip(answers, drawn, strict=True)
        ],
    )
    write(job.target.with_name(NAME), document.text())


def _answer(
    job: IndexJob, evidence: Evidence, one: PageAnswer, page: str, flaws: list[Flaw], compared: findings.Compared
) -> Answer:
    used = [*USED.get(one.key, (one.notebook,)), *[DESIGN] * bool(flaws)]
    old = earlier(job, used)
    facts = one.facts
    fields = {
        "key": one.key,
        "question": one.question,
        "verdict": one.verdict,
        "sentence": words(markdown(one.text.partition("\n\n")[0])),
        "reason": words(markdown(one.reason)),
        "population": getattr(facts, "people", None),
        "estimate": sources.turning_point(facts, evidence),
        "evidence": sources.evidence_of(facts, evidence, compared),
        "page": page,
        "design_findings": flaws,
        "open_questions": [fact for fact, _ in job.unconfirmed],
        "this_run": not old,
        "earlier": list(old),
        "facts": facts,
    }
    return MODELS.get(one.key, OtherAnswer)(**fields)


def _flaws(job: IndexJob, evidence: Evidence) -> dict[str, list[Flaw]]:
    """By answer, what the design check found that concerns it."""
    if not any(row.name == DESIGN and row.has_results for row in job.rows):
        return {}
    by_answer: dict[str, list[Flaw]] = {}
    found = stored(results.read(store.processed(job.study) / "results" / f"{DESIGN}.parquet"))
    for one in design.worded(found, evidence.names):
        what, change, todo = (words(markdown(text)) for text in (one.what, one.change, one.todo))
        flaw = Flaw(code=one.code, what=what, change=change, todo=todo, where=one.where, price=one.price)
        for key, touched in design.TOUCHED.items():
            if touched in one.touches:
                by_answer.setdefault(key, []).append(flaw)
    return by_answer
