"""The sections of notebook 06."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgebook.display.page import Section
from judgebook.display.views import without_means
from judgebook.questions.validity import curves, figures, findings, label_selection, reach, tables
from judgebook.questions.validity.page import Predictions
from judgebook.study.results import Results


class CoverageSections(Predictions):
    """selected : labels, and whether they reach each threshold. named : labels that the paper names in its text."""

    results: Results
    selected: pd.DataFrame
    named: Sequence[str]

    def findings(self) -> Section:
        limits = label_selection.limits(self.study.label_selection)
        yield findings.coverage(self.results, self.selected, self.names, limits)
        yield without_means(self.everybody, self.labels)
        yield findings.population(self.targets, self.results)
        if self.targets.external:
            yield findings.predictors(self.targets, self.names)
        yield reach.reach(self.targets, self.results, self.names, self.study.label_set, "7.4")

    def best_subsets(self) -> Section:
        yield tables.models(self.results, self.names)
        yield findings.excluded(self.results, self.names)

    def compared(self) -> Section:
        yield figures.compared(self.results, self.names)
        yield findings.precision(self.study.coverage.n_permutations, self.study.coverage.n_halves)

    def decisions(self) -> Section:
        yield curves.summary(self.results, self.names, self.study.importance)
        yield curves.plots(self.results, self.names, self.study.importance)

    def stability(self) -> Section:
        yield tables.stability(self.results, self.names, self.study.coverage.n_halves)

    def kept(self) -> Section:
        yield figures.selection(self.selected, self.names, label_selection.limits(self.study.label_selection))
        yield tables.criteria(self.selected, self.names)
        yield tables.kept(self.results, self.names)

    def label_sets(self) -> Section:
        yield tables.label_sets(self.results, self.names)
        yield findings.label_sets(self.results, self.names)

    def paper(self) -> Section:
        yield findings.paper_in_words(self.results, self.names, self.named)
