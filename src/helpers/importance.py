"""Notebook 04: does a label predict how good a dialogue is?"""

from judgebook.display.page import Section
from judgebook.display.views import without_means
from judgebook.published import comparison
from judgebook.questions.validity import analysis, figures, findings, library_check, reach, tables
from judgebook.questions.validity.page import Predictions
from judgebook.simulation.truth import truth


class Page(Predictions):
    def __init__(
        self,
        study: str,
        run_id: str | None,
        *,
        group: str | list[str] | None,
        n_resamples: int | None,
        seed: int | None,
    ) -> None:
        super().__init__("04_importance", study, run_id, group=group, n_resamples=n_resamples, seed=seed)
        self._read_targets()
        self.level = self.study.bootstrap.confidence
        self.results = self.analysed(analysis.analyse_importance, self.targets, self.sampling)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield findings.importance(self.results, self.names, confidence=self.level, itself=self.targets.label)
        yield findings.population(self.targets, self.results)
        yield without_means(self.everybody, self.labels)
        if self.targets.external:
            yield findings.predictors(self.targets, self.names)
        yield reach.reach(self.targets, self.results, self.names, self.study.label_set, "7.3")
        if self.study.simulate:
            yield findings.against_truth(self.results, truth(self.study.simulate), confidence=self.level)

    def correlations(self) -> Section:
        if not self.targets.external:
            yield findings.predictors(self.targets, self.names)
        for target in self.targets.designs:
            yield figures.correlations(self.results, self.names, target)
            yield findings.by_method(self.results, self.names, target)
            yield tables.correlations(self.results, self.names, target, self.level)
            yield findings.reasons(self.results, self.names, target)

    def fits(self) -> Section:
        yield figures.fits(self.results, self.names)
        yield from (tables.fits(self.results, self.names, target) for target in self.targets.designs)
        yield findings.checked(library_check.single_labels(self.targets, self.results))

    def paper(self) -> Section:
        caption = "Numbers printed in the text (Figure 2 prints none), and those of this study."
        yield comparison.views(self.results, self.run, caption)
