"""The sections of notebook 07."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import pandas as pd

from judgebook.annotations.population import Population
from judgebook.annotations.summary import evaluations
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import without_direction
from judgebook.questions.performance import arrangement, figures, findings, leaderboard, leading, tables
from judgebook.questions.performance.leaderboard import Order
from judgebook.study.labels import METHODS


class Sections(NotebookPage):
    """everybody, passed, judged : judgements of the evaluation, those of workers who count, and those analysed.

    people : whom intervals hold for, by corpus and group. rankings : of `leading.rankings`. names : systems in the
    order of the first of them.
    """

    everybody: pd.DataFrame
    passed: pd.DataFrame
    judged: pd.DataFrame
    people: Mapping[tuple[str, str], Population]

    @cached_property
    def rankings(self) -> pd.DataFrame:
        return leading.rankings(self.results, evaluations(self.everybody))

    @cached_property
    def names(self) -> DisplayNames:
        names = display_names(self.study, self.judged)
        return arrangement.in_order(names, self.study, self.everybody, self.results)

    def findings(self) -> Section:
        results, names, level = self.results, self.names, self.study.bootstrap.confidence
        leader = findings.leader(results, names, evaluations(self.everybody), self.people, self.passed, level)
        yield leader or findings.no_order(results, names)
        # the order of the main evaluation's method: of the overall mean, or of the only label
        orders = self._orders()
        if orders and (not orders[0].label or len([o for o in orders if o.method == orders[0].method]) == 1):
            yield leaderboard.plot(orders[0], self.names, "leaderboard", arrangement.weights(self.results))
            yield leaderboard.table(orders[0], self.names)

    def _orders(self) -> list[Order]:
        return leaderboard.orders(self.rankings, self.names)

    def rates(self) -> Section:
        yield findings.weights(self.results, self.names)
        yield tables.weights(self.results, self.names)
        yield from self._scores(pairs=False)

    def comparisons(self) -> Section:
        yield from self._scores(pairs=True)

    def _scores(self, *, pairs: bool) -> Section:
        for method in sorted(self.judged["method"].unique(), key=list(METHODS).index):
            if (METHODS[method].unit == "pair") == pairs:
                yield figures.scores(self.results, self.names, method)
                yield tables.scores(self.results, self.names, method, self.study.bootstrap.confidence)

    def ranks(self) -> Section:
        orders = self._orders()
        yield figures.ranks(self.results, self.names, orders)
        yield tables.ranks(orders, self.names)
        yield leaderboard.clusters(self.results, evaluations(self.everybody), self.names)
        yield tables.contrasts(self.results, self.names)
        yield tables.reliability(self.results, self.names)
        yield findings.unranked(self.judged, self.study.unranked_systems, self.names)
        yield without_direction(self.judged, self.labels)
        yield findings.firsts(self.results, self.names)
        yield figures.strengths(self.results, self.names)
        yield tables.strengths(self.results, self.names)
        yield tables.chances(self.results, self.names)

    def other_annotators(self) -> Section:
        yield tables.components(self.results, self.names)

    def units(self) -> Section:
        yield findings.widths(self.results, self.names, self.study.performance.picks)
        yield figures.design_effects(self.results, self.names)
        yield tables.design_effects(self.results, self.names)
        yield tables.picks(self.results, self.names, self.study.performance.picks)
