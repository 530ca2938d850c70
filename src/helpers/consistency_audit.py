"""Notebook 91: do the papers agree with themselves?"""

from compendium.papers import technique_rates
from compendium.published import elements, numbers
from compendium.published.consistency import (
    agreeing,
    analysis,
    checks,
    data_sets,
    figures,
    findings,
    leaderboards,
    survey,
    tables,
)
from judgebook.display.page import NotebookPage, Section


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None) -> None:
        super().__init__("91_consistency_audit", study, run_id, of_study=False)
        self.audit, self.printed, (_, self.papers) = analysis.audit(), numbers.load(), checks.load()
        self.results = analysis.results(self.audit)
        self.results.update(leaderboards.results(self.printed, self.papers))
        self.run.save_results(self.results)
        for name, frame in self.audit.frames.items():
            self.run.frame(frame, name)

    def findings(self) -> Section:
        yield findings.findings(self.audit)

    def outcomes(self) -> Section:
        yield figures.outcomes(self.audit)

    def failures(self) -> Section:
        yield tables.failures(self.audit)

    def agreeing(self) -> Section:
        yield agreeing.views(self.audit, elements.load())

    def numbers(self) -> Section:
        yield tables.numbers(self.audit)

    def leaderboards(self) -> Section:
        yield leaderboards.views(self.printed, self.papers)

    def data_sets(self) -> Section:
        yield data_sets.views(self.printed)

    def win_rates(self) -> Section:
        yield technique_rates.views(self.printed)

    def survey(self) -> Section:
        yield survey.views(survey.marks())
