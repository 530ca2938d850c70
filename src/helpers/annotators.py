"""Notebook 15: which annotators stand out from the others?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.annotators import analysis, views


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, false_alarms: float | None, seed: int | None) -> None:
        super().__init__("15_annotators", study, run_id, false_alarms=false_alarms, seed=seed)
        annotations = self.evaluated("annotations").query("annotator_kind == 'human'")
        self.names, self.false_alarms = display_names(self.study, annotations), self.study.annotators.false_alarms
        self.results = self.analysed(
            analysis.analyse,
            annotations,
            self.run.read("work_units"),
            self.labels,
            false_alarms=self.false_alarms,
            confidence=self.study.bootstrap.confidence,
            seed=self.study.seeds.bootstrap,
        )
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield views.findings(self.results, self.names, self.false_alarms)

    def severity(self) -> Section:
        yield views.severity(self.results, self.names, self.false_alarms)

    def indicators(self) -> Section:
        yield views.named(self.results, self.names, self.false_alarms)
        yield views.everyone(self.results, self.names)

    def consensus(self) -> Section:
        yield views.consensus(self.results, self.names)
