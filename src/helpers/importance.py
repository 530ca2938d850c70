"""Notebook 04: does a label predict how good a dialogue is?"""

from typing import Any

import pandas as pd

from judgebook.annotations.summary import with_means
from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import without_means
from judgebook.project import has_package
from judgebook.questions.performance.arrangement import best_first
from judgebook.questions.validity import analysis, findings, targets, views
from judgebook.questions.validity.coverage import FITS
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.published import comparison


class Predictions(NotebookPage):
    """What notebooks 04 and 06 share. everybody : all judgements of the evaluation. targets : what is predicted, and
    what predicts it: labels that have a mean."""

    def _read_targets(self) -> None:
        self.everybody = self.evaluated("annotations")
        self.names = best_first(display_names(self.study, self.everybody), self.run)
        rated, seed = with_means(self.everybody, self.labels), self.study.seeds.pick
        given, parts = self.study.importance.settings(), self.study.parts
        self.targets = targets.find(rated, self.run.read("dialogues"), pick_seed=seed, parts=parts, **given)


class Page(Predictions):
    def __init__(
        self,
        study: str,
        run_id: str | None,
        *,
        group: str | list[str] | None,
        n_resamples: int | None,
        seed: int | None,
    ) -> None:
        super().__init__("04_importance", study, run_id, group=group, n_resamples=n_resamples, seed=seed)
        self._read_targets()
        self.level = self.study.bootstrap.confidence
        self.results = self.analysed(analysis.analyse_importance, self.targets, self.level)
        self.run.save_results(self.results)

    def save(self, models: pd.DataFrame) -> None:
        """Store models of one label, a row each.

        models : target, method, label, n, the columns of `bca`, test, p_value; of logits also coefficient,
        firth_coefficient, firth_p_value, separated, and why if there is no maximum.
        """
        rows: list[dict[str, Any]] = []
        for row in models.to_dict("records"):
            level, people = self.targets.designs[row["target"]].level, self.targets.n_annotators
            same = {name: row[name] for name in ("target", "method", "label", "n", "n_clusters")}
            same |= {"corpus": self.targets.corpus, "group": self.targets.groups[row["method"]]}
            same |= {"level": level, "resample_unit": level, "n_annotators": people.get((row["method"], row["label"]))}
            why = {"note": row["why"]} if isinstance(row.get("why"), str) else {}
            interval = {name: row[name] for name in ("ci_low", "ci_high", "ci_kind", "n_undefined", "note")} | why
            test = {"statistic": "f_test" if level == "dialogue" else "llr", "p_value": row["p_value"]}
            rows.append(same | {"statistic": FITS[row["target"]], "estimate": row["estimate"]} | interval)
            rows.append(same | test | {"estimate": row["test"]} | why)
            if level == "pair":
                names = ("coefficient", "firth_coefficient", "separated")
                rows += [same | {"statistic": name, "estimate": row[name]} | why for name in names]
                rows[-2]["p_value"] = row["firth_p_value"]
        self.results = collect(self.results, rows)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield findings.importance(self.results, self.names, confidence=self.level, itself=self.targets.label)
        yield findings.population(self.targets, self.results)
        yield without_means(self.everybody, self.labels)
        if self.targets.external:
            yield findings.predictors(self.targets, self.names)
        yield findings.reach(self.targets, self.results, self.names, self.study.label_set, "7.3")

    def correlations(self) -> Section:
        if not self.targets.external:
            yield findings.predictors(self.targets, self.names)
        for target in self.targets.designs:
            yield views.correlation_forest(self.results, self.names, target)
            yield findings.by_method(self.results, self.names, target)
            yield views.correlation_table(self.results, self.names, target, self.level)
            yield findings.reasons(self.results, self.names, target)

    def paper(self) -> Section:
        caption = "Numbers printed in the text (Figure 2 prints none), and those of this study."
        if has_package("compendium"):
            yield comparison.views(self.results, self.run, caption)
