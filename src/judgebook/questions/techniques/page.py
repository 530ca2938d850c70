"""The sections of notebook 11."""

from __future__ import annotations

import pandas as pd

from judgebook.display import captions
from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.techniques import figures, findings, tables
from judgebook.questions.techniques.sittings import TechniqueData
from judgebook.questions.techniques.turn_marks import Turned
from judgebook.questions.techniques.turn_ratings import Paired


class TechniqueSections(NotebookPage):
    """data, turned : what techniques compare, and what is judged turn by turn. pairings : marks of turns with ratings
    of the same conversations."""

    data: TechniqueData
    turned: Turned
    pairings: list[Paired]
    names: DisplayNames

    def findings(self) -> Section:
        options, simulated = self.study.techniques, self.study.simulated
        yield findings.findings(self.results, self.data, self.names, self.pairings, options, simulated=simulated)

    def compared(self) -> Section:
        yield findings.compared(self.data, self.turned, self.names)
        yield findings.without_winner(self.data, self.labels)

    def win_rates(self, every: pd.DataFrame, ties: str) -> Section:
        """Figure and tables of win rates. ties : how they count in the figure, half or drop."""
        rows = every[every["label"].isin(tables.shown(self.data))] if len(every) else every
        if len(rows):
            drawn = tables.described(rows[rows["ties"].isin([ties, "none"])], self.data, self.names)
            yield figures.rates(drawn, self.names, tables.TIES[ties])
            yield tables.rates(rows, self.data, self.names)

    def scores(self, every: pd.DataFrame) -> Section:
        """Tables of the scores of systems judged one at a time."""
        if len(every):
            yield tables.scores(every, self.data, self.names)
            yield tables.scores(every, self.turned.data, self.names, name="turn_scores")

    def chunks(self, every: pd.DataFrame) -> Section:
        """Table of standard deviations over parts of equal working time."""
        if len(every):
            yield tables.chunks(every, self.data, self.names, self.study.techniques.chunk_minutes)

    def arranged(self, rows: pd.DataFrame, panel: str, hue: str) -> tuple[pd.DataFrame, str]:
        """Rates by turn with display names of the panel and the line of a figure, of at most 6 pairs or 12 systems; and
        what a caption says of those left out.

        panel, hue : Pair, System or Dimension.
        """
        data = self.turned.data if rows["method"].iloc[0] in self.turned.data.techniques else self.data
        shown = tables.described(rows[rows["label"].isin(tables.shown(data))].assign(technique=""), data, self.names)
        shown["Dimension"] = shown["label"].map(self.names.titles["dimension"])
        shown = shown.assign(panel=shown[panel].astype(str), hue=shown[hue].astype(str), x=shown["turn"])
        of, most, what = ("panel", 6, "pairs") if panel == "Pair" else ("hue", 12, "systems")
        every = shown[of].unique()
        note = captions.chosen(min(most, len(every)), len(every), f"{what} that come first")
        return shown[shown[of].isin(every[:most])], f" {note}" if note else ""

    def later_turns(self) -> Section:
        yield tables.halves(self.results, self.names)
        yield tables.turn_means(self.results, self.names)

    def same_winner(self) -> Section:
        yield tables.same_winner(self.results, self.data, self.names)

    def crossings(self) -> Section:
        yield findings.first_significant(self.results, self.study.techniques)

    def power(self) -> Section:
        yield figures.power(self.results, self.data, self.names, self.study.techniques)
        yield tables.seconds(self.results, self.data, self.names)

    def hours(self) -> Section:
        yield figures.hours(self.results, self.data, self.names, self.study.techniques)
        yield tables.hours(self.results, self.data, self.names, self.study.techniques)
        yield findings.reused(self.results, self.names)

    def errors(self) -> Section:
        yield figures.errors(self.results, self.data, self.names, self.study.techniques)

    def reasons(self) -> Section:
        yield tables.reasons(self.results, self.data, self.names)

    def messages(self) -> Section:
        yield tables.checks(self.results)
        yield tables.effects(self.results, self.names)
