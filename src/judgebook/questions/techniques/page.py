"""The sections of notebook 11."""

from __future__ import annotations

import pandas as pd

from compendium.published import calibrated, comparison
from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import FromPrint
from judgebook.questions.techniques import figures, findings, tables
from judgebook.questions.techniques.sittings import TechniqueData
from judgebook.questions.techniques.turn_marks import Turned


class TechniqueSections(NotebookPage):
    """data, turned : what techniques compare, and what is judged turn by turn. printed : rates of the paper."""

    data: TechniqueData
    turned: Turned
    printed: pd.DataFrame
    names: DisplayNames

    def findings(self) -> Section:
        options, simulated = self.study.techniques, self.study.simulated
        yield findings.findings(self.results, self.data, self.names, options=options, simulated=simulated)

    def compared(self) -> Section:
        yield findings.compared(self.data, self.turned, self.names)

    def rates(self) -> Section:
        yield figures.rates(self.results, self.data, self.names)
        yield tables.rates(self.results, self.data, self.names)
        yield findings.without_winner(self.data, self.labels)

    def scores(self) -> Section:
        yield tables.scores(self.results, self.data, self.names)
        yield tables.scores(self.results, self.turned.data, self.names, name="turn_scores")

    def turns(self) -> Section:
        yield figures.turns(self.results, self.data, self.names)
        yield findings.turns(self.results)
        yield figures.marks(self.results, self.turned.data, self.names)
        yield tables.halves(self.results, self.names)

    def final_rating(self) -> Section:
        yield figures.coefficients(self.results, self.data, self.names)
        yield tables.turn_means(self.results, self.names)

    def same_winner(self) -> Section:
        yield tables.same_winner(self.results, self.data, self.names)

    def power(self) -> Section:
        yield figures.power(self.results, self.data, self.names, self.study.techniques)
        yield tables.seconds(self.results, self.data, self.names)

    def hours(self) -> Section:
        yield figures.hours(self.results, self.data, self.names, self.study.techniques)
        yield tables.hours(self.results, self.data, self.names, self.study.techniques)
        yield findings.reused(self.results, self.names)

    def errors(self) -> Section:
        yield figures.errors(self.results, self.data, self.names, self.study.techniques)

    def chunks(self) -> Section:
        yield tables.chunks(self.results, self.data, self.names, self.study.techniques.chunk_minutes)

    def reasons(self) -> Section:
        yield tables.reasons(self.results, self.data, self.names)

    def messages(self) -> Section:
        yield tables.checks(self.results)
        yield tables.effects(self.results, self.names)

    def from_print(self) -> Section:
        yield FromPrint(tables.printed(self.printed, self.names))
        yield findings.printed(self.printed, self.names)

    def paper(self) -> Section:
        if not self.study.simulated:
            yield comparison.views(self.results, self.run)
            return
        cells, last = calibrated.beside(self.results, self.run.key, self.run.notebook), ["low", "high", "title"]
        if len(cells):
            yield tables.nearness(cells)
            yield findings.nearness(cells, simulated=True)
            self.run.frame(cells[[*cells.columns.drop(last), *last]], "cells")
