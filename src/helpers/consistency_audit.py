"""Notebook 91: do the papers agree with themselves?"""

from compendium.papers import technique_rates
from compendium.published import elements, numbers
from compendium.published.consistency import analysis, checks, dstc10, views
from judgebook.display.page import NotebookPage, Section


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None) -> None:
        super().__init__("91_consistency_audit", study, run_id, of_study=False)
        self.audit, self.printed, (_, self.papers) = analysis.audit(), numbers.load(), checks.load()
        self.results = analysis.results(self.audit)
        self.results.update(dstc10.results(self.printed, self.papers))
        self.run.save_results(self.results)
        for name, frame in self.audit.frames.items():
            self.run.frame(frame, name)

    def findings(self) -> Section:
        yield views.findings(self.audit)

    def outcomes(self) -> Section:
        yield views.outcomes(self.audit)

    def failures(self) -> Section:
        yield views.failing(self.audit)

    def agreeing(self) -> Section:
        yield views.agreeing(self.audit, elements.load())

    def leaderboards(self) -> Section:
        yield dstc10.leaderboards(self.printed, self.papers)

    def data_sets(self) -> Section:
        yield dstc10.data_sets(self.printed)

    def win_rates(self) -> Section:
        yield technique_rates.views(self.printed)

    def survey(self) -> Section:
        yield views.survey(views.marks())
