"""Notebook 14: how many dialogues and annotators does the next study need?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import without_means
from judgebook.questions.performance.arrangement import best_first
from judgebook.questions.planning import analysis, figures, findings, pilot_study, tables
from judgebook.questions.quality_control.findings import who_counts
from judgebook.questions.quality_control.worker_tests import of_those_who_passed


class Page(NotebookPage):
    def __init__(
        self,
        study: str,
        run_id: str | None,
        *,
        power: float | None,
        budget: float | None,
        n_runs: int | None,
        seed: int | None,
    ) -> None:
        super().__init__("14_planning", study, run_id, power=power, budget=budget, n_runs=n_runs, seed=seed)
        self.options, rate, control = self.study.planning, self.study.costs.hourly_rate, self.study.control_system
        self.everybody = self.evaluated("annotations").query("annotator_kind == 'human'")
        self.annotations = of_those_who_passed(self.everybody, self.labels, control, self.study.quality_control)
        self.names, work = best_first(display_names(self.study, self.everybody), self.run), self.run.read("work_units")
        systems = self.names.systems(without=[control, *self.study.unranked_systems])
        first, margins = self.study.seeds.bootstrap, self.study.margins
        self.data = pilot_study.planning_input(
            self.annotations, work, self.labels, self.options, margins, systems=systems, hourly_rate=rate, seed=first
        )
        self.results = analysis.analyse(self.data, self.options, confidence=self.study.bootstrap.confidence, seed=first)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        currency, paid = self.study.costs.currency, self.study.quality_control.paid
        yield findings.findings(self.results, self.data, self.names, self.options, currency=currency, paid=paid)
        yield who_counts(self.everybody, self.annotations, self.study.control_system)
        yield without_means(self.annotations, self.labels)

    def variances(self) -> Section:
        yield tables.variances(self.results, self.names, self.data.blocks)

    def noticed(self) -> Section:
        yield tables.called_different(self.results, self.names, self.data.blocks)

    def designs(self) -> Section:
        yield figures.maps(self.results, self.names, currency=self.study.costs.currency)
        yield tables.designs(self.results, self.names, currency=self.study.costs.currency)
        yield tables.annotators(self.results, self.names, each=self.options.per_dialogue[0])

    def reliability(self) -> Section:
        yield tables.reliability(self.results, self.names)

    def power(self) -> Section:
        yield tables.powers(self.results, self.names)

    def looks(self) -> Section:
        yield tables.boundaries(self.results)
        yield tables.looks(self.results, self.names)
