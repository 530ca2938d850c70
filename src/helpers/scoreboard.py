"""Notebook 90: what reproduces?"""

from compendium.published import as_source, mapping, numbers, scoreboard, views
from compendium.published.consistency.analysis import audit
from judgebook.display.page import NotebookPage, Section
from judgebook.sources import places


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None) -> None:
        super().__init__("90_scoreboard", study, run_id, of_study=False)
        audited, self.papers = audit(), mapping.load()
        self.titles = audited.titles
        stored = {pair: self.run.results_elsewhere(*pair) for pair in mapping.sources()}
        self.sources = as_source.added(stored, self.papers, places.find)
        self.cells, self.controls = scoreboard.analyse(self.sources, numbers.load(), audited, self.papers)
        self.results = scoreboard.results(self.cells, self.controls)
        self.run.save_results(self.results)
        self.run.frame(self.cells, "cells")
        self.run.frame(self.controls, "controls")

    def findings(self) -> Section:
        yield views.findings(self.cells, self.controls, self.titles)
        yield views.absent(self.sources)

    def verdicts(self) -> Section:
        yield views.papers(self.cells, self.titles)

    def side_by_side(self) -> Section:
        yield views.side_by_side(self.cells, self.titles, self.papers)

    def chance(self) -> Section:
        yield views.controls(self.controls, self.titles)

    def differences(self) -> Section:
        yield views.explained(self.cells, self.titles)
