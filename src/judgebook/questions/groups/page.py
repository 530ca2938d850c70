"""The sections of notebook 08, without what it takes to compute them."""

from __future__ import annotations

from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.groups import views
from judgebook.study.results import Results


class Sections(NotebookPage):
    results: Results
    names: DisplayNames

    def differences(self) -> Section:
        level, margin = self.study.bootstrap.confidence, self.study.group_effects.margin
        yield views.differences(self.results, self.names, confidence=level, margin=margin)
        yield views.compared(self.results, self.names, level)

    def conclusions(self) -> Section:
        yield views.conclusions(self.results, self.names, self.study.group_effects.margin)
        yield views.effects(self.results, self.names)

    def claims(self) -> Section:
        yield views.claims(self.results, self.names, self.study.group_effects.objective)
        yield views.by_method(self.results, self.names)
        yield views.extremes(self.results, self.names)
        yield views.by_objectivity(self.results, self.names)

    def agreement(self) -> Section:
        yield views.alphas(self.results, self.names)

    def who_judged(self) -> Section:
        yield views.who_judged(self.results, self.names, self.study.costs.payments, self.study.costs.currency)
