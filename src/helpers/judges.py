"""Notebook 13: can a model judge in place of people?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.judges import analysis, findings, views
from judgebook.questions.performance.arrangement import best_first


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None) -> None:
        super().__init__("13_judges", study, run_id, n_resamples=n_resamples, seed=seed)
        annotations, self.test = self.evaluated("annotations"), self.study.judges
        self.results = self.analysed(
            analysis.analyse,
            annotations,
            self.labels,
            sampling=self.sampling,
            cost=self.test.cost,
            min_items=self.test.min_items,
            margin=self.test.margin,
            order_margin=self.test.order_margin,
        )
        self.run.save_results(self.results)
        titles = analysis.judge_titles(self.study.groups, annotations, self.test.titles)
        self.names = best_first(display_names(self.study, annotations, metric=titles), self.run)

    def findings(self) -> Section:
        level, cost = self.study.bootstrap.confidence, self.test.cost
        yield findings.findings(self.results, self.names, confidence=level, cost=cost)

    def gold(self) -> Section:
        yield views.gold(self.results, self.names)

    def agreement(self) -> Section:
        yield views.alpha_figure(self.results, self.names)
        yield views.alphas(self.results, self.names)

    def choices(self) -> Section:
        yield views.choices(self.results, self.names)
        yield views.orders(self.results, self.names)
        yield views.both_orders(self.results, self.names)

    def consequences(self) -> Section:
        yield views.changes(self.results, self.names)
        yield views.consequences(self.results, self.names)

    def assisted(self) -> Section:
        yield views.assisted(self.results, self.names)
        yield views.estimates(self.results, self.names)
