"""The sections of notebook 10."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.quality_control import effect_views, figures, findings, tables
from judgebook.questions.quality_control.crowd import Crowd


class QualityControlSections(NotebookPage):
    """people : workers, their tests and scores. lengths : of the texts of dialogues. pairs : of workers who rated the
    same."""

    people: Crowd
    lengths: pd.DataFrame
    pairs: pd.DataFrame
    names: DisplayNames

    @property
    def printed(self) -> Mapping[tuple[str, str, str], float]:
        """Changes of printed means (`effect_views.changes`): none where no paper is known."""
        return {}

    def findings(self) -> Section:
        yield findings.findings(self.results, self.people)

    def repeat(self) -> Section:
        yield figures.repeat(self.results, self.people)
        yield tables.repeat(self.results, self.people)
        yield tables.gain(self.results, self.people)

    def workers(self) -> Section:
        yield tables.numbers(self.results, self.people)

    def scores(self) -> Section:
        yield figures.runs(self.results, self.names, self.people)
        yield tables.scores(self.results, self.names, self.people)

    def differences(self) -> Section:
        yield tables.concordance(self.results, self.people)
        yield findings.conclusions(self.results, self.people)
        yield tables.signal(self.results, self.people)

    def thresholds(self) -> Section:
        yield figures.thresholds(self.results, self.names, self.people)
        yield tables.thresholds(self.results, self.people)

    def agreement(self) -> Section:
        yield figures.pairs(self.pairs)
        yield findings.selection(self.results)

    def variants(self) -> Section:
        yield findings.effects(self.results, self.names, self.people)
        yield effect_views.effects(self.results, self.names, self.people)
        yield effect_views.variant_effects(self.results, self.names, self.people)
        yield figures.variants(self.results, self.names, self.people)
        yield findings.contrasts(self.results, self.people)
        yield tables.opinions(self.results, self.people)

    def changes(self) -> Section:
        yield findings.changes(self.results, self.names, self.people)
        yield effect_views.changes(self.results, self.names, self.people, self.printed)

    def costs(self) -> Section:
        yield figures.lengths(self.lengths, self.people)
        yield tables.lengths(self.results, self.people)
        yield tables.costs(self.results, self.people)

    def paper(self) -> Section:
        yield findings.lists(self.results, self.people)
