"""Notebook 80: do our own tests and intervals perform as stated?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import without_means
from judgebook.questions.operating_characteristics import analysis, figures, findings, tables
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
            self.evaluated("dialogues"),
            self.labels,
            self.study.operating,
            systems=list(self.study.systems),
            first=self.study.iaa.first,
            confidence=self.level,
            seed=self.study.seeds.permute,
            pick=self.study.seeds.pick,
            unranked=self.study.unranked_systems,
            families=self.study.quality_control.families,
            metric_scores=self.run.read("metric_scores").drop(columns="study"),
        )
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield findings.findings(self.results, self.names, confidence=self.level, simulated=self.study.simulated)
        yield findings.simulated_from(self.results, self.names, self.study.operating)
        yield without_means(self.annotations, self.labels)

    def procedures(self) -> Section:
        yield tables.procedures(self.results, self.names, self.level)

    def type_i_errors(self) -> Section:
        yield from (figures.rejections(self.results, self.names), tables.rejections(self.results, self.names))

    def coverage(self) -> Section:
        yield from (figures.coverage(self.results, self.names, self.level), findings.alpha(self.results, self.level))

    def questions(self) -> Section:
        yield figures.questions(self.results, self.level)

    def intervals(self) -> Section:
        yield tables.intervals(self.results, self.names)
