"""Notebook 06: what do labels explain together, and which should be kept?"""

import pandas as pd

from judgebook.project import has_package
from judgebook.questions.validity import analysis, specifications
from judgebook.questions.validity.coverage import FITS
from judgebook.questions.validity.coverage_page import CoverageSections
from judgebook.statistics import Sampling
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.papers.stepwise_coverage import named_in_the_paper

NEEDED = ("02_collection_stats", "03_iaa", "04_importance", "07_bot_performance")


class Page(CoverageSections):
    def __init__(
        self,
        study: str,
        run_id: str | None,
        *,
        group: str | list[str] | None,
        n_permutations: int | None,
        n_halves: int | None,
        seed: int | None,
    ) -> None:
        name, n = "06_stepwise_coverage", n_permutations
        super().__init__(name, study, run_id, group=group, n_permutations=n, n_halves=n_halves, seed=seed)
        self._read_targets()
        self.named = named_in_the_paper() if has_package("compendium") else []
        boot = self.study.bootstrap
        sampling = Sampling(n_resamples=boot.n_resamples, confidence=boot.confidence, seed=self.study.seeds.permute)
        results, self.selected = self.analysed(
            analysis.analyse_coverage,
            self.targets,
            [self.run.read_results(name) for name in NEEDED],
            self.labels,
            options=self.study.coverage,
            thresholds=self.study.label_selection,
            sets={"final": self.study.costs.final_labels, "named": {"behavior": self.named}},
            sampling=sampling,
        )
        decisions = self.analysed(
            specifications.fits,
            self.annotations,
            self.dialogues,
            self.study.importance,
            self.study.coverage,
            parts=self.study.parts,
            seed=sampling.seed,
            pick_seed=self.study.seeds.pick,
            confidence=sampling.confidence,
        )
        self.results = collect(results, decisions)
        self.run.save_results(self.results)

    def save(self, models: pd.DataFrame, criterion: str) -> None:
        """Store the models of paths, a row each.

        models : target, method, k, label (the one added), n, n_clusters, fit, criterion, smallest_gain; of logits
        separated. criterion : what was maximised; another than the adjusted fit is stored under a name of its own.
        """
        if models.empty:
            return
        fit = models["target"].map(FITS)
        maximised = "adjusted_" + fit if criterion == "adjusted fit" else "search_criterion"
        names = {"fit": fit, "criterion": maximised, "smallest_gain": "smallest_gain", "separated": "separated"}
        given = {name: models[name] for name in names if name in models}
        same = models[["target", "method", "k", "label", "n", "n_clusters"]].assign(
            kind="stepwise",
            corpus=self.targets.corpus,
            group=models["method"].map(self.targets.groups),
            level=models["target"].map({target: design.level for target, design in self.targets.designs.items()}),
        )
        rows = [same.assign(statistic=names[name], estimate=values) for name, values in given.items()]
        if criterion != "adjusted fit":
            rows = [part.assign(note=criterion) for part in rows]
        self.results = collect(self.results, pd.concat(rows).dropna(subset="estimate"))
        self.run.save_results(self.results)
