"""The sections of notebook 09."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import nothing_because, something
from judgebook.questions.metrics import figures, findings, tables, text_metrics


class MetricSections(NotebookPage):
    """annotations : judgements as analysed. asked, computed : metrics of texts that are asked for, and the scores
    of those that could be computed. scores : of all metrics, higher for better systems."""

    annotations: pd.DataFrame
    asked: Sequence[str]
    computed: pd.DataFrame
    scores: pd.DataFrame
    names: DisplayNames

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
        yield findings.findings(self.results, self.names, confidence=self.study.bootstrap.confidence)
        yield nothing_because(tables.reliability(self.results, self.names))

    def correlations(self) -> Section:
        yield findings.sources(self.scores, self.computed, self.asked, self.study.metrics.corpora)
        yield figures.correlations(self.results, self.names, set(self.computed["metric"]))

    def leaderboard(self) -> Section:
        yield tables.coefficients(self.results, self.names)
        yield tables.averages(self.results, self.names)

    def systems(self) -> Section:
        yield tables.systems(self.results, self.names)
        yield findings.systems(self.results, self.names)

    def above_control(self) -> Section:
        yield figures.above_control(self.results, self.names)

    def differences(self) -> Section:
        yield tables.pairs(self.results, self.names)

    def shared_task(self) -> Section:
        yield tables.clusters_of_metrics(self.results, self.names)

    def reliability(self) -> Section:
        yield something(tables.reliability(self.results, self.names))
