"""Notebook 03: do annotators agree?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from judgebook.annotations.summary import in_scope
from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import nothing_because
from judgebook.project import has_package
from judgebook.questions.agreement import analysis, items, views
from judgebook.questions.agreement.coincidences import distances
from judgebook.study.labels import METHODS
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.published import comparison


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None) -> None:
        super().__init__("03_iaa", study, run_id, n_resamples=n_resamples, seed=seed)
        self.annotations, self.iaa = self.evaluated("annotations", circumstances=False), self.study.iaa
        self.names, self.level = display_names(self.study, self.annotations), self.study.bootstrap.confidence
        self.results = self.analysed(
            analysis.analyse, self.annotations, self.labels, sampling=self.sampling, first=self.iaa.first,
            unit=self.study.bootstrap.unit, people=self.study.inference.annotators,
        )  # fmt: skip
        self.run.save_results(self.results)

    @property
    def compared(self) -> bool:
        """Whether the scoreboard compares printed numbers with those of this notebook."""
        return has_package("compendium") and comparison.is_source(self.run)

    def in_scope(self, rows: pd.DataFrame) -> pd.DataFrame:
        """`rows` without what the paper left out; none where it left out nothing."""
        left_out = self.study.scope
        if not left_out:
            return rows[:0]
        return in_scope(rows, dialogues=left_out.exclude_dialogues, sessions=left_out.exclude_sessions)

    def save(self, estimates: pd.DataFrame, coefficient: str, **keys: str) -> None:
        """Store a coefficient as published, from `items.each_label`. coefficient : its name; another than alpha is
        stored as such, and compared with nothing. keys : what tells these rows from others."""
        unit = estimates["method"].map(lambda method: METHODS[method].unit)
        statistic = "alpha" if coefficient == "Krippendorff's alpha" else "published_coefficient"
        raters = f"first{self.iaa.first}" if self.iaa.first else "all"
        same = {"kind": "human", "resample": "item", "raters": raters, "seed": self.sampling.seed}
        rows = estimates.assign(statistic=statistic, level=unit, resample_unit=unit, **(same | keys))
        if statistic != "alpha":
            rows["note"] = rows["note"].fillna(coefficient)
        self.results = collect(self.results, rows)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        of, iaa, level = (self.results, self.names), self.iaa, self.level
        per = items.misleading(self.annotations, self.study.bootstrap.unit)
        yield views.findings(*of, min_items=iaa.min_items, threshold=iaa.threshold, misleading=per, confidence=level)
        yield nothing_because(views.never_twice(*of))

    def alphas(self) -> Section:
        yield views.annotations_used(self.iaa.first)
        yield views.forests(self.results, self.names, self.iaa.threshold, self.iaa.marks)
        yield views.alphas(self.results, self.names, self.level)

    def evidence(self) -> Section:
        yield views.evidence(self.results, self.names)
        yield views.pairs_of_people(self.results, self.names)

    def paper(self) -> Section:
        if has_package("compendium"):
            yield comparison.views(self.results, self.run, "Agreement within groups, as printed and in this study.")


def coincidences(kinds: Sequence[tuple[float, ...]], values: np.ndarray, *, mirrored: bool) -> sparse.csr_array:
    """(kinds, v * v): how often two judgements of an item are each pair of `values`, each judgement counting once.

    kinds : all answers that an item of this kind received. mirrored : also count the item with its scores negated, as
    comparisons are that are stored from both sides. Krippendorff 2011, Computing Krippendorff's Alpha-Reliability,
    section C.
    """
    v, rows, columns, shares = len(values), [], [], []
    for row, answers in enumerate(kinds):
        at = np.searchsorted(values, answers)
        first, second = np.nonzero(~np.eye(len(at), dtype=bool))  # every judgement with every other
        places = at[first] * v + at[second]
        columns += [places, v * v - 1 - places] if mirrored else [places]
        rows += [np.full(len(places) * (1 + mirrored), row)]
        shares += [np.full(len(places) * (1 + mirrored), 1 / (len(at) - 1))]
    where = np.concatenate(rows), np.concatenate(columns)
    return sparse.csr_array((np.concatenate(shares), where), shape=(len(kinds), v * v))


def squared_differences(level: str, values: np.ndarray, n_c: np.ndarray) -> np.ndarray:
    """(k, v, v) or (v, v): how far apart any two of `values` are at a level of measurement, squared.

    n_c : (k, v) how often each value occurs, on which ordinal differences depend: those of mean ranks. Krippendorff
    2011, section D; of sets, Passonneau 2006 (`judgebook.questions.agreement.coincidences`).
    """
    if level == "ordinal":
        rank = np.cumsum(n_c, axis=1) - n_c / 2
        return (rank[:, :, None] - rank[:, None, :]) ** 2
    return distances(values, level)
