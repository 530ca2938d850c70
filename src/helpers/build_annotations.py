"""Notebook 00: what is in the data?"""

from judgebook.annotations.summary import evaluated
from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.collection import analysis, views


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None) -> None:
        super().__init__("00_build_annotations", study, run_id, n_resamples=n_resamples, seed=seed)
        annotations, self.counts = self.run.read("annotations"), self.run.read("counts")
        self.main, self.names = evaluated(annotations), display_names(self.study, annotations)
        self.results = self.analysed(
            analysis.data_set,
            annotations,
            self.run.read("dialogues"),
            self.labels,
            sampling=self.sampling,
        )
        self.run.save_results(self.results)

    def findings(self) -> Section:
        control = self.study.control_system is not None
        yield views.data_set(self.counts, self.main, self.results, self.names, control=control)

    def read(self) -> Section:
        yield views.read(self.counts)

    def questions(self) -> Section:
        yield views.labels(self.main, self.study, self.names)

    def card(self) -> Section:
        yield views.card(self.results, self.names)

    def missing(self) -> Section:
        yield views.coverage(self.results, self.names)

    def scores(self) -> Section:
        yield views.scores(self.results, self.names, views.kind_names(self.main, self.names))
        yield views.answers(self.results, self.names)
