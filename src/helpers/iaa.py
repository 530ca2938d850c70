"""Notebook 03: do annotators agree?"""

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import nothing_because
from judgebook.published import comparison
from judgebook.questions.agreement import analysis, figures, findings, library_check, population, tables


class Page(NotebookPage):
    def __init__(
        self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None, people_resamples: int
    ) -> None:
        super().__init__("03_iaa", study, run_id, n_resamples=n_resamples, seed=seed)
        self.annotations, self.iaa = self.evaluated("annotations", circumstances=False), self.study.iaa
        self.names, self.level = display_names(self.study, self.annotations), self.study.bootstrap.confidence
        self.results = self.analysed(
            analysis.analyse, self.annotations, self.labels, sampling=self.sampling, first=self.iaa.first,
            scope=self.study.scope, control=comparison.is_source(self.run), unit=self.study.bootstrap.unit,
            people=self.study.inference.annotators, people_resamples=people_resamples,
        )  # fmt: skip
        self.run.save_results(self.results)

    def findings(self) -> Section:
        of, iaa, level = (self.results, self.names), self.iaa, self.level
        per = population.misleading(self.annotations, self.study.bootstrap.unit)
        yield findings.findings(*of, min_items=iaa.min_items, threshold=iaa.threshold, misleading=per, confidence=level)
        yield nothing_because(tables.never_twice(*of))

    def alphas(self) -> Section:
        yield findings.annotations_used(self.iaa.first)
        yield figures.alphas(self.results, self.names, self.iaa.threshold, self.iaa.marks)
        yield from (tables.by_method(self.results, self.names), tables.alphas(self.results, self.names, self.level))

    def evidence(self) -> Section:
        yield tables.evidence(self.results, self.names)
        checks = library_check.compare(self.annotations, self.labels, self.results, first=self.iaa.first)
        yield findings.checked(library_check.largest_differences(checks))

    def other_annotators(self) -> Section:
        yield from (tables.over_people(self.results, self.names), tables.pairs_of_people(self.results, self.names))

    def paper(self) -> Section:
        yield comparison.views(self.results, self.run, "Agreement within groups, as printed and in this study.")
