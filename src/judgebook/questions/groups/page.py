"""The sections of notebook 08."""

from __future__ import annotations

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import without_means
from judgebook.questions.groups import figures, findings, tables


class GroupSections(NotebookPage):
    """annotations : judgements of groups that can be compared."""

    annotations: pd.DataFrame
    names: DisplayNames

    def findings(self) -> Section:
        yield findings.findings(self.results, self.names, confidence=self.study.bootstrap.confidence)
        yield without_means(self.annotations, self.labels)

    def differences(self) -> Section:
        level, margin = self.study.bootstrap.confidence, self.study.group_effects.margin
        yield tables.sizes(self.results, self.names, confidence=level, margin=margin)
        yield figures.differences(self.results, self.names, confidence=level, margin=margin)
        yield tables.compared(self.results, self.names, level)

    def conclusions(self) -> Section:
        yield tables.conclusions(self.results, self.names, self.study.group_effects.margin)
        yield figures.effects(self.results, self.names)
        yield figures.conclusions(self.results, self.names, self.study.group_effects.margin)

    def claims(self) -> Section:
        yield findings.claims(self.results, self.names, self.study.group_effects.objective)
        yield tables.by_method(self.results, self.names)
        yield tables.extremes(self.results, self.names)
        yield tables.by_objectivity(self.results, self.names)

    def agreement(self) -> Section:
        yield figures.alphas(self.results, self.names)
        yield tables.alphas(self.results, self.names)

    def who_judged(self) -> Section:
        yield tables.who_judged(self.results, self.names, self.study.costs.payments, self.study.costs.currency)
