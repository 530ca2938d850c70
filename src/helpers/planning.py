"""Notebook 14: how many dialogues and annotators does the next study need?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import without_means
from judgebook.questions.judges.analysis import judge_titles
from judgebook.questions.performance.arrangement import best_first
from judgebook.questions.planning import analysis, next_items, pilot_study, views
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
        seed: int | None,
    ) -> None:
        super().__init__("14_planning", study, run_id, power=power, budget=budget, seed=seed)
        self.options, costs, control = self.study.planning, self.study.costs, self.study.control_system
        everything, boot = self.evaluated("annotations"), self.study.bootstrap
        self.everybody = everything.query("annotator_kind == 'human'")
        models = everything.query("annotator_kind != 'human'")
        self.annotations = of_those_who_passed(self.everybody, self.labels, control, self.study.quality_control)
        titles, work = judge_titles(self.study.groups, models, self.study.judges.titles), self.run.read("work_units")
        self.names = best_first(display_names(self.study, self.everybody, metric=titles), self.run)
        systems, first = self.names.systems(without=[control, *self.study.unranked_systems]), self.study.seeds.bootstrap
        self.data = self.analysed(
            pilot_study.planning_input,
            self.annotations, work, self.labels, self.options, self.study.margins, systems=systems, models=models,
            hourly_rate=costs.hourly_rate, judge_costs=costs.model_judgement, seed=first,
            declared=self.study.inference.annotators, n_resamples=boot.n_resamples, confidence=boot.confidence,
        )  # fmt: skip
        self.results = self.analysed(analysis.analyse, self.data, self.options, confidence=boot.confidence, seed=first)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        currency, paid = self.study.costs.currency, self.study.quality_control.paid
        shown = (self.results, self.data, self.names, self.options)
        level = self.study.bootstrap.confidence
        yield views.findings(*shown, currency=currency, confidence=level, paid=paid, n_next=self._draw())
        yield who_counts(self.everybody, self.annotations, self.study.control_system)
        yield without_means(self.annotations, self.labels)

    def designs(self) -> Section:
        yield views.maps(self.results, self.names, currency=self.study.costs.currency)
        yield views.designs(self.results, self.names, currency=self.study.costs.currency)

    def looks(self) -> Section:
        yield views.boundaries(self.results)

    def _draw(self) -> int:
        """Store the dialogues that people should judge next (`next_items.of_plan`), which `run_all.py plan` writes as a
        CSV file, and return how many are to be judged."""
        teams, seed = views.teams(self.results, self.names), self.study.seeds.bootstrap
        drawn = next_items.of_plan(teams, self.data, uniform=self.options.uniform, seed=seed)
        self.run.frame(drawn, "next_items")
        return int((drawn["people"] == next_items.NEXT).sum())
