"""Notebook 01: what passes the pilot?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgebook.display.grid_plots import grid_figure, interval_keys, intervals
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.project import has_package
from judgebook.questions.collection import analysis, pilot, views
from judgebook.questions.performance.arrangement import best_first
from judgebook.study.labels import METHODS
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.published import comparison


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None) -> None:
        super().__init__("01_pilot", study, run_id, n_resamples=n_resamples, seed=seed)
        annotations, attempts = self.run.read("annotations"), self.run.read("screening")
        self.names = best_first(display_names(self.study, annotations, attempts), self.run)
        self.level, rule = self.study.bootstrap.confidence, self.study.pilot
        self.ratings, self.tried = pilot.rated(annotations, rule.label), pilot.verdicts(attempts, rule)
        any_pilot = annotations["corpus"].str.fullmatch(pilot.BOT_PILOT).any()
        self.least = pilot.least_mean(rule.least, rule.label, self.labels) if any_pilot else np.nan
        self.marks = pilot.marks(annotations, self.labels, self.tried[self.tried["passed"]])
        self.rule = pilot.in_words(rule)
        of = annotations, attempts, self.labels, rule
        self.results = self.analysed(analysis.pilots, *of, sampling=self.sampling)
        self.run.save_results(self.results)

    def save(self, statistic: str, rows: pd.DataFrame, **keys: object) -> None:
        """Store what was computed as published, a row each. keys : what tells these rows from others."""
        level = rows["method"].map(lambda method: METHODS[method].unit) if "method" in rows else "annotator"
        unit = {"resample_unit": level} if "ci_kind" in rows else {}
        self.results = collect(self.results, rows.assign(statistic=statistic, level=level, **(unit | keys)))
        self.run.save_results(self.results)

    def who(self, rows: pd.DataFrame) -> list[str]:
        """Display names of those who judged. rows : with `group`, and `scope` where some had passed the training."""
        if "scope" not in rows:
            return [self.names.name("group", group) for group in rows["group"]]
        return [views.annotators(g, s, self.names) for g, s in zip(rows["group"], rows["scope"], strict=True)]

    def findings(self) -> Section:
        yield views.pilots(self.results, self.names, least=self.least, simulated=self.run.simulated)

    def other_raters(self) -> Section:
        if len(self.results.select("mean", interval="annotator")):
            yield views.systems(self.results, self.names)

    def other_dialogues(self) -> Section:
        if len(self.results.select("alpha", resample="dialogue")):
            yield views.agreement(self.results, self.names, self.level)

    def quiz(self) -> Section:
        yield views.quiz(self.results, self.names, {label.id: label.title for label in self.labels})

    def paper(self) -> Section:
        if has_package("compendium"):
            yield comparison.views(self.results, self.run)


def points(
    rows: pd.DataFrame, names: DisplayNames, block: pd.Series, who: Sequence[str], most: int = 40, **options: Any
) -> Figure:
    """Estimates with intervals: a row for each of `block`, in the colour of who judged, and a panel for each method.

    rows : results. most : blocks that are drawn, the first. options : of `grid_figure`.
    """
    several = "method" in rows and len(set(rows["method"])) > 1
    panel = [names.name("method", method) for method in rows["method"]] if several else ""
    drawn = rows.assign(panel=panel, block=block, hue=list(who))
    drawn = drawn[drawn["block"].isin(drawn["block"].unique()[:most])]
    return grid_figure(drawn, intervals, names=names, keys=interval_keys(names.ci, None, drawn), **options)
