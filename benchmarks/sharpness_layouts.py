"""As `sharpness.py`, in the layouts of public studies: who judged which dialogue of which system, as it was.

    COMPENDIUM_RAW=DATA PYTHONPATH=src python benchmarks/sharpness_layouts.py [--runs 500] [--only TEXT] [--kinds ...]

The variances are those that the model finds in the study's own judgements, over their sum: means of systems are in
standard deviations of judgements. Each layout is also tried with errors and effects with heavier tails (t, 4 df).
Writes `sharpness_layouts.csv`; studies whose files are not there keep their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sharpness

import judgebook as jb
from judgebook.model import ratings
from judgebook.model.judgements import Judgements, coded, crossed

#: study, group, method, label, of 500 data sets how many
STUDIES = (
    ("finch2024", "stu_x", "dialogue_likert", "proactive", 500),
    ("finch2024", "stu_x", "dialogue_likert", "informative", 500),
    ("finch2024", "dev_x", "dialogue_likert", "emotional", 500),
    ("abc_public", "external", "dialogue_likert", "grammatical", 500),
    ("convai2_wild", "all", "dialogue_rating", "quality", 100),
    ("usr", "all", "turn_rating", "understandable", 100),
    ("spot_the_bot", "all", "dialogue_rating", "is_human", 20),
    ("ji2022", "all", "continuous", "robotic", 20),
)


@dataclass(frozen=True)
class Layout:
    study: str
    group: str
    method: str
    label: str
    runs: int
    heavy: bool = False
    measure: str = "plain"

    @cached_property
    def own(self) -> Judgements:
        rows = jb.build(jb.load_study(self.study)).frames["annotations"]
        rows = rows[(rows["group"] == self.group) & (rows["method"] == self.method) & (rows["label"] == self.label)]
        rows = rows.dropna(subset=["score"])
        shared = next((c for c in ("session", "context") if rows[c].notna().all()), None)
        system, names = coded(rows["system"])
        item = crossed(coded(rows["dialogue"])[0], system)
        context = item if shared is None else coded(rows[shared])[0]
        score = rows["score"].to_numpy(float)
        return Judgements(tuple(map(str, names)), system, item, context, coded(rows["annotator"])[0], score)

    @cached_property
    def variances(self) -> dict[str, float]:
        return ratings.fit(self.own).shares

    @property
    def systems(self) -> int:
        return len(self.own.systems)

    def judgements(self, strengths: np.ndarray, rng: np.random.Generator) -> Judgements:
        j = self.own
        assert j.annotator is not None
        codes = {
            "context": j.context,
            "item": j.item,
            "annotator": j.annotator,
            "taste": crossed(j.annotator, j.system),
        }
        y = strengths[j.system].astype(float)
        for part, variance in self.variances.items():
            n = int(codes[part].max()) + 1 if part in codes else len(j)
            effect = rng.standard_t(4, n) / np.sqrt(2) if self.heavy else rng.normal(size=n)
            y += np.sqrt(variance) * (effect[codes[part]] if part in codes else effect)
        return replace(j, score=y)

    def means(self, strengths: np.ndarray) -> np.ndarray:
        return strengths


def layouts() -> Iterator[tuple[str, Layout]]:
    for study in STUDIES:
        one = Layout(*study)
        yield f"{one.study}, {one.group}, {one.label}", one
        yield f"{one.study}, {one.group}, {one.label}: heavier tails", replace(one, heavy=True)


if __name__ == "__main__":
    sharpness.main(dict(layouts()), __file__)
