"""The work for the summary of a report: a page that prints on one sheet, and the same as a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from judgebook.display import saving
from judgebook.pipeline.page_jobs import IndexJob, write
from judgebook.report.blocks import first_sentences
from judgebook.report.html import Answered, Before, Page
from judgebook.report.one_page import OnePage, page
from judgebook.report.prose import markdown, words
from judgebook.study import store
from judgebook.summary import findings
from judgebook.summary.findings import PageAnswer, Preface
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
    answered = tuple((answer.question, _answer(answer.text)) for answer in answers)
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


def _answer(text: str) -> str:
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
