"""Notebook 01: what passes the pilot?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.project import has_package
from judgebook.questions.collection import analysis, figures, findings, tables
from judgebook.questions.performance.arrangement import best_first

if has_package("compendium"):
    from compendium.published import comparison


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None) -> None:
        super().__init__("01_pilot", study, run_id, n_resamples=n_resamples, seed=seed)
        annotations, attempts = self.run.read("annotations"), self.run.read("screening")
        self.names = best_first(display_names(self.study, annotations, attempts), self.run)
        self.confidence = self.study.bootstrap.confidence
        self.results = self.analysed(
            analysis.pilots,
            annotations,
            attempts,
            self.labels,
            self.study.pilot,
            sampling=self.sampling,
        )
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield findings.pilots(self.results, self.names, simulated=self.run.simulated)

    def systems(self) -> Section:
        if len(self.results["mean"]):
            yield figures.systems(self.results, self.names)
            yield tables.systems(self.results, self.names)

    def agreement(self) -> Section:
        if len(self.results["alpha"]):
            yield figures.agreement(self.results, self.names)
            yield tables.agreement(self.results, self.names, self.confidence)

    def screening(self) -> Section:
        if len(self.results["screening_pass_rate"]):
            yield figures.screening(self.results, self.names)
            yield tables.pass_rates(self.results, self.names, self.study.pilot)

    def quiz(self) -> Section:
        yield tables.quiz(self.results, self.names, {label.id: label.title for label in self.labels})

    def paper(self) -> Section:
        if has_package("compendium"):
            yield comparison.views(self.results, self.run)
