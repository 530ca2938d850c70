"""Notebook 09: which metrics agree with people?"""

import pandas as pd

from judgebook.annotations.summary import with_directions, with_means
from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import nothing_because, something, without_direction, without_means
from judgebook.project import has_package
from judgebook.questions.metrics import analysis, text_metrics, views
from judgebook.questions.performance.arrangement import best_first
from judgebook.questions.quality_control.findings import who_counts
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.study.labels import METHODS
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.papers import metric_correlation as printed
    from compendium.published import comparison, verdicts


class Page(NotebookPage):
    """annotations : judgements as analysed. asked, computed : metrics of texts that are asked for, and the scores of
    those that could be computed. scores : of all metrics, higher for better systems."""

    def __init__(
        self, study: str, run_id: str | None, *, n_resamples: int | None, rank_resamples: int | None, seed: int | None
    ) -> None:
        name, ranks = "09_metric_correlation", rank_resamples
        super().__init__(name, study, run_id, n_resamples=n_resamples, rank_resamples=ranks, seed=seed)
        options, control, labels = self.study.metrics, self.study.control_system, self.labels
        directions = self.study.metric_directions
        self.read = self.run.read("annotations")
        self.everybody = analysis.rated(with_directions(with_means(self.read, labels), labels), options.corpora)
        self.annotations = of_those_who_passed(self.everybody, labels, control, self.study.quality_control)
        given = self.run.read("metric_scores").drop(columns="study")
        self.asked = text_metrics.choose(options.computed, given["metric"])
        self.computed = self._compute()
        self.scores = analysis.oriented(given, self.computed, directions=directions)
        self.results = self.analysed(
            analysis.analyse,
            self.annotations,
            self.scores,
            labels,
            unranked=self.study.unranked_systems,
            control=control,
            sampling=self.sampling,
            permute_seed=self.study.seeds.permute,
            rank_resamples=options.n_resamples,
        )
        self.run.save_results(self.results)
        titles = analysis.metric_titles(self.results, options.titles, directions)
        self.names = best_first(display_names(self.study, self.annotations, metric=titles), self.run)
        self.sets = analysis.set_titles(self.results, self.names.titles)

    def save(self, statistic: str, rows: pd.DataFrame, **keys: str) -> None:
        """Store estimates as published. rows : one each, with what it is of. keys : what tells them from others."""
        if "method" in rows:
            rows = rows.assign(level=rows["method"].map(lambda method: METHODS[method].unit))
        why = "too few items have both, or one of the two is constant"
        note = rows.get("note", pd.Series(None, rows.index, dtype=object)).mask(rows["estimate"].isna(), why)
        self.results = collect(self.results, rows.assign(statistic=statistic, note=note, **keys))
        self.run.save_results(self.results)

    def _compute(self) -> pd.DataFrame:
        """Scores of the texts by the metrics asked for; those of an earlier run are not computed again, and those of a
        bundle never."""
        if (shared := self.run.of_bundle("text_metrics")) is not None:
            return text_metrics.of_dialogues(shared[shared["metric"].isin(self.asked)], self.annotations)
        earlier, by_hand = self.run.cached("text_metrics"), self.run.run_id is None
        texts = self.run.read("dialogues")
        computed, cache = text_metrics.score_texts(texts, self.annotations, self.asked, earlier, progress=by_hand)
        self.run.cache(cache, "text_metrics")
        return computed

    def findings(self) -> Section:
        yield views.findings(self.results, self.names)
        yield nothing_because(views.reliability(self.results, self.names))
        yield who_counts(self.everybody, self.annotations, self.study.control_system)
        yield without_means(self.read, self.labels)
        yield without_direction(analysis.rated(self.read, self.study.metrics.corpora), self.labels)

    def correlations(self) -> Section:
        yield views.sources(self.scores, self.computed, self.asked, self.study.metrics.corpora)
        yield views.correlations(self.results, self.names, set(self.computed["metric"]))

    def leaderboard(self) -> Section:
        yield views.leaderboard(self.results, self.names)

    def above_control(self) -> Section:
        yield views.above_control(self.results, self.names)

    def shared_task(self) -> Section:
        yield views.clusters_of_metrics(self.results, self.names)

    def reliability(self) -> Section:
        yield something(views.reliability(self.results, self.names))

    def paper(self) -> Section:
        if not has_package("compendium"):
            return
        cells = verdicts.beside(self.results, self.run.key, self.run.notebook).drop(columns=["ci_low", "ci_high"])
        if len(cells):
            self.run.frame(cells, "cells")
        yield comparison.views(self.results, self.run, "Printed agreement between raters, and that of this study.")
        options, of_systems = self.study.metrics, self.results.select("correlation", level="system")
        if options.paper and len(of_systems):
            n, level = int(of_systems["n"].max()), self.study.bootstrap.confidence
            rows = printed.printed_r(options.paper, options.printed, n, level)
            yield printed.said(rows, n)
            yield printed.table(rows, n, level, options.titles)
