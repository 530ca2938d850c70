"""The sections of notebook 05."""

from __future__ import annotations

from functools import partial

from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import Prose
from judgebook.published import numbers
from judgebook.questions.sensitivity import figures, findings, overview, tables
from judgebook.questions.sensitivity.analysis import of_methods
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.questions.sensitivity.shown import each
from judgebook.study.results import Results
from judgebook.study.schema import Annotations


class SensitivitySections(NotebookPage):
    """everybody, annotations : judgements by people, and those that count. judged : what can be compared in each corpus
    and evaluator group. options : the section of the YAML."""

    everybody: Annotations
    annotations: Annotations
    judged: list[JudgedGroup]
    results: Results
    names: DisplayNames
    options: Sensitivity

    @property
    def _inputs(self) -> tuple[Results, list[JudgedGroup], DisplayNames]:
        """What most views take."""
        return self.results, self.judged, self.names

    def significance(self) -> Section:
        yield findings.sample(self.judged, self.names, n=self.options.n_dialogues)
        yield each(figures.significance, *self._inputs, "significance")

    def pairs(self) -> Section:
        yield from (overview.groups(*self._inputs), overview.pairs_per_label(*self._inputs))
        yield tables.count_tables(*self._inputs, n=self.options.n_dialogues, n_draws=self.options.n_draws)
        yield each(tables.differences, *self._inputs, "differences")

    def equivalence(self) -> Section:
        yield findings.equivalence(*self._inputs)
        yield from (each(view, *self._inputs, "equivalence") for view in (figures.equivalence, tables.equivalence))

    def type_i_errors(self) -> Section:
        for view in (figures.type_i_errors, tables.type_i_errors):
            yield each(partial(view, n_runs=self.options.null_runs), *self._inputs, "errors")

    def power(self) -> Section:
        yield overview.conversations(*self._inputs)
        yield from (each(view, *self._inputs, "power") for view in (figures.power, tables.power))

    def paper(self) -> Section:
        """Printed counts and those of this study; nothing where the YAML names no printed table."""
        published = self.options.published
        if published is None:
            return
        size = numbers.load(published.paper).set_index("row")["value"]["downsampled_conversations_per_bot"]
        printed = numbers.load(published.paper, published.element)
        cells = tables.printed_counts(of_methods(self.results, self.judged), printed, published.panels)
        yield tables.printed(cells, self.names, published.element)
        yield findings.printed(cells, same_size=self.judged[0].draw_size(self.options.n_dialogues) == size)
        yield Prose(published.note)
