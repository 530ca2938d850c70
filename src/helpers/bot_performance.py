"""Notebook 07: how good are the systems?"""

import pandas as pd

from judgebook.annotations.population import modelled, populations
from judgebook.annotations.summary import evaluations
from judgebook.display.page import Section
from judgebook.display.views import Prose, without_means
from judgebook.project import has_package
from judgebook.questions.agreement.items import misleading
from judgebook.questions.agreement.views import misled
from judgebook.questions.performance import analysis, leaderboard, rates, views
from judgebook.questions.performance.views import Sections
from judgebook.questions.quality_control.findings import who_counts
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.study.labels import METHODS
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.papers import bot_performance as printed
    from compendium.simulation import recovery
    from compendium.simulation.truth import truth


class Page(Sections):
    def __init__(self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None) -> None:
        super().__init__("07_bot_performance", study, run_id, n_resamples=n_resamples, seed=seed)
        unranked, control = self.study.unranked_systems, self.study.control_system
        self.everybody = self.evaluated("annotations", circumstances=False)
        self.passed = of_those_who_passed(self.everybody, self.labels, control, self.study.quality_control)
        chosen = analysis.chosen(self.passed, unranked, self.labels)
        self.judged = analysis.with_interactors(chosen, self.run.read("dialogues"))
        self.people = modelled(self.judged, self.study.inference.annotators)
        self.results = self.analysed(
            analysis.analyse,
            self.judged,
            self.labels,
            unranked,
            people=populations(self.judged, self.study.inference.annotators),
            whose=self.people,
            overall=self.study.performance.overall,
            unit=self.study.bootstrap.unit,
            sampling=self.sampling,
        )
        self.run.save_results(self.results)

    def save(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Store estimates as published, a row each with `statistic` and what it is about. Returns the rows stored."""
        rows = rows.assign(level=rows["method"].map(lambda method: METHODS[method].unit))
        if "outcome" in rows:  # rates, means and shares of each system
            rows = rows.assign(interval="independent", resample_unit=rows["level"])
        self.results = analysis.marked(collect(self.results, rows))
        self.run.save_results(self.results)
        return rows

    def who(self, corpus: str, group: str) -> str:
        """What a caption begins with where there are several groups or corpora."""
        places = self.judged[["corpus", "group"]].drop_duplicates()
        names = [self.names.name(kind, key) for kind, key in (("corpus", corpus), ("group", group))]
        told = [name for name, kind in zip(names, places, strict=True) if len(set(places[kind])) > 1]
        return f"{', '.join(told)}: " if told else ""

    def pooled(self, once: pd.DataFrame, of_systems: pd.DataFrame) -> pd.DataFrame:
        """Rates of all of these systems together, of one annotation an item, over clusters; `of_systems` : of each."""
        ranked = of_systems[["method", "label"]].drop_duplicates(), set(of_systems["system"])
        parts = analysis.by_unit(once.drop(columns="sampling_weight", errors="ignore"), self.study.bootstrap.unit)
        marks = ((unit, part[part["system"].isin(ranked[1])].merge(ranked[0])) for unit, part in parts)
        every = (rates.clustered(part.assign(system="all"), unit=u, sampling=self.sampling) for u, part in marks)
        return collect(*every)["rate"].drop(columns="interval").assign(system=None, summary="all")

    def findings(self) -> Section:
        names, level = self.names, self.study.bootstrap.confidence
        order, people = evaluations(self.everybody), self.people
        leader = views.leader(self.results, names, order, people, self.passed, level)
        yield leader or views.no_order(self.results, names)
        methods = [order.method for order in self.orders]
        if methods and (not self.orders[0].label or methods.count(methods[0]) == 1):
            yield leaderboard.plot(self.orders[0], names, "leaderboard")
        yield misled(misleading(self.judged, self.study.bootstrap.unit), names)
        yield who_counts(self.everybody, self.passed, self.study.control_system)
        yield without_means(self.passed, self.labels)

    def units(self) -> Section:
        yield from super().units()
        if has_package("compendium") and self.study.simulate:
            methods = self.names.titles["method"]
            yield Prose(recovery.of_performance(self.results, truth(self.study.simulate), methods))

    def paper(self) -> Section:
        if not has_package("compendium"):
            return
        cells = printed.printed_rates(self.results, self.run.key, self.run.notebook)
        if len(cells):
            yield printed.table(cells, self.names)
            yield printed.said(cells, self.names)
            yield Prose(self.study.performance.note)
