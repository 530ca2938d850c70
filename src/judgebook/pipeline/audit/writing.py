"""What an audit leaves in its folder, and what it prints."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterator
from datetime import date
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
from markupsafe import Markup

from judgebook import __version__, project
from judgebook.display.text import Phrases
from judgebook.pipeline import first_page, page_jobs
from judgebook.pipeline.audit.computing import analysed
from judgebook.pipeline.cache import digest
from judgebook.pipeline.first_page import FirstPage
from judgebook.pipeline.nodes import StudyNodes
from judgebook.pipeline.page_jobs import IndexJob, Row, cite
from judgebook.pipeline.pages import UNWEIGHTED, WEIGHTED
from judgebook.report.prose import markdown, words
from judgebook.study import store
from judgebook.summary.evidence import Evidence, read

PAGE, MARKDOWN = "audit.html", "audit.md"
#: columns of printed text
WIDTH = 100
_PHRASES = Phrases("judgebook.pipeline.audit")


def audited(path: Path, values: list[str], say: Callable[[str], None]) -> tuple[FirstPage, list[Row]]:
    """Audit the study of a YAML, and write its page and its text into the folder for output.

    values : KEY=VALUE, changes of the YAML. say : called with a line for each step. Returns the first page as it is
    written, and the notebooks it follows from.

    Raises ParamsError for a wrong YAML, DataError for wrong data.
    """
    first, rows, write = unwritten(path, values, say)
    write()
    return first, rows


def unwritten(
    path: Path, values: list[str], say: Callable[[str], None]
) -> tuple[FirstPage, list[Row], Callable[[], None]]:
    """The same, and what writes page and text (once), which takes a fifth of the time."""
    nodes, rows = analysed(path, values, say)
    job = _job(nodes, rows, path, values)
    first = first_page.first_page(job)
    for answer in first.answers:
        plt.close(answer.plot.fig if answer.plot else None)  # else Jupyter shows it

    @cache
    def write() -> None:
        first_page.draw(job, first)
        page_jobs.write(job.target.with_name(MARKDOWN), f"{_text(job, first)}\n")

    return first, rows, write


def _text(job: IndexJob, first: FirstPage) -> str:
    before = first.before
    return _PHRASES.say(
        "document",
        title=job.shared.title,
        preface=[Markup(f"{first.preface.used}."), Markup(first.preface.whom)] if first.preface else [],
        unconfirmed=before.unconfirmed if before else (),
        findings=[(Markup(w), Markup(c), t) for w, c, t in before.findings] if before else [],
        note=before.note if before else "",
        answers=[(answer.question, Markup(answer.text)) for answer in first.answers],
        made=[(name, Markup(f"`{value}`")) for name, value in job.made],
    )


def answered(
    path: Path,
    values: list[str],
    say: Callable[[str], None],
    notebooks: Collection[str],
    check: Callable[[Evidence], None],
) -> tuple[Evidence, list[Row]]:
    """What answers of the first page follow from, as far as it is of `notebooks`; no page is written.

    check : called with the evidence without results, before any analysis; may raise. Other arguments and errors are
    those of `audited`.
    """
    nodes, rows = analysed(path, values, say, lambda nodes: check(read(nodes.key, {}, computed=False)), notebooks)
    return read(nodes.key, {row.name: row.reason for row in rows if not row.has_results}), rows


def _job(nodes: StudyNodes, rows: list[Row], path: Path, values: list[str]) -> IndexJob:
    study, profile, today = nodes.study, nodes.profile(), date.today().isoformat()
    sampling = profile.get("sampling")
    weights = sampling | {"weighted": WEIGHTED, "unweighted": UNWEIGHTED} if sampling else None
    made = (
        ("Command", " ".join([project.command(), "audit", path.name, *(["--set", *values] if values else [])])),
        ("Whole report", whole(path)),
        ("Seeds", ", ".join(f"{name} {seed}" for name, seed in study.seeds.model_dump().items())),
        ("Bootstrap", f"{study.bootstrap.n_resamples:,} resamples, {study.bootstrap.confidence:.0%} intervals"),
        ("Date and version", f"{today}, version {__version__} of the project"),
        ("Data (SHA-256)", digest(nodes.raw())),
    )
    return IndexJob(
        page_jobs.Shared(study.title, study.simulated, (), sampling=weights),
        study.key,
        study.description,
        tuple(study.unconfirmed.items()),
        profile,
        tuple(rows),
        made,
        cite(study, today),
        store.out_root() / PAGE,
    )


def whole(path: Path) -> str:
    """The command that makes the whole report of an audited study."""
    return f"{project.command()} --study {store.relative(path)} --out {store.relative(store.out_root())}"


def printed(first: FirstPage, rows: list[Row]) -> Iterator[str]:
    """Findings on the design and answers for a terminal, a line each."""
    if first.preface:
        yield from _wrapped(f"{first.preface.used}.")
        yield from _wrapped(first.preface.whom)
    if before := first.before:
        yield from ("", "Before you read on")
        for fact, question in before.unconfirmed:
            yield from _wrapped(f"Not confirmed: {fact}. {question}", "- ")
        for what, _, _ in before.findings:
            yield from _wrapped(what, "- ")
    for answer in first.answers:
        yield from ("", answer.question)
        yield from _wrapped(answer.text.partition("\n\n")[0], "  ")
    for row in rows:
        if row.state == "failed":
            yield ""
            yield from _wrapped(_PHRASES.say("failed", number=row.name[:2], title=row.title, reason=row.reason))


def _wrapped(text: str, start: str = "") -> Iterator[str]:
    """Markdown as plain lines that are not too long; items of a list begin lines of their own."""
    parts = re.split(r"\n(?=[-*] |\d+\. )", text)
    for part in parts:
        plain = words(markdown(part))
        yield from textwrap.wrap(plain, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))
