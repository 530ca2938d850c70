"""The sections of notebook 07."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgebook.annotations.population import Population
from judgebook.annotations.summary import evaluations
from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import Prose, without_direction
from judgebook.questions.performance import figures, findings, tables
from judgebook.study.labels import METHODS
from judgebook.study.results import Results


class Sections(NotebookPage):
    """everybody, passed, judged : judgements of the evaluation, those of workers who count, and those analysed.

    people : whom intervals hold for, by corpus and group. names : many systems in the order of their ranks.
    """

    everybody: pd.DataFrame
    passed: pd.DataFrame
    judged: pd.DataFrame
    people: Mapping[tuple[str, str], Population]
    results: Results
    names: DisplayNames

    def findings(self) -> Section:
        results, names, level = self.results, self.names, self.study.bootstrap.confidence
        yield findings.leader(results, names, evaluations(self.everybody), self.people, self.passed, level)
        yield findings.findings(results, names, n_picks=self.study.performance.picks, confidence=level)
        yield findings.weights(results, names)
        yield tables.weights(results, names)

    def rates(self) -> Section:
        yield from self._scores(pairs=False)

    def comparisons(self) -> Section:
        yield from self._scores(pairs=True)

    def _scores(self, *, pairs: bool) -> Section:
        for method in sorted(self.judged["method"].unique(), key=list(METHODS).index):
            if (METHODS[method].unit == "pair") == pairs:
                yield figures.scores(self.results, self.names, method)
                yield tables.scores(self.results, self.names, method, self.study.bootstrap.confidence)

    def ranks(self) -> Section:
        yield figures.ranks(self.results, self.names)
        yield tables.ranks(self.results, self.names)
        yield findings.unranked(self.judged, self.study.unranked_systems, self.names)
        yield without_direction(self.judged, self.labels)
        yield figures.strengths(self.results, self.names)
        yield tables.strengths(self.results, self.names)
        yield tables.chances(self.results, self.names)

    def overall(self) -> Section:
        yield findings.overall(self.results, self.names, self.study.bootstrap.confidence)
        yield tables.overall(self.results, self.names, self.study.bootstrap.confidence)

    def other_annotators(self) -> Section:
        yield findings.pooled(self.results, self.names)
        yield figures.pooled(self.results, self.names)
        yield tables.pooled(self.results, self.names, self.study.bootstrap.confidence)
        yield tables.severity(self.results, self.names)
        yield tables.who_judged(self.results, self.names, self.study.bootstrap.confidence)

    def units(self) -> Section:
        yield figures.design_effects(self.results, self.names)
        yield tables.design_effects(self.results, self.names)
        yield tables.picks(self.results, self.names, self.study.performance.picks)

    def paper(self) -> Section:
        cells = tables.printed_rates(self.results, self.run.key, self.run.notebook)
        if len(cells):
            yield tables.printed(cells, self.names)
            yield findings.printed(cells, self.names)
            yield Prose(self.study.performance.note)
