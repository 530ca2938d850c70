"""Notebook 17: can this design answer the questions?"""

from functools import cached_property

from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.design import analysis, findings, views
from judgebook.questions.performance.arrangement import best_first


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None) -> None:
        super().__init__("17_design_check", study, run_id)
        annotations = self.run.read("annotations")
        examined = self.analysed(
            analysis.examine,
            annotations,
            self.run.read("dialogues"),
            self.labels,
            counts=self.run.read("counts"),
            metric_scores=self.run.read("metric_scores"),
            dialogue_facts=self.run.read("dialogue_facts"),
            own_ids=self.run.own_ids(),
            leave_out=[self.study.control_system, *self.study.unranked_systems],
            selection=self.study.heds.selection,
        )
        self.results = analysis.store(examined, annotations)
        self.run.save_results(self.results)

    @cached_property
    def names(self) -> DisplayNames:
        return best_first(display_names(self.study, self.run.read("annotations")), self.run)

    def findings(self) -> Section:
        yield findings.headline(self.results, self.names)

    def faults(self) -> Section:
        yield views.findings(self.results, self.names)

    def loads(self) -> Section:
        yield views.loads(self.results, self.names)

    def others(self) -> Section:
        yield views.others(self.results)
