"""Notebook 19: is it the answer, or its length, its side, who voted?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.comparisons import (
    adjusted,
    analysis,
    changed,
    kinds,
    kinds_views,
    next_votes,
    ratings_views,
    ties,
    views,
    voter_views,
)
from judgebook.questions.performance.arrangement import best_first
from judgebook.questions.quality_control.worker_tests import of_those_who_passed


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, covariates: list[str] | None) -> None:
        super().__init__("19_comparisons", study, run_id, covariates=covariates)
        annotations = self.evaluated("annotations")
        passed = of_those_who_passed(annotations, self.labels, self.study.control_system, self.study.quality_control)
        self.judged = analysis.votes(passed, self.labels, self.study.unranked_systems)
        frames = (self.run.read(frame) for frame in ("dialogues", "metric_scores", "dialogue_facts"))
        options = self.study.comparisons
        self.measured = adjusted.measured(options.covariates, options.ratios, *frames)
        self.results = self.analysed(
            analysis.analyse,
            self.judged,
            self.measured,
            kinds.kinds_of(self.judged, self.run.read("dialogues")),
            options.target_mix,
            rated=analysis.rated(passed, self.labels, self.study.unranked_systems),
            since=options.since,
            inference=self.study.inference.annotators,
            confidence=self.study.bootstrap.confidence,
        )
        self.run.save_results(self.results)
        self.names = best_first(display_names(self.study, annotations), self.run)

    def votes(self, group: str | None = None) -> pd.DataFrame:
        """A row for each vote of a group, None for the first: systems in the order shown, score (1 where the first
        wins), context, annotator, and each covariate, of the first answer less the second."""
        one = self.judged[self.judged["group"] == (group or self.judged["group"].iloc[0])]
        rows, found, _ = adjusted.covariates(one, self.measured)
        columns = ["group", "label", "system", "system_b", "score", "context", "annotator"]
        return rows[columns].assign(**{name: np.asarray(x) for name, x in found.items()})

    def findings(self) -> Section:
        yield views.findings(self.results, self.names)

    def effects(self) -> Section:
        yield views.effects(self.results, self.names, tuple(self.study.comparisons.ratios))

    def moved(self) -> Section:
        yield views.moved(self.results, self.names)
        yield views.boards(self.results, self.names)

    def kinds(self) -> Section:
        yield kinds_views.kinds(self.results, self.names, self.study.bootstrap.confidence)
        yield ties.views(self.results, self.names, self.study.bootstrap.confidence)

    def voters(self) -> Section:
        yield voter_views.voters(self.results, self.names)
        yield voter_views.needed(self.results, self.names)

    def together(self) -> Section:
        yield ratings_views.together(self.results, self.names)

    def next_votes(self) -> Section:
        yield changed.views(self.results, self.names, self.study.comparisons.since)
        yield next_votes.views(self.results, self.names, self.study.bootstrap.confidence)
