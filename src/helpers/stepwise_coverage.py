"""Notebook 06: what do labels explain together, and which should be kept?"""

import pandas as pd

from helpers.importance import Predictions
from judgebook.display.page import Section
from judgebook.display.views import without_means
from judgebook.project import has_package
from judgebook.questions.validity import analysis, findings, views
from judgebook.questions.validity.coverage import FITS
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.published import numbers

NEEDED = ("02_collection_stats", "03_iaa", "04_importance", "07_bot_performance")


class Page(Predictions):
    """selected : labels, and whether they reach each threshold."""

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
        self.results, self.selected = self.analysed(
            analysis.analyse_coverage,
            self.targets,
            [self.run.read_results(name) for name in NEEDED],
            options=self.study.coverage,
            thresholds=self.study.label_selection,
            seed=self.study.seeds.permute,
            confidence=self.study.bootstrap.confidence,
        )
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

    def findings(self) -> Section:
        yield findings.coverage(self.results, self.selected, self.names, analysis.limits(self.study.label_selection))
        yield without_means(self.everybody, self.labels)
        yield findings.population(self.targets, self.results)
        if self.targets.external:
            yield findings.predictors(self.targets, self.names)
        yield findings.reach(self.targets, self.results, self.names, self.study.label_set, "7.4")

    def compared(self) -> Section:
        yield views.compared(self.results, self.names)
        yield findings.excluded(self.results, self.names)

    def stability(self) -> Section:
        yield views.stability(self.results, self.names, self.study.coverage.n_halves)

    def kept(self) -> Section:
        yield views.selection(self.selected, self.names, analysis.limits(self.study.label_selection))

    def paper(self) -> Section:
        if has_package("compendium"):
            printed = numbers.labels("finch2023_table04.csv").query("named_distinct_in_section_7_4 == 'yes'")
            yield findings.paper_in_words(self.results, self.names, list(printed["label_id"]))
