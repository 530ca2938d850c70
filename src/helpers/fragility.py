"""Notebook 16: what does each conclusion depend on?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.fragility import analysis, views
from judgebook.questions.performance.arrangement import best_first


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, most: int | None, people: int | None) -> None:
        super().__init__("16_fragility", study, run_id, most=most, people=people)
        everybody, control = self.evaluated("annotations").query("annotator_kind == 'human'"), self.study.control_system
        self.names = best_first(display_names(self.study, everybody), self.run)
        parts = analysis.parts(
            everybody,
            self.labels,
            systems=self.names.systems(without=[control, *self.study.unranked_systems]),
            control=control,
            options=self.study.quality_control,
            pick_seed=self.study.seeds.pick,
        )
        self.results = self.analysed(analysis.analyse, list(parts), self.study.fragility)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield views.findings(self.results)

    def conclusions(self) -> Section:
        yield views.conclusions(self.results, self.names)

    def curves(self) -> Section:
        yield views.curves(self.results, self.names)
