"""The sections of notebook 08, without what it takes to compute them."""

from __future__ import annotations

from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.groups import figures, findings, tables
from judgebook.study.results import Results


class Sections(NotebookPage):
    results: Results
    names: DisplayNames

    def differences(self) -> Section:
        level, margin = self.study.bootstrap.confidence, self.study.group_effects.margin
        yield figures.differences(self.results, self.names, confidence=level, margin=margin)
        yield tables.compared(self.results, self.names, level)

    def conclusions(self) -> Section:
        yield tables.conclusions(self.results, self.names, self.study.group_effects.margin)
        yield figures.effects(self.results, self.names)

    def claims(self) -> Section:
        yield findings.claims(self.results, self.names, self.study.group_effects.objective)
        yield tables.by_method(self.results, self.names)
        yield tables.extremes(self.results, self.names)
        yield tables.by_objectivity(self.results, self.names)

    def agreement(self) -> Section:
        yield tables.alphas(self.results, self.names)

    def who_judged(self) -> Section:
        yield tables.who_judged(self.results, self.names, self.study.costs.payments, self.study.costs.currency)
