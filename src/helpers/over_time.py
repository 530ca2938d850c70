"""Notebook 18: what has changed over time?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.over_time import analysis, views


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, false_alarms: float | None, min_items: int | None) -> None:
        super().__init__("18_over_time", study, run_id, false_alarms=false_alarms, min_items=min_items)
        annotations, self.options = self.evaluated("annotations"), self.study.over_time
        self.names = display_names(self.study, annotations)
        self.results = self.analysed(
            analysis.analyse,
            annotations,
            self.labels,
            self.options,
            self.study.unranked_systems,
            inference=self.study.inference.annotators,
            sampling=self.sampling,
        )
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield views.findings(self.results, self.names, self.options.false_alarms)

    def means(self) -> Section:
        yield views.means(self.results, self.names, self.options.false_alarms)

    def changes(self) -> Section:
        yield views.changes(self.results, self.names)

    def composition(self) -> Section:
        yield views.composition(self.results, self.names)
