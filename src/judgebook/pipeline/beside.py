"""What lies beside the first page: a summary on one sheet, the same as a picture, and the answers as data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from judgebook.display import saving
from judgebook.pipeline.page_jobs import DESIGN, IndexJob, earlier, write
from judgebook.questions.design import findings as design
from judgebook.questions.design.analysis import stored
from judgebook.report.blocks import first_sentences
from judgebook.report.html import Answered, Before, Page
from judgebook.report.one_page import OnePage, page
from judgebook.report.prose import markdown, words
from judgebook.study import results, store
from judgebook.summary import analysis, findings
from judgebook.summary.answers import sources
from judgebook.summary.answers.document import MODELS, NAME, Answer, Answers, Flaw, OtherAnswer
from judgebook.summary.evidence import Evidence, parts
from judgebook.summary.findings import USED, PageAnswer, Preface
from judgebook.summary.picture import picture

PAGE, PICTURE = "summary.html", "summary.png"
#: characters of the description, of a finding on the design, and of an answer; they end with a sentence
DESCRIPTION, FINDING, ANSWER = 280, 180, 340


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
    sheet = OnePage(
        description=first_sentences(job.description, DESCRIPTION) if job.description else "",
        preface=(preface.counted, preface.whom),
        before=(*asked, *(_finding(what) for what, _, _ in (before.findings if before else ()))),
        answers=answered,
        drawing=first.svg,
        alt=first.alt,
        caption=first.caption,
        foot=foot,
    )
    write(job.target.with_name(PAGE), page(Page(shared.title, shared.simulated, "summary"), sheet))
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
