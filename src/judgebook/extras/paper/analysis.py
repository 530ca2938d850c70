"""What the texts for a paper are made from: a finished study, its results by notebook, and how they came about."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from judgebook.annotations.population import Population, modelled
from judgebook.display.names import DisplayNames, display_names
from judgebook.questions.performance.analysis import chosen
from judgebook.questions.performance.arrangement import in_order
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.study.params import Study
from judgebook.study.results import Results, read
from judgebook.study.schema import COUNTS
from judgebook.study.stored import StoredStudy


@dataclass(frozen=True)
class Made:
    """How a report came about. date : of its newest notebook. version : of this project. data : digest of the raw
    files. packages : versions by name."""

    date: str
    version: str
    data: str
    python: str
    packages: dict[str, str] = field(default_factory=dict)

    @property
    def year(self) -> str:
        return self.date[:4]


@dataclass(frozen=True)
class Material:
    """scores : judgements, one a row. results : notebook -> its results, of those that ran. counts : what became of the
    judgements that were read."""

    study: Study
    scores: pd.DataFrame
    results: dict[str, Results]
    names: DisplayNames
    made: Made
    counts: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COUNTS)))

    def of(self, notebook: str) -> Results:
        """Results of the notebook with this number; none where it did not run or found nothing."""
        return next((r for name, r in self.results.items() if name.startswith(f"{notebook}_")), Results())

    @cached_property
    def populations(self) -> dict[tuple[str, str], Population]:
        """Whose judgements results of a run and group are about, as in notebook 07."""
        study = self.study
        counted = of_those_who_passed(self.scores, study.label_list(), study.control_system, study.quality_control)
        judged = chosen(counted, study.unranked_systems, study.label_list())
        return modelled(judged, study.inference.annotators)

    @property
    def seeds(self) -> dict[str, int]:
        """The seeds in use, by name."""
        seeds = self.study.seeds.model_dump()
        return seeds if self.study.simulated else {name: seed for name, seed in seeds.items() if name != "simulate"}

    @property
    def human(self) -> pd.DataFrame:
        return self.scores[self.scores["annotator_kind"] == "human"]


def gather(stored: StoredStudy, made: Made) -> Material:
    """The material of a study that was run; of notebook 05 nothing, as which systems differ follows from 07."""
    scores = stored.scores.dropna(subset="score")
    folder = stored.folder / "results"
    paths = sorted(p for p in folder.glob("*.parquet") if "." not in p.stem) if folder.is_dir() else []
    results = {path.stem: read(path) for path in paths if not path.stem.startswith("05_")}
    fitted = results.get("07_bot_performance", Results())
    names = in_order(display_names(stored.params, scores), stored.params, scores, fitted)
    counts = stored.frame("counts")
    return Material(stored.params, scores, results, names, made, counts)


def items(scores: pd.DataFrame) -> pd.Series:
    """A number for what each judgement is about: method and dialogue, turn, or pair of dialogues in either order."""
    ends = scores[["dialogue", "dialogue_b"]].astype(object)
    swapped = (ends["dialogue_b"].notna() & (ends["dialogue_b"].fillna("") < ends["dialogue"].fillna(""))).to_numpy()
    left = ends["dialogue"].where(~swapped, ends["dialogue_b"])
    right = ends["dialogue_b"].where(~swapped, ends["dialogue"])
    keys = [scores["corpus"], scores["method"], left, right.fillna(""), scores["turn"].fillna(-1)]
    return scores.groupby(keys, sort=False, dropna=False).ngroup()


def people(scores: pd.DataFrame) -> dict[str, int | None]:
    """Annotators by group, of human judgements; None where they are positions in a list."""
    return {
        group: part["annotator"].nunique() if part["annotator_known"].all() else None
        for group, part in scores[scores["annotator_kind"] == "human"].groupby("group", sort=False)
    }


def judged_systems(scores: pd.DataFrame) -> list[str]:
    """Systems of either side, in order of appearance."""
    both = pd.concat([scores["system"], scores["system_b"]]).dropna()
    return list(dict.fromkeys(both))
