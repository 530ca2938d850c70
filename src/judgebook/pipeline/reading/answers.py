"""The work for `answers.json`, the file of the first page's answers as data."""

from __future__ import annotations

from collections.abc import Sequence

from judgebook.pipeline.page_jobs import DESIGN, IndexJob, earlier, write
from judgebook.questions.design import findings as design
from judgebook.questions.design.analysis import stored
from judgebook.report.html import Answered
from judgebook.report.prose import markdown, words
from judgebook.study import results, store
from judgebook.summary import analysis, findings
from judgebook.summary.answers import sources
from judgebook.summary.answers.document import MODELS, NAME, Answer, Answers, Flaw, OtherAnswer
from judgebook.summary.evidence import Evidence, parts
from judgebook.summary.findings import USED, PageAnswer


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
