"""Notebook 06: what do labels explain together, and which should be kept?"""

from judgebook.questions.validity import analysis, label_selection
from judgebook.questions.validity.coverage_page import Sections

NEEDED = ("02_collection_stats", "03_iaa", "04_importance", "05_sensitivity")


class Page(Sections):
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
        self._find()
        self.named = label_selection.named_in_the_paper()
        first, level = self.study.seeds.permute, self.study.bootstrap.confidence
        results, self.selected = analysis.analyse_coverage(
            self.found,
            [self.run.read_results(name, without=label_selection.OF_PAIRS) for name in NEEDED],
            self.labels,
            options=self.study.coverage,
            thresholds=self.study.label_selection,
            sets={"final": self.study.costs.final_labels, "named": {"behavior": self.named}},
            seed=first,
            n_resamples=self.study.bootstrap.n_resamples,
            confidence=level,
        )
        self.results = analysis.with_decisions(
            results,
            self.annotations,
            self.dialogues,
            self.study.importance,
            self.study.coverage,
            parts=self.study.parts,
            seed=first,
            pick_seed=self.study.seeds.pick,
            confidence=level,
        )
        self.run.save_results(self.results)
