"""The sections of notebook 12."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from compendium.published import calibrated
from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import FromPrint
from judgebook.questions.moderation import figures, findings, printed, tables


class ModerationSections(NotebookPage):
    """printed : numbers of the paper, if there is one. metrics : display names of metrics of overlap."""

    printed: pd.DataFrame | None
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

    def from_print(self) -> Section:
        if self.printed is not None:
            yield FromPrint(figures.printed(self.results, self.names))
            yield FromPrint(tables.printed_outcomes(self.results, self.names))
            yield FromPrint(tables.printed_agreement(self.printed))
            yield findings.from_print(self.results, self.names, self.printed)
            yield FromPrint(printed.views(self.printed, self.names))

    def paper(self) -> Section:
        yield calibrated.views(self.results, self.run)
