"""Notebook 07: how good are the systems?"""

from compendium.simulation import recovery
from compendium.simulation.truth import truth
from judgebook.annotations.population import modelled, populations
from judgebook.display.page import Section
from judgebook.display.views import Prose, without_means
from judgebook.questions.agreement.findings import misled
from judgebook.questions.agreement.population import misleading
from judgebook.questions.performance import analysis
from judgebook.questions.performance.page import Sections
from judgebook.questions.quality_control.findings import who_counts
from judgebook.questions.quality_control.worker_tests import of_those_who_passed


class Page(Sections):
    def __init__(
        self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None, n_picks: int | None
    ) -> None:
        super().__init__("07_bot_performance", study, run_id, n_resamples=n_resamples, seed=seed, n_picks=n_picks)
        unranked, control = self.study.unranked_systems, self.study.control_system
        self.everybody = self.evaluated("annotations", circumstances=False)
        self.passed = of_those_who_passed(self.everybody, self.labels, control, self.study.quality_control)
        chosen = analysis.chosen(self.passed, unranked, self.labels)
        self.judged = analysis.with_interactors(chosen, self.run.read("dialogues"))
        self.people = modelled(self.judged, self.study.inference.annotators)
        self.results = self.analysed(
            analysis.analyse,
            self.judged,
            self.labels,
            unranked,
            people=populations(self.judged, self.study.inference.annotators),
            whose=self.people,
            n_picks=self.study.performance.picks,
            pick_seed=self.study.seeds.pick,
            overall=self.study.performance.overall,
            unit=self.study.bootstrap.unit,
            sampling=self.sampling,
        )
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield from super().findings()
        yield misled(misleading(self.judged, self.study.bootstrap.unit), self.names)
        yield who_counts(self.everybody, self.passed, self.study.control_system)
        yield without_means(self.passed, self.labels)

    def units(self) -> Section:
        yield from super().units()
        if self.study.simulate:
            methods = self.names.titles["method"]
            yield Prose(recovery.of_performance(self.results, truth(self.study.simulate), methods))
