"""Notebook 80: how often are the fit and intervals of alpha right in studies like this one?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import without_means
from judgebook.questions.operating_characteristics import analysis, views
from judgebook.questions.performance.arrangement import best_first


class Page(NotebookPage):
    def __init__(
        self, study: str, run_id: str | None, *, n_runs: int | None, n_resamples: int | None, seed: int | None
    ) -> None:
        name = "80_operating_characteristics"
        super().__init__(name, study, run_id, n_runs=n_runs, n_resamples=n_resamples, seed=seed)
        self.annotations, self.level = self.evaluated("annotations"), self.study.bootstrap.confidence
        self.names = best_first(display_names(self.study, self.annotations), self.run)
        self.results = self.analysed(
            analysis.analyse,
            self.annotations,
            self.labels,
            self.study.operating,
            first=self.study.iaa.first,
            confidence=self.level,
            seed=self.study.seeds.permute,
            unranked=self.study.unranked_systems,
            declared=self.study.inference.annotators,
        )
        self.run.save_results(self.results)

    def findings(self) -> Section:
        shown = self.results, self.names, self.study.operating
        yield views.findings(*shown, confidence=self.level, simulated=self.study.simulated)
        yield without_means(self.annotations, self.labels)

    def fits(self) -> Section:
        yield views.fits(self.results, self.names, self.level)

    def alpha(self) -> Section:
        yield views.alpha(self.results, self.names)
