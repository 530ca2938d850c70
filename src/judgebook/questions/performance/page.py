"""The sections of notebook 07."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from judgebook.annotations.summary import evaluations
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import without_direction
from judgebook.questions.performance import arrangement, leaderboard, leading, views
from judgebook.study.labels import METHODS


class Sections(NotebookPage):
    """everybody, judged : judgements of the evaluation, and those analysed."""

    everybody: pd.DataFrame
    judged: pd.DataFrame

    @cached_property
    def orders(self) -> list[leaderboard.Order]:
        """The order of the main evaluation's method first: of the overall mean, or of its first label."""
        return leaderboard.orders(leading.rankings(self.results, evaluations(self.everybody)), self.names)

    @cached_property
    def names(self) -> DisplayNames:
        names = display_names(self.study, self.judged)
        return arrangement.in_order(names, self.study, self.everybody, self.results)

    def ranks(self) -> Section:
        methods = [order.method for order in self.orders]
        others = [order for order in self.orders[1:] if not order.label or methods.count(order.method) == 1]
        for i, order in enumerate(others, 1):
            yield leaderboard.plot(order, self.names, f"order_{i}")
        yield views.ranks(self.results, self.orders, self.names)
        yield views.contrasts(self.results, self.names)
        yield views.unranked(self.judged, self.study.unranked_systems, self.names)
        yield without_direction(self.judged, self.labels)

    def rates(self) -> Section:
        yield views.weights(self.results, self.names)
        yield from self._scores(pairs=False)

    def comparisons(self) -> Section:
        yield from self._scores(pairs=True)

    def _scores(self, *, pairs: bool) -> Section:
        for method in sorted(self.judged["method"].unique(), key=list(METHODS).index):
            if (METHODS[method].unit == "pair") == pairs:
                yield views.scores(self.results, self.names, method, self.study.bootstrap.confidence)

    def other_annotators(self) -> Section:
        yield views.components(self.results, self.names)

    def units(self) -> Section:
        yield views.design_effects(self.results, self.names)
