"""Notebook 05: does a label distinguish systems?"""

from compendium.simulation import recovery
from compendium.simulation.truth import truth
from judgebook.annotations.summary import with_means
from judgebook.display.names import display_names
from judgebook.display.page import Section
from judgebook.display.views import Prose, without_means
from judgebook.questions.performance.arrangement import in_order
from judgebook.questions.quality_control.findings import who_counts
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.questions.sensitivity import analysis, findings, judged_groups
from judgebook.questions.sensitivity.page import SensitivitySections


class Page(SensitivitySections):
    def __init__(self, study: str, run_id: str | None, *, n_draws: int | None, seed: int | None) -> None:
        super().__init__("05_sensitivity", study, run_id, n_draws=n_draws, seed=seed)
        self.options, self.margins, control = self.study.sensitivity, self.study.margins, self.study.control_system
        self.fits = self.run.read_results("07_bot_performance")
        self.everybody = self.evaluated("annotations").query("annotator_kind == 'human'")
        self.annotations = of_those_who_passed(self.everybody, self.labels, control, self.study.quality_control)
        names = display_names(self.study, self.annotations)
        self.names = in_order(names, self.study, self.run.read("annotations"), self.fits)
        systems = self.names.systems(without=[control, *self.study.unranked_systems])
        scored = with_means(self.annotations, self.labels)
        self.judged = judged_groups.groups(scored, systems=systems, pick_seed=self.study.seeds.pick)
        self.results = self.analysed(analysis.analyse, self.judged, self.options, draw_seed=self.study.seeds.downsample)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield findings.findings(*self._inputs, self.options)
        yield who_counts(self.everybody, self.annotations, self.study.control_system)
        yield without_means(self.annotations, self.labels)
        if self.study.simulate:
            yield Prose(recovery.of_sensitivity(self.shown, truth(self.study.simulate)))
