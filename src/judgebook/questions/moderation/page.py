"""The sections of notebook 12."""

from __future__ import annotations

from collections.abc import Mapping

from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.moderation import figures, findings, tables


class ModerationSections(NotebookPage):
    """metrics : display names of metrics of overlap."""

    metrics: Mapping[str, str]
    names: DisplayNames

    def findings(self) -> Section:
        yield findings.findings(self.results, self.names, simulated=self.study.simulated)

    def agreement(self) -> Section:
        yield tables.agreement(self.results)

    def preferences(self) -> Section:
        yield figures.outcomes(self.results, self.names)
        yield tables.outcomes(self.results, self.names)
        yield tables.leads(self.results, self.names)
        yield tables.flagged(self.results, self.names)

    def overlap(self) -> Section:
        yield tables.overlap(self.results, self.names, self.metrics)
