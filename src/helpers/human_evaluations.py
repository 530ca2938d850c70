"""Notebook 92: what are human evaluations like?"""

from compendium.field import analysis, views
from compendium.field.analysis import read
from judgebook.display.page import NotebookPage, Section


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None) -> None:
        super().__init__("92_human_evaluations", study, run_id, of_study=False)
        self.titles, labels, values = read()
        self.rows = analysis.labelled(labels, values)
        self.stand = {against: analysis.claims(labels, values, against) for against in analysis.STAND}
        self.ratios = analysis.second_rater(labels, values)
        self.results = analysis.analyse(labels, values, self.sampling)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield views.findings(self.results)

    def claims(self) -> Section:
        yield views.claims(self.stand, self.results, self.titles)

    def explained(self) -> Section:
        yield views.explained(self.results, self.ratios, self.stand["rerun"], self.titles)

    def agreement(self) -> Section:
        yield views.moderated(self.rows, self.results, "kind", self.titles)
        yield views.moderated(self.rows, self.results, "form", self.titles)

    def spread(self) -> Section:
        yield views.shares(self.rows, self.results, self.titles)
        yield views.design_effects(self.rows, self.results, self.titles)

    def means(self) -> Section:
        yield views.means(self.results)
