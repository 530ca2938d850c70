"""As `sharpness.py`, in the layouts of public studies: who judged which dialogue of which system, as it was.

    COMPENDIUM_RAW=DATA PYTHONPATH=src python benchmarks/sharpness_layouts.py [--runs 500] [--only TEXT] [--kinds ...]

The variances are those that the model finds in the study's own judgements. Of ratings they are divided by their sum:
means of systems are in standard deviations of judgements. Strengths of votes are in those of what one side has, chance
included. Marks are of turns, with effects on the probit of the study's own rate, in units of the error of a turn. Each
layout is also tried with errors and effects with heavier tails (t, 4 df). Writes `sharpness_layouts.csv`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import sharpness
from scipy import stats

import judgebook as jb
from judgebook.model.comparisons import Comparisons
from judgebook.model.fit import ANNOTATOR, ANSWER, CONTEXT, ITEM, RESIDUAL, TASTE, Fit, Judgements, coded, crossed
from judgebook.questions.performance import fitted

#: study, group, method, label, of 500 data sets how many
STUDIES = (
    ("finch2024", "stu_x", "dialogue_likert", "proactive", 500),
    ("finch2024", "dev_x", "dialogue_likert", "emotional", 500),
    ("abc_public", "external", "dialogue_likert", "grammatical", 500),
    ("usr", "all", "turn_rating", "understandable", 500),
    ("gpt_abceval", "people", "behavior", "empathetic", 500),
    ("convai2_wild", "all", "dialogue_rating", "quality", 100),
    ("ji2022", "all", "continuous", "robotic", 100),
    ("spot_the_bot", "all", "dialogue_rating", "is_human", 100),
    ("llmfao", "crowd", "pairwise_dialogue", "better", 60),
)


@dataclass(frozen=True)
class Layout:
    study: str
    group: str
    method: str
    label: str
    runs: int
    heavy: bool = False

    @property
    def measure(self) -> str:
        return {"behavior": "marks", "pairwise_dialogue": "votes"}.get(self.method, "plain")

    @cached_property
    def rows(self) -> pd.DataFrame:
        rows = jb.build(jb.load_study(self.study)).frames["annotations"]
        rows = rows[(rows["group"] == self.group) & (rows["method"] == self.method) & (rows["label"] == self.label)]
        return rows.dropna(subset=["score"])

    @cached_property
    def own(self) -> Any:
        if self.measure == "votes":
            return fitted.votes(self.rows, people=True)
        return fitted.judgements(self.rows)

    @cached_property
    def fit(self) -> Fit:
        return sharpness.fitted(self.own)

    @property
    def systems(self) -> int:
        return len(self.own.systems)

    @cached_property
    def turns(self) -> np.ndarray:
        """Of each judgement."""
        item = crossed(coded(self.rows["dialogue"])[0], coded(self.rows["system"])[0])
        return np.bincount(crossed(item, coded(self.rows["annotator"])[0]))

    @cached_property
    def sds(self) -> dict[str, float]:
        v, unit = self.fit.variances, 1.0
        if self.measure == "plain":
            unit = np.sqrt(sum(v.values()))
        if self.measure == "marks":
            rate = self.rows["score"].mean()
            v = v | {RESIDUAL: max(0.0, v[RESIDUAL] - rate * (1 - rate) * np.mean(1 / self.turns))}
            unit = stats.norm.pdf(self.probit)
        return {part: float(np.sqrt(x) / unit) for part, x in v.items()}

    @cached_property
    def probit(self) -> float:
        return float(stats.norm.ppf(self.rows["score"].mean()))

    def effects(self, rng: np.random.Generator, size: Any) -> np.ndarray:
        return rng.standard_t(4, size) / np.sqrt(2) if self.heavy else rng.normal(size=size)

    def judgements(self, strengths: np.ndarray, rng: np.random.Generator) -> Judgements | Comparisons:
        j = self.own
        if isinstance(j, Comparisons):
            sds, log_nu = (self.sds[ANSWER], self.sds[TASTE], np.sqrt(self.fit.ties)), self.fit.log_nu or 0.0
            return sharpness.voted(j, self.means(strengths), sds, log_nu, lambda size: self.effects(rng, size), rng)
        codes = {CONTEXT: j.context, ITEM: j.item}
        if j.annotator is not None:
            codes |= {ANNOTATOR: j.annotator, TASTE: crossed(j.annotator, j.system)}
        y = strengths[j.system].astype(float)
        for part, sd in self.sds.items():
            code = codes.get(part, np.arange(len(j)))
            y += sd * self.effects(rng, int(code.max()) + 1)[code]
        if self.measure == "marks":
            y = rng.binomial(self.turns, stats.norm.cdf(self.probit + y)) / self.turns
        return replace(j, score=y, marks=self.measure == "marks")

    def means(self, strengths: np.ndarray) -> np.ndarray:
        if self.measure == "votes":
            return strengths * np.linalg.norm(list(self.sds.values()))
        if self.measure == "plain":
            return strengths
        rng = np.random.default_rng(sharpness.SEED)
        around = sum(sd * self.effects(rng, 100_000) for sd in self.sds.values())
        return np.asarray(stats.norm.cdf(self.probit + strengths[:, None] + around).mean(axis=1))


def layouts() -> Iterator[tuple[str, Layout]]:
    for study in STUDIES:
        one = Layout(*study)
        yield f"{one.study}, {one.group}, {one.label}", one
        yield f"{one.study}, {one.group}, {one.label}: heavier tails", replace(one, heavy=True)


if __name__ == "__main__":
    sharpness.main(dict(layouts()), __file__)
