"""Notebook 02: what was collected, and at what cost?"""

from functools import cached_property

from compendium.published import comparison
from judgebook.annotations.summary import workload
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import nothing_because, something
from judgebook.questions.collection import analysis, costs, figures, findings, tables
from judgebook.questions.performance.arrangement import in_order


class Page(NotebookPage):
    def __init__(
        self, study: str, run_id: str | None, *, hourly_rate: float | None, planned_dialogues: int | None
    ) -> None:
        name, planned = "02_collection_stats", planned_dialogues
        super().__init__(name, study, run_id, hourly_rate=hourly_rate, planned_dialogues=planned)
        self.annotations, self.dialogues = self.evaluated("annotations"), self.evaluated("dialogues")
        self.costs = self.study.costs
        self.times = costs.minutes(self.evaluated("work_units"), self.annotations)
        self.results = self.analysed(
            analysis.collection,
            self.annotations,
            self.dialogues,
            self.times,
            self.labels,
            self.costs,
            confidence=self.study.bootstrap.confidence,
        )
        self.run.save_results(self.results)

    @cached_property
    def names(self) -> DisplayNames:
        names = display_names(self.study, self.annotations, self.dialogues)
        return in_order(names, self.study, self.annotations)

    def findings(self) -> Section:
        paid = self.study.quality_control.payment is not None
        yield findings.collection(self.annotations, self.results, self.names, self.costs, paid_elsewhere=paid)
        yield nothing_because(tables.minutes(self.results, self.names), tables.texts(self.results, self.names))

    def judged(self) -> Section:
        yield tables.judged(self.results, self.names)

    def workload(self) -> Section:
        yield figures.workload(workload(self.annotations), self.names)

    def texts(self) -> Section:
        yield something(tables.texts(self.results, self.names))

    def minutes(self) -> Section:
        yield something(tables.minutes(self.results, self.names))
        yield figures.minutes(self.times, self.results, self.names)

    def spending(self) -> Section:
        paid = self.study.quality_control.payment is not None
        yield tables.costs(self.results, self.names, self.costs, paid)

    def paper(self) -> Section:
        yield comparison.views(self.results, self.run)
