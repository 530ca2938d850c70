"""The sections of notebook 11, without what it takes to compute them."""

from __future__ import annotations

import pandas as pd

from judgebook.display import captions
from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.techniques import figures, findings, sittings, tables, turns
from judgebook.study.results import Results


class Sections(NotebookPage):
    """data, turned : what was judged as a whole and by turn. pairings : ratings and comparisons of the same systems."""

    data: sittings.TechniqueData
    turned: turns.Turned
    pairings: list[turns.Paired]
    results: Results
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
            yield tables.chunks(every, self.data, self.names)

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

    def hours(self) -> Section:
        yield figures.hours(self.results, self.data, self.names, self.study.techniques)
        yield tables.hours(self.results, self.data, self.names, self.study.techniques)
        yield tables.seconds(self.results, self.data, self.names)
        yield findings.reused(self.data, self.names)

    def turn_means(self) -> Section:
        yield tables.turn_means(self.results, self.names)

    def reasons(self) -> Section:
        yield tables.reasons(self.results, self.data, self.names)

    def messages(self) -> Section:
        yield tables.checks(self.results)
