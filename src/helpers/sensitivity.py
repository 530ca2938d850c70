"""Notebook 05: does a label distinguish systems?"""

from functools import partial

from judgebook.annotations.summary import with_means
from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import Prose, without_means
from judgebook.questions.quality_control.findings import who_counts
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.questions.sensitivity import analysis, figures, findings, printed, tables
from judgebook.questions.sensitivity.figures import each
from judgebook.simulation import recovery, truth


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, n_draws: int | None, seed: int | None) -> None:
        super().__init__("05_sensitivity", study, run_id, n_draws=n_draws, seed=seed)
        self.options, seeds, control = self.study.sensitivity, self.study.seeds, self.study.control_system
        self.everybody = self.evaluated("annotations").query("annotator_kind == 'human'")
        self.annotations = of_those_who_passed(self.everybody, self.labels, control, self.study.quality_control)
        self.names = display_names(self.study, self.annotations)
        systems = self.names.systems(without=[control, *self.study.unranked_systems])
        scored, dialogues = with_means(self.annotations, self.labels), self.run.read("dialogues")
        self.judged = analysis.groups(scored, dialogues, systems=systems, pick_seed=seeds.pick)
        self.results = analysis.analyse(
            self.judged, self.options, self.labels, permute_seed=seeds.permute, draw_seed=seeds.downsample
        )
        self.inputs = (self.results, self.judged, self.names)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield findings.findings(*self.inputs, self.options)
        yield who_counts(self.everybody, self.annotations, self.study.control_system)
        yield without_means(self.annotations, self.labels)
        if self.study.simulate:
            yield Prose(recovery.of_sensitivity(self.results, truth.truth(self.study.simulate)))

    def significance(self) -> Section:
        yield findings.sample(self.judged, self.names, n=self.options.n_dialogues)
        yield each(figures.significance, *self.inputs, "significance")

    def pairs(self) -> Section:
        yield tables.count_tables(*self.inputs, n=self.options.n_dialogues, n_draws=self.options.n_draws)
        yield each(tables.differences, *self.inputs, "differences")

    def equivalence(self) -> Section:
        yield findings.equivalence(*self.inputs, margin=self.options.margin)
        for view in (figures.equivalence, tables.equivalence):
            yield each(partial(view, margin=self.options.margin), *self.inputs, "equivalence")

    def type_i_errors(self) -> Section:
        for view in (figures.type_i_errors, tables.type_i_errors):
            yield each(partial(view, n_runs=self.options.null_runs), *self.inputs, "errors")

    def power(self) -> Section:
        yield from (each(view, *self.inputs, "power") for view in (figures.power, tables.power))

    def paper(self) -> Section:
        yield printed.views(*self.inputs, self.options)
