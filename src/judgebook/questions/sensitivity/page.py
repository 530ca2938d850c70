"""The sections of notebook 05."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.sensitivity import figures, findings, tables
from judgebook.questions.sensitivity.analysis import with_fits
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.questions.sensitivity.shown import each
from judgebook.study.results import Results
from judgebook.study.schema import Annotations


class SensitivitySections(NotebookPage):
    """everybody, annotations : judgements by people, and those that count. judged : what can be compared in each corpus
    and evaluator group. fits : results of notebook 07. options : the section of the YAML. margins : of the study."""

    everybody: Annotations
    annotations: Annotations
    judged: list[JudgedGroup]
    results: Results
    fits: Results
    margins: Mapping[tuple[str, str], float]
    names: DisplayNames
    options: Sensitivity

    @property
    def _inputs(self) -> tuple[Results, list[JudgedGroup], DisplayNames]:
        """What most views take."""
        return self.shown, self.judged, self.names

    @property
    def shown(self) -> Results:
        """What was computed as published, and the fits."""
        return with_fits(self.results, self.fits)

    def significance(self) -> Section:
        yield findings.sample(self.judged, self.names, n=self.options.n_dialogues)
        yield each(figures.significance, *self._inputs, "significance")

    def pairs(self) -> Section:
        yield tables.groups(*self._inputs)
        yield tables.count_tables(*self._inputs)
        yield each(partial(tables.margins, of=self.margins), *self._inputs, "margins")
